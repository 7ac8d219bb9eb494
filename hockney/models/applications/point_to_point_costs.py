# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a message between two ranks: a piecewise line over its size (Hockney), from a fit, a machine's
description or a paper, with the limits for messages in flight at the same time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal

from hockney.core.errors import UsageError
from hockney.core.fit import Cost, Fit, FitCaveat
from hockney.core.layout import NETWORK
from hockney.core.platform import Platform, Segment
from hockney.models.applications.node_sharing import NodeSharing

SharingBasis = Literal["", "described", "printed", "assumed", "measured", "requested"]
"""The evidence for whether messages share the network: the machine's description, a paper, none, measured
exchanges, or the user's request."""

Undecided = Literal["", "unmeasured", "short", "contradictory"]
"""Why measured exchanges do not decide whether messages share the network: there are none of enough ranks,
their messages are too short, or neither model predicts them clearly better."""

LEAST_EAGER = 1024
"""Bytes that every common MPI sends without a handshake."""
HANDSHAKE = 1.5
"""Rendezvous messages have at least this many times the latency: three transfers instead of one, but not all
of them need to wake the receiver."""


@dataclass(frozen=True)
class CostPiece:
    """The time of a message of `first` bytes or more: latency_s + bytes * per_byte_s."""

    first: int
    latency_s: float
    per_byte_s: float

    def time(self, size: float) -> float:
        return self.latency_s + self.per_byte_s * size


@dataclass(frozen=True)
class Band:
    """The ends of the time's 95% interval at `bytes`, relative to the time."""

    bytes: float
    low: float
    high: float


