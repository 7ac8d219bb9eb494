# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The observations of one subject as a matrix, and linear combinations of its times, for fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.scipy_functions import chi_square_exceeded
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
"""A row's variance is used if it exceeds the typical one by this factor: with three launches chance exceeds
it in one of 3000."""


@dataclass(frozen=True)
class ObservationTable:
    """Observations of one subject as a matrix: rows are cases, columns the launches that most cases share.

    `log_times` is rows x columns; entries that a launch lacks, or that it spoiled, are filled in from the
    row's center and the launch's common factor. `log_center` is each row's typical launch and `variance` that
    of its error, apart from effects of launches on all rows alike: from the spread within launches, and at
    least the effect of launches on one case beyond its neighbors, which is pooled over the rows except if
    one is much worse: such rows are `spoiled`, and all their entries are filled in. `limits` (2 x rows) are
    the logarithms by which the long-run times may lie below and above the typical ones if only few cycles of
    the machine's modes were observed (`mode_margins`).
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
        """The typical time of each row (s)."""
        return np.exp(self.log_center)

    @property
    def extremes(self) -> np.ndarray:
        """The times (s) of each row in the long run, if the machine is faster or slower than in the run: 2 x
        rows."""
        return np.exp(self.log_center + self.limits)

    @property
    def by_launch(self) -> np.ndarray:
        """Times (s), launches x rows; only the typical ones if no launch has enough rows."""
        return np.exp(self.log_times).T if self.launches else self.times[None]


def tabulate(observations: Sequence[Observation]) -> ObservationTable:
    """A launch gets a column when it has at least three quarters of the cases."""
    counts: dict[str, int] = {}
    for observation in observations:
        for launch in observation.all_launches.launches:
            counts[launch] = counts.get(launch, 0) + 1
    columns = [launch for launch, n in counts.items() if n >= 0.75 * len(observations)]
    log_times = np.full((len(observations), len(columns)), np.nan)
    for row, observation in enumerate(observations):
        for launch, value in zip(
            observation.all_launches.launches, observation.all_launches.log_unbiased, strict=True
        ):
            if launch in columns:
                log_times[row, columns.index(launch)] = value
    common = _launch_factors(log_times)
    centers = np.empty(len(observations))
    for row, observation in enumerate(observations):
        present = np.isfinite(log_times[row])
        apart_from_common = log_times[row, present] - common[present]
        centers[row] = center(apart_from_common if present.any() else observation.all_launches.log_unbiased)
    within = np.nan_to_num([observation.standard_error_within for observation in observations]) ** 2
    apart, spoiled = _variance_of_single_cases(log_times)
    # A few bad launches out of many shift a trimmed mean, but not a median.
    centers[spoiled] = np.nanmedian(log_times[spoiled] - common, axis=1)
    variance = np.maximum(within, apart) + _inference_variance(observations)
    usable = np.isfinite(log_times) & ~spoiled[:, None]
    filled = np.where(usable, log_times, centers[:, None] + common)
    errors = sum(observation.errors for observation in observations)
    return ObservationTable(filled, centers, variance, spoiled, errors, _limits(observations))


def _limits(observations: Sequence[Observation]) -> np.ndarray:
    all_observations = [observation.all_launches for observation in observations]
    sides = [
        mode_margins(observation.modes, observation.visits, observation.visits_at_s)
        for observation in all_observations
    ]
    return np.array([(-below, above) for below, above in sides]).T


def _inference_variance(observations: Sequence[Observation]) -> np.ndarray:
    """The variance of each typical time (of its log) due to inferred launches; 0 if unknown."""
    return np.nan_to_num([observation.inference_half_width / Z for observation in observations]) ** 2


def _launch_factors(log_times: np.ndarray) -> np.ndarray:
    """Each launch's factor common to all cases, with mean zero; a few sweeps of row and column means converge
    if entries are missing."""
    columns = log_times.shape[1]
    common = np.zeros(columns)
    if columns > 1 and np.isnan(log_times).any():
        some = np.isfinite(log_times).any(axis=1)
        for _ in range(20):
            rows = np.nanmean(log_times[some] - common, axis=1, keepdims=True)
            common = np.nanmean(log_times[some] - rows, axis=0)
            common -= common.mean()
    return common


def _variance_of_single_cases(log_times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The variance of each row's mean due to effects of launches on single cases, and which rows are spoiled
    by a launch.

    Pooled from the differences of neighboring rows, so that an effect on all short messages alike does not
    count; by their median if a few rows are so bad that they would spoil the mean. Those rows
    (`SPOILED_FACTOR` times worse than both neighbors suggest, which is rare by chance) keep their own
    variance.
    """
    rows, columns = log_times.shape
    none = np.zeros(rows), np.zeros(rows, dtype=bool)
    if columns < 2 or rows < 3:
        return none
    steps = np.diff(log_times, axis=0)
    steps = steps[np.isfinite(steps).all(axis=1)].var(axis=1, ddof=1) / 2 / columns
    if not len(steps):
        return none
    typical = np.median(steps) * (columns - 1) / chi_square_exceeded(columns - 1, 0.5)
    pooled = float(np.mean(steps) if np.mean(steps) < 2 * typical else typical)
    row_variance = _beyond_neighbors(log_times)
    spoiled = row_variance > SPOILED_FACTOR * pooled
    return TRIMMING_COST.get(columns, 1.0) * np.where(spoiled, row_variance, pooled), spoiled


