# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Who tells whom in barriers that are made of messages: one algorithm a function, its steps in an order that
every rank's own order agrees with. The engine's shelf `sync` has the same algorithms by the same names, and
what they cost is counted there; a test holds both against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

Ranks = np.ndarray


@dataclass(frozen=True)
class Step:
    """Messages as layers of (sources, targets), in each of which a rank sends at most once and receives at
    most once. With `at_once` a rank sends all its messages, then receives all that are for it, as they come;
    else it sends and receives one after the other (then there is one layer, and no rank is in it twice).
    `broadcast`: the message is part of MPI_Bcast."""

    layers: tuple[tuple[Ranks, Ranks], ...]
    at_once: bool = False
    broadcast: bool = False


Steps = Iterator[Step]


def _told(source: Ranks | list[int], target: Ranks | list[int], broadcast: bool = False) -> Step:
    return Step(((np.asarray(source, dtype=int), np.asarray(target, dtype=int)),), broadcast=broadcast)


def _all_to(ranks: int, *away: int) -> Step:
    """Each rank to those so many places further on."""
    everyone = np.arange(ranks)
    return Step(tuple((everyone, (everyone + far) % ranks) for far in away), at_once=True)


def _doublings(ranks: int) -> list[int]:
    return [1 << k for k in range(rounds_of_two(ranks))]


def rounds_of_two(ranks: int) -> int:
    """ceil(log2(ranks))."""
    return (ranks - 1).bit_length()


def dissemination(ranks: int) -> Steps:
    for step in _doublings(ranks):
        yield _all_to(ranks, step)


MOST_WAYS = 15


def _rounds_with(ways: int, ranks: int) -> int:
    rounds, reached = 0, 1
    while reached < ranks:
        reached *= ways + 1
        rounds += 1
    return rounds


def _ways(ranks: int) -> int:
    """As the engine chooses them: a round costs 3, each of its messages 1."""
    choices = [1, *range(2, min(MOST_WAYS, ranks - 1) + 1)]
    return min(choices, key=lambda ways: _rounds_with(ways, ranks) * (3 + ways))


def dissemination_nway(ranks: int) -> Steps:
    ways, step = _ways(ranks), 1
    while step < ranks:
        yield _all_to(ranks, *range(step, min(ways * step, ranks - 1) + 1, step))
        step *= ways + 1


def total_exchange(ranks: int) -> Steps:
    if ranks > 1:
        yield _all_to(ranks, *range(1, ranks))


def total_exchange_sendrecv(ranks: int) -> Steps:
    for away in range(1, ranks):
        yield _all_to(ranks, away)


def total_exchange_bcast(ranks: int) -> Steps:
    for root in range(ranks):
        yield from _broadcast(ranks, root)


def _broadcast(ranks: int, root: int = 0) -> Steps:
    """MPI's own business; a binomial tree is what most have for short messages."""
    for step in reversed(_doublings(ranks)):
        source = np.arange(0, ranks - step, 2 * step)
        yield _told((source + root) % ranks, (source + step + root) % ranks, broadcast=True)


def central(ranks: int) -> Steps:
    for other in range(1, ranks):
        yield _told([other], [0])
    for other in range(1, ranks):
        yield _told([0], [other])


def _up(ranks: int) -> Steps:
    for step in _doublings(ranks):
        winner = np.arange(0, ranks - step, 2 * step)
        yield _told(winner + step, winner)


def binomial(ranks: int) -> Steps:
    yield from _up(ranks)
    for step in reversed(_doublings(ranks)):
        winner = np.arange(0, ranks - step, 2 * step)
        yield _told(winner, winner + step)


def tournament(ranks: int) -> Steps:
    yield from _up(ranks)
    yield from _broadcast(ranks)


ARRIVAL_WAYS = 4
WAKE_UP_WAYS = 2


def _arrivals(ranks: int) -> Steps:
    """From the deepest ranks up; a parent hears its children in order."""
    for parent in reversed(range(ranks)):
        for child in range(ARRIVAL_WAYS * parent + 1, min(ARRIVAL_WAYS * (parent + 1) + 1, ranks)):
            yield _told([child], [parent])


def mcs_tree(ranks: int) -> Steps:
    yield from _arrivals(ranks)
    for parent in range(ranks):
        for child in range(WAKE_UP_WAYS * parent + 1, min(WAKE_UP_WAYS * (parent + 1) + 1, ranks)):
            yield _told([parent], [child])


def mcs_tree_bcast(ranks: int) -> Steps:
    yield from _arrivals(ranks)
    yield from _broadcast(ranks)


def recursive_doubling(ranks: int) -> Steps:
    power = 1 << (ranks.bit_length() - 1)
    over = np.arange(ranks - power)
    if len(over):
        yield _told(over + power, over)
    members = np.arange(power)
    for step in _doublings(power):
        yield Step(((members, members ^ step),), at_once=True)
    if len(over):
        yield _told(over, over + power)


def butterfly(ranks: int) -> Steps:
    """Brooks: a rank also plays the one half the butterfly above it where no rank has that number."""
    if ranks < 2:
        return
    rounds = rounds_of_two(ranks)
    places = np.arange(1 << rounds)
    player = np.where(places < ranks, places, places - (1 << (rounds - 1)))
    for step in _doublings(ranks):
        other = player[places ^ step]
        layers = []
        for played in (places < ranks, places >= ranks):
            sends = played & (other != player)
            if sends.any():
                layers += _apart(player[sends], other[sends])
        yield Step(tuple(layers), at_once=True)


def _apart(source: Ranks, target: Ranks) -> list[tuple[Ranks, Ranks]]:
    """In layers in which no target is twice."""
    _, first = np.unique(target, return_index=True)
    here = np.isin(np.arange(len(target)), first)
    if here.all():
        return [(source, target)]
    return [(source[here], target[here]), *_apart(source[~here], target[~here])]


STEPS: dict[str, Callable[[int], Steps]] = {
    "binomial": binomial,
    "butterfly": butterfly,
    "central": central,
    "dissemination": dissemination,
    "dissemination_mcs": dissemination,
    "dissemination_nway": dissemination_nway,
    "mcs_tree": mcs_tree,
    "mcs_tree_bcast": mcs_tree_bcast,
    "persistent": dissemination,
    "recursive_doubling": recursive_doubling,
    "total_exchange": total_exchange,
    "total_exchange_bcast": total_exchange_bcast,
    "total_exchange_sendrecv": total_exchange_sendrecv,
    "tournament": tournament,
    "tournament_mcs": binomial,
}
"""By the engine's names."""
