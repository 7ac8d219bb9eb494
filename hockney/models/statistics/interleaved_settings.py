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
from hockney.models.statistics.location import WIDEST, blended, estimate, of_mean
from hockney.models.statistics.modes import APART
from hockney.models.statistics.observations import HalfWidths, Observation, pooled
from hockney.models.statistics.ratios import FEWEST_PAIRS, log_ratio_interval, ratio_of_estimates

FEWEST_OF_BOTH_MODES = 6
"""With so many launches, the chance that all are in the same of two equally frequent modes is 3%."""

FEWEST_FREEDOM = 2
"""With fewer degrees of freedom, the variance is practically unknown."""


@dataclass(frozen=True)
class _Launches:
    """The log time of each launch, in order, and how far the ends of its interval are below and above it (nan
    if unknown)."""

    logs: np.ndarray
    half_widths: HalfWidths


@dataclass(frozen=True)
class Turns:
    """The typical time for each setting, and the launches of one or more equivalent settings."""

    typical: Mapping[str, Estimate]
    launches: Mapping[str, Sequence[_Launches]]

    @classmethod
    def of(cls, by_setting: Mapping[str, Sequence[Observation]]) -> Turns:
        """A case with different settings. Each has one or more observations, of equivalent settings."""
        return cls(
            {name: estimate(*pooled(same).interval()) for name, same in by_setting.items()},
            {
                name: [_Launches(seen.log_typical, seen.half_widths(slice(None))) for seen in same]
                for name, same in by_setting.items()
            },
        )

    @classmethod
    def of_means(
        cls, by_setting: Mapping[str, Sequence[Mapping[int, Observation]]], sizes: Sequence[int]
    ) -> Turns:
        """The geometric mean over these sizes, from sets of observations by size. Intervals are those between
        launches."""
        centers = {
            name: np.mean([pooled([each[size] for each in same]).log_center for size in sizes])
            for name, same in by_setting.items()
        }
        return cls(
            {name: Estimate(float(np.exp(log)), None, None) for name, log in centers.items()},
            {name: [_means(each, sizes) for each in same] for name, same in by_setting.items()},
        )

    def ratio(self, of: str, over: str) -> Estimate:
        """The typical time with the setting `of` divided by that with `over`; the interval contains it. With
        few launches, that of their own ratios is computed from the intervals of both times. Unknown ends are
        None."""
        plain = ratio_of_estimates(self.typical[of], self.typical[over])
        own = _paired(self.launches[of], self.launches[over])
        if own is None and plain.low is not None and plain.high is not None:
            own = float(np.log(plain.low)), float(np.log(plain.high))
        if own is None:
            return plain
        log = float(np.log(plain.value))
        ends = [*own, *self._least(of, over), *self._in_other_mode(of, over, log, own)]
        low, high = np.exp(min(ends)), np.exp(max(ends))
        if not high <= WIDEST * low:
            return Estimate(plain.value, None, None)
        return estimate(plain.value, low, high)

    @cached_property
    def changes(self) -> LaunchChanges | None:
        """The changes of all launches; None if there are too few."""
        return launch_changes([[each.logs for each in same] for same in self.launches.values()])

    def _least(self, of: str, over: str) -> tuple[float, ...]:
        """Low and high of the log ratio as the changes between launches imply, if they are known."""
        if self.changes is None:
            return ()
        names = list(self.launches)
        (of_below, of_above), (over_below, over_above) = (self._within(name) for name in (of, over))
        below, above = float(np.hypot(of_below, over_above)), float(np.hypot(of_above, over_below))
        return self.changes.difference(names.index(of), names.index(over), below, above)

    def _in_other_mode(self, of: str, over: str, value: float, own: tuple[float, float]) -> list[float]:
        """The ends of the interval of the launches' `own` log ratios, around `value`, if all launches of one
        of the two had been in the other mode of the machine; none if there are enough launches, or no modes.
        An interval that is wider than the modes are apart contains that already."""
        few = min(self._count(of), self._count(over)) < FEWEST_OF_BOTH_MODES
        apart = 0.0 if self.changes is None else self.changes.largest
        if not few or apart < APART:
            return []
        return [end + np.copysign(apart, end - value) for end in own if abs(end - value) < apart]

    def _count(self, setting: str) -> int:
        return sum(len(each.logs) for each in self.launches[setting])

    def _within(self, setting: str) -> tuple[float, float]:
        """Half widths of the mean over the launches, from the spread within them."""
        below, above = (
            of_mean(np.concatenate([each.half_widths[side] for each in self.launches[setting]]))
            for side in (0, 1)
        )
        return below, above


def _paired(of: Sequence[_Launches], over: Sequence[_Launches]) -> tuple[float, float] | None:
    """Low and high of the log ratio from the launches of both in turn; None if there are too few."""
    one, other = _mean(of), _mean(over)
    count = min(len(one.logs), len(other.logs))
    if count < FEWEST_PAIRS:
        return None
    widths = [(below[:count], above[:count]) for below, above in (one.half_widths, other.half_widths)]
    middle, below, above = log_ratio_interval(one.logs[:count] - other.logs[:count], *widths)
    return middle - below, middle + above


def _mean(equivalent: Sequence[_Launches]) -> _Launches:
    """The mean, in each round, of the series that have a launch in it."""
    logs: list[float] = []
    below: list[float] = []
    above: list[float] = []
    for k in range(max(len(each.logs) for each in equivalent)):
        there = [each for each in equivalent if k < len(each.logs)]
        logs.append(float(np.mean([each.logs[k] for each in there])))
        for side, found in enumerate((below, above)):
            found.append(float(np.linalg.norm([each.half_widths[side][k] for each in there])) / len(there))
    return _Launches(np.array(logs), (np.array(below), np.array(above)))


def _means(seen: Mapping[int, Observation], sizes: Sequence[int]) -> _Launches:
    """Log of the mean over the sizes, in each launch that measured all of them, in order."""
    of = [dict(zip(seen[size].launches, seen[size].log_typical, strict=True)) for size in sizes]
    launches = [launch for launch in seen[sizes[0]].launches if all(launch in each for each in of)]
    logs = np.array([np.mean([each[launch] for each in of]) for launch in launches])
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

    def difference(self, of: int, over: int, below: float, above: float) -> tuple[float, float]:
        """Low and high of the difference of two settings' log times, by their indices. `below` and `above`
        are its half widths as the spread within launches predicts them, nan if unknown."""
        middle = self.log_means[of] - self.log_means[over]
        share = self.shares[of, of] + self.shares[over, over] - 2 * self.shares[of, over]
        low, high = (float(blended(self.variance * share, self.freedom, side)) for side in (below, above))
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
