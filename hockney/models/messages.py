# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks that send and receive on a described machine, each with a clock of its own, under LogGP.

A small message (up to the eager limit) leaves its sender when the overhead is paid, arrives after L + hops +
G x, and costs its receiver the overhead from then on or from when it is asked for. A large one waits until
both sides are there, and holds both until it is over. Messages take nothing from each other: where links or a
medium are shared, times are lower bounds.

One step of an algorithm is one call here: numpy arrays over the ranks that take part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.platform import Platform, Segment

Ranks = np.ndarray


class Costs:
    """Each part of a message's cost by its size, for one list of segments."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.first = np.array([s.first for s in segments], dtype=float)
        self.lines = {
            part: (
                np.array([_either(s, f"{part}_s") for s in segments]),
                np.array([_either(s, f"{part}_s_per_byte") for s in segments]),
            )
            for part in ("send", "isend", "receive", "gap", "exchange")
        }
        latency = np.array([s.latency_s for s in segments])
        self.lines["flight"] = latency, np.array([s.per_byte_s for s in segments])

    def at(self, part: str, size: np.ndarray) -> np.ndarray:
        """Seconds of `part` for messages of `size` bytes."""
        segment = np.searchsorted(self.first, size, side="right") - 1
        fixed, per_byte = self.lines[part]
        return fixed[segment] + per_byte[segment] * size


def _either(segment: Segment, name: str) -> float:
    value = getattr(segment, name)
    if value is None:
        value = getattr(segment, name.replace("isend", "send"))
    return float(value)


class World:
    """`ranks` ranks on `platform`, filling each node's cores before the next node's; all begin at 0."""

    def __init__(self, platform: Platform, ranks: int) -> None:
        self.platform = platform
        self.ranks = ranks
        self.now = np.zeros(ranks)
        self.free = np.zeros(ranks)
        """When each may send again: LogGP's gap."""
        self.between = Costs(platform.segments)
        self.on_node = Costs(platform.on_node or platform.segments)
        self.node = _nodes(platform, ranks)
        self.everyone = np.arange(ranks)

    def send(self, source: Ranks, target: Ranks, size: float | np.ndarray) -> None:
        """MPI_Send and MPI_Recv between pairs; a rank may be a source once and a target once, not both."""
        size = np.broadcast_to(np.asarray(size, dtype=float), source.shape)
        cost = self.costs(source, target, size)
        start = np.maximum(self.now[source] + cost["send"], self.free[source])
        arrived = np.maximum(self.now[target], start + cost["flight"]) + cost["receive"]
        together = np.maximum(self.now[source], self.now[target])
        over = together + cost["send"] + cost["flight"] + cost["receive"]
        eager = size <= self.platform.eager
        self.free[source] = np.where(eager, start + cost["gap"], self.free[source])
        self.now[source] = np.where(eager, start, over)
        self.now[target] = np.where(eager, arrived, over)

    def exchange(self, source: Ranks, target: Ranks, size: float | np.ndarray) -> None:
        """MPI_Sendrecv of ranks of which each sends once and receives once: `source` sends to `target`."""
        size = np.broadcast_to(np.asarray(size, dtype=float), source.shape)
        cost = self.costs(source, target, size)
        eager = bool((size <= self.platform.eager).all())
        posted = self.now.copy()
        posted[source] = self.now[source] + cost["isend"]
        if eager:
            posted[source] = np.maximum(posted[source], self.free[source])
        self.free[source] = posted[source] + cost["gap"]
        if eager:
            arrival = np.zeros(self.ranks)
            arrival[target] = posted[source] + cost["flight"]
            until = np.zeros(self.ranks)
            until[source] = arrival[target]
            meets = until[target] > arrival[target] - cost["flight"] / 2
            met = np.maximum(posted[target], arrival[target]) + cost["receive"]
            self.now[target] = met + np.where(meets, cost["exchange"], 0.0)
            return
        together = np.maximum(posted[source], posted[target])
        over = together + cost["flight"] + cost["receive"] + cost["exchange"]
        self.now[target] = over
        self.now[source] = np.maximum(self.now[source], over)

    def spend(self, ranks: Ranks, seconds: float) -> None:
        """`seconds` of computing."""
        self.now[ranks] += seconds

    def cost(self, source: int, target: int, size: float) -> dict[str, float]:
        """Each part of what one message costs."""
        found = self.costs(np.array([source]), np.array([target]), np.array([float(size)]))
        return {part: float(value[0]) for part, value in found.items()}

    def costs(self, source: Ranks, target: Ranks, size: np.ndarray) -> dict[str, np.ndarray]:
        """Each part of what messages between pairs cost."""
        parts = self.between.lines
        here = self.node[source] == self.node[target]
        found = {part: self.between.at(part, size) for part in parts}
        found["flight"] = found["flight"] + self._hops(self.node[source], self.node[target])
        if here.any():
            found = {part: np.where(here, self.on_node.at(part, size), found[part]) for part in parts}
        return found

    def _hops(self, source: Ranks, target: Ranks) -> np.ndarray | float:
        """Seconds in which cables are passed: on a torus or mesh the steps along each axis."""
        network = self.platform.network
        if not network.hop_s or network.shape not in ("torus", "mesh"):
            return network.hop_s if network.shape == "bus" else 0.0
        steps = np.zeros(source.shape)
        stride = 1
        for extent in network.dims:
            apart = np.abs(source // stride % extent - target // stride % extent)
            steps += np.minimum(apart, extent - apart) if network.shape == "torus" else apart
            stride *= extent
        return steps * network.hop_s


def _nodes(platform: Platform, ranks: int) -> Ranks:
    found: list[np.ndarray] = []
    first = left = 0
    left = ranks
    for group in platform.nodes:
        nodes = min(group.count, -(-left // group.cores))
        found.append(np.repeat(np.arange(first, first + nodes), group.cores)[:left])
        first += group.count
        left -= len(found[-1])
        if left <= 0:
            break
    return np.concatenate(found)
