# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Piecewise straight lines through the times of a table of sizes: time = latency + bytes * per_byte, never
negative or falling.

**The fit** (`fit_piecewise`). Three kinds of error enter the intervals: the spread within launches;
deviations of single points from the model or between launches (from the residuals and from neighboring
sizes); and differences between whole launches (`half_width` of the values from each launch's separate fit).

**The curve** (`Pieces`), in many replicates. Row i of n is a measured size; the line of its segment holds
from edge i to edge i + 1. Between rows of one segment the position of the edge makes no difference; between
two segments it is the change of protocol, which the data only locate between two measured sizes.

**The search** (`search`). The latency of the first line is not negative. A later line may begin below 0, if a
byte costs more than in shorter messages (beyond a cache), but is not below 0 shortly before its first row
(`positive_from`). The best segmentation minimises the weighted squares of all residuals plus a penalty for
each segment, found exactly by dynamic programming over the last segment's start (optimal partitioning:
Jackson et al., IEEE Signal Processing Letters 12 (2005) 105). Lines may jump where they meet. Many replicates
of the times are searched at once, which makes a bootstrap of the search cheap."""

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

FLOOR = 0.01
"""Deviations of 1% do not justify a separate segment, however precise the medians are."""

SEGMENT_PENALTY = 4.0
"""The price of a segment in units of log(sizes). BIC charges log n for each of two parameters; the position,
chosen among n, costs the other two."""

CAP = 9.0
"""Squared deviation, in variances, above which a point is an outlier that counts no further."""

LIMIT_SPAN = 4.0
"""r_inf is the bandwidth of additional bytes between the largest size and this part of it."""
Place = Literal["early", "likely", "late"]

FEWEST_POINTS = 3
"""A line through two points always fits and carries no information."""

NEAR = 0.1

FIRST_CHANGE = 64.0
"""No segment but the first starts at a smaller measured size (bytes): a cache line or a packet takes shorter
messages whole, and what an empty message saves is no line through the shortest ones."""


@dataclass(frozen=True)
class FittedLine:
    """One segment: rows first..beyond-1, free (unconstrained) parameters of each launch (launches x 2) and
    the variance of the center's parameters due to the errors of single points; `alone` is the same for each
    parameter with the other held at 0, and `extremes` (2 x 2) are those of `Piecewise.extremes`."""

    first: int
    beyond: int
    center: tuple[float, float]
    launches: np.ndarray
    variance: np.ndarray
    alone: np.ndarray
    alone_variance: np.ndarray
    extremes: np.ndarray


@dataclass(frozen=True)
class Piecewise:
    """`center` is the typical launch (one replicate), `launches` each launch with the same segments,
    `extremes` the fit to the fastest and the slowest long-run times (`ObservationTable.extremes`),
    `replicates` the center with new errors and segments searched again, by the position of the changes.
    `stray` is the variance, at each size, of the logarithm of a time about the curve, below it and above it,
    `misfit` the larger part of it that the errors of the times do not explain."""

    size: np.ndarray
    times: np.ndarray
    starts: np.ndarray
    lines: list[FittedLine]
    center: Pieces
    launches: Pieces
    extremes: Pieces
    replicates: dict[Place, Pieces]
    replicate_starts: np.ndarray
    quantile: float
    stray: tuple[np.ndarray, np.ndarray]
    misfit: np.ndarray

    def band(self, size: np.ndarray) -> list[Estimate]:
        """The time at each of `size` with the 95% interval of what is measured there: of the curve, and of a
        time about the curve."""
        below, above = (np.interp(size, self.size, stray) for stray in self.stray)
        return self.read(lambda curve: curve.time(size), below, above)

    def bandwidth_limit(self) -> Estimate:
        """r_inf, which is finite."""
        ends = self.center.limit_range()
        times = self.center.time(ends)[0]
        squares = np.interp(ends, self.size, self.misfit) * times**2
        misfit = squares.sum() / np.diff(times)[0] ** 2
        return self.read(Pieces.bandwidth_limit, misfit, misfit)[0]

    def peak_bandwidth(self) -> Estimate:
        """r_peak."""
        times = self.center.time(self.size)[0]  # 0 for empty messages if there is no latency
        peak = np.divide(self.size, times, out=np.zeros_like(times), where=times > 0).argmax()
        return self.read(Pieces.peak_bandwidth, self.misfit[peak], self.misfit[peak])[0]

    def read(
        self,
        function: Callable[[Pieces], np.ndarray],
        below: np.ndarray | float = 0.0,
        above: np.ndarray | float = 0.0,
    ) -> list[Estimate]:
        """The values of `function` on a curve (replicates, or replicates x many), positive, with intervals.
        `below` and `above` are variances of their logarithms beyond that of the curve."""
        value = np.atleast_2d(function(self.center).T).T[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            early, late = (np.log(np.atleast_2d(function(self.replicates[p]).T).T) for p in ("early", "late"))
            each = np.log(np.atleast_2d(function(self.launches).T))
            stretch = self.quantile / Z
            # Between two measured sizes bandwidth may or may not be lost, depending on where the change is.
            lowest, highest = _percentile(np.fmin(early, late), 2.5), _percentile(np.fmax(early, late), 97.5)
            down, up = self.quantile * np.sqrt(below), self.quantile * np.sqrt(above)
            low = np.log(value) - np.hypot(half_width(each, stretch * (np.log(value) - lowest)), down)
            high = np.log(value) + np.hypot(half_width(each, stretch * (highest - np.log(value))), up)
            ends = np.log(np.atleast_2d(function(self.extremes).T).T)
            low, high = np.fmin(low, ends.min(axis=0)), np.fmax(high, ends.max(axis=0))
        return [estimate(*three) for three in zip(value, np.exp(low), np.exp(high), strict=True)]

    def segment(self, line: FittedLine) -> tuple[Estimate, Estimate]:
        """Latency and per_byte of a segment; the intervals are cut at 0 where true values are not negative:
        all but the latency of a later line that begins below 0.

        If the free line begins below 0 (or falls), that parameter is held at 0. The other parameter's
        interval then covers its constrained value, and the interval at 0 a true value that errors moved below
        0.
        """
        estimates = []
        for k, value in enumerate(line.center):
            least = -np.inf if k == 0 and line.first > 0 and value < 0 else 0.0
            half = float(half_width(line.launches[:, k], self.quantile * np.sqrt(line.variance[k])))
            free = float(center(line.launches[:, k]))
            low, high = free - half, free + half
            if line.center[1 - k] == 0:
                alone = half_width(line.alone[:, k], self.quantile * np.sqrt(line.alone_variance[k]))
                low, high = min(low, value - float(alone)), max(high, value + float(alone))
            if value == 0:
                high = max(high, half)
            low, high = min(low, line.extremes[:, k].min()), max(high, line.extremes[:, k].max())
            estimates.append(estimate(value, max(low, least), max(high, least)))
        return estimates[0], estimates[1]

    def changes(self) -> list[Estimate]:
        """The first whole size of each segment after the first, and the range in which it begins: between two
        measured sizes or wider, as far as the replicates' nearest change varies."""
        rows = np.arange(len(self.size))
        estimates = []
        for row in np.flatnonzero(self.starts)[1:]:
            distance = np.where(self.replicate_starts & (rows > 0), np.abs(rows - row), len(rows))
            nearest = distance.argmin(axis=1)[distance.min(axis=1) <= 3]
            ends = (
                np.percentile(nearest, (2.5, 97.5), method="nearest").astype(int)
                if len(nearest)
                else (row, row)
            )
            low, high = self.size[max(min(ends[0], row) - 1, 0)], self.size[max(ends[1], row)]
            estimates.append(estimate(float(np.ceil(self.center.edge[0, row])), low, high))
        return estimates


