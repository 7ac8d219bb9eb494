# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a message schedule on a described machine under LogGP, with a clock for each rank.

A small message (up to the eager limit) leaves its sender after the overhead and arrives after L + hops + G x.
Its receiver spends the overhead from the arrival or from the receiving call, whichever is later. A large
message waits until both sides are ready, and occupies both until it is complete. Messages do not slow each
other down: if links or a medium are shared, times are lower bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from hockney.core.platform import Platform, Segment
from hockney.models.distances import cables_between
from hockney.models.schedules import Layer, Mode, NotModelled, Step

Seconds = float | np.ndarray
"""Costs of all messages of a layer, or of each."""


@dataclass(frozen=True)
class LayerCosts:
    """LogGP costs of a layer's messages. `overhead` is the sender's for its kind of call. With `gap_holds`, a
    sender does nothing else until the gap after its last message is over."""

    eager: bool | np.ndarray
    overhead: Seconds
    flight: Seconds
    receive: Seconds
    gap: Seconds
    gap_holds: bool | np.ndarray = True
    exchange: Seconds = 0.0
    """The additional time of a receive if the receiver's own message crossed this one."""


class StepCosts(Protocol):
    """Costs of a machine that are used to run a schedule."""

    def of(self, layer: Layer, mode: Mode) -> LayerCosts: ...

    def copying(self, size: float | np.ndarray) -> Seconds:
        """Seconds to copy `size` bytes within a rank."""

    def combining(self, size: float | np.ndarray) -> Seconds:
        """Seconds to combine two buffers of `size` bytes."""

    def refreshing(self, size: float | np.ndarray) -> Seconds:
        """Additional seconds of a message whose sender has just written its `size` bytes."""


