# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The algorithms of engine/coll on the simulated T3E: which cases are run, and what the same algorithm would
cost by its messages alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from hockney.core.catalog import Catalog
from hockney.core.platform import Platform
from hockney.core.smpi_algorithms import choose_algorithms
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import SCHEDULES, NotModelled
from hockney.models.schedules.smpi import SMPI
from hockney.reproductions.compared import Check, ComparedNumber, Statement
from hockney.reproductions.parts import Answer, Part
from hockney.suites.papers.reproductions.t3e_cases import (
    ALGORITHMS,
    MPI,
    OPERATIONS,
    PROCESSES,
    SIZE_WORDS,
    SIZES,
    printed,
    share,
    sync,
)

SEPARATE_CALLS = (
    ("bcast", "scatter_allgather"),
    ("reduce", "linear"),
    ("reduce", "rabenseifner"),
    ("allreduce", "ring"),
    ("allreduce", "rabenseifner"),
)
"""Algorithms whose calls are timed separately: either every rank waits for all others, so that hardly
anything overlaps, or the root is the last one and all others would run far ahead of it in a loop."""
SEGMENTED = (("bcast", "binary_tree"), ("bcast", "chain"))
MANY_SEGMENTS = 64
"""Processes from which segments of a long message are not simulated: each competes with many others for the
interfaces."""
MAX_MESSAGES = 100_000
"""An operation with more messages is not simulated."""
MAX_SHORT_MESSAGES = 50_000
"""The same limit for 8 B and 1 KB, where this number of messages takes milliseconds; it does not apply to an
all-to-all."""
MAX_PROCESSES = {"linear": 64, "pairwise_exchange": 128}
"""The largest number of processes for which these all-to-alls are simulated with any share."""
MAX_TORUS_BYTES = {"linear": 500_000, "pairwise_exchange": 100_000}
"""Bytes that their messages may have at the same time on more processes: all of them share the torus."""
LOOP_CALLS = 64
"""Calls in a loop, as in the engine."""
SETTLED_CALLS = 8
"""Calls after which every further call takes the same time."""

LONG = 8192
"""The largest message that is sent ahead, in bytes."""
MANY_SENDERS = 64
"""Processes from which a Gather between the sizes of the tables is timed call by call: in a loop all of them
would run far ahead of the root, which takes long to simulate. So is Allreduce, in which nothing overlaps."""

CURVE_SIZES = (256, 2048, 4096, 16384, 65536, 262144)
"""Sizes of the figures, in addition to those of the tables."""
SECOND_CURVES = {"alltoall": "bruck"}
"""Algorithms that have curves in addition to the machine's own."""


def machine_algorithm(platform: Platform, operation: str) -> str:
    """The file of engine/coll that sends the messages of the algorithm which SimGrid's MPI uses on this
    machine; "" if there is none."""
    phases = SMPI.get((operation, choose_algorithms(platform.collectives)[operation]), ())
    names = [
        name for (each, name), schedule in SCHEDULES.items() if (each, (schedule,)) == (operation, phases)
    ]
    return names[0] if names else ""


def candidates(catalog: Catalog, operation: str) -> list[str]:
    """The algorithms of an operation in the engine, except MPI's own."""
    return [name for name in catalog.workload(operation).algorithms if name != MPI]


def requested_algorithms(answer: Answer, operation: str) -> list[str]:
    """The algorithms of an operation in the part's cases."""
    return list(dict.fromkeys(str(c["algorithm"]) for c in answer.part.cases if c.workload == operation))


def sync_of(operation: str, algorithm: str, total: int, processes: int) -> str:
    """The case's sync: as for MPI's operation, unless the algorithm is in SEPARATE_CALLS. A message that
    waits for its receiver delays the next call."""
    if (operation, algorithm) in SEPARATE_CALLS or share(operation, total, processes) > LONG:
        return "window"
    is_separate = operation == "allreduce" or (operation == "gather" and processes >= MANY_SENDERS)
    if total in CURVE_SIZES and is_separate:
        return "window"
    return sync(operation, total, processes)


def line(operation: str, algorithm: str, total: int, processes: int) -> str:
    size, case_sync = share(operation, total, processes), sync_of(operation, algorithm, total, processes)
    return f"{operation} algorithm={algorithm} bytes={size} sync={case_sync} ranks={processes}"


def is_simulated(operation: str, algorithm: str, total: int, processes: int) -> bool:
    """Whether this case is small enough."""
    size = share(operation, total, processes)
    if (operation, algorithm) in SEGMENTED and total > SIZES["1KB"] and processes >= MANY_SEGMENTS:
        return False
    if operation == "alltoall" and processes > MAX_PROCESSES.get(algorithm, processes):
        rounds = 1 if algorithm == "linear" else processes - 1
        if size * processes * (processes - 1) // rounds > MAX_TORUS_BYTES[algorithm]:
            return False
    is_short = total <= SIZES["1KB"] and operation != "alltoall"
    return messages(operation, algorithm, size, processes) <= (
        MAX_SHORT_MESSAGES if is_short else MAX_MESSAGES
    )


