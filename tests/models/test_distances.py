# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Distances between the nodes of described machines."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.distances import distances
from hockney.models.routes import Routes


def machine(**network: object) -> Platform:
    return Platform(name="m", title="M", network=Network(**network), segments=(Segment(latency_s=1e-6),))


@pytest.mark.parametrize("shape", ["torus", "mesh"])
def test_cables_are_those_of_routes(shape: str):
    platform = machine(shape=shape, dims=(4, 3, 2), link=1e9)
    routes = Routes(platform)
    table = distances(platform, range(24))
    assert (table == [[routes.hops(a, b) for b in range(24)] for a in range(24)]).all()
    assert (distances(platform, [3, 20]) == table[np.ix_([3, 20], [3, 20])]).all()


def test_levels_of_a_fat_tree():
    tree = distances(machine(shape="fat-tree", down=(4, 2), up=(1, 1), cables=(1, 1)), range(8))
    assert tree[0].tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_cables_of_a_dragonfly_are_those_of_simulated_paths():
    """By the latencies of simulated messages between two groups of four routers with two nodes each."""
    table = distances(machine(shape="dragonfly", dragonfly=(2, 2, 2, 2)), range(16))
    assert table[0].tolist() == [0, 0, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 2, 2, 3, 3]
    assert table[2].tolist() == [1, 1, 0, 0, 2, 2, 1, 1, 2, 2, 3, 3, 3, 3, 4, 4]
    assert (table == table.T).all()


def test_all_nodes_of_a_switch_are_equally_far():
    platform = machine(nodes=(NodeGroup(count=5),))
    assert not distances(platform, range(5)).any()
