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
    """Return a matrix with a number for the distance of each pair of these nodes: cables of a torus or mesh,
    the level at which paths meet in a fat tree or dragonfly, 0 on a switch or bus."""
    network, numbers = platform.network, np.asarray(nodes)
    if network.shape in ("torus", "mesh"):
        return _cables(network.dims, numbers, wraps=network.shape == "torus")
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
