# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Buffer sizes: the study's sizes are those of the paper's buffers, the engine's those of a rank's block.

`reference.aggregated_bandwidth` has the paper's definitions. Operations that the paper does not measure are
defined here like those that move their data in the same way."""

from __future__ import annotations

from hockney.reference.aggregated_bandwidth import DEFINITIONS, AggregatedBandwidth
from hockney.studies.sizes import DOUBLE

LIKE = {
    "allgather": (
        "alltoall",
        AggregatedBandwidth("allgather", "the whole array that each process receives", shared_out=True),
    ),
    "reduce_scatter_block": (
        "reduce",
        AggregatedBandwidth("reduce_scatter_block", "the vector that is summed", shared_out=True),
    ),
    "scan": ("reduce", AggregatedBandwidth("scan", "the vector that is summed")),
}
"""Each with the paper's operation that it is defined like."""


def definition(operation: str) -> AggregatedBandwidth:
    """The definition for an operation; for one in neither table, every rank has the whole buffer."""
    if operation in DEFINITIONS:
        return DEFINITIONS[operation]
    if operation in LIKE:
        return LIKE[operation][1]
    return AggregatedBandwidth(operation, "a process's block or vector")


def source(operation: str) -> str:
    if operation in DEFINITIONS:
        return "the paper"
    return f"like {LIKE[operation][0]}" if operation in LIKE else ""


def block_bytes(operation: str, buffer: int, ranks: int) -> int:
    """A rank's block of a buffer of this size, in whole doubles, as in the paper: nothing if the buffer has
    fewer doubles than there are ranks."""
    if definition(operation).shared_out:
        return buffer // ranks // DOUBLE * DOUBLE
    return -(-buffer // DOUBLE) * DOUBLE


def mpi_name(operation: str) -> str:
    """ "MPI_Reduce_scatter_block"."""
    return f"MPI_{operation.capitalize()}"
