# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs of programs for tests, written as the calls that each rank makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hockney.replay import graph as g

WORLD = 0


@dataclass
class Program:
    """The k-th message from one rank to another with the same tag meets the k-th receive, as in MPI. Calls
    that start something return what completes it."""

    ranks: int
    communicators: list[Sequence[int]] = field(default_factory=list)
    operations: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.communicators.insert(WORLD, range(self.ranks))
        self.ops: list[list[tuple[Any, ...]]] = [[] for _ in range(self.ranks)]
        self.messages: dict[tuple[int, ...], list[int]] = {}
        self.counts: dict[tuple[int, ...], int] = {}
        self.groups: dict[tuple[int, ...], int] = {}
        self.accessed: set[int] = set()
        self.message_rows: list[tuple[int, ...]] = []
        self.group_rows: list[tuple[int, ...]] = []
        self.pending_s = [0.0] * self.ranks

    def compute(self, rank: int, seconds: float) -> None:
        self.pending_s[rank] += seconds

    def send(self, rank: int, to: int, size: int, tag: int = 0, flags: int = 0, on: int = WORLD) -> None:
        slot = self._message(rank, to, size, tag, on, g.SEND)
        self._op(rank, g.SEND, slot, g.BLOCKING | flags, "Send")
        self._op(rank, g.SENT, slot, g.TOGETHER, "Send")

    def receive(
        self, rank: int, sender: int, size: int, tag: int = 0, flags: int = 0, on: int = WORLD
    ) -> None:
        slot = self._message(sender, rank, size, tag, on, g.RECEIVE)
        self._op(rank, g.RECEIVE, slot, g.BLOCKING | flags, "Recv")
        self._op(rank, g.RECEIVED, slot, g.TOGETHER, "Recv")

    def one_sided(self, rank: int, other: int, size: int, *, put: bool, on: int = WORLD) -> tuple[int, int]:
        """What completes it at its target too."""
        slot = len(self.message_rows)
        self.accessed.add(slot)
        self.message_rows.append((rank, rank, other, on, size))
        flags = g.ONE_SIDED | (g.BUFFERED if put else 0)
        self._op(rank, g.SEND, slot, flags, "Put" if put else "Get")
        self._op(rank, g.RECEIVE, slot, flags | g.TOGETHER, "Put" if put else "Get")
        return g.RECEIVED, slot

    def exchange(self, rank: int, to: int, sender: int, size: int, tag: int = 0) -> None:
        sent = self._message(rank, to, size, tag, WORLD, g.SEND)
        received = self._message(sender, rank, size, tag, WORLD, g.RECEIVE)
        self._op(rank, g.SEND, sent, g.BLOCKING, "Sendrecv")
        self._op(rank, g.RECEIVE, received, g.TOGETHER, "Sendrecv")
        self._op(rank, g.RECEIVED, received, g.TOGETHER, "Sendrecv")
        self._op(rank, g.SENT, sent, g.TOGETHER, "Sendrecv")

    def isend(
        self, rank: int, to: int, size: int, tag: int = 0, flags: int = 0, on: int = WORLD
    ) -> tuple[int, int]:
        slot = self._message(rank, to, size, tag, on, g.SEND)
        self._op(rank, g.SEND, slot, flags, "Isend")
        return g.SENT, slot

    def ireceive(
        self, rank: int, sender: int, size: int, tag: int = 0, flags: int = 0, on: int = WORLD
    ) -> tuple[int, int]:
        slot = self._message(sender, rank, size, tag, on, g.RECEIVE)
        self._op(rank, g.RECEIVE, slot, flags, "Irecv")
        return g.RECEIVED, slot

    def wait(self, rank: int, *requests: tuple[int, int]) -> None:
        for number, (kind, slot) in enumerate(requests):
            flags = g.ONE_SIDED if kind == g.RECEIVED and slot in self.accessed else 0
            self._op(rank, kind, slot, flags | (g.TOGETHER if number else 0), "Waitall")

    def collective(self, rank: int, operation: str, size: float = 0, root: int = -1, on: int = WORLD) -> None:
        slot, flags = self._group(rank, operation, size, root, on)
        self._op(rank, g.ENTER, slot, g.BLOCKING | flags, operation)
        self._op(rank, g.LEAVE, slot, g.TOGETHER | flags, operation)

    def icollective(
        self, rank: int, operation: str, size: float = 0, root: int = -1, on: int = WORLD
    ) -> tuple[int, int]:
        slot, flags = self._group(rank, operation, size, root, on)
        self._op(rank, g.ENTER, slot, flags, operation)
        return g.LEAVE, slot

    def graph(self) -> g.Graph:
        ops = np.array([op for rank in self.ops for op in rank], g.OP)
        return g.Graph(
            ops=ops,
            first=np.cumsum([0, *map(len, self.ops)]),
            messages=np.array(self.message_rows, g.MESSAGE),
            groups=np.array(self.group_rows, g.GROUP),
            operations=tuple(self.operations),
            communicators=tuple(np.array(each, np.uint32) for each in self.communicators),
            places=tuple(self.places),
            tail_s=np.array(self.pending_s),
        )

    def _op(self, rank: int, kind: int, slot: int, flags: int, where: str) -> None:
        if where not in self.places:
            self.places.append(where)
        self.ops[rank].append((kind, flags, self.places.index(where), 0, slot, self.pending_s[rank]))
        self.pending_s[rank] = 0.0

    def _message(self, source: int, target: int, size: int, tag: int, on: int, side: int) -> int:
        channel = on, source, target, tag
        known = self.messages.setdefault(channel, [])
        number = self.counts.get((*channel, side), 0)
        self.counts[(*channel, side)] = number + 1
        if number == len(known):
            known.append(len(self.message_rows))
            self.message_rows.append((source, target, tag, on, size))
        return known[number]

    def _group(self, rank: int, operation: str, size: float, root: int, on: int) -> tuple[int, int]:
        number = self.counts.get((on, rank), 0)
        self.counts[on, rank] = number + 1
        if operation not in self.operations:
            self.operations.append(operation)
        if (on, number) not in self.groups:
            self.groups[on, number] = len(self.group_rows)
            row = self.operations.index(operation), on, root, len(self.communicators[on]), size
            self.group_rows.append(row)
        if root < 0:
            return self.groups[on, number], 0
        rooted = g.ROOTED_FROM if operation.strip("I").lower() in ("bcast", "scatter") else g.ROOTED_TO
        return self.groups[on, number], rooted | (g.AT_ROOT if rank == root else 0)
