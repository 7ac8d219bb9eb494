# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of reductions with rank 0 as the root, by the names of their files in `engine/coll/`. A test
compares their messages with the engine's. `size` is the bytes of each rank's vector, or of each rank's block
of a reduce-scatter."""

from __future__ import annotations

import numpy as np

from hockney.models.schedules.blocks import (
    Folding,
    binomial_down,
    binomial_up,
    hypercube,
    part_bytes,
    same,
)
from hockney.models.schedules.closed_form import (
    PATARASUK,
    PJESIVAC,
    SANDERS,
    THAKUR,
    TRAFF,
    ClosedForm,
    Terms,
    doublings,
    halves,
    linear,
    power_below,
    powers_of_two,
    rounds_of_two,
    tree,
)
from hockney.models.schedules.schedule import Mode, Steps, algorithm, copying, step

DOUBLE = 8
"""Bytes of an element, which no part of a vector divides."""


def _elements(size: int) -> tuple[int, int]:
    """Elements of a vector, and the bytes of each."""
    return (size, 1) if size % DOUBLE else (size // DOUBLE, DOUBLE)


@algorithm("reduce", "linear", form=linear(PJESIVAC, combine=True))
def linear_reduce(ranks: int, size: int) -> Steps:
    """Nothing to reduce needs no message; the root receives from the last rank first."""
    if size > 0:
        for rank in reversed(range(1, ranks)):
            yield step([rank], [0], size, combine=True)


@algorithm("reduce", "binomial", form=tree(THAKUR, combine=True))
def binomial_reduce(ranks: int, size: int) -> Steps:
    """Nothing to reduce needs no message. Ranks with children combine into a copy of their own vector."""
    if size > 0:
        yield copying(np.arange(0, ranks, 2), size)
        yield from binomial_up(ranks, same(size), combine=True)


class _Halving:
    """A vector halved by places, and joined again (R. Rabenseifner, 2004)."""

    def __init__(self, fold: Folding, size: int) -> None:
        count, self.unit = _elements(size)
        self.fold = fold
        self.place = np.arange(fold.power)
        first, last = np.zeros(fold.power, dtype=int), np.full(fold.power, count)
        self.lengths = [last]
        """Elements of each place's part, before the first step and after each."""
        for distance in doublings(fold.power):
            middle = first + (last - first) // 2
            upper = (self.place & distance) > 0
            first, last = np.where(upper, middle, first), np.where(upper, last, middle)
            self.lengths.append(last - first)

    def reduce_scatter(self) -> Steps:
        rank = self.fold.rank_of(self.place)
        for after, distance in zip(self.lengths[1:], doublings(self.fold.power), strict=True):
            partner = self.place ^ distance
            sizes = after[partner] * self.unit
            yield step(rank, self.fold.rank_of(partner), sizes, mode=Mode.EXCHANGE, combine=True)

    def allgather(self) -> Steps:
        rank = self.fold.rank_of(self.place)
        for own, distance in self._back():
            yield step(rank, self.fold.rank_of(self.place ^ distance), own * self.unit, mode=Mode.EXCHANGE)

    def gather(self) -> Steps:
        """To place 0."""
        for own, distance in self._back():
            place = np.arange(distance, 2 * distance)
            sizes = own[place] * self.unit
            yield step(self.fold.rank_of(place), self.fold.rank_of(place - distance), sizes)

    def _back(self) -> list[tuple[np.ndarray, int]]:
        """The lengths after each step and its distance, the last step first."""
        return list(zip(self.lengths[1:], doublings(self.fold.power), strict=True))[::-1]


@algorithm("reduce", "rabenseifner", form=halves(THAKUR, unfold=False))
def rabenseifner_reduce(ranks: int, size: int) -> Steps:
    """Sends nothing if `size` is 0. In each folded pair the odd rank represents both, except in the root's,
    which the root represents."""
    if size == 0:
        return
    fold = Folding(ranks, root=0)
    yield copying(fold.rank_of(np.arange(fold.power)), size)
    yield from fold.fold(size, combine=True)
    halving = _Halving(fold, size)
    yield from halving.reduce_scatter()
    yield from halving.gather()


def _doubled(ranks: int, size: int) -> Terms:
    """Beyond a power of two a vector goes to a partner first, and the result comes back."""
    power = power_below(ranks)
    folded = int(ranks > power)
    rounds = rounds_of_two(power) + folded
    return rounds + folded, (rounds + folded) * size, rounds * size


RECURSIVE_DOUBLING = ClosedForm("log P (α + β m + γ m)", THAKUR, _doubled)


@algorithm("allreduce", "recursive_doubling", form=RECURSIVE_DOUBLING)
def doubling_allreduce(ranks: int, size: int) -> Steps:
    """R. Thakur, R. Rabenseifner, W. Gropp, 2005: beyond a power of two the first ranks fold pairwise."""
    fold = Folding(ranks)
    yield copying(ranks, size)
    yield from fold.fold(size, combine=True)
    yield from hypercube(fold.rank_of(np.arange(fold.power)), same(size), combine=True)
    yield from fold.unfold(size)


