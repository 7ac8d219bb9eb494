# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The work from which ranks are worth it: break-even, and a wanted efficiency; measured and predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.models.applications.granularity import Algorithm, on_cores, work_needed
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.format import interval, quantity
from hockney.studies.granularity.cells import Cell, lengths, line, rank_counts
from hockney.studies.granularity.text import length

WANTED = 0.9
"""Beside break-even the table says from which work on this efficiency is had."""
SHY = 1e-9


@dataclass(frozen=True)
class Reached:
    """The work (s) at which a curve of efficiencies reaches a value, or the measured work that it is
    below or above of; `never` where no work is enough."""

    at: Estimate | None = None
    below: float | None = None
    above: float | None = None
    never: bool = False

    def __str__(self) -> str:
        if self.at is not None:
            ends = [quantity(end, "s") for end in (self.at.low, self.at.high) if end is not None]
            value = quantity(self.at.value, "s")
            return f"{value} ({interval(self.at, 's')})" if set(ends) - {value} else value
        if self.never:
            return "never"
        if self.below is not None:
            return f"below {quantity(self.below, 's')}"
        return f"above {quantity(self.above, 's')}" if self.above is not None else "not measured"

    @property
    def words(self) -> str:
        """To stand behind "a work": "of 26.8 us", "below 10 us"."""
        return f"of {self}" if self.at is not None else str(self)


def reached(found: Sequence[Cell], wanted: float) -> Reached:
    """Where measured efficiencies, ascending in T, pass `wanted` for the first time. Between two works
    log(E / (1 - E)) is taken to be straight over log T, as it is by equation 2."""
    if not found:
        return Reached()
    values = [(c.work_s, c.efficiency.value) for c in found]
    if values[0][1] >= wanted:
        return Reached(below=values[0][0])
    at = _crossing(values, wanted)
    if at is None:
        return Reached(above=values[-1][0])
    early = _crossing([(c.work_s, c.efficiency.high) for c in found], wanted)
    late = _crossing([(c.work_s, c.efficiency.low) for c in found], wanted)
    return Reached(at=Estimate(at, early and min(at, early), late and max(at, late)))


def predicted(messages: PointToPointCosts, size: int, ranks: int, wanted: float) -> Reached:
    """The same by equation 6, with the interval that comes from the fit's."""
    algorithm = on_cores(Algorithm(1.0, size), ranks, messages.most_ranks)
    value = work_needed(wanted, algorithm, messages, ranks)
    if value is None:
        return Reached(never=True)
    ends = messages.bounds(size, ranks)
    low, high = (
        (None, None) if ends is None else (work_needed(wanted, algorithm, messages, ranks, e) for e in ends)
    )
    return Reached(at=Estimate(value, low and min(low, value), high and max(high, value)))


def table(found: tuple[Cell, ...], messages: PointToPointCosts | None) -> Table:
    """A row for each number of ranks and length."""
    rows = []
    for p in rank_counts(found):
        for size in lengths(found):
            mine = line(found, p, size)
            if not mine:
                continue
            said = [str(p), length(size)]
            for wanted in (1 / p, WANTED):
                said.append(str(predicted(messages, size, p, wanted)) if messages else "unknown")
                said.append(str(reached(mine, wanted)))
            rows.append(tuple(said))
    columns = ("ranks", "message")
    for name in ("break-even", f"{WANTED:.0%}"):
        columns += (f"{name}, predicted", f"{name}, measured")
    return Table(
        "grain",
        "Work from which ranks are worth it",
        columns,
        tuple(rows),
        numeric=(0,),
        caption="Break-even is an efficiency of 1/np, a speed-up of 1. Measured works lie between those of "
        "the grid; in brackets 95% intervals.",
    )


def _crossing(values: Sequence[tuple[float, float | None]], wanted: float) -> float | None:
    """The first place where the value passes `wanted` from below."""
    for (t0, e0), (t1, e1) in pairwise(values):
        if e0 is not None and e1 is not None and e0 < wanted <= e1:
            a, b, w = (_straight(v) for v in (e0, e1, wanted))
            return t0 * (t1 / t0) ** ((w - a) / (b - a))
    return None


def _straight(value: float) -> float:
    inside = min(max(value, SHY), 1 - SHY)
    return math.log(inside / (1 - inside))