@dataclass(frozen=True)
class PointToPointCosts:
    """Message costs on a machine.

    `pieces` start at 0 bytes and ascend. `band` ascends too (empty: no interval is known). `changes` gives
    for each change between pieces the measured sizes next to it, if known: at those, `band` holds. On a
    `shared` medium messages in flight at once share the bandwidth; each of them occupies a `medium` alone for
    medium[0] + bytes * medium[1] seconds, which is part of its one-way time. `sharing` is the evidence for
    sharing or not, `why` the same as text, `undecided` why it is only assumed, and `source` the origin of the
    times; `verdict` is that of the fit they are taken from, `doubt` its reason; `two_modes` is its caveat of
    launches in two modes. A send of up to `eager` bytes ends before its receive is posted. `smallest` and
    `largest` are the sizes between which times are known, `most_ranks` is the number of ranks for which the
    machine has cores (None: unknown). If a node cannot send and receive at once, a byte occupies it for
    `half_duplex_s_per_byte`. `cost` is the cost of a run's ping-pong to which the pieces were fitted,
    `buffers` the parameter of that ping-pong ("": there is none).

    If messages within a node cost something else, `near` has their costs, and everything above that a fit
    gives is of messages between nodes. Ranks fill nodes one after the other, `cores` on each; with `nodes`,
    at most this many nodes, with as many ranks on each as that needs. Without `near` all messages cost the
    same. `place` is the level at which the ranks of the fitted ping-pong met, "" if it is not known. `node`
    is what messages of these costs share that set out from one node at once (None: not measured).
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
    two_modes: FitCaveat | None = None
    eager: float = math.inf
    medium: tuple[float, float] = (0.0, 0.0)
    half_duplex_s_per_byte: float = 0.0
    near: PointToPointCosts | None = None
    cores: int = 0
    nodes: int = 0
    place: str = ""
    node: NodeSharing | None = None
    sharing: SharingBasis = ""
    undecided: Undecided = ""
    cost: Cost = "typical"
    buffers: str = ""

    def per_node(self, ranks: int) -> int:
        """The ranks on each node but the last, if there are `ranks` in all; 1 if nodes make no difference."""
        if self.near is None:
            return 1
        return max(1, self.cores, -(-ranks // self.nodes) if self.nodes else 1)

    def spread(self, nodes: int) -> PointToPointCosts:
        """The costs with the ranks spread evenly over `nodes` nodes; 0: as they are."""
        return replace(self, cores=1, nodes=nodes) if nodes and self.near is not None else self

    def reaches(self, nodes: int) -> bool:
        """Whether messages among this many nodes are known: not if those of the run were all within one."""
        return nodes < 2 or self.place in ("", NETWORK)

    def count_of_nodes(self, ranks: int) -> int:
        """The number of nodes on which this many ranks run; `ranks` if nodes make no difference."""
        return -(-ranks // self.per_node(ranks))

    @cached_property
    def between(self) -> PointToPointCosts:
        """The costs of messages between nodes; all of them if `near` is not known."""
        return self if self.near is None else replace(self, near=None, cores=0, nodes=0)

    def level(self, ranks: int = 2) -> PointToPointCosts:
        """The costs of the slowest message among `ranks` ranks."""
        return self.near if self.near is not None and ranks <= self.per_node(ranks) else self.between

    def levels(self, ranks: int | None = None) -> tuple[PointToPointCosts, ...]:
        """The costs of all kinds of messages (among `ranks` ranks), within a node first."""
        if self.near is None:
            return (self,)
        between = ranks is None or ranks > self.per_node(ranks)
        within = ranks is None or not between or self.per_node(ranks) > 1
        return (*((self.near,) if within else ()), *((self.between,) if between else ()))

    def piece(self, size: float, ranks: int = 2) -> CostPiece:
        """The piece of the slowest message among `ranks` ranks."""
        return cost_piece(self.level(ranks).pieces, size)

    def one_way(self, size: float, ranks: int = 2) -> float:
        """Seconds of one message of `size` bytes, with nothing else in flight."""
        return self.piece(size, ranks).time(size)

    def together(self, size: float, at_once: float) -> float:
        """Seconds of each of the messages, with these costs, that one node sends at once."""
        alone = cost_piece(self.pieces, size).time(size)
        if self.node is None or at_once <= 1:
            return alone
        return max(alone, self.node.limit_s(size, at_once, max(0.0, self.pieces[0].latency_s)))

    def change(self, size: float, ranks: int = 2) -> tuple[float, float] | None:
        """The sizes between which a change lies that may come before `size` or after it."""
        changes = (each for level in self.levels(ranks) for each in level.changes)
        return next(((low, high) for low, high in changes if low < size < high), None)

    def bounds(self, size: float, ranks: int = 2) -> tuple[float, float] | None:
        """Factors by which the time of the slowest message may be shorter and longer (95%): interpolated
        linearly between the neighboring sizes, those of the ends beyond them. If a change may come before or
        after `size`, the interval covers both pieces too. None if no interval is known."""
        level = self.level(ranks)
        if not level.band:
            return None
        here = level._banded(size)
        change = next(((low, high) for low, high in level.changes if low < size < high), None)
        if change is None:
            return here
        now = cost_piece(level.pieces, size).time(size)
        low, high = zip(*map(level._banded, change), strict=True)
        either = level._either(size, change)
        return (
            min(here[0], min(low) * min(either) / now) if now else 1.0,
            max(here[1], max(high) * max(either) / now) if now else 1.0,
        )

    def _either(self, size: float, change: tuple[float, float]) -> tuple[float, float]:
        """The times at `size` by the pieces before and after a change. One that begins below 0 is not
        used below the time at which the one before ends."""
        before, after = (cost_piece(self.pieces, at) for at in change)
        times = before.time(size), after.time(size)
        if after.latency_s >= 0:
            return times
        return times[0], max(times[1], min(before.time(change[0]), after.time(change[1])))

    def _banded(self, size: float) -> tuple[float, float]:
        ends = [self.band[0], *self.band, replace(self.band[-1], bytes=math.inf)]
        before, after = next(pair for pair in pairwise(ends) if size <= pair[1].bytes)
        width = after.bytes - before.bytes
        at = max(0.0, (size - before.bytes) / width) if 0 < width < math.inf else 0.0
        return before.low + at * (after.low - before.low), before.high + at * (after.high - before.high)

    def known(self, size: float) -> bool:
        """Whether the times of all kinds of messages are known at `size`."""
        levels = self.levels()
        return all(x.smallest <= size and (x.largest is None or size <= x.largest) for x in levels)


def cost_piece(pieces: tuple[CostPiece, ...], size: float) -> CostPiece:
    """The piece that holds for messages of `size` bytes."""
    chosen = pieces[0]
    for each in pieces:
        if size >= each.first:
            chosen = each
    return chosen


def of_fit(
    fit: Fit, *, name: str, title: str, source: str, most_ranks: int | None = None
) -> PointToPointCosts:
    """Message costs from a fit of Hockney's model to a ping-pong between two ranks. Raises UsageError for a
    refused fit.

    The largest rise of the latency from one piece to the next is taken as the size from which sends wait for
    their receives, since a rendezvous protocol adds latency.
    """
    if fit.verdict == "refused" or not fit.segments:
        raise UsageError(
            f"there is no model of messages in {source}",
            f"the fit of '{fit.line}' was refused: {fit.why}",
            "measure more sizes",
            code="refused-fit",
            subject=fit.line,
        )
    first, *more = fit.segments
    pieces = [CostPiece(0, first.latency.value, first.per_byte.value)]
    pieces += [CostPiece(s.first, s.latency.value, s.per_byte.value) for s in more]
    sizes = [p.x for p in fit.curve]
    between = [
        (float(before.largest), float(after.smallest))
        for before, after in pairwise(fit.segments)
        if before.largest is not None and after.smallest is not None
    ]
    wide = [(c.low, c.high) for c in fit.change_points if c.low is not None and c.high is not None]
    return PointToPointCosts(
        name=name,
        title=title,
        pieces=tuple(pieces),
        shared=False,
        source=source,
        band=tuple(Band(p.x, p.low / p.time, p.high / p.time) for p in fit.curve if p.time > 0),
        changes=tuple(between or wide),
        smallest=int(min(sizes, default=0)),
        largest=int(max(sizes)) if sizes else None,
        most_ranks=most_ranks,
        verdict=fit.verdict,
        doubt=fit.why,
        two_modes=fit.two_modes,
        eager=_eager(pieces),
    )


def _eager(pieces: Sequence[CostPiece]) -> float:
    """The size before the piece whose latency rises most, as a factor; a rise at shorter messages than
    LEAST_EAGER has another cause, such as a second packet."""
    rises = [
        (after.latency_s / before.latency_s, after.first - 1)
        for before, after in pairwise(pieces)
        if before.latency_s > 0 and after.first > LEAST_EAGER
    ]
    rise, last = max(rises, default=(0.0, 0))
    return last if rise >= HANDSHAKE else math.inf


def of_platform(platform: Platform, *, source: str) -> PointToPointCosts:
    """Message costs from a machine's description: MPI_Send to a neighbor, one hop away, and MPI_Recv there,
    without the description's noise."""
    network = platform.network
    medium = network.medium_message_s, network.medium_s_per_byte
    cores = min(group.cores for group in platform.nodes)
    costs = PointToPointCosts(
        name=platform.name,
        title=platform.title,
        pieces=_pieces(platform.segments, network.hop_s + medium[0], medium[1]),
        shared=network.shape == "bus",
        source=source,
        most_ranks=platform.capacity,
        eager=platform.eager,
        medium=medium,
        half_duplex_s_per_byte=1 / network.nic if network.duplex == "half" else 0.0,
    )
    if cores == 1:
        return costs
    near = _pieces(platform.on_node or platform.segments, 0.0, 0.0)
    return replace(costs, near=replace(within_a_node(costs), pieces=near), cores=cores)


def within_a_node(costs: PointToPointCosts) -> PointToPointCosts:
    """Costs of messages that use no network."""
    return replace(costs, shared=False, medium=(0.0, 0.0), half_duplex_s_per_byte=0.0, near=None, cores=0)


def _pieces(segments: tuple[Segment, ...], more_s: float, more_s_per_byte: float) -> tuple[CostPiece, ...]:
    return tuple(
        CostPiece(
            each.first,
            each.one_way(0) + more_s,
            each.one_way_s_per_byte + more_s_per_byte,
        )
        for each in segments
    )
