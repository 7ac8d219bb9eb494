# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What LogGP says a collective operation takes on a described machine, by the algorithm that it names.

Each algorithm is a recurrence over the ranks' clocks: overlapping steps, uneven trees and numbers of ranks
that are no power of two come out exactly. With P = 2**k equal ranks they reduce to the closed forms, where
m(x) = o_s + L + G x + o_r:

    dissemination barrier   k m(0)                            Hensgen, Finkel and Manber 1988
    binomial broadcast      k m(x)                            each step's receivers are later steps' senders
    binomial reduction      k (m(x) + c x)                    c: time to add, per byte
    recursive doubling      k (m(x) + c x)                    Thakur, Rabenseifner and Gropp 2005
    linear gather           o_s + L + G x + (P-1) o_r         Alexandrov, Ionescu, Schauser, Scheiman 1995
    linear scatter          (P-1) o_s + L + G x + o_r
    pairwise exchange       (P-1) m(x)

None of them knows of messages that share a link: predict() answers None where links must be what is slowest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hockney.core.algorithms import chosen
from hockney.core.platform import Platform
from hockney.models.messages import World

UNSHARED = 1e12
"""A rate in bytes per second from which on nothing takes from another."""
MODELLED_SHAPES = ("switch", "bus", "torus", "mesh")
"""Where the number of cables between two nodes is known here."""


def predict(platform: Platform, operation: str, ranks: int, size: int) -> float | None:
    """Seconds from the moment at which all `ranks` begin `operation` to the end of the last, rank 0 the root;
    `size` is the bytes of each rank's block or vector. None where the algorithm is not modelled, or where
    messages must wait for each other at a NIC, on a bus or a medium. Messages that meet on a cable of a torus
    or a mesh are not noticed."""
    if not 1 <= ranks <= platform.capacity or size < 0:
        return None
    if operation == "barrier" and platform.hardware_barrier_s is not None:
        return platform.hardware_barrier_s
    algorithm = _ALGORITHMS.get((operation, chosen(platform.collectives).get(operation, "")))
    network = platform.network
    if algorithm is None or network.medium_message_s or network.medium_s_per_byte:
        return None
    if network.hop_s and network.shape not in MODELLED_SHAPES:
        return None
    own = _own_time(platform, operation, size)
    if ranks == 1:
        return own
    world = World(platform, ranks)
    busiest = algorithm(world, size)
    if busiest is None:
        return None
    time = float(world.now.max())
    turns = 2 if network.duplex == "half" and algorithm in _BOTH_WAYS else 1
    return None if _shared(platform, turns * busiest, ranks) > time else own + time


def _own_time(platform: Platform, operation: str, size: int) -> float:
    """What the call takes each rank before any message."""
    points = platform.calls.get(operation)
    if not points:
        return 0.0
    last, seconds = points[-1]
    if size > last > 0:
        return seconds * size / last
    return float(np.interp(size, *zip(*points, strict=True)))


def _shared(platform: Platform, busiest: float, ranks: int) -> float:
    """Seconds for which the busiest node's NIC, or the one cable of a bus, must work at least."""
    network = platform.network
    cores = min(max(group.cores for group in platform.nodes), ranks)
    nic = busiest * cores / network.nic if network.nic < UNSHARED else 0.0
    cable = busiest * ranks / network.link if network.shape == "bus" and network.link < UNSHARED else 0.0
    return max(nic, cable)


Algorithm = Callable[[World, int], float | None]
"""Runs the operation in a world and answers the bytes that the busiest rank sends or receives; None where it
cannot."""


def _dissemination(world: World, size: int) -> float:
    distance = 1
    while distance < world.ranks:
        world.exchange(world.everyone, (world.everyone + distance) % world.ranks, 0)
        distance *= 2
    return 0.0


def _doubling_barrier(world: World, size: int) -> float:
    power = _power_below(world.ranks)
    extra = np.arange(world.ranks - power)
    if len(extra):
        return _folded_barrier(world, power, extra)
    _butterfly(world, world.everyone, lambda step: 0.0)
    return 0.0


def _folded_barrier(world: World, power: int, extra: np.ndarray) -> float:
    # The extra ranks begin by an exchange that their partners answer at the very end.
    posted = np.array([world.cost(power + int(r), int(r), 0)["isend"] for r in extra])
    costs = [world.cost(power + int(r), int(r), 0) for r in extra]
    flight = np.array([c["flight"] for c in costs])
    receive = np.array([c["receive"] for c in costs])
    world.now[extra] = np.maximum(world.now[extra], posted + flight) + receive
    world.now[power:] = posted
    _butterfly(world, np.arange(power), lambda step: 0.0)
    world.send(extra, extra + power, 0)
    return 0.0


