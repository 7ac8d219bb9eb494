# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a message-based barrier, predicted from its structure and the costs of messages between two
ranks.

There are two predictions. The first is R. Krishnamurthy's extrapolation ('Performance of Barriers and NAS
Parallel Benchmarks on the Intel Clusters', 1998): the number of messages times the time of a single message,
which is correct if only one message is in flight at a time, as on a shared medium. The second follows the
algorithm's structure, with a clock per rank under LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995), which
is correct if messages do not slow each other down. A message costs its sender o_s and its receiver o_r, and
takes T from the call of MPI_Send to the return of MPI_Recv; a sender's next message waits for the gap g. Two
ranks that send to each other at once need E. It differs from T, because their messages cross and neither
processor is idle. All of these costs are measured between two ranks, none on a barrier."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import SCHEDULES, Step, Tally
from hockney.models.schedules.barriers import BROADCAST_BYTES

Start = Literal["loop", "single"]

MAX_RELATIVE_CHANGE = 1e-3
"""Episodes of a loop are simulated until each takes as long as the one before, within this."""
MAX_EPISODES = 24
MAX_RANKS = 1024
"""With more ranks the recurrences take minutes (total exchange has P(P-1) messages)."""


@dataclass(frozen=True)
class MessageCosts:
    """Times of messages between two ranks in seconds. The messages are empty except for the broadcast's byte.

    `one_way_s` is T, `exchange_s` is E (MPI_Sendrecv with each other), and `broadcast_s` MPI_Bcast of one
    byte, whose call may cost more than its message (less than T is treated as T). `base_s` is Krishnamurthy's
    baseline (MPI_Isend on one side, MPI_Recv on the other). LogGP's `send_s`, `receive_s` and `gap_s` only
    matter from three ranks on; 0 if unknown. If messages within a node have other costs, these are in `near`,
    and each node has `per_node` consecutive ranks."""

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
        """Costs with `ranks` ranks spread evenly over `nodes` nodes; unchanged if `nodes` is 0."""
        return replace(self, per_node=-(-ranks // nodes)) if nodes and self.near is not None else self

    @property
    def shortened(self) -> bool:
        """Whether the separately measured o_s and o_r exceed T."""
        return self.send_s + self.receive_s > self.one_way_s

    @property
    def overheads(self) -> tuple[float, float]:
        """o_s and o_r, limited to fit into T: if both ends work at the same time, the sum of the separate
        measurements may exceed T."""
        total = self.send_s + self.receive_s
        scale = min(1.0, self.one_way_s / total) if total > 0 else 1.0
        return scale * self.send_s, scale * self.receive_s


@dataclass(frozen=True)
class Traffic:
    """Counts for one episode: `messages` of all ranks, messages on the longest path (`depth`), and messages
    that the `busiest` rank sends and receives."""

    messages: int
    depth: int
    busiest: int


def is_predictable(algorithm: str) -> bool:
    """Whether the algorithm consists of messages and can therefore be predicted."""
    return ("barrier", algorithm) in SCHEDULES


def steps(algorithm: str, ranks: int) -> list[Step]:
    """Raises KeyError for an algorithm that does not consist of messages."""
    return list(SCHEDULES["barrier", algorithm](ranks, 0))


def traffic(algorithm: str, ranks: int) -> Traffic:
    """Raises KeyError for an algorithm that does not consist of messages."""
    tally_of_steps = Tally.of(steps(algorithm, ranks), ranks)
    return Traffic(tally_of_steps.messages, tally_of_steps.depth, tally_of_steps.max_messages)


def sequential_time(algorithm: str, ranks: int, costs: MessageCosts) -> float:
    """Seconds of an episode if all messages are sent one after the other."""
    if costs.near is None:
        return traffic(algorithm, ranks).messages * costs.base_s
    layers = [layer for step in steps(algorithm, ranks) for layer in step.layers]
    near_time_s = sum(int((x.source // costs.per_node == x.target // costs.per_node).sum()) for x in layers)
    total_s = sum(len(layer.source) for layer in layers)
    return near_time_s * costs.near.base_s + (total_s - near_time_s) * costs.base_s


def hierarchical_time(node_s: float, nodes: int, costs: MessageCosts) -> float:
    """Seconds of an episode of the hierarchical barrier, which takes `node_s` on one node: ranks wait for the
    other ranks of their node, then one rank of each node uses dissemination
    (`engine/sync/hierarchical.cpp`)."""
    return node_s + structural_time("dissemination", nodes, replace(costs, near=None))


def structural_time(algorithm: str, ranks: int, costs: MessageCosts, start: Start = "loop") -> float:
    """Seconds of an episode if messages do not slow each other down: the time per episode in a tight loop or,
    for a single episode that all ranks enter at once, until the last rank leaves."""
    simulator = LogGPSimulator(_platform(costs, ranks), ranks)
    episode = steps(algorithm, ranks)
    end_times = [0.0]
    for _ in range(1 if start == "single" else MAX_EPISODES):
        end_times.append(float(simulator.run(episode).max()))
        durations = [later - earlier for earlier, later in pairwise(end_times)]
        if len(durations) > 1 and abs(durations[-1] - durations[-2]) <= MAX_RELATIVE_CHANGE * durations[-1]:
            break
    return end_times[-1] - end_times[-2]


def _platform(costs: MessageCosts, ranks: int) -> Platform:
    """A switch with these message costs between nodes of `per_node` ranks each."""
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
    """Costs of messages; a broadcast's byte costs its time beyond that of an empty message."""
    send_s, receive_s = costs.overheads
    return Segment(
        send_s=send_s,
        latency_s=costs.one_way_s - send_s - receive_s,
        per_byte_s=max(0.0, costs.broadcast_s - costs.one_way_s) / BROADCAST_BYTES,
        receive_s=receive_s,
        gap_s=costs.gap_s,
        exchange_s=max(0.0, costs.exchange_s - costs.one_way_s),
    )