@cache
def messages(operation: str, algorithm: str, size: int, processes: int) -> int:
    """The number of messages of an operation; 0 if unknown."""
    steps = SCHEDULES[operation, algorithm](processes, size) if (operation, algorithm) in SCHEDULES else ()
    return sum(len(layer.source) for step in steps for layer in step.layers)


def part(catalog: Catalog, machine: Platform) -> Part:
    """Every algorithm at the sizes of the tables; algorithms with curves also at the sizes in between."""
    requested = [
        (o, a, total) for o in OPERATIONS for a in candidates(catalog, o) for total in SIZES.values()
    ]
    requested += [(o, a, total) for o in OPERATIONS for a in curves(machine, o) for total in CURVE_SIZES]
    lines = [
        line(o, a, total, p) for o, a, total in requested for p in PROCESSES if is_simulated(o, a, total, p)
    ]
    return Part(ALGORITHMS, machine.name, tuple(map(catalog.case, dict.fromkeys(lines))))


def curves(machine: Platform, operation: str) -> list[str]:
    """The algorithms that have curves in the figures."""
    return [
        name for name in (machine_algorithm(machine, operation), SECOND_CURVES.get(operation, "")) if name
    ]


def seconds(answer: Answer, operation: str, algorithm: str, total: int, processes: int) -> float | None:
    if not is_simulated(operation, algorithm, total, processes):
        return None
    return answer.seconds(
        operation,
        algorithm=algorithm,
        bytes=share(operation, total, processes),
        sync=sync_of(operation, algorithm, total, processes),
        ranks=processes,
    )


def from_messages(
    platform: Platform, operation: str, algorithm: str, total: int, processes: int
) -> float | None:
    """Seconds that the algorithm's messages take by their costs between two ranks alone (LogGP): no two
    messages compete. None if the schedule has no model."""
    calls = LOOP_CALLS if sync_of(operation, algorithm, total, processes) == "loop" else 1
    size = share(operation, total, processes)
    key = (platform.name, operation, algorithm, size, processes, calls)
    if key not in _FROM_MESSAGES:
        _FROM_MESSAGES[key] = _seconds_from_messages(platform, operation, algorithm, size, processes, calls)
    return _FROM_MESSAGES[key]


_FROM_MESSAGES: dict[tuple[object, ...], float | None] = {}


def _seconds_from_messages(
    platform: Platform, operation: str, algorithm: str, size: int, processes: int, calls: int
) -> float | None:
    schedule = SCHEDULES.get((operation, algorithm))
    if schedule is None:
        return None
    simulator = LogGPSimulator(platform, processes)
    try:
        steps = list(schedule(processes, size))
        ends = [float(simulator.run(steps).max()) for _ in range(min(calls, SETTLED_CALLS))]
    except NotModelled:
        return None
    if calls <= SETTLED_CALLS:
        return ends[-1] / calls
    half = SETTLED_CALLS // 2
    seconds_per_call = (ends[-1] - ends[half - 1]) / (SETTLED_CALLS - half)
    return (ends[-1] + (calls - SETTLED_CALLS) * seconds_per_call) / calls


def rows(answer: Answer) -> list[ComparedNumber]:
    """A row for each algorithm and each printed time of a collective."""
    return [
        _row(answer, operation, algorithm, size, p)
        for operation in OPERATIONS
        for algorithm in requested_algorithms(answer, operation)
        for size in SIZES
        for p in PROCESSES
    ]


def _row(answer: Answer, operation: str, algorithm: str, size: str, processes: int) -> ComparedNumber:
    row, total = printed(operation, size, processes), SIZES[size]
    is_small = is_simulated(operation, algorithm, total, processes)
    return ComparedNumber(
        row.key,
        f"{OPERATIONS[operation]}, {SIZE_WORDS[size]}, {processes} processes",
        row.si,
        seconds(answer, operation, algorithm, total, processes),
        from_messages(answer.platform, operation, algorithm, total, processes),
        "s",
        "variant",
        f"algorithm={algorithm}",
        note="" if is_small else "not simulated: too many messages",
        table=f"algorithms of {OPERATIONS[operation]}",
        series="algorithms",
    )


def simgrid_check(compared: Sequence[ComparedNumber], machine: Platform, tolerance: float) -> Check:
    """Whether each algorithm of SimGrid's MPI and the engine's algorithm with the same messages take the same
    time within `tolerance`."""
    simgrids = {row.key: row.simulated for row in compared if row.series == "collectives"}
    engines = [
        row
        for row in compared
        if row.series == "algorithms"
        and row.mechanism == f"algorithm={machine_algorithm(machine, row.key.split('/')[2])}"
    ]
    pairs = [(row, simgrids.get(row.key)) for row in engines]
    differences = [
        (abs(row.simulated / simgrid_s - 1), row) for row, simgrid_s in pairs if row.simulated and simgrid_s
    ]
    worst = max(differences, key=lambda each: each[0], default=None)
    claim = f"the engine's algorithms take as long as SimGrid's, within {tolerance:.0%}"
    statement = Statement("same-as-simgrid", "", claim)
    if worst is None:
        return statement.unknown()
    finding = f"largest difference {worst[0]:.2%} of {len(differences)}, {worst[1].what}"
    return statement.check(worst[0] <= tolerance, finding)
