# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Allocation of measuring time: how long a launch may measure, given the remaining time and the cost of
launches so far."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from hockney.core.case import Case
from hockney.measurement.bench import Bench
from hockney.models.least_time import least_of
from hockney.store import Item, Plan

TOLERANCE = 0.05
"""The guarantee: launches take the budget, at most this fraction more."""
OVERRUN = 1.3
"""A launch that exceeded its time by this factor could not be shortened: setting up and checking a case takes
time too."""
CAREFUL = 0.9
"""Quantile of the costs of launches with which one must fit to be started."""

COMPLETING_S = 0.2
"""A launch that completes an earlier one measures at least this long: the cases of that one left time to one
another if they ended early."""

LEAST_S = 1e-4
"""A launch is given at least this time for each of its cases."""
WORTH_IT = 0.5
"""A launch is started for at least this fraction of its cases; the limit ends it."""


def share_of(plan: Plan, todo: Sequence[Item], whole: Sequence[Item], bench: Bench) -> float:
    """The time for `todo`, a part of the `whole` run, including that of the check and of starting launches:
    each measurement gets as long as in the whole run, but each launch at least `COMPLETING_S` and the
    shortest time that its cases can take. A simulation may use all of the run's budget: it ends after a few
    repetitions."""
    if not bench.machine.traits.wall_clock or len(todo) == len(whole):
        return plan.settings.budget_s
    measuring_s = plan.settings.budget_s - _starting_s(whole, bench)
    share_s = measuring_s * len(todo) / max(1, len(whole))
    launches_s = COMPLETING_S * len({item.launch for item in todo})
    return _starting_s(todo, bench) + max(share_s, launches_s, least_of(item.case for item in todo))


def _starting_s(items: Sequence[Item], bench: Bench) -> float:
    return bench.checked_s + bench.launch_cost_s * len({item.launch for item in items})


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
    began: float = field(init=False)
    floor_s: float = 0.0
    costs: list[float] = field(default_factory=list)
    excess: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.began = self.now()

    def again(self, total_s: float) -> Budget:
        """The budget of another round starting now, with the costs of launches and cases so far."""
        return replace(self, total_s=total_s)

    @property
    def elapsed_s(self) -> float:
        return self.now() - self.began

    @property
    def cost_s(self) -> float:
        """The measured overhead of a launch: the median, which is robust against a launch that did not end
        normally."""
        return median(self.costs) if self.costs else self.first_cost_s

    @property
    def careful_cost_s(self) -> float:
        """The same for a launch that must not exceed the budget: on a busy machine some cost twice as much
        as others."""
        known = sorted([self.first_cost_s, *self.costs])
        return known[math.ceil(CAREFUL * len(known)) - 1]

    @property
    def strained(self) -> bool:
        """Whether launches take longer than they should because their cases cannot be shortened any more."""
        return self.floor_s > 0

    def share(self, cases: int, cases_left: int, launches_left: int) -> float:
        """Measuring time for a launch of `cases` of `cases_left` in `launches_left`, including this one."""
        if not self.shared:
            return max(0.0, self.total_s - self.elapsed_s)
        usable = self.total_s - self.reserve_s - self.elapsed_s - self.cost_s * launches_left
        overrun = max(1.0, fmean(self.excess)) if self.excess else 1.0
        return max(LEAST_S * cases, usable * cases / cases_left / overrun)

    def limit(self, cases: Sequence[Case]) -> float:
        """Seconds of measuring after which a launch that starts now begins no other case, so that it ends
        within the budget; 0 without a limit. A launch that starts anyway has time for each case once."""
        if not self.shared:
            return 0.0
        return max(self.total_s - self.elapsed_s - self.careful_cost_s, least_of(cases))

    def excuse(self, seconds: float) -> None:
        """Time that does not count: that of waiting for a hung case."""
        self.began += seconds

    def exhausted(self, cases: int, launches: int = 1) -> bool:
        """Whether there is no time for WORTH_IT of another launch of `cases`, even if shortened, or of so
        many `launches` of them."""
        if not self.costs:
            return False
        least_s = self.floor_s * cases
        if self.shared:
            least_s = max(WORTH_IT * least_s, LEAST_S * cases)
        return self.elapsed_s + launches * (self.careful_cost_s + least_s) > self.total_s

    def spent(self, given_s: float, measuring_s: float, launch_s: float, cases: int) -> None:
        """Account for a launch that took `launch_s`, `measuring_s` of it between its first case's start and
        its end."""
        self.costs.append(max(0.0, launch_s - measuring_s))
        if given_s > 0 and cases:
            self.excess.append(measuring_s / given_s)
            if measuring_s > OVERRUN * given_s:  # then this is the minimum time of a case
                floor = measuring_s / cases
                self.floor_s = min(floor, self.floor_s) if self.floor_s else floor
