# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The observations of one subject as a matrix, and linear combinations of its times, as input of fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.scipy_functions import chi_square_upper_quantile
from hockney.models.statistics.location import (
    TRIMMING_COST,
    Z,
    center,
    student,
    variance_of_center,
)
from hockney.models.statistics.modes import mode_margins
from hockney.models.statistics.observations import Observation

SPOILED_FACTOR = 8.0
"""A row whose variance exceeds the typical one by this factor keeps its own variance. With three launches,
chance exceeds this factor once in 3000 cases."""


@dataclass(frozen=True)
class ObservationTable:
    """Observations of one subject as a matrix: rows are cases, columns the launches that most cases share.

    `log_times` is rows x columns. Missing and spoiled entries are filled in from the row's center and the
    launch's common factor. `log_center` is the typical log time of each row and `variance` its variance,
    excluding effects of launches on all rows alike. The variance comes from the spread within launches, and
    is at least the effect of launches on one case beyond its neighbors. That effect is pooled over the rows,
    except for much worse rows: those are `spoiled`, and all their entries are filled in. `limits` (2 x rows)
    contains the logarithms by which long-run times may lie below and above the typical ones if only few
    cycles of the machine's modes were observed (`mode_margins`).
    """

    log_times: np.ndarray
    log_center: np.ndarray
    variance: np.ndarray
    spoiled: np.ndarray
    errors: int
    limits: np.ndarray

    @property
    def launches(self) -> int:
        return self.log_times.shape[1]

    @property
    def times(self) -> np.ndarray:
        """Typical time of each row (s)."""
        return np.exp(self.log_center)

    @property
    def extremes(self) -> np.ndarray:
        """Long-run times (s) of each row if the machine is faster or slower than during the run: 2 x rows."""
        return np.exp(self.log_center + self.limits)

    @property
    def by_launch(self) -> np.ndarray:
        """Times (s), launches x rows; only the typical times if no launch has enough rows."""
        return np.exp(self.log_times).T if self.launches else self.times[None]


def tabulate(observations: Sequence[Observation]) -> ObservationTable:
    """Tabulate the observations. A launch becomes a column if it measured at least three quarters of the
    cases."""
    counts: dict[str, int] = {}
    for observation in observations:
        for launch in observation.with_imputed_launches.launches:
            counts[launch] = counts.get(launch, 0) + 1
    columns = [launch for launch, n in counts.items() if n >= 0.75 * len(observations)]
    log_times = np.full((len(observations), len(columns)), np.nan)
    for row, observation in enumerate(observations):
        for launch, value in zip(
            observation.with_imputed_launches.launches,
            observation.with_imputed_launches.log_unbiased,
            strict=True,
        ):
            if launch in columns:
                log_times[row, columns.index(launch)] = value
    launch_factors = _launch_factors(log_times)
    centers = np.empty(len(observations))
    for row, observation in enumerate(observations):
        measured = np.isfinite(log_times[row])
        adjusted = log_times[row, measured] - launch_factors[measured]
        centers[row] = center(adjusted if measured.any() else observation.with_imputed_launches.log_unbiased)
    within = np.nan_to_num([observation.standard_error_within for observation in observations]) ** 2
    single_case_variance, spoiled = _variance_of_single_cases(log_times)
    # A few bad launches out of many shift a trimmed mean, but not a median.
    centers[spoiled] = np.nanmedian(log_times[spoiled] - launch_factors, axis=1)
    variance = np.maximum(within, single_case_variance) + _inference_variance(observations)
    usable = np.isfinite(log_times) & ~spoiled[:, None]
    complete = np.where(usable, log_times, centers[:, None] + launch_factors)
    errors = sum(observation.errors for observation in observations)
    return ObservationTable(complete, centers, variance, spoiled, errors, _long_run_limits(observations))


def _long_run_limits(observations: Sequence[Observation]) -> np.ndarray:
    all_observations = [observation.with_imputed_launches for observation in observations]
    margins = [
        mode_margins(observation.modes, observation.visits, observation.visits_at_s)
        for observation in all_observations
    ]
    return np.array([(-below, above) for below, above in margins]).T


def _inference_variance(observations: Sequence[Observation]) -> np.ndarray:
    """Variance of each log typical time due to inferred launches; 0 if unknown."""
    return np.nan_to_num([observation.inference_half_width / Z for observation in observations]) ** 2


def _launch_factors(log_times: np.ndarray) -> np.ndarray:
    """Logs of the factor of each launch common to all cases, with mean zero. If entries are missing, a few
    sweeps of row and column means converge."""
    columns = log_times.shape[1]
    common = np.zeros(columns)
    if columns > 1 and np.isnan(log_times).any():
        is_measured = np.isfinite(log_times).any(axis=1)
        for _ in range(20):
            rows = np.nanmean(log_times[is_measured] - common, axis=1, keepdims=True)
            common = np.nanmean(log_times[is_measured] - rows, axis=0)
            common -= common.mean()
    return common


