# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LogGP's parameters as lines over the message size, through linear combinations of cases' median times.

A linear function of the medians can be computed for each launch separately, and its error within launches
follows from those of the medians; `interval_of` combines the two.

**The gap** (`GapLine`): the time of each additional message of a train is g + G (s - 1), or at least g. On a
network with a low cost per byte, short messages follow one another as fast as the processors allow, whatever
their size: max(g, g_0 + G (s - 1)) then describes the trains better than a single line, which would make both
g and G too small. The criterion of the piecewise search chooses between the two, and the size up to which g
holds. The same shape describes o_s: libraries send the shortest messages by another path.

**Consistency** (`consistent`). A sender cannot send more often than its processor allows, g >= o_s, nor can a
receiver receive more often, g >= o_r, and both overheads are part of a message's time, o_s + o_r <= T = o_s +
L + o_r. Each parameter is measured separately, so errors may violate these inequalities. If the interval of
an inequality's slack reaches 0, the inequality is imposed: weighted least squares with linear inequalities,
whose solution is linear in the parameters once the active ones are known, found by trying all subsets of the
three. Otherwise the data contradict LogGP, and nothing is imposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from hockney.core.fit import Estimate, FittedSegment
from hockney.models.fits.piecewise import SEGMENT_PENALTY
from hockney.models.scipy_functions import chi_square_exceeded, nonnegative_least_squares
from hockney.models.statistics import Medians, Z, center, estimate, half_width

RELATIVE = 0.02
"""Minimum relative error in weights, so that a single very precise size does not decide."""

FEWEST = 2
"""Minimum number of sizes on the floor, and on the line beyond it."""

GAP, SEND, RECEIVE, ONE_WAY = range(4)

AT_LEAST_0 = np.array(
    [
        [1.0, -1.0, 0.0, 0.0],
        [1.0, 0.0, -1.0, 0.0],
        [0.0, -1.0, -1.0, 1.0],
    ]
)
"""g - o_s, g - o_r, T - o_s - o_r."""


def interval_of(
    medians: Medians, value: float, row: np.ndarray, scale: float = 1.0, *, held: bool = False
) -> Estimate:
    """`value` with the interval of the linear combination row @ times, cut at 0.

    If a bound is active (`held`), the free combination differs from the bounded one and may be far below 0.
    The errors are the same, so the interval is as wide as the free one, around `value`: a parameter held at 0
    may be as large as its errors.
    """
    used = row != 0
    within = Z * np.sqrt(scale * np.sum(row[used] ** 2 * medians.variance[used]))
    free = medians.launches @ row
    half = float(half_width(free, within))
    middle = value if held else float(center(free))
    low, high = medians.widened_bounds(middle, half, row)
    return estimate(value, max(low, 0.0), max(high, 0.0))


@dataclass(frozen=True)
class SizeLine:
    """value(s) = base + slope (s - origin), both >= 0. `rows` (2 x cases) gives the two free parameters as
    linear combinations of the times; `scale` >= 1 is the factor by which the points deviate from the line
    beyond their errors (chi-square over degrees of freedom, if larger than expected by chance). `held`:
    whether a parameter would be negative if it were free."""

    origin: float
    base: float
    slope: float
    rows: np.ndarray
    scale: float
    held: bool

    @staticmethod
    def through(medians: Medians, sizes: list[int], rows: np.ndarray, origin: float) -> SizeLine:
        """`rows` @ times are the values at `sizes`."""
        x = np.maximum(np.array(sizes, dtype=float) - origin, 0.0)
        value, variance = medians.combine(rows)
        deviation = np.sqrt(variance + (RELATIVE * value) ** 2 + 1e-30)
        design = np.stack((np.ones(len(sizes)), x), axis=1) if x.max() > x.min() else np.ones((len(sizes), 1))
        weighted = design / deviation[:, None]
        scales = np.linalg.norm(weighted, axis=0)
        inverse = np.linalg.pinv(weighted / scales) / scales[:, None] / deviation
        best = nonnegative_least_squares(weighted / scales, value / deviation)[0] / scales
        freedom = len(sizes) - len(best)
        stray = (
            np.sum((value - design @ best) ** 2 / np.maximum(variance, 1e-30)) / freedom
            if freedom > 0
            else 0.0
        )
        chance = chi_square_exceeded(freedom, 0.05) / freedom if freedom > 0 else 1.0
        free_rows = inverse @ rows
        held = bool(((best == 0) & (inverse @ value < 0)).any())
        if len(best) == 1:
            best, free_rows = np.append(best, 0.0), np.vstack((free_rows, 0 * free_rows))
        scale = float(stray) if stray > chance else 1.0
        return SizeLine(origin, float(best[0]), float(best[1]), free_rows, scale, held)

    def at(self, size: float) -> tuple[float, np.ndarray]:
        """Value and row at a size."""
        x = max(size - self.origin, 0.0)
        return self.base + self.slope * x, self.rows[0] + x * self.rows[1]

    def moved(self, base: float, row: np.ndarray) -> SizeLine:
        """The parallel line with another base."""
        return replace(self, base=base, rows=np.stack((row, self.rows[1])))

    def parameters(self, medians: Medians) -> tuple[Estimate, Estimate]:
        base, slope = (
            interval_of(medians, value, row, self.scale, held=self.held)
            for value, row in zip((self.base, self.slope), self.rows, strict=True)
        )
        return base, slope


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
        value, variance = medians.combine(rows)
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
            price = SEGMENT_PENALTY * np.log(len(sizes)) if option.floor else 0.0
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


@dataclass(frozen=True)
class Consistent:
    """`values` and `rows` of gap, o_s, o_r and T; `moved`: whether an imposed inequality was violated by the
    free parameters; `contradicted`: which ones (of `AT_LEAST_0`) the data do not allow."""

    values: np.ndarray
    rows: np.ndarray
    moved: bool
    contradicted: tuple[int, ...]


def consistent(medians: Medians, values: np.ndarray, rows: np.ndarray) -> Consistent:
    """`values` and `rows` @ times are gap, o_s, o_r and T at the same size."""
    contradicted = tuple(k for k in range(len(AT_LEAST_0)) if _excluded(medians, AT_LEAST_0[k], values, rows))
    allowed = [k for k in range(len(AT_LEAST_0)) if k not in contradicted]
    variance = medians.combine(rows)[1] + (RELATIVE * values) ** 2 + 1e-30
    best, cost = np.eye(len(values)), np.inf
    for count in range(len(allowed) + 1):
        for active in combinations(allowed, count):
            projection = _projection(AT_LEAST_0[list(active)], variance)
            found = projection @ values
            distance = float(np.sum((found - values) ** 2 / variance))
            slack = AT_LEAST_0[allowed] @ found
            if distance < cost and (slack >= -1e-9 * values.max()).all() and (found >= 0).all():
                best, cost = projection, distance
    return Consistent(best @ values, best @ rows, bool(np.isfinite(cost) and cost > 0), contradicted)


def _excluded(medians: Medians, inequality: np.ndarray, values: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the upper end of a value that must be at least 0 is below it, by more than models are typically
    off."""
    slack = float(inequality @ values)
    away = interval_of(medians, 0.0, inequality @ rows, held=True).high
    return slack < 0 and -slack > max(away or 0.0, RELATIVE * float(np.abs(inequality) @ values))


def _projection(active: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Projection onto active @ x = 0, the nearest in x**2 / variance."""
    identity = np.eye(len(variance))
    if not len(active):
        return identity
    weighted = active * variance
    return np.asarray(identity - weighted.T @ np.linalg.solve(weighted @ active.T, active))
