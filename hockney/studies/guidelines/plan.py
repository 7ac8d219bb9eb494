# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cases: every operation of the guidelines at matching sizes, and hockney's algorithms.

A vector is divided into one block per rank, so all guidelines compare the same amount of data. The parts of
an emulation are separate cases. All ranks begin each part together, and it ends with the last rank, so the
sum is at least the time of consecutive calls: a violation of the sum is also a violation of the emulation.
Copies in a rank's memory count as MPI_Reduce_local, which moves more bytes.
"""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.models.guidelines import EMULATIONS, LOCAL, MESSAGES, OPERATIONS
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.shared_parameters import SYNC, synchronization
from hockney.studies.sizes import DOUBLE_BYTES, default_ranks

SIZES = (16, 256, 4 << 10, 16 << 10, 128 << 10, 1 << 20)
"""Bytes of the whole vector: short messages, both sides of common protocol changes, and long messages."""
WHOLE_VECTOR_WORKLOADS = ("bcast", "reduce", "allreduce", "scan", "exscan")
"""Workloads whose bytes are those of the whole vector instead of a block."""
WORKLOADS = (*sorted(OPERATIONS), LOCAL)
"""Some of these are not part of the engine for surveys, and are compiled on first use."""
PARAMETERS = (SYNC,)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    ranks = [rank_count for rank_count in options.ranks or default_ranks(machine) if rank_count > 1]
    if not ranks:
        raise UsageError(
            "guidelines need at least 2 ranks",
            "one rank communicates with no other",
            "give --ranks 2 or more",
            code="guidelines-need-two-ranks",
        )
    sizes = options.sizes or SIZES
    sync = synchronization(options, machine)
    lines = [
        line
        for rank_count in ranks
        for size in sizes
        for line in _lines_of_size(size, rank_count, sync, catalog)
    ]
    return unique_cases(catalog.case(line) for line in lines)


def _lines_of_size(size: int, ranks: int, sync: str, catalog: Catalog) -> Iterator[str]:
    """The cases for a vector of `size` bytes, rounded up to whole doubles in every block."""
    block = -(-size // (ranks * DOUBLE_BYTES)) * DOUBLE_BYTES
    available = {workload.name for workload in catalog.workloads}
    for name in sorted(OPERATIONS & available):
        size_bytes = ranks * block if name in WHOLE_VECTOR_WORKLOADS else block
        for algorithm in catalog.workload(name).algorithms or ("",):
            algorithm_words = f"algorithm={algorithm} " if algorithm else ""
            yield f"{name} {algorithm_words}bytes={size_bytes} buffers=hot sync={sync} ranks={ranks}"
    for size_bytes in _local_sizes(block, ranks) if LOCAL in available else ():
        yield f"{LOCAL} bytes={size_bytes} buffers=hot sync={sync} ranks={ranks}"
    if ranks == 2:
        yield f"{MESSAGES} bytes={ranks * block} buffers=hot ranks=2"


def _local_sizes(block: int, ranks: int) -> list[int]:
    """The sizes of the local operation that the guidelines for these blocks require."""
    return sorted(
        {
            term.bytes(ranks * block if rule.operation in WHOLE_VECTOR_WORKLOADS else block, ranks)
            for rule in EMULATIONS
            for term in rule.terms
            if term.workload == LOCAL
        }
    )
