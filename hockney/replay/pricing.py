# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of a traced program's messages on a machine: as a run measured them between two ranks, for the
level of each pair of ranks, or as a machine description defines them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np

from hockney.core.case import WRITTEN, parse_canonical
from hockney.core.fit import Fits
from hockney.core.layout import NETWORK
from hockney.models.applications.message_costs import usable_fit
from hockney.models.applications.point_to_point_costs import costs_from_fit
from hockney.models.level_costs import shared_on_nodes
from hockney.models.loggp_sim import LayerCosts, PlatformCosts, StepCosts
from hockney.models.measured_costs import MeasuredCosts, measured_costs
from hockney.models.programs.communication import Communication
from hockney.models.programs.timing import with_processor_time_as_latency
from hockney.models.schedules import Layer, Mode
from hockney.profiles import rank_file
from hockney.profiles.machine_costs import LEVELS_BY_DISTANCE
from hockney.replay import graph as g
from hockney.replay.building import Placement
from hockney.replay.graph import COST, FULL_SHARE, Graph, byte_times

NODE_DISTANCES = (rank_file.SELF, rank_file.CORE, rank_file.PACKAGE, rank_file.NODE)
"""Distances within a node, in the order of LEVELS."""
SEND, EXCHANGE, START, PUT, GET = range(5)
"""How a program sends a message: MPI_Send, MPI_Sendrecv, MPI_Isend, or a one-sided call."""


