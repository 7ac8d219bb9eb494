# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a message between two ranks costs: a piecewise line over its size (Hockney), taken from a fit, from a
machine's description or from a paper, with what limits messages that are under way at the same time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

from hockney.core.fit import Cost, Fit
from hockney.core.platform import Platform, Segment
from hockney.models import messages

SharingBasis = Literal["", "described", "printed", "assumed", "measured", "requested"]
"""How it is known whether messages share the network: by the machine's description, by a paper, not at all,
by measured exchanges, or because the user requested it."""

HANDSHAKE = 1.5
"""A message that is first asked for has at least so many times the latency: three ways instead of one, but
not all of them have the receiver woken."""


@dataclass(frozen=True)
class CostPiece:
    """From `first` bytes on: latency_s + bytes * per_byte_s."""

    first: int
    latency_s: float
    per_byte_s: float

    def time(self, size: float) -> float:
        return self.latency_s + self.per_byte_s * size


@dataclass(frozen=True)
class Band:
    """At `bytes`, the ends of the time's 95% interval over the time itself."""

    bytes: float
    low: float
    high: float


@dataclass(frozen=True)
class PointToPointCosts:
    """What messages cost on a machine.

    `pieces` ascend from 0 bytes, `band` ascends too (empty: no interval is known); `changes` has for each
    change from a piece to the next between which sizes it lies, where that is known. On a `shared` medium
    messages under way at once share the bandwidth; each of them holds a `medium` alone for medium[0] +
    bytes * medium[1] seconds, which is part of its time one way. `sharing` is how it is known whether the
    network is shared; `why` says that in words, `source` where the times are from; `verdict` is that of the
    fit they are read off, and `doubt` its reason. A send of up to `eager` bytes ends before its receive is
    posted. `smallest` and `largest` are the sizes between which times are known, `most_ranks` is the number
    of ranks that the machine carries,
    each on a core of its own (None: unknown). Where a node cannot send and receive at once, a byte occupies
    it for `half_duplex_s_per_byte`. On nodes of `cores` cores each, filled one after the other, messages
    that stay on a node cost what `near` says; 0 cores: all messages cost the same. There `band`, `changes`,
    `verdict` and `doubt` are of the messages on a node: what those between nodes cost was not fitted. `cost`
    is which cost of a run's ping-pong the pieces were fitted to.
    """

    name: str
    title: str
    pieces: tuple[CostPiece, ...]
    shared: bool
    source: str
    why: str = ""
    band: tuple[Band, ...] = ()
    changes: tuple[tuple[float, float], ...] = ()
    smallest: int = 0
    largest: int | None = None
    most_ranks: int | None = None
    verdict: str = ""
    doubt: str = ""
    eager: float = math.inf
    medium: tuple[float, float] = (0.0, 0.0)
    half_duplex_s_per_byte: float = 0.0
    near: tuple[CostPiece, ...] = ()
    cores: int = 0
    sharing: SharingBasis = ""
    cost: Cost = "typical"

    def piece(self, size: float, ranks: int = 2) -> CostPiece:
        """Of the slowest message among `ranks` ranks."""
        return cost_piece(self.near if ranks <= self.cores else self.pieces, size)

    def one_way(self, size: float, ranks: int = 2) -> float:
        """Seconds of one message of `size` bytes, nothing else under way."""
        return self.piece(size, ranks).time(size)

    def _foretold(self, ranks: int) -> bool:
        """Whether `ranks` ranks need several nodes, whose messages no fit describes."""
        return ranks > self.cores > 1

    def change(self, size: float, ranks: int = 2) -> tuple[float, float] | None:
        """The sizes between which a change lies that may come before `size` or after it."""
        if self._foretold(ranks):
            return None
        return next(((low, high) for low, high in self.changes if low < size < high), None)

    def bounds(self, size: float, ranks: int = 2) -> tuple[float, float] | None:
        """By which factors the time at `size` may be shorter and longer (95%): those of the neighbouring
        sizes on a straight line, those of the ends beyond them. Where a change may come before or after, the
        time may be that of either piece. None where no interval is known."""
        if not self.band or self._foretold(ranks):
            return None
        change = self.change(size)
        if change is None:
            return self._banded(size)
        now, (low, high) = self.one_way(size), zip(*map(self._banded, change), strict=True)
        either = [line.time(size) for line in map(self.piece, change)]
        return (
            min(1.0, min(low) * min(either) / now) if now else 1.0,
            max(1.0, max(high) * max(either) / now) if now else 1.0,
        )

    def _banded(self, size: float) -> tuple[float, float]:
        ends = [self.band[0], *self.band, replace(self.band[-1], bytes=math.inf)]
        before, after = next(pair for pair in pairwise(ends) if size <= pair[1].bytes)
        width = after.bytes - before.bytes
        at = max(0.0, (size - before.bytes) / width) if 0 < width < math.inf else 0.0
        return before.low + at * (after.low - before.low), before.high + at * (after.high - before.high)

    def known(self, size: float) -> bool:
        """Whether `size` lies where times are known."""
        return self.smallest <= size and (self.largest is None or size <= self.largest)


