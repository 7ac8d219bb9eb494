# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of two sides, with its result for programs and notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import report, studies
from hockney.api.judgements.sides import Source, read_sides
from hockney.api.notebook.keywords import Quantity, check_cost, fraction_argument
from hockney.api.notebook.log_events import log
from hockney.api.notebook.views import more_rows
from hockney.api.tables import Cell, Rows
from hockney.core.fit import Cost
from hockney.core.paths import AnyPath, to_path
from hockney.draw.page import Caveat
from hockney.judgements.compare import JudgeParts
from hockney.judgements.compare import compare as compared
from hockney.judgements.comparison import ComparedSides, UnmatchedCase
from hockney.judgements.document import case_fields
from hockney.judgements.environment import Difference
from hockney.judgements.judgement import Judgement, junit_report, markdown_report
from hockney.judgements.sides import Side, match_interleaved_runs
from hockney.measurement import Listener
from hockney.report import notebook

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

    from hockney.api.export import Library
    from hockney.api.notebook.views import Figures
    from hockney.draw.page import Page
    from hockney.models.comparison import CaseVerdict, Effect, OperationVerdict, State

TOLERANCE, TOLERANCE_INTERLEAVED = 0.05, 0.02
"""Default tolerances. Interleaved runs can be compared more precisely."""


class PagedResult(ABC):
    """A result with a report page."""

    @property
    @abstractmethod
    def page(self) -> Page:
        """The report as data."""

    def report(self, path: AnyPath) -> Path:
        """Write the page, one HTML file."""
        return report.write(self.page, to_path(path))


class FigureResult(PagedResult):
    """A result with a table of numbers and a page with figures."""

    @abstractmethod
    def table(self) -> Rows: ...

    def frame(self, library: Library | None = None) -> Any:
        """Table as a DataFrame of `library`, by default pandas if installed, otherwise polars. Raises
        EnvironmentProblem if neither is installed."""
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
    """A judgement of runs that can be exported."""

    @property
    @abstractmethod
    def judgement(self) -> Judgement[Any]: ...

    @property
    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Document that the command line prints with --json."""

    @property
    def junit(self) -> str:
        """Test report in JUnit XML format. Each case is a test case, which fails if the case is slower."""
        return junit_report(self.judgement)

    @property
    def markdown(self) -> str:
        """The judgement in Markdown, for a pull request."""
        return markdown_report(self.judgement)


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(JudgementResult, FigureResult):
    """Comparison of the times of runs B with those of runs A."""

    compared: ComparedSides

    @property
    def judgement(self) -> ComparedSides:
        return self.compared

    @property
    def verdict(self) -> State:
        """Verdict on B: slower or faster by more than the tolerance, same, or undecided. B is slower if any
        operation is slower."""
        return self.compared.state

    @property
    def tolerance(self) -> float:
        return self.compared.tolerance

    @property
    def effect(self) -> Effect | None:
        """Whether B differs from A: found, none or undecided, with bounds on the difference. None unless the
        launches of A and B alternated."""
        return self.compared.effect

    @property
    def operations(self) -> tuple[OperationVerdict, ...]:
        """Verdicts for each workload (and level: within a host or between hosts), with the geometric mean of
        the ratios of its cases and a `state`."""
        return self.compared.operations

    @property
    def cases(self) -> tuple[CaseVerdict, ...]:
        """Verdicts for each case that both sides measured, ordered by workload, ranks and size. A verdict
        contains both times in seconds, their ratio with its 95% interval, a `state`, and the number of
        additional launches needed for a decision."""
        return self.compared.cases

    @property
    def changes(self) -> list[CaseVerdict]:
        """Cases that are slower or faster, largest changes first."""
        return self.compared.changed_cases

    @property
    def only_a(self) -> tuple[UnmatchedCase, ...]:
        """Cases that only A measured, with the reason for failure if B attempted them."""
        return self.compared.only_a

    @property
    def only_b(self) -> tuple[UnmatchedCase, ...]:
        return self.compared.only_b

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Differences between the environments."""
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
        """Document that `hockney compare --json` prints."""
        from hockney.judgements.document import comparison_document

        return comparison_document(self.compared)

    def table(self) -> Rows:
        """Table with one row per case. Its `columns` are a dictionary of lists."""
        return _comparison_table(self.compared)

    def figure(self, name: str = "changes") -> PlotlyFigure:
        """Figure of the page (largest changes, each operation over its size, times of single cases) as a
        Plotly figure. Raises UsageError for an unknown name."""
        from hockney.api.notebook.views import figure_named

        return figure_named(self._figures, name)

    def distribution(self, case: CaseVerdict) -> PlotlyFigure:
        """Plotly figure of the distributions of the times of a case in A and B, for example
        `comparison.distribution(comparison.changes[0])`."""
        from hockney.draw.plotly_figure import plotly_figure
        from hockney.judgements import figures

        return plotly_figure(figures.distribution_figure(self.compared, case))

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
    """Determine for each case and operation whether B is slower than A::

        hockney.compare("runs/old", "runs/new").verdict
        hockney.compare(["runs/old-1", "runs/old-2"], ["runs/new-1", "runs/new-2"], tolerance=0.02)

    Each side is a run, the folder of a run or of several, the name of a published machine, or a list of them;
    the launches of several runs count together. B is slower or faster if the ratio B / A differs from 1 by
    more than `tolerance` (0.05 or "5%"), and the same if it differs by less. Both verdicts have 95%
    confidence, and false discoveries are controlled. The default is 0.05, or 0.02 for the two sides of an
    interleaved comparison. `cost` selects the typical cost of a case or the undisturbed one.

    Nothing is measured. Raises UsageError if a source is not a run, EnvironmentProblem if a run is damaged,
    Inconclusive if the sides have no case in common.
    """
    share = tolerance_share(tolerance, cost)
    sides = read_sides(a, b, listen or log)
    return Comparison(compare_sides(*sides, default_tolerance(*sides) if share is None else share, cost))


