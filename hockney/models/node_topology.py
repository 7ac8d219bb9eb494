# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Switches between nodes, and distances of pairs of nodes, from a machine's description or a topology."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hockney.core.machine import Machine, Switch
from hockney.core.platform import Platform
from hockney.models.distances import distances, subtree_sizes
from hockney.models.node_effects import SwitchLevel

DRAGONFLY_NAMES = ("router", "chassis", "group")


@dataclass(frozen=True)
class NodeTopology:
    """The topology of n nodes. `distances` numbers the distance of each pair (n, n); None if unknown.
    `levels` contains the switches from the nodes up, `names` their names in the same order."""

    distances: np.ndarray | None = None
    levels: tuple[SwitchLevel, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """The nodes below each switch."""
        return tuple(group for level in self.levels for group in level.groups)

    @property
    def compared_count(self) -> int:
        """The number of switches on the smallest level that can be compared; 1 if there is none."""
        return min((len(level.groups) for level in self.levels if level.is_comparable), default=1)


def node_topology(machine: Machine, nodes: Sequence[str]) -> NodeTopology:
    """The topology of the nodes with these names, as the machine records it, or of a simulated machine."""
    if machine.topology:
        return _recorded_topology(machine.topology, nodes)
    if machine.platform is not None:
        return _described_topology(machine.platform, [int(name.lstrip("n")) for name in nodes])
    return NodeTopology()


def _described_topology(platform: Platform, numbers: Sequence[int]) -> NodeTopology:
    sizes = subtree_sizes(platform.network)
    names: list[str] = []
    levels = []
    for depth, size in enumerate(sizes, 1):
        below: dict[int, list[int]] = {}
        for place, number in enumerate(numbers):
            below.setdefault(number // size, []).append(place)
        if len(below) > 1:
            levels.append(SwitchLevel(tuple(map(tuple, below.values()))))
            names += [f"{_level_name(platform, depth)}{number}" for number in below]
    return NodeTopology(distances(platform, numbers), tuple(levels), tuple(names))


def _level_name(platform: Platform, depth: int) -> str:
    if platform.network.shape == "dragonfly":
        return DRAGONFLY_NAMES[depth - 1]
    return "leaf" if depth == 1 else f"level{depth}-"


def _recorded_topology(switches: Sequence[Switch], nodes: Sequence[str]) -> NodeTopology:
    """The distance of two nodes is the depth of the lowest switch above both."""
    index = {node: place for place, node in enumerate(nodes)}
    by_name = {switch.name: switch for switch in switches}
    members: dict[str, tuple[int, ...]] = {}
    depths: dict[str, int] = {}

    def visit(switch: Switch) -> None:
        if switch.name in depths:
            return
        depths[switch.name], below = 1, {index[node] for node in switch.nodes if node in index}
        for name in switch.switches:
            if name in by_name:
                visit(by_name[name])
                depths[switch.name] = max(depths[switch.name], depths[name] + 1)
                below |= set(members.get(name, ()))
        members[switch.name] = tuple(sorted(below))

    for switch in switches:
        visit(switch)
    top = max(depths.values())
    matrix = np.full((len(nodes), len(nodes)), top + 1)
    levels, names = [], []
    for depth in range(top, 0, -1):
        for switch in switches:
            if depths[switch.name] == depth:
                matrix[np.ix_(members[switch.name], members[switch.name])] = depth
    for depth in range(1, top + 1):
        below = [s.name for s in switches if depths[s.name] == depth and members[s.name]]
        if len(below) > 1:
            levels.append(SwitchLevel(tuple(members[name] for name in below)))
            names += below
    return NodeTopology(matrix, tuple(levels), tuple(names))
