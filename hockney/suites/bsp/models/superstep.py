# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a bulk synchronous program does, superstep by superstep, without any times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hockney.core.case import Value

WORD = 4
"""Bytes of the words in which g is measured."""


@dataclass(frozen=True)
class LocalWork:
    """Work of the busiest rank: `operations` of the kind `operation` (of a workload of local rates), in parts
    that have these `values` of its parameters, sorted by name, such as (("keys", 4096), ("type",
    "double"))."""

    operation: str
    operations: float
    values: tuple[tuple[str, Value], ...] = ()

    @staticmethod
    def of(operation: str, operations: float, **values: Value) -> LocalWork:
        return LocalWork(operation, operations, tuple(sorted(values.items())))


@dataclass(frozen=True)
class Superstep:
    """`count` supersteps that are alike.

    `bytes` is h, the most that a rank sends or receives; `mean_bytes` is what a rank sends on average over
    all ranks. `packets` are the words, blocks or messages of which these bytes consist, of the same rank:
    each is a call of the library. `sends` and `receives` are d and s, the most ranks that a rank sends to,
    and receives from. `copied` are bytes that the busiest rank copies in its own memory. Work that no
    communication follows is not `synchronised`."""

    work: tuple[LocalWork, ...] = ()
    bytes: float = 0
    packets: float = 0
    sends: int = 0
    receives: int = 0
    mean_bytes: float = 0
    copied: float = 0
    count: int = 1
    synchronised: bool = True

    def __post_init__(self) -> None:
        if self.mean_bytes > self.bytes:
            raise ValueError("a rank sends more bytes on average than the most that a rank sends")
        if self.bytes and not self.synchronised:
            raise ValueError("there is no communication without a synchronisation")

    @property
    def words(self) -> float:
        """h in words."""
        return self.bytes / WORD

    @property
    def startups(self) -> int:
        """Steps of the superstep if each rank sends at most one block and receives at most one in a step."""
        return max(self.sends, self.receives)


def full(ranks: int, bytes: float, packets: float, work: tuple[LocalWork, ...] = ()) -> Superstep:
    """A superstep in which each rank sends `bytes` in all, to all others alike."""
    return Superstep(work, bytes, packets, ranks - 1, ranks - 1, bytes)


def permutation(
    bytes: float, packets: float, work: tuple[LocalWork, ...] = (), copied: float = 0, count: int = 1
) -> Superstep:
    """A superstep in which each rank sends `bytes` to one rank and receives as many from one."""
    return Superstep(work, bytes, packets, 1, 1, bytes, copied, count)


def work_alone(*work: LocalWork) -> Superstep:
    """Work that no communication follows."""
    return Superstep(work, synchronised=False)


def works_of(supersteps: Iterable[Superstep]) -> tuple[LocalWork, ...]:
    """All local work, each part once."""
    return tuple(dict.fromkeys(work for each in supersteps for work in each.work))
