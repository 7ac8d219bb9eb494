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

import numpy as np

from hockney.models.barrier_steps import STEPS, Step

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
    return algorithm in STEPS


def traffic(algorithm: str, ranks: int) -> Traffic:
    """Raises KeyError for an algorithm that is not made of messages."""
    handled = np.zeros(ranks, dtype=int)
    messages = 0
    for step in STEPS[algorithm](ranks):
        for source, target in step.layers:
            np.add.at(handled, source, 1)
            np.add.at(handled, target, 1)
            messages += len(source)
    hop = MessageCosts(one_way_s=1.0, exchange_s=1.0, broadcast_s=1.0, base_s=1.0)
    depth = by_structure(algorithm, ranks, hop, "single")
    return Traffic(messages, round(depth), int(handled.max()))


def by_messages(algorithm: str, ranks: int, costs: MessageCosts) -> float:
    """Seconds of an episode if messages go one after the other, whoever sends them."""
    return traffic(algorithm, ranks).messages * costs.base_s


def by_structure(algorithm: str, ranks: int, costs: MessageCosts, start: Start = "loop") -> float:
    """Seconds of an episode if messages take nothing from each other: in a tight loop, from each episode to
    the next, or of a single one that all ranks enter at one moment, to the exit of the last."""
    steps = list(STEPS[algorithm](ranks))
    clocks = _Clocks(ranks, costs)
    ends = [0.0]
    for _ in range(1 if start == "single" else MOST_EPISODES):
        for step in steps:
            clocks.take(step)
        ends.append(float(clocks.now.max()))
        lasted = [later - earlier for earlier, later in pairwise(ends)]
        if len(lasted) > 1 and abs(lasted[-1] - lasted[-2]) <= SETTLED * lasted[-1]:
            break
    return ends[-1] - ends[-2]


class _Clocks:
    """Each rank's time, and when it may send again."""

    def __init__(self, ranks: int, costs: MessageCosts) -> None:
        self.now = np.zeros(ranks)
        self.free = np.zeros(ranks)
        self.send_s, self.receive_s = costs.overheads
        self.gap_s = costs.gap_s
        self.flight_s = costs.one_way_s - self.send_s - self.receive_s
        self.crossing_s = max(0.0, costs.exchange_s - costs.one_way_s)
        self.byte_s = max(0.0, costs.broadcast_s - costs.one_way_s)

    def take(self, step: Step) -> None:
        arrivals = np.full((len(step.layers), len(self.now)), np.inf)
        own = np.full(len(self.now), -np.inf)  # when the last of a rank's own messages arrives
        for layer, (source, target) in enumerate(step.layers):
            start = np.maximum(self.now[source] + self.send_s, self.free[source])
            self.now[source] = start
            self.free[source] = start + self.gap_s
            flight = self.flight_s + (self.byte_s if step.broadcast else 0.0)
            arrivals[layer, target] = own[source] = start + flight
        arrivals.sort(axis=0)
        for arrival in arrivals:
            comes = np.isfinite(arrival)
            # Messages cross if the receiver's own is still under way when this one is half way.
            crosses = step.at_once & (own >= arrival - self.flight_s / 2)
            cost = self.receive_s + np.where(crosses, self.crossing_s, 0.0)
            self.now = np.where(comes, np.maximum(self.now, arrival) + cost, self.now)
