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
from hockney.pages.columns import COUNT_FORMAT, INTERVAL_HEADING, Column, columns_table
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import interval, quantity, size_of
from hockney.pages.levels import level_phrase, ranks_text
from hockney.pages.quality import select_fits
from hockney.pages.series import points, times

SECTION_ID = "collectives"
LINE_POINTS = 40
ROLES = ("collective", "barrier", "exchange")
"""Operations of many ranks, timed over all of them."""


def collective_workloads(catalog: Catalog) -> list[Workload]:
    """Return MPI's collectives, for which cost models exist. Exchanges among several ranks are shown in
    another section."""
    return catalog.with_role("collective", "barrier")


def section(evidence: Evidence, sync: str = "barrier") -> Section | None:
    """Return the section, or None without collectives. The figures show the cases with the synchronisation
    `sync`, the table all cases."""
    measured = list(evidence.of_role(*ROLES))
    if not evidence.place:  # those of pairs at a level too
        measured += [m for level in evidence.levels if level.place for m in level.of_role(*ROLES)]
        measured.sort(key=lambda m: (m.case.workload, m.case.ranks, m.size))
    if not measured:
        return None
    fits = [fit for fit in select_fits(evidence.fits.fits) if fit.verdict != "refused" and fit.parameters]
    plotted_cases = [m for m in measured if _is_standard(m, sync)]
    return Section(
        title="Collectives",
        text=(
            "The time of a collective is that of its slowest rank. The ranks start after MPI_Barrier "
            "(sync=barrier) or at a set time of a synchronised clock (sync=window).",
        ),
        figures=_figures(plotted_cases, fits),
        tables=(_table(measured),),
        id=SECTION_ID,
        multiples=True,
    )


def title(measured_case: MeasuredCase) -> str:
    """Return the name of the collective, with its algorithm unless that is MPI's own."""
    algorithm = measured_case.case.get("algorithm", MPI)
    return measured_case.case.workload if algorithm == MPI else f"{measured_case.case.workload}, {algorithm}"


def _is_standard(measured_case: MeasuredCase, sync: str) -> bool:
    return measured_case.case.get("sync") == sync and measured_case.case.get("buffers", "hot") == "hot"


def _figures(measured: list[MeasuredCase], fits: list[Fit]) -> tuple[Figure, ...]:
    """Return a figure for each workload and algorithm, all with the same axes. The x axis is the size, or the
    rank count if there are more rank counts than sizes."""
    by_title: dict[str, list[MeasuredCase]] = {}
    for m in measured:
        by_title.setdefault(title(m), []).append(m)
    figures = []
    values = tuple(m.summary.typical.value for m in measured)
    sizes, ranks = {float(m.size) for m in measured}, {float(m.case.ranks) for m in measured}
    time = Axis("time", "s", include=(min(values), max(values)) if values else ())
    for title_, cases in by_title.items():
        is_by_ranks = len({m.case.ranks for m in cases}) > len({m.size for m in cases})
        size = Axis("bytes", "B", "log", zero=True, include=tuple(sorted(sizes)))
        axis = Axis("ranks", "ranks", include=tuple(sorted(ranks))) if is_by_ranks else size
        series = _series_by_ranks(cases) if is_by_ranks else _series_by_size(cases, fits)
        if sum(len(s.x) for s in series if s.kind == "points") > 1:
            figures.append(Figure(f"collective-{title_}", title_, axis, time, tuple(series)))
    return tuple(figures)


def _series_by_size(cases: list[MeasuredCase], fits: list[Fit]) -> list[Series]:
    """Return a series for each number of ranks and nodes and each level of pairs, with its fitted cost."""
    series: list[Series] = []
    for ranks, nodes, place in sorted({_layout(m) for m in cases}):
        group = [m for m in cases if _layout(m) == (ranks, nodes, place)]
        series.append(times(ranks_text(group[0].case), group))
        costs = [candidate for candidate in fits if _is_cost_of(candidate, group[0])]
        fit = next(
            (candidate for candidate in costs if "ranks" in candidate.subject), next(iter(costs), None)
        )
        if fit is not None:
            series.append(_fitted_line(series[-1].name, fit, ranks, series[-1].x))
    return [line for line in series if line.x]


def _layout(measured_case: MeasuredCase) -> tuple[int, int, str]:
    return measured_case.case.ranks, measured_case.case.nodes, measured_case.case.place


def _series_by_ranks(cases: list[MeasuredCase]) -> list[Series]:
    """Return a series for each size, with its number of nodes or level of pairs."""
    series = []
    for size, nodes, place in sorted({(m.size, *_layout(m)[1:]) for m in cases}):
        group = [m for m in cases if (m.size, *_layout(m)[1:]) == (size, nodes, place)]
        group.sort(key=lambda m: m.case.ranks)
        name = quantity(size, group[0].workload.size_unit) if group[0].has_size else title(group[0])
        name += f", {plural(nodes, 'node')}" if nodes else f", {level_phrase(place)}" if place else ""
        series.append(points(name, group, lambda m: m.case.ranks, lambda m: m.summary.typical))
    return series


def _is_cost_of(fit: Fit, measured_case: MeasuredCase) -> bool:
    """Check whether the case belongs to the subject of the fit."""
    subject = fit.subject
    if any(measured_case.case.get(name) != subject.get(name) for name in LAUNCH_PARAMETERS):
        return False
    return subject.workload == measured_case.case.workload and all(
        measured_case.case.get(k) == v for k, v in subject.fixed
    )


def _fitted_line(name: str, fit: Fit, ranks: int, sizes: tuple[float, ...]) -> Series:
    """Return the fitted cost over the range of sizes, without size 0, which is not on the line."""
    positive_sizes = [size for size in sizes if size > 0]
    if len(positive_sizes) < 2:
        return Series(f"{name}, fitted", (), (), kind="line", group=name)
    min_size, max_size = min(positive_sizes), max(positive_sizes)
    x = tuple(min_size * (max_size / min_size) ** (k / LINE_POINTS) for k in range(LINE_POINTS + 1))
    y = tuple(models.collective_time(fit, ranks, size) for size in x)
    return Series(f"{name}, fitted", x, y, kind="line", group=name)


def _table(measured: list[MeasuredCase]) -> Table:
    has_nodes, has_places = any(m.case.nodes for m in measured), any(m.case.place for m in measured)
    undisturbed_column = undisturbed.undisturbed_column(measured, undisturbed.summary_of)
    columns: tuple[Column[MeasuredCase], ...] = (
        Column("collective", title),
        Column("ranks", lambda m: m.case.ranks, COUNT_FORMAT),
        Column("nodes" if has_nodes else "", lambda m: m.case.nodes or "", COUNT_FORMAT),
        Column("place" if has_places else "", lambda m: m.case.place),
        Column("bytes", size_of, COUNT_FORMAT),
        Column("sync", lambda m: m.case.get("sync", "")),
        Column("typical", lambda m: quantity(m.summary.typical.value, "s"), COUNT_FORMAT),
        undisturbed_column,
        Column(INTERVAL_HEADING, lambda m: interval(m.summary.typical, "s"), COUNT_FORMAT),
    )
    caption = undisturbed.CAPTION if undisturbed_column.heading else ""
    return columns_table("collectives", "Collectives", columns, measured, caption)