@algorithm("allreduce", "rabenseifner", form=halves(THAKUR, unfold=True))
def rabenseifner_allreduce(ranks: int, size: int) -> Steps:
    fold = Folding(ranks)
    yield copying(ranks, size)
    yield from fold.fold(size, combine=True)
    halving = _Halving(fold, size)
    yield from halving.reduce_scatter()
    yield from halving.allgather()
    yield from fold.unfold(size)


def _ring(ranks: int, size: int) -> Terms:
    part = (ranks - 1) * size / ranks
    return 2 * (ranks - 1), 2 * part, part


RING = ClosedForm("2 (P − 1) α + 2 (P − 1)/P β m + (P − 1)/P γ m", PATARASUK, _ring)


@algorithm("allreduce", "ring", form=RING)
def ring_allreduce(ranks: int, size: int) -> Steps:
    """P. Patarasuk, X. Yuan, 2009: the parts of the vector travel round twice."""
    count, unit = _elements(size)
    parts = part_bytes(count, ranks) * unit
    everyone = np.arange(ranks)
    right = (everyone + 1) % ranks
    yield copying(ranks, size)
    for turn in range(ranks - 1):
        sizes = parts[(everyone - turn) % ranks]
        yield step(everyone, right, sizes, mode=Mode.EXCHANGE, combine=True)
    for turn in range(ranks - 1):
        yield step(everyone, right, parts[(right - turn) % ranks], mode=Mode.EXCHANGE)


def _up_and_down(ranks: int, size: int) -> Terms:
    rounds = rounds_of_two(ranks)
    return 2 * rounds, 2 * rounds * size, rounds * size


REDUCE_BROADCAST = ClosedForm("log P (2 α + 2 β m + γ m)", THAKUR, _up_and_down)


@algorithm("allreduce", "reduce_broadcast", form=REDUCE_BROADCAST)
def reduce_broadcast(ranks: int, size: int) -> Steps:
    yield from binomial_reduce(ranks, size)
    yield from binomial_down(ranks, size)


@algorithm("reduce_scatter_block", "pairwise", form=linear(THAKUR, combine=True))
def pairwise_reduce_scatter(ranks: int, size: int) -> Steps:
    everyone = np.arange(ranks)
    yield copying(ranks, size)
    for distance in range(1, ranks):
        above = (everyone + distance) % ranks
        yield step(everyone, above, size, mode=Mode.EXCHANGE, combine=True, untouched=True)


def _halved(ranks: int, size: int) -> Terms:
    """Beyond a power of two all blocks go to a partner first, and one comes back."""
    power = power_below(ranks)
    folded = int(ranks > power)
    combined = ((1 + folded) * ranks - 1) * size
    return rounds_of_two(power) + 2 * folded, combined + folded * size, combined


RECURSIVE_HALVING = ClosedForm("log P α + (P − 1)(β m + γ m)", TRAFF, _halved, powers_of_two)


@algorithm("reduce_scatter_block", "recursive_halving", form=RECURSIVE_HALVING)
def halving_reduce_scatter(ranks: int, size: int) -> Steps:
    """J. L. Träff, 2005: a place's blocks are those of its ranks."""
    fold = Folding(ranks)
    yield copying(ranks, ranks * size)
    yield from fold.fold(ranks * size, combine=True)
    place = np.arange(fold.power)
    blocks = np.where(place < fold.pairs, 2, 1)
    for distance in doublings(fold.power):
        # a place then still has the blocks of the places that agree with it in the lowest bits
        agreeing = place & (2 * distance - 1)
        kept = np.bincount(agreeing, weights=blocks)[agreeing]
        partner = place ^ distance
        sizes = kept[partner] * size
        yield step(fold.rank_of(place), fold.rank_of(partner), sizes, mode=Mode.EXCHANGE, combine=True)
    yield from fold.unfold(size)
    yield copying(fold.rank_of(np.arange(fold.power)), size)


@algorithm("scan", "linear", form=linear(SANDERS, combine=True))
def linear_scan(ranks: int, size: int) -> Steps:
    yield copying(ranks, size)
    for rank in range(1, ranks):
        yield step([rank - 1], [rank], size, combine=True)


@algorithm("scan", "recursive_doubling", form=tree(SANDERS, combine=True))
def doubling_scan(ranks: int, size: int) -> Steps:
    """W. D. Hillis, G. L. Steele, 1986."""
    yield copying(ranks, size)
    for distance in doublings(ranks):
        below = np.arange(ranks - distance)
        yield step(below, below + distance, size, mode=Mode.EXCHANGE, combine=True)
