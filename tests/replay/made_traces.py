# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Traces of programs that exist in memory only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hockney.profiles import trace as t
from hockney.profiles.trace import PART, Call, RankTrace
from hockney.replay.building import Job, Placement

EVENT = np.dtype([("call", "u4"), ("enter", "f8"), ("leave", "f8")])
PARTS = {
    "send": t.SEND, "receive": t.RECEIVE, "start send": t.START_SEND, "start receive": t.START_RECEIVE,
    "end": t.END, "collective": t.COLLECTIVE, "start collective": t.START_COLLECTIVE, "put": t.PUT,
    "get": t.GET, "synchronize": t.SYNCHRONIZE, "probe": t.PROBE,
}  # fmt: skip


def part(what: str, peer: int = -1, size: int = 0, **others: int) -> tuple[int, ...]:
    """A part, with tag 0 on communicator 1 if nothing else is said."""
    values = {"flags": 0, "tag": 0, "communicator": 1, "age": 0, "root": -1} | others
    row = {"what": PARTS[what], "peer": peer, "bytes": size} | values
    return tuple(row.get(name, 0) for name in PART.names or ())


@dataclass
class Written:
    """The trace of a rank, call by call. Without times, a call begins 1 us after the one before and lasts
    1 us."""

    rank: int
    start: float = 0.0
    calls: dict[tuple[object, ...], int] = field(default_factory=dict)
    events: list[tuple[int, float, float]] = field(default_factory=list)
    requests: int = 0
    complete: bool = True

    @property
    def now(self) -> float:
        return self.events[-1][2] if self.events else self.start

    def call(
        self,
        function: str,
        *parts: tuple[int, ...],
        after: float = 1e-6,
        took: float = 1e-6,
        site: int = 1,
        misses: bool = False,
    ) -> None:
        number = self.calls.setdefault((function, site, misses, *parts), len(self.calls))
        enter = self.now + after
        self.events.append((number, enter, enter + took))

    def start_request(self, function: str, what: tuple[int, ...], **times: float) -> int:
        self.call(function, what, **times)
        self.requests += 1
        return self.requests

    def end(self, request: int, peer: int = -1, size: int = 0, **others: int) -> tuple[int, ...]:
        return part("end", peer, size, age=self.requests - request + 1, **others)

    @property
    def trace(self) -> RankTrace:
        calls = tuple(
            Call(function, site, misses, np.array(parts, dtype=PART))
            for function, site, misses, *parts in self.calls
        )
        return RankTrace(self.rank, calls, np.array(self.events, dtype=EVENT), self.complete)


def written(ranks: int, start: float = 0.0) -> list[Written]:
    return [Written(rank, start) for rank in range(ranks)]


def job_of_written(
    ranks: Sequence[Written],
    communicators: Sequence[Sequence[int]] = (),
    *,
    end: float | None = None,
    recording_s: Mapping[str, float] | None = None,
    hosts: Sequence[int] | None = None,
) -> Job:
    """`communicators` have the numbers 1, 2, ... on all of their ranks; without them 1 has all ranks."""
    members = [np.array(each) for each in communicators] or [np.arange(len(ranks))]
    return Job(
        tuple(members),
        tuple({k + 1: k for k, each in enumerate(members) if r in each} for r in range(len(ranks))),
        np.array([each.start for each in ranks]),
        np.array([each.now if end is None else end for each in ranks]),
        np.zeros(len(ranks), dtype=np.uint64),
        Placement.from_hosts(np.zeros(len(ranks), int) if hosts is None else np.array(hosts)),
        lambda rank, function, site: f"{function} at line {site}",
        recording_s or {},
    )


def random_program(seed: int, ranks: int, messages: int) -> tuple[list[Written], list[list[int]], np.ndarray]:
    """A program of messages and collectives on several communicators: its ranks, the communicators, and for
    each rank the numbers of the messages that it receives, in the order of its posts. The size of a message
    is its number."""
    random = np.random.default_rng(seed)
    evens = list(range(0, ranks, 2))
    communicators = [list(range(ranks)), evens, list(range(ranks))[::-1]]
    made = written(ranks)
    receives: list[list[int]] = [[] for _ in range(ranks)]
    sending: list[list[int]] = [[] for _ in range(ranks)]
    receiving: list[list[tuple[int, int, int, int, int]]] = [[] for _ in range(ranks)]

    def end_some(rank: int, share: float) -> None:
        of = made[rank]
        chosen = [k for k in range(len(receiving[rank])) if random.random() < share]
        parts = [
            of.end(request, source, number, tag=tag, communicator=communicator)
            for k in random.permutation(chosen).tolist()
            for request, number, source, tag, communicator in [receiving[rank][k]]
        ]
        sent = [k for k in range(len(sending[rank])) if random.random() < share]
        parts += [of.end(sending[rank][k]) for k in sent]
        receiving[rank] = [each for k, each in enumerate(receiving[rank]) if k not in chosen]
        sending[rank] = [each for k, each in enumerate(sending[rank]) if k not in sent]
        if parts:
            of.call("Waitall" if len(parts) > 1 else "Wait", *parts, site=3)

    pending: dict[int, list[tuple[int, int, int, int]]] = {rank: [] for rank in range(ranks)}
    for number in range(messages):
        communicator = int(random.integers(3)) + 1
        members = communicators[communicator - 1]
        source, target = (int(members[k]) for k in random.integers(len(members), size=2))
        tag = int(random.integers(3))
        aim = part("send", target, number, tag=tag, communicator=communicator)
        of = made[source]
        if random.random() < 0.5 or source == target:
            start = part("start send", target, number, tag=tag, communicator=communicator)
            sending[source].append(of.start_request("Isend", start))
        else:
            of.call("Send", aim)
        pending[target].append((number, source, tag, communicator))
        if random.random() < 0.05:
            which = int(random.integers(3)) + 1
            root = communicators[which - 1][0]
            for rank in communicators[which - 1]:
                made[rank].call("Bcast", part("collective", size=8, communicator=which, root=root), site=9)
        rank = int(random.integers(ranks)) if number < messages - 1 else -1
        for receiver in [rank] if rank >= 0 else range(ranks):
            while pending[receiver] and (rank < 0 or random.random() < 0.7):
                # Any channel may be next, each of them in its order.
                channels = {each[1:]: each for each in reversed(pending[receiver])}
                one = list(channels.values())[int(random.integers(len(channels)))]
                pending[receiver].remove(one)
                receives[receiver].append(one[0])
                _receive(made[receiver], receiving[receiver], random, *one)
            end_some(receiver, 0.5)
    for rank in range(ranks):
        end_some(rank, 1.1)
    return made, communicators, np.array(receives, dtype=object)


def _receive(
    of: Written,
    receiving: list[tuple[int, int, int, int, int]],
    random: np.random.Generator,
    number: int,
    source: int,
    tag: int,
    communicator: int,
) -> None:
    kind = int(random.integers(4))
    wild = t.WILDCARD if random.random() < 0.5 else 0
    where = {"tag": tag, "communicator": communicator, "flags": wild}
    if kind == 0:
        of.call("Recv", part("receive", source, number, **where), site=2)
    elif kind == 1:
        of.call("Probe", part("probe", source, number, **where), site=4)
        of.call("Recv", part("receive", source, number, **where), site=5)
    else:
        asked = part(
            "start receive", -1 if wild else source, 1 << 20, **{**where, "tag": -1 if wild else tag}
        )
        request = of.start_request("Irecv", asked)
        receiving.append((request, number, source, tag, communicator))
