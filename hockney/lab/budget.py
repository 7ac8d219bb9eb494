# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Sharing out the time: what a launch may measure, given what is left and what launches have cost so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import fmean, median

TOLERANCE = 0.2
"""The promise: measuring takes the budget, at most a fifth more."""
OVERRUN = 1.3
"""A launch that took so many times its time could not hurry: setting up and checking a case costs too."""


@dataclass
class Budget:
    """`total_s` for everything, launches' starting and ending included. `costs` are what finished launches
    took beyond the time their cases had, `excess` the ratio of the time cases took to the time given,
    `floor_s` the least time a case takes where that ratio shows one. Where it is not `shared`, each launch
    may use all that is left: simulated cases have their few repetitions and end."""

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
        """For another round from now on, knowing what launches and cases have cost so far."""
        return replace(self, total_s=total_s)

    @property
    def elapsed_s(self) -> float:
        return self.now() - self.began

    @property
    def cost_s(self) -> float:
        """What a launch costs by itself, as measured: the median, which one that did not end hardly moves."""
        return median(self.costs) if self.costs else self.first_cost_s

    def share(self, cases: int, cases_left: int, launches_left: int) -> float:
        """Measuring time for a launch of `cases` of `cases_left` in `launches_left`, itself included."""
        if not self.shared:
            return max(0.0, self.limit_s - self.elapsed_s)
        usable = self.total_s - self.elapsed_s - self.cost_s * launches_left
        overrun = max(1.0, fmean(self.excess)) if self.excess else 1.0
        least = 1e-4 * cases
        return max(least, usable * cases / cases_left / overrun)

    def exhausted(self, cases: int) -> bool:
        """Whether another launch, of `cases`, would break the promise even if hurried."""
        return bool(self.costs) and self.elapsed_s + self.cost_s + self.floor_s * cases > self.limit_s

    @property
    def limit_s(self) -> float:
        """No launch starts that is expected to end later; a little is kept back for what is not predicted."""
        return self.total_s * (1 + 0.75 * TOLERANCE)

    def spent(self, given_s: float, measuring_s: float, launch_s: float, cases: int) -> None:
        """A launch took `launch_s`, `measuring_s` of it between its first case's start and its end."""
        self.costs.append(max(0.0, launch_s - measuring_s))
        if given_s > 0 and cases:
            self.excess.append(measuring_s / given_s)
            if measuring_s > OVERRUN * given_s:  # then this is what a case takes at least
                floor = measuring_s / cases
                self.floor_s = min(floor, self.floor_s) if self.floor_s else floor
