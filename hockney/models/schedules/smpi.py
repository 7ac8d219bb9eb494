# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SMPI's collective algorithms, by their names in machine files, and the corresponding schedules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from hockney.core.smpi_algorithms import choose_algorithms
from hockney.models.schedules import barriers, collectives, reductions
from hockney.models.schedules.blocks import Folding, require_power_of_two
from hockney.models.schedules.closed_form import doubling_distances
from hockney.models.schedules.schedule import SCHEDULES, Layer, Mode, Schedule, Step, Steps, step

DISSEMINATION = SCHEDULES["barrier", "dissemination"]


def _linear_barrier(ranks: int, size: int) -> Steps:
    return barriers.linear(ranks)


def _doubling_barrier(ranks: int, size: int) -> Steps:
    return barriers.recursive_doubling_sendrecv(ranks)


def _doubling_allgather(ranks: int, size: int) -> Steps:
    """The allgather. SMPI's algorithm differs if the number of ranks is not a power of two."""
    require_power_of_two(ranks)
    yield from collectives.doubling_allgather(ranks, size)


def _halving_reduce_scatter(ranks: int, size: int) -> Steps:
    """The farthest partners come first, unlike in `reductions.halving_reduce_scatter`."""
    if not size:
        return
    folding = Folding(ranks)
    yield from folding.fold(ranks * size, combine=True)
    place = np.arange(folding.power)
    blocks = np.where(place < folding.pairs, 2, 1)
    for distance in reversed(doubling_distances(folding.power)):
        partner = place ^ distance
        # Each part consists of the blocks of `distance` consecutive places.
        parts = np.add.reduceat(blocks, np.arange(0, folding.power, distance))
        sizes = parts[partner // distance] * size
        yield step(folding.rank_of(place), folding.rank_of(partner), sizes, mode=Mode.EXCHANGE, combine=True)
    yield from folding.unfold(size)


def _at_once(
    layers: Iterable[tuple[np.ndarray, np.ndarray]],
    size: float,
    *,
    combine: bool = False,
    interleaved: bool = False,
) -> Step:
    """All messages of an operation: each rank posts its receives, then sends layer by layer, and waits for
    all."""
    kept = tuple(Layer(source, target, size) for source, target in layers)
    return Step(kept, Mode.POSTED, combine, untouched=True, interleaved=interleaved)


def _to_root(ranks: int, size: int, *, combine: bool = False) -> Steps:
    root = np.zeros(1, dtype=int)
    yield _at_once(((root + rank, root) for rank in range(1, ranks)), size, combine=combine)


def _from_root(ranks: int, size: int) -> Steps:
    root = np.zeros(1, dtype=int)
    yield _at_once(((root, root + rank) for rank in range(1, ranks)), size)


def _reduce_at_root(ranks: int, size: int) -> Steps:
    return _to_root(ranks, size, combine=True)


def _exchange_with_all(ranks: int, size: int) -> Steps:
    """A receive follows each send, to the same rank; rank 0 is served first."""
    first, *others = collectives.linear_alltoall_in_order(ranks, size)
    yield replace(first, interleaved=True)
    yield from others


def _reduce_with_all(ranks: int, size: int) -> Steps:
    yield from (replace(each, combine=True) for each in _exchange_with_all(ranks, size))


def _to_higher_ranks(ranks: int, size: int) -> Steps:
    distances = (np.arange(ranks - distance) for distance in range(1, ranks))
    yield _at_once(((lower, lower + ranks - len(lower)) for lower in distances), size, combine=True)


def _unfinished_barrier(ranks: int, size: int) -> Steps:
    """Rank 0 sends to all ranks without waiting for their messages: the ranks do not wait for each other."""
    pairs = (np.array([0, rank]) for rank in range(1, ranks))
    yield _at_once(((pair, pair[::-1]) for pair in pairs), 0)


def _reduce_whole_vector(ranks: int, size: int) -> Steps:
    return _reduce_at_root(ranks, ranks * size)


ONLY_ALGORITHMS: dict[str, tuple[Schedule, ...]] = {
    "gatherv": (_to_root,),
    "scatterv": (_from_root,),
    "alltoallv": (collectives.linear_alltoall_in_order,),
    "alltoallw": (collectives.linear_alltoall_in_order,),
    "scan": (_to_higher_ranks,),
    "exscan": (_to_higher_ranks,),
    "ibarrier": (_unfinished_barrier,),
    "ibcast": (_from_root,),
    "ireduce": (_reduce_at_root,),
    "iallreduce": (_reduce_with_all,),
    "ireduce_scatter": (_reduce_with_all,),
    "ireduce_scatter_block": (_reduce_with_all,),
    "iscan": (_to_higher_ranks,),
    "iexscan": (_to_higher_ranks,),
    "igather": (_to_root,),
    "igatherv": (_to_root,),
    "iscatter": (_from_root,),
    "iscatterv": (_from_root,),
    "iallgather": (_exchange_with_all,),
    "iallgatherv": (_exchange_with_all,),
    "ialltoall": (collectives.linear_alltoall,),
    "ialltoallv": (collectives.linear_alltoall_in_order,),
    "ialltoallw": (collectives.linear_alltoall_in_order,),
}
"""Schedules of operations for which SMPI has one algorithm (smpi_nbc_impl.cpp). A nonblocking operation is a
single step, whose messages all start at once."""

CHOSEN_AS = {"reduce_scatter_block": "reduce_scatter", "barrier of a window": "barrier"}
"""Operations by the algorithm of another one. A window waits by messages, even if the machine has a hardware
barrier."""

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
    ("reduce_scatter", "ompi_basic_recursivehalving"): (_halving_reduce_scatter,),
    ("gather", "default"): (_to_root,),
    ("scatter", "default"): (_from_root,),
    ("allgather", "default"): (_exchange_with_all,),
    ("allgatherv", "default"): (_exchange_with_all,),
    ("reduce", "default"): (_reduce_at_root,),
    ("allreduce", "default"): (_reduce_at_root, collectives.binomial_bcast),
    ("reduce_scatter", "default"): (_reduce_whole_vector, _from_root),
}
"""Schedules that run one after the other, each a phase of the operation, by operation and SMPI's name."""


def smpi_schedules(chosen: Mapping[str, str], operation: str) -> tuple[str, tuple[Schedule, ...]] | None:
    """SMPI's name of the algorithm of an operation, such as igatherv, and its schedules, given the algorithms
    `chosen` in a machine file; None if there are no schedules."""
    if operation in ONLY_ALGORITHMS:
        return "default", ONLY_ALGORITHMS[operation]
    operation = CHOSEN_AS.get(operation, operation)
    name = choose_algorithms(dict(chosen)).get(operation, "default")
    schedules = SMPI_SCHEDULES.get((operation, name))
    return None if schedules is None else (name, schedules)
