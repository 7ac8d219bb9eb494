# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time budget of a run: how many launches fit into it, which sizes to drop to fit more launches, and how
long each launch may measure.

Intervals are computed from launches, because pages, cores and start-up differ between them. With ten
launches, Student's t is small and one bad launch can be excluded. There are more launches if each would take
long, so that a case is measured throughout the run. The overhead of launches limits their number.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.settings import MIN_LAUNCHES
from hockney.core.units import thin_out
from hockney.models.least_time import min_launch_seconds

TYPICAL_LAUNCHES = 10
MAX_LAUNCHES = 100
MAX_LAUNCH_S = 6.0
"""Maximum measuring time of one launch, if more launches are affordable."""
COST_SHARE = 0.2
"""Fraction of the budget for starting and ending launches."""
MIN_CASE_S = 0.02
"""Minimum time of a case in a launch, enough for more than its first visit."""
TYPICAL_LAUNCH_COST_S = 0.3
"""Assumed cost of a launch before one was measured."""

BUSY_FACTOR = 2.0
"""Factor by which the shortest measurements take longer on a busy machine than on a quiet one."""

VISITS_PER_CASE = 40
"""Visits of each case in a launch. One visit about every tenth of a second observes every mode that lasts
longer."""
MAX_RUN_REPETITIONS = 1_000_000
"""Maximum number of repetitions of a run, which give about 12 MB of records."""
MIN_REPETITIONS = 5 * VISITS_PER_CASE
MAX_REPETITIONS = 20_000


def launch_count(
    budget_s: float,
    cost_s: float,
    groups: int,
    cases: int,
    min_s: float = 0.0,
    typical: int = TYPICAL_LAUNCHES,
) -> int:
    """Return the number of launches of each of `cases` cases, `typical` if they are short and affordable. A
    round consists of `groups` launches, each of which costs `cost_s`; the shortest measurements of a round
    take `min_s`."""
    affordable_by_cost = COST_SHARE * budget_s / (max(1, groups) * max(cost_s, 0.01))
    round_s = max(MIN_CASE_S * max(1, cases), BUSY_FACTOR * min_s)
    affordable = min(affordable_by_cost, (1 - COST_SHARE) * budget_s / round_s)
    target = max(float(typical), budget_s / (MAX_LAUNCH_S * max(1, groups)))
    return int(max(MIN_LAUNCHES, min(affordable, target, MAX_LAUNCHES)))


def min_budget(launches: int, cost_s: float, groups: int, min_s: float) -> float:
    """Return the minimum budget (s) for `launches` rounds. At most FEWEST_LAUNCHES rounds count, which are
    enough for an interval to include the differences between launches."""
    return min(launches, MIN_LAUNCHES) * (groups * cost_s + min_s)


