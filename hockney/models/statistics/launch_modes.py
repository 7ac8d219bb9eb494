# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Detects launches in two modes of the machine: some are fast for all cases of a subject, the others slow. A
mode may outlast a launch, so the share of launches in each mode is random, and a run of few launches does not
determine the typical time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.statistics.location import MIN_COUNT_TO_WINSORISE
from hockney.models.statistics.modes import (
    MAX_CYCLES_FOR_MARGINS,
    MIN_MODE_DISTANCE,
    share_margins,
    split_in_two,
)
from hockney.models.statistics.observations import Observation

MIN_LAUNCHES = 2
"""Minimum number of launches in each mode: a single one is an outlier."""
MIN_SEPARATION = 5.0
"""The levels differ by at least this many standard deviations within the modes; halves of normally or
uniformly distributed values differ by less."""
MAX_SHARE_BETWEEN = 0.2
"""Maximum share of launches in the middle third between the levels, where the mode changed in between."""
MIN_CYCLES = 0.5
"""Cycles in a run with a single change of the mode."""
MIN_CASE_SHARE = 0.25
"""Minimum share of a subject's cases that show the modes: long messages often do not."""


@dataclass(frozen=True)
class LaunchModes:
    """The modes of a case's launches: `fast_launches` took about `fast_s`, `slow_launches` about `slow_s`."""

    case: Observation
    fast_s: float
    slow_s: float
    fast_launches: int
    slow_launches: int


def find_launch_modes(observations: Sequence[Observation]) -> LaunchModes | None:
    """The modes of the launches, shown by the smallest of the cases with the most launches; None unless
    enough cases have two modes."""
    cases_in_modes = [
        modes for observation in observations if (modes := _find_case_modes(observation)) is not None
    ]
    if not cases_in_modes or len(cases_in_modes) < MIN_CASE_SHARE * len(observations):
        return None
    return min(
        cases_in_modes, key=lambda modes: (-len(modes.case.launches), modes.case.case.ranks, modes.case.size)
    )


def launch_margins(observation: Observation) -> tuple[float, float]:
    """How far the long-run mean of two launch modes may lie below and above a case's centre (logs). (0, 0)
    without clear modes or after enough cycles. Modes that last for several launches make launches dependent,
    which their variance does not show."""
    logs = observation.with_imputed_launches.log_typical
    modes = _find_case_modes(observation, MIN_LAUNCHES if len(logs) >= MIN_COUNT_TO_WINSORISE else 1)
    if modes is None:
        return 0.0, 0.0
    lower_margin, upper_margin = float(np.log(modes.fast_s)), float(np.log(modes.slow_s))
    cycles = max(MIN_CYCLES, np.count_nonzero(np.diff(logs > (lower_margin + upper_margin) / 2)) / 2)
    if cycles > MAX_CYCLES_FOR_MARGINS:
        return 0.0, 0.0
    share = modes.slow_launches / (modes.slow_launches + modes.fast_launches)
    below, above = share_margins(share, cycles, upper_margin - lower_margin)
    sides = observation.log_center - (
        lower_margin + share * (upper_margin - lower_margin)
    )  # the centre of few launches is nearer to a mode
    return max(0.0, below + sides), max(0.0, above - sides)


def _find_case_modes(observation: Observation, fewest: int = MIN_LAUNCHES) -> LaunchModes | None:
    """Modes with at least `fewest` launches each."""
    logs = observation.with_imputed_launches.log_typical
    levels = find_two_levels(logs, fewest)
    if levels is None:
        return None
    fast_s, slow_s = float(np.exp(levels.low)), float(np.exp(levels.high))
    return LaunchModes(observation, fast_s, slow_s, levels.low_count, len(logs) - levels.low_count)


@dataclass(frozen=True)
class TwoLevels:
    """Two clearly separate levels of values; `low_count` values belong to the low one."""

    low: float
    high: float
    low_count: int

    @property
    def third(self) -> float:
        return (self.high - self.low) / 3

    def classify(self, values: np.ndarray) -> np.ndarray:
        """-1 near the low level, 1 near the high one, 0 in the middle third between them."""
        return np.where(values <= self.low + self.third, -1, np.where(values >= self.high - self.third, 1, 0))


def find_two_levels(values: np.ndarray, fewest: int = MIN_LAUNCHES) -> TwoLevels | None:
    """Find the two levels of the values; None unless each has at least `fewest` values near it."""
    sorted_values = np.sort(values)
    count = len(sorted_values)
    if count < 2 * MIN_LAUNCHES:
        return None
    sides = split_in_two(sorted_values)
    levels = TwoLevels(
        float(np.median(sorted_values[:sides])), float(np.median(sorted_values[sides:])), sides
    )
    near = levels.classify(sorted_values)
    low, high, between = sorted_values[near < 0], sorted_values[near > 0], np.count_nonzero(near == 0)
    deviation = np.sqrt(
        (np.sum((low - levels.low) ** 2) + np.sum((high - levels.high) ** 2)) / max(count - between - 2, 1)
    )
    has_rare_mode = min(len(low), len(high)) < fewest
    distance = levels.high - levels.low
    return (
        None
        if has_rare_mode
        or distance < max(MIN_MODE_DISTANCE, MIN_SEPARATION * deviation)
        or between > MAX_SHARE_BETWEEN * count
        else levels
    )
