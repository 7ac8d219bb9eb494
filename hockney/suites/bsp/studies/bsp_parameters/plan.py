# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases to measure: full h-relations of words by puts, by messages and by MPI messages sent
immediately, relations of larger packets, empty supersteps, block permutations, and local work. Between two
ranks, also single messages and two that cross."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.machine import Machine
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.shared_parameters import SYNC, synchronization
from hockney.studies.sizes import default_ranks
from hockney.studies.survey import ping_pong_sweep
from hockney.suites.bsp.models.parameters import operations_per_second
from hockney.suites.bsp.models.programs import WORD_BYTES, LocalWork

RELATION_WORDS = (16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10)
"""Words of relations. For the first, g h is much less than L; for the last, much more."""
MAX_SINGLE_WORDS = 4 << 10
"""Maximum words of a relation that are sent as single messages."""
PACKETS = (64, 1 << 10, 16 << 10)
"""Bytes of larger packets."""
PACKET_MULTIPLES = (1, 4, 16, 64)
"""Number of larger packets in a relation, as multiples of `min_packets`."""
PACKETS_PER_RANK = 8
"""Packets for each other rank, enough for random destinations to reach nearly all ranks."""
MAX_RELATION_BYTES = 4 << 20
"""Maximum bytes of a relation of larger packets."""
BLOCKS = (8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20)
"""Bytes of blocks."""
MESSAGE_SIZES = (0, 8, 64, 512, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20)
"""Bytes of messages between two ranks."""
BISECTION_BYTES = 64 << 10
"""Bytes of the bisection's messages, as in the paper."""
LOCAL_WORK = (
    *(LocalWork.of("multiplication", 0, n=n, type="double") for n in (64, 256, 512)),
    *(
        LocalWork.of(kind, 0, keys=keys, type="double")
        for kind in ("sort", "merge")
        for keys in (10**3, 10**5)
    ),
    *(LocalWork.of(kind, 0, n=n) for kind in ("min-plus", "closure") for n in (64, 256)),
    *(LocalWork.of("copy", 0, bytes=size) for size in (4 << 10, 256 << 10, 16 << 20)),
)
"""Local work to measure, by kind and size."""
PARAMETERS = (SYNC,)
WORKLOADS = (
    "h_relation",
    "bsp_sync",
    "block_permutation",
    "local_multiplication",
    "local_sort",
    "local_merge",
    "local_min_plus",
    "local_closure",
    "local_copy",
)
"""Compiled on first use."""


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    """Returns the cases to measure. `--sizes` replaces the bytes of relations of words, and of blocks."""
    ranks = options.ranks or default_ranks(machine)
    sync = synchronization(options, machine)
    lines = [line for p in add_pairs(ranks) for line in parameter_lines(p, sync, options.sizes)]
    lines += [
        line for p in ranks for work in LOCAL_WORK for line in rate_lines(work, p, catalog, machine, sync)
    ]
    return unique_cases(catalog.case(line) for line in (*lines, *_message_lines(ranks, sync)))


def add_pairs(ranks: Sequence[int]) -> list[int]:
    """Returns the rank counts above 1, and 2, which shows the cost of a superstep's only message."""
    return sorted({2, *(p for p in ranks if p > 1)})


def parameter_lines(ranks: int, sync: str, sizes: Sequence[int] = ()) -> Iterator[str]:
    """Yields the cases to which g, L, sigma, l and the costs of packets are fitted."""
    suffix = f"sync={sync} ranks={ranks}"
    min_count = min_packets(ranks)
    relation_sizes = sorted({max(1, size // WORD_BYTES) for size in sizes}) or [
        relation_words for relation_words in RELATION_WORDS if relation_words >= min_count
    ]
    for method in ("put", "send", "mpi"):
        for word_count in relation_sizes:
            if method != "mpi" or word_count <= MAX_SINGLE_WORDS:
                yield f"h_relation h={word_count} packet={WORD_BYTES} method={method} {suffix}"
    for packet in PACKETS:
        for count in (min_count * multiple for multiple in PACKET_MULTIPLES):
            if count * packet <= MAX_RELATION_BYTES:
                yield f"h_relation h={count * packet // WORD_BYTES} packet={packet} method=put {suffix}"
    yield f"bsp_sync {suffix}"
    for size in sizes or BLOCKS:
        yield f"block_permutation bytes={size} {suffix}"


def min_packets(ranks: int) -> int:
    """Returns the minimum packets of a relation. With fewer, it would have fewer messages than a full one."""
    return 1 if ranks <= 2 else PACKETS_PER_RANK * (ranks - 1)


def rate_lines(work: LocalWork, ranks: int, catalog: Catalog, machine: Machine, sync: str) -> Iterator[str]:
    """Yields the case of the workload that measures this work; nothing if there is no such workload, or if
    the work is too small to measure."""
    name = catalog.workload_name("local", work.operation)
    if not name or any(isinstance(value, int) and value < 1 for _, value in work.values):
        return
    values = " ".join(f"{key}={value}" for key, value in work.values)
    speed = described_rate(machine, work.operation)
    rate_argument = f" rate={speed:.6g}" if speed else ""
    yield f"{name} {values}{rate_argument} sync={sync} ranks={ranks}"


def described_rate(machine: Machine, operation: str) -> float:
    """Returns the operations per second on a simulated machine; 0 on other machines, which compute at their
    own speed."""
    return 0.0 if machine.platform is None else operations_per_second(machine.platform, operation)


def _message_lines(ranks: Sequence[int], sync: str) -> Iterator[str]:
    """Yields cases of the paper's other measurements: one message, two that cross, and the bisection of a
    line of nodes."""
    yield from ping_pong_sweep(MESSAGE_SIZES)
    yield from (f"pingpong_double bytes={size} buffers=hot ranks=2" for size in MESSAGE_SIZES)
    yield from (
        f"bisection bytes={BISECTION_BYTES} direction=both sync={sync} ranks={p}" for p in ranks if p % 2 == 0
    )
