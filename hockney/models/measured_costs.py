# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of a schedule's steps from what a run measured between two ranks: a message in one direction
(ping-pong), two that cross (MPI_Sendrecv with each other), messages that follow each other (a stream),
LogGP's overheads, copies and combinations, and data that their sender has written just before."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from hockney.core.case import HOT, PLACE, SETTING, Value
from hockney.core.fit import Estimate, Fit, Fits
from hockney.models.applications.message_costs import usable_fit
from hockney.models.applications.point_to_point_costs import PointToPointCosts, cost_piece, of_fit
from hockney.models.local_costs import LocalCost, local_cost
from hockney.models.loggp_sim import LayerCosts
from hockney.models.schedules import Layer, Mode

End = Literal["value", "low", "high"]
OVERHEADS = ("o_s", "O_s", "o_r", "O_r")


@dataclass(frozen=True)
class MessageParts:
    """Seconds of the parts of a message."""

    send: float
    flight: float
    receive: float
    gap: float
    exchange: float


@dataclass(frozen=True)
class MeasuredCosts:
    """`message`, `crossing` and `stream` are the costs of a message alone, of one that crosses another, and
    of one in a stream; None if not measured. `overheads` are LogGP's, in the order of OVERHEADS. `end`
    selects the value or an end of the interval of each time."""

    message: PointToPointCosts
    crossing: PointToPointCosts | None
    stream: PointToPointCosts | None
    overheads: tuple[float, float, float, float]
    copy: LocalCost
    combine: LocalCost
    fresh: LocalCost
    end: End = "value"

    @cached_property
    def _known(self) -> dict[tuple[float, int], MessageParts]:
        return {}

    def of(self, layer: Layer, mode: Mode) -> LayerCosts:
        """Messages that are posted at once do not wait for each other."""
        sizes = np.asarray(layer.size, dtype=float)
        at_once = len(layer.source) if self.message.shared else 1
        distinct, which = np.unique(sizes, return_inverse=True)
        parts = [self.parts(float(size), at_once) for size in distinct]

        def part(name: str) -> float | np.ndarray:
            seconds = np.array([getattr(each, name) for each in parts])
            return float(seconds[0]) if sizes.ndim == 0 else seconds[which.ravel()]

        return LayerCosts(
            eager=(sizes <= self.message.eager) | (mode is Mode.POSTED),
            overhead=part("send"),
            flight=part("flight"),
            receive=part("receive"),
            gap=part("gap"),
            exchange=part("exchange") if mode is Mode.EXCHANGE else 0.0,
        )

    def copying(self, size: float | np.ndarray) -> np.ndarray:
        return self.copy.at(size)

    def combining(self, size: float | np.ndarray) -> np.ndarray:
        return self.combine.at(size)

    def refreshing(self, size: float | np.ndarray) -> np.ndarray:
        return self.fresh.at(size)

    def parts(self, size: float, at_once: int = 1) -> MessageParts:
        """The parts of a message with `at_once` messages in flight."""
        found = self._known.get((size, at_once))
        if found is None:
            found = self._known[size, at_once] = self._divided(size, at_once)
        return found

    def _divided(self, size: float, at_once: int) -> MessageParts:
        whole = seconds(self.message, size, self.end)
        if at_once > 1:
            whole += (at_once - 1) * max(cost_piece(self.message.pieces, size).per_byte_s, 0.0) * size
        crossing = whole if self.crossing is None else seconds(self.crossing, size, self.end)
        send, more_s, receive, more_r = self.overheads
        send, receive = send + more_s * size, receive + more_r * size
        fits = min(1.0, whole / (send + receive)) if send + receive > 0 else 1.0
        send, receive = fits * send, fits * receive
        pace = 0.0 if self.stream is None else seconds(self.stream, size, self.end)
        # A message of a stream takes its share of the time at one end or the other.
        receive_busy = min(max(receive, pace), whole - send)
        return MessageParts(
            send=send,
            flight=whole - send - receive_busy,
            receive=receive_busy,
            gap=max(0.0, min(pace, whole) - send),
            exchange=max(crossing, 0.0) - whole if at_once == 1 else 0.0,
        )


