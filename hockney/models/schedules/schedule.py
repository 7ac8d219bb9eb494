# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message schedules: which rank sends how many bytes to which, step by step.

A schedule is an iterable of steps, in an order that agrees with every rank's own order. It contains no times:
`LogGPSimulator` runs it on a machine, `Tally` counts its messages and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

import numpy as np

from hockney.models.schedules.closed_form import ClosedForm

Ranks = np.ndarray
"""Rank numbers."""


class NotModelled(ValueError):
    """The algorithm does not exist for this number of ranks, or the simulator cannot run it."""


class Mode(Enum):
    """How the ranks of a step call MPI."""

    BLOCKING = "blocking"
    """MPI_Send and MPI_Recv, or MPI_Recv of several messages as they arrive. No rank does both."""
    EXCHANGE = "exchange"
    """MPI_Sendrecv: a rank sends its messages, then receives those for it as they arrive. Receiving costs
    more if the receiver's own message is still in flight. A rank that receives nothing calls MPI_Send, as
    MPI_Sendrecv from MPI_PROC_NULL does."""
    POSTED = "posted"
    """MPI_Isend, MPI_Irecv and one MPI_Waitall: as an exchange, without its additional cost."""


@dataclass(frozen=True)
class Layer:
    """Messages such that each rank sends at most one and receives at most one: `source[i]` sends `size[i]`
    bytes (or `size`, the same for all) to `target[i]`."""

    source: Ranks
    target: Ranks
    size: float | np.ndarray = 0.0


@dataclass(frozen=True)
class Step:
    """A rank sends its messages layer by layer, then waits for all messages that it receives in this step.
    With `combine`, the receiver adds each message to its own data (a reduction). A step without messages may
    be a copy: each of the ranks `copied[0]` copies `copied[1]` bytes in its own memory. Messages of
    `untouched` data are parts of the caller's original data. Other messages contain what the sender has
    copied, combined or received, if anything. Posted receives precede all sends; if they are `interleaved`,
    each follows the send of its layer.

    A program's step may also be computation: each rank computes for `computed` seconds (ranks) after sending
    its messages and before waiting for those of others. A step that `joins` has no messages: all ranks wait
    for the last one.
    """

    layers: tuple[Layer, ...]
    mode: Mode = Mode.BLOCKING
    combine: bool = False
    copied: tuple[Ranks, float | np.ndarray] | None = None
    untouched: bool = False
    computed: np.ndarray | None = None
    joins: bool = False
    interleaved: bool = False

    @property
    def messages(self) -> int:
        """The number of messages."""
        return sum(len(layer.source) for layer in self.layers)


Steps = Iterator[Step]
Schedule = Callable[[int, int], Iterable[Step]]
"""The steps of an algorithm for a number of ranks and a size, the bytes of each rank's block or vector."""


def step(
    source: Ranks | list[int],
    target: Ranks | list[int],
    size: float | np.ndarray = 0.0,
    *,
    mode: Mode = Mode.BLOCKING,
    combine: bool = False,
    untouched: bool = False,
) -> Step:
    """A step of one layer."""
    layer = Layer(np.asarray(source, dtype=int), np.asarray(target, dtype=int), size)
    return Step((layer,), mode, combine, untouched=untouched)


def copying(ranks: Ranks | int, size: float | np.ndarray) -> Step:
    """A step in which each of these ranks (or the first ones, if it is a number) copies `size` bytes."""
    copying_ranks = np.arange(ranks) if isinstance(ranks, int) else ranks
    return Step((), copied=(copying_ranks, size))


def relation(source: Ranks, target: Ranks, size: float | np.ndarray = 0.0, mode: Mode = Mode.POSTED) -> Step:
    """One step with arbitrary messages, as in a superstep of BSP. They are split into layers; each rank sends
    in the given order. Messages from a rank to itself are ignored."""
    source, target = np.asarray(source, dtype=int), np.asarray(target, dtype=int)
    sizes = np.broadcast_to(np.asarray(size, dtype=float), source.shape)
    has_other_target = source != target
    source, target, sizes = source[has_other_target], target[has_other_target], sizes[has_other_target]
    layers = []
    while len(source):
        in_layer = _is_first_occurrence(source)
        in_layer[in_layer] = _is_first_occurrence(target[in_layer])
        layers.append(Layer(source[in_layer], target[in_layer], sizes[in_layer]))
        source, target, sizes = source[~in_layer], target[~in_layer], sizes[~in_layer]
    return Step(tuple(layers), mode)


def _is_first_occurrence(ranks: Ranks) -> np.ndarray:
    """True where a rank is listed for the first time."""
    is_first = np.zeros(len(ranks), dtype=bool)
    is_first[np.unique(ranks, return_index=True)[1]] = True
    return is_first


SCHEDULES: dict[tuple[str, str], Schedule] = {}
"""The schedules, keyed by MPI operation and name of the algorithm. A barrier is named after its file in
`engine/sync/`."""


CLOSED_FORMS: dict[tuple[str, str], ClosedForm] = {}
"""The closed forms of the engine's collective algorithms."""


def algorithm(operation: str, *names: str, form: ClosedForm | None = None) -> Callable[[Schedule], Schedule]:
    """Register a function as the schedule of an algorithm, with the closed form of its time."""

    def register(function: Schedule) -> Schedule:
        for name in names:
            if (operation, name) in SCHEDULES:
                raise ValueError(f"two schedules of {operation} are called {name}")
            SCHEDULES[operation, name] = function
            if form is not None:
                CLOSED_FORMS[operation, name] = form
        return function

    return register


def algorithm_names(operation: str) -> list[str]:
    """The algorithms of an operation that have a schedule."""
    return sorted(name for registered_operation, name in SCHEDULES if registered_operation == operation)


class Tally:
    """Counts over the steps added so far: `messages` of all ranks, and for each rank the messages `handled`
    (sent or received), the bytes `sent` and `received`, and the length of the longest chain of messages that
    ends at it (`chain`)."""

    def __init__(self, ranks: int) -> None:
        self.messages = 0
        self.handled = np.zeros(ranks, dtype=int)
        self.chain = np.zeros(ranks, dtype=int)
        self.sent = np.zeros(ranks)
        self.received = np.zeros(ranks)

    @classmethod
    def of(cls, steps: Iterable[Step], ranks: int) -> Tally:
        tally = cls(ranks)
        for step in steps:
            tally.add(step)
        return tally

    def add(self, step: Step) -> None:
        chain_before = self.chain.copy() if len(step.layers) > 1 else self.chain
        for layer in step.layers:
            source, target = layer.source, layer.target
            self.messages += len(source)
            self.handled[source] += 1
            self.handled[target] += 1
            self.chain[target] = np.maximum(self.chain[target], chain_before[source] + 1)
            self.sent[source] += layer.size
            self.received[target] += layer.size

    @property
    def depth(self) -> int:
        """The number of messages on the longest path, each of which waits for the previous one."""
        return int(self.chain.max())

    @property
    def max_messages(self) -> int:
        """The largest number of messages that a rank sends and receives."""
        return int(self.handled.max())

    def max_bytes(self, *, shared: bool) -> float:
        """Bytes through the busiest rank's port. If it is `shared`, sending and receiving share its
        bandwidth."""
        if shared:
            return float((self.sent + self.received).max())
        return float(max(self.sent.max(), self.received.max()))