def _variance_of_single_cases(log_times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Variance of each row's mean due to effects of launches on single cases, and a mask of the rows spoiled
    by a launch.

    The variance is pooled from the differences of neighboring rows, so an effect on all short messages alike
    does not count. The median is used if a few rows are so bad that they would distort the mean. Rows
    `SPOILED_FACTOR` times worse than both neighbors suggest, which is rare by chance, keep their own
    variance.
    """
    rows, columns = log_times.shape
    no_variance = np.zeros(rows), np.zeros(rows, dtype=bool)
    if columns < 2 or rows < 3:
        return no_variance
    step_variances = np.diff(log_times, axis=0)
    step_variances = step_variances[np.isfinite(step_variances).all(axis=1)].var(axis=1, ddof=1) / 2 / columns
    if not len(step_variances):
        return no_variance
    typical = np.median(step_variances) * (columns - 1) / chi_square_upper_quantile(columns - 1, 0.5)
    pooled = float(np.mean(step_variances) if np.mean(step_variances) < 2 * typical else typical)
    row_variance = _variance_beyond_neighbors(log_times)
    spoiled = row_variance > SPOILED_FACTOR * pooled
    return TRIMMING_COST.get(columns, 1.0) * np.where(spoiled, row_variance, pooled), spoiled


def _variance_beyond_neighbors(log_times: np.ndarray) -> np.ndarray:
    """Variance of each row's mean due to launches in which the row differs from both neighbors, or from its
    only one. A mode of the machine that slows all short messages is not such an effect."""
    steps = np.diff(log_times, axis=0)
    count = np.isfinite(steps).sum(axis=1)
    step_variance = np.zeros(len(steps))
    has_several = count > 1
    step_variance[has_several] = np.nanvar(steps[has_several], axis=1, ddof=1) / count[has_several]
    infinity = np.full(1, np.inf)
    return np.minimum(np.concatenate((infinity, step_variance)), np.concatenate((step_variance, infinity)))


def shared_variance(tables: Sequence[ObservationTable]) -> tuple[float, int]:
    """Variance between launches of the factor common to all rows of a table, and its degrees of freedom,
    pooled over tables with different launches."""
    squares, freedom = 0.0, 0
    for table in tables:
        if table.launches > 1:
            launch_means = table.log_times.mean(axis=0)
            variance_of_mean = table.launches * float(np.mean(table.variance)) / len(table.variance)
            squares += (
                float(np.sum((launch_means - launch_means.mean()) ** 2))
                - (table.launches - 1) * variance_of_mean
            )
            freedom += table.launches - 1
    return (max(squares, 0.0) / freedom if freedom else 0.0), freedom


def sum_quantile(first: np.ndarray, freedom: int, second: np.ndarray, second_freedom: int) -> np.ndarray:
    """Student's quantile for a sum of two estimated variances with Satterthwaite's degrees of freedom."""
    total = first + second
    share = np.where(total > 0, second / np.maximum(total, 1e-300), 0.0)
    inverse = (1 - share) ** 2 / freedom + share**2 / max(second_freedom, 1)
    return np.array([student(round(float(1 / inverse_freedom), 1)) for inverse_freedom in inverse])


@dataclass(frozen=True)
class Medians:
    """Times (s) of all rows: the typical times `center`, the times of all `launches` (launches x rows), and
    the `variance` of the typical times predicted by the spread within launches (nan if unknown). Rows spoiled
    by a launch differ between launches by the common factor only, so their variance includes the spread
    between launches. `extremes` as in `ObservationTable`."""

    center: np.ndarray
    launches: np.ndarray
    variance: np.ndarray
    errors: int
    extremes: np.ndarray

    @staticmethod
    def from_observations(observations: Sequence[Observation]) -> Medians:
        table = tabulate(observations)
        within = np.array([observation.standard_error_within for observation in observations]) ** 2
        within += _inference_variance(observations)
        variance = np.where(table.spoiled, table.variance, within)
        return Medians(table.times, table.by_launch, table.times**2 * variance, table.errors, table.extremes)

    def widened_bounds(self, value: float, half_width: float, row: np.ndarray) -> tuple[float, float]:
        """Bounds of the interval of row @ times, at least as wide as the extremes."""
        deviations = (self.extremes - self.center) @ row
        return value + min(-half_width, float(deviations.min())), value + max(
            half_width, float(deviations.max())
        )

    def combine(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and variances of the linear combinations rows @ times: the larger of the variance predicted
        by the spread within launches and the variance observed between launches."""
        launches = self.launches @ rows.T
        between = variance_of_center(launches.T)[0] if len(launches) > 1 else np.zeros(len(rows))
        return rows @ self.center, np.maximum(rows**2 @ np.nan_to_num(self.variance), between)
