# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Piecewise linear fits of times over sizes: time = latency + bytes * per_byte, never negative or falling.

**The fit** (`fit_piecewise`). Three kinds of error enter the intervals: the spread within launches;
deviations of single points from the model or between launches (from the residuals and from neighboring
sizes); and differences between entire launches (`half_width` of the values from separate fits of each
launch).

**The curve** (`Pieces`), in many replicates. Row i of n is a measured size; the line of its segment holds
from edge i to edge i + 1. Between rows of one segment the position of the edge makes no difference. Between
two segments it is the change of protocol, which the data only locate between two measured sizes.

**The search** (`search_segments`). The latency of the first line is not negative. The intercept of a later
line may be negative, if a byte costs more than in shorter messages (beyond a cache), but the line is not
below 0 shortly before its first row (`nonnegative_from`). The best segmentation minimises the weighted
squares of all residuals plus a penalty for each segment, found exactly by dynamic programming over the last
segment's start (optimal partitioning: Jackson et al., IEEE Signal Processing Letters 12 (2005) 105). Lines
may jump where they meet. Many replicates of the times are searched at once, which makes a bootstrap of the
search cheap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from hockney.core.fit import CurvePoint, Estimate, FittedSegment, Intercept
from hockney.models.statistics import MIN_TIME_S, ObservationTable, Z, center, estimate, half_width, student

REPLICATES = 200

MIN_RELATIVE_DEVIATION = 0.01
"""Relative deviations of 1% do not justify a separate segment, however precise the medians are."""

SEGMENT_PENALTY = 4.0
"""Penalty for a segment in units of log(sizes). BIC charges log n for each of two parameters; the position,
chosen among n, costs as much again."""

MAX_SQUARED_DEVIATION = 9.0
"""Squared deviation in variances beyond which a point is an outlier whose weight no longer increases."""

LIMIT_SPAN = 4.0
"""r_inf is the bandwidth of additional bytes between the largest size divided by this factor and the largest
size."""
ChangePosition = Literal["early", "likely", "late"]

MIN_POINTS = 3
"""A line through two points always fits and carries no information."""

ANCHOR_SHARE = 0.1

MIN_CHANGE_BYTES = 64.0
"""No segment but the first starts at a smaller measured size (bytes). A cache line or a packet carries
shorter messages whole, and the time saved by empty messages is not part of a line through the shortest
ones."""


@dataclass(frozen=True)
class FittedLine:
    """One segment: rows `first` to `beyond - 1`, the unconstrained parameters of each launch (launches x 2),
    and the variance of the center's parameters due to the errors of single points. `constrained` contains
    each parameter with the other fixed at 0, and `extremes` (2 x 2) the parameters for
    `Piecewise.extremes`."""

    first: int
    beyond: int
    center: tuple[float, float]
    launches: np.ndarray
    variance: np.ndarray
    constrained: np.ndarray
    constrained_variance: np.ndarray
    extremes: np.ndarray


