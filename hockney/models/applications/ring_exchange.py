# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of one ring exchange: each rank sends to its right neighbor and receives from its left.

U. R. Hanebutte, M. Tatsumi, 'Study of Parallel Efficiency in Message Passing Environments' (1996), eq. 3:

    Tcom = 2 (t_start + t_w (np/2) L)

Half of the ranks send while the other half receives, then they change roles. Each of these two steps takes as
long as a one-way message. On one Ethernet the np/2 messages of a step share the cable, hence the factor. A
switch carries them in parallel, and the factor is 1. On a medium that carries one message at a time (such as
a daemon that forwards each message) they queue.

With an odd number of ranks, the last rank and rank 0 are neighbors and both send first. Small messages leave
immediately: one step has one message more than the other, and rank 0 sends and receives at the same time.
Above the eager limit there is a third step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hockney.models.applications.point_to_point_costs import PointToPointCosts, cost_piece
from hockney.models.levels import NETWORK


def exchange_time(costs: PointToPointCosts, size: float, ranks: int) -> float:
    """Tcom: the time in seconds of one exchange of messages of `size` bytes between `ranks` ranks; 0 for one
    rank.

    The messages of a step use the medium one after the other. The first message of the next step requests it
    once its sender has received, and gets it when all messages of this step have finished.
    """
    if ranks < 2:
        return 0.0
    occupied_s = costs.medium[0] + costs.medium[1] * size
    *steps, last_step = _inter_node_messages(costs, size, ranks)
    intra_node_messages = max(1, min(costs.per_node(ranks), ranks) // 2)
    last_step_start = sum(
        _delay_to_next_step(costs, size, inter_node_messages, intra_node_messages, occupied_s)
        for inter_node_messages in steps
    )
    sends_while_receiving = ranks % 2 == 1 and len(steps) == 1 and costs.per_node(ranks) < 2
    turnaround_s = costs.half_duplex_s_per_byte * size if sends_while_receiving else 0.0
    return (
        last_step_start
        + (last_step * occupied_s + _time_off_medium(costs, size, last_step, intra_node_messages))
        + turnaround_s
    )


def exchange_bounds(costs: PointToPointCosts, size: float, ranks: int) -> tuple[float, float] | None:
    """Factors for the bounds of an exchange's time (95%); None if the interval is unknown. On several nodes
    with several ranks each, the errors of messages within nodes and between them are assumed to have the same
    direction."""
    levels = costs.levels(ranks)
    if len(levels) == 1 and levels[0].node_sharing is None:
        return costs.bounds(size, ranks)
    lower_level_bounds, upper_level_bounds = levels[0].bounds(size), levels[-1].bounds(size)
    time = exchange_time(costs, size, ranks)
    if lower_level_bounds is None or upper_level_bounds is None or time <= 0:
        return None
    low, high = (
        exchange_time(
            _at_bounds(
                costs, levels, (lower_level_bounds[bound], upper_level_bounds[bound]), slow=bound == 1
            ),
            size,
            ranks,
        )
        for bound in (0, 1)
    )
    return low / time, high / time


def _at_bounds(
    costs: PointToPointCosts,
    levels: Sequence[PointToPointCosts],
    factors: tuple[float, float],
    *,
    slow: bool,
) -> PointToPointCosts:
    """The costs at a bound of their interval: message times multiplied by `factors` within a node and between
    nodes (the second factor if there is only one level), and shared rates at the same bound."""
    scaled = _with_factor(costs, factors[1], slow=slow)
    if costs.within_node is None or levels[0] is not costs.within_node:
        return scaled
    return replace(scaled, within_node=_with_factor(costs.within_node, factors[0], slow=slow))


def _with_factor(costs: PointToPointCosts, factor: float, *, slow: bool) -> PointToPointCosts:
    """Copy of the costs with all pieces multiplied by `factor`. The limit of messages that share something
    has the first piece's latency."""
    pieces = tuple(
        replace(piece, latency_s=factor * piece.latency_s, per_byte_s=factor * piece.per_byte_s)
        for piece in costs.pieces
    )
    node_sharing = None if costs.node_sharing is None else costs.node_sharing.at_rate_bound(slow=slow)
    return replace(costs, pieces=pieces, node_sharing=node_sharing)


def _delay_to_next_step(
    costs: PointToPointCosts,
    size: float,
    inter_node_messages: int,
    intra_node_messages: int,
    occupied_s: float,
) -> float:
    """The delay between the messages of a step and those of the next."""
    return max(
        (occupied_s if inter_node_messages else 0.0)
        + _time_off_medium(costs, size, inter_node_messages, intra_node_messages),
        inter_node_messages * occupied_s,
    )


def _time_off_medium(
    costs: PointToPointCosts, size: float, inter_node_messages: int, intra_node_messages: int
) -> float:
    """A message's time without the time for which it occupies the medium. `inter_node_messages` are sent
    between nodes at the same time, and `intra_node_messages` within each node, where they share the memory.
    If all ranks are on one node, all messages share it."""
    if not inter_node_messages and costs.within_node is not None:
        return costs.within_node.concurrent_time(size, intra_node_messages)
    if (
        costs.within_node is None
        and costs.place != NETWORK
        and not costs.shared
        and costs.node_sharing is not None
    ):
        return costs.concurrent_time(size, inter_node_messages)
    piece = cost_piece(costs.pieces, size)
    sharing_count = inter_node_messages if costs.shared else 1
    latency_s, per_byte_s = piece.latency_s - costs.medium[0], piece.per_byte_s - costs.medium[1]
    if piece.latency_s >= 0:
        latency_s = max(0.0, latency_s)
    inter_node_s = max(0.0, latency_s + max(0.0, per_byte_s) * sharing_count * size)
    if costs.within_node is None or costs.within_node.node_sharing is None:
        return inter_node_s
    return max(
        inter_node_s,
        costs.within_node.concurrent_time(size, intra_node_messages) if intra_node_messages > 1 else 0.0,
    )


def _inter_node_messages(costs: PointToPointCosts, size: float, ranks: int) -> tuple[int, ...]:
    """The number of messages between nodes in each step."""
    is_rendezvous = ranks % 2 == 1 and size > costs.level(ranks).eager_limit
    cores = costs.per_node(ranks)
    if cores < 2:
        half = ranks // 2
        return (half, half, 1) if is_rendezvous else (ranks - half, half)
    if ranks <= cores:
        return (0, 0, 0) if is_rendezvous else (0, 0)
    # The message that a rank sends in the second step goes the way of the one it received, unless the last
    # rank is alone on its node.
    nodes = -(-ranks // cores)
    is_last_rank_alone = ranks % cores == 1
    if is_rendezvous:
        return (0, nodes - 1, 1) if is_last_rank_alone else (0, 0, nodes)
    return (1, nodes - 1) if is_last_rank_alone and ranks % 2 == 0 else (0, nodes)
