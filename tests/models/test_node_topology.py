# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Switches and distances of nodes."""

from __future__ import annotations

import pytest
from judgements.compared_runs import MACHINE
from msgspec.structs import replace

from hockney.core.machine import Switch
from hockney.core.platform import Network, Platform, Segment
from hockney.models.node_topology import NodeTopology, node_topology

LEAVES = [Switch(name=f"s{k}", nodes=[f"n{k}{i}" for i in range(3)]) for k in range(4)]
TREE = [
    Switch(name="top", switches=["a", "b"]),
    Switch(name="a", switches=["s0", "s1"]),
    Switch(name="b", switches=["s2", "s3", "gone"]),
    *LEAVES,
]
NODES = [node for leaf in LEAVES for node in leaf.nodes]


def test_a_recorded_tree():
    topology = node_topology(replace(MACHINE, topology=TREE), [*NODES, "elsewhere"])
    assert topology.names == ("s0", "s1", "s2", "s3", "a", "b")
    assert topology.members[1] == (3, 4, 5) and topology.members[4] == (0, 1, 2, 3, 4, 5)
    assert [level.is_comparable for level in topology.levels] == [True, False]
    assert topology.compared_count == 4
    assert topology.distances is not None
    assert topology.distances[0, [1, 3, 6, 12]].tolist() == [1, 2, 3, 4]


def test_switches_of_other_nodes_and_cycles_are_harmless():
    cyclic = [Switch(name="x", switches=["y"]), Switch(name="y", switches=["x"], nodes=["n00", "n01"])]
    topology = node_topology(replace(MACHINE, topology=[*cyclic, *LEAVES]), NODES[:6])
    assert {"s0", "s1"} <= set(topology.names) and "s2" not in topology.names
    assert node_topology(MACHINE, NODES) == NodeTopology()


@pytest.mark.parametrize(
    ("network", "names"),
    [
        (Network(shape="fat-tree", down=(4, 2), up=(1, 1), cables=(1, 1)), ("leaf0", "leaf1")),
        (Network(shape="dragonfly", dragonfly=(2, 1, 2, 2)), ("router0", "router1", "router2", "router3",
                                                              "chassis0", "chassis1", "group0", "group1")),
    ],
)  # fmt: skip
def test_described_switches(network: Network, names: tuple[str, ...]):
    platform = Platform(name="m", title="M", network=network, segments=(Segment(latency_s=1e-6),))
    topology = node_topology(replace(MACHINE, platform=platform), [f"n{k}" for k in range(8)])
    assert topology.names == names
