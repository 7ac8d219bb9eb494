# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section on collectives: time against size and against ranks, with the fitted cost."""

from __future__ import annotations

from hockney import models
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Fit
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.page import Section, Table
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import interval, quantity, size_of
from hockney.pages.quality import chosen
from hockney.pages.series import points, times
from hockney.pages.undisturbed import with_column

MPI = "mpi"
"""The algorithm that is the MPI's own choice."""


ID = "collectives"
ROLES = ("collective", "barrier", "exchange")
"""What many ranks do together and what is timed over all of them."""


def of(catalog: Catalog) -> list[Workload]:
    """MPI's collectives: what the models have costs for. Exchanges among many ranks are another question."""
    return catalog.of_role("collective", "barrier")


def section(evidence: Evidence, sync: str = "barrier") -> Section | None:
    """The figures have the cases that start together in the way `sync`; the table has all."""
    measured = list(evidence.of_role(*ROLES))
    if not measured:
        return None
    most = max(m.case.ranks for m in measured)
    fits = [f for f in chosen(evidence.fits.fits) if f.verdict != "refused" and f.parameters]
    figures = [_against_size([m for m in measured if m.case.ranks == most], fits, most, sync)]
    if len({m.case.ranks for m in measured}) > 1:
        figures.append(_against_ranks(measured, sync))
    return Section(
        title="Collectives",
        text=(
            "The time of a collective is the longest over its ranks. It starts after MPI_Barrier "
            "(sync=barrier) or at a given moment of a synchronised clock (sync=window).",
        ),
        figures=tuple(f for f in figures if f.series),
        tables=(_table(measured),),
        id=ID,
    )


def title(m: Measured) -> str:
    """The collective, and its algorithm where that is not MPI's own."""
    algorithm = m.case.get("algorithm", MPI)
    return m.case.workload if algorithm == MPI else f"{m.case.workload}, {algorithm}"


def _standard(m: Measured, sync: str) -> bool:
    return m.case.get("sync") == sync and m.case.get("buffers", "hot") == "hot"


def _against_size(measured: list[Measured], fits: list[Fit], ranks: int, sync: str) -> Figure:
    """A series for each workload and algorithm."""
    series: list[Series] = []
    for name in dict.fromkeys(title(m) for m in measured if m.has_size):
        cases = [m for m in measured if title(m) == name and _standard(m, sync)]
        series.append(times(name, cases))
        costs = [f for f in fits if cases and _is_cost_of(f, cases[0])]
        fit = next((f for f in costs if "ranks" in f.subject), next(iter(costs), None))
        if fit is not None:
            series.append(_line(name, fit, ranks, series[-1].x))
    return Figure(
        name="collectives",
        title=f"Collectives on {ranks} ranks against size",
        x=Axis("bytes: a rank's block, or the vector's length", "B", "log", zero=True),
        y=Axis("time", "s"),
        series=tuple(s for s in series if s.x),
        caption="Typical longest time over the ranks with its 95% interval; lines: fitted costs.",
    )


def _is_cost_of(fit: Fit, m: Measured) -> bool:
    """Whether the fit is of the subject that the case belongs to."""
    subject = fit.subject
    return subject.workload == m.case.workload and all(m.case.get(k) == v for k, v in subject.fixed)


def _line(name: str, fit: Fit, ranks: int, sizes: tuple[float, ...]) -> Series:
    times = tuple(models.collective_time(fit, ranks, size) for size in sizes)
    return Series(f"{name}, {fit.model} cost", sizes, times, kind="line", group=name)


def _against_ranks(measured: list[Measured], sync: str) -> Figure:
    """The smallest size that is not empty, where latency rules."""
    series = []
    for name in dict.fromkeys(map(title, measured)):
        selected = [m for m in measured if title(m) == name and _standard(m, sync)]
        sizes = sorted({m.size for m in selected})
        size = next((s for s in sizes if s > 0), 0)
        small = sorted((m for m in selected if m.size == size), key=lambda m: m.case.ranks)
        words = f"{name} of {quantity(size, 'B')}" if size else name
        series.append(points(words, small, lambda m: m.case.ranks, lambda m: m.summary.typical))
    return Figure(
        name="collectives_ranks",
        title="Collectives against the number of ranks",
        x=Axis("ranks", "ranks"),
        y=Axis("time", "s"),
        series=tuple(s for s in series if len(s.x) > 1),
        caption="Typical longest time over the ranks, at the smallest payload.",
    )


def _table(measured: list[Measured]) -> Table:
    rows = tuple(
        (
            title(m),
            str(m.case.ranks),
            size_of(m),
            str(m.case.get("sync", "")),
            quantity(m.summary.typical.value, "s"),
            interval(m.summary.typical, "s"),
        )
        for m in measured
    )
    columns = ("collective", "ranks", "bytes", "sync", "typical", "95% interval")
    table = Table("collectives", "Collectives", columns, rows, numeric=(1, 2, 4, 5))
    return with_column(table, [m.summary for m in measured], "typical")