def _butterfly(world: World, members: np.ndarray, size: Callable[[int], float], adding: float = 0.0) -> None:
    """Recursive doubling among `members`, a power of two of them."""
    place = np.arange(len(members))
    distance = 1
    while distance < len(members):
        world.exchange(members, members[place ^ distance], size(distance))
        if adding:
            world.spend(members, adding)
        distance *= 2


def _linear_barrier(world: World, size: int) -> float | None:
    others = world.everyone[1:]
    _gather_all_at_once(world, others)
    for rank in others:
        _isend(world, 0, int(rank))
    return 0.0


def _gather_all_at_once(world: World, others: np.ndarray) -> None:
    """The root receives empty messages as they come."""
    cost = [world.cost(int(rank), 0, 0) for rank in others]
    arrivals = np.array([c["send"] + c["flight"] for c in cost])
    receive = np.array([c["receive"] for c in cost])
    for k in np.argsort(arrivals, kind="stable"):
        world.now[0] = max(world.now[0], arrivals[k]) + receive[k]
    world.now[others] = [c["send"] for c in cost]


def _isend(world: World, source: int, target: int) -> None:
    cost = world.cost(source, target, 0)
    start = max(world.now[source] + cost["isend"], world.free[source])
    world.free[source] = start + cost["gap"]
    world.now[source] = start
    world.now[target] = max(world.now[target], start + cost["flight"]) + cost["receive"]


def _binomial_bcast(world: World, size: int) -> float:
    distance = _power_above(world.ranks) // 2
    while distance:
        source = np.arange(0, world.ranks - distance, 2 * distance)
        world.send(source, source + distance, size)
        distance //= 2
    return float(size * np.ceil(np.log2(world.ranks)))


def _binomial_reduce(world: World, size: int) -> float:
    if size == 0:
        return 0.0
    distance = 1
    while distance < world.ranks:
        target = np.arange(0, world.ranks - distance, 2 * distance)
        world.send(target + distance, target, size)
        world.spend(target, world.platform.sum_s_per_byte * size)
        distance *= 2
    return float(size * np.ceil(np.log2(world.ranks)))


def _reduce_bcast(world: World, size: int) -> float:
    return _binomial_reduce(world, size) + _binomial_bcast(world, size)


def _doubling_allreduce(world: World, size: int) -> float:
    power = _power_below(world.ranks)
    extra = world.ranks - power
    adding = world.platform.sum_s_per_byte * size
    even = np.arange(0, 2 * extra, 2)
    world.send(even, even + 1, size)
    world.spend(even + 1, adding)
    members = np.concatenate([even + 1, np.arange(2 * extra, world.ranks)])
    _butterfly(world, members, lambda step: size, adding)
    world.send(even + 1, even, size)
    return float(size * np.ceil(np.log2(world.ranks)))


def _linear_gather(world: World, size: int) -> float:
    for rank in range(1, world.ranks):
        world.send(np.array([rank]), np.array([0]), size)
    return float(size * (world.ranks - 1))


def _linear_scatter(world: World, size: int) -> float:
    for rank in range(1, world.ranks):
        world.send(np.array([0]), np.array([rank]), size)
    return float(size * (world.ranks - 1))


def _binomial_gather(world: World, size: int) -> float:
    distance = 1
    while distance < world.ranks:
        target = np.arange(0, world.ranks - distance, 2 * distance)
        blocks = np.minimum(distance, world.ranks - target - distance)
        world.send(target + distance, target, blocks * size)
        distance *= 2
    return float(size * (world.ranks - 1))


def _binomial_scatter(world: World, size: int) -> float:
    # Children are served nearest first, each with all that lies below it: a rank's turn comes when its parent
    # has served the nearer ones, so ranks with fewer bits come first.
    bits = np.array([int(rank).bit_count() for rank in world.everyone])
    for depth in range(int(bits.max())):
        parents = world.everyone[bits == depth]
        distance = 1
        while distance < world.ranks:
            lowest = np.where(parents > 0, parents & -parents, world.ranks)
            source = parents[(distance < lowest) & (parents + distance < world.ranks)]
            blocks = np.minimum(distance, world.ranks - source - distance)
            world.send(source, source + distance, blocks * size)
            distance *= 2
    return float(size * (world.ranks - 1))


