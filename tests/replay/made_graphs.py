# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs that tests make: call by call, and of the schedules of `hockney.models`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from hockney.core.platform import Platform
from hockney.models.loggp_sim import nodes_of
from hockney.models.routes import Routes
from hockney.models.schedules import Mode, Step
from hockney.replay.graph import (
    BLOCKING,
    COMPUTE,
    COST,
    ENTER,
    GROUP,
    LEAVE,
    MESSAGE,
    OP,
    RECEIVE,
    RECEIVED,
    SEND,
    SENT,
    TOGETHER,
    Graph,
)


class Writer:
    """Adds operations of ranks. `row` is the number of a cost, which is added if it is new."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.ops: list[list[tuple[float, ...]]] = [[] for _ in range(ranks)]
        self.messages: list[tuple[int, ...]] = []
        self.groups: list[tuple[float, ...]] = []
        self.places: list[str] = []
        self._rows: dict[tuple[float, ...], int] = {}

    def row(self, **cost: float) -> int:
        known = {"eager": 1, "gap_holds": 1} | cost
        key = tuple(known.get(name, 0) for name in COST.names[:-1])
        return self._rows.setdefault(key, len(self._rows))

    def costs(self) -> np.ndarray:
        table = np.zeros(max(len(self._rows), 1), dtype=COST)
        for number, key in enumerate(self._rows):
            for name, value in zip(COST.names[:-1], key, strict=True):
                table[name][number] = value
        return table

    def message(self, source: int, target: int, size: int = 0) -> int:
        self.messages.append((source, target, 0, 0, size))
        return len(self.messages) - 1

    def group(self, root: int = -1) -> int:
        self.groups.append((0, 0, root, self.ranks, 0.0))
        return len(self.groups) - 1

    def add(
        self,
        rank: int,
        kind: int,
        slot: int = 0,
        row: int = 0,
        flags: int = 0,
        computed: float = 0.0,
        place: str = "p",
    ) -> None:
        if place not in self.places:
            self.places.append(place)
        self.ops[rank].append((kind, flags, self.places.index(place), row, slot, computed))

    def graph(self, tail: Iterable[float] = ()) -> Graph:
        first = np.cumsum([0, *map(len, self.ops)])
        return Graph(
            ops=np.array([op for mine in self.ops for op in mine], dtype=OP),
            first=first,
            messages=np.array(self.messages, dtype=MESSAGE),
            groups=np.array(self.groups, dtype=GROUP),
            operations=("barrier",),
            communicators=(np.arange(self.ranks),),
            places=tuple(self.places),
            tail_s=np.array(list(tail)),
        )


def graph_of(steps: Iterable[Step], platform: Platform, ranks: int) -> tuple[Graph, np.ndarray]:
    """A schedule's graph, and the costs of its messages on a described machine."""
    writer = Writer(ranks)
    node, routes = nodes_of(platform, ranks), Routes(platform)

    def row(source: int, target: int, size: float, *, isend: bool) -> int:
        segment = platform.segment(size, on_node=node[source] == node[target])
        send, per_byte = segment.send_s, segment.send_s_per_byte
        if isend:
            send = send if segment.isend_s is None else segment.isend_s
            per_byte = per_byte if segment.isend_s_per_byte is None else segment.isend_s_per_byte
        hops = routes.hops(int(node[source]), int(node[target]))
        return writer.row(
            overhead=send + per_byte * size,
            latency=segment.latency_s + hops * platform.network.hop_s,
            transfer=segment.per_byte_s * size,
            receive=segment.receive_s + segment.receive_s_per_byte * size,
            gap=segment.gap_s + segment.gap_s_per_byte * size,
            exchange=segment.exchange_s + segment.exchange_s_per_byte * size,
            eager=size <= platform.eager,
            level=4 if node[source] != node[target] else 3,
        )

    for step in steps:
        if step.joins:
            slot, nothing = writer.group(), writer.row()
            for rank in range(ranks):
                writer.add(rank, ENTER, slot, nothing, BLOCKING, place="join")
                writer.add(rank, LEAVE, slot, nothing, TOGETHER, place="join")
        sends, receives = defaultdict(list), defaultdict(list)
        combined = defaultdict(float)
        for layer in step.layers:
            sizes = np.broadcast_to(layer.size, layer.source.shape)
            for source, target, size in zip(layer.source, layer.target, sizes, strict=True):
                both = step.mode is not Mode.BLOCKING and int(source) in set(layer.target.tolist())
                cost = row(int(source), int(target), float(size), isend=both or step.mode is Mode.POSTED)
                slot = writer.message(int(source), int(target), int(size))
                sends[int(source)].append((slot, cost))
                receives[int(target)].append((slot, cost))
                combined[int(target)] += platform.sum_s_per_byte * float(size)
        for rank in range(ranks):
            computed = 0.0 if step.computed is None else float(step.computed[rank])
            outgoing, incoming = sends[rank], receives[rank]
            if not outgoing and not incoming:
                writer.add(rank, COMPUTE, computed=computed, place="compute")
                continue
            posted = step.mode is Mode.POSTED
            if posted:
                for slot, cost in incoming:
                    writer.add(rank, RECEIVE, slot, cost, place="receive")
            for slot, cost in outgoing:
                blocking = step.mode is Mode.BLOCKING
                writer.add(rank, SEND, slot, cost, BLOCKING if blocking else 0, place="send")
                if blocking:
                    writer.add(rank, SENT, slot, cost, TOGETHER, place="send")
            writer.add(rank, COMPUTE, computed=computed, place="compute")
            if not posted:
                for slot, cost in incoming:
                    writer.add(rank, RECEIVE, slot, cost, place="receive")
            ends = [(RECEIVED, *each) for each in incoming]
            ends += [(SENT, *each) for each in outgoing if step.mode is not Mode.BLOCKING]
            for number, (kind, slot, cost) in enumerate(ends):
                writer.add(rank, kind, slot, cost, TOGETHER if number else 0, place="wait")
            if step.combine and incoming:
                writer.add(rank, COMPUTE, computed=combined[rank], place="combine")
    return writer.graph(), writer.costs()
