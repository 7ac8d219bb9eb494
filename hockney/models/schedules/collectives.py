# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of collective operations that only move data, with rank 0 as the root: those of the files in
`engine/coll/`, whose messages a test compares with the engine's, and a few more that the simulator SMPI has.
`size` is the bytes of each rank's block or vector. An algorithm for some numbers of ranks raises NotModelled
for others."""

from __future__ import annotations

import numpy as np

from hockney.models.schedules.blocks import (
    Folding,
    binomial_down,
    binomial_parts_down,
    binomial_up,
    doublings,
    from_root,
    of_blocks,
    only_powers_of_two,
    part_bytes,
    shift,
    to_root,
)
from hockney.models.schedules.schedule import Layer, Mode, Step, Steps, algorithm, step


@algorithm("bcast", "binomial")
def binomial_bcast(ranks: int, size: int) -> Steps:
    yield from binomial_down(ranks, size)


@algorithm("bcast", "linear")
def linear_bcast(ranks: int, size: int) -> Steps:
    yield from from_root(ranks, size)


SEGMENT = 8192
"""Bytes of a segment of a broadcast in segments, as in `engine/coll/pipeline.hpp`."""


def _segments(size: int) -> np.ndarray:
    """Bytes of each; an empty message is one."""
    sizes = np.full(max(-(-size // SEGMENT), 1), SEGMENT)
    sizes[-1] = size - SEGMENT * (len(sizes) - 1)
    return sizes


@algorithm("bcast", "chain")
def chain_bcast(ranks: int, size: int) -> Steps:
    """Each rank sends a segment on while it receives the next one."""
    if ranks < 2:
        return
    sizes = _segments(size)
    for turn in range(len(sizes) + ranks - 2):
        rank = np.arange(max(turn - len(sizes) + 1, 0), min(turn + 1, ranks - 1))
        yield step(rank, rank + 1, sizes[turn - rank], mode=Mode.POSTED)


@algorithm("bcast", "binary_tree")
def binary_tree_bcast(ranks: int, size: int) -> Steps:
    """The children of rank r are 2 r + 1 and 2 r + 2. A segment goes down by a level in each step, while the
    next one follows."""
    if ranks < 2:
        return
    sizes = _segments(size)
    parents = np.arange(ranks // 2)
    level = np.array([(int(rank) + 1).bit_length() - 1 for rank in parents], dtype=int)
    for turn in range(len(sizes) + int(level.max())):
        segment = turn - level
        now = (segment >= 0) & (segment < len(sizes))
        layers = []
        for child in (1, 2):
            sending = parents[now & (2 * parents + child < ranks)]
            if len(sending):
                layers.append(Layer(sending, 2 * sending + child, sizes[segment[sending]]))
        yield Step(tuple(layers), Mode.POSTED)


@algorithm("bcast", "scatter_allgather")
def scatter_allgather_bcast(ranks: int, size: int) -> Steps:
    """M. Barnett et al., 1994: parts of the message down a binomial tree, then round a ring."""
    parts = part_bytes(size, ranks)
    yield from binomial_parts_down(ranks, parts)
    everyone = np.arange(ranks)
    for turn in range(ranks - 1):
        yield step(everyone, (everyone + 1) % ranks, parts[(everyone - turn) % ranks], mode=Mode.EXCHANGE)


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
    """Children are served farthest first."""
    yield from binomial_parts_down(ranks, np.full(ranks, size))


@algorithm("scatter", "binomial_nearest")
def binomial_scatter_nearest(ranks: int, size: int) -> Steps:
    """SMPI's. Children are served nearest first, each with all that lies below it: a rank's turn comes when
    its parent has served the nearer ones, so ranks with fewer bits come first."""
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


@algorithm("allgather", "ring")
def ring_allgather(ranks: int, size: int) -> Steps:
    for _ in range(ranks - 1):
        yield shift(ranks, 1, size=size)


@algorithm("allgather", "neighbor_exchange")
def neighbor_exchange(ranks: int, size: int) -> Steps:
    """J. Chen et al., 2005: an even rank exchanges with the rank above and the one below in turn. Round a
    ring if the number of ranks is odd."""
    if ranks % 2:
        yield from ring_allgather(ranks, size)
        return
    everyone = np.arange(ranks)
    for turn in range(ranks // 2):
        above = (everyone + turn) % 2 == 0
        partner = (everyone + np.where(above, 1, -1)) % ranks
        yield step(everyone, partner, 2 * size if turn else size, mode=Mode.EXCHANGE)


@algorithm("alltoall", "pairwise_exchange")
def pairwise_exchange(ranks: int, size: int) -> Steps:
    """Partners are found by xor where the number of ranks is a power of two."""
    yield from pairwise(ranks, size) if ranks & (ranks - 1) else pairwise_xor(ranks, size)


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
    """Beyond a power of two the first ranks fold pairwise; in the end the even ones get all blocks, their own
    too."""
    fold = Folding(ranks)
    yield from fold.fold(size)
    place = np.arange(fold.power)
    for distance in doublings(fold.power):
        first = place & -distance
        blocks = fold.first_rank(first + distance) - fold.first_rank(first)
        partner = fold.rank_of(place ^ distance)
        yield step(fold.rank_of(place), partner, blocks * size, mode=Mode.EXCHANGE)
    yield from fold.unfold(ranks * size)
