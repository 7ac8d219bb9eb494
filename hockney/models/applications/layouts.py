# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message costs for ranks on a number of nodes that the user chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hockney.core.errors import UsageError
from hockney.core.layout import NETWORK
from hockney.core.wording import option, plural, verb_form
from hockney.models.applications.point_to_point_costs import PointToPointCosts, within_a_node


@dataclass(frozen=True)
class RequestedLayout:
    """A number of nodes, and of ranks on each (0: not given)."""

    nodes: int = 0
    ranks_per_node: int = 0

    def __bool__(self) -> bool:
        return bool(self.nodes or self.ranks_per_node)


@dataclass(frozen=True)
class Nodes:
    """The `cores` of each node of a machine (0: unknown), and how many such nodes a description has (0: no
    limit is known)."""

    cores: int = 0
    count: int = 0


def laid_out(
    costs: PointToPointCosts,
    wanted: RequestedLayout,
    there: Nodes,
    ranks: Sequence[int],
    *,
    apart: bool = False,
) -> PointToPointCosts:
    """The costs with ranks spread as `wanted` over nodes of this kind. If only one level is known (that
    between nodes if the measured ranks were `apart`), messages of the other are taken to cost the same, and
    have no interval. Raises UsageError for more ranks or nodes than there are."""
    if not wanted:
        return costs
    nodes, each = wanted.nodes, wanted.ranks_per_node
    if there.cores and each > there.cores:
        raise ranks_per_node_beyond_cores(each, there.cores)
    if there.count and nodes > there.count:
        raise nodes_beyond_machine(nodes, there.count)
    most = (nodes or there.count) * (each or there.cores)
    # Ranks may share the cores of a real node, but not those of a described one.
    if nodes and (each or there.count) and max(ranks, default=0) > most:
        ranks_per_node = each or there.cores
        raise UsageError(
            f"{max(ranks)} ranks do not fit on {plural(nodes, 'node')} with {ranks_per_node} each",
            f"these are {nodes * ranks_per_node} ranks",
            f"leave out {option('nodes')} or {option('ranks_per_node')}",
            code="ranks-beyond-layout",
            ranks=max(ranks),
            nodes=nodes,
            ranks_per_node=ranks_per_node,
        )
    near = costs.near or within_a_node(costs)
    if costs.near is None and (apart or costs.place == NETWORK):
        near = _assumed(near)
    elif costs.near is None:
        costs = _assumed(costs)
    return replace(costs, near=near, cores=each or 1, nodes=nodes, most_ranks=most or None)


def _assumed(costs: PointToPointCosts) -> PointToPointCosts:
    """The same costs, without what only the measured level has."""
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
