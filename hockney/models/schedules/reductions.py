# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of reductions with rank 0 as the root, named after their files in `engine/coll/`. A test compares
their messages with the engine's. `size` is the bytes of each rank's vector, or of each rank's block of a
reduce-scatter."""

from __future__ import annotations

import numpy as np

from hockney.models.schedules.blocks import (
    Folding,
    binomial_down,
    binomial_up,
    constant_size,
    hypercube_steps,
    part_bytes,
)
from hockney.models.schedules.closed_form import (
    PATARASUK,
    PJESIVAC,
    SANDERS,
    THAKUR,
    TRAFF,
    ClosedForm,
    Terms,
    doubling_distances,
    doubling_rounds,
    halving,
    is_power_of_two,
    largest_power_of_two,
    linear,
    tree_rounds,
)
from hockney.models.schedules.schedule import Mode, Steps, algorithm, copying, step

DOUBLE_BYTES = 8
"""Bytes of an element. Vectors are only divided between elements."""


def _count_elements(size: int) -> tuple[int, int]:
    """The number of elements of a vector, and the bytes of each."""
    return (size, 1) if size % DOUBLE_BYTES else (size // DOUBLE_BYTES, DOUBLE_BYTES)


@algorithm("reduce", "linear", form=linear(PJESIVAC, combine=True))
def linear_reduce(ranks: int, size: int) -> Steps:
    """The root receives from the last rank first. An empty vector needs no messages."""
    if size > 0:
        for rank in reversed(range(1, ranks)):
            yield step([rank], [0], size, combine=True)


@algorithm("reduce", "binomial", form=tree_rounds(THAKUR, combine=True))
def binomial_reduce(ranks: int, size: int) -> Steps:
    """Ranks with children combine into a copy of their own vector. An empty vector needs no messages."""
    if size > 0:
        yield copying(np.arange(0, ranks, 2), size)
        yield from binomial_up(ranks, constant_size(size), combine=True)


class _Halving:
    """Recursive halving of a vector among places, and its inverse (R. Rabenseifner, 2004)."""

    def __init__(self, fold: Folding, size: int) -> None:
        count, self.unit = _count_elements(size)
        self.fold = fold
        self.place = np.arange(fold.power)
        first_elements, last_elements = np.zeros(fold.power, dtype=int), np.full(fold.power, count)
        self.lengths = [last_elements]
        """Elements of each place's part, before the first step and after each."""
        for distance in doubling_distances(fold.power):
            middles = first_elements + (last_elements - first_elements) // 2
            is_upper = (self.place & distance) > 0
            first_elements, last_elements = (
                np.where(is_upper, middles, first_elements),
                np.where(is_upper, last_elements, middles),
            )
            self.lengths.append(last_elements - first_elements)

    def reduce_scatter(self) -> Steps:
        rank = self.fold.rank_of(self.place)
        for lengths_after, distance in zip(
            self.lengths[1:], doubling_distances(self.fold.power), strict=True
        ):
            partner = self.place ^ distance
            sizes = lengths_after[partner] * self.unit
            yield step(rank, self.fold.rank_of(partner), sizes, mode=Mode.EXCHANGE, combine=True)

    def allgather(self) -> Steps:
        rank = self.fold.rank_of(self.place)
        for lengths, distance in self._reversed_steps():
            yield step(
                rank, self.fold.rank_of(self.place ^ distance), lengths * self.unit, mode=Mode.EXCHANGE
            )

    def gather(self) -> Steps:
        """Gather the parts at place 0."""
        for lengths, distance in self._reversed_steps():
            place = np.arange(distance, 2 * distance)
            sizes = lengths[place] * self.unit
            yield step(self.fold.rank_of(place), self.fold.rank_of(place - distance), sizes)

    def _reversed_steps(self) -> list[tuple[np.ndarray, int]]:
        """The lengths after each step and its distance, the last step first."""
        return list(zip(self.lengths[1:], doubling_distances(self.fold.power), strict=True))[::-1]


@algorithm("reduce", "rabenseifner", form=halving(THAKUR, unfold=False))
def rabenseifner_reduce(ranks: int, size: int) -> Steps:
    """An empty vector needs no messages. The odd rank of each folded pair represents it, except that the root
    represents its own pair."""
    if size == 0:
        return
    folding = Folding(ranks, root=0)
    yield copying(folding.rank_of(np.arange(folding.power)), size)
    yield from folding.fold(size, combine=True)
    vector_halving = _Halving(folding, size)
    yield from vector_halving.reduce_scatter()
    yield from vector_halving.gather()


def _doubling_terms(ranks: int, size: int) -> Terms:
    """The terms. If the number of ranks is not a power of two, a vector goes to a partner first, and the
    result comes back."""
    power = largest_power_of_two(ranks)
    has_extra_ranks = int(ranks > power)
    rounds = doubling_rounds(power) + has_extra_ranks
    return rounds + has_extra_ranks, (rounds + has_extra_ranks) * size, rounds * size


RECURSIVE_DOUBLING = ClosedForm("log P (α + β m + γ m)", THAKUR, _doubling_terms)