def _pairwise(world: World, size: int) -> float:
    for distance in range(1, world.ranks):
        world.exchange(world.everyone, (world.everyone + distance) % world.ranks, size)
    return float(size * (world.ranks - 1))


def _linear_alltoall(world: World, size: int) -> float | None:
    """Everything is posted at once: overheads of all sends, then of all receives as messages come."""
    if size > world.platform.eager:
        return None
    everyone, ranks = world.everyone, world.ranks
    arrivals, receives = np.zeros((ranks - 1, ranks)), np.zeros((ranks - 1, ranks))
    for k in range(1, ranks):
        target = (everyone - k) % ranks
        found = world.costs(everyone, target, np.full(ranks, float(size)))
        start = np.maximum(world.now + found["isend"], world.free)
        world.free = start + found["gap"]
        world.now = start
        arrivals[k - 1, target] = start + found["flight"]
        receives[k - 1, target] = found["receive"]
    order = np.argsort(arrivals, axis=0, kind="stable")
    arrivals, receives = np.take_along_axis(arrivals, order, 0), np.take_along_axis(receives, order, 0)
    for k in range(ranks - 1):
        world.now = np.maximum(world.now, arrivals[k]) + receives[k]
    return float(size * (ranks - 1))


def _bruck_alltoall(world: World, size: int) -> float:
    distance, sent = 1, 0.0
    while distance < world.ranks:
        blocks = int(np.count_nonzero(world.everyone & distance))
        world.exchange(world.everyone, (world.everyone + distance) % world.ranks, blocks * size)
        sent += blocks * size
        distance *= 2
    return sent


def _bruck_allgather(world: World, size: int) -> float:
    distance = 1
    while distance < world.ranks:
        blocks = min(distance, world.ranks - distance)
        world.exchange(world.everyone, (world.everyone - distance) % world.ranks, blocks * size)
        distance *= 2
    return float(size * (world.ranks - 1))


def _power_below(ranks: int) -> int:
    return 1 << (ranks.bit_length() - 1)


def _power_above(ranks: int) -> int:
    return 1 << (ranks - 1).bit_length()


def _exclusive(world: World, size: int) -> float | None:
    """Pairs by exclusive or, which powers of two alone have."""
    if world.ranks & (world.ranks - 1):
        return None
    for distance in range(1, world.ranks):
        world.exchange(world.everyone, world.everyone ^ distance, size)
    return float(size * (world.ranks - 1))


def _doubling_allgather(world: World, size: int) -> float | None:
    if world.ranks & (world.ranks - 1):
        return None
    _butterfly(world, world.everyone, lambda distance: distance * size)
    return float(size * (world.ranks - 1))


_ALGORITHMS: dict[tuple[str, str], Algorithm] = {
    ("barrier", "ompi_bruck"): _dissemination,
    ("barrier", "ompi_recursivedoubling"): _doubling_barrier,
    ("barrier", "ompi_basic_linear"): _linear_barrier,
    ("barrier", "default"): _linear_barrier,
    ("bcast", "binomial_tree"): _binomial_bcast,
    ("bcast", "default"): _binomial_bcast,
    ("reduce", "binomial"): _binomial_reduce,
    ("allreduce", "rdb"): _doubling_allreduce,
    ("allreduce", "redbcast"): _reduce_bcast,
    ("gather", "ompi_basic_linear"): _linear_gather,
    ("gather", "ompi_binomial"): _binomial_gather,
    ("scatter", "ompi_basic_linear"): _linear_scatter,
    ("scatter", "ompi_binomial"): _binomial_scatter,
    ("allgather", "bruck"): _bruck_allgather,
    ("allgather", "ring"): _pairwise,
    ("allgather", "pair"): _exclusive,
    ("allgather", "rdb"): _doubling_allgather,
    ("alltoall", "basic_linear"): _linear_alltoall,
    ("alltoall", "bruck"): _bruck_alltoall,
    ("alltoall", "ring"): _pairwise,
    ("alltoall", "pair"): _exclusive,
}
_BOTH_WAYS = {
    _doubling_allreduce, _pairwise, _exclusive, _linear_alltoall, _bruck_alltoall, _bruck_allgather,
    _doubling_allgather,
}  # fmt: skip
"""Where the busiest rank receives as much as it sends."""
