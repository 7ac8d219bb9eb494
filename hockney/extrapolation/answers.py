# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Answers about a program on several numbers of ranks of one machine: up to which number it pays, what limits
it, and what would help on the largest number: other algorithms of collectives, and overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from hockney.core.fit import Estimate
from hockney.extrapolation.scaling import GrainRow, ScalingPoint
from hockney.replay.answers import Pop, WhatIf
from hockney.replay.collectives import CollectiveTiming
from hockney.replay.scenarios import RequestedChanges

EFFICIENCIES = (0.9, 0.5)
DOUBLING_GAIN = 1.5
"""Doubling the ranks pays if it makes the program this many times as fast: three quarters of the additional
ranks' time is used well."""
Position = Literal["before", "within", "after"]
"""Where a number of ranks is, relative to the predicted ones."""
Limit = Literal["load balance", "serialisation", "transfer"]


@dataclass(frozen=True)
class EfficiencyLimit:
    """The number of ranks from which the efficiency is below `efficiency`, interpolated between two predicted
    numbers. Outside of these, `position` tells on which side, and `ranks` is the first or last of them."""

    efficiency: float
    position: Position
    ranks: Estimate


@dataclass(frozen=True)
class CollectiveRow:
    """An operation: its algorithms by size as the machine has them, the fastest ones, and what the program
    gains by these. The gain is None if they are the same, also because messages of others slow these down."""

    operation: str
    current: tuple[CollectiveTiming, ...]
    fastest: tuple[CollectiveTiming, ...]
    gain: Estimate | None

    @property
    def calls(self) -> int:
        return sum(timing.calls for timing in self.current)


@dataclass(frozen=True)
class OverlapRow:
    """The gain if messages are waited for after the computation that follows: at most, and as far as the
    machine's messages leave its processors to computation (availability)."""

    at_most: Estimate
    by_availability: Estimate


def limit_of(pop: Pop) -> Limit:
    """The factor of the efficiency that costs most."""
    factors: dict[Limit, float] = {
        "load balance": pop.load_balance,
        "serialisation": pop.serialisation,
        "transfer": pop.transfer,
    }
    return min(factors, key=lambda name: factors[name])


@dataclass(frozen=True)
class MachineScaling:
    """A program on a machine. `points` are in the order of their numbers of ranks, at least one. Without
    `details`, nothing else is evaluated."""

    machine: str
    points: tuple[ScalingPoint, ...]
    details: bool = True

    @property
    def fastest(self) -> ScalingPoint:
        return min(self.points, key=lambda point: point.run_s.value)

    @property
    def largest(self) -> ScalingPoint:
        return self.points[-1]

    @cached_property
    def efficiency_limits(self) -> tuple[EfficiencyLimit, ...]:
        return tuple(self._efficiency_limit(efficiency) for efficiency in EFFICIENCIES)

    def _efficiency_limit(self, efficiency: float) -> EfficiencyLimit:
        value = self._first_below(efficiency, "value")
        if value is not None:
            low, high = (self._first_below(efficiency, bound) for bound in ("low", "high"))
            return EfficiencyLimit(efficiency, "within", Estimate(value, low, high))
        is_below = self.points[0].efficiency.value < efficiency
        bound = self.points[0] if is_below else self.largest
        return EfficiencyLimit(
            efficiency, "before" if is_below else "after", Estimate(float(bound.ranks), None, None)
        )

    def _first_below(self, efficiency: float, bound: str) -> float | None:
        """Interpolated between the logarithms. None if no two neighbors are on different sides."""
        found = [(point.ranks, getattr(point.efficiency, bound)) for point in self.points]
        for (ranks, above), (more, below) in pairwise(found):
            if above is not None and below is not None and above >= efficiency > below > 0:
                share = math.log(above / efficiency) / math.log(above / below)
                return float(ranks * (more / ranks) ** share)
        return None

    @cached_property
    def pays_up_to(self) -> int | None:
        """The largest of the numbers of ranks up to which doubling makes the program DOUBLING_GAIN times as
        fast. None for weak scaling, or if there is only one number."""
        if len(self.points) < 2 or self.largest.weak:
            return None
        for point, following in pairwise(self.points):
            doublings = math.log2(following.ranks / point.ranks)
            if (point.run_s.value / following.run_s.value) ** (1 / doublings) < DOUBLING_GAIN:
                return point.ranks
        return self.largest.ranks

    @cached_property
    def what_ifs(self) -> tuple[WhatIf, ...]:
        return self.fastest.what_ifs if self.details else ()

    @cached_property
    def grains(self) -> tuple[GrainRow, ...]:
        return tuple(row for point in self.points for row in point.grains()) if self.details else ()

    @cached_property
    def collectives(self) -> tuple[CollectiveRow, ...]:
        """On the largest number of ranks, the largest gain first."""
        return tuple(sorted(self._collectives(), key=_loss)) if self.details else ()

    def _collectives(self) -> Iterator[CollectiveRow]:
        program = self.largest.program
        for request in program.standard_changes():
            for operation in request.algorithms:
                current, fastest = (
                    tuple(timing for timing in choices if timing.models(operation))
                    for choices in (program.unchanged_program.choices, program.with_changes(request).choices)
                )
                names = [{timing.algorithm for timing in choices} for choices in (current, fastest)]
                gain = None if names[0] == names[1] else self.largest.predict_change(request).gain
                if gain is None or gain.value <= 0:
                    yield CollectiveRow(operation, current, current, None)
                else:
                    yield CollectiveRow(operation, current, fastest, gain)

    @cached_property
    def overlap(self) -> OverlapRow | None:
        """On the largest number of ranks; None if there is nothing to overlap."""
        if not self.details:
            return None
        at_most = self.largest.predict_change(RequestedChanges(overlap=True, hides_all=True))
        if at_most.gain.value <= 0:
            return None
        return OverlapRow(at_most.gain, self.largest.predict_change(RequestedChanges(overlap=True)).gain)


def _loss(row: CollectiveRow) -> tuple[float, str]:
    return 0.0 if row.gain is None else -row.gain.value, row.operation
