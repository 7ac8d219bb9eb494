# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's own model with the SUNs' parameters: equations 3 and 6, without measurements."""

from __future__ import annotations

from functools import cache

from hockney.draw.figure import Figure, Series
from hockney.draw.page import Section, Table
from hockney.models.applications.granularity import Algorithm, break_even, efficiency
from hockney.models.applications.ring_exchange import exchange_time
from hockney.pages.format import quantity
from hockney.studies.granularity import figures
from hockney.studies.granularity.columns import length, share
from hockney.studies.granularity.costs import PRINTED, printed
from hockney.studies.granularity.figures import EFFICIENCY, WORK
from hockney.studies.granularity.plan import WORD

WORKS = (0.1, 1.0, 10.0)
SERIAL = (0.0, 0.01)
LENGTHS = (1 * WORD, 10000 * WORD)
RANKS = figures.RANKS
DROP = (4, 1 * WORD, 0.01, 10.0)
"""Ranks, message, serial fraction and work for which the paper states the drop: exchanges hardly cost
anything there."""


@cache
def section() -> Section:
    """The section on the paper, which is the same on every page."""
    return Section(
        "The paper's machine",
        text=(
            f"{PRINTED.citation}, equation 3: Tcom = 2 (1500 us + 5 us (np/2) L) with L in words of 4 bytes. "
            "Break-even is an efficiency of 50% on two and of 25% on four SUNs.",
            drop(),
        ),
        figures=(_curves(), *_levels()),
        tables=(_table(),),
        closed=True,
    )


def drop() -> str:
    """The visible drop caused by a serial fraction of 1%, in numbers."""
    p, size, serial, work = DROP
    suns = printed()
    without, with_it = (efficiency(Algorithm(work, size, s), suns, p) for s in (0.0, serial))
    most = 1 / (1 - serial + p * serial)
    return (
        f"A serial fraction of {serial:.0%} is clearly visible: on {p} SUNs with messages of "
        f"{length(size)}, the efficiency at T = {quantity(work, 's')} drops from {share(without)} to "
        f"{share(with_it)}, and no granularity raises it above {share(most)}."
    )


def _curves() -> Figure:
    suns = printed()
    works = figures.PAPERS_GRID
    drawn: list[Series] = []
    for p in RANKS:
        for size in LENGTHS:
            group = f"{p} SUNs, {length(size)}"
            drawn.append(figures.efficiency_curve(group, suns, works, p, size, group=group))
    p, size, serial, _ = DROP
    drawn.append(
        figures.efficiency_curve(
            f"{p} SUNs, {length(size)}, s = {serial:.0%}",
            suns,
            works,
            p,
            size,
            serial,
            f"{p} SUNs, {length(size)}",
        )
    )
    return Figure(
        "paper-efficiency",
        "Efficiency of the paper's SUNs by its model",
        WORK,
        EFFICIENCY,
        tuple(drawn),
        "Equations 2, 3 and 6 with the paper's parameters. The axes are separate because the same T is a "
        "different amount of work on another machine.",
    )


def _levels() -> tuple[Figure, ...]:
    suns = printed()
    grid = figures.PAPERS_GRID
    return (*figures.of_serial(suns, "paper", grid), figures.of_ranks(suns, "paper", grid))


def _table() -> Table:
    suns = printed()
    rows = []
    for p in RANKS:
        for size in LENGTHS:
            even = break_even(Algorithm(1.0, size), suns, p)
            for serial in SERIAL:
                rows.append(
                    (
                        str(p),
                        length(size),
                        f"{100 * serial:g}%",
                        quantity(exchange_time(suns, size, p), "s"),
                        share(1 / p) if not serial else "",
                        quantity(even, "s") if even and not serial else "",
                        *(share(efficiency(Algorithm(t, size, serial), suns, p)) for t in WORKS),
                        share(1 / (1 - serial + p * serial)),
                    )
                )
    columns = (
        "np", "L", "s", "Tcom", "break-even", "at T", *(f"T = {t:g} s" for t in WORKS), "at most",
    )  # fmt: skip
    return Table(
        "paper",
        "Efficiency of the SUNs by the paper's model",
        columns,
        tuple(rows),
        numeric=tuple(k for k in range(len(columns)) if k != 1),
    )
