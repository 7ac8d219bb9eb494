# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A traced program with changes that a user requests: their names, their effects on its graph and costs, and
how launches make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from msgspec import structs

from hockney.core.platform import Platform
from hockney.core.units import format_bytes, format_seconds
from hockney.core.wording import join_words
from hockney.models.measured_costs import End
from hockney.models.schedules import SCHEDULES
from hockney.profiles.machine_costs import SCALAR_OPERATIONS
from hockney.replay import graph as g
from hockney.replay.answers import Candidate, EvaluatedProgram, ExplainedRun, WhatIf
from hockney.replay.building import TraceGraph
from hockney.replay.changes import (
    with_aggregated_messages,
    with_balanced_computation,
    with_overlap,
    without_disturbances,
)
from hockney.replay.collectives import BEST, PricedGraph, check_algorithms, model_operation, price_graph
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import Graph
from hockney.replay.predictions import APPLICABLE, Change, Choice
from hockney.replay.pricing import Machine, NetworkChange, with_network_change
from hockney.replay.unexplained import add_unexplained, replace_unexplained, usually_unexplained

IDEAL = NetworkChange(latency=0.0, overhead=0.0, bandwidth=np.inf)
"""A network without any costs."""
REMAINING_SHARE = 0.25
"""If a slow algorithm takes longer than surveyed, up to this share of the excess may remain with another
algorithm: data outside of the cache is slow for any of them."""
NEGLIGIBLE = 1e-9
"""Smaller relative changes of the run time are ignored."""


@dataclass(frozen=True)
class RequestedChanges:
    """Changes that are made together. `algorithms` maps operations to algorithms; `latency_s` is added to
    every message; `machine` names another machine. With `hides_all`, an overlap hides messages completely,
    instead of as far as the machine does."""

    algorithms: Mapping[str, str] = field(default_factory=dict)
    eager_limit: int | None = None
    latency_s: float | None = None
    latency: float | None = None
    bandwidth: float | None = None
    ideal_network: bool = False
    aggregate: bool = False
    overlap: bool = False
    hides_all: bool = False
    balance: bool = False
    no_noise: bool = False
    machine: str = ""
    compute_scale: float | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(self._changes())

    def _changes(self) -> Iterator[Change]:
        for operation, name in self.algorithms.items():
            text = f"best {operation}" if name == BEST else f"{operation} by {name}"
            yield Change(kind="algorithm", text=text)
        if self.eager_limit is not None:
            yield Change(kind="eager limit", text=f"eager limit {format_bytes(self.eager_limit)}")
        if self.latency_s is not None:
            yield Change(kind="latency", text=f"latency +{format_seconds(self.latency_s)}")
        if self.latency is not None:
            yield Change(kind="latency", text=f"latency x {self.latency:g}")
        if self.bandwidth is not None:
            yield Change(kind="bandwidth", text=f"bandwidth x {self.bandwidth:g}")
        if self.ideal_network:
            yield Change(kind="ideal network", text="ideal network")
        if self.aggregate:
            yield Change(kind="aggregation", text="messages aggregated")
        if self.overlap:
            yield Change(kind="overlap", text="overlap (upper bound)")
        if self.balance:
            yield Change(kind="balance", text="perfect balance")
        if self.no_noise:
            yield Change(kind="noise", text="no noise")
        if self.machine:
            yield Change(kind="machine", text=f"machine {self.machine}")
        if self.compute_scale is not None:
            yield Change(kind="computation", text=f"computation x {self.compute_scale:g}")