def _beyond_neighbors(log_times: np.ndarray) -> np.ndarray:
    """The variance of each row's mean due to effects of launches in which the row differs from both
    neighbors, or from its only one. A mode of the machine that slows all short messages is no such effect."""
    steps = np.diff(log_times, axis=0)
    count = np.isfinite(steps).sum(axis=1)
    apart = np.zeros(len(steps))
    several = count > 1
    apart[several] = np.nanvar(steps[several], axis=1, ddof=1) / count[several]
    nothing = np.full(1, np.inf)
    return np.minimum(np.concatenate((nothing, apart)), np.concatenate((apart, nothing)))


def shared_variance(tables: Sequence[ObservationTable]) -> tuple[float, int]:
    """Variance between launches of the common factor of all rows of a table, and its degrees of freedom,
    pooled over tables with different launches."""
    squares, freedom = 0.0, 0
    for table in tables:
        if table.launches > 1:
            common = table.log_times.mean(axis=0)
            single = table.launches * float(np.mean(table.variance)) / len(table.variance)
            squares += float(np.sum((common - common.mean()) ** 2)) - (table.launches - 1) * single
            freedom += table.launches - 1
    return (max(squares, 0.0) / freedom if freedom else 0.0), freedom


def sum_quantile(first: np.ndarray, freedom: int, second: np.ndarray, second_freedom: int) -> np.ndarray:
    """Student's quantile for a sum of two estimated variances, by Satterthwaite's degrees of freedom."""
    total = first + second
    part = np.where(total > 0, second / np.maximum(total, 1e-300), 0.0)
    inverse = (1 - part) ** 2 / freedom + part**2 / max(second_freedom, 1)
    return np.array([student(round(float(1 / one), 1)) for one in inverse])


@dataclass(frozen=True)
class Medians:
    """Times (s) of all rows: the typical ones, every launch's (launches x rows), and the variance of the
    former predicted by the spread within launches (nan if unknown). Rows spoiled by a launch differ from
    launch to launch by the common factor only, so theirs includes the spread between launches. `extremes` as
    in the table."""

    center: np.ndarray
    launches: np.ndarray
    variance: np.ndarray
    errors: int
    extremes: np.ndarray

    @staticmethod
    def of(observations: Sequence[Observation]) -> Medians:
        table = tabulate(observations)
        within = np.array([observation.standard_error_within for observation in observations]) ** 2
        within += _inference_variance(observations)
        variance = np.where(table.spoiled, table.variance, within)
        return Medians(table.times, table.by_launch, table.times**2 * variance, table.errors, table.extremes)

    def widen(self, middle: float, half: float, row: np.ndarray) -> tuple[float, float]:
        """The ends of the interval of row @ times: at least those of the extremes."""
        apart = (self.extremes - self.center) @ row
        return middle + min(-half, float(apart.min())), middle + max(half, float(apart.max()))

    def combined(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values and variances of the linear combinations rows @ times: the larger of the variance predicted
        by the spread within launches and that observed between launches."""
        launches = self.launches @ rows.T
        between = variance_of_center(launches.T)[0] if len(launches) > 1 else np.zeros(len(rows))
        return rows @ self.center, np.maximum(rows**2 @ np.nan_to_num(self.variance), between)
