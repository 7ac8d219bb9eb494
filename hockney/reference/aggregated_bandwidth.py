# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The aggregated bandwidth of collective operations: how many bytes a call moves in total, by the count of M.
Resch, H. Berger, R. Rabenseifner, T. Boenisch (Performance of MPI on the CRAY T3E-512, 1998), divided by its
time.

The paper's sizes are sizes of a *buffer*. The engine's are sizes of a *block*: the data from one rank to
another, or the vector that is broadcast or reduced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE = "t3e"
"""The paper, as `reference.published` calls it."""


@dataclass(frozen=True)
class AggregatedBandwidth:
    """Definition for one operation. `buffer` describes the paper's size. The buffer is one block, or contains
    a block for each rank (`shared_out`). The total is one buffer, or the sum of the buffers of all ranks
    (`every_rank`)."""

    operation: str
    buffer: str
    shared_out: bool = False
    every_rank: bool = True

    @property
    def rule(self) -> str:
        """Definition as printed on a page."""
        return "size x processes / time" if self.every_rank else "size / time"

    def buffer_bytes(self, block: float, ranks: int) -> float:
        """Bytes of the buffer if the block or vector of a rank has `block` bytes."""
        return block * ranks if self.shared_out else block

    def total_bytes(self, buffer: float, ranks: int) -> float:
        """Bytes that the paper counts for a buffer of `buffer` bytes."""
        return buffer * ranks if self.every_rank else buffer

    def of_buffer(self, buffer: float, ranks: int, seconds: float) -> float:
        """Aggregated bandwidth (B/s) for buffers of `buffer` bytes."""
        return self.total_bytes(buffer, ranks) / seconds

    def of_block(self, block: float, ranks: int, seconds: float) -> float:
        """Aggregated bandwidth (B/s) for blocks or vectors of `block` bytes (the engine's `bytes`)."""
        return self.of_buffer(self.buffer_bytes(block, ranks), ranks, seconds)


DEFINITIONS: Mapping[str, AggregatedBandwidth] = {
    each.operation: each
    for each in (
        AggregatedBandwidth("bcast", "the vector that the root distributes"),
        AggregatedBandwidth("gather", "the whole array at the root", shared_out=True, every_rank=False),
        AggregatedBandwidth("scatter", "the whole array at the root", shared_out=True, every_rank=False),
        # The text calls the size the amount from one process to each other one; the paper's tables and
        # estimates contradict this (`inconsistencies` of the paper).
        AggregatedBandwidth("alltoall", "what a process sends in total", shared_out=True),
        AggregatedBandwidth("reduce", "the vector that is summed"),
        AggregatedBandwidth("allreduce", "the vector that is summed"),
    )
}
"""The paper's definitions, by operation."""
