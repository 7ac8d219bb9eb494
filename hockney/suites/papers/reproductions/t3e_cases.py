# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the T3E's reproduction: the paper's operations, sizes and processes as cases of the engine,
the mechanisms that are tried on them, and the paper's estimates from counting messages.

The paper calls an operation in a loop and divides the loop's time. Broadcasts, reductions, and messages to
and from a root then overlap with earlier calls, as they do with the engine's sync=loop. Nothing overlaps
in MPI_Alltoall, in MPI_Allreduce, or if a message waits for its receiver, and the additional time of a
first Gather is negligible among hundreds of messages. In these cases each call is timed separately
(sync=window), which is faster to simulate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log2

from hockney import reference
from hockney.core.case import MPI
from hockney.core.catalog import Catalog
from hockney.core.platform import Platform
from hockney.reference import PrintedRow
from hockney.reference.aggregated_bandwidth import DEFINITIONS
from hockney.reproductions.parts import Answer, Part
from hockney.studies.collectives.plan import T3E_SIZES

PAPER_VALUES = reference.published("t3e")
FORMULA = PAPER_VALUES.formula("t3e/formula/pingpong")

OPERATIONS = {
    "bcast": "MPI_Bcast",
    "gather": "MPI_Gather",
    "scatter": "MPI_Scatter",
    "alltoall": "MPI_Alltoall",
    "reduce": "MPI_Reduce",
    "allreduce": "MPI_Allreduce",
}
DIVIDED_OPERATIONS = tuple(name for name in OPERATIONS if DEFINITIONS[name].shared_out)
SIZES = {"8": 8, "1KB": 1024, "1MB": 1 << 20}
SIZE_TITLES = {"8": "8 B", "1KB": "1 KB", "4KB": "4 KB", "1MB": "1 MB"}
PROCESSES = (32, 64, 128, 256)
DOUBLE_BYTES = 8

LONG_GATHER_PROCESSES = 128
"""Number of processes from which a loop of Gather is not simulated, since the others would run far ahead
of the root."""
ALLTOALL_PROCESSES = 128
"""Number of processes from which an all-to-all of 1 MB has too many messages to simulate: 16000 and more
share the torus."""


@dataclass(frozen=True)
class Mechanism:
    """A variant of the machine, another way to time ("window"), or an algorithm of engine/coll instead of
    the one in SimGrid's MPI, tried on `rows` of the tables (operation, size). `explained_rows` are those
    whose deviations it is assumed to explain. Several mechanisms may share a part of the machine's own."""

    part: str
    machine: str
    title: str
    rows: tuple[tuple[str, str], ...]
    processes: tuple[int, ...] = PROCESSES
    explained_rows: tuple[tuple[str, str], ...] = ()
    sync: str = ""
    algorithm: str = ""


