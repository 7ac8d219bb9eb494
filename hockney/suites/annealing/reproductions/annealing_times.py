# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the reproduction of annealing reads from table 1 and from its simulated runs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from hockney import reference
from hockney.core.case import Value
from hockney.core.record import Record
from hockney.reference.published import PrintedRow
from hockney.reproductions.parts import Answer

PRINTED = reference.published("annealing")
WORKLOAD = "annealing"
SHORTENED = 20
"""Rounds are alike: so many times fewer are simulated, and times on the cluster count so many times."""
ORIGINAL, ESTIMATED, DECOUPLED = SETUPS = ("original", "estimated", "decoupled")
"""The paper's and the engine's names."""
COMPUTATION, COMMUNICATION = KINDS = ("computation", "communication")
PARTS = {COMPUTATION: ("computation",), COMMUNICATION: ("posting", "testing", "waiting", "balancing")}
"""What they consist of: the engine's names for the parts of a rank's time."""
MASTER, WORKER = PROCESSES = ("master", "worker")


def printed(setup: str, kind: str, process: str) -> PrintedRow:
    """A cell of table 1."""
    return PRINTED.row(f"annealing/table-1/{setup}/{kind}/{process}")


def record(answer: Answer, **fixed: Value) -> Record | None:
    """The first record of a case, if any; a simulation repeats itself, so any record is as good."""
    return next(iter(answer.records(WORKLOAD, **fixed)), None)


def on_ranks(found: Record, part: str) -> list[float]:
    """A part of the time on each rank, in the first repetition."""
    return found.metrics[f"rank_{part}"].values[: found.parsed_case().ranks]


def spent(answer: Answer, setup: str, kind: str, process: str) -> float | None:
    """Seconds of computation or communication on the cluster, of the master or the mean of the workers."""
    found = record(answer, setup=setup)
    if found is None:
        return None
    return SHORTENED * kind_on(found, kind, process)


def kind_on(found: Record, kind: str, process: str) -> float:
    """Seconds of a run as simulated."""
    seconds = [sum(each) for each in zip(*(on_ranks(found, part) for part in PARTS[kind]), strict=True)]
    return seconds[0] if process == MASTER else fmean(seconds[1:])


def change(answer: Answer, kind: str, process: str = MASTER, since: str = ORIGINAL) -> float | None:
    """Seconds that the estimated set-up spends more than another one."""
    after, before = (spent(answer, setup, kind, process) for setup in (ESTIMATED, since))
    return None if after is None or before is None else after - before


def printed_change(kind: str, process: str = MASTER, since: str = ORIGINAL) -> float:
    return printed(ESTIMATED, kind, process).si - printed(since, kind, process).si


def share(answer: Answer, setup: str, process: str) -> float | None:
    """Communication, of the time of a process."""
    times = [spent(answer, setup, kind, process) for kind in KINDS]
    known = [time for time in times if time is not None]
    return known[1] / sum(known) if len(known) == len(KINDS) else None


def steps_per_second(answer: Answer, setup: str, **fixed: Value) -> float | None:
    """Steps of all processes until the last one has ended."""
    found = record(answer, setup=setup, **fixed)
    return None if found is None else found.metrics["total_steps"].values[0] / found.times_s[0]


def energies(answer: Answer, setup: str) -> dict[float, float]:
    """The lowest energy that each seed found."""
    found = record(answer, setup=setup)
    if found is None:
        return {}
    return dict(zip(found.metrics["run_seed"].values, found.metrics["best_energy"].values, strict=True))


def seconds_of_round(answer: Answer, setup: str, **fixed: Value) -> float | None:
    seconds = answer.seconds(WORKLOAD, setup=setup, **fixed)
    return (
        None
        if seconds is None
        else seconds / answer.case(WORKLOAD, setup=setup, **fixed).number("temperatures")
    )


def gain(answer: Answer, setup: str = ESTIMATED, **fixed: Value) -> float | None:
    """How many more steps a second a set-up makes than the original one: 0.01 for one percent more."""
    rates = [steps_per_second(answer, name, **fixed) for name in (setup, ORIGINAL)]
    known = [rate for rate in rates if rate is not None]
    return known[0] / known[1] - 1 if len(known) == len(rates) else None


def course(
    answer: Answer, setup: str, most: int, times: int = 1, **fixed: Value
) -> Sequence[tuple[float, float]]:
    """Seconds, and the steps of all processes until then, at the end of at most `most` rounds: when they were
    made, in the mean of the processes, not when the master learned of them. Both count so many times."""
    found = record(answer, setup=setup, **fixed)
    if found is None:
        return ()
    ends, steps = (found.metrics[name].values for name in ("round_made", "round_steps"))
    every = max(1, len(ends) // most)
    chosen = zip(ends[every - 1 :: every], steps[every - 1 :: every], strict=True)
    return ((0.0, 0.0), *((times * end, times * made) for end, made in chosen))
