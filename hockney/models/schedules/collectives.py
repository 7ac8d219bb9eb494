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
    from_root,
    of_blocks,
    only_powers_of_two,
    part_bytes,
    shift,
    to_root,
)
from hockney.models.schedules.closed_form import (
    CHAN,
    CHEN,
    PJESIVAC,
    THAKUR,
    ClosedForm,
    Terms,
    blocks,
    doublings,
    full_trees,
    linear,
    power_below,
    powers_of_two,
    rounds_of_two,
    tree,
)
from hockney.models.schedules.schedule import Layer, Mode, Step, Steps, algorithm, copying, step


@algorithm("bcast", "binomial", form=tree(THAKUR))
def binomial_bcast(ranks: int, size: int) -> Steps:
    yield from binomial_down(ranks, size)


@algorithm("bcast", "linear", form=linear(PJESIVAC))
def linear_bcast(ranks: int, size: int) -> Steps:
    yield from from_root(ranks, size)


SEGMENT = 8192
"""Bytes of a segment of a broadcast in segments, as in `engine/coll/pipeline.hpp`."""


def _segments(size: int) -> np.ndarray:
    """Bytes of each; an empty message is one."""
    sizes = np.full(max(-(-size // SEGMENT), 1), SEGMENT)
    sizes[-1] = size - SEGMENT * (len(sizes) - 1)
    return sizes


def _chain(ranks: int, size: int) -> Terms:
    segments = len(_segments(size))
    turns = segments + ranks - 2
    return turns, turns * size / segments, 0


@algorithm("bcast", "chain", form=ClosedForm("(P − 2 + S)(α + β m/S), S segments", PJESIVAC, _chain))
def chain_bcast(ranks: int, size: int) -> Steps:
    """Each rank sends a segment on while it receives the next one."""
    if ranks < 2:
        return
    sizes = _segments(size)
    for turn in range(len(sizes) + ranks - 2):
        rank = np.arange(max(turn - len(sizes) + 1, 0), min(turn + 1, ranks - 1))
        yield step(rank, rank + 1, sizes[turn - rank], mode=Mode.POSTED)


def _binary(ranks: int, size: int) -> Terms:
    """A rank with two children serves both in each step."""
    segments = len(_segments(size))
    turns = segments if ranks < 3 else 2 * (rounds_of_two(ranks + 1) + segments - 2)
    return turns, turns * size / segments, 0


BINARY_TREE = ClosedForm("2 (log(P + 1) + S − 2)(α + β m/S), S segments", PJESIVAC, _binary, full_trees)


@algorithm("bcast", "binary_tree", form=BINARY_TREE)
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


def _parts_twice(ranks: int, size: int) -> Terms:
    return rounds_of_two(ranks) + ranks - 1, 2 * size * (ranks - 1) / ranks, 0


SCATTER_ALLGATHER = ClosedForm("(log P + P − 1) α + 2 (P − 1)/P β m", THAKUR, _parts_twice)


@algorithm("bcast", "scatter_allgather", form=SCATTER_ALLGATHER)
def scatter_allgather_bcast(ranks: int, size: int) -> Steps:
    """M. Barnett et al., 1994: parts of the message down a binomial tree, then round a ring."""
    parts = part_bytes(size, ranks)
    yield from binomial_parts_down(ranks, parts)
    everyone = np.arange(ranks)
    for turn in range(ranks - 1):
        yield step(everyone, (everyone + 1) % ranks, parts[(everyone - turn) % ranks], mode=Mode.EXCHANGE)


@algorithm("gather", "linear", form=linear(CHAN))
def linear_gather(ranks: int, size: int) -> Steps:
    yield copying(1, size)
    yield from to_root(ranks, size)


@algorithm("scatter", "linear", form=linear(CHAN))
def linear_scatter(ranks: int, size: int) -> Steps:
    yield from from_root(ranks, size)
    yield copying(1, size)


@algorithm("gather", "binomial", form=blocks(CHAN))
def binomial_gather(ranks: int, size: int) -> Steps:
    yield copying(_inner(ranks), size)
    yield from binomial_up(ranks, of_blocks(size))


@algorithm("scatter", "binomial", form=blocks(CHAN))
def binomial_scatter(ranks: int, size: int) -> Steps:
    """Children are served farthest first."""
    yield from binomial_parts_down(ranks, np.full(ranks, size))
    yield copying(_inner(ranks), size)


def _inner(ranks: int) -> np.ndarray:
    """The ranks of a binomial tree that have children, or are its root."""
    everyone = np.arange(ranks)
    return everyone[(everyone % 2 == 0) & ((everyone + 1 < ranks) | (everyone == 0))]


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


@algorithm("allgather", "ring", form=linear(THAKUR))
def ring_allgather(ranks: int, size: int) -> Steps:
    yield copying(ranks, size)
    for _ in range(ranks - 1):
        yield shift(ranks, 1, size=size)


def _neighbors(ranks: int, size: int) -> Terms:
    return ranks - 1 if ranks % 2 else ranks // 2, (ranks - 1) * size, 0


NEIGHBOR_EXCHANGE = ClosedForm("P/2 α + (P − 1) β m", CHEN, _neighbors)


@algorithm("allgather", "neighbor_exchange", form=NEIGHBOR_EXCHANGE)
def neighbor_exchange(ranks: int, size: int) -> Steps:
    """J. Chen et al., 2005: an even rank exchanges with the rank above and the one below in turn. Round a
    ring if the number of ranks is odd."""
    if ranks % 2:
        yield from ring_allgather(ranks, size)
        return
    yield copying(ranks, size)
    everyone = np.arange(ranks)
    for turn in range(ranks // 2):
        above = (everyone + turn) % 2 == 0
        partner = (everyone + np.where(above, 1, -1)) % ranks
        yield step(everyone, partner, 2 * size if turn else size, mode=Mode.EXCHANGE)


@algorithm("alltoall", "pairwise_exchange", form=linear(THAKUR))
def pairwise_exchange(ranks: int, size: int) -> Steps:
    """Partners are found by xor where the number of ranks is a power of two."""
    yield copying(ranks, size)
    yield from pairwise(ranks, size) if ranks & (ranks - 1) else pairwise_xor(ranks, size)


@algorithm("alltoall", "pairwise")
@algorithm("allgather", "pairwise")
def pairwise(ranks: int, size: int) -> Steps:
    """In round k each rank sends to the one k places above it."""
    for distance in range(1, ranks):
        yield shift(ranks, distance, size=size, untouched=True)


@algorithm("alltoall", "pairwise_xor")
@algorithm("allgather", "pairwise_xor")
def pairwise_xor(ranks: int, size: int) -> Steps:
    """In round k each rank exchanges with its own number xor k; powers of two only."""
    only_powers_of_two(ranks)
    everyone = np.arange(ranks)
    for distance in range(1, ranks):
        yield step(everyone, everyone ^ distance, size, mode=Mode.EXCHANGE, untouched=True)


@algorithm("alltoall", "linear", form=linear(THAKUR))
def linear_alltoall(ranks: int, size: int) -> Steps:
    """Everything is posted at once: the overheads of all sends, then of all receives as messages arrive."""
    if ranks > 1:
        yield shift(ranks, *range(ranks - 1, 0, -1), size=size, mode=Mode.POSTED, untouched=True)
    yield copying(ranks, size)


def linear_alltoall_in_order(ranks: int, size: int) -> Steps:
    """The same, but all ranks send to rank 0 first, then to rank 1, and so on."""
    if ranks > 1:
        everyone = np.arange(ranks)
        layers = []
        for both in range(1, 2 * ranks - 2):
            target = both - everyone
            here = (target >= 0) & (target < ranks) & (target != everyone)
            sizes = np.full(np.count_nonzero(here), float(size))
            layers.append(Layer(everyone[here], target[here], sizes))
        yield Step(tuple(layers), Mode.POSTED, untouched=True)
    yield copying(ranks, size)


def _bruck_blocks(ranks: int) -> list[int]:
    """Blocks of a message in each round."""
    return [int(np.count_nonzero(np.arange(ranks) & distance)) for distance in doublings(ranks)]


def _bruck(ranks: int, size: int) -> Terms:
    return rounds_of_two(ranks), sum(_bruck_blocks(ranks)) * size, 0


BRUCK_ALLTOALL = ClosedForm("log P (α + P/2 β m)", THAKUR, _bruck)


@algorithm("alltoall", "bruck", form=BRUCK_ALLTOALL)
def bruck_alltoall(ranks: int, size: int) -> Steps:
    """The blocks of a message are packed and unpacked; all are turned before and after."""
    yield copying(ranks, ranks * size)
    for distance, count in zip(doublings(ranks), _bruck_blocks(ranks), strict=True):
        yield copying(ranks, count * size)
        yield shift(ranks, distance, size=count * size)
        yield copying(ranks, count * size)
    yield copying(ranks, ranks * size)


def _all_blocks(ranks: int, size: int) -> Terms:
    return rounds_of_two(ranks), (ranks - 1) * size, 0


BRUCK_ALLGATHER = ClosedForm("log P α + (P − 1) β m", THAKUR, _all_blocks)


@algorithm("allgather", "bruck", form=BRUCK_ALLGATHER)
def bruck_allgather(ranks: int, size: int) -> Steps:
    """All blocks are turned afterwards."""
    yield copying(ranks, size)
    for distance in doublings(ranks):
        yield shift(ranks, -distance, size=min(distance, ranks - distance) * size)
    yield copying(ranks, ranks * size)


def _doubled(ranks: int, size: int) -> Terms:
    """Beyond a power of two a block goes to a partner first, and all blocks come back."""
    power = power_below(ranks)
    folded = int(ranks > power)
    return rounds_of_two(power) + 2 * folded, ((1 + folded) * ranks - 1 + folded) * size, 0


RECURSIVE_DOUBLING = ClosedForm("log P α + (P − 1) β m", THAKUR, _doubled, powers_of_two)


@algorithm("allgather", "recursive_doubling", form=RECURSIVE_DOUBLING)
def doubling_allgather(ranks: int, size: int) -> Steps:
    """Beyond a power of two the first ranks fold pairwise; in the end the even ones get all blocks, their own
    too."""
    fold = Folding(ranks)
    yield copying(ranks, size)
    yield from fold.fold(size)
    place = np.arange(fold.power)
    for distance in doublings(fold.power):
        first = place & -distance
        blocks = fold.first_rank(first + distance) - fold.first_rank(first)
        partner = fold.rank_of(place ^ distance)
        yield step(fold.rank_of(place), partner, blocks * size, mode=Mode.EXCHANGE)
    yield from fold.unfold(ranks * size)
