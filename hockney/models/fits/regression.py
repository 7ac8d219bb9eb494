# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Times as sums of parameters with known factors, by relative non-negative least squares.

Launches vary independently between groups of cases and together within one: different rank counts are
different launches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Estimate, Fit
from hockney.models.fits.piecewise import unexplained
from hockney.models.scipy_functions import nonnegative_least_squares
from hockney.models.statistics import Observation, estimate, shared_variance, sum_quantile, tabulate

FLOOR = 0.02
"""Minimum relative error in weights, so that a single very precise case does not decide."""


@dataclass(frozen=True)
class Regression:
    """`times` (s) of the cases are about `design` (cases x parameters) @ `best`, all of them >= 0; `free` are
    the parameters without that constraint. `half` are the half widths of their 95% intervals, `residual` the
    logs of the times over the fitted ones, `errors` the wrong payloads."""

    design: np.ndarray
    times: np.ndarray
    best: np.ndarray
    free: np.ndarray
    covariance: np.ndarray
    half: np.ndarray
    residual: np.ndarray
    errors: int

    @staticmethod
    def of(groups: Sequence[Sequence[Observation]], design: np.ndarray) -> Regression:
        """The rows of `design` are the cases of all groups in order, at least as many as it has columns."""
        tables = [tabulate(group) for group in groups]
        members = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        times = np.concatenate([table.times for table in tables])
        single = np.concatenate([table.variance for table in tables])
        shared, shared_freedom = shared_variance(tables)
        per_group = np.concatenate([np.full(len(t.times), shared / max(t.launches, 1)) for t in tables])

        weight = 1 / (np.sqrt(single + per_group + FLOOR**2) * times)
        scale = np.linalg.norm(design * weight[:, None], axis=0)
        best = nonnegative_least_squares(design * weight[:, None] / scale, times * weight)[0] / scale
        fitted = np.maximum(design @ best, 1e-30)
        freedom = len(times) - design.shape[1]
        residual = np.log(times / fitted)
        single = single + unexplained(residual, single + per_group, freedom)

        inverse = np.linalg.pinv(design * weight[:, None] / scale) / scale[:, None] * weight
        of_points = (inverse * (single * fitted**2)) @ inverse.T
        same = members[:, None] == members[None, :]
        of_launches = inverse @ (same * per_group[:, None] * np.outer(fitted, fitted)) @ inverse.T
        quantile = sum_quantile(np.diag(of_points), max(freedom, 1), np.diag(of_launches), shared_freedom)
        covariance = of_points + of_launches
        return Regression(
            design=design,
            times=times,
            best=best,
            free=inverse @ times,
            covariance=covariance,
            half=quantile * np.sqrt(np.diag(covariance)),
            residual=residual,
            errors=sum(table.errors for table in tables),
        )

    @property
    def fitted(self) -> np.ndarray:
        return np.asarray(self.design @ self.best)

    @property
    def saturated(self) -> bool:
        """Whether there are as many parameters as cases. The deviation of the times from the form is then
        unknown, and the errors of the measured times alone would give intervals that are too narrow."""
        return self.design.shape[0] == self.design.shape[1]

    @property
    def middle(self) -> np.ndarray:
        """The centres of the intervals: the free parameters; if one of these is negative and therefore held
        at 0, the values of the others under that constraint. A parameter held at 0 may be as large as its
        errors."""
        held = bool(((self.best == 0) & (self.free < 0)).any())
        return self.best if held else self.free

    @property
    def leverage(self) -> np.ndarray:
        """The largest relative change of a fitted time for a change of each parameter by one unit."""
        return np.asarray(np.max(self.design / np.maximum(self.fitted, 1e-30)[:, None], axis=0))

    def parameter(self, k: int) -> Estimate:
        middle, half = self.middle[k], self.half[k]
        return estimate(self.best[k], max(middle - half, 0.0), max(middle + half, 0.0))

    @property
    def quantile(self) -> float:
        return float(np.max(self.half / np.sqrt(np.maximum(np.diag(self.covariance), 1e-300))))

    @property
    def interval_matrix(self) -> list[list[float]]:
        """See `Fit`; empty if unknown."""
        if self.saturated:
            return []
        with np.errstate(invalid="ignore"):
            matrix = self.quantile**2 * self.covariance
        return matrix.tolist() if np.isfinite(matrix).all() else []

    def band(self, design: np.ndarray) -> list[Estimate]:
        """The times of other rows of factors, with their 95% intervals; of no width if those are unknown."""
        if self.saturated:
            return [estimate(value, value, value) for value in design @ self.best]
        half = self.quantile * np.sqrt(np.maximum(np.sum((design @ self.covariance) * design, axis=1), 0))
        middle = design @ self.middle
        ends = zip(design @ self.best, np.maximum(middle - half, 0), middle + half, strict=True)
        return [estimate(*three) for three in ends]


def sum_interval(fit: Fit, factors: np.ndarray) -> Estimate:
    """The sum of a fit's parameters with these factors, with the 95% interval of its `interval_matrix`."""
    value = float(factors @ np.array([parameter.estimate.value for parameter in fit.parameters]))
    if not fit.interval_matrix:
        return Estimate(value, None, None)
    half = float(np.sqrt(max(factors @ np.array(fit.interval_matrix) @ factors, 0.0)))
    return estimate(value, max(value - half, 0.0), value + half)
