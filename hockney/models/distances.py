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
    if network.shape != "fat-tree":
        return cables_between(network, numbers[:, None], numbers[None, :])
    return _levels_apart(network, numbers[:, None], numbers[None, :])


def cables_between(network: Network, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The number of cables between routers on the way from each of the nodes `source` to that of `target`,
    as the simulator's plug-in routes messages (engine/smpi/platform_shape.cpp)."""
    if network.shape in ("torus", "mesh"):
        return _grid_cables(network.dims, source, target, wraps=network.shape == "torus")
    if network.shape == "dragonfly":
        return _dragonfly_cables(network.dragonfly, source, target)
    if network.shape == "fat-tree":
        return np.where(source == target, 0, 2 * (1 + _levels_apart(network, source, target)))
    return np.zeros(np.broadcast_shapes(source.shape, target.shape), dtype=int)


def _levels_apart(network: Network, source: np.ndarray, target: np.ndarray) -> np.ndarray:
    levels = np.zeros(np.broadcast_shapes(source.shape, target.shape), dtype=int)
    for size in subtree_sizes(network):
        levels += source // size != target // size
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


def _grid_cables(dims: Sequence[int], source: np.ndarray, target: np.ndarray, *, wraps: bool) -> np.ndarray:
    total = np.zeros(np.broadcast_shapes(source.shape, target.shape), dtype=int)
    stride = 1
    for extent in dims:
        steps = np.abs(source // stride % extent - target // stride % extent)
        total += np.minimum(steps, extent - steps) if wraps else steps
        stride *= extent
    return total


def _dragonfly_cables(counts: Sequence[int], source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Between groups, a path leads through the routers that connect them."""
    _, chassis, routers, nodes = counts
    own, start = np.divmod(source // nodes, chassis * routers)
    other, end = np.divmod(target // nodes, chassis * routers)
    out, into = other - (other > own), own - (own > other)

    def within(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        differs_in_chassis = first // routers != second // routers
        return np.asarray((first % routers != second % routers).astype(int) + differs_in_chassis)

    return np.where(own != other, within(start, out) + 1 + within(into, end), within(start, end))
