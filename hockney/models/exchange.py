# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What one round-robin exchange costs: each rank sends to its right neighbour and receives from its left.

U. R. Hanebutte, M. Tatsumi, 'Study of Parallel Efficiency in Message Passing Environments' (1996), eq. 3:

    Tcom = 2 (t_start + t_w (np/2) L)

Half of the ranks send while the other half receives, then the other way round: two steps, each as long as a
message one way. On one Ethernet the np/2 messages of a step share the cable, hence the factor; a switch
carries them side by side, and the factor is 1. With an odd number of ranks two neighbours both send first, so
that there is a third step; the bytes on a shared cable are those of np messages all the same.

A message's time one way is a piecewise line over its size (Hockney), read off a fit, a machine's description
or a paper.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

from hockney.core.errors import UsageError
from hockney.core.fit import Fit
from hockney.core.platform import Platform


@dataclass(frozen=True)
class Piece:
    """From `first` bytes on: latency_s + bytes * per_byte_s."""

    first: int
    latency_s: float
    per_byte_s: float


@dataclass(frozen=True)
class Band:
    """At `bytes`, the ends of the time's 95% interval over the time itself."""

    bytes: float
    low: float
    high: float


@dataclass(frozen=True)
class Messages:
    """What messages cost on a machine.

    `pieces` ascend from 0 bytes, `band` ascends too (empty: no interval is known). On a `shared` medium
    messages under way at once share the bandwidth; `why` is the evidence for that or against it, `source`
    where the times are from, both in words. `smallest` and `largest` are the sizes between which times are
    known, `most_ranks` how many ranks the machine carries, each on a core of its own (None: unknown).
    """

    name: str
    title: str
    pieces: tuple[Piece, ...]
    shared: bool
    source: str
    why: str = ""
    band: tuple[Band, ...] = ()
    smallest: int = 0
    largest: int | None = None
    most_ranks: int | None = None

    def piece(self, size: float) -> Piece:
        found = self.pieces[0]
        for each in self.pieces:
            if size >= each.first:
                found = each
        return found

    def one_way(self, size: float) -> float:
        """Seconds of one message of `size` bytes, nothing else under way."""
        piece = self.piece(size)
        return piece.latency_s + piece.per_byte_s * size

    def exchange(self, size: float, ranks: int) -> float:
        """Tcom: seconds of one exchange of messages of `size` bytes between `ranks` ranks; 0 for one rank."""
        if ranks < 2:
            return 0.0
        steps = 2 if ranks % 2 == 0 else 3
        piece = self.piece(size)
        at_once = ranks / steps if self.shared else 1.0
        return steps * (piece.latency_s + piece.per_byte_s * at_once * size)

    def bounds(self, size: float) -> tuple[float, float] | None:
        """By which factors the time at `size` may be shorter and longer (95%): those of the neighbouring
        sizes on a straight line, those of the ends beyond them. None where no interval is known."""
        if not self.band:
            return None
        ends = [self.band[0], *self.band, replace(self.band[-1], bytes=float("inf"))]
        for before, after in pairwise(ends):
            if size <= after.bytes:
                width = after.bytes - before.bytes
                at = 0.0 if not 0 < width < float("inf") else max(0.0, (size - before.bytes) / width)
                return (
                    before.low + at * (after.low - before.low),
                    before.high + at * (after.high - before.high),
                )
        raise AssertionError("unreachable")

    def known(self, size: float) -> bool:
        """Whether `size` lies where times are known."""
        return self.smallest <= size and (self.largest is None or size <= self.largest)


def of_fit(fit: Fit, *, name: str, title: str, source: str, most_ranks: int | None = None) -> Messages:
    """From a fit of Hockney's model to a ping-pong between two ranks. Raises UsageError for a refused fit."""
    if fit.verdict == "refused" or not fit.segments:
        raise UsageError(
            f"there is no model of messages in {source}",
            f"the fit of '{fit.subject}' was refused: {fit.why}",
            "measure more sizes",
        )
    first, *more = fit.segments
    pieces = [Piece(0, first.latency.value, first.per_byte.value)]
    pieces += [Piece(s.first, s.latency.value, s.per_byte.value) for s in more]
    sizes = [p.x for p in fit.curve]
    return Messages(
        name=name,
        title=title,
        pieces=tuple(pieces),
        shared=False,
        source=source,
        band=tuple(Band(p.x, p.low / p.time, p.high / p.time) for p in fit.curve if p.time > 0),
        smallest=int(min(sizes, default=0)),
        largest=int(max(sizes)) if sizes else None,
        most_ranks=most_ranks,
    )


def of_platform(platform: Platform, *, source: str) -> Messages:
    """From a machine's description: MPI_Send to a neighbour, one hop away, and MPI_Recv there."""
    hop_s = platform.network.hop_s
    pieces = tuple(
        Piece(
            each.first,
            each.one_way(0, 1, hop_s),
            each.send_s_per_byte + each.per_byte_s + each.receive_s_per_byte,
        )
        for each in platform.segments
    )
    shared = platform.network.shape == "bus"
    return Messages(
        name=platform.name,
        title=platform.title,
        pieces=pieces,
        shared=shared,
        source=source,
        why=f"the machine's description says {'a bus' if shared else platform.network.shape}",
        most_ranks=platform.capacity,
    )
