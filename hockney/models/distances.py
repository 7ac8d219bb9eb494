# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Distances between the nodes of a described machine. Without other messages, messages over the same distance
take the same time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hockney.core.platform import Network, Platform


def distances(platform: Platform, nodes: Sequence[int]) -> np.ndarray:
    """Return a matrix with a number for the distance of each pair of these nodes: cables of a torus, mesh or
    dragonfly, the level at which paths meet in a fat tree, 0 on a switch or bus."""
    network, numbers = platform.network, np.asarray(nodes)
    if network.shape in ("torus", "mesh"):
        return _cables(network.dims, numbers, wraps=network.shape == "torus")
    if network.shape == "dragonfly":
        return _dragonfly_cables(network.dragonfly, numbers)
    levels = np.zeros((len(numbers), len(numbers)), dtype=int)
    for size in subtree_sizes(network):
        subtree = numbers // size
        levels += subtree[:, None] != subtree[None, :]
    return levels


def subtree_sizes(network: Network) -> list[int]:
    """The numbers of nodes below each switch of a fat tree or dragonfly, from the nodes up; empty for other
    shapes."""
    children: Sequence[int] = ()
    if network.shape == "fat-tree":
        children = network.down
    elif network.shape == "dragonfly":  # nodes per router, routers per chassis, chassis per group
        children = tuple(reversed(network.dragonfly))[:3]
    return [math.prod(children[: depth + 1]) for depth in range(len(children))]


def _cables(dims: Sequence[int], numbers: np.ndarray, *, wraps: bool) -> np.ndarray:
    total = np.zeros((len(numbers), len(numbers)), dtype=int)
    stride = 1
    for extent in dims:
        place = numbers // stride % extent
        steps = np.abs(place[:, None] - place[None, :])
        total += np.minimum(steps, extent - steps) if wraps else steps
        stride *= extent
    return total


def _dragonfly_cables(counts: Sequence[int], numbers: np.ndarray) -> np.ndarray:
    """Between groups, a path leads through the routers that connect them (engine/smpi/platform_shape.cpp)."""
    _, chassis, routers, nodes = counts
    group, router = np.divmod(numbers // nodes, chassis * routers)
    own, other = group[:, None], group[None, :]
    is_across = own != other
    out, into = other - (other > own), own - (own > other)

    def within(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        differs_in_chassis = first // routers != second // routers
        return np.asarray((first % routers != second % routers).astype(int) + differs_in_chassis)

    across = within(router[:, None], out) + 1 + within(into, router[None, :])
    return np.where(is_across, across, within(router[:, None], router[None, :]))