@dataclass(frozen=True)
class TracedProgram:
    """A traced program with the costs of the `machine` on which it ran, and of `other_machines` by name, each
    for the bounds of the cost intervals."""

    trace_graph: TraceGraph
    machine: Mapping[End, Machine]
    other_machines: Mapping[str, Mapping[End, Machine]] = field(default_factory=dict)

    @cached_property
    def costs_only_program(self) -> EvaluatedProgram:
        """The program without changes, evaluated by the costs alone."""
        return self._evaluate_costs_only(RequestedChanges())

    @cached_property
    def graphs(self) -> Mapping[End, Graph]:
        """The graphs of the program with the time that each bound of the costs leaves unexplained, if ranks
        share a clock."""
        recorded, graph = self.trace_graph.recorded_times, self.trace_graph.graph
        if recorded is None:
            return dict.fromkeys(self.machine, graph)
        return {
            end: add_unexplained(
                graph, recorded, Evaluator(priced_graph.graph, priced_graph.costs), priced_graph.position
            )
            for end, priced_graph in self.costs_only_program.priced_graphs.items()
        }

    @property
    def graph(self) -> Graph:
        return self.graphs["value"]

    @cached_property
    def unchanged_program(self) -> EvaluatedProgram:
        """The program without changes."""
        if self.trace_graph.recorded_times is None:
            return self.costs_only_program
        return self._evaluate(self.graphs, RequestedChanges())

    @cached_property
    def ideal_s(self) -> float:
        """The run time on a network without costs."""
        return self._evaluate_costs_only(RequestedChanges(ideal_network=True)).value_s

    def with_changes(self, request: RequestedChanges) -> EvaluatedProgram:
        """Raises UsageError if an algorithm does not exist, or does not support the program's ranks."""
        return self._evaluate_costs_only(request) if request.machine else self._evaluate(self.graphs, request)

    def alternatives(self, request: RequestedChanges) -> Iterator[tuple[EvaluatedProgram, EvaluatedProgram]]:
        """The program with and without the changes: first as predicted, then under other assumptions.
        Unexplained time stays, unless the whole network is replaced: calls on another machine take the time
        of its costs alone."""
        if self.trace_graph.recorded_times is None or request.machine:
            yield self.with_changes(request), self.unchanged_program
            return
        unexplained_s = self.graph.unexplained_s
        is_slow = self._is_slow_algorithm(request.algorithms)
        if is_slow.any():
            # The excess over the surveyed time is caused by the algorithms and vanishes with them.
            for share in (0.0, REMAINING_SHARE):
                yield (
                    self._with_unexplained(request, np.where(is_slow, share, 1) * unexplained_s),
                    self.unchanged_program,
                )
            return
        if request.ideal_network:
            yield self._evaluate_costs_only(request), self.unchanged_program
            # If messages cost less, calls cannot undercut their costs by as much as before.
            yield self._with_unexplained(request, np.maximum(unexplained_s, 0)), self.unchanged_program
        else:
            yield self.with_changes(request), self.unchanged_program
        yield self._evaluate({"value": self.trace_graph.graph}, request), self.costs_only_program
        if request.no_noise:
            yield self._evaluate({"value": self.graph}, request, outliers=False), self.unchanged_program

    def _with_unexplained(self, request: RequestedChanges, unexplained_s: np.ndarray) -> EvaluatedProgram:
        return self._evaluate({"value": replace_unexplained(self.graph, unexplained_s)}, request)

    def _is_slow_algorithm(self, algorithms: Mapping[str, str]) -> np.ndarray:
        """Whether the unexplained seconds before each operation come from a slow algorithm that is to be
        replaced: its calls usually take far longer than surveyed."""
        graph = self.graph
        enters = graph.ops[graph.ops["kind"] == g.ENTER]
        is_changed_operation = np.array(
            [model_operation(name) in algorithms for name in graph.operations], dtype=bool
        )
        is_changed = is_changed_operation[graph.groups["operation"][enters["slot"]]]
        return usually_unexplained(
            graph, self.trace_graph.calls_s, np.unique(enters["place"][is_changed]).tolist()
        )

    def _evaluate_costs_only(self, request: RequestedChanges) -> EvaluatedProgram:
        return self._evaluate(dict.fromkeys(self._machines(request), self.trace_graph.graph), request)

    def _machines(self, request: RequestedChanges) -> Mapping[End, Machine]:
        return self.other_machines[request.machine] if request.machine else self.machine

    def _evaluate(
        self, graphs: Mapping[End, Graph], request: RequestedChanges, *, outliers: bool = True
    ) -> EvaluatedProgram:
        """Evaluate the program for those bounds of the costs that have graphs."""
        machines = self._machines(request)
        priced_graphs = {
            end: self._price(self._change_graph(graph, request, outliers), machines[end], request)
            for end, graph in graphs.items()
        }
        return EvaluatedProgram(
            priced_graphs, _platform_with_links(machines["value"].communication.platform, request)
        )

    def _change_graph(self, graph: Graph, request: RequestedChanges, outliers: bool) -> Graph:
        if request.no_noise:
            graph = without_disturbances(graph, outliers=outliers)
        if request.balance:
            graph = with_balanced_computation(graph)
        if request.aggregate:
            limit = self.machine["value"].communication.message.eager_limit
            graph, _ = with_aggregated_messages(
                graph, eager=limit if request.eager_limit is None else request.eager_limit
            )
        if request.overlap:
            graph = with_overlap(graph)
        if request.compute_scale is not None:
            graph = with_scaled_computation(graph, request.compute_scale)
        return graph

    def _price(self, graph: Graph, machine: Machine, request: RequestedChanges) -> PricedGraph:
        # Pricing modifies the operations in place.
        priced_graph = price_graph(replace(graph, ops=graph.ops.copy()), machine, request.algorithms)
        costs = priced_graph.costs
        for change in _network_changes(request):
            costs = with_network_change(costs, priced_graph.rounds, change)
        if request.overlap and not request.hides_all:
            costs = with_hidden_flight(graph, priced_graph, costs, machine.hidden_share)
        if request.eager_limit is not None:
            costs = with_eager_limit(priced_graph.graph, costs, request.eager_limit)
        return replace(priced_graph, costs=costs)

    def candidate(self, request: RequestedChanges, variables: Mapping[str, str] | None = None) -> Candidate:
        """The requested changes as a candidate, whose effect can be predicted and, if possible, checked by
        launches."""
        check_algorithms(request.algorithms)
        is_applicable = all(change.kind in APPLICABLE for change in request.changes)
        return Candidate(
            request.changes,
            lambda: self.alternatives(request),
            tuple(self.choices(request)) if is_applicable else (),
            dict(variables or {}) if is_applicable else {},
            self.note(request.algorithms),
        )

    def choices(self, request: RequestedChanges) -> Iterator[Choice]:
        """The lines of the table for hockney's library. A named algorithm applies to all calls, each of the
        best algorithms to calls with the same ranks and bytes."""
        timings = self.with_changes(request).choices if BEST in request.algorithms.values() else ()
        for operation, name in request.algorithms.items():
            if name != BEST:
                yield Choice(operation=operation, algorithm=name)
                continue
            for timing in timings:
                if (
                    SCALAR_OPERATIONS.get(timing.operation, timing.operation) == operation
                    and timing.basis == "requested"
                ):
                    size = 0 if operation == "barrier" else timing.size
                    yield Choice(
                        operation=operation,
                        algorithm=timing.algorithm,
                        ranks=(timing.ranks, timing.ranks),
                        bytes=(size, size),
                    )

    def note(self, algorithms: Mapping[str, str]) -> str:
        """A note about calls that are modelled as an operation but that launches cannot replace."""
        graph = self.trace_graph.graph
        used_operations = {graph.operations[k] for k in np.unique(graph.groups["operation"]).tolist()}
        other_operations = sorted(
            operation
            for operation in used_operations
            if model_operation(operation) in algorithms and operation != model_operation(operation)
        )
        return f"launches keep MPI's algorithm of {join_words(other_operations)}" if other_operations else ""

    def predict_changes(
        self, explained: ExplainedRun, requests: Iterable[RequestedChanges]
    ) -> tuple[WhatIf, ...]:
        """The changes, each on its own, that change the run time, the largest gain first."""
        found = (explained.predict_change(self.candidate(request)) for request in requests)
        effective = (what_if for what_if in found if abs(what_if.gain.value) > NEGLIGIBLE)
        return tuple(sorted(effective, key=lambda what_if: (-what_if.gain.value, what_if.text)))

    def standard_changes(self) -> Iterator[RequestedChanges]:
        """The changes in the table, each on its own."""
        graph = self.trace_graph.graph
        used_operations = {graph.operations[k] for k in np.unique(graph.groups["operation"]).tolist()}
        operations = sorted(
            {model_operation(name) for name in used_operations} & {operation for operation, _ in SCHEDULES}
        )
        for operation in operations:
            yield RequestedChanges(algorithms={operation: BEST})
        yield RequestedChanges(aggregate=True)
        yield RequestedChanges(overlap=True)
        yield RequestedChanges(balance=True)
        yield RequestedChanges(no_noise=True)
        yield RequestedChanges(latency=0.5)
        yield RequestedChanges(bandwidth=2.0)
        yield RequestedChanges(ideal_network=True)


