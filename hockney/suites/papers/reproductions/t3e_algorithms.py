# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms of engine/coll on the simulated T3E: the cases to run, and the cost of each algorithm by
its messages alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hockney.core.catalog import Catalog
from hockney.core.platform import Platform
from hockney.core.smpi_algorithms import choose_algorithms
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import SCHEDULES, NotModelled
from hockney.models.schedules.smpi import SMPI_SCHEDULES
from hockney.reproductions.compared import Check, ComparedNumber, Statement
from hockney.reproductions.parts import Answer, Part
from hockney.suites.papers.reproductions.t3e_cases import (
    ALGORITHMS,
    MPI,
    OPERATIONS,
    PROCESSES,
    SIZE_TITLES,
    SIZES,
    default_sync,
    printed_row,
    rank_bytes,
)

SEPARATE_CALLS = (
    ("bcast", "scatter_allgather"),
    ("reduce", "linear"),
    ("reduce", "rabenseifner"),
    ("allreduce", "ring"),
    ("allreduce", "rabenseifner"),
)
"""Algorithms whose calls are timed separately. Either every rank waits for all others, so that little
overlaps, or the root is the last rank and all others would run far ahead of it in a loop."""
SEGMENTED_ALGORITHMS = (("bcast", "binary_tree"), ("bcast", "chain"))
MIN_UNSEGMENTED_PROCESSES = 64
"""Number of processes from which segments of a long message are not simulated, since each competes with
many others for the interfaces."""
MAX_MESSAGES = 100_000
"""Maximum messages of a simulated operation."""
MAX_SHORT_MESSAGES = 50_000
"""Maximum messages for 8 B and 1 KB, where this number takes milliseconds. It does not apply to an
all-to-all."""
MAX_PROCESSES = {"linear": 64, "pairwise_exchange": 128}
"""Maximum number of processes for which these all-to-alls are simulated with shares of any size."""
MAX_TORUS_BYTES = {"linear": 500_000, "pairwise_exchange": 100_000}
"""Maximum bytes of their simultaneous messages on more processes, since all of them share the torus."""
LOOP_CALLS = 64
"""Number of calls in a loop, as in the engine."""
TRANSIENT_CALLS = 8
"""Number of calls after which every further call takes the same time."""

MAX_EAGER_BYTES = 8192
"""Size of the largest message that is sent before its receiver is ready."""
SEPARATE_GATHER_PROCESSES = 64
"""Number of processes from which a Gather of a size between those of the tables is timed call by call. In
a loop, all of them would run far ahead of the root, which takes long to simulate. Allreduce, in which
nothing overlaps, is also timed call by call."""

CURVE_SIZES = (256, 2048, 4096, 16384, 65536, 262144)
"""Sizes of the figures, in addition to those of the tables."""
EXTRA_CURVES = {"alltoall": "bruck"}
"""Algorithms that have curves in addition to the machine's own."""


def machine_algorithm(platform: Platform, operation: str) -> str:
    """Returns the file of engine/coll whose algorithm sends the same messages as SimGrid's MPI on this
    machine; "" if there is none."""
    phases = SMPI_SCHEDULES.get((operation, choose_algorithms(platform.collectives)[operation]), ())
    names = [
        name
        for (schedule_operation, name), schedule in SCHEDULES.items()
        if (schedule_operation, (schedule,)) == (operation, phases)
    ]
    return names[0] if names else ""


def candidate_algorithms(catalog: Catalog, operation: str) -> list[str]:
    """Returns the algorithms of an operation in the engine, except MPI's own."""
    return [name for name in catalog.workload(operation).algorithms if name != MPI]


def requested_algorithms(answer: Answer, operation: str) -> list[str]:
    """Returns the algorithms of an operation in the part's cases."""
    return list(
        dict.fromkeys(str(case["algorithm"]) for case in answer.part.cases if case.workload == operation)
    )


def algorithm_sync(operation: str, algorithm: str, total: int, processes: int) -> str:
    """Returns the case's sync, which is that of MPI's operation unless the calls are timed separately. A
    message that waits for its receiver delays the next call."""
    if (operation, algorithm) in SEPARATE_CALLS or rank_bytes(operation, total, processes) > MAX_EAGER_BYTES:
        return "window"
    is_separate = operation == "allreduce" or (
        operation == "gather" and processes >= SEPARATE_GATHER_PROCESSES
    )
    if total in CURVE_SIZES and is_separate:
        return "window"
    return default_sync(operation, total, processes)


def algorithm_line(operation: str, algorithm: str, total: int, processes: int) -> str:
    size, case_sync = (
        rank_bytes(operation, total, processes),
        algorithm_sync(operation, algorithm, total, processes),
    )
    return f"{operation} algorithm={algorithm} bytes={size} sync={case_sync} ranks={processes}"


def is_simulated(operation: str, algorithm: str, total: int, processes: int) -> bool:
    """Returns whether this case is small enough."""
    size = rank_bytes(operation, total, processes)
    if (
        (operation, algorithm) in SEGMENTED_ALGORITHMS
        and total > SIZES["1KB"]
        and processes >= MIN_UNSEGMENTED_PROCESSES
    ):
        return False
    if operation == "alltoall" and processes > MAX_PROCESSES.get(algorithm, processes):
        rounds = 1 if algorithm == "linear" else processes - 1
        if size * processes * (processes - 1) // rounds > MAX_TORUS_BYTES[algorithm]:
            return False
    is_short = total <= SIZES["1KB"] and operation != "alltoall"
    return message_count(operation, algorithm, size, processes) <= (
        MAX_SHORT_MESSAGES if is_short else MAX_MESSAGES
    )


