# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A traced program with changes that a user asks for: their names, what they make of its graph and costs, and
how launches make them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from msgspec import structs

from hockney.core.platform import Platform
from hockney.core.units import format_bytes, format_seconds
from hockney.core.wording import join_words
from hockney.models.measured_costs import End
from hockney.models.schedules import SCHEDULES
from hockney.profiles.machine_costs import OF_VECTORS
from hockney.replay import graph as g
from hockney.replay.answers import Candidate, EvaluatedProgram
from hockney.replay.building import TraceGraph
from hockney.replay.changes import aggregated, balanced, overlapped, undisturbed
from hockney.replay.collectives import BEST, PricedGraph, check_algorithms, modelled, price_graph
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import Graph
from hockney.replay.predictions import APPLICABLE, Change, Choice
from hockney.replay.pricing import Machine, NetworkChange, changed
from hockney.replay.unexplained import add_unexplained, replace_unexplained, usually_unexplained

IDEAL = NetworkChange(latency=0.0, overhead=0.0, bandwidth=np.inf)
"""A network without any costs."""
REMAINING = 0.25
"""Of what a slow algorithm takes longer than surveyed, this share may remain with another one: data that is
not in the cache is slow for any of them."""
NEGLIGIBLE = 1e-9
"""A smaller relative change of the run time is none."""


