# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The links that a message crosses on a described machine, as the simulator's plug-in routes it
(`engine/smpi/platform_shape.cpp`, `platform_zone.cpp`): the sender's NIC, cables, the receiver's NIC."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hockney.core.platform import Network, Platform

UNLIMITED = 1e12
"""A rate in bytes per second so high that messages do not share it."""


def shares_links(platform: Platform) -> bool:
    """Whether messages may wait for each other at a NIC, on a cable, on a medium, or for a processor."""
    network = platform.network
    cables = network.link < UNLIMITED and network.shape != "switch"
    medium = network.medium_message_s or network.medium_s_per_byte
    return bool(network.nic < UNLIMITED or cables or medium or platform.processors_work)


class Routes:
    """Links by number, with their `rates` (bytes per second). `rate` is the rate of a route's slowest link, 0
    if no link limits it."""

    def __init__(self, platform: Platform) -> None:
        network = platform.network
        self._network = network
        self._nodes = sum(group.count for group in platform.nodes)
        self._levels = _levels(network) if network.shape == "fat-tree" else []
        self._half = network.duplex == "half"
        self._nics = network.nic < UNLIMITED
        cables = self._count_cables()
        self._cables = network.link < UNLIMITED and cables > 0
        inwards = 0 if self._half else self._nodes
        nics = [network.nic] * (self._nodes + inwards) if self._nics else []
        self._first_cable = len(nics)
        self.rates = np.array(nics + ([network.link] * cables if self._cables else []))
        self.rate = float(self.rates.min()) if len(self.rates) else 0.0
        self._links: dict[tuple[int, int], np.ndarray] = {}
        self._paths: dict[tuple[int, int], list[int]] = {}

    def hops(self, source: int, target: int) -> int:
        """Number of cables between two nodes."""
        return len(self._path(source, target))

    def links(self, source: int, target: int) -> np.ndarray:
        """Links between two nodes, each once; empty on one node."""
        found = self._links.get((source, target))
        if found is None:
            numbers = []
            if source != target and self._nics:
                numbers += [source, target if self._half else self._nodes + target]
            if self._cables:
                numbers += [self._first_cable + cable for cable in self._path(source, target)]
            found = self._links[source, target] = np.array(numbers, dtype=int)
        return found

    def _path(self, source: int, target: int) -> list[int]:
        links_on_path = self._paths.get((source, target))
        if links_on_path is None:
            links_on_path = self._paths[source, target] = self._route(source, target)
        return links_on_path

    def _count_cables(self) -> int:
        network = self._network
        if network.shape == "fat-tree":
            return sum(level.cables for level in self._levels)
        if network.shape == "dragonfly":
            groups, chassis, routers, _ = network.dragonfly
            return groups * chassis * routers**2 + groups * routers * chassis**2 + groups**2
        if network.shape in ("torus", "mesh"):
            return 2 * self._nodes * len(network.dims)
        return int(network.shape == "bus")

    def _route(self, source: int, target: int) -> list[int]:
        if source == target or self._network.shape == "switch":
            return []
        if self._network.shape == "bus":
            return [0]
        if self._network.shape == "fat-tree":
            return self._route_up_and_down(source, target)
        if self._network.shape == "dragonfly":
            return self._route_between_routers(source, target)
        return self._route_along_axes(source, target)

    def _route_along_axes(self, source: int, target: int) -> list[int]:
        path = []
        dims, wraps = self._network.dims, self._network.shape == "torus"
        at, stride = source, 1
        for axis, extent in enumerate(dims):
            here, there = at // stride % extent, target // stride % extent
            ahead = (there - here) % extent
            # The shorter way round; half way round, even places go upwards.
            upwards = 2 * ahead < extent + (here % 2 == 0) if wraps else there > here
            while here != there:
                path.append((at * len(dims) + axis) * 2 + upwards)
                following = (here + (1 if upwards else -1)) % extent
                at += (following - here) * stride
                here = following
            stride *= extent
        return path

    def _route_up_and_down(self, source: int, target: int) -> list[int]:
        used = 1 + next(
            k for k, each in enumerate(self._levels) if source // each.above == target // each.above
        )
        levels = self._levels[:used]
        ups = [level.cable(source, target) for level in levels]
        return ups + [level.cable(target, target) + 1 for level in reversed(levels)]

    def _route_between_routers(self, source: int, target: int) -> list[int]:
        groups, chassis, routers, nodes = self._network.dragonfly
        (own, start), (other, end) = (divmod(node // nodes, chassis * routers) for node in (source, target))
        first_across = groups * chassis * routers**2
        first_between = first_across + groups * routers * chassis**2

        def within(group: int, here: int, there: int) -> list[int]:
            path, place = [], there % routers
            if here % routers != place:
                path.append(
                    ((group * chassis + here // routers) * routers + here % routers) * routers + place
                )
            if here // routers != there // routers:
                row = (group * routers + place) * chassis + here // routers
                path.append(first_across + row * chassis + there // routers)
            return path

        if own == other:
            return within(own, start, end)
        out, into = other - (other > own), own - (own > other)
        between = first_between + own * groups + other
        return [*within(own, start, out), between, *within(other, into, end)]


@dataclass(frozen=True)
class _Level:
    """The cables of a fat tree from one level's switches to their parents, two for each cable: upwards and
    downwards. `below` and `above` are the nodes below a switch of the lower and of the upper level, `twins`
    the switches of the lower level above the same nodes, `ways` the cables of each to its parents."""

    below: int
    above: int
    twins: int
    ways: int
    first: int
    cables: int

    def cable(self, node: int, target: int) -> int:
        """The cable upwards, above the switch over `node`, for messages to `target`."""
        way = target // self.twins % self.ways
        switch = node // self.below * self.twins + target % self.twins
        return self.first + (switch * self.ways + way) * 2


def _levels(network: Network) -> list[_Level]:
    levels: list[_Level] = []
    nodes, below, twins, first = math.prod(network.down), 1, 1, 0
    for down, up, cables in zip(network.down, network.up, network.cables, strict=True):
        count = nodes // below * twins * up * cables * 2
        levels.append(_Level(below, below * down, twins, up * cables, first, count))
        first += count
        below *= down
        twins *= up
    return levels
