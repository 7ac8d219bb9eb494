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

from hockney.models.applications.point_to_point_costs import PointToPointCosts, cost_piece


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
    begin = sum(_until_next(costs, size, far, hold) for far in steps)
    both = ranks % 2 == 1 and len(steps) == 1 and costs.cores < 2
    met = costs.half_duplex_s_per_byte * size if both else 0.0
    return begin + (last * hold + _beyond_medium(costs, size, last)) + met


def _until_next(costs: PointToPointCosts, size: float, far: int, hold: float) -> float:
    """The delay between the messages of a step and those of the next."""
    return max((hold if far else 0.0) + _beyond_medium(costs, size, far), far * hold)


def _beyond_medium(costs: PointToPointCosts, size: float, far: int) -> float:
    """A message's time excluding the time it occupies the medium, with `far` messages between nodes at
    once."""
    piece = cost_piece(costs.pieces if far else costs.near, size)
    if not far:
        return piece.time(size)
    at_once = far if costs.shared else 1
    fixed, per_byte = piece.latency_s - costs.medium[0], piece.per_byte_s - costs.medium[1]
    if piece.latency_s >= 0:
        fixed = max(0.0, fixed)
    return max(0.0, fixed + max(0.0, per_byte) * at_once * size)


def _steps(costs: PointToPointCosts, size: float, ranks: int) -> tuple[int, ...]:
    """For each step the number of messages between nodes."""
    waits = ranks % 2 == 1 and size > costs.eager
    if costs.cores < 2:
        half = ranks // 2
        return (half, half, 1) if waits else (ranks - half, half)
    if ranks <= costs.cores:
        return (0, 0, 0) if waits else (0, 0)
    # The message that a rank sends in the second step goes the way of the one it received, unless the last
    # rank is alone on its node.
    nodes = -(-ranks // costs.cores)
    alone = ranks % costs.cores == 1
    if waits:
        return (0, nodes - 1, 1) if alone else (0, 0, nodes)
    return (1, nodes - 1) if alone and ranks % 2 == 0 else (0, nodes)
