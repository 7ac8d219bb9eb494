# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a graph on a described machine whose messages share NICs, cables, a medium or processors.

The model is that of `network_sim.NetworkSimulator`, event by event, in `engine/replay/network.cpp`. The
evaluator is much faster, and gives the same result if nothing is shared, with two exceptions in which this
model follows the simulator: the gap after a message beyond the eager limit lasts only while the message is in
flight, and two such messages cross if their nodes (not their ranks) exchange them."""

from __future__ import annotations

import ctypes

import numpy as np

from hockney.core.errors import UsageError
from hockney.core.platform import Platform
from hockney.models.loggp_sim import nodes_of
from hockney.models.routes import Routes
from hockney.replay import native
from hockney.replay.evaluator import RunTimes, graph_error
from hockney.replay.graph import BUFFERED, ONE_SIDED, SEND, Graph


class NetworkModel:
    """A graph on `platform`, with the costs of its messages. `node` is the node of each rank; None: ranks
    fill the nodes one after another. Raises HockneyError if the graph is invalid, and UsageError if the
    machine is too small."""

    def __init__(
        self, graph: Graph, platform: Platform, costs: np.ndarray, node: np.ndarray | None = None
    ) -> None:
        self.graph = graph
        self.costs = native.check_costs(costs)
        self._native = native.NativeGraph(graph)
        self._library = native.library()
        count = sum(group.count for group in platform.nodes)
        if node is None and graph.ranks <= platform.capacity:
            node = nodes_of(platform, graph.ranks) if graph.ranks else np.zeros(0)
        if node is None or len(node) != graph.ranks or (node < 0).any() or (node >= count).any():
            raise UsageError(
                f"{platform.name} has no place for {graph.ranks} ranks",
                f"it has {platform.capacity} cores on {count} nodes",
                code="replay-machine-too-small",
                machine=platform.name,
                ranks=graph.ranks,
                cores=platform.capacity,
            )
        routes = Routes(platform)
        self._node = np.ascontiguousarray(node, dtype=np.uint32)
        self._set_routes(routes, count)
        segments = platform.segments if platform.processors_work else ()
        work = [(segment.processor_s, segment.processor_s_per_byte) for segment in segments]
        self._work_first = np.array([segment.first for segment in segments], dtype=np.float64)
        self._work = np.array(work, dtype=np.float64)
        network = platform.network
        self._network = native.Network(
            node=self._node.ctypes.data,
            route=self._route.ctypes.data,
            route_first=self._route_first.ctypes.data,
            route_links=self._route_links.ctypes.data,
            rates=self._rates.ctypes.data,
            work_first=self._work_first.ctypes.data,
            work=self._work.ctypes.data,
            nodes=count,
            links=len(self._rates),
            works=len(segments),
            slowest=routes.rate,
            medium=network.medium_message_s,
            medium_per_byte=network.medium_s_per_byte,
        )

    def _set_routes(self, routes: Routes, nodes: int) -> None:
        """Set the route of each message, as a row of a list of routes."""
        self._rates = np.ascontiguousarray(routes.rates, dtype=np.float64)
        self._route = np.zeros(0, dtype=np.uint32)
        link_lists: list[np.ndarray] = []
        messages = self._native.messages
        source, target = messages["source"].copy(), messages["target"].copy()
        if max(source.max(initial=0), target.max(initial=0)) >= max(self.graph.ranks, 1):
            raise native.invalid_graph("a message is between ranks that do not exist", "messages")
        ops = self.graph.ops
        accesses = ops[(ops["kind"] == SEND) & (ops["flags"] & ONE_SIDED > 0)]
        # One-sided operations end at their origin, which is both source and target of their message.
        for is_put, ends in ((True, target), (False, source)):
            slots = accesses["slot"][(accesses["flags"] & BUFFERED > 0) == is_put]
            ends[slots] = messages["tag"][slots]
        if len(self._rates):
            pairs = self._node[source].astype(np.int64)
            pairs *= nodes
            pairs += self._node[target]
            distinct, rows = np.unique(pairs, return_inverse=True)
            self._route = rows.astype(np.uint32)
            link_lists = [routes.links(pair // nodes, pair % nodes) for pair in distinct.tolist()]
        self._route_first = np.cumsum([0, *map(len, link_lists)], dtype=np.int64)
        self._route_links = np.concatenate([np.zeros(0, dtype=np.uint32), *link_lists]).astype(np.uint32)

    def run(
        self,
        costs: np.ndarray | None = None,
        *,
        computed_s: np.ndarray | None = None,
        place_factor: np.ndarray | None = None,
        rank_factor: np.ndarray | None = None,
    ) -> RunTimes:
        """See `Evaluator.run`."""
        table = self.costs if costs is None else native.check_costs(costs)
        computation = native.NativeComputation(self.graph, computed_s, place_factor, rank_factor)
        ends, stuck_ops = np.zeros(self.graph.ranks), np.zeros(self.graph.ranks, dtype=np.int64)
        failure = native.Failure()
        self._library.hockney_replay_network(
            self._native.pointer, ctypes.byref(self._network), table.ctypes.data, len(table),
            computation.pointer, ends.ctypes.data, stuck_ops.ctypes.data, ctypes.byref(failure),
        )  # fmt: skip
        if failure.problem:
            raise graph_error(self.graph, failure, stuck_ops)
        return RunTimes(ends)