@dataclass(frozen=True)
class RequestedChanges:
    """Changes that are made together. `algorithms` are by operation; `latency_s` is added to every message;
    `machine` is the name of another one."""

    algorithms: Mapping[str, str] = field(default_factory=dict)
    eager_limit: int | None = None
    latency_s: float | None = None
    latency: float | None = None
    bandwidth: float | None = None
    ideal_network: bool = False
    aggregate: bool = False
    overlap: bool = False
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
    """A traced program, with the costs of the `machine` on which it ran, and those of `others` by name, each
    by the end of the cost interval."""

    built: TraceGraph
    machine: Mapping[End, Machine]
    others: Mapping[str, Mapping[End, Machine]] = field(default_factory=dict)

    @cached_property
    def costs_only(self) -> EvaluatedProgram:
        """The program without changes, by the costs alone."""
        return self._by_costs_only(RequestedChanges())

    @cached_property
    def graphs(self) -> Mapping[End, Graph]:
        """The program's, with what each end of the costs does not explain if ranks have one clock."""
        recorded, graph = self.built.recorded_times, self.built.graph
        if recorded is None:
            return dict.fromkeys(self.machine, graph)
        return {
            end: add_unexplained(graph, recorded, Evaluator(each.graph, each.costs), each.position)
            for end, each in self.costs_only.priced.items()
        }

    @property
    def graph(self) -> Graph:
        return self.graphs["value"]

    @cached_property
    def unchanged(self) -> EvaluatedProgram:
        """The program without changes."""
        if self.built.recorded_times is None:
            return self.costs_only
        return self._evaluated(self.graphs, RequestedChanges())

    @cached_property
    def ideal_s(self) -> float:
        """The run time on a network without costs."""
        return self._by_costs_only(RequestedChanges(ideal_network=True)).value_s

    def with_changes(self, asked: RequestedChanges) -> EvaluatedProgram:
        """Raises UsageError for an algorithm that does not exist, or not for the program's ranks."""
        return self._by_costs_only(asked) if asked.machine else self._evaluated(self.graphs, asked)

    def alternatives(self, asked: RequestedChanges) -> Iterator[tuple[EvaluatedProgram, EvaluatedProgram]]:
        """The program with and without the changes: first as predicted, then under other assumptions. What
        the costs do not explain stays as it is, unless the whole network is another one: calls on another
        machine have its costs alone."""
        if self.built.recorded_times is None or asked.machine:
            yield self.with_changes(asked), self.unchanged
            return
        unexplained = self.graph.unexplained_s
        slow = self._of_slow_algorithms(asked.algorithms)
        if slow.any():
            # What they take longer than surveyed is not the program's, and goes with them.
            for share in (0.0, REMAINING):
                yield self._with(asked, np.where(slow, share, 1) * unexplained), self.unchanged
            return
        if asked.ideal_network:
            yield self._by_costs_only(asked), self.unchanged
            # Where messages cost less, calls cannot take as much less than they cost.
            yield self._with(asked, np.maximum(unexplained, 0)), self.unchanged
        else:
            yield self.with_changes(asked), self.unchanged
        yield self._evaluated({"value": self.built.graph}, asked), self.costs_only
        if asked.no_noise:
            yield self._evaluated({"value": self.graph}, asked, outliers=False), self.unchanged

    def _with(self, asked: RequestedChanges, unexplained_s: np.ndarray) -> EvaluatedProgram:
        return self._evaluated({"value": replace_unexplained(self.graph, unexplained_s)}, asked)

    def _of_slow_algorithms(self, algorithms: Mapping[str, str]) -> np.ndarray:
        """Which unexplained seconds are of collectives that get another algorithm, if these usually take far
        longer than surveyed: the program had a slow algorithm."""
        graph = self.graph
        enters = graph.ops[graph.ops["kind"] == g.ENTER]
        changes = np.array([modelled(name) in algorithms for name in graph.operations], dtype=bool)
        changed = changes[graph.groups["operation"][enters["slot"]]]
        return usually_unexplained(graph, self.built.calls_s, np.unique(enters["place"][changed]).tolist())

    def _by_costs_only(self, asked: RequestedChanges) -> EvaluatedProgram:
        return self._evaluated(dict.fromkeys(self._machines(asked), self.built.graph), asked)

    def _machines(self, asked: RequestedChanges) -> Mapping[End, Machine]:
        return self.others[asked.machine] if asked.machine else self.machine

    def _evaluated(
        self, graphs: Mapping[End, Graph], asked: RequestedChanges, *, outliers: bool = True
    ) -> EvaluatedProgram:
        """By the ends of the costs that have graphs."""
        machines = self._machines(asked)
        priced = {
            end: self._priced(self._changed(graph, asked, outliers), machines[end], asked)
            for end, graph in graphs.items()
        }
        return EvaluatedProgram(priced, _with_links(machines["value"].communication.platform, asked))

    def _changed(self, graph: Graph, asked: RequestedChanges, outliers: bool) -> Graph:
        if asked.no_noise:
            graph = undisturbed(graph, outliers=outliers)
        if asked.balance:
            graph = balanced(graph)
        if asked.aggregate:
            limit = self.machine["value"].communication.message.eager_limit
            graph, _ = aggregated(graph, eager=limit if asked.eager_limit is None else asked.eager_limit)
        if asked.overlap:
            graph = overlapped(graph)
        if asked.compute_scale is not None:
            graph = scaled(graph, asked.compute_scale)
        return graph

    def _priced(self, graph: Graph, machine: Machine, asked: RequestedChanges) -> PricedGraph:
        # Pricing numbers the costs of operations in place.
        found = price_graph(replace(graph, ops=graph.ops.copy()), machine, asked.algorithms)
        costs = found.costs
        for change in _of_network(asked):
            costs = changed(costs, found.rounds, change)
        if asked.overlap:
            costs = with_hidden(graph, found, costs, machine.hidden)
        if asked.eager_limit is not None:
            costs = with_eager_limit(found.graph, costs, asked.eager_limit)
        return replace(found, costs=costs)

    def candidate(self, asked: RequestedChanges, variables: Mapping[str, str] | None = None) -> Candidate:
        """What is asked, as a change whose effect can be predicted and, perhaps, launched."""
        check_algorithms(asked.algorithms)
        launched = all(change.kind in APPLICABLE for change in asked.changes)
        return Candidate(
            asked.changes,
            lambda: self.alternatives(asked),
            tuple(self.choices(asked)) if launched else (),
            dict(variables or {}) if launched else {},
            self.note(asked.algorithms),
        )

    def choices(self, asked: RequestedChanges) -> Iterator[Choice]:
        """The lines of the table for hockney's library: a named algorithm is for all calls, the best ones are
        for calls with the same ranks and bytes."""
        found = self.with_changes(asked).choices if BEST in asked.algorithms.values() else ()
        for operation, name in asked.algorithms.items():
            if name != BEST:
                yield Choice(operation=operation, algorithm=name)
                continue
            for each in found:
                if OF_VECTORS.get(each.operation, each.operation) == operation and each.basis == "requested":
                    size = 0 if operation == "barrier" else each.size
                    yield Choice(
                        operation=operation,
                        algorithm=each.algorithm,
                        ranks=(each.ranks, each.ranks),
                        bytes=(size, size),
                    )

    def note(self, algorithms: Mapping[str, str]) -> str:
        """Which calls count as an operation that launches cannot replace."""
        graph = self.built.graph
        used = {graph.operations[k] for k in np.unique(graph.groups["operation"]).tolist()}
        others = sorted(each for each in used if modelled(each) in algorithms and each != modelled(each))
        return f"launches keep MPI's algorithm of {join_words(others)}" if others else ""

    def usual(self) -> Iterator[RequestedChanges]:
        """The changes of the table: each that is known, alone."""
        graph = self.built.graph
        used = {graph.operations[k] for k in np.unique(graph.groups["operation"]).tolist()}
        named = sorted({modelled(each) for each in used} & {operation for operation, _ in SCHEDULES})
        for operation in named:
            yield RequestedChanges(algorithms={operation: BEST})
        yield RequestedChanges(aggregate=True)
        yield RequestedChanges(overlap=True)
        yield RequestedChanges(balance=True)
        yield RequestedChanges(no_noise=True)
        yield RequestedChanges(latency=0.5)
        yield RequestedChanges(bandwidth=2.0)
        yield RequestedChanges(ideal_network=True)