def seconds(costs: PointToPointCosts, size: float, end: End) -> float:
    """The time of one message of `size` bytes, or an end of its interval."""
    time = max(costs.one_way(size), 0.0)
    if end == "value":
        return time
    low, high = costs.bounds(size) or (1.0, 1.0)
    return time * (low if end == "low" else high)


def measured_costs(fits: Fits, message: PointToPointCosts, end: End) -> MeasuredCosts:
    """Costs from the fits of a run whose messages cost `message`: on one level, within a node or between
    nodes, if both are known."""
    select: dict[End, Callable[[Estimate], float | None]] = {
        "value": lambda time: time.value,
        "low": lambda time: time.low,
        "high": lambda time: time.high,
    }

    buffers = message.buffers or HOT
    chosen = usable_fit(fits, message.place, buffers) or usable_fit(fits, buffers=buffers)
    values = {} if chosen is None else chosen.subject.values
    same = {name: values.get(name, "") for name in (SETTING, PLACE)}
    setting, place = str(same[SETTING]), message.place
    crossing = _hockney(fits, same, buffers, "point-to-point", "sendrecv")

    def exchange_s(size: float) -> float:
        return (crossing or message).one_way(size)

    value = select["value"]
    copy = local_cost(fits, "copy", exchange_s, value, setting=setting, place=place)
    combine = local_cost(fits, "combine", message.one_way, value, setting=setting, place=place)

    def scan_s(size: float) -> float:
        return message.one_way(size) + float(copy.at(size) + combine.at(size))

    return MeasuredCosts(
        message=message,
        crossing=crossing,
        stream=_hockney(fits, same, buffers, "stream"),
        overheads=_overheads(fits, same[PLACE]),
        copy=local_cost(fits, "copy", exchange_s, select[end], setting=setting, place=place),
        combine=local_cost(fits, "combine", message.one_way, select[end], setting=setting, place=place),
        fresh=local_cost(fits, "fresh", scan_s, value, setting=setting, place=place, rising=False),
        end=end,
    )


def _hockney(
    fits: Fits, same: Mapping[str, Value], buffers: str, role: str, operation: str = ""
) -> PointToPointCosts | None:
    """Message costs of the unidirectional workload, or of the only one, with such buffers, otherwise with hot
    ones, and the `same` launch setting and place; None without such a fit."""
    bidirectional = {w.name for w in fits.workloads if w.bidirectional and operation == ""}
    usable = [
        fit
        for fit in fits.select_by_role("hockney", role, operation)
        if fit.verdict != "refused"
        and fit.segments
        and fit.subject.matches(ranks=2)
        and fit.subject.get("buffers", HOT) in (buffers, HOT)
        and all(fit.subject.get(name, "") == value for name, value in same.items())
        and fit.subject.workload not in bidirectional
    ]
    best = min(usable, key=lambda fit: fit.subject.get("buffers", HOT) != buffers, default=None)
    return None if best is None else of_fit(best, name="", title="", source=best.line)


def _overheads(fits: Fits, place: Value) -> tuple[float, float, float, float]:
    found: Fit | None = next(
        (
            fit
            for fit in fits.fits
            if fit.model == "loggp" and fit.verdict != "refused" and fit.subject.get(PLACE, "") == place
        ),
        None,
    )
    if found is None:
        return 0.0, 0.0, 0.0, 0.0
    values = []
    for symbol in OVERHEADS:
        parameter = found.parameter(symbol)
        value = parameter.estimate.value if parameter is not None else 0.0
        values.append(value if math.isfinite(value) else 0.0)
    return values[0], values[1], values[2], values[3]
