# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of the times of a case with different launch settings.

No launch measures both, but their launches alternate: the k-th launch of one is compared with the k-th of the
other, so that slow changes of the machine, which affect both, cancel in each pair's ratio. The interval is
that of the centre of these ratios (`location`), and at least that which the changes between the launches of
all settings of the case imply (`launch_changes`): a few launches may agree by chance. If the machine has two
modes, fewer than six launches may all be in one of them, so their interval is extended by the largest change.

Settings that change nothing are equivalent to ordinary launches, so both are used together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate
from hockney.models.statistics.estimates import WIDEST, estimate
from hockney.models.statistics.launch_changes import LaunchChanges, launch_changes
from hockney.models.statistics.location import of_mean
from hockney.models.statistics.modes import APART
from hockney.models.statistics.observations import HalfWidths, Observation
from hockney.models.statistics.ratios import FEWEST_PAIRS, paired, ratio_of_estimates

FEWEST_OF_BOTH_MODES = 6
"""With so many launches, the chance that all are in the same of two equally frequent modes is 3%."""


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


def pooled(equivalent: Sequence[Observation]) -> Observation:
    """All measured launches of a case with equivalent settings, as one observation."""
    first, *others = equivalent
    if not others:
        return first
    chosen = [seen.chosen_from for seen in equivalent if seen.chosen_from is not None]
    return replace(
        first,
        launches=tuple(name for seen in equivalent for name in seen.launches),
        log_typical=np.concatenate([seen.log_typical for seen in equivalent]),
        below=np.concatenate([seen.below for seen in equivalent]),
        above=np.concatenate([seen.above for seen in equivalent]),
        quantile=np.concatenate([seen.quantile for seen in equivalent]),
        errors=sum(seen.errors for seen in equivalent),
        records=tuple(record for seen in equivalent for record in seen.records),
        visits=tuple(visits for seen in equivalent for visits in seen.visits),
        visits_at_s=tuple(at_s for seen in equivalent for at_s in seen.visits_at_s),
        chosen_from=pooled(chosen) if len(chosen) == len(equivalent) else None,
        inferred=None,
        unknown_change=any(seen.unknown_change for seen in equivalent),
    )


def _paired(of: Sequence[_Launches], over: Sequence[_Launches]) -> tuple[float, float] | None:
    """Low and high of the log ratio from the launches of both in turn; None if there are too few."""
    one, other = _mean(of), _mean(over)
    count = min(len(one.logs), len(other.logs))
    if count < FEWEST_PAIRS:
        return None
    widths = [(below[:count], above[:count]) for below, above in (one.half_widths, other.half_widths)]
    middle, below, above = paired(one.logs[:count] - other.logs[:count], *widths)
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