def _with_links(platform: Platform | None, asked: RequestedChanges) -> Platform | None:
    """The machine whose links messages share, with their rates; None on an ideal network, which has none."""
    if platform is None or asked.ideal_network:
        return None
    if asked.bandwidth is None:
        return platform
    network = platform.network
    rates = structs.replace(
        network,
        nic=network.nic * asked.bandwidth,
        link=network.link * asked.bandwidth,
        medium_s_per_byte=network.medium_s_per_byte / asked.bandwidth,
    )
    return structs.replace(platform, network=rates)


def _of_network(asked: RequestedChanges) -> Iterator[NetworkChange]:
    if asked.latency_s is not None:
        yield NetworkChange(added_latency_s=asked.latency_s)
    if asked.latency is not None or asked.bandwidth is not None:
        yield NetworkChange(latency=asked.latency or 1.0, bandwidth=asked.bandwidth or 1.0)
    if asked.ideal_network:
        yield IDEAL


def with_eager_limit(graph: Graph, costs: np.ndarray, limit: int) -> np.ndarray:
    """The costs with which messages of up to `limit` bytes leave without their receives."""
    made = costs.copy()
    sends = graph.ops[graph.ops["kind"] == g.SEND]
    made["eager"][sends["cost"]] = graph.messages["size"][sends["slot"]] <= limit
    return made


def with_hidden(
    graph: Graph, found: PricedGraph, costs: np.ndarray, hidden: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """The costs of messages of which a share is `hidden` by computation: their receivers pay the rest of the
    time of flight."""
    made = costs.copy()
    sends = found.graph.ops[found.graph.ops["kind"] == g.SEND]
    # Messages of collectives come after those of the program.
    sends = sends[sends["slot"] < len(graph.messages)]
    rows, first = np.unique(sends["cost"], return_index=True)
    share = hidden(graph.messages["size"][sends["slot"][first]].astype(float))
    made["receive"][rows] += (1 - share) * (costs["latency"][rows] + costs["transfer"][rows])
    for name in ("latency", "transfer"):
        made[name][rows] *= share
    return made


def scaled(graph: Graph, factor: float) -> Graph:
    """The graph with the computation times a factor."""
    ops = graph.ops.copy()
    ops["computed_s"] += np.float32(factor - 1) * graph.computed_s
    return replace(graph, ops=ops, tail_s=graph.tail_s * factor)