class Machine(StepCosts, Protocol):
    """The costs of messages between the ranks of a program."""

    communication: Communication
    waits_for_bytes: bool
    """Whether the receive overhead contains the wait for bytes that are still on the network, as in measured
    costs."""

    def level(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The distance of messages, as indices into LEVELS."""
        ...

    def pair_classes(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Numbers of pairs of ranks, equal if messages between them cost the same."""
        ...

    def uncontended_costs(self, layer: Layer, mode: Mode) -> LayerCosts:
        """The costs of messages that share nothing, not even their ranks. `POSTED` messages do not all leave
        at once."""
        ...

    def pattern(self, ranks: np.ndarray) -> bytes:
        """A key that is equal for groups of ranks whose messages cost the same."""
        ...

    def hidden_share(self, size: np.ndarray) -> np.ndarray:
        """The share of the time of messages of these sizes that computation can hide, at most 1."""
        ...


class MeasuredMachine:
    """A measured machine with ranks at `placement`. `costs` are by level; levels that were not measured use
    the costs of a similar level. `fits` distinguish the levels within a node."""

    waits_for_bytes = True

    def __init__(self, communication: Communication, placement: Placement, fits: Fits | None = None) -> None:
        network_costs = communication.measured
        assert network_costs is not None, "a run with a ping-pong"
        near_costs = communication.measured_within_node or network_costs
        self.communication, self.placement = communication, placement
        self.costs = [
            *(_costs_at_distance(fits, distance, near_costs, communication) for distance in NODE_DISTANCES),
            network_costs,
        ]
        self.copy = near_costs.copy if near_costs.copy.sizes else network_costs.copy
        self.combine = near_costs.combine if near_costs.combine.sizes else network_costs.combine
        self.fresh = near_costs.fresh if near_costs.fresh.sizes else network_costs.fresh
        one_rank_per_node = (
            communication.measured_within_node is None and network_costs.message.place == NETWORK
        )
        self._nodes = 1 if one_rank_per_node else placement.host
        self._hidden_shares = _hidden_shares(fits)

    def level(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return self.placement.level(source, target)

    pair_classes = level

    def pattern(self, ranks: np.ndarray) -> bytes:
        placement = self.placement
        return b"".join(
            _renumber(numbers[ranks]).tobytes()
            for numbers in (placement.host, placement.package, placement.core)
        )

    def hidden_share(self, size: np.ndarray) -> np.ndarray:
        """Interpolate between measured sizes, from cases that do not test for messages. Returns 1 if there
        are none."""
        if not self._hidden_shares:
            return np.ones(len(size))
        sizes, shares = zip(*self._hidden_shares, strict=True)
        return np.interp(np.log2(np.maximum(size, 1)), np.log2(sizes), shares)

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        return self._by_level(layer, lambda costs, part: shared_on_nodes(costs, part, mode, self._nodes))

    def uncontended_costs(self, layer: Layer, mode: Mode) -> LayerCosts:
        costs = self._by_level(layer, lambda costs, part: _uncontended_layer_costs(costs, part, mode))
        return self._with_self_messages(costs, layer) if (layer.source == layer.target).any() else costs

    def _with_self_messages(self, costs: LayerCosts, layer: Layer) -> LayerCosts:
        """The costs in which a message from a rank to itself is a copy, made by either of its calls."""
        is_self = layer.source == layer.target
        if not self.copy.sizes:
            return costs
        send_s, _, receive_s, _ = self.costs[0].overheads
        return LayerCosts(
            eager=costs.eager | is_self,
            overhead=np.where(is_self, send_s, costs.overhead),
            flight=np.where(is_self, 0.0, costs.flight),
            receive=np.where(is_self, receive_s + self.copying(layer.size), costs.receive),
            gap=np.where(is_self, 0.0, costs.gap),
            gap_holds=costs.gap_holds,
            exchange=np.where(is_self, 0.0, costs.exchange),
        )

    def _by_level(self, layer: Layer, evaluate: Callable[[MeasuredCosts, Layer], LayerCosts]) -> LayerCosts:
        level = self.level(layer.source, layer.target)
        used_costs = {id(self.costs[number]): self.costs[number] for number in np.unique(level).tolist()}
        if len(used_costs) == 1:
            return evaluate(next(iter(used_costs.values())), layer)
        values_by_name = {item.name: np.empty(level.shape) for item in fields(LayerCosts)}
        for costs in used_costs.values():
            has_costs = np.isin(level, [k for k, item in enumerate(self.costs) if item is costs])
            size = layer.size if np.ndim(layer.size) == 0 else np.asarray(layer.size)[has_costs]
            part = evaluate(costs, Layer(layer.source[has_costs], layer.target[has_costs], size))
            for name, values in values_by_name.items():
                values[has_costs] = getattr(part, name)
        flags = {name: values_by_name.pop(name).astype(bool) for name in ("eager", "gap_holds")}
        return LayerCosts(**flags, **values_by_name)

    def copying(self, size: float | np.ndarray) -> np.ndarray:
        return self.copy.at(size)

    def combining(self, size: float | np.ndarray) -> np.ndarray:
        return self.combine.at(size)

    def refreshing(self, size: float | np.ndarray) -> np.ndarray:
        return self.fresh.at(size)


def _costs_at_distance(
    fits: Fits | None, distance: int, near_costs: MeasuredCosts, communication: Communication
) -> MeasuredCosts:
    """The costs of the level for a distance, if the run measured it; otherwise those of near ranks."""
    if fits is None or near_costs.message.place == NETWORK:
        return near_costs
    for level in LEVELS_BY_DISTANCE[distance]:
        if not level or level == near_costs.message.place:
            return near_costs
        fit = usable_fit(fits, level, near_costs.message.buffers)
        if fit is not None:
            message = costs_from_fit(fit, name="", title="", source=near_costs.message.source)
            message = replace(
                message,
                eager_limit=near_costs.message.eager_limit,
                place=level,
                buffers=near_costs.message.buffers,
            )
            return measured_costs(fits, message, communication.end)
    return near_costs


def _hidden_shares(fits: Fits | None) -> list[tuple[float, float]]:
    """The hidden share of messages by size, as IMB defines it, from cases that overlap messages with
    computation."""
    if fits is None:
        return []
    workloads = {
        workload_item.name: workload_item
        for workload_item in fits.workloads
        if workload_item.role == "overlap"
    }
    shares_by_size: dict[float, list[float]] = {}
    for summary in fits.summaries:
        case = parse_canonical(summary.case)
        workload, share = workloads.get(case.workload), summary.metrics.get("overlap")
        if workload is None or workload.operation != "message" or share is None or case.number("tests") > 0:
            continue
        size = workload.size_of(case)
        shares_by_size.setdefault(max(size, 1.0), []).append(min(1.0, max(0.0, share.typical.value / 100)))
    return sorted((size, float(np.mean(shares))) for size, shares in shares_by_size.items())


def _uncontended_layer_costs(costs: MeasuredCosts, layer: Layer, mode: Mode) -> LayerCosts:
    sizes = np.broadcast_to(np.asarray(layer.size, dtype=float), layer.source.shape)
    distinct_sizes, size_indices = np.unique(sizes, return_inverse=True)
    costs_by_size = [costs.parts(float(size)) for size in distinct_sizes]

    def column(name: str) -> np.ndarray:
        return np.array([getattr(size_costs, name) for size_costs in costs_by_size])[size_indices.reshape(-1)]

    return LayerCosts(
        eager=sizes <= costs.message.eager_limit,
        overhead=column("send"),
        flight=column("flight"),
        receive=column("receive"),
        gap=column("gap"),
        gap_holds=costs.message.place != NETWORK,
        exchange=column("exchange") if mode is Mode.EXCHANGE else 0.0,
    )


def _renumber(values: np.ndarray) -> np.ndarray:
    """Number equal values by their first occurrence, so that equal partitions have equal numbers."""
    _, first_indices, indices = np.unique(values, return_index=True, return_inverse=True)
    return np.asarray(first_indices[indices.reshape(-1)])


class PlatformMachine(PlatformCosts):
    """A described machine whose cores are filled by `ranks` ranks, node by node."""

    waits_for_bytes = False

    def __init__(self, communication: Communication, ranks: int) -> None:
        assert communication.platform is not None, "a description"
        super().__init__(with_processor_time_as_latency(communication.platform), ranks)
        self.communication = communication
        self.ranks = ranks

    def hidden_share(self, size: np.ndarray) -> np.ndarray:
        """The share that messages between nodes leave to computation. Processors handle the remainder."""
        platform = self.communication.platform
        assert platform is not None
        return np.array([platform.segment(float(each)).hideable_share(float(each)) for each in size])

    def level(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        node_level = np.where(source == target, 0, g.LEVELS.index("node"))
        return np.where(self.node[source] == self.node[target], node_level, g.LEVELS.index("network"))

    def pair_classes(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        level = self.level(source, target)
        if not self.by_place:
            return level
        steps = self._hops(self.node[source], self.node[target]) / self.platform.network.hop_s
        return np.asarray(level + 8 * np.rint(steps).astype(np.int64))

    def uncontended_costs(self, layer: Layer, mode: Mode) -> LayerCosts:
        # Messages of ranks that also receive are posted.
        return self.of(layer, Mode.POSTED if mode is Mode.EXCHANGE else mode)

    def pattern(self, ranks: np.ndarray) -> bytes:
        return (self.node[ranks] if self.by_place else _renumber(self.node[ranks])).tobytes()


def make_machine(communication: Communication, placement: Placement, fits: Fits | None = None) -> Machine:
    """The machine with these costs. If they come from a description, it places the ranks itself."""
    if communication.platform is not None:
        return PlatformMachine(communication, len(placement.host))
    return MeasuredMachine(communication, placement, fits)


def cost_rows(
    costs: LayerCosts, level: np.ndarray, count: int, empty_flight: np.ndarray | float
) -> np.ndarray:
    """Rows of the table of costs. `empty_flight` is the time of flight of an empty message."""
    table = np.zeros(count, COST)
    table["overhead"], table["receive"], table["gap"] = costs.overhead, costs.receive, costs.gap
    # Crossing messages are never faster.
    table["exchange"] = np.maximum(costs.exchange, 0.0)
    table["eager"], table["gap_holds"] = costs.eager, costs.gap_holds
    table["latency"] = np.clip(costs.flight, 0.0, empty_flight)
    table["transfer"] = np.maximum(costs.flight - table["latency"], 0.0)
    table["level"] = level
    return table


def set_byte_shares(table: np.ndarray, costs: LayerCosts, empty: LayerCosts) -> None:
    """Set the shares of the gap and of the receive overhead on a network that are caused by bytes: the
    difference from an empty message."""
    is_network = table["level"] == g.LEVELS.index("network")
    for name, total_s, empty_s in (
        ("moving_gap", costs.gap, empty.gap),
        ("moving_receive", costs.receive, empty.receive),
    ):
        total = np.broadcast_to(np.asarray(total_s, dtype=float), len(table))
        byte_s = np.clip(total - empty_s, 0.0, None)
        share = np.divide(byte_s, total, out=np.zeros(len(table)), where=total > 0)
        table[name] = np.where(is_network, np.rint(FULL_SHARE * np.minimum(share, 1.0)), 0)


def send_calls(graph: Graph) -> np.ndarray:
    """The call with which the program sends each message."""
    ops, calls = graph.ops, np.full(len(graph.messages), START, dtype=np.uint8)
    sends = np.flatnonzero((ops["kind"] == g.SEND) & ((ops["flags"] & (g.BLOCKING | g.ONE_SIDED)) > 0))
    flags = ops["flags"][sends]
    next_ops = ops[np.minimum(sends + 1, max(len(ops) - 1, 0))]
    is_exchange = (next_ops["kind"] == g.RECEIVE) & ((next_ops["flags"] & g.TOGETHER) > 0)
    one_sided = np.where(flags & g.BUFFERED, PUT, GET)
    calls[ops["slot"][sends]] = np.where(
        flags & g.ONE_SIDED, one_sided, np.where(is_exchange, EXCHANGE, SEND)
    )
    return calls


def message_costs(graph: Graph, machine: Machine) -> tuple[np.ndarray, np.ndarray]:
    """Rows of costs, and the row of each message."""
    messages = graph.messages
    calls = send_calls(graph)
    source = messages["source"]
    target = np.where(calls >= PUT, messages["tag"], messages["target"])
    sizes, size = np.unique(messages["size"], return_inverse=True)
    pair_call = machine.pair_classes(source, target).astype(np.int64) * 5 + calls
    key = pair_call * max(len(sizes), 1) + size.reshape(-1)
    _, first_messages, rows = np.unique(key, return_index=True, return_inverse=True)
    table = np.zeros(len(first_messages), COST)
    for call in np.unique(calls[first_messages]).tolist():
        call_rows = np.flatnonzero(calls[first_messages] == call)
        samples = first_messages[call_rows]
        table[call_rows] = _price_messages(
            machine, source[samples], target[samples], messages["size"][samples].astype(float), call
        )
    return table, rows.reshape(-1).astype(np.uint32)


def _price_messages(
    machine: Machine, source: np.ndarray, target: np.ndarray, size: np.ndarray, call: int
) -> np.ndarray:
    """The costs of messages whose data was written just before they are sent. If the run measured messages of
    such data, its costs contain this; otherwise it is added."""
    mode = {SEND: Mode.BLOCKING, EXCHANGE: Mode.EXCHANGE}.get(call, Mode.POSTED)
    source, target = source.astype(np.int64), target.astype(np.int64)
    costs = machine.uncontended_costs(Layer(source, target, size), mode)
    if machine.communication.message.buffers != WRITTEN:
        is_remote = source != target
        costs = replace(costs, flight=costs.flight + np.where(is_remote, machine.refreshing(size), 0.0))
    empty_costs = machine.uncontended_costs(Layer(source, target, np.zeros(len(size))), mode)
    table = cost_rows(costs, machine.level(source, target), len(size), empty_costs.flight)
    if machine.waits_for_bytes:
        set_byte_shares(table, costs, empty_costs)
    if call in (PUT, GET):
        table["eager"] = 1
        # A real get is a request and a reply; in SimGrid, its message starts at once.
        table["latency"] *= 2 if call == GET and machine.communication.platform is None else 1
    return table


@dataclass(frozen=True)
class NetworkChange:
    """A change of the network or software: added seconds, and factors, for each message of a `level` ("":
    all). `bandwidth` divides the time that is proportional to the bytes, including its part of gaps and, on a
    network, of receive overheads; the remainder of these is overhead."""

    level: str = ""
    added_latency_s: float = 0.0
    latency: float = 1.0
    added_overhead_s: float = 0.0
    overhead: float = 1.0
    bandwidth: float = 1.0


def with_network_change(costs: np.ndarray, rounds: np.ndarray, change: NetworkChange) -> np.ndarray:
    """The costs after a change. A row with more than one of `rounds` is a collective with unknown messages,
    whose latency contains their overheads."""
    new_costs = costs.copy()
    gap_bytes_s, receive_bytes_s = byte_times(new_costs)
    has_level = np.ones(len(new_costs), dtype=bool)
    if change.level:
        has_level = new_costs["level"] == g.LEVELS.index(change.level)
    added_s = np.where(
        rounds > 1, change.added_latency_s + 2 * change.added_overhead_s, change.added_latency_s
    )
    new_costs["latency"][has_level] *= change.latency
    new_costs["latency"][has_level] += (rounds * added_s)[has_level]
    for name, bytes_s in (("overhead", 0.0), ("receive", receive_bytes_s), ("gap", gap_bytes_s)):
        seconds = (new_costs[name] - bytes_s) * change.overhead + bytes_s / change.bandwidth
        if name != "gap":
            seconds += np.where(rounds > 1, 0.0, change.added_overhead_s)
        new_costs[name][has_level] = seconds[has_level]
    for name in ("transfer", "exchange"):
        new_costs[name][has_level] /= change.bandwidth
    return new_costs
