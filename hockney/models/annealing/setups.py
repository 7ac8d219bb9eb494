# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What each set-up sends in a round, and for what it waits. One that is not listed has no prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hockney.models.annealing.program import AnnealingProgram

Ahead = Callable[[AnnealingProgram], int | None]
"""How many rounds a rank may be ahead of the schedule it should use; None: it never waits for one."""


def _with_its_schedule(program: AnnealingProgram) -> int | None:
    return 0


def _never_waiting(program: AnnealingProgram) -> int | None:
    return None


def _one_round_behind(program: AnnealingProgram) -> int | None:
    return max(1, program.lag)


def _on_arrival(program: AnnealingProgram) -> int | None:
    """Without a lag, an estimate is used until the schedule arrives."""
    return program.lag or None


@dataclass(frozen=True)
class SetupModel:
    """`blocking`: the calls of a round return when their data have arrived. `collective`: they are collective
    operations instead of messages between the master and each worker. `silent`: there are none. `lags`: a
    case may name a lag. `simulated`: SimGrid's MPI has its calls."""

    ahead: Ahead
    blocking: bool = False
    collective: bool = False
    silent: bool = False
    lags: bool = False
    simulated: bool = True

    @property
    def tests(self) -> bool:
        """Whether it can test for messages during the steps."""
        return not self.blocking and not self.silent


SETUPS: Mapping[str, SetupModel] = {
    "original": SetupModel(_with_its_schedule, blocking=True, collective=True),
    "estimated": SetupModel(_never_waiting),
    "decoupled": SetupModel(_never_waiting, silent=True),
    "collective": SetupModel(_on_arrival, collective=True, lags=True),
    "persistent": SetupModel(_on_arrival, collective=True, lags=True, simulated=False),
    "lagged": SetupModel(_one_round_behind, lags=True),
}
