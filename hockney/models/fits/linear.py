# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Lines over the message size through linear combinations of cases' median times.

What is linear in the medians can be computed for each launch by itself, and its error inside the launches
follows from those of the medians; `Medians.contrast` puts the two together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.scipy_functions import chi_square_exceeded, nonnegative_least_squares
from hockney.models.statistics import Medians

RELATIVE = 0.02
"""Weights of the lines see at least this relative error, so that one very precise size does not decide."""


@dataclass(frozen=True)
class SizeLine:
    """value(s) = base + slope (s - origin), both >= 0. `rows` (2 x cases) and `constants` give the two free
    parameters as linear combinations of the times; `scale` >= 1 is by how much the points stray from the
    line beyond what their errors explain by chance (chi-square over degrees of freedom)."""

    origin: float
    base: float
    slope: float
    rows: np.ndarray
    constants: np.ndarray
    scale: float

    @staticmethod
    def through(
        medians: Medians, sizes: list[int], rows: np.ndarray, shift: np.ndarray, origin: float
    ) -> SizeLine:
        """`rows` @ times + shift are the values at `sizes`."""
        x = np.maximum(np.array(sizes, dtype=float) - origin, 0.0)
        value, variance = medians.combined(rows)
        value = value + shift
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
        own = inverse @ rows
        constants = inverse @ shift
        if len(best) == 1:
            best, own, constants = np.append(best, 0.0), np.vstack((own, 0 * own)), np.append(constants, 0.0)
        return SizeLine(
            origin, float(best[0]), float(best[1]), own, constants, float(stray) if stray > chance else 1.0
        )

    def at(self, size: float) -> tuple[float, np.ndarray, float]:
        """Value, row and constant at a size."""
        x = max(size - self.origin, 0.0)
        return (
            self.base + self.slope * x,
            self.rows[0] + x * self.rows[1],
            self.constants[0] + x * self.constants[1],
        )

    def parameters(self, medians: Medians) -> tuple[Estimate, Estimate]:
        base, slope = (
            medians.contrast(value, row, constant, self.scale)
            for value, row, constant in zip((self.base, self.slope), self.rows, self.constants, strict=True)
        )
        return base, slope
