# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The rounds of an annealing as its case describes them, without any times, and what each set-up waits for.

A. Fachat, K. H. Hoffmann, "Blocking vs. Non-blocking Communication under MPI on a Master-Worker Problem" (TU
Chemnitz, 1998): the master sends the schedule of a round to the workers, and they return their statistics."""

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
"""Rounds that a rank may be ahead of the master's schedule, unless a case names another number."""


@dataclass(frozen=True)
class AnnealingProgram:
    """`rounds` rounds of `steps` steps of each of `walkers` walkers, which `ranks` ranks divide. A rank takes
    its share times as long for a step as the mean of the ranks: `shares`, empty if all are equal."""

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
        """Blocks of consecutive walkers, the larger ones first."""
        return self.walkers // self.ranks + (rank < self.walkers % self.ranks)

    @property
    def total_steps(self) -> int:
        """The steps of all walkers in all rounds."""
        return self.walkers * self.steps * self.rounds


def program_of(case: Case) -> AnnealingProgram | None:
    """The case's program; None if the ranks' times for a step are random, or if walkers move between them."""
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
    """The shares relative to their mean, from proportions such as 1:2; () if they are equal."""
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
    """Statistics of round r lead to the schedule of round r + 1 + `lag`. A rank begins a round if it has the
    schedule of the round that is `lead` before it; until a round's own arrives, it uses an estimate."""

    lag: int = 0
    lead: int = 0

    @property
    def rounds_behind(self) -> int:
        """The rounds between one and the last round whose statistics it needs."""
        return self.lag + self.lead + 1


def _lag_or_lead_timetable(program: AnnealingProgram) -> Timetable:
    return Timetable(lag=program.lag) if program.lag else Timetable(lead=program.lead)


def _lead_timetable(program: AnnealingProgram) -> Timetable:
    return Timetable(lead=program.lead)


def _lag_timetable(program: AnnealingProgram) -> Timetable:
    return Timetable(lag=max(1, program.lag))


@dataclass(frozen=True)
class SetupModel:
    """Without a `timetable`, no message is late. `blocking`: the calls of a round return when their data have
    arrived. `collective`: they are collective operations instead of messages between the master and each
    worker. `silent`: there are none. `has_lag`: a case may name a lag. `simulated`: SimGrid's MPI has its
    calls."""

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