@dataclass(frozen=True)
class _TypicalFit:
    """Lines through the times of the typical launch, whose logarithms have this `variance`. `extra` is the
    variance that it lacks to explain the residuals. Rows whose residual is far larger are an `outlier`."""

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
        """The variance, with the deviation of each outlier as its error."""
        return np.where(self.outlier, self.residual**2, self.variance)


def _fit_typical(size: np.ndarray, times: np.ndarray, variance: np.ndarray) -> _TypicalFit:
    weight = 1 / ((variance + FLOOR**2) * times**2)
    starts = search(size, times, weight, SEGMENT_PENALTY * np.log(len(size)))
    latency, per_byte = lines(size, times[None], weight, starts)
    fitted = np.maximum((latency + per_byte * size)[0], MIN_TIME_S)
    freedom = len(size) - 2 * int(starts.sum())
    residual = np.log(times / fitted)
    extra = unexplained(residual, variance, freedom)
    outlier = residual**2 > 2 * CAP * (variance + extra + FLOOR**2)
    outlier[-1] &= residual[-1] < 0  # a slow largest size may be where bandwidth begins to fall
    return _TypicalFit(variance, weight, starts, latency, per_byte, fitted, residual, freedom, extra, outlier)


def fit_piecewise(size: np.ndarray, table: ObservationTable) -> Piecewise:
    """`size` ascends, one per row of the table."""
    n = len(size)
    times = table.times
    typical = _fit_typical(size, times, table.variance)
    if typical.outlier.any():  # they distort the fit that detects them
        typical = _fit_typical(size, times, typical.variance_with_outliers)
    variance = typical.variance_with_outliers + typical.extra
    explained = table.variance + typical.extra
    sides = (_among_neighbors(np.maximum(side, 0.0) ** 2) for side in (-typical.residual, typical.residual))
    below, above = (np.maximum(explained, side) for side in sides)

    starts, weight = typical.starts, typical.weight
    each = table.by_launch
    their = np.tile(starts, (len(each), 1))
    rng = np.random.default_rng(n)
    again = typical.fitted * np.exp(rng.standard_normal((REPLICATES, n)) * np.sqrt(variance))
    again_starts = search(size, again, weight, SEGMENT_PENALTY * np.log(n))
    again_lines = lines(size, again, weight, again_starts)
    both = np.repeat(starts, 2, axis=0)
    extreme_latency, extreme_per_byte = lines(size, table.extremes, weight, both)
    bounds = [*np.flatnonzero(starts[0]), n]
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
                each,
                weight,
                variance * typical.fitted**2,
                np.stack((extreme_latency[:, first], extreme_per_byte[:, first]), axis=1),
            )
            for first, beyond in pairwise(bounds)
        ],
        center=pieces(size, starts, typical.latency, typical.per_byte),
        launches=pieces(size, their, *lines(size, each, weight, their)),
        extremes=pieces(size, both, extreme_latency, extreme_per_byte),
        replicates={place: pieces(size, again_starts, *again_lines, place) for place in ("early", "late")},
        replicate_starts=again_starts,
        quantile=student(float(typical.freedom + (n - 1) * (len(each) - 1))),
        stray=(below, above),
        misfit=np.maximum(below, above) - explained,
    )


