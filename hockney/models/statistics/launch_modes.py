# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches that were in two modes of the machine: some of them fast for all cases of a subject, the others
slow. A mode may outlast a launch, so the share of the launches in each is a matter of chance, and a run of
few launches does not determine the typical time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.models.statistics.modes import APART, split_in_two
from hockney.models.statistics.observations import Observation

FEWEST_LAUNCHES = 2
"""Minimum number of launches in each mode: a single one is an outlier."""
CLEAR = 5.0
"""The levels differ by at least this many standard deviations within the modes; halves of normally or
uniformly distributed values differ by less."""
BETWEEN = 0.2
"""Maximum share of the launches in the middle third between the levels: those that changed the mode."""
SHARE = 0.25
"""Minimum share of a subject's cases that show the modes: long messages often do not."""


@dataclass(frozen=True)
class LaunchModes:
    """In `case`, this many launches took about `fast_s`, the others about `slow_s`."""

    case: Observation
    fast_s: float
    slow_s: float
    fast_launches: int
    slow_launches: int


def launch_modes(observations: Sequence[Observation]) -> LaunchModes | None:
    """The modes of the launches, as seen in the smallest of the cases that the most launches measured; None
    unless enough of the cases show two."""
    found = [modes for seen in observations if (modes := _of_case(seen)) is not None]
    if not found or len(found) < SHARE * len(observations):
        return None
    return min(found, key=lambda modes: (-len(modes.case.launches), modes.case.case.ranks, modes.case.size))


def _of_case(seen: Observation) -> LaunchModes | None:
    ordered = np.sort(seen.whole.log_typical)
    count = len(ordered)
    if count < 2 * FEWEST_LAUNCHES:
        return None
    beyond = split_in_two(ordered)
    fast, slow = ordered[:beyond], ordered[beyond:]
    low, high = float(np.median(fast)), float(np.median(slow))
    third = (high - low) / 3
    between = np.count_nonzero((ordered > low + third) & (ordered < high - third))
    fast, slow = fast[fast <= low + third], slow[slow >= high - third]
    inside = np.sqrt((np.sum((fast - low) ** 2) + np.sum((slow - high) ** 2)) / max(count - between - 2, 1))
    few = min(len(fast), len(slow)) < FEWEST_LAUNCHES
    if few or high - low < max(APART, CLEAR * inside) or between > BETWEEN * count:
        return None
    return LaunchModes(seen, float(np.exp(low)), float(np.exp(high)), beyond, count - beyond)
