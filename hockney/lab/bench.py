# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Everything needed for measuring: a launcher, the engine's catalog, the machine, a clock, and the external
load."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from hockney import simulated
from hockney.core import launch_setting
from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.machine import Machine
from hockney.core.settings import FEWEST_LAUNCHES, Settings
from hockney.lab import messages
from hockney.lab.launch_count import TYPICAL_COST_S, launch_count, least_budget
from hockney.lab.machine_diff import refuse_too_many_ranks, refuse_too_much_memory
from hockney.launch.launcher import Launcher
from hockney.machine import Load, Moment, load_between, moment
from hockney.models.least_time import least_of

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Bench:
    """`launch_cost_s` is the measured cost of starting ranks, `checked_s` the time that `check` took for it.
    Budgets are kept by the clock `now`, and between rounds `wait` advances that clock by the given seconds.
    """

    launcher: Launcher
    catalog: Catalog
    machine: Machine
    launch_cost_s: float = 0.0
    now: Callable[[], float] = field(default=time.monotonic)
    wait: Callable[[float], None] = field(default=time.sleep)
    checked_s: float = 0.0

    def group_of(self, case: Case) -> str:
        """The executable that runs `case`."""
        return self.catalog.workload(case.workload).group

    def launch_of(self, case: Case) -> tuple[int, str, str]:
        """What all cases of a launch share: ranks, executable and launch setting."""
        return case.ranks, self.group_of(case), case.setting

    def launch_count(self, budget_s: float, cases: Sequence[Case]) -> int:
        """The number of launches of each of `cases` that fit into the budget."""
        cost_s = self.launch_cost_s or TYPICAL_COST_S
        return launch_count(budget_s, cost_s, self._groups(cases), len(cases), least_of(cases))

    def least_budget(self, settings: Settings, cases: Sequence[Case]) -> float:
        """The minimum of `--budget` (s) for `cases`: see `launch_count.least_budget`; 0 on a machine without
        one."""
        if not self.machine.traits.wall_clock:
            return 0.0
        launches = 1 if settings.every_s else settings.launches or FEWEST_LAUNCHES
        cost_s = self.launch_cost_s or TYPICAL_COST_S
        return self.checked_s + least_budget(launches, cost_s, self._groups(cases), least_of(cases))

    def _groups(self, cases: Sequence[Case]) -> int:
        """The number of launches that one round of `cases` needs."""
        return len({self.launch_of(case) for case in cases})

    def moment(self) -> Moment | None:
        return moment() if self.machine.traits.local else None

    def load(self, before: Moment | None) -> Load:
        """The external load since then; unknown on a machine that is not this host."""
        return Load(None, None) if before is None else load_between(before, moment())


def check_ranks(bench: Bench, most: int) -> None:
    """Raises UsageError if there are more ranks than this machine can run."""
    if bench.machine.platform is not None:
        simulated.check_ranks(bench.machine.platform, most)
    else:
        refuse_too_many_ranks(most, bench.machine)


def check_memory(bench: Bench, cases: Sequence[Case]) -> None:
    """Raises UsageError if a message does not fit into the memory of this machine. The memory of a simulated
    one has no limit."""
    if bench.machine.platform is None:
        refuse_too_much_memory(cases, bench.machine)


def check_settings(bench: Bench, cases: Sequence[Case], settings: Settings) -> None:
    """Raises UsageError for a launch setting that is not declared, that no case uses, or that the machine
    cannot have."""
    launch_setting.check_settings([case.setting for case in cases], settings.launch_settings)
    traits = bench.machine.traits
    if settings.launch_settings and not (traits.by_mpiexec or traits.invented):
        raise messages.no_mpiexec_on_machine(settings.machine)


def check(bench: Bench, cases: Sequence[Case]) -> Bench:
    """Check that the ranks of `cases` start, before anything is written. The returned bench has the cost of
    starting them, and its machine the transports that MPI reports.

    Raises UsageError if there are more ranks than this machine can run, EnvironmentProblem if they do not
    start.
    """
    most = max((case.ranks for case in cases), default=0)
    check_ranks(bench, most)
    if not cases:
        return bench
    began = bench.now()
    checked = bench.launcher.check(most)
    if not checked.hellos:
        return bench
    machine = msgspec.structs.replace(bench.machine, transport=dict(checked.transport))
    took_s = bench.now() - began
    return replace(bench, machine=machine, launch_cost_s=took_s, checked_s=took_s)