def _among_neighbors(values: np.ndarray) -> np.ndarray:
    """The mean of each value and its neighbors: a curve that misses one size is not trusted next to it."""
    padded = np.pad(values, 1, constant_values=np.nan)
    return np.nanmean(np.stack((padded[:-2], values, padded[2:])), axis=0)


def unexplained(residual: np.ndarray, variance: np.ndarray, freedom: int) -> float:
    """The variance to be added to every point's variance so that the residuals have the expected size (sum of
    squares over variance = degrees of freedom); 0 if they are no larger already. A point counts `CAP` at most
    and a known outlier not at all, so that it does not widen the intervals of all."""
    known = variance > CAP * max(float(np.median(variance)), FLOOR**2)
    squares, variance, freedom = residual[~known] ** 2, variance[~known], freedom - int(known.sum())

    def excess(extra: float) -> float:
        total = variance + extra
        return float(np.sum(np.minimum(squares / np.where(total > 0, total, 1e-30), CAP))) - freedom

    if freedom < 1 or excess(0.0) <= 0:
        return 0.0
    low, high = 0.0, float(np.sum(squares)) / freedom
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return (low + high) / 2


def _line(
    first: int,
    beyond: int,
    center: tuple[float, float],
    size: np.ndarray,
    each: np.ndarray,
    weight: np.ndarray,
    variance: np.ndarray,
    extremes: np.ndarray,
) -> FittedLine:
    rows = slice(first, beyond)
    root = np.sqrt(weight[rows])[:, None]
    design = np.stack((np.ones(beyond - first), size[rows]), axis=1) * root
    scale = np.linalg.norm(design, axis=0)
    both = np.linalg.pinv(design / scale) / scale[:, None] * root.T
    alone = (design / scale**2 * root).T
    times, errors = each[:, rows], variance[rows]
    return FittedLine(
        first,
        beyond,
        center,
        times @ both.T,
        both**2 @ errors,
        times @ alone.T,
        alone**2 @ errors,
        extremes,
    )


