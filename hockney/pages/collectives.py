# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section on collectives: time against size and against ranks, with the fitted cost."""

from __future__ import annotations

from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Fit
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.models import COLLECTIVES, collective_time
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import interval, quantity
from hockney.pages.quality import chosen
from hockney.pages.series import points, times

MPI = "mpi"
"""The algorithm that is the MPI's own choice."""


def of(catalog: Catalog) -> list[Workload]:
    """MPI's collectives: what the models have costs for. Exchanges among many ranks are another question."""
    return [w for w in catalog.workloads if w.name in COLLECTIVES]


def section(evidence: Evidence, sync: str = "barrier") -> Section | None:
    """The figures have the cases that start together in the way `sync`; the table has all."""
    found = [
        m for m in evidence.measured if "sync" in (words := dict(m.case.parameters)) and "delay" not in words
    ]
    if not found:
        return None
    most = max(m.case.ranks for m in found)
    fits = [f for f in chosen(evidence.fits.fits) if f.verdict != "refused" and f.parameters]
    figures = [_against_size([m for m in found if m.case.ranks == most], fits, most, sync)]
    if len({m.case.ranks for m in found}) > 1:
        figures.append(_against_ranks(found, sync))
    return Section(
        title="Collectives",
        text=(
            "The time of a collective is the longest over its ranks. It starts after MPI_Barrier "
            "(sync=barrier) or at one moment of a synchronised clock (sync=window).",
        ),
        figures=tuple(f for f in figures if f.series),
        tables=(_table(found),),
    )


def title(m: Measured) -> str:
    """The collective, and its algorithm where that is not MPI's own."""
    algorithm = dict(m.case.parameters).get("algorithm", MPI)
    return m.case.workload if algorithm == MPI else f"{m.case.workload}, {algorithm}"


def _standard(m: Measured, sync: str) -> bool:
    words = dict(m.case.parameters)
    return words.get("sync") == sync and words.get("buffers", "hot") == "hot"


def _against_size(found: list[Measured], fits: list[Fit], ranks: int, sync: str) -> Figure:
    series: list[Series] = []
    for name in dict.fromkeys(m.case.workload for m in found if "bytes" in dict(m.case.parameters)):
        series.append(times(name, [m for m in found if m.case.workload == name and _standard(m, sync)]))
        fit = next((f for f in fits if _is_cost_of(f, name, sync)), None)
        if fit is not None:
            series.append(_line(name, fit, ranks, series[-1].x))
    return Figure(
        name="collectives",
        title=f"Collectives on {ranks} ranks against size",
        x=Axis("bytes: a rank's block, or the vector's length", "B", "log", zero=True),
        y=Axis("time", "s"),
        series=tuple(s for s in series if s.x),
        caption="Median of the longest time over the ranks with its 95% interval; lines: fitted costs.",
    )


def _is_cost_of(fit: Fit, workload: str, sync: str) -> bool:
    words = fit.subject.split()
    return words[0] == workload and f"sync={sync}" in words and "buffers=cold" not in words


def _line(name: str, fit: Fit, ranks: int, sizes: tuple[float, ...]) -> Series:
    times = tuple(collective_time(fit, ranks, size) for size in sizes)
    return Series(f"{name}, {fit.model} cost", sizes, times, kind="line", group=name)


def _against_ranks(found: list[Measured], sync: str) -> Figure:
    """The smallest size that is not empty, where latency rules."""
    series = []
    for name in dict.fromkeys(map(title, found)):
        mine = [m for m in found if title(m) == name and _standard(m, sync)]
        sizes = sorted({m.size for m in mine})
        size = next((s for s in sizes if s > 0), 0)
        small = sorted((m for m in mine if m.size == size), key=lambda m: m.case.ranks)
        words = f"{name} of {quantity(size, 'B')}" if size else name
        series.append(points(words, small, lambda m: m.case.ranks, lambda m: m.summary.median, "s"))
    return Figure(
        name="collectives_ranks",
        title="Collectives against the number of ranks",
        x=Axis("ranks", "ranks"),
        y=Axis("time", "s"),
        series=tuple(s for s in series if len(s.x) > 1),
        caption="Median of the longest time over the ranks, at the smallest payload.",
    )


def _table(found: list[Measured]) -> Table:
    rows = tuple(
        (
            title(m),
            str(m.case.ranks),
            quantity(m.size, "B") if "bytes" in dict(m.case.parameters) else "",
            str(dict(m.case.parameters)["sync"]),
            quantity(m.summary.median.value, "s"),
            interval(m.summary.median, "s"),
        )
        for m in found
    )
    columns = ("collective", "ranks", "bytes", "sync", "median", "95% interval")
    return Table("collectives", "Collectives", columns, rows, numeric=(1, 2, 4, 5))
