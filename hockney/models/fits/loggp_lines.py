# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LogGP's parameters as lines over the message size, through linear combinations of cases' median times.

A linear function of the medians can be computed for each launch separately, and its error within launches
follows from those of the medians; `combination_interval` combines the two.

**The gap** (`GapLine`): the time of each additional message of a train is g + G (s - 1), or at least g. On a
network with a low cost per byte, short messages follow one another as fast as the processors allow,
regardless of their size. Then max(g, g_0 + G (s - 1)) describes the trains better than a single line, which
would underestimate both g and G. The criterion of the piecewise search chooses between the two, and the size
up to which g holds. The same shape describes o_s, because libraries send the shortest messages by another
path.

**Consistency** (`impose_consistency`). A sender cannot send more often than its processor allows, g >= o_s,
nor can a receiver receive more often, g >= o_r, and both overheads are part of a message's time, o_s + o_r <=
T = o_s + L + o_r. Each parameter is measured separately, so errors may violate these inequalities. If the
interval of an inequality's slack reaches 0, the inequality is imposed by weighted least squares with linear
inequalities. The solution is linear in the parameters once the active inequalities are known; these are found
by trying all subsets of the three. Otherwise the data contradict LogGP, and nothing is imposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from hockney.core.fit import Estimate, FittedSegment
from hockney.models.fits.piecewise import SEGMENT_PENALTY
from hockney.models.scipy_functions import chi_square_upper_quantile, nonnegative_least_squares
from hockney.models.statistics import Medians, Z, center, estimate, half_width

RELATIVE_ERROR = 0.02
"""Minimum relative error in weights, so that a single very precise size does not decide."""

MIN_SIZES = 2
"""Minimum number of sizes on the floor, and on the line beyond it."""

GAP, SEND, RECEIVE, ONE_WAY = range(4)

INEQUALITIES = np.array(
    [
        [1.0, -1.0, 0.0, 0.0],
        [1.0, 0.0, -1.0, 0.0],
        [0.0, -1.0, -1.0, 1.0],
    ]
)
"""g - o_s, g - o_r, T - o_s - o_r."""


def combination_interval(
    medians: Medians, value: float, row: np.ndarray, scale: float = 1.0, *, is_constrained: bool = False
) -> Estimate:
    """Return `value` with the interval of the linear combination row @ times, cut at 0.

    If a bound is active (`is_constrained`), the unconstrained combination differs from the constrained one
    and may be far below 0. The errors are the same, so the interval around `value` is as wide as the
    unconstrained one: a parameter held at 0 may be as large as its errors.
    """
    nonzero = row != 0
    within_width = Z * np.sqrt(scale * np.sum(row[nonzero] ** 2 * medians.variance[nonzero]))
    launch_values = medians.launches @ row
    half_width_of_value = float(half_width(launch_values, within_width))
    midpoint = value if is_constrained else float(center(launch_values))
    low, high = medians.widened_bounds(midpoint, half_width_of_value, row)
    return estimate(value, max(low, 0.0), max(high, 0.0))


