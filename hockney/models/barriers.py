# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a barrier of messages costs, from its structure and from what messages cost between two ranks.

Two predictions. As R. Krishnamurthy extrapolates ('Performance of Barriers and NAS Parallel Benchmarks on the
Intel Clusters', 1998): its messages, each of which takes as long as one alone. That is right where one
message is under way at a time: on one medium. And by its structure, each rank with a clock of its own under
LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995): right where messages take nothing from each other. There
a message costs its sender o_s and its receiver o_r, and takes T from the call of MPI_Send to the return of
MPI_Recv; a sender's next message waits for the gap g. Two ranks that send to each other at once need E, which
is no T: their messages cross, and neither processor has anything to wait with. All of these are measured
between two ranks, none on a barrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import SCHEDULES, Step, Tally
from hockney.models.schedules.barriers import BROADCAST

Start = Literal["loop", "single"]

SETTLED = 1e-3
"""Episodes of a loop are followed until each takes as long as the one before, within this."""
MOST_EPISODES = 24
MOST_RANKS = 1024
"""Beyond, the recurrences take minutes (total exchange has P(P-1) messages)."""


@dataclass(frozen=True)
class MessageCosts:
    """Seconds of messages between two ranks, empty but for a broadcast's byte.

    `one_way_s` is T, `exchange_s` is E (MPI_Sendrecv with each other), `broadcast_s` MPI_Bcast of one byte to
    the other, whose call may cost more than its message (less than T is taken as T). `base_s` is
    Krishnamurthy's base line (MPI_Isend here, MPI_Recv there). LogGP's `send_s`, `receive_s`, `gap_s` matter
    from three ranks on only; 0 where they are not known.
    """

    one_way_s: float
    exchange_s: float
    broadcast_s: float
    base_s: float
    send_s: float = 0.0
    receive_s: float = 0.0
    gap_s: float = 0.0

    @property
    def shortened(self) -> bool:
        """Whether o_s and o_r, measured apart, do not fit into T."""
        return self.send_s + self.receive_s > self.one_way_s

    @property
    def overheads(self) -> tuple[float, float]:
        """o_s and o_r as they fit into T: measured apart they may exceed it, where both ends work at once."""
        total = self.send_s + self.receive_s
        scale = min(1.0, self.one_way_s / total) if total > 0 else 1.0
        return scale * self.send_s, scale * self.receive_s


@dataclass(frozen=True)
class Traffic:
    """Of one episode: messages of all ranks, how many follow one another on the longest path, and how many
    the busiest rank sends and receives."""

    messages: int
    depth: int
    busiest: int


def predicted(algorithm: str) -> bool:
    """Whether the algorithm is made of messages, so that there is a prediction."""
    return ("barrier", algorithm) in SCHEDULES


def steps(algorithm: str, ranks: int) -> list[Step]:
    """Raises KeyError for an algorithm that is not made of messages."""
    return list(SCHEDULES["barrier", algorithm](ranks, 0))


def traffic(algorithm: str, ranks: int) -> Traffic:
    """Raises KeyError for an algorithm that is not made of messages."""
    tally = Tally.of(steps(algorithm, ranks), ranks)
    return Traffic(tally.messages, tally.depth, tally.busiest)


def by_messages(algorithm: str, ranks: int, costs: MessageCosts) -> float:
    """Seconds of an episode if messages go one after the other, whoever sends them."""
    return traffic(algorithm, ranks).messages * costs.base_s


def by_structure(algorithm: str, ranks: int, costs: MessageCosts, start: Start = "loop") -> float:
    """Seconds of an episode if messages take nothing from each other: in a tight loop, from each episode to
    the next, or of a single one that all ranks enter at one moment, to the exit of the last."""
    simulator = LogGPSimulator(_platform(costs, ranks), ranks)
    episode = [simulator.timed(step) for step in steps(algorithm, ranks)]
    ends = [0.0]
    for _ in range(1 if start == "single" else MOST_EPISODES):
        ends.append(float(simulator.run(episode).max()))
        lasted = [later - earlier for earlier, later in pairwise(ends)]
        if len(lasted) > 1 and abs(lasted[-1] - lasted[-2]) <= SETTLED * lasted[-1]:
            break
    return ends[-1] - ends[-2]


def _platform(costs: MessageCosts, ranks: int) -> Platform:
    """A switch between `ranks` nodes on which messages cost this. The byte of a broadcast is what it takes
    longer than an empty message."""
    send_s, receive_s = costs.overheads
    segment = Segment(
        send_s=send_s,
        latency_s=costs.one_way_s - send_s - receive_s,
        per_byte_s=max(0.0, costs.broadcast_s - costs.one_way_s) / BROADCAST,
        receive_s=receive_s,
        gap_s=costs.gap_s,
        exchange_s=max(0.0, costs.exchange_s - costs.one_way_s),
    )
    network = Network(nodes=(NodeGroup(count=ranks),))
    return Platform(name="measured", title="two ranks, measured", network=network, segments=(segment,))
