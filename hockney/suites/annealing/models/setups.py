# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What each set-up sends in a round, and for what it waits. One that is not listed has no prediction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hockney.suites.annealing.models.program import AnnealingProgram


@dataclass(frozen=True)
class Timetable:
    """Statistics of round r lead to the schedule of round r + 1 + `lag`. A rank begins a round if it has the
    schedule of the round that is `lead` before it; until a round's own arrives, it uses an estimate."""

    lag: int = 0
    lead: int = 0

    @property
    def behind(self) -> int:
        """The rounds between one and the last round whose statistics it needs."""
        return self.lag + self.lead + 1


def _at_once(program: AnnealingProgram) -> Timetable:
    return Timetable()


def _on_arrival(program: AnnealingProgram) -> Timetable:
    return Timetable(lag=program.lag) if program.lag else Timetable(lead=program.lead)


def _by_arrival(program: AnnealingProgram) -> Timetable:
    return Timetable(lead=program.lead)


def _later(program: AnnealingProgram) -> Timetable:
    return Timetable(lag=max(1, program.lag))


@dataclass(frozen=True)
class SetupModel:
    """`blocking`: the calls of a round return when their data have arrived. `collective`: they are collective
    operations instead of messages between the master and each worker. `silent`: there are none. `lags`: a
    case may name a lag. `simulated`: SimGrid's MPI has its calls."""

    timetable: Callable[[AnnealingProgram], Timetable] = _at_once
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
    "original": SetupModel(_at_once, blocking=True, collective=True),
    "estimated": SetupModel(_by_arrival),
    "decoupled": SetupModel(silent=True),
    "collective": SetupModel(_on_arrival, collective=True, lags=True),
    "persistent": SetupModel(_on_arrival, collective=True, lags=True, simulated=False),
    "lagged": SetupModel(_later, lags=True),
}
