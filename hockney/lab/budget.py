# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Allocation of measuring time: how long a launch may measure, given the remaining time and the cost of
launches so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import fmean, median

TOLERANCE = 0.2
"""The guarantee: measuring takes the budget, at most a fifth more."""
OVERRUN = 1.3
"""A launch that exceeded its time by this factor could not be shortened: setting up and checking a case takes
time too."""


@dataclass
class Budget:
    """`total_s` is the time for everything, including starting and ending launches. `costs` are the times of
    finished launches beyond the time of their cases, `excess` the ratio of the time cases took to the time
    they were given, `floor_s` the minimum time of a case once cases have exceeded theirs. Unless it is
    `shared`, each launch may use all the remaining time: simulated cases have a few repetitions and end."""

    total_s: float
    now: Callable[[], float] = time.monotonic
    first_cost_s: float = 0.0
    shared: bool = True
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

    def share(self, cases: int, cases_left: int, launches_left: int) -> float:
        """Measuring time for a launch of `cases` of `cases_left` in `launches_left`, including this one."""
        if not self.shared:
            return max(0.0, self.limit_s - self.elapsed_s)
        usable = self.total_s - self.elapsed_s - self.cost_s * launches_left
        overrun = max(1.0, fmean(self.excess)) if self.excess else 1.0
        least = 1e-4 * cases
        return max(least, usable * cases / cases_left / overrun)

    def exhausted(self, cases: int) -> bool:
        """Whether another launch, of `cases`, would exceed the budget even if shortened."""
        return bool(self.costs) and self.elapsed_s + self.cost_s + self.floor_s * cases > self.limit_s

    @property
    def limit_s(self) -> float:
        """No launch starts that is expected to end later; a small reserve is kept for what cannot be
        predicted."""
        return self.total_s * (1 + 0.75 * TOLERANCE)

    def spent(self, given_s: float, measuring_s: float, launch_s: float, cases: int) -> None:
        """Account for a launch that took `launch_s`, `measuring_s` of it between its first case's start and
        its end."""
        self.costs.append(max(0.0, launch_s - measuring_s))
        if given_s > 0 and cases:
            self.excess.append(measuring_s / given_s)
            if measuring_s > OVERRUN * given_s:  # then this is the minimum time of a case
                floor = measuring_s / cases
                self.floor_s = min(floor, self.floor_s) if self.floor_s else floor
