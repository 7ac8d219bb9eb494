# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of a case's times with different launch settings whose launches are interleaved.

No launch measures both settings: the k-th launch of one is compared with the k-th of the other, so that slow
changes of the machine, which affect both, cancel in each pair's ratio. The interval is that of the centre of
these ratios (`location`). It is at least as wide as the variation between the launches of all settings
implies, because a few launches may agree by chance. If the machine has two modes, fewer than six launches may
all be in one of them, so their interval is extended by the largest change.

A round consists of one launch of each setting. Each log time is modelled as the sum of an effect of the
setting, an effect of the round, and a change of the launch, which is the residual (a randomized block design;
D. C. Montgomery, 'Design and Analysis of Experiments', ch. 4). The residuals of all settings together give
the variance of the changes. If a machine has a slow mode that lasts for some launches, the few launches of
one setting may all be in it. They agree with each other, but the launches of the other settings do not, and
the pooled variance reflects that. With two settings, this is the paired t test.

Settings without an effect are equivalent to ordinary launches, so their launches are pooled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.location import (
    MAX_INTERVAL_FACTOR,
    blend_half_widths,
    estimate,
    half_width_of_mean,
)
from hockney.models.statistics.modes import MIN_MODE_DISTANCE
from hockney.models.statistics.observations import (
    HalfWidths,
    Observation,
    half_widths_of_ratio,
    pool_launches,
)
from hockney.models.statistics.ratios import MIN_PAIRS, log_ratio_interval, ratio_of_estimates

MIN_LAUNCHES_FOR_BOTH_MODES = 6
"""With this number of launches, the chance that all are in the same of two equally frequent modes is 3%."""

MIN_FREEDOM = 2
"""With fewer degrees of freedom, the variance is practically unknown."""


@dataclass(frozen=True)
class _Launches:
    """Log time of each launch in order, with the half widths of its interval below and above (nan if
    unknown)."""

    logs: np.ndarray
    half_widths: HalfWidths


@dataclass(frozen=True)
class InterleavedSettings:
    """Typical time of each setting, and the launches of one or more equivalent settings."""

    typical: Mapping[str, Estimate]
    launches: Mapping[str, Sequence[_Launches]]

    @classmethod
    def from_observations(cls, by_setting: Mapping[str, Sequence[Observation]]) -> InterleavedSettings:
        """Create the comparison from the observations of a case by setting. Several observations of one
        setting come from equivalent settings."""
        return cls(
            {
                name: estimate(*pool_launches(observations).interval())
                for name, observations in by_setting.items()
            },
            {
                name: [
                    _Launches(observation.log_typical, observation.half_widths(slice(None)))
                    for observation in observations
                ]
                for name, observations in by_setting.items()
            },
        )

    @classmethod
    def from_geometric_means(
        cls, by_setting: Mapping[str, Sequence[Mapping[int, Observation]]], sizes: Sequence[int]
    ) -> InterleavedSettings:
        """Create the comparison from geometric means over `sizes`. `by_setting` contains observations by
        size. Intervals come from the differences between launches."""
        centers = {
            name: np.mean(
                [
                    pool_launches([sizes_of_setting[size] for sizes_of_setting in observations]).log_center
                    for size in sizes
                ]
            )
            for name, observations in by_setting.items()
        }
        return cls(
            {name: Estimate(float(np.exp(log)), None, None) for name, log in centers.items()},
            {
                name: [_launches_over_sizes(sizes_of_setting, sizes) for sizes_of_setting in observations]
                for name, observations in by_setting.items()
            },
        )

    def ratio(self, numerator: str, denominator: str) -> Estimate:
        """Typical time with the setting `numerator` divided by that with `denominator`, within its interval.
        With too few launches for their ratios, the interval comes from the intervals of both times. Unknown
        bounds are None."""
        ratio_from_times = ratio_of_estimates(self.typical[numerator], self.typical[denominator])
        interval = _interval_of_pairs(self.launches[numerator], self.launches[denominator])
        if interval is None and ratio_from_times.low is not None and ratio_from_times.high is not None:
            interval = float(np.log(ratio_from_times.low)), float(np.log(ratio_from_times.high))
        if interval is None:
            return ratio_from_times
        log_ratio = float(np.log(ratio_from_times.value))
        bounds = [
            *interval,
            *self._bounds_from_changes(numerator, denominator),
            *self._bounds_in_other_mode(numerator, denominator, log_ratio, interval),
        ]
        low, high = np.exp(min(bounds)), np.exp(max(bounds))
        if not high <= MAX_INTERVAL_FACTOR * low:
            return Estimate(ratio_from_times.value, None, None)
        return estimate(ratio_from_times.value, low, high)

    @cached_property
    def changes(self) -> LaunchChanges | None:
        """Changes of all launches; None if there are too few."""
        return estimate_launch_changes(
            [[launches.logs for launches in equivalent] for equivalent in self.launches.values()]
        )

    def _bounds_from_changes(self, numerator: str, denominator: str) -> tuple[float, ...]:
        """Bounds of the log ratio implied by the changes between launches; empty if these are unknown."""
        if self.changes is None:
            return ()
        names = list(self.launches)
        (numerator_below, numerator_above), (denominator_below, denominator_above) = (
            self._half_widths_within(name) for name in (numerator, denominator)
        )
        below, above = (
            float(np.hypot(numerator_below, denominator_above)),
            float(np.hypot(numerator_above, denominator_below)),
        )
        return self.changes.difference_bounds(names.index(numerator), names.index(denominator), below, above)

    def _bounds_in_other_mode(
        self, numerator: str, denominator: str, value: float, interval: tuple[float, float]
    ) -> list[float]:
        """Bounds of the log ratio, given `value` and `interval`, if all launches of one setting had been in
        the machine's other mode. Empty with enough launches or without modes. An interval wider than the
        distance of the modes already covers this."""
        has_few_launches = (
            min(self._launch_count(numerator), self._launch_count(denominator)) < MIN_LAUNCHES_FOR_BOTH_MODES
        )
        mode_distance = 0.0 if self.changes is None else self.changes.largest_difference
        if not has_few_launches or mode_distance < MIN_MODE_DISTANCE:
            return []
        return [
            bound + np.copysign(mode_distance, bound - value)
            for bound in interval
            if abs(bound - value) < mode_distance
        ]

    def _launch_count(self, setting: str) -> int:
        return sum(len(launches.logs) for launches in self.launches[setting])

    def _half_widths_within(self, setting: str) -> tuple[float, float]:
        """Half widths of the mean over the launches, predicted by the spread within them."""
        below, above = (
            half_width_of_mean(
                np.concatenate([launches.half_widths[side] for launches in self.launches[setting]])
            )
            for side in (0, 1)
        )
        return below, above


