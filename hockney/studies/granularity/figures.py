# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Efficiency against T as measured, with what the model says: the paper's figures 1 to 3, made here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from hockney.draw.figure import Axis, Figure, Series
from hockney.models.applications.granularity import Algorithm, break_even
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.format import plural, quantity
from hockney.studies.granularity import curves
from hockney.studies.granularity.cells import Cell, lengths, line, rank_counts
from hockney.studies.granularity.curves import EFFICIENCY, WORK
from hockney.studies.granularity.plan import ITERATIONS
from hockney.studies.granularity.text import length, share

FEWEST_ROUNDS = 6
"""So many launches make a course over time."""
MOST_RUNS = 40
"""Single runs drawn for one T: evenly taken from all in order of size, the fastest and slowest included."""


def runs(found: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """Figure 1: every single run and their median with the shortest message, one figure for each np."""
    for p in sorted({cell.ranks for cell in found}):
        size, ranks = min(cell.bytes for cell in found if cell.ranks == p), plural(p, "rank")
        mine = line(found, p, size)
        if not mine:
            continue
        at = curves.works(mine)
        drawn = [curves.points("median", mine, ranks), _cloud(mine, ranks)]
        drawn += [curves.model("predicted", messages, at, p, size, group=ranks)] if messages else []
        drawn += [curves.even(at, p)] if p > 1 else []
        yield Figure(
            f"efficiency-runs-{p}",
            f"Every single run on {ranks}, messages of {length(size)}",
            WORK,
            EFFICIENCY,
            tuple(drawn),
            f"A run is {ITERATIONS} times work and exchange. Hollow: single runs, at most {MOST_RUNS} for "
            "each T, the fastest and the slowest among them.",
        )


def period(found: tuple[Cell, ...]) -> Figure | None:
    """What a machine did while it was measured again and again; None for a few launches in a row."""
    counts = rank_counts(found)
    if not counts:
        return None
    p, size = counts[0], min(lengths(found))
    mine = line(found, p, size)
    shown = [mine[k] for k in sorted({round(j * (len(mine) - 1) / 3) for j in range(4)})] if mine else []
    began = min((t for cell in shown for t in cell.started_s), default=0.0)
    drawn = [_course(cell, began) for cell in shown if len(cell.started_s) >= FEWEST_ROUNDS]
    if not drawn:
        return None
    return Figure(
        "efficiency-period",
        f"Efficiency of {p} ranks through the period, messages of {length(size)}",
        Axis("time since the first round", "s", "linear"),
        EFFICIENCY,
        tuple(drawn),
        "One point a round: the median of its runs; the middle half of them lies within its bar.",
    )


def by_length(found: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """Figures 2 and 3: one for each number of ranks, one curve for each length."""
    for p in rank_counts(found):
        drawn: list[Series] = []
        for size in lengths(found):
            if mine := line(found, p, size):
                drawn += _pair(messages, mine, p, size, length(size))
        if drawn:
            every = [cell.work_s for cell in found if cell.ranks == p]
            yield Figure(
                f"efficiency-{p}",
                f"Efficiency of {p} ranks",
                WORK,
                EFFICIENCY,
                (*drawn, curves.even(every, p)),
                "Points: medians with 95% intervals. Lines: predicted from the model of one message, with "
                "its 95% band. No work is serial.",
            )


def by_serial(found: tuple[Cell, ...], messages: PointToPointCosts | None) -> Iterator[Figure]:
    """What cannot be shared, at the shortest message."""
    for p in rank_counts(found):
        size = min(cell.bytes for cell in found if cell.ranks == p)
        fractions = sorted({c.serial for c in found if (c.ranks, c.bytes) == (p, size) and c.even})
        if len(fractions) < 2:
            continue
        drawn: list[Series] = []
        for serial in fractions:
            mine = line(found, p, size, serial)
            drawn += _pair(messages, mine, p, size, f"s = {100 * serial:g}%", serial)
        yield Figure(
            f"serial-{p}",
            f"Efficiency of {p} ranks where a part of the work is serial",
            WORK,
            EFFICIENCY,
            tuple(drawn),
            f"Messages of {length(size)}. However large T is, the efficiency stays below "
            + ", ".join(f"{share(1 / (1 - s + p * s))} with s = {100 * s:g}%" for s in fractions if s)
            + ".",
        )


def collapsed(found: tuple[Cell, ...], messages: PointToPointCosts) -> Figure | None:
    """All lengths on one curve: against T over its break-even work, x / (x + np - 1)."""
    drawn: list[Series] = []
    for p in rank_counts(found):
        mine = [c for c in found if c.ranks == p and c.even and not c.serial]
        even = [break_even(Algorithm(1.0, c.bytes), messages, p) for c in mine]
        at = [c.work_s / e for c, e in zip(mine, even, strict=True) if e]
        if len(at) < len(mine) or not at:
            continue
        xs = curves.spread(min(*at, 1.0), max(*at, 1.0))
        group = f"{p} ranks"
        drawn += [
            curves.points(f"{group}, all lengths", mine, group, at),
            Series(f"{group}, equation 2", xs, tuple(x / (x + p - 1) for x in xs), kind="line", group=group),
        ]
    if not drawn:
        return None
    return Figure(
        "efficiency-collapsed",
        "Efficiency against T over its break-even work",
        Axis("T over the break-even work that is predicted", ""),
        EFFICIENCY,
        tuple(drawn),
        "By equation 2 all lengths, and all machines, lie on one curve for each number of ranks: that of "
        "the paper's SUNs too. A point beside it is a prediction that misses.",
        marks=((1.0, "break-even"),),
    )


def _pair(
    messages: PointToPointCosts | None,
    mine: Sequence[Cell],
    ranks: int,
    size: int,
    group: str,
    serial: float = 0.0,
) -> list[Series]:
    drawn = [curves.points(group, mine, group)]
    if messages is not None:
        at = curves.works(mine)
        drawn.append(curves.model(f"{group}, predicted", messages, at, ranks, size, serial, group))
    return drawn


def _cloud(mine: Sequence[Cell], group: str) -> Series:
    places = [(cell.work_s, e) for cell in mine for e in _thinned(cell.runs)]
    return Series("single runs", tuple(x for x, _ in places), tuple(y for _, y in places), group=group)


def _course(cell: Cell, began: float) -> Series:
    rounds = [
        (t - began, sorted(runs)) for t, runs in zip(cell.started_s, cell.by_launch, strict=True) if runs
    ]
    return Series(
        name=f"T = {quantity(cell.work_s, 's')}",
        x=tuple(t for t, _ in rounds),
        y=tuple(median(runs) for _, runs in rounds),
        low=tuple(_quantile(runs, 0.25) for _, runs in rounds),
        high=tuple(_quantile(runs, 0.75) for _, runs in rounds),
        detail=tuple(plural(len(runs), "run") for _, runs in rounds),
    )


def _quantile(ordered: Sequence[float], part: float) -> float:
    return ordered[round(part * (len(ordered) - 1))]


def _thinned(values: tuple[float, ...]) -> tuple[float, ...]:
    ordered = sorted(values)
    if len(ordered) <= MOST_RUNS:
        return tuple(ordered)
    step = (len(ordered) - 1) / (MOST_RUNS - 1)
    return tuple(ordered[round(k * step)] for k in range(MOST_RUNS))