@algorithm("allreduce", "recursive_doubling", form=RECURSIVE_DOUBLING)
def doubling_allreduce(ranks: int, size: int) -> Steps:
    """R. Thakur, R. Rabenseifner, W. Gropp, 2005. If the number of ranks is not a power of two, the first
    ranks fold pairwise."""
    folding = Folding(ranks)
    yield copying(ranks, size)
    yield from folding.fold(size, combine=True)
    yield from hypercube_steps(folding.rank_of(np.arange(folding.power)), constant_size(size), combine=True)
    yield from folding.unfold(size)


@algorithm("allreduce", "rabenseifner", form=halving(THAKUR, unfold=True))
def rabenseifner_allreduce(ranks: int, size: int) -> Steps:
    folding = Folding(ranks)
    yield copying(ranks, size)
    yield from folding.fold(size, combine=True)
    vector_halving = _Halving(folding, size)
    yield from vector_halving.reduce_scatter()
    yield from vector_halving.allgather()
    yield from folding.unfold(size)


def _ring_terms(ranks: int, size: int) -> Terms:
    part = (ranks - 1) * size / ranks
    return 2 * (ranks - 1), 2 * part, part


RING = ClosedForm("2 (P − 1) α + 2 (P − 1)/P β m + (P − 1)/P γ m", PATARASUK, _ring_terms)


@algorithm("allreduce", "ring", form=RING)
def ring_allreduce(ranks: int, size: int) -> Steps:
    """P. Patarasuk, X. Yuan, 2009. The parts of the vector travel around the ring twice."""
    count, unit = _count_elements(size)
    parts = part_bytes(count, ranks) * unit
    all_ranks = np.arange(ranks)
    right_neighbor = (all_ranks + 1) % ranks
    yield copying(ranks, size)
    for round_number in range(ranks - 1):
        sizes = parts[(all_ranks - round_number) % ranks]
        yield step(all_ranks, right_neighbor, sizes, mode=Mode.EXCHANGE, combine=True)
    for round_number in range(ranks - 1):
        yield step(
            all_ranks, right_neighbor, parts[(right_neighbor - round_number) % ranks], mode=Mode.EXCHANGE
        )


def _reduce_broadcast_terms(ranks: int, size: int) -> Terms:
    rounds = doubling_rounds(ranks)
    return 2 * rounds, 2 * rounds * size, rounds * size


REDUCE_BROADCAST = ClosedForm("log P (2 α + 2 β m + γ m)", THAKUR, _reduce_broadcast_terms)


@algorithm("allreduce", "reduce_broadcast", form=REDUCE_BROADCAST)
def reduce_broadcast(ranks: int, size: int) -> Steps:
    yield from binomial_reduce(ranks, size)
    yield from binomial_down(ranks, size)


@algorithm("reduce_scatter_block", "pairwise", form=linear(THAKUR, combine=True))
def pairwise_reduce_scatter(ranks: int, size: int) -> Steps:
    all_ranks = np.arange(ranks)
    yield copying(ranks, size)
    for distance in range(1, ranks):
        partner = (all_ranks + distance) % ranks
        yield step(all_ranks, partner, size, mode=Mode.EXCHANGE, combine=True, untouched=True)


def _halving_terms(ranks: int, size: int) -> Terms:
    """The terms. If the number of ranks is not a power of two, all blocks go to a partner first, and one
    comes back."""
    power = largest_power_of_two(ranks)
    has_extra_ranks = int(ranks > power)
    combined_bytes = ((1 + has_extra_ranks) * ranks - 1) * size
    return (
        doubling_rounds(power) + 2 * has_extra_ranks,
        combined_bytes + has_extra_ranks * size,
        combined_bytes,
    )


RECURSIVE_HALVING = ClosedForm("log P α + (P − 1)(β m + γ m)", TRAFF, _halving_terms, is_power_of_two)


@algorithm("reduce_scatter_block", "recursive_halving", form=RECURSIVE_HALVING)
def halving_reduce_scatter(ranks: int, size: int) -> Steps:
    """J. L. Träff, 2005. The blocks of a place are those of its ranks."""
    folding = Folding(ranks)
    yield copying(ranks, ranks * size)
    yield from folding.fold(ranks * size, combine=True)
    place = np.arange(folding.power)
    blocks = np.where(place < folding.pairs, 2, 1)
    for distance in doubling_distances(folding.power):
        # a place then still has the blocks of the places with the same lowest bits
        low_bits = place & (2 * distance - 1)
        remaining_blocks = np.bincount(low_bits, weights=blocks)[low_bits]
        partner = place ^ distance
        sizes = remaining_blocks[partner] * size
        yield step(folding.rank_of(place), folding.rank_of(partner), sizes, mode=Mode.EXCHANGE, combine=True)
    yield from folding.unfold(size)
    yield copying(folding.rank_of(np.arange(folding.power)), size)


@algorithm("scan", "linear", form=linear(SANDERS, combine=True))
def linear_scan(ranks: int, size: int) -> Steps:
    yield copying(ranks, size)
    for rank in range(1, ranks):
        yield step([rank - 1], [rank], size, combine=True)


@algorithm("scan", "recursive_doubling", form=tree_rounds(SANDERS, combine=True))
def doubling_scan(ranks: int, size: int) -> Steps:
    """W. D. Hillis, G. L. Steele, 1986."""
    yield copying(ranks, size)
    for distance in doubling_distances(ranks):
        sender = np.arange(ranks - distance)
        yield step(sender, sender + distance, size, mode=Mode.EXCHANGE, combine=True)
