# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message costs for ranks on a number of nodes that the user chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hockney.core.errors import UsageError
from hockney.core.layout import NETWORK
from hockney.core.wording import option, plural, verb_form
from hockney.models.applications.point_to_point_costs import PointToPointCosts, without_network


@dataclass(frozen=True)
class RequestedLayout:
    """The requested number of nodes, and of ranks on each node (0: not requested)."""

    nodes: int = 0
    ranks_per_node: int = 0

    def __bool__(self) -> bool:
        return bool(self.nodes or self.ranks_per_node)


@dataclass(frozen=True)
class NodeLimits:
    """The number of `cores` per node (0: unknown) and the number of nodes in the machine's description (0: no
    known limit)."""

    cores: int = 0
    count: int = 0


def apply_layout(
    costs: PointToPointCosts,
    requested: RequestedLayout,
    limits: NodeLimits,
    ranks: Sequence[int],
    *,
    ranks_on_separate_nodes: bool = False,
) -> PointToPointCosts:
    """Return the costs with ranks distributed as `requested` over nodes within `limits`. If only one level
    was measured, messages at the other level are assumed to cost the same, without an interval. The measured
    level is that between nodes if `ranks_on_separate_nodes`. Raises UsageError if there are too many ranks or
    nodes."""
    if not requested:
        return costs
    nodes, requested_per_node = requested.nodes, requested.ranks_per_node
    if limits.cores and requested_per_node > limits.cores:
        raise ranks_per_node_beyond_cores(requested_per_node, limits.cores)
    if limits.count and nodes > limits.count:
        raise nodes_beyond_machine(nodes, limits.count)
    capacity = (nodes or limits.count) * (requested_per_node or limits.cores)
    # Ranks may share the cores of a real node, but not those of a described one.
    if nodes and (requested_per_node or limits.count) and max(ranks, default=0) > capacity:
        ranks_per_node = requested_per_node or limits.cores
        raise UsageError(
            f"{max(ranks)} ranks do not fit on {plural(nodes, 'node')} with {ranks_per_node} each",
            f"these are {nodes * ranks_per_node} ranks",
            f"leave out {option('nodes')} or {option('ranks_per_node')}",
            code="ranks-beyond-layout",
            ranks=max(ranks),
            nodes=nodes,
            ranks_per_node=ranks_per_node,
        )
    within_node = costs.within_node or without_network(costs)
    if costs.within_node is None and (ranks_on_separate_nodes or costs.place == NETWORK):
        within_node = _without_evidence(within_node)
    elif costs.within_node is None:
        costs = _without_evidence(costs)
    return replace(
        costs, within_node=within_node, cores=requested_per_node or 1, nodes=nodes, max_ranks=capacity or None
    )


def _without_evidence(costs: PointToPointCosts) -> PointToPointCosts:
    """Copy of the costs without the interval and the verdict, which only hold for the measured level."""
    return replace(costs, band=(), verdict="", doubt="", two_modes=None)


def ranks_per_node_beyond_cores(ranks_per_node: int, cores: int) -> UsageError:
    return UsageError(
        f"{ranks_per_node} ranks per node are too many",
        f"a node has {plural(cores, 'core')}",
        f"use {option('ranks_per_node', cores)} or less",
        code="ranks-per-node-beyond-cores",
        ranks_per_node=ranks_per_node,
        cores=cores,
    )


def nodes_beyond_machine(nodes: int, limit: int) -> UsageError:
    return UsageError(
        f"{plural(nodes, 'node')} {verb_form(nodes, 'is', 'are')} too many",
        f"the machine has {limit}",
        f"use {option('nodes', limit)} or less",
        code="nodes-beyond-machine",
        nodes=nodes,
        limit=limit,
    )
