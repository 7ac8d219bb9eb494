# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The number of launches in a run, and how many repetitions each of them keeps.

Intervals are computed from launches, because pages, cores and start-up differ between them. With ten,
Student's t is small and one bad launch can be left out; there are more if a launch would last long, so that a
case is measured throughout the run. The overhead of a launch limits their number."""

from __future__ import annotations

from hockney.core.settings import FEWEST_LAUNCHES

WANTED = 10
MOST = 100
LONGEST_S = 6.0
"""Maximum time of measuring in one launch, if more launches are affordable."""
COST_SHARE = 0.2
"""Fraction of the budget for starting and ending launches."""
CASE_S = 0.02
"""Time of a case in a launch for more than its first visit."""
TYPICAL_COST_S = 0.3
"""Cost of a launch, before one was measured."""

RESERVE = 2.0
"""On a busy machine, the shortest measurements take this many times as long as on a quiet one."""

VISITS = 40
"""Visits of each case in a launch: one about every tenth of a second observes every mode that lasts
longer."""
MOST_VALUES = 1_000_000
"""All repetitions of a run: some 12 MB of records."""
FEWEST_REPETITIONS = 5 * VISITS
MOST_REPETITIONS = 20_000


def launch_count(budget_s: float, cost_s: float, groups: int, cases: int, least_s: float = 0.0) -> int:
    """Launches of each of `cases` cases, if a round of them is `groups` launches that cost `cost_s` each, and
    their shortest measurements take `least_s`."""
    by_cost = COST_SHARE * budget_s / (max(1, groups) * max(cost_s, 0.01))
    round_s = max(CASE_S * max(1, cases), RESERVE * least_s)
    affordable = min(by_cost, (1 - COST_SHARE) * budget_s / round_s)
    wanted = max(float(WANTED), budget_s / (LONGEST_S * max(1, groups)))
    return int(max(FEWEST_LAUNCHES, min(affordable, wanted, MOST)))


def least_budget(launches: int, cost_s: float, groups: int, least_s: float) -> float:
    """The shortest budget (s) in which `launches` rounds fit, or the fewest from which an interval includes
    the differences between launches, if `launches` are more."""
    return min(launches, FEWEST_LAUNCHES) * (groups * cost_s + least_s)


def most_repetitions(measurements: int) -> int:
    """Repetitions of one case in one launch, if a run has this many `measurements`."""
    return max(FEWEST_REPETITIONS, min(MOST_REPETITIONS, MOST_VALUES // max(1, measurements)))
