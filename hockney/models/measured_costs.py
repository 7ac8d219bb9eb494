# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of a schedule's steps, from measurements between two ranks: a message in one direction
(ping-pong), two that cross (MPI_Sendrecv with each other), messages that follow each other (a stream),
LogGP's overheads, copies and combinations, and data that the sender has just written.

**A rank's own work** in a collective: copying a block, combining two vectors, and sending data that it has
just written. Between 2 ranks an allgather is an exchange and a copy of each rank's own block, and a reduction
is a message and a combination, whatever the algorithm. So MPI's own allgather and reduction on 2 ranks show
these costs: their time minus that of the messages. A gather is unsuitable, because its root copies while the
message is in flight.

A ping-pong sends the same bytes again and again, so that the receiver may still have them in a cache. Bytes
that the sender has written since must come from the sender's cache, which takes longer. A scan on 2 ranks
shows this cost: rank 0 copies its vector and sends the copy, rank 1 combines. Its time is a message, a copy,
a combination, and this additional cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from hockney.core.case import HOT, PLACE, SETTING, Value
from hockney.core.fit import Estimate, Fit, Fits
from hockney.core.layout import NETWORK, PAIR_RANKS, meeting_level
from hockney.models.applications.message_costs import usable_fit
from hockney.models.applications.point_to_point_costs import PointToPointCosts, cost_piece, costs_from_fit
from hockney.models.levels import levels_agree
from hockney.models.loggp_sim import LayerCosts
from hockney.models.schedules import Layer, Mode

End = Literal["value", "low", "high"]
OVERHEADS = ("o_s", "O_s", "o_r", "O_r")

EVIDENCE = {"copy": "allgather", "combine": "reduce", "fresh": "scan"}
"""The operation on 2 ranks that shows each kind of work."""


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
    """`message`, `crossing` and `stream` are the costs of a single message, of one that crosses another, and
    of one in a stream; None if not measured. `overheads` are LogGP's, in the order of OVERHEADS. `end`
    selects the value or a bound of the interval of each time."""

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
        """Costs of a layer. Messages that are posted at once do not wait for each other."""
        sizes = np.asarray(layer.size, dtype=float)
        at_once = len(layer.source) if self.message.shared else 1
        distinct, which = np.unique(sizes, return_inverse=True)
        parts = [self.parts(float(size), at_once) for size in distinct]

        def part(name: str) -> float | np.ndarray:
            seconds = np.array([getattr(each, name) for each in parts])
            return float(seconds[0]) if sizes.ndim == 0 else seconds[which.ravel()]

        return LayerCosts(
            eager=(sizes <= self.message.eager_limit) | (mode is Mode.POSTED),
            overhead=part("send"),
            flight=part("flight"),
            receive=part("receive"),
            gap=part("gap"),
            gap_holds=self.message.place != NETWORK,  # there, the next message waits in a queue
            exchange=part("exchange") if mode is Mode.EXCHANGE else 0.0,
        )

    def copying(self, size: float | np.ndarray) -> np.ndarray:
        return self.copy.at(size)

    def combining(self, size: float | np.ndarray) -> np.ndarray:
        return self.combine.at(size)

    def refreshing(self, size: float | np.ndarray) -> np.ndarray:
        return self.fresh.at(size)

    def parts(self, size: float, at_once: int = 1) -> MessageParts:
        """Parts of a message's time with `at_once` messages in flight."""
        found = self._known.get((size, at_once))
        if found is None:
            found = self._known[size, at_once] = self._divided(size, at_once)
        return found

    def _divided(self, size: float, at_once: int) -> MessageParts:
        whole = message_seconds(self.message, size, self.end)
        if at_once > 1:
            whole += (at_once - 1) * max(cost_piece(self.message.pieces, size).per_byte_s, 0.0) * size
        crossing = whole if self.crossing is None else message_seconds(self.crossing, size, self.end)
        send, more_s, receive, more_r = self.overheads
        send, receive = send + more_s * size, receive + more_r * size
        fits = min(1.0, whole / (send + receive)) if send + receive > 0 else 1.0
        send, receive = fits * send, fits * receive
        pace = 0.0 if self.stream is None else message_seconds(self.stream, size, self.end)
        # A message of a stream takes its share of the time at one end or the other.
        receive_busy = min(max(receive, pace), whole - send)
        return MessageParts(
            send=send,
            flight=whole - send - receive_busy,
            receive=receive_busy,
            gap=max(0.0, min(pace, whole) - send),
            exchange=max(crossing, 0.0) - whole if at_once == 1 else 0.0,
        )


def value_or_bound(time: Estimate, end: End) -> float:
    """Value of a measured time, or this bound of its interval if known."""
    bound = {"value": time.value, "low": time.low, "high": time.high}[end]
    return time.value if bound is None else bound


def message_seconds(costs: PointToPointCosts, size: float, end: End) -> float:
    """Time of one message of `size` bytes, or a bound of its interval."""
    time = max(costs.one_way(size), 0.0)
    if end == "value":
        return time
    low, high = costs.bounds(size) or (1.0, 1.0)
    return time * (low if end == "low" else high)


