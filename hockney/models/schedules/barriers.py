# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of message-based barriers, named like their files in `engine/sync/`. A test compares their
traffic with the engine's counts.

Messages are empty; those of MPI_Bcast have one byte, and a binomial tree stands for MPI's own algorithm,
since most libraries use it for short messages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hockney.models.schedules.blocks import (
    binomial_down,
    binomial_up,
    from_root,
    hypercube,
    same,
    shift,
    to_root,
)
from hockney.models.schedules.closed_form import doublings, power_below, rounds_of_two
from hockney.models.schedules.schedule import Layer, Mode, Step, Steps, algorithm, relation, step

EMPTY = 0
BROADCAST = 1
"""Bytes of a broadcast in a barrier."""

Barrier = Callable[[int], Steps]


def barrier(*names: str) -> Callable[[Barrier], Barrier]:
    """Register the schedule of a barrier, which has no size."""

    def register(function: Barrier) -> Barrier:
        def schedule(ranks: int, size: int = EMPTY) -> Steps:
            return function(ranks)

        algorithm("barrier", *names)(schedule)
        return function

    return register


@barrier("dissemination", "dissemination_mcs", "persistent")
def dissemination(ranks: int) -> Steps:
    """D. Hensgen, R. Finkel, U. Manber, 1988."""
    for distance in doublings(ranks):
        yield shift(ranks, distance)


MOST_WAYS = 15


def _rounds_with(ways: int, ranks: int) -> int:
    rounds, reached = 0, 1
    while reached < ranks:
        reached *= ways + 1
        rounds += 1
    return rounds


def _ways(ranks: int) -> int:
    """The same choice as in the engine: a round costs 3, each of its messages 1."""
    choices = [1, *range(2, min(MOST_WAYS, ranks - 1) + 1)]
    return min(choices, key=lambda ways: _rounds_with(ways, ranks) * (3 + ways))


@barrier("dissemination_nway")
def dissemination_nway(ranks: int) -> Steps:
    ways, distance = _ways(ranks), 1
    while distance < ranks:
        yield shift(ranks, *range(distance, min(ways * distance, ranks - 1) + 1, distance))
        distance *= ways + 1


@barrier("total_exchange")
def total_exchange(ranks: int) -> Steps:
    if ranks > 1:
        yield shift(ranks, *range(1, ranks))


@barrier("total_exchange_sendrecv")
def total_exchange_sendrecv(ranks: int) -> Steps:
    for distance in range(1, ranks):
        yield shift(ranks, distance)


@barrier("total_exchange_bcast")
def total_exchange_bcast(ranks: int) -> Steps:
    for root in range(ranks):
        yield from binomial_down(ranks, BROADCAST, root)


@barrier("central")
def central(ranks: int) -> Steps:
    yield from to_root(ranks, EMPTY)
    yield from from_root(ranks, EMPTY)


@barrier("binomial", "tournament_mcs")
def binomial(ranks: int) -> Steps:
    yield from binomial_up(ranks, same(EMPTY))
    yield from binomial_down(ranks, EMPTY)


@barrier("tournament", "tournament_parity")
def tournament(ranks: int) -> Steps:
    yield from binomial_up(ranks, same(EMPTY))
    yield from binomial_down(ranks, BROADCAST)


ARRIVAL_WAYS = 4
WAKE_UP_WAYS = 2


def _arrivals(ranks: int) -> Steps:
    """Arrival from the deepest ranks up; a parent receives from its children in order."""
    for parent in reversed(range(ranks)):
        for child in range(ARRIVAL_WAYS * parent + 1, min(ARRIVAL_WAYS * (parent + 1) + 1, ranks)):
            yield step([child], [parent])


@barrier("mcs_tree")
def mcs_tree(ranks: int) -> Steps:
    """J. Mellor-Crummey, M. Scott, 1991."""
    yield from _arrivals(ranks)
    for parent in range(ranks):
        for child in range(WAKE_UP_WAYS * parent + 1, min(WAKE_UP_WAYS * (parent + 1) + 1, ranks)):
            yield step([parent], [child])


@barrier("mcs_tree_bcast")
def mcs_tree_bcast(ranks: int) -> Steps:
    yield from _arrivals(ranks)
    yield from binomial_down(ranks, BROADCAST)


@barrier("recursive_doubling")
def recursive_doubling(ranks: int) -> Steps:
    """Ranks beyond a power of two report to a partner first and are released by it last."""
    yield from _folded_doubling(ranks, Mode.BLOCKING)


def recursive_doubling_sendrecv(ranks: int) -> Steps:
    """Open MPI's and SMPI's variant: a rank beyond a power of two reports by the sending half of an
    MPI_Sendrecv."""
    yield from _folded_doubling(ranks, Mode.POSTED)


def _folded_doubling(ranks: int, report: Mode) -> Steps:
    power = power_below(ranks)
    extra = np.arange(ranks - power)
    if len(extra):
        yield step(extra + power, extra, mode=report)
    yield from hypercube(np.arange(power), same(EMPTY))
    if len(extra):
        yield step(extra, extra + power)


def linear(ranks: int) -> Steps:
    """Open MPI's and SMPI's basic linear barrier: rank 0 receives in order of arrival, then sends to each
    without waiting."""
    if ranks > 1:
        root = np.array([0])
        yield Step(tuple(Layer(np.array([rank]), root, EMPTY) for rank in range(1, ranks)))
    yield from from_root(ranks, EMPTY, Mode.POSTED)


@barrier("butterfly")
def butterfly(ranks: int) -> Steps:
    """E. D. Brooks, 1986: a rank also acts as the one half the butterfly above it if no rank has that
    number."""
    if ranks < 2:
        return
    rounds = rounds_of_two(ranks)
    places = np.arange(1 << rounds)
    player = np.where(places < ranks, places, places - (1 << (rounds - 1)))
    for distance in doublings(ranks):
        partner = player[places ^ distance]
        own = relation(player[:ranks], partner[:ranks])
        added = relation(player[ranks:], partner[ranks:])
        yield Step(own.layers + added.layers, Mode.EXCHANGE)
