# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a kernel does on each rank, phase by phase, without any times.

Work is counted by the benchmark's official count of operations. Counts are those of a whole run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

DOUBLE = 8
"""Bytes."""


class Indivisible(ValueError):
    """A kernel cannot be divided among these ranks; `most` is the largest smaller number that works."""

    def __init__(self, ranks: int, most: int) -> None:
        super().__init__(f"{ranks} ranks; {most} work")
        self.ranks, self.most = ranks, most


@dataclass(frozen=True)
class Work:
    """Operations that one rank does at the rate of the phase `like` on one rank. Work that `every` rank
    repeats is in the official count once."""

    operations: float
    like: str
    every: bool = False


@dataclass(frozen=True)
class Messages:
    """`count` messages of `bytes`."""

    count: int
    bytes: int


@dataclass(frozen=True)
class Exchange:
    """`count` times, a rank sends messages of these bytes, and receives others, all at once."""

    count: int
    sent: tuple[int, ...]
    received: tuple[int, ...]


@dataclass(frozen=True)
class Pipeline:
    """`count` sweeps that pass through `stages` ranks after the first one in this number of `chunks`, and,
    with two `ways`, back again. A rank has a message for each chunk before and after its work on it: `sent`
    and `received` are those of one sweep."""

    count: int
    stages: int
    chunks: int
    ways: int
    sent: tuple[Messages, ...]
    received: tuple[Messages, ...]


@dataclass(frozen=True)
class Collective:
    """`count` calls, each with these bytes from each rank: the vector that is summed, or the blocks for all
    ranks, with its own unless it keeps that (`own`)."""

    operation: str
    count: int
    bytes: tuple[int, ...]
    own: bool = True


@dataclass(frozen=True)
class Share:
    """What one rank does in a phase. Only one of its works is divided into a pipeline's chunks: if there is a
    pipeline, there is one work."""

    work: tuple[Work, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    pipeline: Pipeline | None = None

    @property
    def operations(self) -> float:
        return sum(work.operations for work in self.work)

    @property
    def sent(self) -> tuple[Messages, ...]:
        """All messages of the phase, by size."""
        counted: Counter[int] = Counter()
        for exchange in self.exchanges:
            for size in exchange.sent:
                counted[size] += exchange.count
        if self.pipeline is not None:
            for each in self.pipeline.sent:
                counted[each.bytes] += self.pipeline.count * each.count
        return tuple(Messages(count, size) for size, count in sorted(counted.items()))


@dataclass(frozen=True)
class Phase:
    """A part of an iteration, by the name that the engine gives it: the share of each rank, and the
    collectives of all."""

    name: str
    shares: tuple[Share, ...]
    collectives: tuple[Collective, ...] = ()

    @property
    def busiest(self) -> Share:
        """The share with the most operations; of several the one with the most bytes."""
        return max(
            self.shares,
            key=lambda s: (s.operations, sum(each.count * each.bytes for each in s.sent)),
        )


@dataclass(frozen=True)
class Program:
    """A kernel of class `size` on `ranks` ranks: `operations` is the official count of a run."""

    kernel: str
    size: str
    ranks: int
    iterations: int
    operations: float
    phases: tuple[Phase, ...]

    def phase(self, name: str) -> Phase | None:
        return next((phase for phase in self.phases if phase.name == name), None)

    @property
    def sent_messages(self) -> int:
        """The number of messages that all ranks send."""
        return sum(each.count for each in self._sent())

    @property
    def sent_bytes(self) -> int:
        return sum(each.count * each.bytes for each in self._sent())

    @property
    def collective_calls(self) -> int:
        """The number of collective calls of each rank."""
        return sum(each.count for phase in self.phases for each in phase.collectives)

    @property
    def collective_bytes(self) -> int:
        """The bytes of the collective calls of all ranks."""
        return sum(each.count * sum(each.bytes) for phase in self.phases for each in phase.collectives)

    def _sent(self) -> Iterable[Messages]:
        return (each for phase in self.phases for share in phase.shares for each in share.sent)


def part_of(n: int, parts: int, part: int) -> tuple[int, int]:
    """Begin and end of one of `parts` parts of 0 to n - 1, as even as possible."""
    return n * part // parts, n * (part + 1) // parts


def length_of(n: int, parts: int, part: int) -> int:
    begin, end = part_of(n, parts, part)
    return end - begin


def counted(sizes: Iterable[int]) -> tuple[Messages, ...]:
    """Messages of these bytes."""
    return tuple(Messages(count, size) for size, count in sorted(Counter(sizes).items()))


def sums(count: int, numbers: int, ranks: int) -> Collective:
    """Sums over all ranks of `numbers` numbers of 8 bytes."""
    return Collective("allreduce", count, (DOUBLE * numbers,) * ranks)
