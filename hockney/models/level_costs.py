# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of a schedule's steps on several nodes with several ranks each. Every message has the costs of
its level, within a node or between nodes; a rank's own work costs the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from hockney.models.levels import NETWORK
from hockney.models.loggp_sim import LayerCosts, StepCosts
from hockney.models.measured_costs import LocalCost, MeasuredCosts
from hockney.models.schedules import Layer, Mode

Work = Literal["copy", "combine"]


@dataclass(frozen=True)
class CostsByLevel:
    """Costs within a node (`near`) and `between` nodes. `near` is None if all messages cost the same."""

    near: MeasuredCosts | None
    between: MeasuredCosts

    def on(self, ranks: int, per_node: int) -> StepCosts:
        """Costs for `ranks` ranks with `per_node` consecutive ranks on each node."""
        if self.near is None or per_node == 1:
            alone = self.near is None and self.between.message.place != NETWORK
            return _on_nodes(self.between, ranks) if alone else self.between
        return _on_nodes(self.near, per_node) if ranks <= per_node else NodeCosts(self, per_node)

    def own(self, work: Work) -> LocalCost:
        """Costs of a rank's own work: as measured within a node if available, because messages hide less of
        it there."""
        near = LocalCost() if self.near is None else getattr(self.near, work)
        return near if near.sizes else getattr(self.between, work)


def shared_on_nodes(costs: MeasuredCosts, layer: Layer, mode: Mode, nodes: int | np.ndarray) -> LayerCosts:
    """Costs of a layer's messages. Messages are longer in flight if several leave or reach a node at once and
    share its connection or memory. `nodes` is the node of each rank, or the number of consecutive ranks of
    each node."""
    found, node = costs.of(layer, mode), costs.message.node_sharing
    if node is None or not node.has_limit or costs.message.shared:
        return found
    if isinstance(nodes, int):
        sender, receiver = layer.source // nodes, layer.target // nodes
    else:
        sender, receiver = nodes[layer.source], nodes[layer.target]
    at_once = np.maximum(np.bincount(sender)[sender], np.bincount(receiver)[receiver])
    sizes = np.broadcast_to(np.asarray(layer.size, dtype=float), at_once.shape)
    distinct, which = np.unique(np.stack((sizes, at_once)), axis=1, return_inverse=True)
    together = costs.message.concurrent_time
    more = np.array([together(n, k) - together(n, 1) for n, k in distinct.T])
    return replace(found, flight=found.flight + more[which.ravel()])


def _on_nodes(costs: MeasuredCosts, per_node: int) -> StepCosts:
    """Messages of one level."""
    node = costs.message.node_sharing
    return costs if node is None or not node.has_limit else NodeCosts(CostsByLevel(None, costs), per_node)


@dataclass(frozen=True)
class NodeCosts:
    """Costs on nodes with `per_node` ranks each."""

    levels: CostsByLevel
    per_node: int

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        """Costs of a layer. If messages share the network, only those between nodes do."""
        near, between = self.levels.near or self.levels.between, self.levels.between
        local = layer.source // self.per_node == layer.target // self.per_node
        if near is between or local.all() or not local.any():
            return shared_on_nodes(near if local.all() else between, layer, mode, self.per_node)
        merged = {field.name: np.empty(local.shape) for field in fields(LayerCosts)}
        for costs, where in ((near, local), (between, ~local)):
            part = shared_on_nodes(costs, _part(layer, where), mode, self.per_node)
            for name, values in merged.items():
                values[where] = getattr(part, name)
        flags = {name: merged.pop(name).astype(bool) for name in ("eager", "gap_holds")}
        return LayerCosts(**flags, **merged)

    def copying(self, size: float | np.ndarray) -> np.ndarray:
        return self.levels.own("copy").at(size)

    def combining(self, size: float | np.ndarray) -> np.ndarray:
        return self.levels.own("combine").at(size)

    def refreshing(self, size: float | np.ndarray) -> np.ndarray:
        """Additional seconds as within a node, also for a message between nodes, of which they are a small
        part."""
        return (self.levels.near or self.levels.between).refreshing(size)


def _part(layer: Layer, where: np.ndarray) -> Layer:
    size = layer.size if np.ndim(layer.size) == 0 else np.asarray(layer.size)[where]
    return Layer(layer.source[where], layer.target[where], size)
