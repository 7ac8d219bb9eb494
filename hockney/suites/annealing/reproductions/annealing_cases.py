# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the reproduction of annealing, the assumptions about values that the paper does not print,
and the values of table 1 and of the simulated runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean

from hockney import reference
from hockney.core.case import Case, Value
from hockney.core.catalog import Catalog
from hockney.core.record import Record
from hockney.machines import simulated
from hockney.reference.papers import PrintedRow
from hockney.reproductions.compared import values_if_complete
from hockney.reproductions.parts import Answer, Part

PAPER_VALUES = reference.published("annealing")
WORKLOAD = "annealing"
SHORTENING_FACTOR = 20
"""Ratio of the paper's rounds to the simulated ones. Rounds are alike, so times on the cluster are scaled
by it."""
ORIGINAL, ESTIMATED, DECOUPLED = SETUPS = ("original", "estimated", "decoupled")
"""The names in the paper and in the engine."""
COMPUTATION, COMMUNICATION = KINDS = ("computation", "communication")
PARTS_BY_KIND = {COMPUTATION: ("computation",), COMMUNICATION: ("posting", "testing", "waiting", "balancing")}
"""The engine's names for the parts of each kind of time."""
MASTER, WORKER = PROCESSES = ("master", "worker")

CLUSTER, OFFLOAD, T3D = "cluster", "offload", "t3d"
NODES = 4
WALKERS = 64
ROUNDS = 10_000
STEPS = 190
"""Steps of each walker in a round. A process computes for about 30 ms between two messages."""
ROUNDS_BY_PART = {CLUSTER: ROUNDS, "few-rounds": 5_000, "many-rounds": 20_000, OFFLOAD: ROUNDS}
"""Rounds by part. Variants of the machine are fitted with other numbers of rounds and the same total
number of steps."""