def _rows(operations: tuple[str, ...], sizes: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((operation, size) for operation in operations for size in sizes)


SMALL_SIZES = ("8", "1KB")
ALGORITHMS = "algorithms"
"""The part that runs every algorithm of engine/coll on the unmodified machine."""
MECHANISMS = (
    Mechanism(
        "shmem-collectives", "t3e+shmem-collectives", "collectives in shared memory",
        _rows(("bcast", "reduce", "allreduce"), SMALL_SIZES),
        explained_rows=(("bcast", "1KB"), ("reduce", "8"), ("allreduce", "8")),
    ),
    Mechanism(
        ALGORITHMS, "t3e", "all-to-all in log2 P steps",
        _rows(("alltoall",), ("1MB",)),
        explained_rows=(("alltoall", "1MB"),), algorithm="bruck",
    ),
    Mechanism(
        "sums-in-cache", "t3e+sums-in-cache", "sums in cache", _rows(("reduce", "allreduce"), ("1KB",)),
        explained_rows=(("allreduce", "1KB"),),
    ),
    Mechanism(
        ALGORITHMS, "t3e", "all-to-all with one partner at a time",
        _rows(("alltoall",), ("1MB",)), processes=(32, 64, 128), algorithm="pairwise_exchange",
    ),
    Mechanism(
        "eager-4k", "t3e+eager-4k", "no message above 4096 B sent ahead",
        _rows(("gather", "scatter"), ("1MB",)),
    ),
    Mechanism(
        "eager-unlimited", "t3e+eager-unlimited", "every message sent ahead",
        _rows(("gather", "scatter"), ("1MB",)),
    ),
    Mechanism(
        "exchange-full-duplex", "t3e+full-duplex", "all-to-all in log2 P steps, full duplex",
        _rows(("alltoall",), ("1MB",)), algorithm="bruck",
    ),
    Mechanism("full-duplex", "t3e+full-duplex", "full duplex", _rows(("allreduce",), ("1MB",))),
    Mechanism(
        "single-calls", "t3e", "each call timed by itself",
        _rows(("bcast", "reduce", "gather", "scatter"), SMALL_SIZES),
        sync="window",
    ),
)  # fmt: skip
FIGURE_PROCESSES = (2, 4, 8, 16, *PROCESSES)
"""Processes in the figures over the number of processes."""
FIGURE_SIZES = {"8": 8, "1KB": 1024, "4KB": 4096, "1MB": 1 << 20}
"""The four buffer sizes of these figures: the three of the tables, and 4 KB, which the text mentions."""
MESSAGE_BARRIER = "dissemination_mcs"
"""A barrier of messages, for comparison."""
LONG_BUFFER, LONG_PROCESSES = 4 << 20, 32
"""A buffer beyond 1 MB, where MPI_Gather breaks down according to the paper, and its number of processes."""


BUFFER_SETTINGS = {"eager-4k": "4096 B", "eager-unlimited": "unlimited"}
"""Values of MPI_BUFFER_MAX, by part."""
PAIR_LINES = tuple(f"pingpong bytes={size} ranks=2" for size in T3E_SIZES)


def rank_bytes(operation: str, total: int, processes: int) -> int:
    """Returns the bytes of a rank: its share of the total, in whole doubles."""
    return total // processes // DOUBLE_BYTES * DOUBLE_BYTES if operation in DIVIDED_OPERATIONS else total


def default_sync(operation: str, total: int, processes: int) -> str:
    is_separate = total >= SIZES["1MB"] or operation == "alltoall"
    return (
        "window" if is_separate or (operation == "gather" and processes >= LONG_GATHER_PROCESSES) else "loop"
    )


def case_line(operation: str, total: int, processes: int, sync: str = "", algorithm: str = "") -> str:
    sync = sync or default_sync(operation, total, processes)
    size = rank_bytes(operation, total, processes)
    return f"{operation} algorithm={algorithm or MPI} bytes={size} sync={sync} ranks={processes}"


def is_simulated(operation: str, size: str, processes: int) -> bool:
    """Returns whether this row is simulated on the machine of messages."""
    return (operation, size) != ("alltoall", "1MB") or processes < ALLTOALL_PROCESSES


def seconds(
    answer: Answer, operation: str, total: int, processes: int, sync: str = "", algorithm: str = ""
) -> float | None:
    size, sync = rank_bytes(operation, total, processes), sync or default_sync(operation, total, processes)
    algorithm = algorithm or MPI
    return answer.seconds(operation, algorithm=algorithm, bytes=size, sync=sync, ranks=processes)


def mechanism_seconds(
    answers: Mapping[str, Answer], mechanism: Mechanism, operation: str, total: int, processes: int
) -> float | None:
    """Returns the time with a mechanism."""
    return seconds(answers[mechanism.part], operation, total, processes, mechanism.sync, mechanism.algorithm)


def parts(catalog: Catalog) -> list[Part]:
    def part(name: str, machine: str, lines: Iterable[str]) -> Part:
        return Part(name, machine, tuple(map(catalog.case, dict.fromkeys(lines))))

    tables = [
        case_line(operation, total, p)
        for operation in OPERATIONS
        for size, total in FIGURE_SIZES.items()
        for p in FIGURE_PROCESSES
        if is_simulated(operation, size, p)
    ]
    barriers = [
        f"barrier algorithm={algorithm} sync=window ranks={p}"
        for algorithm in (MPI, MESSAGE_BARRIER)
        for p in FIGURE_PROCESSES
    ]
    long_gather = case_line("gather", LONG_BUFFER, LONG_PROCESSES)
    return [
        part("pairs", "t3e", PAIR_LINES),
        part("tables", "t3e", [*tables, long_gather, *barriers]),
        *(
            part(mechanism.part, mechanism.machine, mechanism_lines(mechanism))
            for mechanism in MECHANISMS
            if mechanism.part != ALGORITHMS
        ),
    ]


def mechanism_lines(mechanism: Mechanism) -> list[str]:
    row_cases = [
        (operation, SIZES[size], p) for operation, size in mechanism.rows for p in mechanism.processes
    ]
    text_cases = [("bcast", 4096, p) for p in (32, 256) if mechanism.part == "shmem-collectives"]
    pairs = PAIR_LINES if mechanism.part in BUFFER_SETTINGS else ()
    return [
        *(case_line(*case, mechanism.sync, mechanism.algorithm) for case in [*row_cases, *text_cases]),
        *pairs,
    ]


def printed_row(operation: str, size: str, processes: int) -> PrintedRow:
    return PAPER_VALUES.row(f"t3e/table/{operation}/{size}/{processes}")


def counted_seconds(platform: Platform, operation: str, total: int, processes: int) -> float:
    """Returns the paper's own estimate, "a tree of send and receive": log2 P messages one after the other
    in a tree, or P - 1 if each process has a share. A reduction adds the time of a sum at each step."""
    size = rank_bytes(operation, total, processes)
    message_s = platform.segment(size).one_way(size)
    if operation in DIVIDED_OPERATIONS:
        return (processes - 1) * message_s
    sum_s = platform.sum_s_per_byte * size if operation in ("reduce", "allreduce") else 0.0
    return log2(processes) * (message_s + sum_s)