def _interval_of_pairs(
    numerator: Sequence[_Launches], denominator: Sequence[_Launches]
) -> tuple[float, float] | None:
    """Bounds of the log ratio from pairs of successive launches; None if there are too few pairs."""
    first, second = _mean_launches(numerator), _mean_launches(denominator)
    count = min(len(first.logs), len(second.logs))
    if count < MIN_PAIRS:
        return None
    widths = ((below[:count], above[:count]) for below, above in (first.half_widths, second.half_widths))
    log_ratio, below, above = log_ratio_interval(
        first.logs[:count] - second.logs[:count], half_widths_of_ratio(*widths)
    )
    return log_ratio - below, log_ratio + above


def _mean_launches(equivalent: Sequence[_Launches]) -> _Launches:
    """In each round, the mean of the series that have a launch in it."""
    logs: list[float] = []
    below: list[float] = []
    above: list[float] = []
    for k in range(max(len(launches.logs) for launches in equivalent)):
        measured = [launches for launches in equivalent if k < len(launches.logs)]
        logs.append(float(np.mean([launches.logs[k] for launches in measured])))
        for side, half_widths in enumerate((below, above)):
            half_widths.append(
                float(np.linalg.norm([launches.half_widths[side][k] for launches in measured]))
                / len(measured)
            )
    return _Launches(np.array(logs), (np.array(below), np.array(above)))


def _launches_over_sizes(by_size: Mapping[int, Observation], sizes: Sequence[int]) -> _Launches:
    """Logs of the geometric mean over the sizes for each launch that measured all of them, in order."""
    times_by_launch = [
        dict(zip(by_size[size].launches, by_size[size].log_typical, strict=True)) for size in sizes
    ]
    launches = [
        launch for launch in by_size[sizes[0]].launches if all(launch in times for times in times_by_launch)
    ]
    logs = np.array([np.mean([times[launch] for times in times_by_launch]) for launch in launches])
    unknown = np.full(len(logs), np.nan)
    return _Launches(logs, (unknown, unknown))


@dataclass(frozen=True)
class LaunchChanges:
    """Estimated effects of launch settings. `log_means` are the log times of the settings with covariance
    `variance * shares`. `variance` is the variance of a single launch's change with `freedom` degrees of
    freedom. `largest_difference` is the largest difference between two launches with the same setting,
    limited to the largest difference from the other settings' launches in the same rounds."""

    log_means: np.ndarray
    shares: np.ndarray
    variance: float
    freedom: int
    largest_difference: float

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of a launch's change (log)."""
        return float(np.sqrt(self.variance))

    def difference_bounds(
        self, numerator: int, denominator: int, below: float, above: float
    ) -> tuple[float, float]:
        """Bounds of the difference of two settings' log times, given their indices. `below` and `above` are
        its half widths predicted by the spread within launches, nan if unknown."""
        log_ratio = self.log_means[numerator] - self.log_means[denominator]
        share = (
            self.shares[numerator, numerator]
            + self.shares[denominator, denominator]
            - 2 * self.shares[numerator, denominator]
        )
        lower_half_width, upper_half_width = (
            float(blend_half_widths(self.variance * share, self.freedom, side)) for side in (below, above)
        )
        return float(log_ratio - lower_half_width), float(log_ratio + upper_half_width)


def estimate_launch_changes(series: Sequence[Sequence[np.ndarray]]) -> LaunchChanges | None:
    """Estimate the changes of launches. Each setting has one or more equivalent series, each with one log
    time per round. None if there are too few launches."""
    cells = [
        (setting, round_, float(log))
        for setting, equivalent in enumerate(series)
        for logs in equivalent
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
    effects = inverse @ design.T @ logs
    freedom = len(cells) - int(np.linalg.matrix_rank(design))
    if freedom < MIN_FREEDOM:
        return None
    residual = logs - design @ effects
    variance = float(residual @ residual) / freedom
    count = sum(map(len, series))
    scaled_residual = (
        residual * count / (count - 1)
    )  # relative to the other series: residuals are relative to all of them
    of_setting = np.array([setting for setting, _, _ in cells])
    largest = max(
        min(float(np.ptp(logs[of_setting == k])), float(np.ptp(scaled_residual[of_setting == k])))
        for k in range(settings)
    )
    return LaunchChanges(effects[:settings], inverse[:settings, :settings], variance, freedom, largest)