def compare_sides(a: Side, b: Side, tolerance: float, cost: Cost) -> ComparedSides:
    """Compare two sides: the parts of the machine if both are runs of a study that judges these, otherwise
    the cases."""
    return compared(a, b, tolerance, cost, parts_judge(a.studies | b.studies))


def parts_judge(names: Collection[str]) -> JudgeParts | None:
    """How the study of all these runs judges the parts of a machine, if it does."""
    study = studies.all_studies().get(next(iter(names))) if len(names) == 1 else None
    return None if study is None else study.judge_parts


def default_tolerance(a: Side, b: Side) -> float:
    """Default tolerance, which is smaller for the sides of an interleaved comparison."""
    return TOLERANCE_INTERLEAVED if match_interleaved_runs(a, b) else TOLERANCE


def tolerance_share(tolerance: Quantity | None, cost: str) -> float | None:
    """Tolerance as a fraction of the time. Raises UsageError for an invalid tolerance and for an unknown
    cost."""
    check_cost(cost)
    return None if tolerance is None else fraction_argument("tolerance", tolerance)


def _comparison_table(comparison: ComparedSides) -> Rows:
    """Table with one row per case and a column for each parameter of the cases."""
    names = dict.fromkeys(
        name for verdict in comparison.cases for name in ("ranks", *dict(verdict.case.parameters))
    )
    rows: list[dict[str, Cell]] = [
        {
            "case": verdict.case.line,
            "workload": verdict.case.workload,
            **{name: verdict.case.get(name) for name in names},
            **case_fields(verdict),
            "verdict": verdict.state,
            "a_more_launches": verdict.more_launches[0] if verdict.more_launches else None,
            "b_more_launches": verdict.more_launches[1] if verdict.more_launches else None,
        }
        for verdict in comparison.cases
    ]
    return Rows.of_rows(rows)


MAX_ROWS = 10


def _comparison_html(compared: ComparedSides) -> str:
    changes = compared.changed_cases
    tables = [compared.differences_table, compared.operations_table]
    if changes:
        tables.append(compared.cases_table(changes[:MAX_ROWS], "changes", "Biggest changes"))
    notes = compared.missing_result_sentences
    if len(changes) > MAX_ROWS:
        notes = (more_rows(len(changes) - MAX_ROWS), *notes)
    summary_lines = (compared.overall_sentence, *compared.side_lines, *compared.effect_sentences)
    return notebook.summary(summary_lines, compared.caveats, tables, notes)
