# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a published machine: figures and fits of a paper's numbers. hockney did not measure them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NoReturn

from hockney.core.case import ALGORITHM, MPI, Case
from hockney.core.catalog import PING_PONG, Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure
from hockney.draw.page import Page, Section, Table
from hockney.pages import collectives, point_to_point, quality
from hockney.pages.evidence import Evidence, MeasuredCase, Options
from hockney.pages.format import quantity
from hockney.pages.series import times
from hockney.pages.study_page import first_figure, study_page

NAME = "published"
HELP = "the numbers printed in a paper; runs nothing: hockney machines --export t3e"
RUN_BY_NAME = False

CAPTION = "Points are printed numbers, or printed formulas at some sizes; lines are hockney's fits."


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    raise_not_measurable()


def raise_not_measurable() -> NoReturn:
    raise UsageError(
        "printed numbers cannot be measured",
        "nothing runs on a published machine",
        "'hockney machines --export NAME' makes a run of them",
        code="published-numbers",
    )


def page(evidence: Evidence) -> Page:
    sections = (_pair_section(evidence), _collective_section(evidence), quality.parameters_section(evidence))
    lead, remaining_sections = first_figure([section for section in sections if section is not None])
    return study_page(
        evidence,
        title="Published numbers",
        headline=_headline(evidence),
        sections=remaining_sections,
        lead=lead,
    )


def _headline(evidence: Evidence) -> tuple[str, ...]:
    """The formula of a message, and the costs of short operations on the largest number of ranks."""
    texts = []
    for fit in evidence.fits.select_by_role("hockney", *PING_PONG):
        parameters = {parameter.symbol: parameter.estimate.value for parameter in fit.parameters}
        if fit.verdict != "refused" and "r_inf" in parameters:
            formula = (
                f"t_0 = {quantity(parameters['t_0'], 's')} and r_inf = {quantity(parameters['r_inf'], 'B/s')}"
            )
            texts.append(f"{fit.subject.workload}: by the printed formula {formula}.")
    max_ranks = max((result.case.ranks for result in evidence.measured), default=0)
    measured = evidence.of_role("barrier", "collective", ranks=max_ranks)
    for operation in ("barrier", "bcast", "allreduce"):
        candidates = [result for result in measured if result.workload.operation == operation]
        candidates.sort(key=lambda result: result.case.get(ALGORITHM, MPI) != MPI)
        for result in candidates[:1]:  # MPI's own algorithm before others
            size = f" of {quantity(result.size, 'B')}" if result.size else ""
            time = quantity(result.summary.typical.value, "s")
            texts.append(
                f"{collectives.title(result)}{size} on {plural(max_ranks, 'rank')}: {time} by the paper."
            )
    return tuple(texts or _first_workload_sentences(evidence)) or ("Nothing was measured.",)


def _first_workload_sentences(evidence: Evidence) -> list[str]:
    """Sentences on the smallest and the largest case of the first workload, for papers without these
    operations."""
    if not evidence.measured:
        return []
    name = evidence.measured[0].case.workload
    sorted_results = sorted(
        (result for result in evidence.measured if result.case.workload == name),
        key=lambda result: (result.case.ranks, result.size),
    )
    texts = []
    for result in (sorted_results[0], *sorted_results[1:][-1:]):
        size = f" of {quantity(result.size, result.workload.size_unit)}" if result.has_size else ""
        time = quantity(result.summary.typical.value, "s")
        texts.append(
            f"{collectives.title(result)}{size} on {plural(result.case.ranks, 'rank')}: {time} by the paper."
        )
    return texts


def _pair_section(evidence: Evidence) -> Section | None:
    section = point_to_point.section(evidence)
    if section is None:
        return None
    tables = tuple(replace(table, caption="") for table in section.tables)
    return replace(section, figures=_without_details(section.figures), tables=tables)


def _collective_section(evidence: Evidence) -> Section | None:
    section = collectives.section(evidence, sync="loop")
    if section is None:
        return None
    measured = [result for result in evidence.measured if "sync" in result.case]
    figures = (*_without_details(section.figures, ""), *_exchange_figures(measured))
    return replace(
        section,
        text=("Times as printed. The paper's own description of its method follows below.", CAPTION),
        figures=figures,
        tables=(_table(measured),),
    )


def _exchange_figures(measured: Sequence[MeasuredCase]) -> tuple[Figure, ...]:
    """Separate figures of exchanges that start on all ranks at the same time, with a series for each number
    of ranks."""
    synchronized = [result for result in measured if result.case["sync"] == "window"]
    figures = []
    for name in dict.fromkeys(result.case.workload for result in synchronized):
        counts = sorted({result.case.ranks for result in synchronized if result.case.workload == name})
        series = (
            times(
                plural(p, "rank"),
                [result for result in synchronized if (result.case.workload, result.case.ranks) == (name, p)],
            )
            for p in counts
        )
        axes = Axis("bytes in a message", "B"), Axis("time", "s")
        figures.append(Figure(name, f"Time of {name} against size", *axes, tuple(series)))
    return _without_details(figures, "")


def _without_details(figures: Iterable[Figure], caption: str = CAPTION) -> tuple[Figure, ...]:
    """Copies of the figures without text on repetitions, launches and intervals, which printed numbers
    lack."""
    return tuple(
        replace(
            figure,
            caption=caption,
            series=tuple(replace(series, low=(), high=(), detail=()) for series in figure.series),
        )
        for figure in figures
        if isinstance(figure, Figure)
    )


def _table(measured: Sequence[MeasuredCase]) -> Table:
    rows = tuple(
        (
            collectives.title(result),
            str(result.case.ranks),
            quantity(result.size, "B") if "bytes" in result.case else "",
            quantity(result.summary.typical.value, "s"),
            "mean of two printed numbers" if result.summary.launches > 1 else "",
        )
        for result in measured
    )
    columns = ("collective", "ranks", "bytes", "time", "")
    return Table("collectives", "Collectives", columns, rows, numeric=(1, 2, 3))