def cost_piece(pieces: tuple[CostPiece, ...], size: float) -> CostPiece:
    """The one that holds for messages of `size` bytes."""
    chosen = pieces[0]
    for each in pieces:
        if size >= each.first:
            chosen = each
    return chosen


def of_fit(
    fit: Fit, *, name: str, title: str, source: str, most_ranks: int | None = None
) -> PointToPointCosts:
    """From a fit of Hockney's model to a ping-pong between two ranks. Raises UsageError for a refused fit.

    Where the latency rises most from one piece to the next, sends are taken to wait for their receives from
    there on: that is what such a protocol costs a message.
    """
    if fit.verdict == "refused" or not fit.segments:
        raise messages.refused_fit(source, fit.line, fit.why)
    first, *more = fit.segments
    pieces = [CostPiece(0, first.latency.value, first.per_byte.value)]
    pieces += [CostPiece(s.first, s.latency.value, s.per_byte.value) for s in more]
    sizes = [p.x for p in fit.curve]
    return PointToPointCosts(
        name=name,
        title=title,
        pieces=tuple(pieces),
        shared=False,
        source=source,
        band=tuple(Band(p.x, p.low / p.time, p.high / p.time) for p in fit.curve if p.time > 0),
        changes=tuple((c.low, c.high) for c in fit.change_points if c.low is not None and c.high is not None),
        smallest=int(min(sizes, default=0)),
        largest=int(max(sizes)) if sizes else None,
        most_ranks=most_ranks,
        verdict=fit.verdict,
        doubt=fit.why,
        eager=_eager(pieces),
    )


def _eager(pieces: Sequence[CostPiece]) -> float:
    """The size before the piece whose latency is the most times that of the piece before it."""
    rises = [
        (after.latency_s / before.latency_s, after.first - 1)
        for before, after in pairwise(pieces)
        if before.latency_s > 0
    ]
    rise, last = max(rises, default=(0.0, 0))
    return last if rise >= HANDSHAKE else math.inf


def of_platform(platform: Platform, *, source: str) -> PointToPointCosts:
    """From a machine's description: MPI_Send to a neighbour, one hop away, and MPI_Recv there; without the
    description's noise."""
    network = platform.network
    medium = network.medium_message_s, network.medium_s_per_byte
    cores = min(group.cores for group in platform.nodes)
    near = platform.on_node or platform.segments
    return PointToPointCosts(
        name=platform.name,
        title=platform.title,
        pieces=_pieces(platform.segments, network.hop_s + medium[0], medium[1]),
        shared=network.shape == "bus",
        source=source,
        most_ranks=platform.capacity,
        eager=platform.eager,
        medium=medium,
        half_duplex_s_per_byte=1 / network.nic if network.duplex == "half" else 0.0,
        near=_pieces(near, 0.0, 0.0) if cores > 1 else (),
        cores=cores if cores > 1 else 0,
    )


def _pieces(segments: tuple[Segment, ...], more_s: float, more_s_per_byte: float) -> tuple[CostPiece, ...]:
    return tuple(
        CostPiece(
            each.first,
            each.one_way(0) + more_s,
            each.send_s_per_byte + each.per_byte_s + each.receive_s_per_byte + more_s_per_byte,
        )
        for each in segments
    )