def _platform_with_links(platform: Platform | None, request: RequestedChanges) -> Platform | None:
    """The machine whose links messages share, with changed rates; None on an ideal network, which has no
    links."""
    if platform is None or request.ideal_network:
        return None
    if request.bandwidth is None:
        return platform
    network = platform.network
    rates = structs.replace(
        network,
        nic=network.nic * request.bandwidth,
        link=network.link * request.bandwidth,
        medium_s_per_byte=network.medium_s_per_byte / request.bandwidth,
    )
    return structs.replace(platform, network=rates)


def _network_changes(request: RequestedChanges) -> Iterator[NetworkChange]:
    if request.latency_s is not None:
        yield NetworkChange(added_latency_s=request.latency_s)
    if request.latency is not None or request.bandwidth is not None:
        yield NetworkChange(latency=request.latency or 1.0, bandwidth=request.bandwidth or 1.0)
    if request.ideal_network:
        yield IDEAL


def with_eager_limit(graph: Graph, costs: np.ndarray, limit: int) -> np.ndarray:
    """The costs if messages of up to `limit` bytes leave without waiting for their receives."""
    new_costs = costs.copy()
    sends = graph.ops[graph.ops["kind"] == g.SEND]
    new_costs["eager"][sends["cost"]] = graph.messages["size"][sends["slot"]] <= limit
    return new_costs


