# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SMPI's names of collective algorithms, as in machine files, and the corresponding schedules."""

from __future__ import annotations

from hockney.models.schedules import barriers, collectives, reductions
from hockney.models.schedules.blocks import require_power_of_two
from hockney.models.schedules.schedule import SCHEDULES, Schedule, Steps

DISSEMINATION = SCHEDULES["barrier", "dissemination"]


def _linear_barrier(ranks: int, size: int) -> Steps:
    return barriers.linear(ranks)


def _doubling_barrier(ranks: int, size: int) -> Steps:
    return barriers.recursive_doubling_sendrecv(ranks)


def _doubling_allgather(ranks: int, size: int) -> Steps:
    """The allgather. SMPI's algorithm differs if the number of ranks is not a power of two."""
    require_power_of_two(ranks)
    yield from collectives.doubling_allgather(ranks, size)


SMPI_SCHEDULES: dict[tuple[str, str], tuple[Schedule, ...]] = {
    ("barrier", "ompi_bruck"): (DISSEMINATION,),
    ("barrier", "ompi_recursivedoubling"): (_doubling_barrier,),
    ("barrier", "ompi_basic_linear"): (_linear_barrier,),
    ("barrier", "default"): (_linear_barrier,),
    ("bcast", "binomial_tree"): (collectives.binomial_bcast,),
    ("bcast", "default"): (collectives.binomial_bcast,),
    ("reduce", "binomial"): (reductions.binomial_reduce,),
    ("allreduce", "rdb"): (reductions.doubling_allreduce,),
    ("allreduce", "redbcast"): (reductions.binomial_reduce, collectives.binomial_bcast),
    ("gather", "ompi_basic_linear"): (collectives.linear_gather,),
    ("gather", "ompi_binomial"): (collectives.binomial_gather,),
    ("scatter", "ompi_basic_linear"): (collectives.linear_scatter,),
    ("scatter", "ompi_binomial"): (collectives.binomial_scatter_nearest,),
    ("allgather", "bruck"): (collectives.bruck_allgather,),
    ("allgather", "ring"): (collectives.pairwise,),
    ("allgather", "pair"): (collectives.pairwise_xor,),
    ("allgather", "rdb"): (_doubling_allgather,),
    ("allgatherv", "ompi_bruck"): (collectives.bruck_allgather,),
    ("allgatherv", "ring"): (collectives.pairwise,),
    ("allgatherv", "pair"): (collectives.pairwise_xor,),
    ("alltoall", "basic_linear"): (collectives.linear_alltoall,),
    ("alltoall", "bruck"): (collectives.bruck_alltoall,),
    ("alltoall", "ring"): (collectives.pairwise,),
    ("alltoall", "pair"): (collectives.pairwise_xor,),
    ("alltoallv", "default"): (collectives.linear_alltoall_in_order,),
}
"""Schedules that run one after the other, each a phase of the operation, by operation and SMPI's name."""
