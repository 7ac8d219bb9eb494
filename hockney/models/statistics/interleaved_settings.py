# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of a case with different launch settings, whose launches are interleaved.

No launch measures both settings: the k-th launch of one is compared with the k-th of the other, so that slow
changes of the machine, which affect both, cancel in each pair's ratio. The interval is that of the centre of
these ratios (`location`), and at least that which the changes between the launches of all settings of the
case imply: a few launches may agree by chance. If the machine has two modes, fewer than six launches may all
be in one of them, so their interval is extended by the largest change.

A round has one launch of each setting. The log times are taken for the sum of an effect of the setting, one
of the round, and a change of each launch, which is the residual (a randomized block design; D. C. Montgomery,
'Design and Analysis of Experiments', ch. 4). The residuals of all settings together give the variance of that
change. If a machine has a slow mode that lasts for some launches, the few launches of one setting may all be
in it: they agree, but those of the other settings do not, and the variance includes that. With two settings,
this is the paired t test.

Settings that change nothing are equivalent to ordinary launches, so both are used together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.location import WIDEST, blend_half_widths, estimate, half_width_of_mean
from hockney.models.statistics.modes import LEAST_MODE_DISTANCE
from hockney.models.statistics.observations import (
    HalfWidths,
    Observation,
    half_widths_of_ratio,
    pool_launches,
)
from hockney.models.statistics.ratios import FEWEST_PAIRS, log_ratio_interval, ratio_of_estimates

FEWEST_OF_BOTH_MODES = 6
"""With this number of launches, the chance that all are in the same of two equally frequent modes is 3%."""

FEWEST_FREEDOM = 2
"""With fewer degrees of freedom, the variance is practically unknown."""


@dataclass(frozen=True)
class _Launches:
    """The log time of each launch, in order, and how far the ends of its interval are below and above it (nan
    if unknown)."""

    logs: np.ndarray
    half_widths: HalfWidths


@dataclass(frozen=True)
class InterleavedSettings:
    """The typical time for each setting, and the launches of one or more equivalent settings."""

    typical: Mapping[str, Estimate]
    launches: Mapping[str, Sequence[_Launches]]

    @classmethod
    def of(cls, by_setting: Mapping[str, Sequence[Observation]]) -> InterleavedSettings:
        """A case with different settings. Each has one or more observations, of equivalent settings."""
        return cls(
            {name: estimate(*pool_launches(same).interval()) for name, same in by_setting.items()},
            {
                name: [
                    _Launches(observation.log_typical, observation.half_widths(slice(None)))
                    for observation in same
                ]
                for name, same in by_setting.items()
            },
        )

    @classmethod
    def of_geometric_means(
        cls, by_setting: Mapping[str, Sequence[Mapping[int, Observation]]], sizes: Sequence[int]
    ) -> InterleavedSettings:
        """The geometric mean over these sizes, from sets of observations by size. Intervals are those between
        launches."""
        centers = {
            name: np.mean([pool_launches([each[size] for each in same]).log_center for size in sizes])
            for name, same in by_setting.items()
        }
        return cls(
            {name: Estimate(float(np.exp(log)), None, None) for name, log in centers.items()},
            {name: [_launches_over_sizes(each, sizes) for each in same] for name, same in by_setting.items()},
        )

    def ratio(self, numerator: str, denominator: str) -> Estimate:
        """The typical time with the setting `numerator` divided by that with `denominator`; the interval
        contains it. With few launches, that of their own ratios is computed from the intervals of both times.
        Unknown ends are None."""
        plain = ratio_of_estimates(self.typical[numerator], self.typical[denominator])
        interval = _interval_of_pairs(self.launches[numerator], self.launches[denominator])
        if interval is None and plain.low is not None and plain.high is not None:
            interval = float(np.log(plain.low)), float(np.log(plain.high))
        if interval is None:
            return plain
        log = float(np.log(plain.value))
        ends = [
            *interval,
            *self._ends_from_changes(numerator, denominator),
            *self._ends_in_other_mode(numerator, denominator, log, interval),
        ]
        low, high = np.exp(min(ends)), np.exp(max(ends))
        if not high <= WIDEST * low:
            return Estimate(plain.value, None, None)
        return estimate(plain.value, low, high)

    @cached_property
    def changes(self) -> LaunchChanges | None:
        """The changes of all launches; None if there are too few."""
        return launch_changes([[each.logs for each in same] for same in self.launches.values()])

    def _ends_from_changes(self, numerator: str, denominator: str) -> tuple[float, ...]:
        """Low and high of the log ratio as the changes between launches imply, if they are known."""
        if self.changes is None:
            return ()
        names = list(self.launches)
        (numerator_below, numerator_above), (denominator_below, denominator_above) = (
            self._within(name) for name in (numerator, denominator)
        )
        below, above = (
            float(np.hypot(numerator_below, denominator_above)),
            float(np.hypot(numerator_above, denominator_below)),
        )
        return self.changes.difference(names.index(numerator), names.index(denominator), below, above)

    def _ends_in_other_mode(
        self, numerator: str, denominator: str, value: float, interval: tuple[float, float]
    ) -> list[float]:
        """The ends of the interval of the launches' `interval` log ratios, around `value`, if all launches of
        one of the two had been in the other mode of the machine; none if there are enough launches, or no
        modes. An interval that is wider than the modes are apart contains that already."""
        few = min(self._count(numerator), self._count(denominator)) < FEWEST_OF_BOTH_MODES
        apart = 0.0 if self.changes is None else self.changes.largest
        if not few or apart < LEAST_MODE_DISTANCE:
            return []
        return [end + np.copysign(apart, end - value) for end in interval if abs(end - value) < apart]

    def _count(self, setting: str) -> int:
        return sum(len(each.logs) for each in self.launches[setting])

    def _within(self, setting: str) -> tuple[float, float]:
        """Half widths of the mean over the launches, from the spread within them."""
        below, above = (
            half_width_of_mean(np.concatenate([each.half_widths[side] for each in self.launches[setting]]))
            for side in (0, 1)
        )
        return below, above