def _percentile(logs: np.ndarray, q: float) -> np.ndarray:
    return np.percentile(np.where(np.isfinite(logs), logs, np.inf), q, axis=0, method="nearest")


@dataclass(frozen=True)
class Pieces:
    """`size` has n entries (bytes, ascending); the other arrays are replicates x n. `edge` is the smallest
    size for which a row's line holds, 0 in the first column."""

    size: np.ndarray
    edge: np.ndarray
    latency: np.ndarray
    per_byte: np.ndarray

    def rows(self, size: np.ndarray) -> np.ndarray:
        """The row whose line holds at each of `size`, for each replicate: the row of the largest measured
        size up to it, or the next row if its line begins at this size or before."""
        row = np.searchsorted(self.size, size, side="right") - 1
        following = np.minimum(row + 1, len(self.size) - 1)
        return np.minimum(row + (self.edge[:, following] <= size), len(self.size) - 1)

    def time(self, size: np.ndarray) -> np.ndarray:
        """Seconds, replicates x len(size)."""
        rows = self.rows(size)
        latency = np.take_along_axis(self.latency, rows, axis=1)
        return latency + np.take_along_axis(self.per_byte, rows, axis=1) * size

    def limit_range(self) -> np.ndarray:
        """The two sizes between which r_inf is taken."""
        return np.array([max(self.size[-1] / LIMIT_SPAN, self.size[0]), self.size[-1]])

    def bandwidth_limit(self) -> np.ndarray:
        """r_inf in B/s: the inverse of the cost of an additional byte, inf if that is not positive. The cost
        is the mean over the sizes from a quarter of the largest on: the slope of the last segment alone,
        which may be short, would differ from one survey to the next where the slope still changes."""
        ends = self.limit_range()
        cost = np.diff(self.time(ends), axis=1)[:, 0] / (ends[1] - ends[0])
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
        """n_half in bytes: from this size on every message reaches at least half of r_inf; inf if r_inf is. A
        change of protocol may reduce bandwidth: reaching half before such a change does not count."""
        return self._half_of(self.bandwidth_limit(), np.full(len(self.edge), np.inf))

    def half_peak_size(self) -> np.ndarray:
        """n_half_peak in bytes, at least 1: from this size up to that of the peak every message reaches at
        least half of r_peak."""
        return np.maximum(
            self._half_of(self.peak_bandwidth(), self.size[self._bandwidth.argmax(axis=1)]), 1.0
        )

    def _half_of(self, bandwidth: np.ndarray, last: np.ndarray) -> np.ndarray:
        """The smallest size from which every message up to `last` reaches at least half of `bandwidth`."""
        end = np.minimum(self._beyond, last[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            # size / (latency + per_byte * size) = bandwidth / 2, solved on each row's line
            left = 2 / bandwidth[:, None] - self.per_byte
            meet = self.latency / left
            # A line that begins below 0 and is steeper than half of the bandwidth is fast enough up to there.
            reached = np.where(left > 0, np.maximum(meet, 0), np.where(meet >= end, 0.0, np.inf))
        slow = (reached > self.edge) & (self.edge < end)
        return np.where(slow, np.minimum(reached, end), 0.0).max(axis=1)

    @cached_property
    def _beyond(self) -> np.ndarray:
        """The end of the sizes for which a row's line holds."""
        return np.concatenate((self.edge[:, 1:], np.full((len(self.edge), 1), np.inf)), axis=1)


def pieces(
    size: np.ndarray,
    starts: np.ndarray,
    latency: np.ndarray,
    per_byte: np.ndarray,
    place: Place = "likely",
) -> Pieces:
    """The curve whose segments start at the rows `starts` (replicates x n booleans).

    `place` selects the position of a change between the two measured sizes: directly after the smaller one,
    at the larger one, or at the likeliest position: where the lines cross if they do so between the two (no
    jump), else the middle on a log scale. A line that begins below 0 is not used below the time at which the
    line before ends.
    """
    before = np.concatenate(([0.0], size[:-1]))
    after = before + np.minimum(1.0, (size - before) / 2)
    last = np.concatenate((np.zeros((len(latency), 1)), (latency + per_byte * size)[:, :-1]), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rising = np.where(latency < 0, np.minimum((last - latency) / per_byte, size), 0.0)
    if place == "early":
        change = np.maximum(after, rising)
    elif place == "late":
        change = np.broadcast_to(size, latency.shape)
    else:
        change = np.maximum(_likely(size, before, after, latency, per_byte, last), rising)
    edge = np.where(starts, change, size)
    edge[:, 0] = 0.0
    return Pieces(size, edge, latency, per_byte)


def _likely(
    size: np.ndarray,
    before: np.ndarray,
    after: np.ndarray,
    latency: np.ndarray,
    per_byte: np.ndarray,
    last: np.ndarray,
) -> np.ndarray:
    """The likeliest size at which the line of each row begins if the row is the first of its segment. `after`
    is directly after the size `before`; `last` is the time of the previous row's line at `before`."""
    new = latency[:, 1:] + per_byte[:, 1:] * size[1:]
    old = latency[:, :-1] + per_byte[:, :-1] * size[1:]
    at_before, at_size = latency[:, 1:] + per_byte[:, 1:] * before[1:] - last[:, 1:], new - old
    with np.errstate(divide="ignore", invalid="ignore"):
        meet = before[1:] + (size[1:] - before[1:]) * at_before / (at_before - at_size)
    middle = np.sqrt(np.maximum(before, size / 4) * size)[1:]
    # Times that do not fall from size to size do not fall in between, though lines with errors may.
    lower = (at_before < 0) & (at_size < 0) & (new >= last[:, 1:])
    closest = np.where(at_before < at_size, size[1:], after[1:])
    change = np.where((meet > before[1:]) & (meet <= size[1:]), meet, np.where(lower, closest, middle))
    return np.concatenate((np.zeros((len(latency), 1)), change), axis=1)


@dataclass(frozen=True)
class Sums:
    """Weighted sums of x, y and their products over the rows of a segment, for several segments; the sums of
    y lead with the replicates' axis. `held` is an x at which the line is not below 0."""

    held: np.ndarray
    w: np.ndarray
    wx: np.ndarray
    wxx: np.ndarray
    wy: np.ndarray
    wxy: np.ndarray
    wyy: np.ndarray

    def line(self) -> tuple[np.ndarray, np.ndarray]:
        """Latency and per_byte by weighted least squares with per_byte >= 0 and a line >= 0 at `held`; of two
        constraints the optimum is the free one or lies on the one that was violated."""
        with np.errstate(divide="ignore", invalid="ignore"):
            determinant = self.w * self.wxx - self.wx**2
            slope = self.wxy * (self.w / determinant) - self.wy * (self.wx / determinant)
            flat = ~((slope > 0) & (slope < np.inf))
            slope = np.where(flat, 0.0, slope)
            latency = (self.wy - slope * self.wx) / self.w
            steep = latency + slope * self.held < 0
            if steep.any():
                square = self.wxx - self.held * (2 * self.wx - self.held * self.w)
                slope = np.where(steep, (self.wxy - self.held * self.wy) / square, slope)
                latency = np.where(steep, -self.held * slope, latency)
        return latency, slope

    def squares(self) -> np.ndarray:
        """The weighted residual sum of squares of that line, which is optimal, so that its residuals are
        orthogonal to it."""
        latency, slope = self.line()
        return np.maximum(self.wyy - latency * self.wy - slope * self.wxy, 0)


def sums(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> tuple[Sums, list[slice]]:
    """All sums over at least FEWEST_POINTS consecutive rows. A slice for each last row, from the first
    possible on, selects the segments that end there, by their first row."""
    counts = np.arange(1, len(x) - FEWEST_POINTS + 2)
    bounds = np.concatenate(([0], np.cumsum(counts)))
    ending = [slice(int(first), int(beyond)) for first, beyond in pairwise(bounds)]

    def ranges(values: np.ndarray) -> np.ndarray:
        # Each end is summed from scratch: differences of a running sum would lose the digits of large
        # messages, whose weights are 1e12 times smaller.
        out = np.empty((*values.shape[:-1], bounds[-1]))
        for last, segments in enumerate(ending, FEWEST_POINTS - 1):
            backwards = np.cumsum(values[..., last::-1], axis=-1)
            out[..., segments] = backwards[..., : FEWEST_POINTS - 2 : -1]
        return out

    held = positive_from(x)
    parts = ranges(np.stack((weight, weight * x, weight * x * x)))
    of_times = ranges(np.stack((weight * y, weight * x * y, weight * y * y)))
    return Sums(np.concatenate([held[:count] for count in counts]), *parts, *of_times), ending


def positive_from(x: np.ndarray) -> np.ndarray:
    """The point, for each of the ascending `x`, from which a line whose first row is there must not be below
    0: a tenth of the way to the row before, so that it is positive at its rows; 0 for the first row of all.
    """
    before = np.concatenate((x[:1], x[:-1]))
    held = x - NEAR * (x - before)
    held[0] = 0.0
    return held


def search(x: np.ndarray, y: np.ndarray, weight: np.ndarray, penalty: float) -> np.ndarray:
    """The starts of segments, as booleans like `y` (replicates x n); the first is always true.

    `x` ascends (bytes); `weight` is the inverse variance of y; each segment has at least FEWEST_POINTS
    points, and all but the first start at `FIRST_CHANGE` or more.
    """
    y = np.atleast_2d(y)
    replicates, n = y.shape
    segments, ending = sums(x, y, weight)
    cost = segments.squares() + penalty
    excluded = np.where((x < FIRST_CHANGE) & (np.arange(n) > 0), np.inf, 0.0)
    best = np.full((replicates, n + 1), np.inf)
    best[:, 0] = 0
    start = np.zeros((replicates, n + 1), dtype=int)
    for end, segments_ending in enumerate(ending, FEWEST_POINTS):
        firsts = end - FEWEST_POINTS + 1
        total = best[:, :firsts] + cost[:, segments_ending] + excluded[:firsts]
        start[:, end] = total.argmin(axis=1)
        best[:, end] = total.min(axis=1)
    starts = np.zeros((replicates, n), dtype=bool)
    ends = np.full(replicates, n)
    rows = np.arange(replicates)
    while ends.any():
        ends = start[rows, ends]
        starts[rows, ends] = True
    return starts


def lines(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Latency and per_byte >= 0 of each row's segment, as (replicates x) n arrays.

    `y` and `starts` are replicates x n; replicates may differ in their segments.
    """
    segment = np.cumsum(starts, axis=-1) - 1
    replicates, n = y.shape
    index = segment + n * np.arange(replicates)[:, None]

    def totals(values: np.ndarray) -> np.ndarray:
        flat = np.bincount(
            index.ravel(), weights=np.broadcast_to(values, y.shape).ravel(), minlength=replicates * n
        )
        return flat[index]

    parts = (weight, weight * x, weight * x * x, weight * y, weight * x * y, weight * y * y)
    held = np.where(starts, positive_from(x), 0.0)
    return Sums(np.maximum.accumulate(held, axis=-1), *(totals(part) for part in parts)).line()


def segments_of(fit: Piecewise, changes: Sequence[Estimate]) -> list[FittedSegment]:
    bounds = [int(fit.size[0]), *(int(change.value) for change in changes)]
    found = []
    for line, first, beyond in zip(fit.lines, bounds, [*bounds[1:], None], strict=True):
        latency, per_byte = fit.segment(line)
        intercept = _intercept(latency.value)
        found.append(
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
    return found


def _intercept(latency: float) -> Intercept:
    return "found" if latency > 0 else "held" if latency == 0 else "below zero"


def curve_of(fit: Piecewise, changes: Sequence[Estimate]) -> list[CurvePoint]:
    """The measured sizes, their midpoints, and both sides of each change."""
    middles = np.sqrt(fit.size[1:] * np.maximum(fit.size[:-1], fit.size[1:] / 4))
    sides = [side for c in changes for side in (c.value - 1, c.value)]
    x = np.unique(np.concatenate((fit.size, np.round(middles), sides)))
    x = x[(x >= fit.size[0]) & (x <= fit.size[-1])]
    band = fit.band(x)
    return [
        CurvePoint(
            float(at), e.value, e.value if e.low is None else e.low, e.value if e.high is None else e.high
        )
        for at, e in zip(x, band, strict=True)
    ]