@cache
def message_count(operation: str, algorithm: str, size: int, processes: int) -> int:
    """Returns the number of messages of an operation; 0 if unknown."""
    steps = SCHEDULES[operation, algorithm](processes, size) if (operation, algorithm) in SCHEDULES else ()
    return sum(len(layer.source) for step in steps for layer in step.layers)


def part(catalog: Catalog, machine: Platform) -> Part:
    """Returns every algorithm at the sizes of the tables, and algorithms with curves also at sizes in
    between."""
    requested_cases = [
        (operation, algorithm, total)
        for operation in OPERATIONS
        for algorithm in candidate_algorithms(catalog, operation)
        for total in SIZES.values()
    ]
    requested_cases += [
        (operation, algorithm, total)
        for operation in OPERATIONS
        for algorithm in curve_algorithms(machine, operation)
        for total in CURVE_SIZES
    ]
    lines = [
        algorithm_line(operation, algorithm, total, p)
        for operation, algorithm, total in requested_cases
        for p in PROCESSES
        if is_simulated(operation, algorithm, total, p)
    ]
    return Part(ALGORITHMS, machine.name, tuple(map(catalog.case, dict.fromkeys(lines))))


def curve_algorithms(machine: Platform, operation: str) -> list[str]:
    """Returns the algorithms that have curves in the figures."""
    return [name for name in (machine_algorithm(machine, operation), EXTRA_CURVES.get(operation, "")) if name]


def seconds(answer: Answer, operation: str, algorithm: str, total: int, processes: int) -> float | None:
    if not is_simulated(operation, algorithm, total, processes):
        return None
    return answer.seconds(
        operation,
        algorithm=algorithm,
        bytes=rank_bytes(operation, total, processes),
        sync=algorithm_sync(operation, algorithm, total, processes),
        ranks=processes,
    )


def loggp_seconds(
    platform: Platform, operation: str, algorithm: str, total: int, processes: int
) -> float | None:
    """Returns the seconds of the algorithm's messages by their costs between two otherwise idle ranks
    (LogGP), without competition between messages. None if the schedule has no model."""
    calls = LOOP_CALLS if algorithm_sync(operation, algorithm, total, processes) == "loop" else 1
    size = rank_bytes(operation, total, processes)
    key = (platform.name, operation, algorithm, size, processes, calls)
    if key not in _LOGGP_SECONDS:
        _LOGGP_SECONDS[key] = _compute_loggp_seconds(platform, operation, algorithm, size, processes, calls)
    return _LOGGP_SECONDS[key]


_LOGGP_SECONDS: dict[tuple[object, ...], float | None] = {}


def _compute_loggp_seconds(
    platform: Platform, operation: str, algorithm: str, size: int, processes: int, calls: int
) -> float | None:
    schedule = SCHEDULES.get((operation, algorithm))
    if schedule is None:
        return None
    simulator = LogGPSimulator(platform, processes)
    try:
        steps = list(schedule(processes, size))
        end_times = [float(simulator.run(steps).max()) for _ in range(min(calls, TRANSIENT_CALLS))]
    except NotModelled:
        return None
    if calls <= TRANSIENT_CALLS:
        return end_times[-1] / calls
    first_calls = TRANSIENT_CALLS // 2
    seconds_per_call = (end_times[-1] - end_times[first_calls - 1]) / (TRANSIENT_CALLS - first_calls)
    return (end_times[-1] + (calls - TRANSIENT_CALLS) * seconds_per_call) / calls


def rows(answer: Answer) -> list[ComparedNumber]:
    """Returns a row for each algorithm and each printed time of a collective."""
    return [
        _algorithm_row(answer, operation, algorithm, size, p)
        for operation in OPERATIONS
        for algorithm in requested_algorithms(answer, operation)
        for size in SIZES
        for p in PROCESSES
    ]


def _algorithm_row(
    answer: Answer, operation: str, algorithm: str, size: str, processes: int
) -> ComparedNumber:
    row, total = printed_row(operation, size, processes), SIZES[size]
    is_small = is_simulated(operation, algorithm, total, processes)
    return ComparedNumber(
        row.key,
        f"{OPERATIONS[operation]}, {SIZE_TITLES[size]}, {processes} processes",
        row.si,
        seconds(answer, operation, algorithm, total, processes),
        loggp_seconds(answer.platform, operation, algorithm, total, processes),
        "s",
        "variant",
        f"algorithm={algorithm}",
        note="" if is_small else "not simulated: too many messages",
        table=f"algorithms of {OPERATIONS[operation]}",
        series="algorithms",
    )


def simgrid_check(comparisons: Sequence[ComparedNumber], machine: Platform, tolerance: float) -> Check:
    """Checks whether each algorithm of SimGrid's MPI and the engine's algorithm with the same messages
    take the same time within `tolerance`."""
    simgrid_times = {row.key: row.simulated for row in comparisons if row.series == "collectives"}
    engine_rows = [
        row
        for row in comparisons
        if row.series == "algorithms"
        and row.mechanism == f"algorithm={machine_algorithm(machine, row.key.split('/')[2])}"
    ]
    pairs = [(row, simgrid_times.get(row.key)) for row in engine_rows]
    differences = [
        (abs(row.simulated / simgrid_s - 1), row) for row, simgrid_s in pairs if row.simulated and simgrid_s
    ]
    worst_difference = max(differences, key=lambda difference: difference[0], default=None)
    claim = f"the engine's algorithms take as long as SimGrid's, within {tolerance:.0%}"
    statement = Statement("same-as-simgrid", "", claim)
    if worst_difference is None:
        return statement.unknown()
    finding = (
        f"largest difference {worst_difference[0]:.2%} of {len(differences)}, {worst_difference[1].what}"
    )
    return statement.check(worst_difference[0] <= tolerance, finding)
