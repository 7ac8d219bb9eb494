# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Names of the collective algorithms of SimGrid's MPI (SMPI), and the defaults. Shared by machine files, the
launcher and the models."""

from __future__ import annotations

from collections.abc import Iterable

from hockney.core.errors import UsageError, unknown

SELECTORS = ("default", "ompi", "mpich", "mvapich2", "impi")
"""Names for a library's own choice by size and ranks; every operation accepts them.

Two algorithms of SMPI are omitted: rab, which adds without calling the operation and so cannot charge a
description's `sum_s_per_byte`, and automatic, which tries all algorithms, including rab.
"""

_ALGORITHMS = """
allgather 2dmesh 3dmesh bruck GB loosely_lr NTSLR NTSLR_NB pair rdb rhv ring SMP_NTS smp_simple
    spreading_simple ompi_neighborexchange mvapich2_smp
allgatherv GB pair ring ompi_neighborexchange ompi_bruck mpich_rdb mpich_ring
allreduce lr rab1 rab2 rab_rdb rdb smp_binomial smp_binomial_pipeline smp_rdb smp_rsag smp_rsag_lr
    smp_rsag_rab redbcast ompi_ring_segmented mvapich2_rs mvapich2_two_level
alltoall 2dmesh 3dmesh basic_linear bruck pair pair_rma pair_light_barrier pair_mpi_barrier pair_one_barrier
    rdb ring ring_light_barrier ring_mpi_barrier ring_one_barrier mvapich2_scatter_dest
barrier ompi_basic_linear ompi_two_procs ompi_tree ompi_bruck ompi_recursivedoubling ompi_doublering
    mpich_smp mvapich2_pair
bcast arrival_pattern_aware arrival_pattern_aware_wait arrival_scatter binomial_tree flattree
    flattree_pipeline NTSB NTSL NTSL_Isend scatter_LR_allgather scatter_rdb_allgather SMP_binary SMP_binomial
    SMP_linear ompi_split_bintree ompi_pipeline mvapich2_inter_node mvapich2_intra_node
    mvapich2_knomial_intra_node
gather ompi_basic_linear ompi_binomial ompi_linear_sync mvapich2_two_level
reduce arrival_pattern_aware binomial flat_tree NTSL scatter_gather ompi_chain ompi_pipeline ompi_basic_linear
    ompi_in_order_binary ompi_binary ompi_binomial mvapich2_knomial mvapich2_two_level
reduce_scatter ompi_basic_recursivehalving ompi_ring ompi_butterfly mpich_pair mpich_rdb mpich_noncomm
scatter ompi_basic_linear ompi_linear_nb ompi_binomial mvapich2_two_level_binomial mvapich2_two_level_direct
"""
"""Output of `smpirun --cfg=smpi/OPERATION:?`, the same in SimGrid 3.32 and 4.1. It offers no choice for
gatherv and scatterv, in which the root exchanges messages with all ranks at the same time. Every rank does so
in alltoallv, whose other algorithms are omitted."""

ALGORITHMS: dict[str, tuple[str, ...]] = dict.fromkeys(("gatherv", "scatterv", "alltoallv"), ("default",))
for _words in _ALGORITHMS.replace("\n    ", " ").strip().splitlines():
    _operation, *_names = _words.split()
    ALGORITHMS[_operation] = (*SELECTORS, *_names)

DEFAULT_ALGORITHMS = {
    "barrier": "ompi_bruck",
    "bcast": "binomial_tree",
    "reduce": "binomial",
    "allreduce": "rdb",
    "gather": "ompi_binomial",
    "scatter": "ompi_binomial",
    "allgather": "bruck",
    "allgatherv": "ompi_bruck",
    "alltoall": "bruck",
    "reduce_scatter": "ompi_basic_recursivehalving",
}
"""Algorithms for machine files that name none. They are common in libraries for small messages, work on any
number of ranks, send O(P log P) messages or fewer and need no preparation. The selectors do not meet this:
some compare all pairs of ranks at first use, some select algorithms that do not support a number of ranks.
For large messages a machine file may name others (an all-to-all by `ring`, a broadcast by
`scatter_LR_allgather`). A calibrated machine names all of them, and assumes others if its run cannot decide
(`ASSUMED`)."""


def choose_algorithms(chosen: dict[str, str]) -> dict[str, str]:
    """Return the algorithm of every operation with a choice: the one in `chosen`, otherwise the default."""
    for operation, name in chosen.items():
        check_algorithm(operation, name)
    return {operation: chosen.get(operation, default) for operation, default in DEFAULT_ALGORITHMS.items()}


def check_algorithm(operation: str, name: str) -> None:
    """Raise UsageError for an operation or an algorithm that the simulator does not support."""
    if operation not in ALGORITHMS:
        raise unknown_collective(operation, ALGORITHMS)
    if name not in ALGORITHMS[operation]:
        raise unknown_algorithm(name, operation, ALGORITHMS[operation])


def unknown_collective(name: str, available: Iterable[str]) -> UsageError:
    names = sorted(available)
    barriers = "" if "barrier" in names else "; 'hockney run barriers' compares barriers"
    remedy = f"available: {', '.join(names)}{barriers}"
    return unknown("collective operation", name, names, remedy, code="unknown-collective")


def unknown_algorithm(name: str, operation: str, available: Iterable[str]) -> UsageError:
    return unknown(f"algorithm for {operation}", name, available, code="unknown-algorithm")