class LogGPSimulator:
    """Simulates `ranks` ranks on `platform`, which fill one node's cores after another; all begin at 0. `now`
    is each rank's time: after the last step of a schedule, the time at which it leaves. `costs` replaces the
    costs of a platform, `start` contains the times at which the ranks begin."""

    def __init__(
        self,
        platform: Platform | None,
        ranks: int,
        costs: StepCosts | None = None,
        start: np.ndarray | None = None,
    ) -> None:
        self.ranks = ranks
        self.now = np.zeros(ranks) if start is None else start.copy()
        self.free = np.zeros(ranks)
        """When each rank may send again: LogGP's gap."""
        self._under_way = np.full(ranks, -np.inf)
        """When each rank's last message arrives."""
        if costs is None:
            assert platform is not None, "a platform, or costs in its place"
            if platform.processors_work:
                raise NotModelled("messages that take the time of processors")
            costs = PlatformCosts(platform, ranks)
        self._costs: StepCosts = costs
        self._wrote = np.zeros(ranks, dtype=bool)
        """Which ranks have copied, combined or received data."""

    def run(self, steps: Iterable[Step]) -> np.ndarray:
        """Run the steps and return each rank's time after them."""
        for step in steps:
            self.take(step)
        return self.now

    def take(self, step: Step) -> None:
        """Run one step. Raises NotModelled for large messages in several layers, unless they are posted, and
        for ranks that send large messages before they receive."""
        if step.joins:
            self.now[:] = self.now.max()
        if step.copied is not None:
            ranks, size = step.copied
            self.now[ranks] += self._costs.copying(size)
            self._wrote[ranks] = True
        costs = tuple(self._costs.of(layer, step.mode) for layer in step.layers)
        if not step.untouched:
            costs = tuple(map(self._refreshed, step.layers, costs))
        if not step.layers:
            self._compute(step)
        elif len(step.layers) == 1 and step.mode is not Mode.POSTED:
            self._one_layer(step, step.layers[0], costs[0])
        else:
            self._several_layers(step, costs)
        for layer in step.layers:
            self._wrote[layer.target] = True
        if step.combine:
            for layer in step.layers:
                self.now[layer.target] += self._costs.combining(layer.size)

    def _refreshed(self, layer: Layer, cost: LayerCosts) -> LayerCosts:
        """Costs including the extra time for data that the sender has just written."""
        more = self._costs.refreshing(layer.size)
        if not np.any(more):
            return cost
        return replace(cost, flight=cost.flight + np.where(self._wrote[layer.source], more, 0.0))

    def _compute(self, step: Step) -> None:
        if step.computed is not None:
            self.now += step.computed

    def _one_layer(self, step: Step, layer: Layer, cost: LayerCosts) -> None:
        if np.all(cost.eager):
            self._eager(step, layer, cost)
        elif step.mode is Mode.EXCHANGE:
            self._large_exchange(step, layer, cost)
        elif step.computed is None and not np.isin(layer.source, layer.target).any():
            self._blocking(layer, cost)
        else:
            raise NotModelled("ranks that send large messages before they receive")

    def _send(self, layer: Layer, cost: LayerCosts) -> np.ndarray:
        """Arrival times of the messages of a layer."""
        called = self.now[layer.source] + cost.overhead
        start = np.maximum(called, self.free[layer.source])
        self.now[layer.source] = np.where(cost.gap_holds, start, called)
        self.free[layer.source] = start + cost.gap
        self._under_way[layer.source] = start + cost.flight
        return start + cost.flight

    def _eager(self, step: Step, layer: Layer, cost: LayerCosts) -> None:
        target = layer.target
        arrival = self._send(layer, cost)
        self._compute(step)
        ready = np.maximum(self.now[target], arrival) + cost.receive
        if step.mode is Mode.EXCHANGE and np.any(cost.exchange):
            own = np.full(self.ranks, -np.inf)
            own[layer.source] = arrival
            ready += np.where(_crosses(own[target], arrival, cost.flight), cost.exchange, 0.0)
        self.now[target] = ready

    def _several_layers(self, step: Step, costs: tuple[LayerCosts, ...]) -> None:
        large = not all(np.all(cost.eager) for cost in costs)
        if large and step.mode is not Mode.POSTED:
            raise NotModelled("large messages in several layers")
        targets = np.unique(np.concatenate([layer.target for layer in step.layers]))
        arrivals = np.full((len(costs), len(targets)), np.inf)
        posted, complete = self.now.copy(), self.now.copy()
        """When each rank has posted its receives, and when its own large messages have arrived."""
        own = np.full(self.ranks, -np.inf)
        """When the last of a rank's own messages arrives."""
        for row, layer, cost in zip(arrivals, step.layers, costs, strict=True):
            arrival = self._send(layer, cost)
            if large:
                # A large message sets out when both sides are ready. Its receive is part of its way.
                late = np.maximum(arrival, posted[layer.target] + cost.flight) + cost.receive
                late += np.where(np.isin(layer.target, layer.source), cost.exchange, 0.0)
                arrival = np.where(cost.eager, arrival, late)
                sent = np.where(cost.eager, 0.0, arrival)
                complete[layer.source] = np.maximum(complete[layer.source], sent)
            row[np.searchsorted(targets, layer.target)] = own[layer.source] = arrival
        self._compute(step)
        order = None if _are_uniform(costs) and not large else np.argsort(arrivals, axis=0, kind="stable")
        if order is None:
            arrivals.sort(axis=0)
        else:
            arrivals = np.take_along_axis(arrivals, order, 0)

        def part(name: str) -> Seconds:
            """This part of the costs, in the order of arrival."""
            if order is None:
                return getattr(costs[0], name)
            parts = np.zeros(arrivals.shape)
            for row, layer, cost in zip(parts, step.layers, costs, strict=True):
                value = getattr(cost, name)
                if name in ("receive", "exchange"):
                    value = np.where(cost.eager, value, 0.0)  # part of a large message's way
                row[np.searchsorted(targets, layer.target)] = value
            return np.take_along_axis(parts, order, 0)

        busy = np.broadcast_to(part("receive"), arrivals.shape)
        crossing = any(np.any(cost.exchange) for cost in costs)
        if step.mode is Mode.EXCHANGE and crossing:
            crosses = _crosses(own[targets], arrivals, part("flight"))
            busy = busy + np.where(crosses, part("exchange"), 0.0)
        now, posted_crossing = self.now[targets], step.mode is Mode.POSTED and crossing
        if posted_crossing:
            one_way = np.broadcast_to(part("overhead") + part("flight") + part("receive"), arrivals.shape)
            exchange = np.broadcast_to(part("exchange"), arrivals.shape)
            sent = self._under_way[targets]
        for number, (arrival, receive) in enumerate(zip(arrivals, busy, strict=True)):
            begin = np.maximum(now, arrival)
            end = begin + receive
            if posted_crossing:
                # Both messages are still under way, or were until shortly before.
                crosses = (sent > begin - one_way[number] / 2) & (arrival > begin - one_way[number])
                end += np.where(crosses, exchange[number], 0.0)
            now = np.where(arrival < np.inf, end, now)
        self.now[targets] = now
        if large:
            self.now = np.maximum(self.now, complete)

    def _blocking(self, layer: Layer, cost: LayerCosts) -> None:
        """MPI_Send and MPI_Recv calls, some of which wait for each other."""
        source, target = layer.source, layer.target
        start = np.maximum(self.now[source] + cost.overhead, self.free[source])
        arrived = np.maximum(self.now[target], start + cost.flight) + cost.receive
        together = np.maximum(self.now[source], self.now[target])
        over = together + cost.overhead + cost.flight + cost.receive
        self.free[source] = np.where(cost.eager, start + cost.gap, self.free[source])
        self.now[source] = np.where(cost.eager, start, over)
        self.now[target] = np.where(cost.eager, arrived, over)

    def _large_exchange(self, step: Step, layer: Layer, cost: LayerCosts) -> None:
        source, target = layer.source, layer.target
        posted = self.now.copy()
        posted[source] = self.now[source] + cost.overhead
        self.free[source] = posted[source] + cost.gap
        self._compute(step)
        together = np.maximum(posted[source], posted[target])
        exchange = np.where(np.isin(target, source), cost.exchange, 0.0)
        over = together + cost.flight + cost.receive + exchange
        self.now[target] = np.maximum(self.now[target], over)
        self.now[source] = np.maximum(self.now[source], over)


