# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Fit a piecewise line to the times of a table of sizes, with the data needed for intervals.

Three kinds of error enter the intervals: the spread within launches; deviations of single points from the
model or between launches (from the residuals and from neighboring sizes); and differences between whole
launches (`half_width` of the values from each launch's separate fit).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.fits.piecewise.curve import Pieces, Place, pieces
from hockney.models.fits.piecewise.search import lines, search
from hockney.models.statistics import SHORTEST_S, ObservationTable, Z, center, estimate, half_width, student

REPLICATES = 200

FLOOR = 0.01
"""Deviations of 1% do not justify a separate segment, however precise the medians are."""

PENALTY = 4.0
"""The price of a segment in units of log(sizes). BIC charges log n for each of two parameters; the position,
chosen among n, costs the other two."""

CAP = 9.0
"""Squared deviation, in variances, above which a point is an outlier that counts no further."""


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


def fit_piecewise(size: np.ndarray, table: ObservationTable) -> Piecewise:
    """`size` ascends, one per row of the table."""
    n = len(size)
    times = table.times
    variance = table.variance
    for _ in range(2):
        weight = 1 / ((variance + FLOOR**2) * times**2)
        starts = search(size, times, weight, PENALTY * np.log(n))
        latency, per_byte = lines(size, times[None], weight, starts)
        fitted = np.maximum((latency + per_byte * size)[0], SHORTEST_S)
        freedom = n - 2 * int(starts.sum())
        residual = np.log(times / fitted)
        extra = unexplained(residual, variance, freedom)
        outlier = residual**2 > 2 * CAP * (variance + extra + FLOOR**2)
        outlier[-1] &= residual[-1] < 0  # a slow largest size may be where bandwidth begins to fall
        if not outlier.any():
            break
        # Outliers are detected in the first fit, which they distort: fit again with each one's deviation as
        # its error.
        variance = np.where(outlier, residual**2, variance)
    variance = variance + extra
    explained = table.variance + extra
    sides = (_among_neighbors(np.maximum(side, 0.0) ** 2) for side in (-residual, residual))
    below, above = (np.maximum(explained, side) for side in sides)

    each = table.by_launch
    their = np.tile(starts, (len(each), 1))
    rng = np.random.default_rng(n)
    again = fitted * np.exp(rng.standard_normal((REPLICATES, n)) * np.sqrt(variance))
    again_starts = search(size, again, weight, PENALTY * np.log(n))
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
                (latency[0, first], per_byte[0, first]),
                size,
                each,
                weight,
                variance * fitted**2,
                np.stack((extreme_latency[:, first], extreme_per_byte[:, first]), axis=1),
            )
            for first, beyond in pairwise(bounds)
        ],
        center=pieces(size, starts, latency, per_byte),
        launches=pieces(size, their, *lines(size, each, weight, their)),
        extremes=pieces(size, both, extreme_latency, extreme_per_byte),
        replicates={place: pieces(size, again_starts, *again_lines, place) for place in ("early", "late")},
        replicate_starts=again_starts,
        quantile=student(float(freedom + (n - 1) * (len(each) - 1))),
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