@dataclass(frozen=True)
class SizeLine:
    """value(s) = base + slope (s - origin), both >= 0. `rows` (2 x cases) gives the two unconstrained
    parameters as linear combinations of the times. `scale` >= 1 is the chi-square per degree of freedom of
    the points about the line, if larger than expected by chance, otherwise 1. `is_constrained`: whether an
    unconstrained parameter would be negative."""

    origin: float
    base: float
    slope: float
    rows: np.ndarray
    scale: float
    is_constrained: bool

    @staticmethod
    def fit_points(medians: Medians, sizes: list[int], rows: np.ndarray, origin: float) -> SizeLine:
        """Fit a line to the values `rows` @ times at `sizes`."""
        x = np.maximum(np.array(sizes, dtype=float) - origin, 0.0)
        value, variance = medians.combine(rows)
        deviation = np.sqrt(variance + (RELATIVE_ERROR * value) ** 2 + 1e-30)
        design = np.stack((np.ones(len(sizes)), x), axis=1) if x.max() > x.min() else np.ones((len(sizes), 1))
        weighted = design / deviation[:, None]
        scales = np.linalg.norm(weighted, axis=0)
        inverse = np.linalg.pinv(weighted / scales) / scales[:, None] / deviation
        parameters = nonnegative_least_squares(weighted / scales, value / deviation)[0] / scales
        freedom = len(sizes) - len(parameters)
        chi_square = (
            np.sum((value - design @ parameters) ** 2 / np.maximum(variance, 1e-30)) / freedom
            if freedom > 0
            else 0.0
        )
        chance_limit = chi_square_upper_quantile(freedom, 0.05) / freedom if freedom > 0 else 1.0
        free_rows = inverse @ rows
        held = bool(((parameters == 0) & (inverse @ value < 0)).any())
        if len(parameters) == 1:
            parameters, free_rows = np.append(parameters, 0.0), np.vstack((free_rows, 0 * free_rows))
        scale = float(chi_square) if chi_square > chance_limit else 1.0
        return SizeLine(origin, float(parameters[0]), float(parameters[1]), free_rows, scale, held)

    def value_and_row(self, size: float) -> tuple[float, np.ndarray]:
        """Value and row at a size."""
        x = max(size - self.origin, 0.0)
        return self.base + self.slope * x, self.rows[0] + x * self.rows[1]

    def with_base(self, base: float, row: np.ndarray) -> SizeLine:
        """Return the parallel line with this base and its row."""
        return replace(self, base=base, rows=np.stack((row, self.rows[1])))

    def parameters(self, medians: Medians) -> tuple[Estimate, Estimate]:
        base, slope = (
            combination_interval(medians, value, row, self.scale, is_constrained=self.is_constrained)
            for value, row in zip((self.base, self.slope), self.rows, strict=True)
        )
        return base, slope


@dataclass(frozen=True)
class Floor:
    """Constant gap `value` = `row` @ times of all sizes below `beyond`."""

    value: float
    row: np.ndarray
    beyond: float


@dataclass(frozen=True)
class GapLine:
    line: SizeLine
    floor: Floor | None = None

    @staticmethod
    def fit_points(medians: Medians, sizes: Sequence[int], rows: np.ndarray, origin: float = 1.0) -> GapLine:
        """Fit a line, with or without a floor, to the gaps `rows` @ times at the ascending `sizes`. The
        constant of a single line is at `origin`."""
        value, variance = medians.combine(rows)
        deviation = np.sqrt(variance + (RELATIVE_ERROR * value) ** 2 + 1e-30)
        candidates = [GapLine(SizeLine.fit_points(medians, list(sizes), rows, origin))]
        for first in range(MIN_SIZES, len(sizes) - MIN_SIZES + 1):
            weight = deviation[:first] ** -2 / np.sum(deviation[:first] ** -2)
            line = SizeLine.fit_points(medians, list(sizes[first:]), rows[first:], 1.0)
            level = float(weight @ value[:first])
            if level <= 0:
                continue
            crossing = 1 + (level - line.base) / line.slope if line.slope > 0 else sizes[first]
            beyond = min(max(crossing, sizes[first - 1] + 1), sizes[first])
            candidates.append(GapLine(line, Floor(level, weight @ rows[:first], beyond)))

        def criterion(candidate: GapLine) -> float:
            fitted = np.array([candidate.value_and_row(size)[0] for size in sizes])
            penalty = SEGMENT_PENALTY * np.log(len(sizes)) if candidate.floor else 0.0
            return float(np.sum(((value - fitted) / deviation) ** 2)) + penalty

        return min(candidates, key=criterion)

    @property
    def is_constrained(self) -> bool:
        return self.line.is_constrained

    def value_and_row(self, size: float) -> tuple[float, np.ndarray]:
        """Value and row at a size."""
        if self.floor is not None and size < self.floor.beyond:
            return self.floor.value, self.floor.row
        return self.line.value_and_row(size)

    def with_changed_gap(self, change: float, row: np.ndarray, size: int) -> GapLine:
        """Return a copy with the gap at the smallest `size` increased by `change` and its row replaced by
        `row`."""
        if self.floor is not None:
            return replace(self, floor=replace(self.floor, value=self.floor.value + change, row=row))
        more_bytes = max(size - self.line.origin, 0.0)
        base = max(self.line.base + change, 0.0)
        return replace(self, line=self.line.with_base(base, row - more_bytes * self.line.rows[1]))

    def parameters(self, medians: Medians) -> tuple[Estimate, Estimate]:
        """g and G."""
        base, per_byte = self.line.parameters(medians)
        if self.floor is not None:
            base = combination_interval(medians, self.floor.value, self.floor.row)
        return base, per_byte

    def segments(self, medians: Medians) -> list[FittedSegment]:
        """Segments in which g and the line hold; empty if a single line holds everywhere."""
        if self.floor is None:
            return []
        base, per_byte = self.line.parameters(medians)
        beyond = int(np.ceil(self.floor.beyond))
        zero = Estimate(0.0, 0.0, 0.0)
        floor_gap = combination_interval(medians, self.floor.value, self.floor.row)
        return [
            FittedSegment(first=0, beyond=beyond, latency=floor_gap, per_byte=zero),
            FittedSegment(first=beyond, beyond=None, latency=base, per_byte=per_byte),
        ]


