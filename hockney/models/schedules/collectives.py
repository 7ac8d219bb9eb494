# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of collective operations with rank 0 as the root. `size` is the bytes of each rank's block or
vector, as the engine counts them. An algorithm for some numbers of ranks raises NotModelled for others."""

from __future__ import annotations

import numpy as np

from hockney.models.schedules.blocks import (
    binomial_down,
    binomial_up,
    doublings,
    from_root,
    hypercube,
    of_blocks,
    only_powers_of_two,
    power_below,
    same,
    shift,
    to_root,
)
from hockney.models.schedules.schedule import Mode, Steps, algorithm, step


@algorithm("bcast", "binomial")
def binomial_bcast(ranks: int, size: int) -> Steps:
    yield from binomial_down(ranks, size)


@algorithm("reduce", "binomial")
def binomial_reduce(ranks: int, size: int) -> Steps:
    """Nothing to reduce needs no message."""
    if size > 0:
        yield from binomial_up(ranks, same(size), combine=True)


@algorithm("allreduce", "recursive_doubling")
def doubling_allreduce(ranks: int, size: int) -> Steps:
    """R. Thakur, R. Rabenseifner, W. Gropp, 2005: beyond a power of two the first ranks fold pairwise."""
    extra = ranks - power_below(ranks)
    even = np.arange(0, 2 * extra, 2)
    if extra:
        yield step(even, even + 1, size, combine=True)
    members = np.concatenate([even + 1, np.arange(2 * extra, ranks)])
    yield from hypercube(members, same(size), combine=True)
    if extra:
        yield step(even + 1, even, size)


@algorithm("gather", "linear")
def linear_gather(ranks: int, size: int) -> Steps:
    yield from to_root(ranks, size)


@algorithm("scatter", "linear")
def linear_scatter(ranks: int, size: int) -> Steps:
    yield from from_root(ranks, size)


@algorithm("gather", "binomial")
def binomial_gather(ranks: int, size: int) -> Steps:
    yield from binomial_up(ranks, of_blocks(size))


@algorithm("scatter", "binomial")
def binomial_scatter(ranks: int, size: int) -> Steps:
    """Children are served nearest first, each with all that lies below it: a rank's turn comes when its
    parent has served the nearer ones, so ranks with fewer bits come first."""
    everyone = np.arange(ranks)
    bits = np.array([int(rank).bit_count() for rank in everyone])
    for depth in range(int(bits.max())):
        parents = everyone[bits == depth]
        lowest = np.where(parents > 0, parents & -parents, ranks)
        for distance in doublings(ranks):
            parent = parents[(distance < lowest) & (parents + distance < ranks)]
            if len(parent):
                below = np.minimum(distance, ranks - parent - distance)
                yield step(parent, parent + distance, below * size)


@algorithm("alltoall", "pairwise")
@algorithm("allgather", "pairwise")
def pairwise(ranks: int, size: int) -> Steps:
    """In round k each rank sends to the one k places above it."""
    for distance in range(1, ranks):
        yield shift(ranks, distance, size=size)


@algorithm("alltoall", "pairwise_xor")
@algorithm("allgather", "pairwise_xor")
def pairwise_xor(ranks: int, size: int) -> Steps:
    """In round k each rank exchanges with its own number xor k; powers of two only."""
    only_powers_of_two(ranks)
    everyone = np.arange(ranks)
    for distance in range(1, ranks):
        yield step(everyone, everyone ^ distance, size, mode=Mode.EXCHANGE)


@algorithm("alltoall", "linear")
def linear_alltoall(ranks: int, size: int) -> Steps:
    """Everything is posted at once: the overheads of all sends, then of all receives as messages arrive."""
    if ranks > 1:
        yield shift(ranks, *range(ranks - 1, 0, -1), size=size, mode=Mode.POSTED)


@algorithm("alltoall", "bruck")
def bruck_alltoall(ranks: int, size: int) -> Steps:
    everyone = np.arange(ranks)
    for distance in doublings(ranks):
        blocks = int(np.count_nonzero(everyone & distance))
        yield shift(ranks, distance, size=blocks * size)


@algorithm("allgather", "bruck")
def bruck_allgather(ranks: int, size: int) -> Steps:
    for distance in doublings(ranks):
        yield shift(ranks, -distance, size=min(distance, ranks - distance) * size)


@algorithm("allgather", "recursive_doubling")
def doubling_allgather(ranks: int, size: int) -> Steps:
    only_powers_of_two(ranks)
    yield from hypercube(np.arange(ranks), of_blocks(size))
