# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Distances between the nodes of described machines."""

from __future__ import annotations

import numpy as np
import pytest

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.distances import cables_between, distances
from hockney.models.loggp_sim import PlatformCosts
from hockney.models.routes import Routes
from hockney.models.schedules import Layer, Mode


def machine(**network: object) -> Platform:
    return Platform(name="m", title="M", network=Network(**network), segments=(Segment(latency_s=1e-6),))


@pytest.mark.parametrize(
    "network",
    [
        {"shape": "torus", "dims": (4, 3, 2)},
        {"shape": "mesh", "dims": (4, 3, 2)},
        {"shape": "fat-tree", "down": (3, 2, 4), "up": (1, 2, 3), "cables": (2, 1, 1)},
        {"shape": "dragonfly", "dragonfly": (3, 2, 2, 2)},
    ],
)
def test_cables_are_those_of_routes(network: dict):
    """Each cable belongs to one route between two nodes at most once, and exists."""
    platform = machine(link=1e9, **network)
    routes, nodes = Routes(platform), np.arange(24)
    table = cables_between(platform.network, nodes[:, None], nodes[None, :])
    assert (table == [[routes.hops(a, b) for b in range(24)] for a in range(24)]).all()
    used = {link for a in nodes for b in nodes for link in routes.links(a, b).tolist()}
    assert all(len(set(links)) == len(links) for links in (routes.links(a, 7).tolist() for a in nodes))
    assert used <= set(range(len(routes.rates)))
    if network["shape"] != "fat-tree":
        assert (distances(platform, [3, 20]) == table[np.ix_([3, 20], [3, 20])]).all()


def test_costs_on_a_fat_tree_include_its_cables():
    platform = machine(shape="fat-tree", down=(2, 2), up=(1, 1), cables=(1, 1), hop_s=1e-7)
    layer = Layer(np.array([0, 0]), np.array([1, 2]), 8.0)
    assert PlatformCosts(platform, 4).of(layer, Mode.POSTED).flight == pytest.approx([1.2e-6, 1.4e-6])


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
