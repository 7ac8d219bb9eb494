# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section on collectives: time against size and against ranks, with the fitted cost."""

from __future__ import annotations

from hockney import models
from hockney.core.case import LAUNCH_PARAMETERS, MPI
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Fit
from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.pages import undisturbed
from hockney.pages.columns import COUNT, INTERVAL, Column, columns_table
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import interval, quantity, size_of
from hockney.pages.levels import place_words, ranks_on
from hockney.pages.quality import chosen
from hockney.pages.series import points, times

ID = "collectives"
LINE_POINTS = 40
ROLES = ("collective", "barrier", "exchange")
"""Operations of many ranks, timed over all of them."""


def collective_workloads(catalog: Catalog) -> list[Workload]:
    """MPI's collectives, for which cost models exist. Exchanges among many ranks are shown elsewhere."""
    return catalog.with_role("collective", "barrier")


def section(evidence: Evidence, sync: str = "barrier") -> Section | None:
    """The figures show the cases with the synchronisation `sync`; the table shows all."""
    measured = list(evidence.of_role(*ROLES))
    if not evidence.place:  # those of pairs at a level too
        measured += [m for level in evidence.levels if level.place for m in level.of_role(*ROLES)]
        measured.sort(key=lambda m: (m.case.workload, m.case.ranks, m.size))
    if not measured:
        return None
    fits = [f for f in chosen(evidence.fits.fits) if f.verdict != "refused" and f.parameters]
    drawn = [m for m in measured if _standard(m, sync)]
    return Section(
        title="Collectives",
        text=(
            "The time of a collective is that of its slowest rank. The ranks start after MPI_Barrier "
            "(sync=barrier) or at a set time of a synchronised clock (sync=window).",
        ),
        figures=_multiples(drawn, fits),
        tables=(_table(measured),),
        id=ID,
        multiples=True,
    )


def title(m: Measured) -> str:
    """The collective, and its algorithm unless that is MPI's own."""
    algorithm = m.case.get("algorithm", MPI)
    return m.case.workload if algorithm == MPI else f"{m.case.workload}, {algorithm}"


def _standard(m: Measured, sync: str) -> bool:
    return m.case.get("sync") == sync and m.case.get("buffers", "hot") == "hot"


def _multiples(measured: list[Measured], fits: list[Fit]) -> tuple[Figure, ...]:
    """A figure for each workload and algorithm, all with the same axes: against the size, or against the
    ranks if there are more rank counts than sizes."""
    by_title: dict[str, list[Measured]] = {}
    for m in measured:
        by_title.setdefault(title(m), []).append(m)
    figures = []
    values = tuple(m.summary.typical.value for m in measured)
    sizes, ranks = {float(m.size) for m in measured}, {float(m.case.ranks) for m in measured}
    time = Axis("time", "s", include=(min(values), max(values)) if values else ())
    for name, cases in by_title.items():
        over_ranks = len({m.case.ranks for m in cases}) > len({m.size for m in cases})
        size = Axis("bytes", "B", "log", zero=True, include=tuple(sorted(sizes)))
        axis = Axis("ranks", "ranks", include=tuple(sorted(ranks))) if over_ranks else size
        series = _series_over_ranks(cases) if over_ranks else _series_over_size(cases, fits)
        if sum(len(s.x) for s in series if s.kind == "points") > 1:
            figures.append(Figure(f"collective-{name}", name, axis, time, tuple(series)))
    return tuple(figures)


def _series_over_size(cases: list[Measured], fits: list[Fit]) -> list[Series]:
    """A series for each number of ranks and nodes, and level of pairs, with the fitted cost of each."""
    series: list[Series] = []
    for ranks, nodes, place in sorted({_layout(m) for m in cases}):
        these = [m for m in cases if _layout(m) == (ranks, nodes, place)]
        series.append(times(ranks_on(these[0].case), these))
        costs = [f for f in fits if _is_cost_of(f, these[0])]
        fit = next((f for f in costs if "ranks" in f.subject), next(iter(costs), None))
        if fit is not None:
            series.append(_line(series[-1].name, fit, ranks, series[-1].x))
    return [s for s in series if s.x]


def _layout(m: Measured) -> tuple[int, int, str]:
    return m.case.ranks, m.case.nodes, m.case.place


def _series_over_ranks(cases: list[Measured]) -> list[Series]:
    """A series for each size and number of nodes, or level of pairs."""
    series = []
    for size, nodes, place in sorted({(m.size, *_layout(m)[1:]) for m in cases}):
        these = [m for m in cases if (m.size, *_layout(m)[1:]) == (size, nodes, place)]
        these.sort(key=lambda m: m.case.ranks)
        words = quantity(size, these[0].workload.size_unit) if these[0].has_size else title(these[0])
        words += f", {plural(nodes, 'node')}" if nodes else f", {place_words(place)}" if place else ""
        series.append(points(words, these, lambda m: m.case.ranks, lambda m: m.summary.typical))
    return series


def _is_cost_of(fit: Fit, m: Measured) -> bool:
    """Whether the fit is of the subject that the case belongs to."""
    subject = fit.subject
    if any(m.case.get(name) != subject.get(name) for name in LAUNCH_PARAMETERS):
        return False
    return subject.workload == m.case.workload and all(m.case.get(k) == v for k, v in subject.fixed)


def _line(name: str, fit: Fit, ranks: int, sizes: tuple[float, ...]) -> Series:
    """The range of the fitted cost: a call without bytes is not on the line."""
    ends = [size for size in sizes if size > 0]
    if len(ends) < 2:
        return Series(f"{name}, fitted", (), (), kind="line", group=name)
    low, high = min(ends), max(ends)
    x = tuple(low * (high / low) ** (k / LINE_POINTS) for k in range(LINE_POINTS + 1))
    y = tuple(models.collective_time(fit, ranks, size) for size in x)
    return Series(f"{name}, fitted", x, y, kind="line", group=name)


def _table(measured: list[Measured]) -> Table:
    on_nodes, at_levels = any(m.case.nodes for m in measured), any(m.case.place for m in measured)
    extra = undisturbed.column(measured, undisturbed.summary_of)
    columns: tuple[Column[Measured], ...] = (
        Column("collective", title),
        Column("ranks", lambda m: m.case.ranks, COUNT),
        Column("nodes" if on_nodes else "", lambda m: m.case.nodes or "", COUNT),
        Column("place" if at_levels else "", lambda m: m.case.place),
        Column("bytes", size_of, COUNT),
        Column("sync", lambda m: m.case.get("sync", "")),
        Column("typical", lambda m: quantity(m.summary.typical.value, "s"), COUNT),
        extra,
        Column(INTERVAL, lambda m: interval(m.summary.typical, "s"), COUNT),
    )
    caption = undisturbed.CAPTION if extra.heading else ""
    return columns_table("collectives", "Collectives", columns, measured, caption)
