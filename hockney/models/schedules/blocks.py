# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Building blocks of schedules: trees, rounds with doubling distances, and a root that serves all other
ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hockney.models.schedules.closed_form import doubling_distances, largest_power_of_two
from hockney.models.schedules.schedule import Layer, Mode, NotModelled, Ranks, Step, Steps, step

MessageSize = Callable[[Any], Any]
"""Bytes of a message as a function of the number of ranks whose data it contains."""


def require_power_of_two(ranks: int) -> None:
    if ranks & (ranks - 1):
        raise NotModelled(f"{ranks} ranks are no power of two")


class Folding:
    """A mapping of `ranks` ranks to places, whose number is the largest power of two up to `ranks`. The first
    ranks form pairs that share a place. The odd rank represents the pair, or the even one if it is the
    `root`."""

    def __init__(self, ranks: int, root: int | None = None) -> None:
        self.power = largest_power_of_two(ranks)
        self.pairs = ranks - self.power
        self._standing = np.arange(self.power) + self.pairs
        self._standing[: self.pairs] = 2 * np.arange(self.pairs) + 1
        if root is not None and root < 2 * self.pairs:
            self._standing[root // 2] = root

    def rank_of(self, place: Ranks) -> Ranks:
        return self._standing[place]

    def first_rank(self, place: Ranks) -> Ranks:
        """The first rank of a place. Consecutive places have consecutive ranks."""
        return place + np.minimum(place, self.pairs)

    def fold(self, size: float, *, combine: bool = False) -> Steps:
        """In each pair, one rank sends `size` bytes to the rank that represents the pair."""
        if self.pairs:
            representatives = self._standing[: self.pairs]
            yield step(representatives ^ 1, representatives, size, combine=combine)

    def unfold(self, size: float) -> Steps:
        """In each pair, the rank that represents the pair sends `size` bytes to the other one."""
        if self.pairs:
            representatives = self._standing[: self.pairs]
            yield step(representatives, representatives ^ 1, size)


def part_bytes(size: int, parts: int) -> np.ndarray:
    """`size` bytes (or elements) divided into parts whose lengths differ by at most one."""
    return np.diff(size * np.arange(parts + 1) // parts)


def shift(
    ranks: int, *distances: int, size: float = 0.0, mode: Mode = Mode.EXCHANGE, untouched: bool = False
) -> Step:
    """A step in which each rank sends to the ranks at these distances above it, cyclically."""
    all_ranks = np.arange(ranks)
    layers = tuple(Layer(all_ranks, (all_ranks + distance) % ranks, size) for distance in distances)
    return Step(layers, mode, untouched=untouched)


def constant_size(size: float) -> MessageSize:
    """The same size for all messages."""
    return lambda rank_count: size


def size_of_blocks(size: float) -> MessageSize:
    """The size of a message with a block of `size` bytes for each rank whose data it contains."""
    return lambda rank_count: rank_count * size


def binomial_up(ranks: int, size: MessageSize, *, combine: bool = False) -> Steps:
    """Steps of a binomial tree towards rank 0, the nearest ranks first."""
    for distance in doubling_distances(ranks):
        parent = np.arange(0, ranks - distance, 2 * distance)
        subtree_sizes = np.minimum(distance, ranks - parent - distance)
        yield step(parent + distance, parent, size(subtree_sizes), combine=combine)


def binomial_down(ranks: int, size: float, root: int = 0) -> Steps:
    """Steps of a binomial tree from `root`, the farthest ranks first."""
    for distance in reversed(doubling_distances(ranks)):
        parent = np.arange(0, ranks - distance, 2 * distance)
        yield step((parent + root) % ranks, (parent + distance + root) % ranks, size)


def hypercube_steps(members: Ranks, size: MessageSize, *, combine: bool = False) -> Steps:
    """Steps of recursive doubling among `members`, whose number is a power of two."""
    place = np.arange(len(members))
    for distance in doubling_distances(len(members)):
        yield step(members, members[place ^ distance], size(distance), mode=Mode.EXCHANGE, combine=combine)


def binomial_parts_down(ranks: int, parts: np.ndarray) -> Steps:
    """Steps of a binomial tree from rank 0, the farthest ranks first. Each rank gets the parts of all ranks
    in its subtree."""
    offsets = np.concatenate([[0], np.cumsum(parts)])
    for distance in reversed(doubling_distances(ranks)):
        parent = np.arange(0, ranks - distance, 2 * distance)
        child = parent + distance
        subtree_end = np.minimum(child + distance, ranks)
        yield step(parent, child, offsets[subtree_end] - offsets[child])


def to_root(ranks: int, size: float) -> Steps:
    """Steps in which rank 0 receives from the others in rank order."""
    for rank in range(1, ranks):
        yield step([rank], [0], size)


def from_root(ranks: int, size: float, mode: Mode = Mode.BLOCKING) -> Steps:
    """Steps in which rank 0 sends to the others in rank order."""
    for rank in range(1, ranks):
        yield step([0], [rank], size, mode=mode)