def _interval_of_pairs(
    numerator: Sequence[_Launches], denominator: Sequence[_Launches]
) -> tuple[float, float] | None:
    """Low and high of the log ratio from the launches of both in turn; None if there are too few."""
    first, second = _mean_launches(numerator), _mean_launches(denominator)
    count = min(len(first.logs), len(second.logs))
    if count < FEWEST_PAIRS:
        return None
    widths = ((below[:count], above[:count]) for below, above in (first.half_widths, second.half_widths))
    middle, below, above = log_ratio_interval(
        first.logs[:count] - second.logs[:count], half_widths_of_ratio(*widths)
    )
    return middle - below, middle + above


def _mean_launches(equivalent: Sequence[_Launches]) -> _Launches:
    """The mean, in each round, of the series that have a launch in it."""
    logs: list[float] = []
    below: list[float] = []
    above: list[float] = []
    for k in range(max(len(each.logs) for each in equivalent)):
        measured = [each for each in equivalent if k < len(each.logs)]
        logs.append(float(np.mean([each.logs[k] for each in measured])))
        for side, found in enumerate((below, above)):
            found.append(
                float(np.linalg.norm([each.half_widths[side][k] for each in measured])) / len(measured)
            )
    return _Launches(np.array(logs), (np.array(below), np.array(above)))


def _launches_over_sizes(by_size: Mapping[int, Observation], sizes: Sequence[int]) -> _Launches:
    """Log of the mean over the sizes, in each launch that measured all of them, in order."""
    times_by_launch = [
        dict(zip(by_size[size].launches, by_size[size].log_typical, strict=True)) for size in sizes
    ]
    launches = [
        launch for launch in by_size[sizes[0]].launches if all(launch in each for each in times_by_launch)
    ]
    logs = np.array([np.mean([each[launch] for each in times_by_launch]) for launch in launches])
    unknown = np.full(len(logs), np.nan)
    return _Launches(logs, (unknown, unknown))


@dataclass(frozen=True)
class LaunchChanges:
    """`log_means` are the log times of the settings, with the covariance `variance * shares`; `variance` is
    that of a single launch's change, with `freedom` degrees of freedom. `largest` is the largest difference
    of two launches with the same setting, and no more than this beyond that of the other settings' launches
    in the same rounds."""

    log_means: np.ndarray
    shares: np.ndarray
    variance: float
    freedom: int
    largest: float

    @property
    def deviation(self) -> float:
        """The standard deviation of a launch's change (log)."""
        return float(np.sqrt(self.variance))

    def difference(self, numerator: int, denominator: int, below: float, above: float) -> tuple[float, float]:
        """Low and high of the difference of two settings' log times, by their indices. `below` and `above`
        are its half widths as the spread within launches predicts them, nan if unknown."""
        middle = self.log_means[numerator] - self.log_means[denominator]
        share = (
            self.shares[numerator, numerator]
            + self.shares[denominator, denominator]
            - 2 * self.shares[numerator, denominator]
        )
        low, high = (
            float(blend_half_widths(self.variance * share, self.freedom, side)) for side in (below, above)
        )
        return float(middle - low), float(middle + high)


def launch_changes(series: Sequence[Sequence[np.ndarray]]) -> LaunchChanges | None:
    """The changes of launches, from one or more series for each setting, which are equivalent: the log times
    of their launches, one for each round. None if there are too few."""
    cells = [
        (setting, round_, float(log))
        for setting, same in enumerate(series)
        for logs in same
        for round_, log in enumerate(logs)
    ]
    settings, rounds = len(series), max(round_ for _, round_, _ in cells) + 1
    design = np.zeros((len(cells), settings + rounds - 1))
    for row, (setting, round_, _) in enumerate(cells):
        design[row, setting] = 1.0
        if round_:
            design[row, settings + round_ - 1] = 1.0
    inverse = np.linalg.pinv(design.T @ design)
    logs = np.array([log for _, _, log in cells])
    fitted = inverse @ design.T @ logs
    freedom = len(cells) - int(np.linalg.matrix_rank(design))
    if freedom < FEWEST_FREEDOM:
        return None
    residual = logs - design @ fitted
    variance = float(residual @ residual) / freedom
    count = sum(map(len, series))
    beyond = residual * count / (count - 1)  # of the other series: a residual is relative to all of them
    of_setting = np.array([setting for setting, _, _ in cells])
    largest = max(
        min(float(np.ptp(logs[of_setting == k])), float(np.ptp(beyond[of_setting == k])))
        for k in range(settings)
    )
    return LaunchChanges(fitted[:settings], inverse[:settings, :settings], variance, freedom, largest)
