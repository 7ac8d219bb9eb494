# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How many launches a run is spread over, and how much each of them keeps.

Launches are what intervals are made of: pages, cores and start-up differ between them. Ten make Student's t
small and let one bad one be left out; more follow where a launch would last long, so that a case is seen all
through the run. What a launch costs by itself limits them."""

from __future__ import annotations

from hockney.core.settings import FEWEST_LAUNCHES

WANTED = 10
MOST = 100
LONGEST_S = 6.0
"""Of measuring in one launch, where more launches can be afforded."""
COST_SHARE = 0.2
"""Of the budget, for starting and ending launches."""
CASE_S = 0.02
"""What a case needs in a launch for more than its first visit."""
TYPICAL_COST_S = 0.3
"""Of a launch, before one was tried."""

VISITS = 40
"""Of each case in a launch: one every tenth of a second or so sees every mode that lasts longer."""
MOST_VALUES = 1_000_000
"""Of all repetitions of a run: some 12 MB of records."""
FEWEST_REPETITIONS = 5 * VISITS
MOST_REPETITIONS = 20_000


def launch_count(budget_s: float, cost_s: float, groups: int, cases: int) -> int:
    """Launches of every one of so many `cases`, where a round of them is `groups` launches that cost `cost_s`
    each."""
    by_cost = COST_SHARE * budget_s / (max(1, groups) * max(cost_s, 0.01))
    affordable = min(by_cost, (1 - COST_SHARE) * budget_s / (CASE_S * max(1, cases)))
    wanted = max(float(WANTED), budget_s / (LONGEST_S * max(1, groups)))
    return int(max(FEWEST_LAUNCHES, min(affordable, wanted, MOST)))


def most_repetitions(measurements: int) -> int:
    """Repetitions of one case in one launch, where a run has so many `measurements`."""
    return max(FEWEST_REPETITIONS, min(MOST_REPETITIONS, MOST_VALUES // max(1, measurements)))