class PlatformCosts:
    """Costs of messages between pairs of ranks by size and by the ranks' nodes."""

    def __init__(self, platform: Platform, ranks: int) -> None:
        self.platform = platform
        self.between = _SegmentCosts(platform.segments)
        self.on_node = _SegmentCosts(platform.on_node or platform.segments)
        self.node = nodes_of(platform, ranks)
        network = platform.network
        self.by_place = bool(network.hop_s) and network.shape not in ("switch", "bus")
        self.shares_nodes = bool(platform.on_node) or bool(network.hop_s)
        self.shares_nodes = self.shares_nodes and len(np.unique(self.node)) < ranks

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        source, target = self.node[layer.source], self.node[layer.target]
        size = layer.size
        local = source == target
        mixed = self.shares_nodes and bool(local.any())

        def part(name: str) -> Seconds:
            seconds = self.between.at(name, size)
            if name == "flight":
                seconds = seconds + self._hops(source, target)
            return np.where(local, self.on_node.at(name, size), seconds) if mixed else seconds

        return LayerCosts(
            eager=np.asarray(size) <= self.platform.eager,
            overhead=self._overhead(layer, mode, part),
            flight=part("flight"),
            receive=part("receive"),
            gap=part("gap"),
            exchange=part("exchange") if mode is not Mode.BLOCKING else 0.0,
        )

    def _overhead(self, layer: Layer, mode: Mode, part: Callable[[str], Seconds]) -> Seconds:
        if mode is Mode.POSTED:
            return part("isend")
        send = part("send")
        if mode is Mode.BLOCKING:
            return send
        isend = part("isend")
        if np.array_equal(send, isend):
            return isend
        return np.where(np.isin(layer.source, layer.target), isend, send)

    def copying(self, size: float | np.ndarray) -> Seconds:
        """A description has no costs of copies."""
        return 0.0

    def combining(self, size: float | np.ndarray) -> Seconds:
        return self.platform.sum_s_per_byte * size

    def refreshing(self, size: float | np.ndarray) -> Seconds:
        """A description has no costs of caches."""
        return 0.0

    def _hops(self, source: np.ndarray, target: np.ndarray) -> Seconds:
        """Seconds to traverse the cables between routers."""
        network = self.platform.network
        if not self.by_place:
            return network.hop_s if network.shape == "bus" else 0.0
        return cables_between(network, source, target) * network.hop_s


class _SegmentCosts:
    """Each part of a message's cost by its size, for one list of segments."""

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        self.first = np.array([s.first for s in segments], dtype=float)
        self.lines = {
            part: (
                np.array([_value_or_default(s, f"{part}_s") for s in segments]),
                np.array([_value_or_default(s, f"{part}_s_per_byte") for s in segments]),
            )
            for part in ("send", "isend", "receive", "gap", "exchange")
        }
        latency = np.array([s.latency_s for s in segments])
        self.lines["flight"] = latency, np.array([s.per_byte_s for s in segments])

    def at(self, part: str, size: float | np.ndarray) -> Seconds:
        """Seconds of `part` for messages of `size` bytes."""
        fixed, per_byte = self.lines[part]
        if len(self.first) == 1:
            return fixed[0] + per_byte[0] * size
        segment = np.searchsorted(self.first, size, side="right") - 1
        return fixed[segment] + per_byte[segment] * size


def _crosses(own: np.ndarray, arrival: np.ndarray, flight: Seconds) -> np.ndarray:
    """Whether the receiver's own last message, which arrives at `own`, is still in flight when this message
    is half way. If messages take no time between the ranks, they cross if they arrive together."""
    return (own > arrival - flight / 2) | (own >= arrival)


def _are_uniform(costs: tuple[LayerCosts, ...]) -> bool:
    """Whether all messages of all layers cost the same."""
    parts = [(c.flight, c.receive, c.exchange) for c in costs]
    return all(np.ndim(part) == 0 for layer in parts for part in layer) and len(set(parts)) == 1


def _value_or_default(segment: Segment, name: str) -> float:
    value = getattr(segment, name)
    if value is None:
        value = getattr(segment, name.replace("isend", "send"))
    return float(value)


def nodes_of(platform: Platform, ranks: int) -> np.ndarray:
    """Node of each rank."""
    nodes: list[np.ndarray] = []
    first, left = 0, ranks
    for group in platform.nodes:
        count = min(group.count, -(-left // group.cores))
        nodes.append(np.repeat(np.arange(first, first + count), group.cores)[:left])
        first += group.count
        left -= len(nodes[-1])
        if left <= 0:
            break
    return np.concatenate(nodes)


def message_startup(platform: Platform, ranks: int) -> float:
    """Seconds that a message of any size costs a rank whose neighbors also send: its own and the receiver's
    or, on a medium, those of a message of every node. 0 if the description has neither."""
    nodes = int(nodes_of(platform, ranks)[-1]) + 1
    handling = sum(platform.segment(0, on_node=nodes == 1).handling(0))
    return max(handling, nodes * platform.network.medium_message_s if nodes > 1 else 0.0)