def measured_costs(fits: Fits, message: PointToPointCosts, end: End) -> MeasuredCosts:
    """Costs from the fits of a run whose messages cost `message`: on one level, within a node or between
    nodes, if both are known."""
    buffers = message.buffers or HOT
    chosen = usable_fit(fits, message.place, buffers) or usable_fit(fits, buffers=buffers)
    values = {} if chosen is None else chosen.subject.values
    same = {name: values.get(name, "") for name in (SETTING, PLACE)}
    setting, place = str(same[SETTING]), message.place
    crossing = _hockney(fits, same, buffers, "point-to-point", "sendrecv")

    def exchange_s(size: float) -> float:
        return (crossing or message).one_way(size)

    copy = local_cost(fits, "copy", exchange_s, "value", setting=setting, place=place)
    combine = local_cost(fits, "combine", message.one_way, "value", setting=setting, place=place)

    def scan_s(size: float) -> float:
        return message.one_way(size) + float(copy.at(size) + combine.at(size))

    return MeasuredCosts(
        message=message,
        crossing=crossing,
        stream=_hockney(fits, same, buffers, "stream"),
        overheads=_overheads(fits, same[PLACE]),
        copy=local_cost(fits, "copy", exchange_s, end, setting=setting, place=place),
        combine=local_cost(fits, "combine", message.one_way, end, setting=setting, place=place),
        fresh=local_cost(fits, "fresh", scan_s, "value", setting=setting, place=place, rising=False),
        end=end,
    )


def _hockney(
    fits: Fits, same: Mapping[str, Value], buffers: str, role: str, operation: str = ""
) -> PointToPointCosts | None:
    """Message costs of the unidirectional workload, or of the only one, with such buffers, otherwise with hot
    ones, and with the `same` launch setting and place; None without such a fit."""
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
    return None if best is None else costs_from_fit(best, name="", title="", source=best.line)


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


@dataclass(frozen=True)
class LocalCost:
    """Seconds by bytes: `sizes` ascend, and if `rising`, `seconds` do not fall. Without sizes the cost is
    unknown and assumed to be 0."""

    sizes: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()
    rising: bool = True

    def at(self, size: float | np.ndarray) -> np.ndarray:
        """Interpolate linearly between the sizes and below them; above them proportional to the bytes if
        rising, else constant."""
        bytes_ = np.asarray(size, dtype=float)
        if not self.sizes:
            return np.zeros(bytes_.shape)
        inside = np.interp(bytes_, (0.0, *self.sizes), (0.0, *self.seconds))
        beyond = self.seconds[-1] / self.sizes[-1] * bytes_ if self.rising else inside
        return np.where(bytes_ > self.sizes[-1], beyond, inside)


def local_cost(
    fits: Fits,
    work: str,
    known_s: Callable[[float], float],
    end: End,
    *,
    setting: str = "",
    place: str = "",
    rising: bool = True,
) -> LocalCost:
    """Cost of `work`, one of EVIDENCE. `known_s` is the time by bytes of everything else in the operation
    that shows the cost; for measured times, `end` selects the value or a bound of the interval. Only cases
    with this launch setting count, and those at the level `place` or, if there are none, at a similar one
    ("": any)."""
    found = {}
    for size, time in _of_level(list(_measured(fits, EVIDENCE[work], setting)), place):
        if size > 0:
            found[size] = max(0.0, value_or_bound(time, end) - known_s(size))
    sizes = tuple(sorted(found))
    seconds = [found[size] for size in sizes]
    return LocalCost(sizes, tuple(_isotonic_fit(seconds) if rising else seconds), rising)


def _isotonic_fit(values: list[float]) -> list[float]:
    """Nearest nondecreasing values in least squares, by pooling adjacent violators (M. Ayer et al., Annals of
    Mathematical Statistics 26 (1955) 641)."""
    pools: list[tuple[float, int]] = []
    for value in values:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (before, many), (after, few) = pools[-2:]
            pools[-2:] = [((before * many + after * few) / (many + few), many + few)]
    return [mean for mean, many in pools for _ in range(many)]


def _of_level(
    measured: Sequence[tuple[str, float, Estimate]], place: str
) -> Iterator[tuple[float, Estimate]]:
    here = [(size, time) for met, size, time in measured if met == place]
    return iter(here or [(size, time) for met, size, time in measured if levels_agree(place, met)])


def _measured(fits: Fits, operation: str, setting: str) -> Iterator[tuple[str, float, Estimate]]:
    """Level, size and time of each measured case."""
    for workload, case, summary in fits.measured_cases("collective", operation=operation):
        of_two = case.ranks == PAIR_RANKS and case.get("sync") != "loop"
        if of_two and case.setting == setting and case.is_usual:
            yield meeting_level(case, summary), float(case.number(workload.size)), summary.cost(fits.cost)
