# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a message-based barrier, from its structure and the costs of messages between two ranks.

There are two predictions. The first is R. Krishnamurthy's extrapolation ('Performance of Barriers and NAS
Parallel Benchmarks on the Intel Clusters', 1998): the number of messages times the time of a single one,
which is correct if only one message is in flight at a time, as on a single medium. The second follows the
algorithm's structure, with a clock per rank under LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995), which
is correct if messages do not slow each other down. A message costs its sender o_s and its receiver o_r, and
takes T from the call of MPI_Send to the return of MPI_Recv; a sender's next message waits for the gap g. Two
ranks that send to each other at once need E, which differs from T, because their messages cross and
neither processor is idle meanwhile. All of these are measured between two ranks, none on a
barrier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import SCHEDULES, Step, Tally
from hockney.models.schedules.barriers import BROADCAST_BYTES

Start = Literal["loop", "single"]

SETTLED = 1e-3
"""Episodes of a loop are simulated until each takes as long as the one before, within this."""
MOST_EPISODES = 24
MOST_RANKS = 1024
"""With more ranks the recurrences take minutes (total exchange has P(P-1) messages)."""


@dataclass(frozen=True)
class MessageCosts:
    """Times in seconds of messages between two ranks, empty except for a broadcast's byte.

    `one_way_s` is T, `exchange_s` is E (MPI_Sendrecv with each other), `broadcast_s` MPI_Bcast of one byte,
    whose call may cost more than its message (less than T is taken as T). `base_s` is Krishnamurthy's
    baseline (MPI_Isend on one side, MPI_Recv on the other). LogGP's `send_s`, `receive_s`, `gap_s` only
    matter from three ranks on; 0 if unknown. If messages within a node cost something else, `near` has their
    costs, and `per_node` consecutive ranks are on each node.
    """

    one_way_s: float
    exchange_s: float
    broadcast_s: float
    base_s: float
    send_s: float = 0.0
    receive_s: float = 0.0
    gap_s: float = 0.0
    near: MessageCosts | None = None
    per_node: int = 1

    def spread(self, ranks: int, nodes: int) -> MessageCosts:
        """The costs with `ranks` ranks spread evenly over `nodes` nodes; 0: as they are."""
        return replace(self, per_node=-(-ranks // nodes)) if nodes and self.near is not None else self

    @property
    def shortened(self) -> bool:
        """Whether o_s and o_r, measured apart, do not fit into T."""
        return self.send_s + self.receive_s > self.one_way_s

    @property
    def overheads(self) -> tuple[float, float]:
        """o_s and o_r, limited to fit into T: measured separately their sum may exceed it, if both ends work
        at once."""
        total = self.send_s + self.receive_s
        scale = min(1.0, self.one_way_s / total) if total > 0 else 1.0
        return scale * self.send_s, scale * self.receive_s


@dataclass(frozen=True)
class Traffic:
    """Counts for one episode: messages of all ranks, messages on the longest path, and messages that the
    busiest rank sends and receives."""

    messages: int
    depth: int
    busiest: int


def predicted(algorithm: str) -> bool:
    """Whether the algorithm consists of messages, so that it can be predicted."""
    return ("barrier", algorithm) in SCHEDULES


def steps(algorithm: str, ranks: int) -> list[Step]:
    """Raises KeyError for an algorithm that does not consist of messages."""
    return list(SCHEDULES["barrier", algorithm](ranks, 0))


def traffic(algorithm: str, ranks: int) -> Traffic:
    """Raises KeyError for an algorithm that does not consist of messages."""
    tally = Tally.of(steps(algorithm, ranks), ranks)
    return Traffic(tally.messages, tally.depth, tally.max_messages)


def by_messages(algorithm: str, ranks: int, costs: MessageCosts) -> float:
    """Seconds of an episode if messages go one after the other, whichever rank sends them."""
    if costs.near is None:
        return traffic(algorithm, ranks).messages * costs.base_s
    layers = [layer for step in steps(algorithm, ranks) for layer in step.layers]
    within = sum(int((x.source // costs.per_node == x.target // costs.per_node).sum()) for x in layers)
    everything = sum(len(layer.source) for layer in layers)
    return within * costs.near.base_s + (everything - within) * costs.base_s


def by_levels(node_s: float, nodes: int, costs: MessageCosts) -> float:
    """Seconds of an episode of the hierarchical barrier, which takes `node_s` on one node: ranks wait for
    those of their node, one of each node for the others by dissemination (`engine/sync/hierarchical.cpp`)."""
    return node_s + by_structure("dissemination", nodes, replace(costs, near=None))


def by_structure(algorithm: str, ranks: int, costs: MessageCosts, start: Start = "loop") -> float:
    """Seconds of an episode if messages do not slow each other down: in a tight loop, from each episode to
    the next, or, for a single one that all ranks enter at once, to the exit of the last."""
    simulator = LogGPSimulator(_platform(costs, ranks), ranks)
    episode = steps(algorithm, ranks)
    ends = [0.0]
    for _ in range(1 if start == "single" else MOST_EPISODES):
        ends.append(float(simulator.run(episode).max()))
        lasted = [later - earlier for earlier, later in pairwise(ends)]
        if len(lasted) > 1 and abs(lasted[-1] - lasted[-2]) <= SETTLED * lasted[-1]:
            break
    return ends[-1] - ends[-2]


def _platform(costs: MessageCosts, ranks: int) -> Platform:
    """A switch between nodes with these message costs, with `per_node` ranks on each."""
    if costs.near is None:
        network = Network(nodes=(NodeGroup(count=ranks),))
        return Platform(
            name="measured", title="two ranks, measured", network=network, segments=(_segment(costs),)
        )
    nodes = (NodeGroup(count=-(-ranks // costs.per_node), cores=costs.per_node),)
    return Platform(
        name="measured",
        title="two ranks on a node and on two, measured",
        network=Network(nodes=nodes),
        segments=(_segment(costs),),
        on_node=(_segment(costs.near),),
    )


def _segment(costs: MessageCosts) -> Segment:
    """The cost of a broadcast's byte is its time beyond that of an empty message."""
    send_s, receive_s = costs.overheads
    return Segment(
        send_s=send_s,
        latency_s=costs.one_way_s - send_s - receive_s,
        per_byte_s=max(0.0, costs.broadcast_s - costs.one_way_s) / BROADCAST_BYTES,
        receive_s=receive_s,
        gap_s=costs.gap_s,
        exchange_s=max(0.0, costs.exchange_s - costs.one_way_s),
    )
