# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of a message between two ranks: a piecewise linear function of its size (Hockney), from a fit, a
machine's description or a paper, with the limits for concurrent messages."""

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
"""The evidence for whether messages share the network: the machine's description, a paper, an assumption,
measured exchanges, or the user's request."""

UndecidedReason = Literal["", "unmeasured", "short", "contradictory"]
"""Why measured exchanges do not decide whether messages share the network: there are none with enough ranks,
their messages are too short, or neither model predicts them clearly better."""

MIN_EAGER_LIMIT = 1024
"""Every common MPI sends messages of this size (bytes) without a handshake."""
MIN_RENDEZVOUS_FACTOR = 1.5
"""The minimum factor by which rendezvous increases the latency. It takes three transfers instead of one, but
not all of them need to wake the receiver."""


@dataclass(frozen=True)
class CostPiece:
    """The time of a message of at least `min_size` bytes: latency_s + bytes * per_byte_s."""

    min_size: int
    latency_s: float
    per_byte_s: float

    def time(self, size: float) -> float:
        return self.latency_s + self.per_byte_s * size


@dataclass(frozen=True)
class RelativeBounds:
    """The bounds of the time's 95% interval at `bytes`, relative to the time."""

    bytes: float
    low: float
    high: float


@dataclass(frozen=True)
class PointToPointCosts:
    """Message costs on a machine.

    `pieces` start at 0 bytes and ascend. `band` ascends too (empty: the interval is unknown) and holds at
    measured sizes. `changes` contains the measured sizes next to each change between pieces, if known. On a
    `shared` medium, concurrent messages share the bandwidth. Each message occupies the `medium` exclusively
    for medium[0] + bytes * medium[1] seconds, which are part of its one-way time. `sharing` is the evidence
    for `shared`, `why` describes it as text, and `undecided_reason` is the reason for an assumption. `source`
    is the origin of the times. `verdict` is that of the fit they are taken from, `doubt` the reason for it,
    and `two_modes` its caveat of launches in two modes. A send of up to `eager_limit` bytes completes before
    its receive is posted. Times are known from `min_size` to `max_size` bytes. The machine has cores for
    `max_ranks` ranks (None: unknown). If a node cannot send and receive at the same time, a byte occupies it
    for `half_duplex_s_per_byte`. The pieces were fitted to the `cost` of a run's ping-pong with `buffers`
    ("": no ping-pong).

    If messages within a node have other costs, `within_node` contains these, and all fitted values above
    apply to messages between nodes. Ranks fill nodes one after the other, with `cores` ranks on each. With
    `nodes`, at most this many nodes are used, each with as many ranks as necessary. Without `within_node`,
    all messages have the same cost. `place` is the level at which the ranks of the fitted ping-pong met ("":
    unknown). `node_sharing` describes what messages share that leave a node at the same time (None: not
    measured).
    """

    name: str
    title: str
    pieces: tuple[CostPiece, ...]
    shared: bool
    source: str
    why: str = ""
    band: tuple[RelativeBounds, ...] = ()
    changes: tuple[tuple[float, float], ...] = ()
    min_size: int = 0
    max_size: int | None = None
    max_ranks: int | None = None
    verdict: str = ""
    doubt: str = ""
    two_modes: FitCaveat | None = None
    eager_limit: float = math.inf
    medium: tuple[float, float] = (0.0, 0.0)
    half_duplex_s_per_byte: float = 0.0
    within_node: PointToPointCosts | None = None
    cores: int = 0
    nodes: int = 0
    place: str = ""
    node_sharing: NodeSharing | None = None
    sharing: SharingBasis = ""
    undecided_reason: UndecidedReason = ""
    cost: Cost = "typical"
    buffers: str = ""

    def per_node(self, ranks: int) -> int:
        """The number of ranks on each node except the last one, for `ranks` ranks in total; 1 if nodes make
        no difference."""
        if self.within_node is None:
            return 1
        return max(1, self.cores, -(-ranks // self.nodes) if self.nodes else 1)

    def spread_over(self, nodes: int) -> PointToPointCosts:
        """Copy of the costs with the ranks distributed evenly over `nodes` nodes (0: unchanged)."""
        return replace(self, cores=1, nodes=nodes) if nodes and self.within_node is not None else self

    def covers_node_count(self, nodes: int) -> bool:
        """Whether messages between this many nodes are known. They are not if the run's messages all stayed
        within one node."""
        return nodes < 2 or self.place in ("", NETWORK)

    def node_count(self, ranks: int) -> int:
        """The number of nodes on which this many ranks run; `ranks` if nodes make no difference."""
        return -(-ranks // self.per_node(ranks))

    @cached_property
    def between_nodes(self) -> PointToPointCosts:
        """The costs of messages between nodes; of all messages if `within_node` is unknown."""
        return self if self.within_node is None else replace(self, within_node=None, cores=0, nodes=0)

    def level(self, ranks: int = 2) -> PointToPointCosts:
        """The costs of the slowest message among `ranks` ranks."""
        return (
            self.within_node
            if self.within_node is not None and ranks <= self.per_node(ranks)
            else self.between_nodes
        )

    def levels(self, ranks: int | None = None) -> tuple[PointToPointCosts, ...]:
        """The costs of all kinds of messages (among `ranks` ranks), within a node first."""
        if self.within_node is None:
            return (self,)
        has_inter_node = ranks is None or ranks > self.per_node(ranks)
        has_intra_node = ranks is None or not has_inter_node or self.per_node(ranks) > 1
        return (
            *((self.within_node,) if has_intra_node else ()),
            *((self.between_nodes,) if has_inter_node else ()),
        )

    def piece(self, size: float, ranks: int = 2) -> CostPiece:
        """The piece of the slowest message among `ranks` ranks."""
        return cost_piece(self.level(ranks).pieces, size)

    def one_way(self, size: float, ranks: int = 2) -> float:
        """Seconds of one message of `size` bytes, with nothing else in flight."""
        return self.piece(size, ranks).time(size)

    def concurrent_time(self, size: float, message_count: float) -> float:
        """Seconds of each message when one node sends `message_count` messages at the same time."""
        single_s = cost_piece(self.pieces, size).time(size)
        if self.node_sharing is None or message_count <= 1:
            return single_s
        return max(
            single_s, self.node_sharing.limit_s(size, message_count, max(0.0, self.pieces[0].latency_s))
        )

    def change_around(self, size: float, ranks: int = 2) -> tuple[float, float] | None:
        """The measured sizes around a change that may come before or after `size`; None if there is none."""
        changes = (change for level in self.levels(ranks) for change in level.changes)
        return next(((low, high) for low, high in changes if low < size < high), None)

    def bounds(self, size: float, ranks: int = 2) -> tuple[float, float] | None:
        """Factors for the bounds of the slowest message's time (95%), or None if the interval is unknown.
        They are interpolated linearly between neighboring sizes, and constant outside the range. If a change
        may come before or after `size`, the interval covers both pieces."""
        level = self.level(ranks)
        if not level.band:
            return None
        level_bounds = level._interpolated_bounds(size)
        change = next(((lows, highs) for lows, highs in level.changes if lows < size < highs), None)
        if change is None:
            return level_bounds
        current_s = cost_piece(level.pieces, size).time(size)
        lows, highs = zip(*map(level._interpolated_bounds, change), strict=True)
        possible_times = level._times_around_change(size, change)
        return (
            min(level_bounds[0], min(lows) * min(possible_times) / current_s) if current_s else 1.0,
            max(level_bounds[1], max(highs) * max(possible_times) / current_s) if current_s else 1.0,
        )

    def _times_around_change(self, size: float, change: tuple[float, float]) -> tuple[float, float]:
        """The times at `size` by the pieces before and after a change. A later piece with a negative latency
        is not used below the time at which the previous one ends."""
        before, after = (cost_piece(self.pieces, boundary) for boundary in change)
        times = before.time(size), after.time(size)
        if after.latency_s >= 0:
            return times
        return times[0], max(times[1], min(before.time(change[0]), after.time(change[1])))

    def _interpolated_bounds(self, size: float) -> tuple[float, float]:
        points = [self.band[0], *self.band, replace(self.band[-1], bytes=math.inf)]
        before, after = next(pair for pair in pairwise(points) if size <= pair[1].bytes)
        width = after.bytes - before.bytes
        fraction = max(0.0, (size - before.bytes) / width) if 0 < width < math.inf else 0.0
        return before.low + fraction * (after.low - before.low), before.high + fraction * (
            after.high - before.high
        )

    def is_known(self, size: float) -> bool:
        """Whether the times of all kinds of messages are known at `size`."""
        levels = self.levels()
        return all(
            level.min_size <= size and (level.max_size is None or size <= level.max_size) for level in levels
        )


def cost_piece(pieces: tuple[CostPiece, ...], size: float) -> CostPiece:
    """The piece that applies to messages of `size` bytes."""
    matching_piece = pieces[0]
    for piece in pieces:
        if size >= piece.min_size:
            matching_piece = piece
    return matching_piece


def costs_from_fit(
    fit: Fit, *, name: str, title: str, source: str, most_ranks: int | None = None
) -> PointToPointCosts:
    """Message costs from a fit of Hockney's model to a ping-pong between two ranks. Raises UsageError for a
    refused fit.

    The largest increase of the latency between consecutive pieces defines the eager limit, since a rendezvous
    protocol adds latency.
    """
    if fit.verdict == "refused" or not fit.segments:
        raise UsageError(
            f"there is no model of messages in {source}",
            f"the fit of '{fit.line}' was refused: {fit.why}",
            "measure more sizes",
            code="refused-fit",
            subject=fit.line,
        )
    first_segment, *later_segments = fit.segments
    pieces = [CostPiece(0, first_segment.latency.value, first_segment.per_byte.value)]
    pieces += [
        CostPiece(segment.first, segment.latency.value, segment.per_byte.value) for segment in later_segments
    ]
    sizes = [point.x for point in fit.curve]
    gaps = [
        (float(before.largest), float(after.smallest))
        for before, after in pairwise(fit.segments)
        if before.largest is not None and after.smallest is not None
    ]
    change_bounds = [
        (change.low, change.high)
        for change in fit.change_points
        if change.low is not None and change.high is not None
    ]
    return PointToPointCosts(
        name=name,
        title=title,
        pieces=tuple(pieces),
        shared=False,
        source=source,
        band=tuple(
            RelativeBounds(point.x, point.low / point.time, point.high / point.time)
            for point in fit.curve
            if point.time > 0
        ),
        changes=tuple(gaps or change_bounds),
        min_size=int(min(sizes, default=0)),
        max_size=int(max(sizes)) if sizes else None,
        max_ranks=most_ranks,
        verdict=fit.verdict,
        doubt=fit.why,
        two_modes=fit.two_modes,
        eager_limit=_eager_limit(pieces),
    )


def _eager_limit(pieces: Sequence[CostPiece]) -> float:
    """The largest size before the piece whose latency increases most, as a factor. Increases below
    MIN_EAGER_LIMIT have another cause, such as a second packet."""
    rises = [
        (after.latency_s / before.latency_s, after.min_size - 1)
        for before, after in pairwise(pieces)
        if before.latency_s > 0 and after.min_size > MIN_EAGER_LIMIT
    ]
    largest_rise, limit = max(rises, default=(0.0, 0))
    return limit if largest_rise >= MIN_RENDEZVOUS_FACTOR else math.inf


def costs_from_platform(platform: Platform, *, source: str) -> PointToPointCosts:
    """Message costs from a machine's description, without its noise: MPI_Send to a neighbor one hop away, and
    MPI_Recv there."""
    network = platform.network
    medium_costs = network.medium_message_s, network.medium_s_per_byte
    cores = min(group.cores for group in platform.nodes)
    costs = PointToPointCosts(
        name=platform.name,
        title=platform.title,
        pieces=_pieces(platform.segments, network.hop_s + medium_costs[0], medium_costs[1]),
        shared=network.shape == "bus",
        source=source,
        max_ranks=platform.capacity,
        eager_limit=platform.eager,
        medium=medium_costs,
        half_duplex_s_per_byte=1 / network.nic if network.duplex == "half" else 0.0,
    )
    if cores == 1:
        return costs
    node_pieces = _pieces(platform.on_node or platform.segments, 0.0, 0.0)
    return replace(costs, within_node=replace(without_network(costs), pieces=node_pieces), cores=cores)


def without_network(costs: PointToPointCosts) -> PointToPointCosts:
    """Costs of messages within a node, which do not use the network."""
    return replace(
        costs, shared=False, medium=(0.0, 0.0), half_duplex_s_per_byte=0.0, within_node=None, cores=0
    )


def _pieces(segments: tuple[Segment, ...], added_s: float, added_s_per_byte: float) -> tuple[CostPiece, ...]:
    return tuple(
        CostPiece(
            segment.first,
            segment.one_way(0) + added_s,
            segment.one_way_s_per_byte + added_s_per_byte,
        )
        for segment in segments
    )