def max_repetitions(measurements: int) -> int:
    """Return the maximum number of repetitions of a case in a launch, for a run with this many
    `measurements`."""
    return max(MIN_REPETITIONS, min(MAX_REPETITIONS, MAX_RUN_REPETITIONS // max(1, measurements)))


TOLERANCE = 0.05
"""Guaranteed limit: launches exceed the budget by at most this fraction."""
OVERRUN_FACTOR = 1.3
"""A launch that exceeded its time by more than this factor could not be shortened, because setting up and
checking a case take time too."""
COST_QUANTILE = 0.9
"""A launch is started only if the remaining time covers this quantile of the costs of earlier launches."""


MIN_LAUNCH_CASE_S = 1e-4
"""Minimum time that a launch gets for each of its cases."""
MIN_CASE_SHARE = 0.5
"""A launch is started if there is time for at least this fraction of its cases; the limit ends it."""


@dataclass
class Budget:
    """The time budget of a run. `total_s` is the time for everything, including starting and ending launches.
    `launch_costs` are the times of finished launches apart from their cases. `excess_ratios` are the ratios
    of the time that cases took to the time that they got. `min_case_s` is the minimum time of a case, once
    cases have exceeded their time. Unless the budget `is_shared`, each launch may use all the remaining time:
    simulated cases end after a few repetitions. `reserve_s` is kept for launches after the planned ones."""

    total_s: float
    now: Callable[[], float] = time.monotonic
    first_cost_s: float = 0.0
    is_shared: bool = True
    reserve_s: float = 0.0
    start_s: float = field(init=False)
    min_case_s: float = 0.0
    launch_costs: list[float] = field(default_factory=list)
    excess_ratios: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start_s = self.now()

    def next_round(self, total_s: float) -> Budget:
        """Return the budget of another round that starts now, with the costs of launches and cases so far."""
        return replace(self, total_s=total_s)

    @property
    def elapsed_s(self) -> float:
        return self.now() - self.start_s

    @property
    def cost_s(self) -> float:
        """The median overhead of a launch, which is robust against a launch that did not end normally."""
        return median(self.launch_costs) if self.launch_costs else self.first_cost_s

    @property
    def high_cost_s(self) -> float:
        """The overhead to allow for a launch that must not exceed the budget. On a busy machine, some
        launches cost twice as much as others."""
        costs = sorted([self.first_cost_s, *self.launch_costs])
        return costs[math.ceil(COST_QUANTILE * len(costs)) - 1]

    @property
    def is_overrunning(self) -> bool:
        """Whether launches exceed their time because their cases cannot be shortened any further."""
        return self.min_case_s > 0

    def launch_budget(self, cases: int, remaining_cases: int, remaining_launches: int) -> float:
        """Return the measuring time of a launch of `cases` of the `remaining_cases`. The `remaining_launches`
        include this one."""
        if not self.is_shared:
            return max(0.0, self.total_s - self.elapsed_s)
        usable_s = self.total_s - self.reserve_s - self.elapsed_s - self.cost_s * remaining_launches
        overrun = max(1.0, fmean(self.excess_ratios)) if self.excess_ratios else 1.0
        return max(MIN_LAUNCH_CASE_S * cases, usable_s * cases / remaining_cases / overrun)

    def launch_limit(self, cases: Sequence[Case]) -> float:
        """Return the time (s) after which a launch that starts now begins no further case, so that it ends
        within the budget; 0 without a limit. The launch has time to run each case at least once."""
        if not self.is_shared:
            return 0.0
        return max(self.total_s - self.elapsed_s - self.high_cost_s, min_launch_seconds(cases))

    def exclude(self, seconds: float) -> None:
        """Exclude time from the budget, such as waiting for a hung case."""
        self.start_s += seconds

    def is_exhausted(self, cases: int, launches: int = 1) -> bool:
        """Check whether the remaining time is too short for `launches` more launches of MIN_CASE_SHARE of
        `cases`, even if shortened."""
        if not self.launch_costs:
            return False
        min_s = self.min_case_s * cases
        if self.is_shared:
            min_s = max(MIN_CASE_SHARE * min_s, MIN_LAUNCH_CASE_S * cases)
        return self.elapsed_s + launches * (self.high_cost_s + min_s) > self.total_s

    def record_launch(self, budget_s: float, measuring_s: float, launch_s: float, cases: int) -> None:
        """Account for a launch that took `launch_s`, including `measuring_s` from the start of its first case
        to its last result."""
        self.launch_costs.append(max(0.0, launch_s - measuring_s))
        if budget_s > 0 and cases:
            self.excess_ratios.append(measuring_s / budget_s)
            if measuring_s > OVERRUN_FACTOR * budget_s:  # then this is the minimum time of a case
                case_s = measuring_s / cases
                self.min_case_s = min(case_s, self.min_case_s) if self.min_case_s else case_s


MIN_SIZES = 3


def thin_sizes(
    cases: Sequence[Case], catalog: Catalog, is_enough: Callable[[Sequence[Case]], bool]
) -> tuple[Case, ...]:
    """Drop as few sizes of each workload as possible until `is_enough` accepts the remaining cases. The
    remaining sizes are evenly spaced from the smallest to the largest; there are at least MIN_SIZES."""
    cases_by_curve: dict[Case, list[Case]] = {}
    for case in cases:
        cases_by_curve.setdefault(_curve_key(case, catalog), []).append(case)
    for curve in cases_by_curve.values():
        curve.sort(key=lambda case: catalog.entry(case.workload).size_of(case))
    remaining_cases: tuple[Case, ...] = tuple(cases)
    for count in range(max(map(len, cases_by_curve.values()), default=0), MIN_SIZES - 1, -1):
        selected = {case for curve in cases_by_curve.values() for case in thin_out(curve, count)}
        remaining_cases = tuple(case for case in cases if case in selected)
        if is_enough(remaining_cases):
            break
    return remaining_cases


def _curve_key(case: Case, catalog: Catalog) -> Case:
    size = catalog.entry(case.workload).size
    return case.with_parameter(size, 0) if size and size in case else case
