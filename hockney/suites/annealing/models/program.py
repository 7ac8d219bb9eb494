# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rounds of an annealing as its case describes them, without times, and the messages for which each
set-up waits.

A. Fachat, K. H. Hoffmann, "Blocking vs. Non-blocking Communication under MPI on a Master-Worker Problem"
(TU Chemnitz, 1998): the master sends the schedule of a round to the workers, and they return their
statistics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from hockney.core.case import Case

SCHEDULE_BYTES = 8 + 2 * 4
"""A double (temperature) and two integers (number of steps; flag)."""
STATISTICS_BYTES = 4 * 8 + 4
"""Four doubles (sums of the energies and of their squares, time of the simulation, best energy) and an
integer (accepted moves)."""
EQUAL_SHARES = "equal"
DEFAULT_LEAD = 4
"""Default number of rounds that a rank may be ahead of the master's schedule."""


@dataclass(frozen=True)
class AnnealingProgram:
    """`rounds` rounds of `steps` steps of each of `walkers` walkers, which are divided among `ranks`
    ranks. `shares` are the ranks' times for a step relative to their mean; empty if they are equal."""

    setup: str
    ranks: int
    walkers: int
    steps: int
    rounds: int
    lag: int = 0
    lead: int = DEFAULT_LEAD
    test_every: int = 0
    shares: tuple[float, ...] = ()

    def walkers_of(self, rank: int) -> int:
        """Returns a rank's number of walkers. The first ranks have the larger blocks."""
        return self.walkers // self.ranks + (rank < self.walkers % self.ranks)

    @property
    def total_steps(self) -> int:
        """The steps of all walkers in all rounds."""
        return self.walkers * self.steps * self.rounds


def program_of(case: Case) -> AnnealingProgram | None:
    """Returns the case's program; None if the ranks' times for a step are random, or if walkers move
    between ranks."""
    shares = _parse_shares(str(case["shares"]), case.ranks)
    if shares is None or case["balance"] != "no":
        return None
    return AnnealingProgram(
        setup=str(case["setup"]),
        ranks=case.ranks,
        walkers=int(case.number("walkers")),
        steps=int(case.number("steps")),
        rounds=int(case.number("temperatures")),
        lag=int(case.number("lag")),
        lead=int(case.number("lead", DEFAULT_LEAD)),
        test_every=int(case.number("test_every")),
        shares=shares,
    )


def _parse_shares(text: str, ranks: int) -> tuple[float, ...] | None:
    """Returns the shares relative to their mean, from proportions such as 1:2; () if they are equal, and
    None if they are not proportions."""
    if text == EQUAL_SHARES:
        return ()
    proportions = text.split(":")
    if len(proportions) != ranks or not proportions[0][:1].isdigit():
        return None
    values = [float(proportion) for proportion in proportions]
    mean = sum(values) / len(values)
    return tuple(value / mean for value in values)


@dataclass(frozen=True)
class Timetable:
    """The rounds for which ranks wait. Statistics of round r determine the schedule of round r + 1 +
    `lag`. A rank begins a round once it has the schedule of the round `lead` rounds earlier. It uses an
    estimate until the round's own schedule arrives."""

    lag: int = 0
    lead: int = 0

    @property
    def rounds_behind(self) -> int:
        """The distance from a round to the last round whose statistics it needs."""
        return self.lag + self.lead + 1


def _lag_or_lead_timetable(program: AnnealingProgram) -> Timetable:
    return Timetable(lag=program.lag) if program.lag else Timetable(lead=program.lead)


def _lead_timetable(program: AnnealingProgram) -> Timetable:
    return Timetable(lead=program.lead)


def _lag_timetable(program: AnnealingProgram) -> Timetable:
    return Timetable(lag=max(1, program.lag))


@dataclass(frozen=True)
class SetupModel:
    """The communication of a set-up. Without a `timetable`, messages are never late.

    A `blocking` set-up has calls that return when their data have arrived. A `collective` one uses
    collective operations instead of messages between the master and each worker, a `silent` one does not
    communicate. With `has_lag`, a case may specify a lag. `simulated` set-ups use only calls that
    SimGrid's MPI has."""

    timetable: Callable[[AnnealingProgram], Timetable] | None = None
    blocking: bool = False
    collective: bool = False
    silent: bool = False
    has_lag: bool = False
    simulated: bool = True

    @property
    def can_test(self) -> bool:
        """Whether it can test for messages during the steps."""
        return not self.blocking and not self.silent


SETUPS: Mapping[str, SetupModel] = {
    "original": SetupModel(blocking=True, collective=True),
    "estimated": SetupModel(_lead_timetable),
    "decoupled": SetupModel(silent=True),
    "collective": SetupModel(_lag_or_lead_timetable, collective=True, has_lag=True),
    "persistent": SetupModel(_lag_or_lead_timetable, collective=True, has_lag=True, simulated=False),
    "lagged": SetupModel(_lag_timetable, has_lag=True),
}
