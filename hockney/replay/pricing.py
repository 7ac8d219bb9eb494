# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the messages of a traced program cost on a machine: as a run measured them between two ranks, at the
level of each pair of ranks, or as a machine's description has them."""

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
from hockney.profiles import rank_file as form
from hockney.profiles.machine_costs import LEVELS_OF
from hockney.replay import graph as g
from hockney.replay.building import Placement
from hockney.replay.graph import COST, WHOLE, Graph, byte_times

WITHIN = (form.SELF, form.CORE, form.PACKAGE, form.NODE)
"""Distances within a node, in the order of LEVELS."""
SEND, EXCHANGE, START, PUT, GET = range(5)
"""How a program sends a message: MPI_Send, MPI_Sendrecv, MPI_Isend, or one-sided."""


class Machine(StepCosts, Protocol):
    """The costs of messages between the ranks of a program."""

    communication: Communication
    waits_for_bytes: bool
    """Whether a receiver waits in its call for bytes that are under way on a network: as measured, its
    overhead contains that."""

    def level(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """How far messages go: places in LEVELS."""
        ...

    def pairs(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """Numbers that are equal if messages between two pairs of ranks cost the same."""
        ...

    def uncontended(self, layer: Layer, mode: Mode) -> LayerCosts:
        """The costs of messages that share nothing, not even their ranks, with each other. `POSTED` ones do
        not all leave at once."""
        ...

    def pattern(self, ranks: np.ndarray) -> bytes:
        """Equal for groups of ranks whose messages cost the same."""
        ...

    def hidden(self, size: np.ndarray) -> np.ndarray:
        """The share of messages of so many bytes that computation can hide, at most 1."""
        ...


class MeasuredMachine:
    """A measured machine with ranks at `placement`. `costs` are by level; those of a level that was not
    measured are those of a similar one. `fits` tell levels within a node apart."""

    waits_for_bytes = True

    def __init__(self, communication: Communication, placement: Placement, fits: Fits | None = None) -> None:
        between = communication.measured
        assert between is not None, "a run with a ping-pong"
        near = communication.measured_within_node or between
        self.communication, self.placement = communication, placement
        self.costs = [*(_of_distance(fits, each, near, communication) for each in WITHIN), between]
        self.copy = near.copy if near.copy.sizes else between.copy
        self.combine = near.combine if near.combine.sizes else between.combine
        self.fresh = near.fresh if near.fresh.sizes else between.fresh
        lonely = communication.measured_within_node is None and between.message.place == NETWORK
        self._nodes = 1 if lonely else placement.host
        self._hidden = _hidden_shares(fits)

    def level(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        return self.placement.level(source, target)

    pairs = level

    def pattern(self, ranks: np.ndarray) -> bytes:
        at = self.placement
        return b"".join(_renumbered(each[ranks]).tobytes() for each in (at.host, at.package, at.core))

    def hidden(self, size: np.ndarray) -> np.ndarray:
        """Between the sizes that the run measured, without tests of the messages; all of it if it did not."""
        if not self._hidden:
            return np.ones(len(size))
        sizes, shares = zip(*self._hidden, strict=True)
        return np.interp(np.log2(np.maximum(size, 1)), np.log2(sizes), shares)

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        return self._by_level(layer, lambda costs, part: shared_on_nodes(costs, part, mode, self._nodes))

    def uncontended(self, layer: Layer, mode: Mode) -> LayerCosts:
        found = self._by_level(layer, lambda costs, part: _each(costs, part, mode))
        return self._to_itself(found, layer) if (layer.source == layer.target).any() else found

    def _to_itself(self, costs: LayerCosts, layer: Layer) -> LayerCosts:
        """A message to its own rank is a copy, made by either of its calls."""
        own = layer.source == layer.target
        if not self.copy.sizes:
            return costs
        send_s, _, receive_s, _ = self.costs[0].overheads
        return LayerCosts(
            eager=costs.eager | own,
            overhead=np.where(own, send_s, costs.overhead),
            flight=np.where(own, 0.0, costs.flight),
            receive=np.where(own, receive_s + self.copying(layer.size), costs.receive),
            gap=np.where(own, 0.0, costs.gap),
            gap_holds=costs.gap_holds,
            exchange=np.where(own, 0.0, costs.exchange),
        )

    def _by_level(self, layer: Layer, of: Callable[[MeasuredCosts, Layer], LayerCosts]) -> LayerCosts:
        level = self.level(layer.source, layer.target)
        used = {id(self.costs[number]): self.costs[number] for number in np.unique(level).tolist()}
        if len(used) == 1:
            return of(next(iter(used.values())), layer)
        merged = {each.name: np.empty(level.shape) for each in fields(LayerCosts)}
        for costs in used.values():
            where = np.isin(level, [k for k, each in enumerate(self.costs) if each is costs])
            size = layer.size if np.ndim(layer.size) == 0 else np.asarray(layer.size)[where]
            part = of(costs, Layer(layer.source[where], layer.target[where], size))
            for name, values in merged.items():
                values[where] = getattr(part, name)
        flags = {name: merged.pop(name).astype(bool) for name in ("eager", "gap_holds")}
        return LayerCosts(**flags, **merged)

    def copying(self, size: float | np.ndarray) -> np.ndarray:
        return self.copy.at(size)

    def combining(self, size: float | np.ndarray) -> np.ndarray:
        return self.combine.at(size)

    def refreshing(self, size: float | np.ndarray) -> np.ndarray:
        return self.fresh.at(size)


def _of_distance(
    fits: Fits | None, distance: int, near: MeasuredCosts, communication: Communication
) -> MeasuredCosts:
    """The costs of a distance's own level, if the run has them."""
    if fits is None or near.message.place == NETWORK:
        return near
    for level in LEVELS_OF[distance]:
        if not level or level == near.message.place:
            return near
        fit = usable_fit(fits, level, near.message.buffers)
        if fit is not None:
            message = costs_from_fit(fit, name="", title="", source=near.message.source)
            message = replace(
                message, eager_limit=near.message.eager_limit, place=level, buffers=near.message.buffers
            )
            return measured_costs(fits, message, communication.end)
    return near


def _hidden_shares(fits: Fits | None) -> list[tuple[float, float]]:
    """The hidden share of messages by size, by IMB's definition, from the cases that overlap messages with
    computation."""
    if fits is None:
        return []
    workloads = {each.name: each for each in fits.workloads if each.role == "overlap"}
    found: dict[float, list[float]] = {}
    for summary in fits.summaries:
        case = parse_canonical(summary.case)
        workload, share = workloads.get(case.workload), summary.metrics.get("overlap")
        if workload is None or workload.operation != "message" or share is None or case.number("tests") > 0:
            continue
        size = workload.size_of(case)
        found.setdefault(max(size, 1.0), []).append(min(1.0, max(0.0, share.typical.value / 100)))
    return sorted((size, float(np.mean(shares))) for size, shares in found.items())


def _each(costs: MeasuredCosts, layer: Layer, mode: Mode) -> LayerCosts:
    sizes = np.broadcast_to(np.asarray(layer.size, dtype=float), layer.source.shape)
    distinct, which = np.unique(sizes, return_inverse=True)
    parts = [costs.parts(float(size)) for size in distinct]

    def part(name: str) -> np.ndarray:
        return np.array([getattr(each, name) for each in parts])[which.reshape(-1)]

    return LayerCosts(
        eager=sizes <= costs.message.eager_limit,
        overhead=part("send"),
        flight=part("flight"),
        receive=part("receive"),
        gap=part("gap"),
        gap_holds=costs.message.place != NETWORK,
        exchange=part("exchange") if mode is Mode.EXCHANGE else 0.0,
    )


def _renumbered(values: np.ndarray) -> np.ndarray:
    """The same partition for any numbers: by first appearance."""
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    return np.asarray(first[which.reshape(-1)])


class PlatformMachine(PlatformCosts):
    """A described machine, whose cores `ranks` ranks fill node by node."""

    waits_for_bytes = False

    def __init__(self, communication: Communication, ranks: int) -> None:
        assert communication.platform is not None, "a description"
        super().__init__(with_processor_time_as_latency(communication.platform), ranks)
        self.communication = communication
        self.ranks = ranks

    def hidden(self, size: np.ndarray) -> np.ndarray:
        return np.ones(len(size))

    def level(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        near = np.where(source == target, 0, g.LEVELS.index("node"))
        return np.where(self.node[source] == self.node[target], near, g.LEVELS.index("network"))

    def pairs(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        level = self.level(source, target)
        if not self.by_place:
            return level
        steps = self._hops(self.node[source], self.node[target]) / self.platform.network.hop_s
        return np.asarray(level + 8 * np.rint(steps).astype(np.int64))

    def uncontended(self, layer: Layer, mode: Mode) -> LayerCosts:
        # That of ranks which receive too is posted.
        return self.of(layer, Mode.POSTED if mode is Mode.EXCHANGE else mode)

    def pattern(self, ranks: np.ndarray) -> bytes:
        return (self.node[ranks] if self.by_place else _renumbered(self.node[ranks])).tobytes()


def machine_of(communication: Communication, placement: Placement, fits: Fits | None = None) -> Machine:
    """The machine of these costs, whose description places the ranks itself."""
    if communication.platform is not None:
        return PlatformMachine(communication, len(placement.host))
    return MeasuredMachine(communication, placement, fits)


def rows(costs: LayerCosts, level: np.ndarray, count: int, least_flight: np.ndarray | float) -> np.ndarray:
    """Rows of the table of costs. `least_flight` is the part of the time in flight of an empty message."""
    made = np.zeros(count, COST)
    made["overhead"], made["receive"], made["gap"] = costs.overhead, costs.receive, costs.gap
    # Messages that cross are never quicker.
    made["exchange"] = np.maximum(costs.exchange, 0.0)
    made["eager"], made["gap_holds"] = costs.eager, costs.gap_holds
    made["latency"] = np.clip(costs.flight, 0.0, least_flight)
    made["transfer"] = np.maximum(costs.flight - made["latency"], 0.0)
    made["level"] = level
    return made


def set_byte_shares(made: np.ndarray, costs: LayerCosts, empty: LayerCosts) -> None:
    """Set the shares of the gap and of receiving on a network that are due to bytes: what an empty message
    lacks."""
    far = made["level"] == g.LEVELS.index("network")
    for name, full, none in (
        ("moving_gap", costs.gap, empty.gap),
        ("moving_receive", costs.receive, empty.receive),
    ):
        whole = np.broadcast_to(np.asarray(full, dtype=float), len(made))
        more = np.clip(whole - none, 0.0, None)
        share = np.divide(more, whole, out=np.zeros(len(made)), where=whole > 0)
        made[name] = np.where(far, np.rint(WHOLE * np.minimum(share, 1.0)), 0)


def calls_of(graph: Graph) -> np.ndarray:
    """How the program sends each message."""
    ops, found = graph.ops, np.full(len(graph.messages), START, dtype=np.uint8)
    sends = np.flatnonzero((ops["kind"] == g.SEND) & ((ops["flags"] & (g.BLOCKING | g.ONE_SIDED)) > 0))
    flags = ops["flags"][sends]
    after = ops[np.minimum(sends + 1, max(len(ops) - 1, 0))]
    exchanges = (after["kind"] == g.RECEIVE) & ((after["flags"] & g.TOGETHER) > 0)
    one_sided = np.where(flags & g.BUFFERED, PUT, GET)
    found[ops["slot"][sends]] = np.where(flags & g.ONE_SIDED, one_sided, np.where(exchanges, EXCHANGE, SEND))
    return found


def message_costs(graph: Graph, machine: Machine) -> tuple[np.ndarray, np.ndarray]:
    """Rows of costs, and that of each message."""
    messages = graph.messages
    calls = calls_of(graph)
    source = messages["source"]
    target = np.where(calls >= PUT, messages["tag"], messages["target"])
    sizes, size = np.unique(messages["size"], return_inverse=True)
    kind = machine.pairs(source, target).astype(np.int64) * 5 + calls
    key = kind * max(len(sizes), 1) + size.reshape(-1)
    _, first, row = np.unique(key, return_index=True, return_inverse=True)
    made = np.zeros(len(first), COST)
    for call in np.unique(calls[first]).tolist():
        where = np.flatnonzero(calls[first] == call)
        one = first[where]
        made[where] = _priced(machine, source[one], target[one], messages["size"][one].astype(float), call)
    return made, row.reshape(-1).astype(np.uint32)


def _priced(
    machine: Machine, source: np.ndarray, target: np.ndarray, size: np.ndarray, call: int
) -> np.ndarray:
    """The data of a program's messages was written just before: if a run measured messages of such data, that
    is part of their costs."""
    mode = {SEND: Mode.BLOCKING, EXCHANGE: Mode.EXCHANGE}.get(call, Mode.POSTED)
    source, target = source.astype(np.int64), target.astype(np.int64)
    costs = machine.uncontended(Layer(source, target, size), mode)
    if machine.communication.message.buffers != WRITTEN:
        far = source != target
        costs = replace(costs, flight=costs.flight + np.where(far, machine.refreshing(size), 0.0))
    empty = machine.uncontended(Layer(source, target, np.zeros(len(size))), mode)
    made = rows(costs, machine.level(source, target), len(size), empty.flight)
    if machine.waits_for_bytes:
        set_byte_shares(made, costs, empty)
    if call in (PUT, GET):
        made["eager"] = 1
        made["latency"] *= 1 if call == PUT else 2
    return made


@dataclass(frozen=True)
class NetworkChange:
    """Another network or other software: added seconds, and factors, of each message of a `level` ("": all).
    `bandwidth` divides the time that is proportional to the bytes, also in gaps and, on a network, in
    receiving; the rest of these is overhead."""

    level: str = ""
    added_latency_s: float = 0.0
    latency: float = 1.0
    added_overhead_s: float = 0.0
    overhead: float = 1.0
    bandwidth: float = 1.0


def changed(costs: np.ndarray, rounds: np.ndarray, change: NetworkChange) -> np.ndarray:
    """The costs after a change. A row with several `rounds` is a collective whose messages are not known; its
    latency contains their overheads."""
    made = costs.copy()
    gap, receive = byte_times(made)
    where = np.ones(len(made), dtype=bool)
    if change.level:
        where = made["level"] == g.LEVELS.index(change.level)
    added_s = np.where(
        rounds > 1, change.added_latency_s + 2 * change.added_overhead_s, change.added_latency_s
    )
    made["latency"][where] *= change.latency
    made["latency"][where] += (rounds * added_s)[where]
    for name, bytes_s in (("overhead", 0.0), ("receive", receive), ("gap", gap)):
        seconds = (made[name] - bytes_s) * change.overhead + bytes_s / change.bandwidth
        if name != "gap":
            seconds += np.where(rounds > 1, 0.0, change.added_overhead_s)
        made[name][where] = seconds[where]
    for name in ("transfer", "exchange"):
        made[name][where] /= change.bandwidth
    return made
