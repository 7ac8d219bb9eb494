# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fits times as sums of parameters with known factors, by relative non-negative least squares.

Launches vary independently between groups of cases, such as different rank counts, and jointly within a
group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.fit import Estimate, Fit
from hockney.models.fits.piecewise import unexplained_variance
from hockney.models.scipy_functions import nonnegative_least_squares
from hockney.models.statistics import Observation, estimate, shared_variance, sum_quantile, tabulate

MIN_RELATIVE_ERROR = 0.02
"""Minimum relative error in weights, so that a single very precise case does not dominate."""


@dataclass(frozen=True)
class Regression:
    """A fit of the `times` (s) of the cases by `design` (cases x parameters) @ `best` with `best` >= 0.
    `unconstrained` contains the unconstrained parameters, `half_widths` the half widths of their 95%
    intervals, `residual` the logs of the times over the fitted ones, `errors` the number of wrong
    payloads."""

    design: np.ndarray
    times: np.ndarray
    best: np.ndarray
    unconstrained: np.ndarray
    covariance: np.ndarray
    half_widths: np.ndarray
    residual: np.ndarray
    errors: int

    @staticmethod
    def fit_groups(groups: Sequence[Sequence[Observation]], design: np.ndarray) -> Regression:
        """Fit the cases of all groups, in the order of the rows of `design`. There must be at least as many
        rows as columns."""
        tables = [tabulate(group) for group in groups]
        members = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        times = np.concatenate([table.times for table in tables])
        point_variance = np.concatenate([table.variance for table in tables])
        launch_variance, launch_freedom = shared_variance(tables)
        group_variance = np.concatenate(
            [np.full(len(t.times), launch_variance / max(t.launches, 1)) for t in tables]
        )

        weight = 1 / (np.sqrt(point_variance + group_variance + MIN_RELATIVE_ERROR**2) * times)
        scale = np.linalg.norm(design * weight[:, None], axis=0)
        best = nonnegative_least_squares(design * weight[:, None] / scale, times * weight)[0] / scale
        fitted = np.maximum(design @ best, 1e-30)
        freedom = len(times) - design.shape[1]
        residual = np.log(times / fitted)
        point_variance = point_variance + unexplained_variance(
            residual, point_variance + group_variance, freedom
        )

        inverse = np.linalg.pinv(design * weight[:, None] / scale) / scale[:, None] * weight
        point_covariance = (inverse * (point_variance * fitted**2)) @ inverse.T
        is_same_group = members[:, None] == members[None, :]
        launch_covariance = (
            inverse @ (is_same_group * group_variance[:, None] * np.outer(fitted, fitted)) @ inverse.T
        )
        quantile = sum_quantile(
            np.diag(point_covariance), max(freedom, 1), np.diag(launch_covariance), launch_freedom
        )
        covariance = point_covariance + launch_covariance
        return Regression(
            design=design,
            times=times,
            best=best,
            unconstrained=inverse @ times,
            covariance=covariance,
            half_widths=quantile * np.sqrt(np.diag(covariance)),
            residual=residual,
            errors=sum(table.errors for table in tables),
        )

    @property
    def fitted(self) -> np.ndarray:
        return np.asarray(self.design @ self.best)

    @property
    def is_saturated(self) -> bool:
        """Whether there are as many parameters as cases. The deviation of the times from the form is then
        unknown, and the errors of the measured times alone would give too narrow intervals."""
        return self.design.shape[0] == self.design.shape[1]

    @property
    def interval_centers(self) -> np.ndarray:
        """Centres of the intervals: the unconstrained parameters or, if one of these is negative, the
        constrained ones. A parameter held at 0 may be as large as its errors."""
        is_constrained = bool(((self.best == 0) & (self.unconstrained < 0)).any())
        return self.best if is_constrained else self.unconstrained

    @property
    def leverage(self) -> np.ndarray:
        """Largest relative change of a fitted time per unit change of each parameter."""
        return np.asarray(np.max(self.design / np.maximum(self.fitted, 1e-30)[:, None], axis=0))

    def parameter(self, index: int) -> Estimate:
        midpoint, half_width = self.interval_centers[index], self.half_widths[index]
        return estimate(self.best[index], max(midpoint - half_width, 0.0), max(midpoint + half_width, 0.0))

    @property
    def quantile(self) -> float:
        return float(np.max(self.half_widths / np.sqrt(np.maximum(np.diag(self.covariance), 1e-300))))

    @property
    def interval_matrix(self) -> list[list[float]]:
        """See `Fit`; empty if unknown."""
        if self.is_saturated:
            return []
        with np.errstate(invalid="ignore"):
            matrix = self.quantile**2 * self.covariance
        return matrix.tolist() if np.isfinite(matrix).all() else []

    def band(self, design: np.ndarray) -> list[Estimate]:
        """Times for other rows of factors with their 95% intervals, which have no width if unknown."""
        if self.is_saturated:
            return [estimate(value, value, value) for value in design @ self.best]
        half_width = self.quantile * np.sqrt(
            np.maximum(np.sum((design @ self.covariance) * design, axis=1), 0)
        )
        midpoints = design @ self.interval_centers
        intervals = zip(
            design @ self.best, np.maximum(midpoints - half_width, 0), midpoints + half_width, strict=True
        )
        return [estimate(*value_and_bounds) for value_and_bounds in intervals]


def sum_interval(fit: Fit, factors: np.ndarray) -> Estimate:
    """Sum of a fit's parameters with these factors, with the 95% interval from its `interval_matrix`."""
    value = float(factors @ np.array([parameter.estimate.value for parameter in fit.parameters]))
    if not fit.interval_matrix:
        return Estimate(value, None, None)
    half_width = float(np.sqrt(max(factors @ np.array(fit.interval_matrix) @ factors, 0.0)))
    return estimate(value, max(value - half_width, 0.0), value + half_width)
