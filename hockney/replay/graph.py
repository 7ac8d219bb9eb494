# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The graph of a traced program: what each rank computes, sends, receives and waits for, in program order.

All executors use this graph: the evaluator and the event-driven model (`engine/replay/`), and the replayer,
which makes the calls on a simulated, emulated or real machine. It contains no communication times: these come
from the costs of a machine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

OP = np.dtype(
    [("kind", "u1"), ("flags", "u1"), ("place", "u2"), ("cost", "u4"), ("slot", "u4"), ("computed_s", "f4")]
)
"""An operation of a rank, laid out as in `engine/replay/graph.hpp`. It follows `computed_s` seconds of
computation. `slot` is the index of the message or collective, `cost` the row of the table of costs, and
`place` the call site; the last place stands for all remaining ones."""

COMPUTE, SEND, RECEIVE, RECEIVED, SENT, ENTER, LEAVE = range(7)
"""Kinds of operations: computation; the starts of a send and of a receive, and their ends; the beginning of a
collective, and its end. A blocking call consists of two operations."""

BLOCKING, TOGETHER, BUFFERED, SYNCHRONOUS, WILDCARD = 1, 2, 4, 8, 16
"""Flags. BLOCKING: the call that starts a message or a collective also waits for its end, which is the next
operation. TOGETHER: the operation is part of the same call as the previous one. BUFFERED and SYNCHRONOUS:
regardless of its size, the message leaves at once, or waits for its receive. WILDCARD: the receive accepts
any sender or any tag."""
ONE_SIDED = 32
"""Flag of messages: a put if BUFFERED is also set, otherwise a get. The calling rank is both source and
target of the message, starts it as SEND and RECEIVE, and waits for its end as RECEIVED. The other rank, which
is stored as the message's tag, does nothing."""
ROOTED_FROM, ROOTED_TO, AT_ROOT = 32, 64, 128
"""Flags of collectives: data flows from the root to all ranks, or from all ranks to the root; this rank is
the root. Without the first two flags, no rank leaves before all ranks have entered."""

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
"""The costs of a message in seconds, as in `loggp_sim.LayerCosts`, with two parts of the time of flight:
`latency`, and `transfer`, which is proportional to the bytes. For a collective, `latency` and `transfer` are
its time after the last rank entered, and `overhead` is the time of a rank that does not wait. `level`: see
`LEVELS`. `moving_receive` and `moving_gap` are the 255ths of these times during which bytes are transferred,
and which a change of the bandwidth affects."""
FULL_SHARE = 255


def byte_times(costs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The parts (s) of the gap and of the receive overhead that scale with the bandwidth. On a network a
    receiver waits for bytes within its call."""
    gap = np.maximum(
        np.minimum(costs["gap"], costs["transfer"]), costs["gap"] * (costs["moving_gap"] / FULL_SHARE)
    )
    return gap, costs["receive"] * (costs["moving_receive"] / FULL_SHARE)


LEVELS = ("self", "core", "package", "node", "network")
"""The distances of messages, as in profiles."""

MESSAGE = np.dtype(
    [("source", "u4"), ("target", "u4"), ("tag", "i4"), ("communicator", "u4"), ("size", "u8")]
)
"""A message: ranks in MPI_COMM_WORLD, and size in bytes."""

GROUP = np.dtype(
    [("operation", "u4"), ("communicator", "u4"), ("root", "i4"), ("ranks", "u4"), ("size", "f8")]
)
"""A call of a collective by all of its ranks: rows of `Graph.operations` and `Graph.communicators`, the
root's rank in MPI_COMM_WORLD (-1: none), and the size in bytes of a block or vector (mean over the ranks)."""


@dataclass(frozen=True)
class Graph:
    """The operations of rank r are `ops[first[r]:first[r + 1]]`. The ranks of each communicator are in its
    own order. `places` are call sites, with operation and location. `tail_s` is the time that each rank
    computes after its last operation. `unexplained_s` (empty: none) is the part of the computation before
    each operation by which the previous call took longer than the costs of a machine explain (negative: less
    long)."""

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
        """Seconds of computation before each operation, excluding unexplained time."""
        computed = self.ops["computed_s"]
        return computed - self.unexplained_s if len(self.unexplained_s) else computed


def rank_of_ops(graph: Graph) -> np.ndarray:
    return np.repeat(np.arange(graph.ranks), np.diff(graph.first))


def computed_by_rank(graph: Graph) -> np.ndarray:
    """Seconds that each rank computes."""
    before = np.concatenate([[0.0], np.cumsum(graph.computed_s, dtype=np.float64)])
    tail = graph.tail_s if len(graph.tail_s) else np.zeros(graph.ranks)
    return np.asarray(np.diff(before[graph.first]) + tail)
