# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Building blocks of schedules: trees, rounds of doubling distance, and one rank that serves all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hockney.models.schedules.closed_form import doublings, power_below
from hockney.models.schedules.schedule import Layer, Mode, NotModelled, Ranks, Step, Steps, step

Blocks = Callable[[Any], Any]
"""Bytes of a message by the number of ranks whose data it carries."""


def only_powers_of_two(ranks: int) -> None:
    if ranks & (ranks - 1):
        raise NotModelled(f"{ranks} ranks are no power of two")


class Folding:
    """The largest power of two that is at most `ranks`, as places. The first ranks form pairs that share a
    place: the odd rank represents both, or the even one if it is `root`."""

    def __init__(self, ranks: int, root: int | None = None) -> None:
        self.power = power_below(ranks)
        self.pairs = ranks - self.power
        self._standing = np.arange(self.power) + self.pairs
        self._standing[: self.pairs] = 2 * np.arange(self.pairs) + 1
        if root is not None and root < 2 * self.pairs:
            self._standing[root // 2] = root

    def rank_of(self, place: Ranks) -> Ranks:
        return self._standing[place]

    def first_rank(self, place: Ranks) -> Ranks:
        """The first rank of a place. The ranks of consecutive places are consecutive."""
        return place + np.minimum(place, self.pairs)

    def fold(self, size: float, *, combine: bool = False) -> Steps:
        """In each pair, one rank sends `size` bytes to the rank that stands for both."""
        if self.pairs:
            standing = self._standing[: self.pairs]
            yield step(standing ^ 1, standing, size, combine=combine)

    def unfold(self, size: float) -> Steps:
        """In each pair, the rank that stands for both sends `size` bytes to the other one."""
        if self.pairs:
            standing = self._standing[: self.pairs]
            yield step(standing, standing ^ 1, size)


def part_bytes(size: int, parts: int) -> np.ndarray:
    """`size` bytes (or elements) in parts whose lengths differ by one at most."""
    return np.diff(size * np.arange(parts + 1) // parts)


def shift(
    ranks: int, *distances: int, size: float = 0.0, mode: Mode = Mode.EXCHANGE, untouched: bool = False
) -> Step:
    """Each rank sends to the ranks at these distances above it, cyclically."""
    everyone = np.arange(ranks)
    layers = tuple(Layer(everyone, (everyone + far) % ranks, size) for far in distances)
    return Step(layers, mode, untouched=untouched)


def same(size: float) -> Blocks:
    """A message of `size` bytes, whatever it carries."""
    return lambda carried: size


def of_blocks(size: float) -> Blocks:
    """A message with a block of `size` bytes for each rank whose data it carries."""
    return lambda carried: carried * size


def binomial_up(ranks: int, size: Blocks, *, combine: bool = False) -> Steps:
    """A binomial tree towards rank 0, the nearest ranks first."""
    for distance in doublings(ranks):
        parent = np.arange(0, ranks - distance, 2 * distance)
        below = np.minimum(distance, ranks - parent - distance)
        yield step(parent + distance, parent, size(below), combine=combine)


def binomial_down(ranks: int, size: float, root: int = 0) -> Steps:
    """A binomial tree from `root`, the farthest ranks first."""
    for distance in reversed(doublings(ranks)):
        parent = np.arange(0, ranks - distance, 2 * distance)
        yield step((parent + root) % ranks, (parent + distance + root) % ranks, size)


def hypercube(members: Ranks, size: Blocks, *, combine: bool = False) -> Steps:
    """Recursive doubling among `members`, a power of two of them."""
    place = np.arange(len(members))
    for distance in doublings(len(members)):
        yield step(members, members[place ^ distance], size(distance), mode=Mode.EXCHANGE, combine=combine)


def binomial_parts_down(ranks: int, parts: np.ndarray) -> Steps:
    """A binomial tree from rank 0, the farthest ranks first, each with the parts of all ranks below it."""
    first = np.concatenate([[0], np.cumsum(parts)])
    for distance in reversed(doublings(ranks)):
        parent = np.arange(0, ranks - distance, 2 * distance)
        child = parent + distance
        beyond = np.minimum(child + distance, ranks)
        yield step(parent, child, first[beyond] - first[child])


def to_root(ranks: int, size: float) -> Steps:
    """Rank 0 receives from the others in rank order."""
    for rank in range(1, ranks):
        yield step([rank], [0], size)


def from_root(ranks: int, size: float, mode: Mode = Mode.BLOCKING) -> Steps:
    """Rank 0 sends to the others in rank order."""
    for rank in range(1, ranks):
        yield step([0], [rank], size, mode=mode)
