# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What to measure: every operation of the guidelines at sizes that match, and hockney's algorithms.

A vector is divided into one block per rank, so all guidelines compare the same amount of data. The parts of
an emulation are separate cases. Each of them begins with all ranks together and ends with the last, so their
sum is no less than what the calls take back to back: a violation of the sum is one of the emulation. Copies
in a rank's memory count as MPI_Reduce_local, which moves more bytes."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.core.case import Case
from hockney.core.catalog import Catalog
from hockney.core.errors import UsageError
from hockney.core.machine import Machine
from hockney.models.guidelines import EMULATIONS, LOCAL, MESSAGES, OPERATIONS
from hockney.pages.evidence import Options, unique_cases
from hockney.studies.shared_parameters import SYNC, sync_of
from hockney.studies.sizes import DOUBLE, default_ranks

SIZES = (16, 256, 4 << 10, 16 << 10, 128 << 10, 1 << 20)
"""Bytes of the whole vector: short messages, both sides of the usual changes of protocol, long ones."""
VECTORS = ("bcast", "reduce", "allreduce", "scan", "exscan")
"""Workloads whose bytes are those of the whole vector, not of a block."""
WORKLOADS = (*sorted(OPERATIONS), LOCAL)
"""Some of them are not in the engine that a survey needs, but compiled on first use."""
PARAMETERS = (SYNC,)


def plan(options: Options, catalog: Catalog, machine: Machine) -> list[Case]:
    ranks = [p for p in options.ranks or default_ranks(machine) if p > 1]
    if not ranks:
        raise UsageError(
            "guidelines need at least 2 ranks",
            "one rank communicates with no other",
            "give --ranks 2 or more",
            code="guidelines-need-two-ranks",
        )
    sizes = options.sizes or SIZES
    sync = sync_of(options, machine)
    lines = [line for p in ranks for size in sizes for line in _of_size(size, p, sync, catalog)]
    return unique_cases(catalog.case(line) for line in lines)


def _of_size(size: int, ranks: int, sync: str, catalog: Catalog) -> Iterator[str]:
    """The cases for a vector of `size` bytes, rounded up to whole doubles in every block."""
    block = -(-size // (ranks * DOUBLE)) * DOUBLE
    available = {workload.name for workload in catalog.workloads}
    for name in sorted(OPERATIONS & available):
        bytes = ranks * block if name in VECTORS else block
        for algorithm in catalog.workload(name).algorithms or ("",):
            choice = f"algorithm={algorithm} " if algorithm else ""
            yield f"{name} {choice}bytes={bytes} buffers=hot sync={sync} ranks={ranks}"
    for bytes in _local(block, ranks) if LOCAL in available else ():
        yield f"{LOCAL} bytes={bytes} buffers=hot sync={sync} ranks={ranks}"
    if ranks == 2:
        yield f"{MESSAGES} bytes={ranks * block} buffers=hot ranks=2"


def _local(block: int, ranks: int) -> list[int]:
    """The sizes at which the guidelines for these blocks need the local operation."""
    return sorted(
        {
            term.bytes(ranks * block if rule.operation in VECTORS else block, ranks)
            for rule in EMULATIONS
            for term in rule.terms
            if term.workload == LOCAL
        }
    )
