# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The robust centre of a few values, and its 95% interval, used to combine launches, and visits within a
launch. Values are logarithms of times, so that the centre is a typical factor.

From six values on, the centre is a mean with outliers moved in: at most a tenth of the values at each end,
and only those beyond Tukey's outer fence, three quartile ranges from the quartiles. If times come in two
modes, this mean follows the share of each (`benchmarks/coverage_modes.py`). A median flips from one mode to
the other with a few percent of the values, and a trimmed mean is biased towards the more frequent mode: with
a tenth left out at each end it counts 25% of the values in a mode that has 30%.

Of three to five values, too few for quartiles, the lowest and the highest are left out, so that one bad
launch does not move the centre beyond its interval (of three it is the median).

The interval is Student's. From six values on, with w the values with outliers moved in, S = var(w) / n with n
- 1 degrees of freedom; below, S = e var(values) / n, where e is what trimming costs normal values.

Three launches that hardly differ would give t(2) = 4.30 times a very uncertain value. If `within`, the half
width predicted by the spread within launches, is known, the two are blended by how clearly launches differ:
ratio = S / W with W = (within / z)**2, weight = ratio - 1/2 clipped to [0, 1],

    half width**2 = (1 - weight) z**2 max(S, W) + weight t**2 S

`benchmarks/coverage.py` (part 'blend') measures its coverage."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.scipy_functions import student_quantile

Z = 1.96
TRIM = 0.1
"""Share of the values that may be outliers at each end."""
FENCE = 3.0
"""Outliers are this many quartile ranges beyond the quartiles (Tukey, 'Exploratory Data Analysis', 1977)."""
FEWEST_TO_TRIM = 3
FEWEST_TO_WINSORISE = 6
TRIMMING_COST = {3: 1.346, 4: 1.194, 5: 1.134}
"""Variance of the trimmed mean of this many normal values over that of their mean (order statistics of the
normal distribution; Sarhan and Greenberg, 'Contributions to Order Statistics', 1962)."""
MEDIAN_DISTANCE = {3: 1.4826 * 1.495, 4: 1.4826 * 1.363, 5: 1.4826 * 1.206}
"""The standard deviation of this many normal values, divided by their median distance from the median (Croux
and Rousseeuw, 'Time-efficient algorithms for two highly robust estimators of scale', COMPSTAT 1992)."""

WIDEST = 100.0
"""An interval with ends further apart than this factor counts as unknown: two or three launches that disagree
by tens of percent give an interval from nanoseconds to minutes, which only shows that they disagree
(`between`)."""


@lru_cache(maxsize=256)
def student(freedom: float) -> float:
    """Student's two-sided 95% quantile."""
    return student_quantile(freedom, 0.975)


def outlier_count(count: int) -> int:
    """How many of `count` values at each end may be outliers."""
    if count < FEWEST_TO_TRIM:
        return 0
    return max(1, int(TRIM * count + 0.5))


def center(values: np.ndarray) -> np.ndarray:
    """The robust mean over the last axis, which must not be empty."""
    values = np.asarray(values, dtype=float)
    count = values.shape[-1]
    if count >= FEWEST_TO_WINSORISE:
        return np.asarray(winsorise(values).mean(axis=-1))
    cut = outlier_count(count)
    kept = np.sort(values, axis=-1)[..., cut : count - cut]
    return np.asarray(kept.mean(axis=-1))


def winsorise(values: np.ndarray) -> np.ndarray:
    """`values`, in their order, with outliers moved in to the fence, or to the nearest other value if that is
    further out."""
    values = np.asarray(values, dtype=float)
    count = values.shape[-1]
    cut = outlier_count(count)
    ordered = np.sort(values, axis=-1)
    quarter = count // 4
    first, third = ordered[..., quarter, None], ordered[..., count - 1 - quarter, None]
    reach = FENCE * (third - first)
    if values.ndim == 1 and ordered[0] >= (first - reach)[0] and ordered[-1] <= (third + reach)[0]:
        return values  # nothing is outside the fences, as usual
    low = np.minimum(ordered[..., cut, None], first - reach)
    high = np.maximum(ordered[..., count - 1 - cut, None], third + reach)
    return np.clip(values, low, high)


def winsorise_if_enough(values: np.ndarray) -> np.ndarray:
    """The same; fewer than six values stay as they are, as `center` leaves the outermost ones out."""
    return winsorise(values) if values.shape[-1] >= FEWEST_TO_WINSORISE else values


def variance_of_center(values: np.ndarray) -> tuple[np.ndarray, int]:
    """The variance S of the centre over the last axis, and its degrees of freedom; at least two values."""
    count = values.shape[-1]
    spread = winsorise_if_enough(values).var(axis=-1, ddof=1)
    return np.asarray(TRIMMING_COST.get(count, 1.0) * spread / count), count - 1


def robust_deviation(values: np.ndarray) -> float:
    """The standard deviation of at least two values, as robust as their centre. With six or more values,
    outliers are moved in. With three to five values, it is the median distance from their median, scaled to
    that of as many normal values, so that one of them may be arbitrarily far off."""
    values = np.asarray(values, dtype=float)
    count = len(values)
    if count >= FEWEST_TO_WINSORISE:
        return float(winsorise(values).std(ddof=1))
    if count < FEWEST_TO_TRIM:
        return float(values.std(ddof=1))
    return float(MEDIAN_DISTANCE[count] * np.median(np.abs(values - np.median(values))))


def half_width(values: np.ndarray, within: np.ndarray | float) -> np.ndarray:
    """Half width of the 95% interval of the centre of `values` over their last axis, the launches.

    `within` is the half width of this centre predicted by the spread within launches alone, nan if unknown.
    Returns nan if nothing is known: a single launch and no `within`.
    """
    values = np.asarray(values, dtype=float)
    within = np.asarray(within, dtype=float)
    if values.shape[-1] < 2:
        return np.broadcast_to(within, values.shape[:-1]).copy()
    return blend_half_widths(*variance_of_center(values), within)


def blend_half_widths(between: np.ndarray | float, freedom: float, within: np.ndarray | float) -> np.ndarray:
    """The half width from the variance S = `between` of a centre over launches, with its degrees of freedom,
    and from `within`, as above."""
    between, within = np.asarray(between, dtype=float), np.asarray(within, dtype=float)
    inside = (within / Z) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.where(inside > 0, np.clip(between / inside - 0.5, 0, 1), 1.0)
    squared = (1 - weight) * Z**2 * np.fmax(between, inside) + weight * student(freedom) ** 2 * between
    return np.asarray(np.sqrt(squared))


def half_width_of_mean(half_widths: np.ndarray) -> float:
    """Half width of the mean of independent values, from those of each; nan if none is known."""
    known = half_widths[np.isfinite(half_widths)]
    if not len(known):
        return float("nan")
    return float(np.sqrt(np.mean(known**2) / len(half_widths)))


def estimate(value: float, low: float, high: float) -> Estimate:
    """An estimate whose unknown ends (nan, infinite) are None and that lies within its interval."""
    return Estimate(
        float(value),
        float(min(low, value)) if np.isfinite(low) else None,
        float(max(high, value)) if np.isfinite(high) else None,
    )
