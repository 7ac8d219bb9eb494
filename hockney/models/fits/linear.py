# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Lines over the message size through linear combinations of cases' median times.

A linear function of the medians can be computed for each launch separately, and its error within launches
follows from those of the medians; `interval_of` combines the two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.scipy_functions import chi_square_exceeded, nonnegative_least_squares
from hockney.models.statistics import Medians, Z, center, estimate, half_width

RELATIVE = 0.02
"""Minimum relative error in weights, so that a single very precise size does not decide."""


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
    low, high = medians.widened(middle, half, row)
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
        value, variance = medians.combined(rows)
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
