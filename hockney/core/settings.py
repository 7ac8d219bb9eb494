# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of a run: the first part of `plan.txt`, and the method section of a report; and limits of its
options."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hockney.core.case import Case
from hockney.core.launch_setting import launch_settings, unknown_launch_setting
from hockney.core.launcher_options import LauncherOptions, parse_launcher_options
from hockney.core.layout import HostOptions

MAX_ROUNDS = 10_000
MAX_LAUNCHES = 1000
MAX_NODES = 1_000_000
MAX_SEED = 2**63 - 1
MAX_CLOCK_DIFFERENCE_S = 3600.0
"""A date farther in the future comes from a wrong clock."""


MAX_PLANNED_LAUNCHES = 10_000
DEFAULT_PRECISION = 0.02
"""Target of all runs for which no precision is requested."""
MIN_LAUNCHES = 3
"""From this number of launches on, an interval includes differences between launches."""


@dataclass(frozen=True)
class Settings:
    """How a run is measured. `mpi` and `machine` are as typed (empty: hockney chooses). Times are in seconds.

    If `every_s` is not 0, the run is repeated over a period: its `launches` are rounds that begin at this
    interval, and `budget_s` applies to each. With `through_s` it ends after that period. With `extend`,
    additional launches follow while time is left and cases are less precise than required. With `refine`,
    sizes are added around changes of a cost. `mpiexec_args` and `variables` (NAME=VALUE) are the user's
    additions to the launch command, as typed; `label` is the user's name for the run. `launch_settings` are
    the lines of the settings that cases name (`core.launch_setting`). `programs` are the descriptions of the
    programs that cases name, each as its name and the tables of its file as JSON.

    `nodes`, `ranks_per_node`, `hosts`, `starter` and `agent` choose the hosts (`core.layout.HostOptions`).
    `assume_network` accepts a simulated machine whose network has not been measured. `interleaved` is the
    same text in both runs of an interleaved comparison, otherwise empty. Their launches alternated, so that
    launch k of one run is adjacent to launch k of the other. `mark` proves that this user typed the settings
    that name programs.
    """

    study: str
    budget_s: float = 60.0
    precision: float = DEFAULT_PRECISION
    launches: int = 3
    seed: int = 0
    bind: bool = True
    mpi: str = ""
    machine: str = ""
    every_s: float = 0.0
    through_s: float = 0.0
    extend: bool = False
    refine: bool = False
    mpiexec_args: str = ""
    variables: tuple[str, ...] = ()
    label: str = ""
    launch_settings: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    nodes: int = 0
    ranks_per_node: int = 0
    hosts: tuple[str, ...] = ()
    starter: str = ""
    agent: str = ""
    assume_network: bool = False
    interleaved: str = ""
    mark: str = ""

    @property
    def setting_out_of_range(self) -> str:
        """Name of a setting with a value that no option accepts; "" if there is none."""
        limits = {
            "budget_s": 0 <= self.budget_s < math.inf,
            "precision": 0 < self.precision <= 1,
            "launches": 0 <= self.launches <= MAX_PLANNED_LAUNCHES,
            "seed": 0 <= self.seed < 2**63,
            "every_s": 0 <= self.every_s < math.inf,
            "through_s": 0 <= self.through_s < math.inf,
            "nodes": 0 <= self.nodes <= MAX_NODES,
            "ranks_per_node": 0 <= self.ranks_per_node <= MAX_NODES,
        }
        return next((name for name, is_valid in limits.items() if not is_valid), "")

    @property
    def total_s(self) -> float:
        """Time for all measurements."""
        return self.budget_s * (self.launches if self.every_s else 1)

    def variables_of(self, case: Case) -> tuple[tuple[str, str], ...]:
        """Return the variables of the case's launch setting. Raises UsageError."""
        if not case.setting:
            return ()
        declared = launch_settings(self.launch_settings)
        if case.setting not in declared:
            raise unknown_launch_setting(case.setting, declared)
        return declared[case.setting].variables

    @property
    def host_options(self) -> HostOptions:
        return HostOptions(self.nodes, self.ranks_per_node, self.hosts, self.starter, self.agent)

    @property
    def launcher(self) -> LauncherOptions:
        """The user's additions to the launch command. Raises UsageError."""
        return parse_launcher_options(self.mpiexec_args, self.variables)
