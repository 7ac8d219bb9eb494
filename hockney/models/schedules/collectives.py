# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of collective operations that only move data, with rank 0 as the root. A test compares those with
files in `engine/coll/` with the engine's messages; a few more represent algorithms of the simulator SMPI.
`size` is the bytes of each rank's block or vector. Algorithms for some numbers of ranks raise NotModelled for
others."""

from __future__ import annotations

import numpy as np

from hockney.models.schedules.blocks import (
    Folding,
    binomial_down,
    binomial_parts_down,
    binomial_up,
    from_root,
    part_bytes,
    require_power_of_two,
    shift,
    size_of_blocks,
    to_root,
)
from hockney.models.schedules.closed_form import (
    CHAN,
    CHEN,
    PJESIVAC,
    THAKUR,
    ClosedForm,
    Terms,
    doubling_blocks,
    doubling_distances,
    doubling_rounds,
    has_full_tree,
    is_power_of_two,
    largest_power_of_two,
    linear,
    tree_rounds,
)
from hockney.models.schedules.schedule import Layer, Mode, Step, Steps, algorithm, copying, step


@algorithm("bcast", "binomial", form=tree_rounds(THAKUR))
def binomial_bcast(ranks: int, size: int) -> Steps:
    yield from binomial_down(ranks, size)


@algorithm("bcast", "linear", form=linear(PJESIVAC))
def linear_bcast(ranks: int, size: int) -> Steps:
    yield from from_root(ranks, size)


SEGMENT_BYTES = 8192
"""Bytes of a segment of a segmented broadcast, as in `engine/coll/pipeline.hpp`."""


def _segment_sizes(size: int) -> np.ndarray:
    """Bytes of each segment. An empty message has one segment."""
    sizes = np.full(max(-(-size // SEGMENT_BYTES), 1), SEGMENT_BYTES)
    sizes[-1] = size - SEGMENT_BYTES * (len(sizes) - 1)
    return sizes


def _chain_terms(ranks: int, size: int) -> Terms:
    segments = len(_segment_sizes(size))
    turns = segments + ranks - 2
    return turns, turns * size / segments, 0


@algorithm("bcast", "chain", form=ClosedForm("(P − 2 + S)(α + β m/S), S segments", PJESIVAC, _chain_terms))
def chain_bcast(ranks: int, size: int) -> Steps:
    """Each rank forwards a segment while it receives the next one."""
    if ranks < 2:
        return
    sizes = _segment_sizes(size)
    for round_number in range(len(sizes) + ranks - 2):
        rank = np.arange(max(round_number - len(sizes) + 1, 0), min(round_number + 1, ranks - 1))
        yield step(rank, rank + 1, sizes[round_number - rank], mode=Mode.POSTED)


def _binary_tree_terms(ranks: int, size: int) -> Terms:
    """The terms. A rank with two children serves both in each step."""
    segments = len(_segment_sizes(size))
    turns = segments if ranks < 3 else 2 * (doubling_rounds(ranks + 1) + segments - 2)
    return turns, turns * size / segments, 0


BINARY_TREE = ClosedForm(
    "2 (log(P + 1) + S − 2)(α + β m/S), S segments", PJESIVAC, _binary_tree_terms, has_full_tree
)


@algorithm("bcast", "binary_tree", form=BINARY_TREE)
def binary_tree_bcast(ranks: int, size: int) -> Steps:
    """The children of rank r are 2 r + 1 and 2 r + 2. In each step, a segment moves down one level, followed
    by the next segment."""
    if ranks < 2:
        return
    sizes = _segment_sizes(size)
    parents = np.arange(ranks // 2)
    level = np.array([(int(rank) + 1).bit_length() - 1 for rank in parents], dtype=int)
    for round_number in range(len(sizes) + int(level.max())):
        segment = round_number - level
        is_active = (segment >= 0) & (segment < len(sizes))
        layers = []
        for child in (1, 2):
            senders = parents[is_active & (2 * parents + child < ranks)]
            if len(senders):
                layers.append(Layer(senders, 2 * senders + child, sizes[segment[senders]]))
        yield Step(tuple(layers), Mode.POSTED)


def _scatter_allgather_terms(ranks: int, size: int) -> Terms:
    return doubling_rounds(ranks) + ranks - 1, 2 * size * (ranks - 1) / ranks, 0


SCATTER_ALLGATHER = ClosedForm("(log P + P − 1) α + 2 (P − 1)/P β m", THAKUR, _scatter_allgather_terms)


@algorithm("bcast", "scatter_allgather", form=SCATTER_ALLGATHER)
def scatter_allgather_bcast(ranks: int, size: int) -> Steps:
    """M. Barnett et al., 1994. Parts of the message travel down a binomial tree, then around a ring."""
    parts = part_bytes(size, ranks)
    yield from binomial_parts_down(ranks, parts)
    all_ranks = np.arange(ranks)
    for round_number in range(ranks - 1):
        yield step(
            all_ranks, (all_ranks + 1) % ranks, parts[(all_ranks - round_number) % ranks], mode=Mode.EXCHANGE
        )


@algorithm("gather", "linear", form=linear(CHAN))
def linear_gather(ranks: int, size: int) -> Steps:
    yield copying(1, size)
    yield from to_root(ranks, size)


@algorithm("scatter", "linear", form=linear(CHAN))
def linear_scatter(ranks: int, size: int) -> Steps:
    yield from from_root(ranks, size)
    yield copying(1, size)


@algorithm("gather", "binomial", form=doubling_blocks(CHAN))
def binomial_gather(ranks: int, size: int) -> Steps:
    yield copying(_ranks_with_children(ranks), size)
    yield from binomial_up(ranks, size_of_blocks(size))


@algorithm("scatter", "binomial", form=doubling_blocks(CHAN))
def binomial_scatter(ranks: int, size: int) -> Steps:
    """The farthest children are served first."""
    yield from binomial_parts_down(ranks, np.full(ranks, size))
    yield copying(_ranks_with_children(ranks), size)


def _ranks_with_children(ranks: int) -> np.ndarray:
    """The ranks of a binomial tree with children, and its root."""
    all_ranks = np.arange(ranks)
    return all_ranks[(all_ranks % 2 == 0) & ((all_ranks + 1 < ranks) | (all_ranks == 0))]


@algorithm("scatter", "binomial_nearest")
def binomial_scatter_nearest(ranks: int, size: int) -> Steps:
    """SMPI's variant. The nearest children are served first, each with its whole subtree. A rank can send
    once its parent has served the nearer children, so ranks with fewer bits come first."""
    all_ranks = np.arange(ranks)
    bits = np.array([int(rank).bit_count() for rank in all_ranks])
    for depth in range(int(bits.max())):
        parents = all_ranks[bits == depth]
        lowest_bit = np.where(parents > 0, parents & -parents, ranks)
        for distance in doubling_distances(ranks):
            parent = parents[(distance < lowest_bit) & (parents + distance < ranks)]
            if len(parent):
                subtree_sizes = np.minimum(distance, ranks - parent - distance)
                yield step(parent, parent + distance, subtree_sizes * size)


@algorithm("allgather", "ring", form=linear(THAKUR))
def ring_allgather(ranks: int, size: int) -> Steps:
    yield copying(ranks, size)
    for _ in range(ranks - 1):
        yield shift(ranks, 1, size=size)


def _neighbor_exchange_terms(ranks: int, size: int) -> Terms:
    return ranks - 1 if ranks % 2 else ranks // 2, (ranks - 1) * size, 0


NEIGHBOR_EXCHANGE = ClosedForm("P/2 α + (P − 1) β m", CHEN, _neighbor_exchange_terms)


@algorithm("allgather", "neighbor_exchange", form=NEIGHBOR_EXCHANGE)
def neighbor_exchange(ranks: int, size: int) -> Steps:
    """J. Chen et al., 2005. An even rank exchanges alternately with the rank above and the rank below. Odd
    numbers of ranks use a ring instead."""
    if ranks % 2:
        yield from ring_allgather(ranks, size)
        return
    yield copying(ranks, size)
    all_ranks = np.arange(ranks)
    for round_number in range(ranks // 2):
        is_partner_above = (all_ranks + round_number) % 2 == 0
        partner = (all_ranks + np.where(is_partner_above, 1, -1)) % ranks
        yield step(all_ranks, partner, 2 * size if round_number else size, mode=Mode.EXCHANGE)


@algorithm("alltoall", "pairwise_exchange", form=linear(THAKUR))
def pairwise_exchange(ranks: int, size: int) -> Steps:
    """If the number of ranks is a power of two, partners are determined by xor."""
    yield copying(ranks, size)
    yield from pairwise(ranks, size) if ranks & (ranks - 1) else pairwise_xor(ranks, size)


@algorithm("alltoall", "pairwise")
@algorithm("allgather", "pairwise")
def pairwise(ranks: int, size: int) -> Steps:
    """In round k, each rank sends to the rank k places above it."""
    for distance in range(1, ranks):
        yield shift(ranks, distance, size=size, untouched=True)


@algorithm("alltoall", "pairwise_xor")
@algorithm("allgather", "pairwise_xor")
def pairwise_xor(ranks: int, size: int) -> Steps:
    """In round k, each rank exchanges with the rank whose number is its own xor k. Only for powers of two."""
    require_power_of_two(ranks)
    all_ranks = np.arange(ranks)
    for distance in range(1, ranks):
        yield step(all_ranks, all_ranks ^ distance, size, mode=Mode.EXCHANGE, untouched=True)


@algorithm("alltoall", "linear", form=linear(THAKUR))
def linear_alltoall(ranks: int, size: int) -> Steps:
    """All messages are posted at once: first the overheads of all sends, then those of all receives as
    messages arrive."""
    if ranks > 1:
        yield shift(ranks, *range(ranks - 1, 0, -1), size=size, mode=Mode.POSTED, untouched=True)
    yield copying(ranks, size)


def linear_alltoall_in_order(ranks: int, size: int) -> Steps:
    """A variant of `linear_alltoall` in which all ranks send to rank 0 first, then to rank 1, and so on."""
    if ranks > 1:
        all_ranks = np.arange(ranks)
        layers = []
        for rank_sum in range(1, 2 * ranks - 2):
            target = rank_sum - all_ranks
            is_valid = (target >= 0) & (target < ranks) & (target != all_ranks)
            sizes = np.full(np.count_nonzero(is_valid), float(size))
            layers.append(Layer(all_ranks[is_valid], target[is_valid], sizes))
        yield Step(tuple(layers), Mode.POSTED, untouched=True)
    yield copying(ranks, size)


def _bruck_block_counts(ranks: int) -> list[int]:
    """The number of blocks per message in each round."""
    return [int(np.count_nonzero(np.arange(ranks) & distance)) for distance in doubling_distances(ranks)]


def _bruck_terms(ranks: int, size: int) -> Terms:
    return doubling_rounds(ranks), sum(_bruck_block_counts(ranks)) * size, 0


BRUCK_ALLTOALL = ClosedForm("log P (α + P/2 β m)", THAKUR, _bruck_terms)


@algorithm("alltoall", "bruck", form=BRUCK_ALLTOALL)
def bruck_alltoall(ranks: int, size: int) -> Steps:
    """The blocks of a message are packed and unpacked. All blocks are rotated before and after."""
    yield copying(ranks, ranks * size)
    for distance, count in zip(doubling_distances(ranks), _bruck_block_counts(ranks), strict=True):
        yield copying(ranks, count * size)
        yield shift(ranks, distance, size=count * size)
        yield copying(ranks, count * size)
    yield copying(ranks, ranks * size)


def _bruck_allgather_terms(ranks: int, size: int) -> Terms:
    return doubling_rounds(ranks), (ranks - 1) * size, 0


BRUCK_ALLGATHER = ClosedForm("log P α + (P − 1) β m", THAKUR, _bruck_allgather_terms)


@algorithm("allgather", "bruck", form=BRUCK_ALLGATHER)
def bruck_allgather(ranks: int, size: int) -> Steps:
    """All blocks are rotated at the end."""
    yield copying(ranks, size)
    for distance in doubling_distances(ranks):
        yield shift(ranks, -distance, size=min(distance, ranks - distance) * size)
    yield copying(ranks, ranks * size)


def _doubling_terms(ranks: int, size: int) -> Terms:
    """The terms. If the number of ranks is not a power of two, a block goes to a partner first, and all
    blocks come back."""
    power = largest_power_of_two(ranks)
    has_extra_ranks = int(ranks > power)
    return (
        doubling_rounds(power) + 2 * has_extra_ranks,
        ((1 + has_extra_ranks) * ranks - 1 + has_extra_ranks) * size,
        0,
    )


RECURSIVE_DOUBLING = ClosedForm("log P α + (P − 1) β m", THAKUR, _doubling_terms, is_power_of_two)


@algorithm("allgather", "recursive_doubling", form=RECURSIVE_DOUBLING)
def doubling_allgather(ranks: int, size: int) -> Steps:
    """If the number of ranks is not a power of two, the first ranks fold pairwise. At the end, the even ones
    receive all blocks, including their own."""
    folding = Folding(ranks)
    yield copying(ranks, size)
    yield from folding.fold(size)
    place = np.arange(folding.power)
    for distance in doubling_distances(folding.power):
        first_place = place & -distance
        blocks = folding.first_rank(first_place + distance) - folding.first_rank(first_place)
        partner = folding.rank_of(place ^ distance)
        yield step(folding.rank_of(place), partner, blocks * size, mode=Mode.EXCHANGE)
    yield from folding.unfold(ranks * size)
