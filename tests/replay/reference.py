# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ends of a graph's ranks by the definition of the costs, without an order: every rank goes as far as it
can, again and again."""

from __future__ import annotations

import numpy as np

from hockney.replay.graph import (
    AT_ROOT,
    BLOCKING,
    BUFFERED,
    COMPUTE,
    ENTER,
    RECEIVE,
    RECEIVED,
    ROOTED_FROM,
    ROOTED_TO,
    SEND,
    SENT,
    SYNCHRONOUS,
    TOGETHER,
    Graph,
)


class Reference:
    def __init__(self, graph: Graph, costs: np.ndarray) -> None:
        self.graph, self.costs = graph, costs
        self.clock, self.free = [0.0] * graph.ranks, [0.0] * graph.ranks
        self.at = graph.first[:-1].tolist()
        self.start: dict[int, float] = {}
        self.called: dict[int, float] = {}
        self.posted: dict[int, float] = {}
        self.late: dict[int, bool] = {}
        self.flags: dict[int, int] = {}
        self.enters: dict[int, dict[int, float]] = {}
        self.members = {
            slot: sum((mine["kind"] == ENTER) & (mine["slot"] == slot))
            for mine in (graph.ops,)
            for slot in range(len(graph.groups))
        }

    def ends(self) -> np.ndarray | None:
        """None in a deadlock."""
        moved = True
        while moved:
            moved = False
            for rank in range(self.graph.ranks):
                while self.at[rank] < self.graph.first[rank + 1] and self.take(rank):
                    moved = True
        tail = self.graph.tail_s if len(self.graph.tail_s) else np.zeros(self.graph.ranks)
        done = all(at == end for at, end in zip(self.at, self.graph.first[1:], strict=True))
        return np.array(self.clock) + tail if done else None

    def take(self, rank: int) -> bool:
        i, end = self.at[rank], self.graph.first[rank + 1]
        ops = self.graph.ops
        kind, flags, cost = int(ops["kind"][i]), int(ops["flags"][i]), self.costs[ops["cost"][i]]
        slot, c = int(ops["slot"][i]), self.clock[rank] + float(ops["computed_s"][i])
        if kind in (RECEIVED, SENT):
            return self.wait(rank, i, c)
        if kind == SEND:
            following = ops[i + 1] if i + 1 < end else None
            self.flags[slot] = flags
            waits = flags & BLOCKING and following is not None and following["kind"] == SENT
            waits = waits and following["slot"] == slot and following["flags"] & TOGETHER
            self.late[slot] = bool(waits) and not self.eager(slot, cost)
            if self.late[slot]:
                self.start[slot] = c
            else:
                called = c + cost["overhead"]
                start = max(called, self.free[rank])
                c = start if cost["gap_holds"] else called
                self.free[rank] = start + cost["gap"]
                self.start[slot] = start
        elif kind == RECEIVE:
            self.posted[slot] = c
        elif kind == ENTER:
            self.enters.setdefault(slot, {})[rank] = c
        elif kind != COMPUTE:
            entered, root = self.enters[slot], bool(flags & AT_ROOT)
            whole = cost["latency"] + cost["transfer"]
            if (flags & ROOTED_FROM and root) or (flags & ROOTED_TO and not root):
                c += cost["overhead"]
            elif flags & ROOTED_FROM:
                at = int(self.graph.groups["root"][slot])
                if at not in entered:
                    return False
                c = max(c, entered[at] + whole)
            else:
                if len(entered) < self.members[slot]:
                    return False
                c = max(c, max(entered.values()) + whole)
        self.clock[rank], self.at[rank] = c, i + 1
        return True

    def eager(self, slot: int, cost: np.void) -> bool:
        flags = self.flags[slot]
        return not flags & SYNCHRONOUS and bool(cost["eager"] or flags & BUFFERED)

    def wait(self, rank: int, i: int, c: float) -> bool:
        """Small messages cost their receiver its overhead, in the order in which they arrive."""
        ops, last, arrivals, over = self.graph.ops, i, [], []
        while last == i or (
            last < self.graph.first[rank + 1]
            and ops["kind"][last] in (RECEIVED, SENT)
            and ops["flags"][last] & TOGETHER
        ):
            slot, cost = int(ops["slot"][last]), self.costs[ops["cost"][last]]
            if slot not in self.start:
                return False
            flight = cost["latency"] + cost["transfer"]
            received = ops["kind"][last] == RECEIVED
            if not self.eager(slot, cost) or received:
                if slot not in self.posted:
                    return False
                if self.eager(slot, cost):
                    arrivals.append((self.start[slot] + flight, cost["receive"]))
                else:
                    end = max(self.start[slot], self.posted[slot]) + flight + cost["receive"]
                    over.append(end + (cost["overhead"] if self.late[slot] else 0.0))
            last += 1
        for arrival, receive in sorted(arrivals):
            c = max(c, arrival) + receive
        self.clock[rank], self.at[rank] = max([c, *over]), last
        return True
