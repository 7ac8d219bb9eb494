# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a published machine: figures and fits of a paper's numbers. Nothing was measured here."""

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
    refuse()


def refuse() -> NoReturn:
    raise UsageError(
        "printed numbers cannot be measured",
        "nothing runs on a published machine",
        "'hockney machines --export NAME' makes a run of them",
        code="published-numbers",
    )


def page(evidence: Evidence) -> Page:
    sections = (_pairs(evidence), _groups(evidence), quality.parameters_section(evidence))
    lead, rest = first_figure([section for section in sections if section is not None])
    return study_page(
        evidence,
        title="Published numbers",
        headline=_headline(evidence),
        sections=rest,
        lead=lead,
    )


def _headline(evidence: Evidence) -> tuple[str, ...]:
    """The formula of a message, and the costs of short operations on the largest number of ranks."""
    texts = []
    for fit in evidence.fits.select_by_role("hockney", *PING_PONG):
        value = {p.symbol: p.estimate.value for p in fit.parameters}
        if fit.verdict != "refused" and "r_inf" in value:
            words = f"t_0 = {quantity(value['t_0'], 's')} and r_inf = {quantity(value['r_inf'], 'B/s')}"
            texts.append(f"{fit.subject.workload}: by the printed formula {words}.")
    most = max((m.case.ranks for m in evidence.measured), default=0)
    measured = evidence.of_role("barrier", "collective", ranks=most)
    for operation in ("barrier", "bcast", "allreduce"):
        candidates = [m for m in measured if m.workload.operation == operation]
        candidates.sort(key=lambda m: m.case.get(ALGORITHM, MPI) != MPI)
        for m in candidates[:1]:  # MPI's own algorithm before others
            size = f" of {quantity(m.size, 'B')}" if m.size else ""
            time = quantity(m.summary.typical.value, "s")
            texts.append(f"{collectives.title(m)}{size} on {plural(most, 'rank')}: {time} by the paper.")
    return tuple(texts or _ends_of_first(evidence)) or ("Nothing was measured.",)


def _ends_of_first(evidence: Evidence) -> list[str]:
    """The smallest and the largest case of the first workload, for papers without these operations."""
    if not evidence.measured:
        return []
    name = evidence.measured[0].case.workload
    ordered = sorted(
        (m for m in evidence.measured if m.case.workload == name), key=lambda m: (m.case.ranks, m.size)
    )
    texts = []
    for m in (ordered[0], *ordered[1:][-1:]):
        size = f" of {quantity(m.size, m.workload.size_unit)}" if m.has_size else ""
        time = quantity(m.summary.typical.value, "s")
        texts.append(f"{collectives.title(m)}{size} on {plural(m.case.ranks, 'rank')}: {time} by the paper.")
    return texts


def _pairs(evidence: Evidence) -> Section | None:
    section = point_to_point.section(evidence)
    if section is None:
        return None
    tables = tuple(replace(table, caption="") for table in section.tables)
    return replace(section, figures=_plain(section.figures), tables=tables)


def _groups(evidence: Evidence) -> Section | None:
    section = collectives.section(evidence, sync="loop")
    if section is None:
        return None
    measured = [m for m in evidence.measured if "sync" in m.case]
    figures = (*_plain(section.figures, ""), *_exchanges(measured))
    return replace(
        section,
        text=("Times as printed. The paper's own description of its method follows below.", CAPTION),
        figures=figures,
        tables=(_table(measured),),
    )


def _exchanges(measured: Sequence[MeasuredCase]) -> tuple[Figure, ...]:
    """Exchanges that start on all ranks at the same moment have a separate figure, a series for each number
    of ranks."""
    together = [m for m in measured if m.case["sync"] == "window"]
    figures = []
    for name in dict.fromkeys(m.case.workload for m in together):
        counts = sorted({m.case.ranks for m in together if m.case.workload == name})
        series = (
            times(plural(p, "rank"), [m for m in together if (m.case.workload, m.case.ranks) == (name, p)])
            for p in counts
        )
        axes = Axis("bytes in a message", "B"), Axis("time", "s")
        figures.append(Figure(name, f"Time of {name} against size", *axes, tuple(series)))
    return _plain(figures, "")


def _plain(figures: Iterable[Figure], caption: str = CAPTION) -> tuple[Figure, ...]:
    """The figures without text on repetitions, launches and intervals, which printed numbers do not have."""
    return tuple(
        replace(f, caption=caption, series=tuple(replace(s, low=(), high=(), detail=()) for s in f.series))
        for f in figures
        if isinstance(f, Figure)
    )


def _table(measured: Sequence[MeasuredCase]) -> Table:
    rows = tuple(
        (
            collectives.title(m),
            str(m.case.ranks),
            quantity(m.size, "B") if "bytes" in m.case else "",
            quantity(m.summary.typical.value, "s"),
            "mean of two printed numbers" if m.summary.launches > 1 else "",
        )
        for m in measured
    )
    columns = ("collective", "ranks", "bytes", "time", "")
    return Table("collectives", "Collectives", columns, rows, numeric=(1, 2, 3))