FEW_PROCESSORS, MANY_PROCESSORS = 32, 128
T3D_WALKERS, T3D_ROUNDS = 512, 40
"""Assumed values: the paper only states that the ensemble was larger."""
T3D_STEPS = (STEPS, STEPS // 4, STEPS * 4)
T3D_VARIANTS = {
    "t3d-linear": "t3d+linear-gather",
    "t3d-long-calls": "t3d+long-calls",
    "t3d-both": "t3d+linear-gather+long-calls",
}
"""Machines by part."""
QUALITY = "quality"
QUALITY_SETUPS = (ORIGINAL, ESTIMATED)
SEEDS = 30
QUALITY_ROUNDS, QUALITY_STEPS = 60, 20
"""Values low enough that the optimum is not always found."""


def parts(catalog: Catalog) -> list[Part]:
    """Returns the set-ups on the described machines, and on their variants."""
    cluster_machines = {
        name: "ppro-ethernet" if name == CLUSTER else f"ppro-ethernet+{name}" for name in ROUNDS_BY_PART
    }
    t3d_machines = {T3D: "t3d", **T3D_VARIANTS}
    return [
        *(
            Part(name, machine, tuple(_cluster_cases(catalog, name, machine)))
            for name, machine in cluster_machines.items()
        ),
        *(Part(name, machine, tuple(_t3d_cases(catalog, machine))) for name, machine in t3d_machines.items()),
        Part(QUALITY, "ppro-ethernet", tuple(_quality_cases(catalog, "ppro-ethernet"))),
    ]


def _quality_cases(catalog: Catalog, machine: str) -> Iterator[Case]:
    """Yields cases whose steps are computed, with several seeds."""
    step_s = 1 / simulated.platform(machine).rates[WORKLOAD]
    for setup in QUALITY_SETUPS:
        yield catalog.case(
            f"{WORKLOAD} setup={setup} walkers={WALKERS} steps={QUALITY_STEPS} "
            f"temperatures={QUALITY_ROUNDS} seeds={SEEDS} step_s={step_s:.6g} ranks={NODES}"
        )


def _cluster_cases(catalog: Catalog, part: str, machine: str) -> Iterator[Case]:
    rounds = ROUNDS_BY_PART[part]
    for setup in SETUPS:
        simulated_rounds, steps = rounds // SHORTENING_FACTOR, STEPS * ROUNDS // rounds
        yield _case(catalog, machine, setup, NODES, WALKERS, simulated_rounds, steps)


def _t3d_cases(catalog: Catalog, machine: str) -> Iterator[Case]:
    for steps in T3D_STEPS if machine == "t3d" else T3D_STEPS[:1]:
        for processes in (FEW_PROCESSORS, MANY_PROCESSORS):
            for setup in SETUPS:
                yield _case(catalog, machine, setup, processes, T3D_WALKERS, T3D_ROUNDS, steps)


def _case(
    catalog: Catalog, machine: str, setup: str, processes: int, walkers: int, rounds: int, steps: int
) -> Case:
    """Returns a case in which every message is sent but no step is computed. As in the paper's program,
    the master balances the load of the workers, so it never delays them."""
    balance = "no" if setup == DECOUPLED else "yes"
    step_s = 1 / simulated.platform(machine).rates[WORKLOAD]
    return catalog.case(
        f"{WORKLOAD} setup={setup} walkers={walkers} steps={steps} temperatures={rounds} lead={rounds} "
        f"schedule=geometric cooling=0.9999 arithmetic=none balance={balance} step_s={step_s:.6g} "
        f"ranks={processes}"
    )


def printed_row(setup: str, kind: str, process: str) -> PrintedRow:
    """Returns a cell of table 1."""
    return PAPER_VALUES.row(f"annealing/table-1/{setup}/{kind}/{process}")


def first_record(answer: Answer, **parameters: Value) -> Record | None:
    """Returns the first record of a case, if any. Repetitions of a simulation are identical."""
    return next(iter(answer.records(WORKLOAD, **parameters)), None)


def spent_seconds(answer: Answer, setup: str, kind: str, process: str) -> float | None:
    """Returns the seconds of computation or communication on the cluster, of the master or the mean of the
    workers."""
    record = first_record(answer, setup=setup)
    if record is None:
        return None
    return SHORTENING_FACTOR * kind_seconds(record, kind, process)


def kind_seconds(record: Record, kind: str, process: str) -> float:
    """Returns the simulated seconds of the first repetition."""
    ranks = record.parse_case().ranks
    values_by_part = (record.metrics[f"rank_{part}"].values[:ranks] for part in PARTS_BY_KIND[kind])
    seconds = [sum(rank_parts) for rank_parts in zip(*values_by_part, strict=True)]
    return seconds[0] if process == MASTER else fmean(seconds[1:])


def time_change(answer: Answer, kind: str, process: str = MASTER, baseline: str = ORIGINAL) -> float | None:
    """Returns the difference in seconds between the estimated set-up and `baseline`."""
    seconds = values_if_complete(
        spent_seconds(answer, setup, kind, process) for setup in (ESTIMATED, baseline)
    )
    return seconds[0] - seconds[1] if seconds else None


def printed_time_change(kind: str, process: str = MASTER, baseline: str = ORIGINAL) -> float:
    return printed_row(ESTIMATED, kind, process).si - printed_row(baseline, kind, process).si


def communication_share(answer: Answer, setup: str, process: str) -> float | None:
    """Returns communication as a share of a process's time."""
    times = values_if_complete(spent_seconds(answer, setup, kind, process) for kind in KINDS)
    return times[1] / sum(times) if times else None


def steps_per_second(answer: Answer, setup: str, **parameters: Value) -> float | None:
    """Returns the steps of all processes per second, until the last process has ended."""
    record = first_record(answer, setup=setup, **parameters)
    return None if record is None else record.metrics["total_steps"].values[0] / record.times_s[0]


def energies(answer: Answer, setup: str) -> dict[float, float]:
    """Returns the lowest energy by seed."""
    record = first_record(answer, setup=setup)
    if record is None:
        return {}
    return dict(zip(record.metrics["run_seed"].values, record.metrics["best_energy"].values, strict=True))


def round_seconds(answer: Answer, setup: str, **parameters: Value) -> float | None:
    seconds = answer.seconds(WORKLOAD, setup=setup, **parameters)
    rounds = answer.case(WORKLOAD, setup=setup, **parameters).number("temperatures")
    return None if seconds is None else seconds / rounds


def rate_gain(answer: Answer, setup: str = ESTIMATED, **parameters: Value) -> float | None:
    """Returns the relative gain in steps per second over the original set-up: 0.01 is one percent."""
    step_rates = values_if_complete(
        steps_per_second(answer, name, **parameters) for name in (setup, ORIGINAL)
    )
    return step_rates[0] / step_rates[1] - 1 if step_rates else None


def step_course(
    answer: Answer, setup: str, max_points: int, scale: int = 1, **parameters: Value
) -> Sequence[tuple[float, float]]:
    """Returns the time and the steps of all processes until then, at the end of at most `max_points`
    rounds, both multiplied by `scale`. The time is when the steps were made, averaged over the processes,
    not when the master received the report."""
    record = first_record(answer, setup=setup, **parameters)
    if record is None:
        return ()
    round_ends_s, steps = (record.metrics[name].values for name in ("round_made", "round_steps"))
    stride = max(1, len(round_ends_s) // max_points)
    points = zip(round_ends_s[stride - 1 :: stride], steps[stride - 1 :: stride], strict=True)
    return ((0.0, 0.0), *((scale * end, scale * count) for end, count in points))
