# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The flow of a comparison, and its result for programs and notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import report
from hockney.api.judgements.sides import Source, read_sides
from hockney.api.notebook.keywords import Quantity, check_cost, share_of
from hockney.api.notebook.log_events import log
from hockney.api.notebook.views import more_rows
from hockney.api.tables import Cell, Rows
from hockney.core.fit import Cost, estimate_fields
from hockney.core.paths import AnyPath, to_path
from hockney.draw.page import Caveat
from hockney.judgements.compare import compare as compared
from hockney.judgements.comparison import ComparedSides, Unmatched
from hockney.judgements.environment import Difference
from hockney.judgements.judgement import Judgement, junit, markdown
from hockney.judgements.sides import Side, in_turns
from hockney.measurement import Listener
from hockney.report import notebook

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

    from hockney.api.export import Library
    from hockney.api.notebook.views import Figures
    from hockney.draw.page import Page
    from hockney.models.comparison import CaseVerdict, Effect, OperationVerdict, State

TOLERANCE, TOLERANCE_INTERLEAVED = 0.05, 0.02
"""The latter for interleaved runs, which can be compared more precisely."""


class PagedResult(ABC):
    """A result with a page."""

    @property
    @abstractmethod
    def page(self) -> Page:
        """The report as data."""

    def report(self, path: AnyPath) -> Path:
        """Write the page, one HTML file."""
        return report.write(self.page, to_path(path))


class FigureResult(PagedResult):
    """A result with figures on its page, and with a table of numbers."""

    @abstractmethod
    def table(self) -> Rows: ...

    def frame(self, library: Library | None = None) -> Any:
        """The table as a DataFrame of pandas or polars: of the `library`, or of the first that is
        installed. Raises EnvironmentProblem if neither is."""
        from hockney.api.export import frame

        return frame(self.table(), library)

    @property
    def figure_names(self) -> tuple[str, ...]:
        """Names of the page's figures, in order."""
        return tuple(self._figures)

    @cached_property
    def _figures(self) -> Figures:
        from hockney.api.notebook.views import figures_of

        return figures_of(self.page)


class JudgementResult(PagedResult):
    """A judgement of runs in its forms for others."""

    @property
    @abstractmethod
    def judgement(self) -> Judgement[Any]: ...

    @property
    @abstractmethod
    def document(self) -> dict[str, Any]:
        """What the command line prints with --json."""

    @property
    def junit(self) -> str:
        """A test report in JUnit's XML: a test case for each case, which fails if it is slower."""
        return junit(self.judgement)

    @property
    def markdown(self) -> str:
        """The judgement in Markdown, for a pull request."""
        return markdown(self.judgement)


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(JudgementResult, FigureResult):
    """Times of the runs B relative to those of the runs A."""

    compared: ComparedSides

    @property
    def judgement(self) -> ComparedSides:
        return self.compared

    @property
    def verdict(self) -> State:
        """The verdict on B: slower or faster by more than the tolerance, the same within it, or undecided. It
        is slower if any operation is."""
        return self.compared.state

    @property
    def tolerance(self) -> float:
        return self.compared.tolerance

    @property
    def effect(self) -> Effect | None:
        """Whether B differs from A at all: found, none or undecided, and by how much it may still differ.
        None unless the launches of A and B took turns."""
        return self.compared.effect

    @property
    def operations(self) -> tuple[OperationVerdict, ...]:
        """One for each workload (and level: within a host, or between hosts), with the geometric mean of the
        ratios of its cases, and its `state`."""
        return self.compared.operations

    @property
    def cases(self) -> tuple[CaseVerdict, ...]:
        """One for each case that both sides measured, by workload, ranks and size: both times in seconds,
        their ratio with its 95% interval, its `state`, and how many more launches would decide it."""
        return self.compared.cases

    @property
    def changes(self) -> list[CaseVerdict]:
        """The cases that are slower or faster, biggest changes first."""
        return self.compared.changed

    @property
    def only_a(self) -> tuple[Unmatched, ...]:
        """Cases that only A measured, and why B has no result, if it tried."""
        return self.compared.only_a

    @property
    def only_b(self) -> tuple[Unmatched, ...]:
        return self.compared.only_b

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What differs between the environments."""
        return self.compared.differences

    @property
    def caveats(self) -> tuple[Caveat, ...]:
        """Reasons to doubt the ratios, each with a code."""
        return self.compared.caveats

    @cached_property
    def page(self) -> Page:
        """The report as data."""
        from hockney.judgements.page import comparison_page

        return comparison_page(self.compared)

    @property
    def document(self) -> dict[str, Any]:
        """What `hockney compare --json` prints."""
        from hockney.judgements.document import comparison_document

        return comparison_document(self.compared)

    def table(self) -> Rows:
        """A row for each case, as `columns`: a dictionary of lists."""
        return _comparison_rows(self.compared)

    def figure(self, name: str = "changes") -> PlotlyFigure:
        """A figure of the page (the biggest changes, each operation over its size, the times of single cases)
        as a Plotly figure. Raises UsageError for an unknown name."""
        from hockney.api.notebook.views import figure_named

        return figure_named(self._figures, name)

    def distribution(self, case: CaseVerdict) -> PlotlyFigure:
        """The distributions of the times of any case in A and in B, as a Plotly figure, such as
        `comparison.distribution(comparison.changes[0])`."""
        from hockney.draw.plotly_figure import plotly_figure
        from hockney.judgements import figures

        return plotly_figure(figures.distribution(self.compared, case))

    def __repr__(self) -> str:
        sides = (", ".join(run.name for run in side.runs) for side in (self.compared.a, self.compared.b))
        return f"<Comparison of {' with '.join(sides)}: {self.verdict}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks."""
        return _comparison_html(self.compared)


