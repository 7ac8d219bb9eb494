# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The robust centre of a few values with its 95% interval, used to combine launches, and visits within a
launch. Values are logarithms of times, so that the centre is a typical factor.

From six values on, the centre is a winsorised mean: outliers are moved inwards, at most a tenth of the values
at each end, and only values beyond Tukey's outer fence, three quartile ranges from the quartiles. If times
come in two modes, this mean follows the share of each (`benchmarks/coverage_modes.py`). A median flips from
one mode to the other with a few percent of the values, and a trimmed mean is biased towards the more frequent
mode: with a tenth removed at each end, a mode with 30% of the values gets a weight of 25%.

For three to five values, too few for quartiles, the lowest and the highest are left out, so one bad launch
does not move the centre beyond its interval (for three it is the median).

The interval is Student's. From six values on, with the winsorised values w, S = var(w) / n with n - 1 degrees
of freedom. For fewer values, S = e var(values) / n, where e is the loss of efficiency by trimming normal
values.

Three launches that hardly differ would give t(2) = 4.30 times a very uncertain value. If `within`, the half
width predicted by the spread within launches, is known, the two are blended with a weight that depends on how
clearly launches differ: ratio = S / W with W = (within / z)**2, weight = ratio - 1/2 clipped to [0, 1],

    half width**2 = (1 - weight) z**2 max(S, W) + weight t**2 S

`benchmarks/coverage.py` (part 'blend') measures its coverage."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.scipy_functions import student_quantile

Z = 1.96
MAX_OUTLIER_SHARE = 0.1
"""Maximum share of outliers at each end."""
FENCE_DISTANCE = 3.0
"""Outliers are this many quartile ranges beyond the quartiles (Tukey, 'Exploratory Data Analysis', 1977)."""
MIN_COUNT_TO_TRIM = 3
MIN_COUNT_TO_WINSORISE = 6
TRIMMING_COST = {3: 1.346, 4: 1.194, 5: 1.134}
"""Variance of the trimmed mean of this many normal values over that of their mean (order statistics of the
normal distribution; Sarhan and Greenberg, 'Contributions to Order Statistics', 1962)."""
MEDIAN_DISTANCE = {3: 1.4826 * 1.495, 4: 1.4826 * 1.363, 5: 1.4826 * 1.206}
"""Standard deviation of this many normal values divided by the median distance from their median (Croux and
Rousseeuw, 'Time-efficient algorithms for two highly robust estimators of scale', COMPSTAT 1992)."""

MAX_INTERVAL_FACTOR = 100.0
"""An interval whose bounds differ by more than this factor counts as unknown. Two or three launches that
disagree by tens of percent give an interval from nanoseconds to minutes, which only shows that they disagree
(`between`)."""


@lru_cache(maxsize=256)
def student(freedom: float) -> float:
    """Student's two-sided 95% quantile."""
    return student_quantile(freedom, 0.975)


def outlier_count(count: int) -> int:
    """Maximum number of outliers at each end of `count` values."""
    if count < MIN_COUNT_TO_TRIM:
        return 0
    return max(1, int(MAX_OUTLIER_SHARE * count + 0.5))


def center(values: np.ndarray) -> np.ndarray:
    """Robust mean over the last axis, which must not be empty."""
    values = np.asarray(values, dtype=float)
    count = values.shape[-1]
    if count >= MIN_COUNT_TO_WINSORISE:
        return np.asarray(winsorise(values).mean(axis=-1))
    outliers = outlier_count(count)
    inner_values = np.sort(values, axis=-1)[..., outliers : count - outliers]
    return np.asarray(inner_values.mean(axis=-1))


def winsorise(values: np.ndarray) -> np.ndarray:
    """Return `values` in their order with outliers moved to the fence, or to the nearest other value if that
    is further out."""
    values = np.asarray(values, dtype=float)
    count = values.shape[-1]
    outliers = outlier_count(count)
    sorted_values = np.sort(values, axis=-1)
    quarter = count // 4
    first_quartile, third_quartile = (
        sorted_values[..., quarter, None],
        sorted_values[..., count - 1 - quarter, None],
    )
    fence_distance = FENCE_DISTANCE * (third_quartile - first_quartile)
    if (
        values.ndim == 1
        and sorted_values[0] >= (first_quartile - fence_distance)[0]
        and sorted_values[-1] <= (third_quartile + fence_distance)[0]
    ):
        return values  # usually, nothing is outside the fences
    lower_fence = np.minimum(sorted_values[..., outliers, None], first_quartile - fence_distance)
    upper_fence = np.maximum(sorted_values[..., count - 1 - outliers, None], third_quartile + fence_distance)
    return np.clip(values, lower_fence, upper_fence)


def winsorise_if_enough(values: np.ndarray) -> np.ndarray:
    """Winsorise six or more values; fewer stay unchanged, because `center` leaves out their extremes."""
    return winsorise(values) if values.shape[-1] >= MIN_COUNT_TO_WINSORISE else values


def variance_of_center(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Variance S of the centre over the last axis and its degrees of freedom, for at least two values."""
    count = values.shape[-1]
    variance = winsorise_if_enough(values).var(axis=-1, ddof=1)
    return np.asarray(TRIMMING_COST.get(count, 1.0) * variance / count), count - 1


def robust_deviation(values: np.ndarray) -> float:
    """Standard deviation of at least two values, as robust as their centre. Six or more values are
    winsorised. For three to five values it is the scaled median distance from their median, so one of them
    may be arbitrarily far off."""
    values = np.asarray(values, dtype=float)
    count = len(values)
    if count >= MIN_COUNT_TO_WINSORISE:
        return float(winsorise(values).std(ddof=1))
    if count < MIN_COUNT_TO_TRIM:
        return float(values.std(ddof=1))
    return float(MEDIAN_DISTANCE[count] * np.median(np.abs(values - np.median(values))))


def half_width(values: np.ndarray, within: np.ndarray | float) -> np.ndarray:
    """Half width of the 95% interval of the centre of `values` over their last axis, the launches.

    `within` is the half width of this centre predicted by the spread within launches alone, nan if unknown.
    Returns nan for a single launch without `within`."""
    values = np.asarray(values, dtype=float)
    within = np.asarray(within, dtype=float)
    if values.shape[-1] < 2:
        return np.broadcast_to(within, values.shape[:-1]).copy()
    return blend_half_widths(*variance_of_center(values), within)


def blend_half_widths(between: np.ndarray | float, freedom: float, within: np.ndarray | float) -> np.ndarray:
    """Blend the half width from the variance `between` of a centre over launches, with its degrees of
    freedom, and the half width `within`, as described above."""
    between, within = np.asarray(between, dtype=float), np.asarray(within, dtype=float)
    variance_within = (within / Z) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(variance_within > 0, np.clip(between / variance_within - 0.5, 0, 1), 1.0)
    squared_half_width = (1 - weight) * Z**2 * np.fmax(between, variance_within) + weight * student(
        freedom
    ) ** 2 * between
    return np.asarray(np.sqrt(squared_half_width))


def half_width_of_mean(half_widths: np.ndarray) -> float:
    """Half width of the mean of independent values from their half widths; nan if none is known."""
    known = half_widths[np.isfinite(half_widths)]
    if not len(known):
        return float("nan")
    return float(np.sqrt(np.mean(known**2) / len(half_widths)))


def estimate(value: float, low: float, high: float) -> Estimate:
    """Create an estimate that lies within its interval. Unknown bounds (nan, infinite) become None."""
    return Estimate(
        float(value),
        float(min(low, value)) if np.isfinite(low) else None,
        float(max(high, value)) if np.isfinite(high) else None,
    )