def with_hidden_flight(
    graph: Graph,
    priced_graph: PricedGraph,
    costs: np.ndarray,
    hidden_share: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """The costs if computation hides a share of the time of flight. Receivers pay the remainder."""
    new_costs = costs.copy()
    sends = priced_graph.graph.ops[priced_graph.graph.ops["kind"] == g.SEND]
    # Messages of collectives come after those of the program.
    sends = sends[sends["slot"] < len(graph.messages)]
    rows, first = np.unique(sends["cost"], return_index=True)
    hidden = hidden_share(graph.messages["size"][sends["slot"][first]].astype(float))
    new_costs["receive"][rows] += (1 - hidden) * (costs["latency"][rows] + costs["transfer"][rows])
    for name in ("latency", "transfer"):
        new_costs[name][rows] *= hidden
    return new_costs


def with_scaled_computation(graph: Graph, factor: float | np.ndarray) -> Graph:
    """The graph with its computation multiplied by a factor, which may be an array by rank."""
    ops = graph.ops.copy()
    by_op = factor[g.rank_of_ops(graph)] if isinstance(factor, np.ndarray) else factor
    ops["computed_s"] += np.asarray(by_op - 1, np.float32) * graph.computed_s
    return replace(graph, ops=ops, tail_s=graph.tail_s * factor)
