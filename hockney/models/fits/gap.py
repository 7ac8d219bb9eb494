# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of each additional message of a train as a function of its size: g + G (s - 1), or at least g.

On a network with a low cost per byte, short messages follow one another as fast as the processors allow,
whatever their size: max(g, g_0 + G (s - 1)) then describes the trains better than a single line, which would
make both g and G too small. The criterion of the piecewise search chooses between the two, and the size up to
which g holds. The same shape describes o_s: libraries send the shortest messages by another path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hockney.core.fit import Estimate, FittedSegment
from hockney.models.fits.linear import RELATIVE, SizeLine, interval_of
from hockney.models.fits.piecewise.fit import PENALTY
from hockney.models.statistics import Medians

FEWEST = 2
"""Minimum number of sizes on the floor, and on the line beyond it."""


@dataclass(frozen=True)
class Floor:
    """`row` @ times is the gap of all sizes below `beyond`, `value` is its value."""

    value: float
    row: np.ndarray
    beyond: float


@dataclass(frozen=True)
class GapLine:
    line: SizeLine
    floor: Floor | None = None

    @staticmethod
    def through(medians: Medians, sizes: Sequence[int], rows: np.ndarray, origin: float = 1.0) -> GapLine:
        """`rows` @ times are the gaps at `sizes`, which ascend; the constant of a single line is at
        `origin`."""
        value, variance = medians.combined(rows)
        deviation = np.sqrt(variance + (RELATIVE * value) ** 2 + 1e-30)
        options = [GapLine(SizeLine.through(medians, list(sizes), rows, origin))]
        for first in range(FEWEST, len(sizes) - FEWEST + 1):
            weight = deviation[:first] ** -2 / np.sum(deviation[:first] ** -2)
            line = SizeLine.through(medians, list(sizes[first:]), rows[first:], 1.0)
            level = float(weight @ value[:first])
            if level <= 0:
                continue
            meet = 1 + (level - line.base) / line.slope if line.slope > 0 else sizes[first]
            beyond = min(max(meet, sizes[first - 1] + 1), sizes[first])
            options.append(GapLine(line, Floor(level, weight @ rows[:first], beyond)))

        def criterion(option: GapLine) -> float:
            fitted = np.array([option.at(size)[0] for size in sizes])
            price = PENALTY * np.log(len(sizes)) if option.floor else 0.0
            return float(np.sum(((value - fitted) / deviation) ** 2)) + price

        return min(options, key=criterion)

    @property
    def held(self) -> bool:
        return self.line.held

    def at(self, size: float) -> tuple[float, np.ndarray]:
        """Value and row at a size."""
        if self.floor is not None and size < self.floor.beyond:
            return self.floor.value, self.floor.row
        return self.line.at(size)

    def moved(self, change: float, row: np.ndarray, size: int) -> GapLine:
        """The same with a gap larger by `change` at `size`, the smallest, where its row becomes `row`."""
        if self.floor is not None:
            return replace(self, floor=replace(self.floor, value=self.floor.value + change, row=row))
        further = max(size - self.line.origin, 0.0)
        base = max(self.line.base + change, 0.0)
        return replace(self, line=self.line.moved(base, row - further * self.line.rows[1]))

    def parameters(self, medians: Medians) -> tuple[Estimate, Estimate]:
        """g and G."""
        base, per_byte = self.line.parameters(medians)
        if self.floor is not None:
            base = interval_of(medians, self.floor.value, self.floor.row)
        return base, per_byte

    def segments(self, medians: Medians) -> list[FittedSegment]:
        """The segments in which g and the line hold; empty if a single line holds everywhere."""
        if self.floor is None:
            return []
        base, per_byte = self.line.parameters(medians)
        beyond = int(np.ceil(self.floor.beyond))
        none = Estimate(0.0, 0.0, 0.0)
        level = interval_of(medians, self.floor.value, self.floor.row)
        return [
            FittedSegment(first=0, beyond=beyond, latency=level, per_byte=none),
            FittedSegment(first=beyond, beyond=None, latency=base, per_byte=per_byte),
        ]