@dataclass(frozen=True)
class ConsistentParameters:
    """`values` and `rows` of gap, o_s, o_r and T. `is_adjusted`: whether the unconstrained parameters
    violated an imposed inequality. `contradicted`: indices into `INEQUALITIES` of those that contradict the
    data."""

    values: np.ndarray
    rows: np.ndarray
    is_adjusted: bool
    contradicted: tuple[int, ...]


def impose_consistency(medians: Medians, values: np.ndarray, rows: np.ndarray) -> ConsistentParameters:
    """Impose the inequalities on gap, o_s, o_r and T = `rows` @ times at the same size."""
    contradicted = tuple(
        index
        for index in range(len(INEQUALITIES))
        if _is_contradicted(medians, INEQUALITIES[index], values, rows)
    )
    imposable = [index for index in range(len(INEQUALITIES)) if index not in contradicted]
    variance = medians.combine(rows)[1] + (RELATIVE_ERROR * values) ** 2 + 1e-30
    best_projection, best_distance = np.eye(len(values)), np.inf
    for active_count in range(len(imposable) + 1):
        for active in combinations(imposable, active_count):
            projection = _projection(INEQUALITIES[list(active)], variance)
            projected = projection @ values
            distance = float(np.sum((projected - values) ** 2 / variance))
            slack = INEQUALITIES[imposable] @ projected
            if distance < best_distance and (slack >= -1e-9 * values.max()).all() and (projected >= 0).all():
                best_projection, best_distance = projection, distance
    return ConsistentParameters(
        best_projection @ values,
        best_projection @ rows,
        bool(np.isfinite(best_distance) and best_distance > 0),
        contradicted,
    )


def _is_contradicted(medians: Medians, inequality: np.ndarray, values: np.ndarray, rows: np.ndarray) -> bool:
    """Whether the data contradict an inequality: the upper bound of the slack is below 0 by more than the
    usual error of a model."""
    slack = float(inequality @ values)
    upper_slack = combination_interval(medians, 0.0, inequality @ rows, is_constrained=True).high
    return slack < 0 and -slack > max(upper_slack or 0.0, RELATIVE_ERROR * float(np.abs(inequality) @ values))


def _projection(active: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """Projection onto active @ x = 0, nearest in x**2 / variance."""
    identity = np.eye(len(variance))
    if not len(active):
        return identity
    weighted = active * variance
    return np.asarray(identity - weighted.T @ np.linalg.solve(weighted @ active.T, active))
