# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules of message-based barriers, named after their files in `engine/sync/`. A test compares their
traffic with the engine's counts.

Messages are empty, except that those of MPI_Bcast have one byte. A binomial tree represents MPI's own
algorithm, since most libraries use it for short messages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hockney.models.schedules.blocks import (
    binomial_down,
    binomial_up,
    constant_size,
    from_root,
    hypercube_steps,
    shift,
    to_root,
)
from hockney.models.schedules.closed_form import doubling_distances, doubling_rounds, largest_power_of_two
from hockney.models.schedules.schedule import Layer, Mode, Step, Steps, algorithm, relation, step

EMPTY_BYTES = 0
BROADCAST_BYTES = 1
"""Bytes of a broadcast in a barrier."""

Barrier = Callable[[int], Steps]


def barrier(*names: str) -> Callable[[Barrier], Barrier]:
    """Register the schedule of a barrier, which has no size."""

    def register(function: Barrier) -> Barrier:
        def schedule(ranks: int, size: int = EMPTY_BYTES) -> Steps:
            return function(ranks)

        algorithm("barrier", *names)(schedule)
        return function

    return register


@barrier("dissemination", "dissemination_mcs", "persistent")
def dissemination(ranks: int) -> Steps:
    """D. Hensgen, R. Finkel, U. Manber, 1988."""
    for distance in doubling_distances(ranks):
        yield shift(ranks, distance)


MAX_WAYS = 15


def _round_count(ways: int, ranks: int) -> int:
    rounds, reached = 0, 1
    while reached < ranks:
        reached *= ways + 1
        rounds += 1
    return rounds


def _best_ways(ranks: int) -> int:
    """The number of messages per round, chosen as in the engine: a round costs 3, each of its messages 1."""
    choices = [1, *range(2, min(MAX_WAYS, ranks - 1) + 1)]
    return min(choices, key=lambda ways: _round_count(ways, ranks) * (3 + ways))


@barrier("dissemination_nway")
def dissemination_nway(ranks: int) -> Steps:
    ways, distance = _best_ways(ranks), 1
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
        yield from binomial_down(ranks, BROADCAST_BYTES, root)


@barrier("central")
def central(ranks: int) -> Steps:
    yield from to_root(ranks, EMPTY_BYTES)
    yield from from_root(ranks, EMPTY_BYTES)


@barrier("binomial", "tournament_mcs")
def binomial(ranks: int) -> Steps:
    yield from binomial_up(ranks, constant_size(EMPTY_BYTES))
    yield from binomial_down(ranks, EMPTY_BYTES)


@barrier("tournament", "tournament_parity")
def tournament(ranks: int) -> Steps:
    yield from binomial_up(ranks, constant_size(EMPTY_BYTES))
    yield from binomial_down(ranks, BROADCAST_BYTES)


ARRIVAL_WAYS = 4
WAKE_UP_WAYS = 2


def _arrival_steps(ranks: int) -> Steps:
    """Arrival from the deepest ranks to the root. A parent receives from its children in order."""
    for parent in reversed(range(ranks)):
        for child in range(ARRIVAL_WAYS * parent + 1, min(ARRIVAL_WAYS * (parent + 1) + 1, ranks)):
            yield step([child], [parent])


@barrier("mcs_tree")
def mcs_tree(ranks: int) -> Steps:
    """J. Mellor-Crummey, M. Scott, 1991."""
    yield from _arrival_steps(ranks)
    for parent in range(ranks):
        for child in range(WAKE_UP_WAYS * parent + 1, min(WAKE_UP_WAYS * (parent + 1) + 1, ranks)):
            yield step([parent], [child])


@barrier("mcs_tree_bcast")
def mcs_tree_bcast(ranks: int) -> Steps:
    yield from _arrival_steps(ranks)
    yield from binomial_down(ranks, BROADCAST_BYTES)


@barrier("recursive_doubling")
def recursive_doubling(ranks: int) -> Steps:
    """Ranks beyond a power of two first report to a partner, which releases them at the end."""
    yield from _doubling_steps(ranks, Mode.BLOCKING)


def recursive_doubling_sendrecv(ranks: int) -> Steps:
    """The variant of Open MPI and SMPI: a rank beyond a power of two reports with the sending half of
    MPI_Sendrecv."""
    yield from _doubling_steps(ranks, Mode.POSTED)


def _doubling_steps(ranks: int, report_mode: Mode) -> Steps:
    power = largest_power_of_two(ranks)
    extra = np.arange(ranks - power)
    if len(extra):
        yield step(extra + power, extra, mode=report_mode)
    yield from hypercube_steps(np.arange(power), constant_size(EMPTY_BYTES))
    if len(extra):
        yield step(extra, extra + power)


def linear(ranks: int) -> Steps:
    """The basic linear barrier of Open MPI and SMPI: rank 0 receives in order of arrival, then sends to each
    rank without waiting."""
    if ranks > 1:
        root = np.array([0])
        yield Step(tuple(Layer(np.array([rank]), root, EMPTY_BYTES) for rank in range(1, ranks)))
    yield from from_root(ranks, EMPTY_BYTES, Mode.POSTED)


@barrier("butterfly")
def butterfly(ranks: int) -> Steps:
    """E. D. Brooks, 1986. A rank also acts for the rank half the butterfly above it if that rank does not
    exist."""
    if ranks < 2:
        return
    rounds = doubling_rounds(ranks)
    places = np.arange(1 << rounds)
    player = np.where(places < ranks, places, places - (1 << (rounds - 1)))
    for distance in doubling_distances(ranks):
        partner = player[places ^ distance]
        own_messages = relation(player[:ranks], partner[:ranks])
        substitute_messages = relation(player[ranks:], partner[ranks:])
        yield Step(own_messages.layers + substitute_messages.layers, Mode.EXCHANGE)
