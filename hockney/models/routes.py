# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The links that a message crosses on a described machine, as the simulator's plug-in routes it
(`engine/smpi/platform_shape.cpp`, `platform_zone.cpp`): the sender's NIC, cables, the receiver's NIC."""

from __future__ import annotations

import numpy as np

from hockney.core.platform import Platform
from hockney.models.schedules import NotModelled

UNLIMITED = 1e12
"""A rate in bytes per second so high that messages do not share it."""


def shares_links(platform: Platform) -> bool:
    """Whether messages may wait for each other at a NIC, on a cable, on a medium, or for a processor."""
    network = platform.network
    cables = network.link < UNLIMITED and network.shape != "switch"
    medium = network.medium_message_s or network.medium_s_per_byte
    return bool(network.nic < UNLIMITED or cables or medium or platform.processors_work)


ROUTED = ("switch", "bus", "torus", "mesh")
"""Shapes with a known number of cables between two nodes."""


class Routes:
    """Links by number, with their `rates` (bytes per second). `rate` is the rate of a route's slowest link, 0
    if no link limits it. Raises NotModelled for shapes with unknown routes."""

    def __init__(self, platform: Platform) -> None:
        network = platform.network
        if network.shape not in ROUTED:
            raise NotModelled(f"routes through a {network.shape}")
        self._shape = network.shape
        self._dims = network.dims if network.shape in ("torus", "mesh") else ()
        self._nodes = sum(group.count for group in platform.nodes)
        self._half = network.duplex == "half"
        self._nics = network.nic < UNLIMITED
        cables = 1 if network.shape == "bus" else 2 * self._nodes * len(self._dims)
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

    def _route(self, source: int, target: int) -> list[int]:
        if source == target:
            return []
        if self._shape == "bus":
            return [0]
        path = []
        at, stride = source, 1
        for axis, extent in enumerate(self._dims):
            here, there = at // stride % extent, target // stride % extent
            ahead = (there - here) % extent
            wraps = self._shape == "torus"
            # The shorter way round; half way round, even places go upwards.
            upwards = 2 * ahead < extent + (here % 2 == 0) if wraps else there > here
            while here != there:
                path.append((at * len(self._dims) + axis) * 2 + upwards)
                following = (here + (1 if upwards else -1)) % extent
                at += (following - here) * stride
                here = following
            stride *= extent
        return path
