# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of one ring exchange: each rank sends to its right neighbor and receives from its left.

U. R. Hanebutte, M. Tatsumi, 'Study of Parallel Efficiency in Message Passing Environments' (1996), eq. 3:

    Tcom = 2 (t_start + t_w (np/2) L)

Half of the ranks send while the other half receives, then they change roles: two steps, each as long as a
one-way message. On one Ethernet the np/2 messages of a step share the cable, hence the factor; a switch
carries them in parallel, and the factor is 1. On a medium that carries one message at a time (a daemon that
forwards each message) they queue.

With an odd number of ranks the last one and rank 0, which are neighbors, both send first. Small messages
leave at once, so that one step has one message more than the other, and rank 0 sends and receives at the same
time; above the eager limit there is a third step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hockney.models.applications.point_to_point_costs import PointToPointCosts, cost_piece
from hockney.models.levels import NETWORK


def exchange_time(costs: PointToPointCosts, size: float, ranks: int) -> float:
    """Tcom: the time in seconds of one exchange of messages of `size` bytes between `ranks` ranks; 0 for one
    rank.

    The messages of a step use the medium one after the other; the first of the next step requests it once its
    sender has received, and gets it when all messages of this step have finished.
    """
    if ranks < 2:
        return 0.0
    hold = costs.medium[0] + costs.medium[1] * size
    *steps, last = _steps(costs, size, ranks)
    inside = max(1, min(costs.per_node(ranks), ranks) // 2)
    begin = sum(_until_next(costs, size, far, inside, hold) for far in steps)
    both = ranks % 2 == 1 and len(steps) == 1 and costs.per_node(ranks) < 2
    met = costs.half_duplex_s_per_byte * size if both else 0.0
    return begin + (last * hold + _beyond_medium(costs, size, last, inside)) + met


def exchange_bounds(costs: PointToPointCosts, size: float, ranks: int) -> tuple[float, float] | None:
    """Factors by which an exchange may be shorter and longer (95%); None if no interval is known. On several
    nodes with several ranks each it has messages within nodes and between them, which are assumed to be off
    in the same direction."""
    levels = costs.levels(ranks)
    if len(levels) == 1 and levels[0].node is None:
        return costs.bounds(size, ranks)
    near, far = levels[0].bounds(size), levels[-1].bounds(size)
    time = exchange_time(costs, size, ranks)
    if near is None or far is None or time <= 0:
        return None
    low, high = (
        exchange_time(_at_end(costs, levels, (near[end], far[end]), slow=end == 1), size, ranks)
        for end in (0, 1)
    )
    return low / time, high / time


def _at_end(
    costs: PointToPointCosts,
    levels: Sequence[PointToPointCosts],
    factors: tuple[float, float],
    *,
    slow: bool,
) -> PointToPointCosts:
    """The costs with message times multiplied by `factors` within a node and between nodes, or at the only
    one of these levels, and with what messages share at the same end of its interval."""
    out = _times(costs, factors[1], slow=slow)
    if costs.near is None or levels[0] is not costs.near:
        return out
    return replace(out, near=_times(costs.near, factors[0], slow=slow))


def _times(costs: PointToPointCosts, factor: float, *, slow: bool) -> PointToPointCosts:
    """All pieces: the limit of messages that share something has the latency of the first one."""
    pieces = tuple(
        replace(piece, latency_s=factor * piece.latency_s, per_byte_s=factor * piece.per_byte_s)
        for piece in costs.pieces
    )
    node = None if costs.node is None else costs.node.at(slow=slow)
    return replace(costs, pieces=pieces, node=node)


def _until_next(costs: PointToPointCosts, size: float, far: int, inside: int, hold: float) -> float:
    """The delay between the messages of a step and those of the next."""
    return max((hold if far else 0.0) + _beyond_medium(costs, size, far, inside), far * hold)


def _beyond_medium(costs: PointToPointCosts, size: float, far: int, inside: int) -> float:
    """A message's time excluding the time it occupies the medium, with `far` messages between nodes at once
    and `inside` within each node, which share its memory. If all ranks are on one node, all messages do."""
    if not far and costs.near is not None:
        return costs.near.together(size, inside)
    if costs.near is None and costs.place != NETWORK and not costs.shared and costs.node is not None:
        return costs.together(size, far)
    piece = cost_piece(costs.pieces, size)
    at_once = far if costs.shared else 1
    fixed, per_byte = piece.latency_s - costs.medium[0], piece.per_byte_s - costs.medium[1]
    if piece.latency_s >= 0:
        fixed = max(0.0, fixed)
    between = max(0.0, fixed + max(0.0, per_byte) * at_once * size)
    if costs.near is None or costs.near.node is None:
        return between
    return max(between, costs.near.together(size, inside) if inside > 1 else 0.0)


def _steps(costs: PointToPointCosts, size: float, ranks: int) -> tuple[int, ...]:
    """The number of messages between nodes in each step."""
    waits = ranks % 2 == 1 and size > costs.level(ranks).eager
    cores = costs.per_node(ranks)
    if cores < 2:
        half = ranks // 2
        return (half, half, 1) if waits else (ranks - half, half)
    if ranks <= cores:
        return (0, 0, 0) if waits else (0, 0)
    # The message that a rank sends in the second step goes the way of the one it received, unless the last
    # rank is alone on its node.
    nodes = -(-ranks // cores)
    alone = ranks % cores == 1
    if waits:
        return (0, nodes - 1, 1) if alone else (0, 0, nodes)
    return (1, nodes - 1) if alone and ranks % 2 == 0 else (0, nodes)