@dataclass(frozen=True)
class Piecewise:
    """A piecewise fit. `center` is the fit to the typical launch (one replicate), `launches` the fits to each
    launch with the same segments, `extremes` those to the fastest and the slowest long-run times
    (`ObservationTable.extremes`). `replicates` are fits to the center with simulated errors and a new search
    for segments, by the position of the changes. `scatter` contains the variance at each size of log times
    below and above the curve, `misfit` the larger part of it that the errors of the times do not explain."""

    size: np.ndarray
    times: np.ndarray
    starts: np.ndarray
    lines: list[FittedLine]
    center: Pieces
    launches: Pieces
    extremes: Pieces
    replicates: dict[ChangePosition, Pieces]
    replicate_starts: np.ndarray
    quantile: float
    scatter: tuple[np.ndarray, np.ndarray]
    misfit: np.ndarray

    def band(self, size: np.ndarray) -> list[Estimate]:
        """Time at each of `size` with a 95% interval that covers the curve and the scatter of measured times
        about it."""
        variance_below, variance_above = (np.interp(size, self.size, scatter) for scatter in self.scatter)
        return self.evaluate(lambda curve: curve.time(size), variance_below, variance_above)

    def bandwidth_limit(self) -> Estimate:
        """r_inf, if finite."""
        sizes = self.center.limit_range()
        times = self.center.time(sizes)[0]
        squared_errors = np.interp(sizes, self.size, self.misfit) * times**2
        misfit = squared_errors.sum() / np.diff(times)[0] ** 2
        return self.evaluate(Pieces.bandwidth_limit, misfit, misfit)[0]

    def peak_bandwidth(self) -> Estimate:
        """r_peak."""
        times = self.center.time(self.size)[0]  # 0 for empty messages if there is no latency
        peak_row = np.divide(self.size, times, out=np.zeros_like(times), where=times > 0).argmax()
        return self.evaluate(Pieces.peak_bandwidth, self.misfit[peak_row], self.misfit[peak_row])[0]

    def evaluate(
        self,
        function: Callable[[Pieces], np.ndarray],
        variance_below: np.ndarray | float = 0.0,
        variance_above: np.ndarray | float = 0.0,
    ) -> list[Estimate]:
        """Positive values of `function` on a curve (replicates, or replicates x values), with intervals.
        `variance_below` and `variance_above` are variances of their logarithms in addition to that of the
        curve."""
        value = np.atleast_2d(function(self.center).T).T[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            early_logs, late_logs = (
                np.log(np.atleast_2d(function(self.replicates[position]).T).T)
                for position in ("early", "late")
            )
            launch_logs = np.log(np.atleast_2d(function(self.launches).T))
            quantile_ratio = self.quantile / Z
            # Whether bandwidth is lost between two measured sizes depends on the position of the change.
            lowest, highest = (
                _percentile(np.fmin(early_logs, late_logs), 2.5),
                _percentile(np.fmax(early_logs, late_logs), 97.5),
            )
            extra_below, extra_above = (
                self.quantile * np.sqrt(variance_below),
                self.quantile * np.sqrt(variance_above),
            )
            low = np.log(value) - np.hypot(
                half_width(launch_logs, quantile_ratio * (np.log(value) - lowest)), extra_below
            )
            high = np.log(value) + np.hypot(
                half_width(launch_logs, quantile_ratio * (highest - np.log(value))), extra_above
            )
            extreme_logs = np.log(np.atleast_2d(function(self.extremes).T).T)
            low, high = np.fmin(low, extreme_logs.min(axis=0)), np.fmax(high, extreme_logs.max(axis=0))
        return [
            estimate(*value_and_bounds)
            for value_and_bounds in zip(value, np.exp(low), np.exp(high), strict=True)
        ]

    def segment(self, line: FittedLine) -> tuple[Estimate, Estimate]:
        """Latency and per_byte of a segment. The intervals are cut at 0 where true values cannot be negative:
        all but the latency of a later line with a negative intercept.

        If an unconstrained parameter is negative, it is set to 0. The other parameter's interval then covers
        its constrained value, and the interval at 0 covers a true value that errors moved below 0.
        """
        estimates = []
        for index, value in enumerate(line.center):
            lower_limit = -np.inf if index == 0 and line.first > 0 and value < 0 else 0.0
            margin = float(half_width(line.launches[:, index], self.quantile * np.sqrt(line.variance[index])))
            free_value = float(center(line.launches[:, index]))
            low, high = free_value - margin, free_value + margin
            if line.center[1 - index] == 0:
                constrained_half_width = half_width(
                    line.constrained[:, index], self.quantile * np.sqrt(line.constrained_variance[index])
                )
                low, high = (
                    min(low, value - float(constrained_half_width)),
                    max(high, value + float(constrained_half_width)),
                )
            if value == 0:
                high = max(high, margin)
            low, high = min(low, line.extremes[:, index].min()), max(high, line.extremes[:, index].max())
            estimates.append(estimate(value, max(low, lower_limit), max(high, lower_limit)))
        return estimates[0], estimates[1]

    def changes(self) -> list[Estimate]:
        """First whole size of each segment after the first, and the range in which the segment begins:
        between two measured sizes, or wider if the nearest change varies between replicates."""
        rows = np.arange(len(self.size))
        estimates = []
        for row in np.flatnonzero(self.starts)[1:]:
            distance = np.where(self.replicate_starts & (rows > 0), np.abs(rows - row), len(rows))
            nearest_rows = distance.argmin(axis=1)[distance.min(axis=1) <= 3]
            nearest_range = (
                np.percentile(nearest_rows, (2.5, 97.5), method="nearest").astype(int)
                if len(nearest_rows)
                else (row, row)
            )
            low, high = (
                self.size[max(min(nearest_range[0], row) - 1, 0)],
                self.size[max(nearest_range[1], row)],
            )
            estimates.append(estimate(float(np.ceil(self.center.edge[0, row])), low, high))
        return estimates


@dataclass(frozen=True)
class _TypicalFit:
    """Lines through the times of the typical launch, whose logarithms have this `variance`. `extra` is the
    additional variance that explains the residuals. `outlier` marks rows with far larger residuals."""

    variance: np.ndarray
    weight: np.ndarray
    starts: np.ndarray
    latency: np.ndarray
    per_byte: np.ndarray
    fitted: np.ndarray
    residual: np.ndarray
    freedom: int
    extra: float
    outlier: np.ndarray

    @property
    def variance_with_outliers(self) -> np.ndarray:
        """The variance, with each outlier's squared residual as its variance."""
        return np.where(self.outlier, self.residual**2, self.variance)


def _fit_typical(size: np.ndarray, times: np.ndarray, variance: np.ndarray) -> _TypicalFit:
    weight = 1 / ((variance + MIN_RELATIVE_DEVIATION**2) * times**2)
    starts = search_segments(size, times, weight, SEGMENT_PENALTY * np.log(len(size)))
    latency, per_byte = fit_lines(size, times[None], weight, starts)
    fitted = np.maximum((latency + per_byte * size)[0], MIN_TIME_S)
    freedom = len(size) - 2 * int(starts.sum())
    residual = np.log(times / fitted)
    extra = unexplained_variance(residual, variance, freedom)
    outlier = residual**2 > 2 * MAX_SQUARED_DEVIATION * (variance + extra + MIN_RELATIVE_DEVIATION**2)
    outlier[-1] &= residual[-1] < 0  # a slow largest size may be where bandwidth begins to fall
    return _TypicalFit(variance, weight, starts, latency, per_byte, fitted, residual, freedom, extra, outlier)


def fit_piecewise(size: np.ndarray, table: ObservationTable) -> Piecewise:
    """Fit piecewise lines to the table, whose rows have the ascending sizes `size`."""
    size_count = len(size)
    times = table.times
    typical = _fit_typical(size, times, table.variance)
    if typical.outlier.any():  # outliers distort the fit that detects them
        typical = _fit_typical(size, times, typical.variance_with_outliers)
    variance = typical.variance_with_outliers + typical.extra
    expected_variance = table.variance + typical.extra
    mean_squares = (
        _mean_with_neighbors(np.maximum(mean_square, 0.0) ** 2)
        for mean_square in (-typical.residual, typical.residual)
    )
    variance_below, variance_above = (
        np.maximum(expected_variance, mean_square) for mean_square in mean_squares
    )

    starts, weight = typical.starts, typical.weight
    launch_times = table.by_launch
    launch_starts = np.tile(starts, (len(launch_times), 1))
    rng = np.random.default_rng(size_count)
    replicate_times = typical.fitted * np.exp(
        rng.standard_normal((REPLICATES, size_count)) * np.sqrt(variance)
    )
    replicate_starts = search_segments(size, replicate_times, weight, SEGMENT_PENALTY * np.log(size_count))
    replicate_lines = fit_lines(size, replicate_times, weight, replicate_starts)
    extreme_starts = np.repeat(starts, 2, axis=0)
    extreme_latency, extreme_per_byte = fit_lines(size, table.extremes, weight, extreme_starts)
    bounds = [*np.flatnonzero(starts[0]), size_count]
    return Piecewise(
        size=size,
        times=times,
        starts=starts[0],
        lines=[
            _line(
                first,
                beyond,
                (typical.latency[0, first], typical.per_byte[0, first]),
                size,
                launch_times,
                weight,
                variance * typical.fitted**2,
                np.stack((extreme_latency[:, first], extreme_per_byte[:, first]), axis=1),
            )
            for first, beyond in pairwise(bounds)
        ],
        center=make_pieces(size, starts, typical.latency, typical.per_byte),
        launches=make_pieces(size, launch_starts, *fit_lines(size, launch_times, weight, launch_starts)),
        extremes=make_pieces(size, extreme_starts, extreme_latency, extreme_per_byte),
        replicates={
            position: make_pieces(size, replicate_starts, *replicate_lines, position)
            for position in ("early", "late")
        },
        replicate_starts=replicate_starts,
        quantile=student(float(typical.freedom + (size_count - 1) * (len(launch_times) - 1))),
        scatter=(variance_below, variance_above),
        misfit=np.maximum(variance_below, variance_above) - expected_variance,
    )


def _mean_with_neighbors(values: np.ndarray) -> np.ndarray:
    """Mean of each value and its neighbors: a curve that misses one size is not trusted next to it."""
    padded = np.pad(values, 1, constant_values=np.nan)
    return np.nanmean(np.stack((padded[:-2], values, padded[2:])), axis=0)


def unexplained_variance(residual: np.ndarray, variance: np.ndarray, freedom: int) -> float:
    """Variance to be added to every point's variance so that the residuals have the expected size (sum of
    squares over variance = degrees of freedom); 0 if they are not larger. A point counts at most
    `MAX_SQUARED_DEVIATION`, and known outliers are excluded, so that they do not widen all intervals."""
    is_outlier = variance > MAX_SQUARED_DEVIATION * max(float(np.median(variance)), MIN_RELATIVE_DEVIATION**2)
    squares, variance, freedom = (
        residual[~is_outlier] ** 2,
        variance[~is_outlier],
        freedom - int(is_outlier.sum()),
    )

    def excess(extra: float) -> float:
        total = variance + extra
        return (
            float(np.sum(np.minimum(squares / np.where(total > 0, total, 1e-30), MAX_SQUARED_DEVIATION)))
            - freedom
        )

    if freedom < 1 or excess(0.0) <= 0:
        return 0.0
    lower, upper = 0.0, float(np.sum(squares)) / freedom
    for _ in range(60):
        midpoint = (lower + upper) / 2
        lower, upper = (midpoint, upper) if excess(midpoint) > 0 else (lower, midpoint)
    return (lower + upper) / 2


def _line(
    first: int,
    beyond: int,
    center: tuple[float, float],
    size: np.ndarray,
    launch_times: np.ndarray,
    weight: np.ndarray,
    variance: np.ndarray,
    extremes: np.ndarray,
) -> FittedLine:
    rows = slice(first, beyond)
    root_weight = np.sqrt(weight[rows])[:, None]
    design = np.stack((np.ones(beyond - first), size[rows]), axis=1) * root_weight
    scale = np.linalg.norm(design, axis=0)
    joint_estimator = np.linalg.pinv(design / scale) / scale[:, None] * root_weight.T
    constrained_estimator = (design / scale**2 * root_weight).T
    times, variances = launch_times[:, rows], variance[rows]
    return FittedLine(
        first,
        beyond,
        center,
        times @ joint_estimator.T,
        joint_estimator**2 @ variances,
        times @ constrained_estimator.T,
        constrained_estimator**2 @ variances,
        extremes,
    )


def _percentile(logs: np.ndarray, percent: float) -> np.ndarray:
    return np.percentile(np.where(np.isfinite(logs), logs, np.inf), percent, axis=0, method="nearest")


@dataclass(frozen=True)
class Pieces:
    """Piecewise curves. `size` contains n ascending sizes (bytes); the other arrays are replicates x n.
    `edge` is the smallest size for which a row's line holds, 0 in the first column."""

    size: np.ndarray
    edge: np.ndarray
    latency: np.ndarray
    per_byte: np.ndarray

    def rows(self, size: np.ndarray) -> np.ndarray:
        """For each replicate, the row whose line holds at each of `size`: the row of the largest measured
        size up to it, or the next row if its line begins at this size or before."""
        row = np.searchsorted(self.size, size, side="right") - 1
        next_row = np.minimum(row + 1, len(self.size) - 1)
        return np.minimum(row + (self.edge[:, next_row] <= size), len(self.size) - 1)

    def time(self, size: np.ndarray) -> np.ndarray:
        """Seconds, replicates x len(size)."""
        rows = self.rows(size)
        latency = np.take_along_axis(self.latency, rows, axis=1)
        return latency + np.take_along_axis(self.per_byte, rows, axis=1) * size

    def limit_range(self) -> np.ndarray:
        """The two sizes between which r_inf is measured."""
        return np.array([max(self.size[-1] / LIMIT_SPAN, self.size[0]), self.size[-1]])

    def bandwidth_limit(self) -> np.ndarray:
        """r_inf in B/s: the inverse of the cost of an additional byte, inf if that is not positive. The cost
        is averaged over the sizes from a quarter of the largest on. The slope of the last segment alone,
        which may be short, would differ from survey to survey where the slope still changes."""
        sizes = self.limit_range()
        cost = np.diff(self.time(sizes), axis=1)[:, 0] / (sizes[1] - sizes[0])
        with np.errstate(divide="ignore"):
            return np.where(cost > 0, 1 / cost, np.inf)

    def peak_bandwidth(self) -> np.ndarray:
        """Largest bandwidth at a measured size (B/s)."""
        return np.asarray(self._bandwidth.max(axis=1))

    @cached_property
    def _bandwidth(self) -> np.ndarray:
        """Bandwidth (B/s) at the measured sizes, replicates x n."""
        return self.size / np.maximum(self.time(self.size), 1e-12)

    def half_size(self) -> np.ndarray:
        """n_half in bytes: from this size on every message reaches at least half of r_inf; inf if r_inf is.
        Reaching half before a change of protocol that reduces bandwidth does not count."""
        return self._size_reaching_half(self.bandwidth_limit(), np.full(len(self.edge), np.inf))

    def half_peak_size(self) -> np.ndarray:
        """n_half_peak in bytes, at least 1: from this size up to the peak every message reaches at least half
        of r_peak."""
        return np.maximum(
            self._size_reaching_half(self.peak_bandwidth(), self.size[self._bandwidth.argmax(axis=1)]), 1.0
        )

    def _size_reaching_half(self, bandwidth: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Smallest size from which every message up to `last` reaches at least half of `bandwidth`."""
        end = np.minimum(self._line_end, last[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            # size / (latency + per_byte * size) = bandwidth / 2, solved on each row's line
            net_cost = 2 / bandwidth[:, None] - self.per_byte
            crossing = self.latency / net_cost
            # A line with a negative intercept that is steeper than half of the bandwidth is fast enough up to
            # there.
            reached_size = np.where(
                net_cost > 0, np.maximum(crossing, 0), np.where(crossing >= end, 0.0, np.inf)
            )
        is_slow = (reached_size > self.edge) & (self.edge < end)
        return np.where(is_slow, np.minimum(reached_size, end), 0.0).max(axis=1)

    @cached_property
    def _line_end(self) -> np.ndarray:
        """End of the sizes for which a row's line holds."""
        return np.concatenate((self.edge[:, 1:], np.full((len(self.edge), 1), np.inf)), axis=1)


def make_pieces(
    size: np.ndarray,
    starts: np.ndarray,
    latency: np.ndarray,
    per_byte: np.ndarray,
    position: ChangePosition = "likely",
) -> Pieces:
    """Create the curves whose segments start at the rows `starts` (replicates x n booleans).

    `position` selects where a change lies between the two measured sizes: directly after the smaller one, at
    the larger one, or at the likeliest position. That is where the lines cross if they do so between the two
    (no jump), otherwise the middle on a log scale. A line with a negative intercept is not used below the
    time at which the line before ends.
    """
    before = np.concatenate(([0.0], size[:-1]))
    after = before + np.minimum(1.0, (size - before) / 2)
    last_times = np.concatenate((np.zeros((len(latency), 1)), (latency + per_byte * size)[:, :-1]), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        positive_from_size = np.where(latency < 0, np.minimum((last_times - latency) / per_byte, size), 0.0)
    if position == "early":
        change = np.maximum(after, positive_from_size)
    elif position == "late":
        change = np.broadcast_to(size, latency.shape)
    else:
        change = np.maximum(
            _likeliest_change(size, before, after, latency, per_byte, last_times), positive_from_size
        )
    edge = np.where(starts, change, size)
    edge[:, 0] = 0.0
    return Pieces(size, edge, latency, per_byte)


def _likeliest_change(
    size: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    latency: np.ndarray,
    per_byte: np.ndarray,
    last: np.ndarray,
) -> np.ndarray:
    """Likeliest size at which the line of each row begins if the row is the first of its segment. `after` is
    directly after the size `before`; `last` is the time of the previous row's line at `before`."""
    new_time = latency[:, 1:] + per_byte[:, 1:] * size[1:]
    old_time = latency[:, :-1] + per_byte[:, :-1] * size[1:]
    at_before, at_size = latency[:, 1:] + per_byte[:, 1:] * before[1:] - last[:, 1:], new_time - old_time
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = before[1:] + (size[1:] - before[1:]) * at_before / (at_before - at_size)
    log_middle = np.sqrt(np.maximum(before, size / 4) * size)[1:]
    # Times that do not fall from size to size do not fall in between either, although lines with errors may.
    is_lower = (at_before < 0) & (at_size < 0) & (new_time >= last[:, 1:])
    closest = np.where(at_before < at_size, size[1:], after[1:])
    change = np.where(
        (crossing > before[1:]) & (crossing <= size[1:]), crossing, np.where(is_lower, closest, log_middle)
    )
    return np.concatenate((np.zeros((len(latency), 1)), change), axis=1)


@dataclass(frozen=True)
class Sums:
    """Weighted sums of x, y and their products over the rows of a segment, for several segments. The sums of
    y have the replicates as first axis. `anchor` is an x at which the line must not be below 0."""

    anchor: np.ndarray
    w: np.ndarray
    wx: np.ndarray
    wxx: np.ndarray
    wy: np.ndarray
    wxy: np.ndarray
    wyy: np.ndarray

    def line(self) -> tuple[np.ndarray, np.ndarray]:
        """Latency and per_byte by weighted least squares with per_byte >= 0 and a line >= 0 at `anchor`. With
        two constraints, the optimum is either unconstrained or lies on the violated one."""
        with np.errstate(divide="ignore", invalid="ignore"):
            determinant = self.w * self.wxx - self.wx**2
            slope = self.wxy * (self.w / determinant) - self.wy * (self.wx / determinant)
            is_flat = ~((slope > 0) & (slope < np.inf))
            slope = np.where(is_flat, 0.0, slope)
            latency = (self.wy - slope * self.wx) / self.w
            is_negative = latency + slope * self.anchor < 0
            if is_negative.any():
                anchored_square = self.wxx - self.anchor * (2 * self.wx - self.anchor * self.w)
                slope = np.where(is_negative, (self.wxy - self.anchor * self.wy) / anchored_square, slope)
                latency = np.where(is_negative, -self.anchor * slope, latency)
        return latency, slope

    def residual_squares(self) -> np.ndarray:
        """Weighted residual sum of squares of the optimal line, whose residuals are orthogonal to it."""
        latency, slope = self.line()
        return np.maximum(self.wyy - latency * self.wy - slope * self.wxy, 0)


def segment_sums(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[Sums, list[slice]]:
    """Compute the sums over all ranges of at least MIN_POINTS consecutive rows. A slice for each last row,
    from the first possible one on, selects the segments that end there, ordered by their first row."""
    counts = np.arange(1, len(x) - MIN_POINTS + 2)
    offsets = np.concatenate(([0], np.cumsum(counts)))
    ending = [slice(int(first), int(beyond)) for first, beyond in pairwise(offsets)]

    def ranges(values: np.ndarray) -> np.ndarray:
        # Each end is summed separately: differences of a running sum would lose the digits of large messages,
        # whose weights are 1e12 times smaller.
        totals = np.empty((*values.shape[:-1], offsets[-1]))
        for last, segments in enumerate(ending, MIN_POINTS - 1):
            backwards = np.cumsum(values[..., last::-1], axis=-1)
            totals[..., segments] = backwards[..., : MIN_POINTS - 2 : -1]
        return totals

    anchors = nonnegative_from(x)
    size_sums = ranges(np.stack((weight, weight * x, weight * x * x)))
    time_sums = ranges(np.stack((weight * y, weight * x * y, weight * y * y)))
    return Sums(np.concatenate([anchors[:count] for count in counts]), *size_sums, *time_sums), ending


def nonnegative_from(x: np.ndarray) -> np.ndarray:
    """For each of the ascending `x`, the point from which a line whose first row is there must not be below
    0: a tenth of the way to the previous row, so that the line is positive at its rows; 0 for the first
    row."""
    previous = np.concatenate((x[:1], x[:-1]))
    anchors = x - ANCHOR_SHARE * (x - previous)
    anchors[0] = 0.0
    return anchors


def search_segments(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float) -> np.ndarray:
    """Find the starts of segments, as booleans like `y` (replicates x n); the first is always true.

    `x` ascends (bytes); `weight` is the inverse variance of y. Each segment has at least MIN_POINTS points,
    and all but the first start at `MIN_CHANGE_BYTES` or more.
    """
    y = np.atleast_2d(y)
    replicates, n = y.shape
    all_sums, ending = segment_sums(x, y, weight)
    cost = all_sums.residual_squares() + penalty
    exclusion_penalty = np.where((x < MIN_CHANGE_BYTES) & (np.arange(n) > 0), np.inf, 0.0)
    best_cost = np.full((replicates, n + 1), np.inf)
    best_cost[:, 0] = 0
    best_start = np.zeros((replicates, n + 1), dtype=int)
    for end, segments_ending in enumerate(ending, MIN_POINTS):
        start_count = end - MIN_POINTS + 1
        total = best_cost[:, :start_count] + cost[:, segments_ending] + exclusion_penalty[:start_count]
        best_start[:, end] = total.argmin(axis=1)
        best_cost[:, end] = total.min(axis=1)
    starts = np.zeros((replicates, n), dtype=bool)
    ends = np.full(replicates, n)
    rows = np.arange(replicates)
    while ends.any():
        ends = best_start[rows, ends]
        starts[rows, ends] = True
    return starts


def fit_lines(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Latency and per_byte >= 0 of each row's segment, as (replicates x) n arrays.

    `y` and `starts` are replicates x n; replicates may differ in their segments.
    """
    segment = np.cumsum(starts, axis=-1) - 1
    replicates, n = y.shape
    index = segment + n * np.arange(replicates)[:, None]

    def totals(values: np.ndarray) -> np.ndarray:
        segment_totals = np.bincount(
            index.ravel(), weights=np.broadcast_to(values, y.shape).ravel(), minlength=replicates * n
        )
        return segment_totals[index]

    products = (weight, weight * x, weight * x * x, weight * y, weight * x * y, weight * y * y)
    anchors = np.where(starts, nonnegative_from(x), 0.0)
    return Sums(np.maximum.accumulate(anchors, axis=-1), *(totals(part) for part in products)).line()


def fitted_segments(fit: Piecewise, changes: Sequence[Estimate]) -> list[FittedSegment]:
    bounds = [int(fit.size[0]), *(int(change.value) for change in changes)]
    segments = []
    for line, first, beyond in zip(fit.lines, bounds, [*bounds[1:], None], strict=True):
        latency, per_byte = fit.segment(line)
        intercept = _intercept(latency.value)
        segments.append(
            FittedSegment(
                first=first,
                beyond=beyond,
                latency=latency,
                per_byte=per_byte,
                intercept=intercept,
                smallest=int(fit.size[line.first]),
                largest=int(fit.size[line.beyond - 1]),
            )
        )
    return segments


def _intercept(latency: float) -> Intercept:
    return "found" if latency > 0 else "held" if latency == 0 else "below zero"


def fitted_curve(fit: Piecewise, changes: Sequence[Estimate]) -> list[CurvePoint]:
    """Curve at the measured sizes, their midpoints, and both sides of each change."""
    midpoints = np.sqrt(fit.size[1:] * np.maximum(fit.size[:-1], fit.size[1:] / 4))
    sides = [side for change in changes for side in (change.value - 1, change.value)]
    x = np.unique(np.concatenate((fit.size, np.round(midpoints), sides)))
    x = x[(x >= fit.size[0]) & (x <= fit.size[-1])]
    band = fit.band(x)
    return [
        CurvePoint(
            float(size_at),
            time.value,
            time.value if time.low is None else time.low,
            time.value if time.high is None else time.high,
        )
        for size_at, time in zip(x, band, strict=True)
    ]
