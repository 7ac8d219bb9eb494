# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches that were in two modes of the machine: some of them fast for all cases of a subject, the others
slow. A mode may outlast a launch, so the share of the launches in each is a matter of chance, and a run of
few launches does not determine the typical time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.statistics.location import FEWEST_TO_WINSORISE
from hockney.models.statistics.modes import FEW_CYCLES, LEAST_MODE_DISTANCE, share_margins, split_in_two
from hockney.models.statistics.observations import Observation

FEWEST_LAUNCHES = 2
"""Minimum number of launches in each mode: a single one is an outlier."""
CLEAR = 5.0
"""The levels differ by at least this many standard deviations within the modes; halves of normally or
uniformly distributed values differ by less."""
BETWEEN = 0.2
"""Maximum share of the launches in the middle third between the levels: those that changed the mode."""
LEAST_CYCLES = 0.5
"""A single change of the mode."""
SHARE = 0.25
"""Minimum share of a subject's cases that show the modes: long messages often do not."""


@dataclass(frozen=True)
class LaunchModes:
    """The modes of a case's launches: `fast_launches` took about `fast_s`, `slow_launches` about `slow_s`."""

    case: Observation
    fast_s: float
    slow_s: float
    fast_launches: int
    slow_launches: int


def launch_modes(observations: Sequence[Observation]) -> LaunchModes | None:
    """The modes of the launches, as seen in the smallest of the cases that the most launches measured; None
    unless enough of the cases show two."""
    cases_in_modes = [
        modes for observation in observations if (modes := _modes_of_case(observation)) is not None
    ]
    if not cases_in_modes or len(cases_in_modes) < SHARE * len(observations):
        return None
    return min(
        cases_in_modes, key=lambda modes: (-len(modes.case.launches), modes.case.case.ranks, modes.case.size)
    )


def launch_margins(observation: Observation) -> tuple[float, float]:
    """How far below and above a case's centre (of logs) the long-run mean of two modes of its launches may
    lie; (0, 0) without clear modes, or if the launches went through enough of their cycles. If a mode lasts
    for several launches, they are not independent, and their variance does not show this."""
    logs = observation.all_launches.log_typical
    modes = _modes_of_case(observation, FEWEST_LAUNCHES if len(logs) >= FEWEST_TO_WINSORISE else 1)
    if modes is None:
        return 0.0, 0.0
    low, high = float(np.log(modes.fast_s)), float(np.log(modes.slow_s))
    cycles = max(LEAST_CYCLES, np.count_nonzero(np.diff(logs > (low + high) / 2)) / 2)
    if cycles > FEW_CYCLES:
        return 0.0, 0.0
    share = modes.slow_launches / (modes.slow_launches + modes.fast_launches)
    below, above = share_margins(share, cycles, high - low)
    beyond = observation.log_center - (
        low + share * (high - low)
    )  # the centre of few launches is nearer to a mode
    return max(0.0, below + beyond), max(0.0, above - beyond)


def _modes_of_case(observation: Observation, fewest: int = FEWEST_LAUNCHES) -> LaunchModes | None:
    """`fewest` launches in each mode, at least."""
    logs = observation.all_launches.log_typical
    levels = find_two_levels(logs, fewest)
    if levels is None:
        return None
    fast_s, slow_s = float(np.exp(levels.low)), float(np.exp(levels.high))
    return LaunchModes(observation, fast_s, slow_s, levels.count_low, len(logs) - levels.count_low)


@dataclass(frozen=True)
class TwoLevels:
    """Clearly separate levels of values, most of which are near one of them; `count_low` belong to the low
    one."""

    low: float
    high: float
    count_low: int

    @property
    def third(self) -> float:
        return (self.high - self.low) / 3

    def of(self, values: np.ndarray) -> np.ndarray:
        """-1 near the low level, 1 near the high one, 0 in the middle third between them."""
        return np.where(values <= self.low + self.third, -1, np.where(values >= self.high - self.third, 1, 0))


def find_two_levels(values: np.ndarray, fewest: int = FEWEST_LAUNCHES) -> TwoLevels | None:
    """The two levels of the values; None unless there are two, with at least `fewest` values near each."""
    ordered = np.sort(values)
    count = len(ordered)
    if count < 2 * FEWEST_LAUNCHES:
        return None
    beyond = split_in_two(ordered)
    levels = TwoLevels(float(np.median(ordered[:beyond])), float(np.median(ordered[beyond:])), beyond)
    near = levels.of(ordered)
    low, high, between = ordered[near < 0], ordered[near > 0], np.count_nonzero(near == 0)
    deviation = np.sqrt(
        (np.sum((low - levels.low) ** 2) + np.sum((high - levels.high) ** 2)) / max(count - between - 2, 1)
    )
    few = min(len(low), len(high)) < fewest
    apart = levels.high - levels.low
    return (
        None
        if few or apart < max(LEAST_MODE_DISTANCE, CLEAR * deviation) or between > BETWEEN * count
        else levels
    )
