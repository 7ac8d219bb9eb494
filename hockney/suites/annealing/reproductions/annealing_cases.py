# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the reproduction of annealing, with what is assumed where the paper prints nothing, and what
is read from table 1 and from the simulated runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from hockney import reference
from hockney.core.case import Case, Value
from hockney.core.catalog import Catalog
from hockney.core.record import Record
from hockney.machines import simulated
from hockney.reference.papers import PrintedRow
from hockney.reproductions.parts import Answer, Part

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

CLUSTER, OFFLOAD, T3D = "cluster", "offload", "t3d"
NODES = 4
WALKERS = 64
ROUNDS = 10_000
STEPS = 190
"""Of each walker in a round: a process computes for about 30 ms between two messages."""
ROUNDS_OF = {CLUSTER: ROUNDS, "few-rounds": 5_000, "many-rounds": 20_000, OFFLOAD: ROUNDS}
"""By part. Variants of the machine are fitted with other numbers of rounds; the steps are as many in all."""

SMALL, LARGE = 32, 128
T3D_WALKERS, T3D_ROUNDS = 512, 40
"""The paper: a larger ensemble."""
T3D_STEPS = (STEPS, STEPS // 4, STEPS * 4)
T3D_VARIANTS = {
    "t3d-linear": "t3d+linear-gather",
    "t3d-long-calls": "t3d+long-calls",
    "t3d-both": "t3d+linear-gather+long-calls",
}
"""By part, the machines."""
QUALITY = "quality"
QUALITY_SETUPS = (ORIGINAL, ESTIMATED)
SEEDS = 30
QUALITY_ROUNDS, QUALITY_STEPS = 60, 20
"""Few rounds, so that the optimum is not always found."""


def parts(catalog: Catalog) -> list[Part]:
    """The set-ups on the described machines, and on their variants."""
    cluster = {name: "ppro-ethernet" if name == CLUSTER else f"ppro-ethernet+{name}" for name in ROUNDS_OF}
    t3d = {T3D: "t3d", **T3D_VARIANTS}
    return [
        *(
            Part(name, machine, tuple(_on_cluster(catalog, name, machine)))
            for name, machine in cluster.items()
        ),
        *(Part(name, machine, tuple(_on_t3d(catalog, machine))) for name, machine in t3d.items()),
        Part(QUALITY, "ppro-ethernet", tuple(_annealed(catalog, "ppro-ethernet"))),
    ]


def _annealed(catalog: Catalog, machine: str) -> Iterator[Case]:
    """Steps are computed, with several seeds."""
    step_s = 1 / simulated.platform(machine).rates[WORKLOAD]
    for setup in QUALITY_SETUPS:
        yield catalog.case(
            f"{WORKLOAD} setup={setup} walkers={WALKERS} steps={QUALITY_STEPS} "
            f"temperatures={QUALITY_ROUNDS} seeds={SEEDS} step_s={step_s:.6g} ranks={NODES}"
        )


def _on_cluster(catalog: Catalog, part: str, machine: str) -> Iterator[Case]:
    rounds = ROUNDS_OF[part]
    for setup in SETUPS:
        simulated_ones, steps = rounds // SHORTENED, STEPS * ROUNDS // rounds
        yield _case(catalog, machine, setup, NODES, WALKERS, simulated_ones, steps)


def _on_t3d(catalog: Catalog, machine: str) -> Iterator[Case]:
    for steps in T3D_STEPS if machine == "t3d" else T3D_STEPS[:1]:
        for processes in (SMALL, LARGE):
            for setup in SETUPS:
                yield _case(catalog, machine, setup, processes, T3D_WALKERS, T3D_ROUNDS, steps)


def _case(
    catalog: Catalog, machine: str, setup: str, processes: int, walkers: int, rounds: int, steps: int
) -> Case:
    """Every message is sent, but no step is computed. Workers are never held back by the master, which
    balances their load, as the paper's program does."""
    balance = "no" if setup == DECOUPLED else "yes"
    step_s = 1 / simulated.platform(machine).rates[WORKLOAD]
    return catalog.case(
        f"{WORKLOAD} setup={setup} walkers={walkers} steps={steps} temperatures={rounds} lead={rounds} "
        f"schedule=geometric cooling=0.9999 arithmetic=none balance={balance} step_s={step_s:.6g} "
        f"ranks={processes}"
    )


def printed(setup: str, kind: str, process: str) -> PrintedRow:
    """A cell of table 1."""
    return PRINTED.row(f"annealing/table-1/{setup}/{kind}/{process}")


def record(answer: Answer, **fixed: Value) -> Record | None:
    """The first record of a case, if any; a simulation repeats itself, so any record is as good."""
    return next(iter(answer.records(WORKLOAD, **fixed)), None)


def on_ranks(found: Record, part: str) -> list[float]:
    """A part of the time on each rank, in the first repetition."""
    return found.metrics[f"rank_{part}"].values[: found.parse_case().ranks]


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
