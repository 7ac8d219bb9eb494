# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of a traced program: what each rank computes, sends, receives and waits for, in its own order.

Every executor takes the same graph: the evaluator and the event-driven model (`engine/replay/`), and the
replayer, which makes the calls on a simulated, emulated or real machine. It has no times of communication:
these come from the costs of a machine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

OP = np.dtype(
    [("kind", "u1"), ("flags", "u1"), ("place", "u2"), ("cost", "u4"), ("slot", "u4"), ("computed_s", "f4")]
)
"""An operation of a rank, as `engine/replay/graph.hpp` has it. `computed_s` seconds of computation precede
it. `slot` is the message, or the instance of a collective; `cost` the row of the table of costs; `place` the
call site, the last one of which stands for all others."""

COMPUTE, SEND, RECEIVE, RECEIVED, SENT, ENTER, LEAVE = range(7)
"""Kinds of operations: computation alone; the start of a send and of a receive, and their ends; the begin of
a collective, and its end. A blocking call is two operations."""

BLOCKING, TOGETHER, BUFFERED, SYNCHRONOUS, WILDCARD = 1, 2, 4, 8, 16
"""Flags: the call that starts a message or a collective waits for its end, which follows at once; an end or a
start is part of the same call as the operation before it; the message leaves at once, or waits for its
receive, whatever its size; the receive would take any sender or tag."""
ONE_SIDED = 32
"""Flag of messages: a put if it is BUFFERED too, a get otherwise. The rank that asks for it is both source
and target of the message, starts it as SEND and RECEIVE, and waits for its end as RECEIVED. The other rank,
which is the message's tag, does nothing."""
ROOTED_FROM, ROOTED_TO, AT_ROOT = 32, 64, 128
"""Flags of collectives: data flows from the root to all, or from all to the root; this rank is the root. With
neither of the first two no rank leaves before all have entered."""

COST = np.dtype(
    [
        ("overhead", "f8"),
        ("latency", "f8"),
        ("transfer", "f8"),
        ("receive", "f8"),
        ("gap", "f8"),
        ("exchange", "f8"),
        ("eager", "u1"),
        ("gap_holds", "u1"),
        ("level", "u1"),
        ("moving_receive", "u1"),
        ("moving_gap", "u1"),
        ("reserved", "u1", 3),
    ]
)
"""Seconds of a message, as `loggp_sim.LayerCosts` has them, with the time of flight in two parts: `latency`
and `transfer`, which is proportional to the bytes. Of a collective `latency` and `transfer` are its time
from the last begin, and `overhead` that of a rank which does not wait. `level`: see `LEVELS`.
`moving_receive` and `moving_gap` are 255ths of these times in which bytes arrive or leave: another
bandwidth changes them."""
WHOLE = 255


def byte_times(costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The parts (s) of the gap and of the overhead of receiving that scale with the bandwidth: on a network a
    receiver waits in its call for the bytes."""
    gap = np.maximum(
        np.minimum(costs["gap"], costs["transfer"]), costs["gap"] * (costs["moving_gap"] / WHOLE)
    )
    return gap, costs["receive"] * (costs["moving_receive"] / WHOLE)


LEVELS = ("self", "core", "package", "node", "network")
"""How far a message goes; the distances of profiles."""

MESSAGE = np.dtype(
    [("source", "u4"), ("target", "u4"), ("tag", "i4"), ("communicator", "u4"), ("size", "u8")]
)
"""A message: ranks in MPI_COMM_WORLD, and bytes."""

GROUP = np.dtype(
    [("operation", "u4"), ("communicator", "u4"), ("root", "i4"), ("ranks", "u4"), ("size", "f8")]
)
"""An instance of a collective: rows of `Graph.operations` and `Graph.communicators`, the root's rank in
MPI_COMM_WORLD (-1: none), and the bytes of a block or vector, the mean over the ranks."""


@dataclass(frozen=True)
class Graph:
    """`ops` has the operations of rank r at first[r] to first[r+1]. The ranks of a communicator are in its
    own order. `places` are call sites, with operation and location; `tail_s` seconds that each rank computes
    after its last operation. Of the computation before each operation, `unexplained_s` (empty: none) is what
    the call before took longer than the costs of a machine explain; negative: less long."""

    ops: np.ndarray
    first: np.ndarray
    messages: np.ndarray
    groups: np.ndarray
    operations: tuple[str, ...]
    communicators: tuple[np.ndarray, ...]
    places: tuple[str, ...]
    tail_s: np.ndarray = field(default_factory=lambda: np.zeros(0))
    unexplained_s: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))

    @property
    def ranks(self) -> int:
        return len(self.first) - 1

    @property
    def computed_s(self) -> np.ndarray:
        """Seconds of computation before each operation, without what is unexplained."""
        computed = self.ops["computed_s"]
        return computed - self.unexplained_s if len(self.unexplained_s) else computed


def rank_of_ops(graph: Graph) -> np.ndarray:
    return np.repeat(np.arange(graph.ranks), np.diff(graph.first))


def computed_by_rank(graph: Graph) -> np.ndarray:
    """Seconds that each rank computes."""
    before = np.concatenate([[0.0], np.cumsum(graph.computed_s, dtype=np.float64)])
    tail = graph.tail_s if len(graph.tail_s) else np.zeros(graph.ranks)
    return np.asarray(np.diff(before[graph.first]) + tail)
