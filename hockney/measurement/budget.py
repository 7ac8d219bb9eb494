# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time budget of a run: how many launches fit into it, which sizes to drop so that more do, and how long
each launch may measure.

Intervals are computed from launches, because pages, cores and start-up differ between them. With ten,
Student's t is small and one bad launch can be left out; there are more if a launch would last long, so that a
case is measured throughout the run. The overhead of a launch limits their number."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.settings import FEWEST_LAUNCHES
from hockney.core.units import thin_out
from hockney.models.least_time import least_of

TYPICAL_LAUNCHES = 10
MOST_LAUNCHES = 100
LONGEST_S = 6.0
"""Maximum time of measuring in one launch, if more launches are affordable."""
COST_SHARE = 0.2
"""Fraction of the budget for starting and ending launches."""
CASE_S = 0.02
"""Time of a case in a launch, for more than its first visit."""
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
    """The number of launches of each of `cases` cases. A round of them is `groups` launches that cost
    `cost_s` each; their shortest measurements take `least_s`."""
    by_cost = COST_SHARE * budget_s / (max(1, groups) * max(cost_s, 0.01))
    round_s = max(CASE_S * max(1, cases), RESERVE * least_s)
    affordable = min(by_cost, (1 - COST_SHARE) * budget_s / round_s)
    wanted = max(float(TYPICAL_LAUNCHES), budget_s / (LONGEST_S * max(1, groups)))
    return int(max(FEWEST_LAUNCHES, min(affordable, wanted, MOST_LAUNCHES)))


def least_budget(launches: int, cost_s: float, groups: int, least_s: float) -> float:
    """The shortest budget (s) in which `launches` rounds fit, or the fewest from which an interval includes
    the differences between launches, if `launches` are more."""
    return min(launches, FEWEST_LAUNCHES) * (groups * cost_s + least_s)


def most_repetitions(measurements: int) -> int:
    """The maximum number of repetitions of a case in a launch of a run with this many `measurements`."""
    return max(FEWEST_REPETITIONS, min(MOST_REPETITIONS, MOST_VALUES // max(1, measurements)))


TOLERANCE = 0.05
"""The guarantee: launches take the budget, at most this fraction more."""
OVERRUN = 1.3
"""A launch that exceeded its time by this factor could not be shortened: setting up and checking a case takes
time too."""
COST_QUANTILE = 0.9
"""A launch is started only if it fits with this quantile of the costs of earlier launches."""


LEAST_CASE_S = 1e-4
"""A launch is given at least this time for each of its cases."""
LEAST_CASE_SHARE = 0.5
"""A launch is started for at least this fraction of its cases; the limit ends it."""


@dataclass
class Budget:
    """`total_s` is the time for everything, including starting and ending launches. `costs` are the times of
    finished launches beyond the time of their cases, `excess` the ratio of the time cases took to the time
    they were given, `floor_s` the minimum time of a case once cases have exceeded theirs. Unless it is
    `shared`, each launch may use all the remaining time: simulated cases have a few repetitions and end.
    `reserve_s` is not divided among the planned launches: it is kept for those that follow them."""

    total_s: float
    now: Callable[[], float] = time.monotonic
    first_cost_s: float = 0.0
    shared: bool = True
    reserve_s: float = 0.0
    start_s: float = field(init=False)
    floor_s: float = 0.0
    costs: list[float] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.start_s = self.now()

    def next_round(self, total_s: float) -> Budget:
        """The budget of another round starting now, with the costs of launches and cases so far."""
        return replace(self, total_s=total_s)

    @property
    def elapsed_s(self) -> float:
        return self.now() - self.start_s

    @property
    def cost_s(self) -> float:
        """The measured overhead of a launch: the median, which is robust against a launch that did not end
        normally."""
        return median(self.costs) if self.costs else self.first_cost_s

    @property
    def high_cost_s(self) -> float:
        """The overhead to allow for a launch that must not exceed the budget: on a busy machine, some cost
        twice as much as others."""
        costs = sorted([self.first_cost_s, *self.costs])
        return costs[math.ceil(COST_QUANTILE * len(costs)) - 1]

    @property
    def overrunning(self) -> bool:
        """Whether launches take longer than they should because their cases cannot be shortened any more."""
        return self.floor_s > 0

    def share(self, cases: int, cases_left: int, launches_left: int) -> float:
        """Measuring time for a launch of `cases` of `cases_left` in `launches_left`, including this one."""
        if not self.shared:
            return max(0.0, self.total_s - self.elapsed_s)
        usable = self.total_s - self.reserve_s - self.elapsed_s - self.cost_s * launches_left
        overrun = max(1.0, fmean(self.excess)) if self.excess else 1.0
        return max(LEAST_CASE_S * cases, usable * cases / cases_left / overrun)

    def limit(self, cases: Sequence[Case]) -> float:
        """Seconds of measuring after which a launch that starts now begins no other case, so that it ends
        within the budget; 0 without a limit. A launch that starts anyway has time for each case once."""
        if not self.shared:
            return 0.0
        return max(self.total_s - self.elapsed_s - self.high_cost_s, least_of(cases))

    def exclude(self, seconds: float) -> None:
        """Exclude time from the budget: waiting for a hung case."""
        self.start_s += seconds

    def exhausted(self, cases: int, launches: int = 1) -> bool:
        """Whether the time left is too short for `launches` more launches of LEAST_CASE_SHARE of `cases`,
        even if shortened."""
        if not self.costs:
            return False
        least_s = self.floor_s * cases
        if self.shared:
            least_s = max(LEAST_CASE_SHARE * least_s, LEAST_CASE_S * cases)
        return self.elapsed_s + launches * (self.high_cost_s + least_s) > self.total_s

    def record_launch(self, given_s: float, measuring_s: float, launch_s: float, cases: int) -> None:
        """Account for a launch that took `launch_s`, `measuring_s` of it between its first case's start and
        its end."""
        self.costs.append(max(0.0, launch_s - measuring_s))
        if given_s > 0 and cases:
            self.excess.append(measuring_s / given_s)
            if measuring_s > OVERRUN * given_s:  # then this is the minimum time of a case
                floor = measuring_s / cases
                self.floor_s = min(floor, self.floor_s) if self.floor_s else floor


FEWEST_SIZES = 3


def thin_sizes(
    cases: Sequence[Case], catalog: Catalog, is_enough: Callable[[Sequence[Case]], bool]
) -> tuple[Case, ...]:
    """Drop as few sizes of each workload as needed until `is_enough` accepts the remaining cases. The sizes
    are evenly spread from the smallest to the largest; at least FEWEST_SIZES remain."""
    curves: dict[Case, list[Case]] = {}
    for case in cases:
        curves.setdefault(_curve_of(case, catalog), []).append(case)
    for curve in curves.values():
        curve.sort(key=lambda case: catalog.entry(case.workload).size_of(case))
    thinned: tuple[Case, ...] = tuple(cases)
    for count in range(max(map(len, curves.values()), default=0), FEWEST_SIZES - 1, -1):
        chosen = {case for curve in curves.values() for case in thin_out(curve, count)}
        thinned = tuple(case for case in cases if case in chosen)
        if is_enough(thinned):
            break
    return thinned


def _curve_of(case: Case, catalog: Catalog) -> Case:
    size = catalog.entry(case.workload).size
    return case.with_parameter(size, 0) if size and size in case else case
