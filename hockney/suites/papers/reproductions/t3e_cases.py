# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases of the T3E's reproduction: the paper's operations, sizes and processes as cases of the engine,
which mechanisms are tried on which of them, and the paper's estimates from counting messages.

The paper calls an operation in a loop and divides the loop's time. Broadcasts, reductions, and messages to
and from a root then overlap with the calls before them, which the engine does with sync=loop. Nothing
overlaps in MPI_Alltoall, in MPI_Allreduce, or if a message waits for its receiver; and the additional time of
a first Gather is negligible among hundreds of messages. There each call is timed separately (sync=window),
which is faster to simulate.
"""

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

PRINTED = reference.published("t3e")
FORMULA = PRINTED.formula("t3e/formula/pingpong")

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
SIZE_WORDS = {"8": "8 B", "1KB": "1 KB", "4KB": "4 KB", "1MB": "1 MB"}
PROCESSES = (32, 64, 128, 256)
DOUBLE = 8

LONG_GATHER = 128
"""Processes from which a loop of Gather is not simulated: the others would run far ahead of the root."""
ALLTOALL_PROCESSES = 128
"""Processes from which an all-to-all of 1 MB at once has too many messages to simulate: 16000 and more that
share the torus."""


@dataclass(frozen=True)
class Mechanism:
    """A variant of the machine, another way to time ("window"), or an algorithm of engine/coll instead of the
    one in SimGrid's MPI, tried on `rows` of the tables (operation, size). `explains` names the operations and
    sizes whose deviations it is assumed to explain. Several may share a part, which is then one of the
    machine's own."""

    part: str
    machine: str
    words: str
    rows: tuple[tuple[str, str], ...]
    processes: tuple[int, ...] = PROCESSES
    explains: tuple[tuple[str, str], ...] = ()
    sync: str = ""
    algorithm: str = ""


def _rows(operations: tuple[str, ...], sizes: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((operation, size) for operation in operations for size in sizes)


SMALL = ("8", "1KB")
ALGORITHMS = "algorithms"
"""The part that runs every algorithm of engine/coll on the machine itself."""
MECHANISMS = (
    Mechanism(
        "shmem-collectives", "t3e+shmem-collectives", "collectives in shared memory",
        _rows(("bcast", "reduce", "allreduce"), SMALL),
        explains=(("bcast", "1KB"), ("reduce", "8"), ("allreduce", "8")),
    ),
    Mechanism(
        ALGORITHMS, "t3e", "all-to-all in log2 P steps",
        _rows(("alltoall",), ("1MB",)),
        explains=(("alltoall", "1MB"),), algorithm="bruck",
    ),
    Mechanism(
        "sums-in-cache", "t3e+sums-in-cache", "sums in cache", _rows(("reduce", "allreduce"), ("1KB",)),
        explains=(("allreduce", "1KB"),),
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
        _rows(("bcast", "reduce", "gather", "scatter"), SMALL),
        sync="window",
    ),
)  # fmt: skip
FIGURE_PROCESSES = (2, 4, 8, 16, *PROCESSES)
"""Processes of the figures over the processes."""
FIGURE_SIZES = {"8": 8, "1KB": 1024, "4KB": 4096, "1MB": 1 << 20}
"""The four buffer sizes of these figures: the tables' three, and 4 KB, which the text names."""
MESSAGE_BARRIER = "dissemination_mcs"
"""A barrier of messages, for comparison."""
LONG_BUFFER, LONG_PROCESSES = 4 << 20, 32
"""A buffer beyond 1 MB, where MPI_Gather breaks down according to the paper."""


BUFFERS = {"eager-4k": "4096 B", "eager-unlimited": "unlimited"}
"""Settings of MPI_BUFFER_MAX, by the part that has them."""
PAIRS = tuple(f"pingpong bytes={size} ranks=2" for size in T3E_SIZES)


def share(operation: str, total: int, processes: int) -> int:
    """A rank's bytes: its share of the total, in whole doubles."""
    return total // processes // DOUBLE * DOUBLE if operation in DIVIDED_OPERATIONS else total


def sync(operation: str, total: int, processes: int) -> str:
    is_separate = total >= SIZES["1MB"] or operation == "alltoall"
    return "window" if is_separate or (operation == "gather" and processes >= LONG_GATHER) else "loop"


def line(operation: str, total: int, processes: int, sync_given: str = "", algorithm: str = "") -> str:
    sync_given = sync_given or sync(operation, total, processes)
    size = share(operation, total, processes)
    return f"{operation} algorithm={algorithm or MPI} bytes={size} sync={sync_given} ranks={processes}"


def is_simulated(operation: str, size: str, processes: int) -> bool:
    """Whether this row is only simulated on the machine of messages."""
    return (operation, size) != ("alltoall", "1MB") or processes < ALLTOALL_PROCESSES


def seconds(
    answer: Answer, operation: str, total: int, processes: int, sync_given: str = "", algorithm: str = ""
) -> float | None:
    size, sync_given = share(operation, total, processes), sync_given or sync(operation, total, processes)
    algorithm = algorithm or MPI
    return answer.seconds(operation, algorithm=algorithm, bytes=size, sync=sync_given, ranks=processes)


def mechanism_seconds(
    answers: Mapping[str, Answer], m: Mechanism, operation: str, total: int, processes: int
) -> float | None:
    """The time with a mechanism."""
    return seconds(answers[m.part], operation, total, processes, m.sync, m.algorithm)


def parts(catalog: Catalog) -> list[Part]:
    def part(name: str, machine: str, lines: Iterable[str]) -> Part:
        return Part(name, machine, tuple(map(catalog.case, dict.fromkeys(lines))))

    tables = [
        line(operation, total, p)
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
    long_gather = line("gather", LONG_BUFFER, LONG_PROCESSES)
    return [
        part("pairs", "t3e", PAIRS),
        part("tables", "t3e", [*tables, long_gather, *barriers]),
        *(part(m.part, m.machine, lines(m)) for m in MECHANISMS if m.part != ALGORITHMS),
    ]


def lines(mechanism: Mechanism) -> list[str]:
    cases_tried = [(o, SIZES[size], p) for o, size in mechanism.rows for p in mechanism.processes]
    text_cases = [("bcast", 4096, p) for p in (32, 256) if mechanism.part == "shmem-collectives"]
    pairs = PAIRS if mechanism.part in BUFFERS else ()
    return [
        *(line(*each, mechanism.sync, mechanism.algorithm) for each in [*cases_tried, *text_cases]),
        *pairs,
    ]


def printed(operation: str, size: str, processes: int) -> PrintedRow:
    return PRINTED.row(f"t3e/table/{operation}/{size}/{processes}")


def counted_seconds(platform: Platform, operation: str, total: int, processes: int) -> float:
    """The paper's own estimate, "a tree of send and receive": one message after the other, log2 P of them in
    a tree, P - 1 if each process has a share; a reduction adds at each step."""
    size = share(operation, total, processes)
    message = platform.segment(size).one_way(size)
    if operation in DIVIDED_OPERATIONS:
        return (processes - 1) * message
    adding_s = platform.sum_s_per_byte * size if operation in ("reduce", "allreduce") else 0.0
    return log2(processes) * (message + adding_s)