def compare(
    a: Source | Sequence[Source],
    b: Source | Sequence[Source],
    *,
    tolerance: Quantity | None = None,
    cost: Cost = "typical",
    listen: Listener | None = None,
) -> Comparison:
    """Whether B is slower than A, case by case and operation by operation::

        hockney.compare("runs/old", "runs/new").verdict
        hockney.compare(["runs/old-1", "runs/old-2"], ["runs/new-1", "runs/new-2"], tolerance=0.02)

    Each side is a run, the folder of a run or of several, the name of a published machine, or a list of
    them; the launches of several runs count together. A ratio B / A beyond `tolerance` (0.05 or "5%") is
    slower or faster, one within it is the same; both are 95% certain, false discoveries are controlled. The
    default is 0.05, and 0.02 for the two sides of an interleaved comparison.
    `cost` selects the typical cost of a case or the undisturbed one.

    Nothing is measured. Raises UsageError for what is no run, EnvironmentProblem if one is damaged,
    Inconclusive if the sides have no case in common.
    """
    share = tolerance_share(tolerance, cost)
    sides = read_sides(a, b, listen or log)
    return Comparison(compared(*sides, default_tolerance(*sides) if share is None else share, cost))


def default_tolerance(a: Side, b: Side) -> float:
    """The default, by whether the sides are those of an interleaved comparison."""
    return TOLERANCE_INTERLEAVED if in_turns(a, b) else TOLERANCE


def tolerance_share(tolerance: Quantity | None, cost: str) -> float | None:
    """The tolerance as a share of the time. Raises UsageError for what is none, and for an unknown cost."""
    check_cost(cost)
    return None if tolerance is None else share_of("tolerance", tolerance)


def _comparison_rows(compared: ComparedSides) -> Rows:
    """A row for each case; each parameter of the cases is a column."""
    names = dict.fromkeys(name for each in compared.cases for name in ("ranks", *dict(each.case.parameters)))
    rows: list[dict[str, Cell]] = [
        {
            "case": each.case.line,
            "workload": each.case.workload,
            **{name: each.case.get(name) for name in names},
            "level": each.level,
            **estimate_fields("a", each.a, "_s"),
            **estimate_fields("b", each.b, "_s"),
            **estimate_fields("ratio", each.ratio),
            **estimate_fields("relative_ratio", each.relative),
            "a_launches": each.launches[0],
            "b_launches": each.launches[1],
            "p_changed": each.p_changed,
            "p_same": each.p_same,
            "verdict": each.state,
            "a_more_launches": each.more_launches[0] if each.more_launches else None,
            "b_more_launches": each.more_launches[1] if each.more_launches else None,
        }
        for each in compared.cases
    ]
    return Rows.of_rows(rows)


MAX_ROWS = 10


def _comparison_html(compared: ComparedSides) -> str:
    changes = compared.changed
    tables = [compared.differences_table, compared.operations_table]
    if changes:
        tables.append(compared.cases_table(changes[:MAX_ROWS], "changes", "Biggest changes"))
    after = compared.lacking
    if len(changes) > MAX_ROWS:
        after = (more_rows(len(changes) - MAX_ROWS), *after)
    before = (compared.overall, *compared.sides, *compared.effect_sentences)
    return notebook.summary(before, compared.caveats, tables, after)
