# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the models see of the records: for each case, each launch's median with its interval.

Times are handled by their logarithms: errors of times are relative, launches differ by factors, and
an interval of a time must not reach below zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtri

from hockney.core.case import Case
from hockney.core.record import Record, Run
from hockney.models.statistics.interval import interval_and_quantile
from hockney.models.statistics.launch_variance import Z, half_width, of_mean

SHORTEST_S = 1e-12
"""Stands for a time of zero, which a coarse clock or a simulator may report."""

MUCH = 8.0
"""A row's variance over the typical one's from which it is believed: with three launches chance exceeds it
in one of 3000."""

WIDE = 0.7
"""The log of an interval whose ends are a factor of two apart."""


@dataclass(frozen=True)
class Observation:
    """One case. The arrays have one entry a launch: log of the median, and how far the ends of its
    95% interval are below and above it (log as well, nan where there is no interval), and the quantile
    that the interval used."""

    case: Case
    launches: tuple[str, ...]
    log_median: np.ndarray
    below: np.ndarray
    above: np.ndarray
    quantile: np.ndarray
    errors: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False, compare=False)

    @property
    def bytes(self) -> int:
        """The case's message size; 0 for a workload without one, as a barrier."""
        return self.case.size

    @property
    def log_center(self) -> float:
        """Log of the median time of the typical launch: the mean over the launches' logarithms."""
        return float(self.log_median.mean())

    @property
    def log_unbiased(self) -> np.ndarray:
        """Each launch's log median less its bias. The median of n times is the quantile function at a
        random place p around 1/2; where that function bends the mean of what it gives is off by half its
        curvature times the variance of p, which is how far the middle of the interval is off the median,
        divided by z**2. It matters where a model averages over many cases. Not for intervals so wide
        that they may show single outliers instead of curvature."""
        wide = ~(self.below + self.above < WIDE)
        return self.log_median - np.where(wide, 0.0, (self.above - self.below) / 2 / Z**2)

    @property
    def within(self) -> float:
        """Standard error of `log_center` from the spread inside the launches alone, nan where unknown."""
        return of_mean((self.below + self.above) / 2 / self.quantile)

    def interval(self) -> tuple[float, float, float]:
        """(median, low, high) in seconds over all launches; nan for ends that are not known."""
        center = self.log_center
        # Launches together know the correlation better than each alone: t - 1.96 falls as the degrees of
        # freedom add up.
        shrink = (Z + np.mean(self.quantile - Z) / len(self.quantile)) / self.quantile
        low = center - float(half_width(self.log_median, of_mean(self.below * shrink)))
        high = center + float(half_width(self.log_median, of_mean(self.above * shrink)))
        return float(np.exp(center)), float(np.exp(low)), float(np.exp(high))


def observe(run: Run) -> list[Observation]:
    """One observation a case, in the order first written. Records without times are passed over."""
    return [seen for records in run.by_case().values() if (seen := observe_case(records)) is not None]


def observe_case(records: Iterable[Record]) -> Observation | None:
    used = tuple(r for r in records if r.times_s)
    if not used:
        return None
    ends = np.array([_log_ends(r.times_s) for r in used])
    return Observation(
        case=used[0].parsed_case(),
        launches=tuple(r.launch for r in used),
        log_median=ends[:, 0],
        below=ends[:, 1],
        above=ends[:, 2],
        quantile=ends[:, 3],
        errors=sum(r.verified.errors for r in used),
        records=used,
    )


def _log_ends(times: Sequence[float]) -> tuple[float, float, float, float]:
    *found, quantile = interval_and_quantile(times)
    median, low, high = (np.nan if t is None else t for t in found)
    log, log_low, log_high = np.log(np.maximum((median, low, high), SHORTEST_S))
    return log, log - log_low, log_high - log, quantile


@dataclass(frozen=True)
class ObservationTable:
    """Observations of one subject as a matrix: rows are cases, columns the launches most cases share.

    `log_times` is rows x columns, an entry that a launch lacks, or a row that one spoiled, filled in from
    the row's center and the launch's common factor; `log_center` is each row's typical launch and
    `variance` that of its error, apart from what launches do to all rows alike: by the spread inside the
    launches, and at least what launches do to one case beyond its neighbours, which is pooled over the rows
    except where one is much worse.
    """

    log_times: np.ndarray
    log_center: np.ndarray
    variance: np.ndarray
    errors: int

    @property
    def launches(self) -> int:
        return self.log_times.shape[1]


def tabulate(observations: Sequence[Observation], share: float = 0.75) -> ObservationTable:
    """A launch gets a column when it has at least `share` of the cases."""
    counts: dict[str, int] = {}
    for seen in observations:
        for launch in seen.launches:
            counts[launch] = counts.get(launch, 0) + 1
    columns = [launch for launch, n in counts.items() if n >= share * len(observations)]
    log_times = np.full((len(observations), len(columns)), np.nan)
    for row, seen in enumerate(observations):
        for launch, value in zip(seen.launches, seen.log_unbiased, strict=True):
            if launch in columns:
                log_times[row, columns.index(launch)] = value
    common = _common(log_times)
    center = np.empty(len(observations))
    for row, seen in enumerate(observations):
        present = np.isfinite(log_times[row])
        center[row] = (
            np.mean(log_times[row, present] - common[present]) if present.any() else seen.log_unbiased.mean()
        )
    within = np.nan_to_num([seen.within for seen in observations]) ** 2
    apart, spoiled = _apart(log_times)
    # One bad launch of three carries a mean away, but not a median.
    center[spoiled] = np.nanmedian(log_times[spoiled] - common, axis=1)
    variance = np.maximum(within, apart)
    usable = np.isfinite(log_times) & ~spoiled[:, None]
    filled = np.where(usable, log_times, center[:, None] + common)
    return ObservationTable(filled, center, variance, sum(seen.errors for seen in observations))


def _common(log_times: np.ndarray) -> np.ndarray:
    """Each launch's factor common to all cases, with mean zero; exact by a few sweeps of row and column
    means when entries are missing."""
    columns = log_times.shape[1]
    common = np.zeros(columns)
    if columns > 1 and np.isnan(log_times).any():
        some = np.isfinite(log_times).any(axis=1)
        for _ in range(20):
            rows = np.nanmean(log_times[some] - common, axis=1, keepdims=True)
            common = np.nanmean(log_times[some] - rows, axis=0)
            common -= common.mean()
    return common


def _apart(log_times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row the variance of its mean due to what launches do to single cases, and which rows are
    spoiled by a launch.

    Pooled from the differences of neighbouring rows, so that what a launch does to all short messages alike
    does not count; by their median where a few rows are so bad that they would spoil the mean, and those rows
    (`MUCH` times worse, which chance does to few) keep their own variance.
    """
    rows, columns = log_times.shape
    none = np.zeros(rows), np.zeros(rows, dtype=bool)
    if columns < 2 or rows < 3:
        return none
    steps = np.diff(log_times, axis=0)
    steps = steps[np.isfinite(steps).all(axis=1)].var(axis=1, ddof=1) / 2 / columns
    if not len(steps):
        return none
    typical = np.median(steps) * (columns - 1) / chdtri(columns - 1, 0.5)
    pooled = float(np.mean(steps) if np.mean(steps) < 2 * typical else typical)
    apart = log_times - np.nanmean(log_times, axis=1, keepdims=True)
    own = (apart - np.nanmedian(apart, axis=0)) ** 2
    own = np.nan_to_num(np.nansum(own, axis=1) / (columns - 1) / columns)
    spoiled = own > MUCH * pooled
    return np.where(spoiled, own, pooled), spoiled
