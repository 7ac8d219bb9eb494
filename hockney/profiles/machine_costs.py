# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Prices of MPI calls on this machine, according to a survey: messages at each level, and collectives.

The upper bound of a price holds for single operations: 95% of the survey's repetitions are faster (in the
median of similar cases). A program's calls are subject to the same noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from statistics import median

from hockney.core.case import HOT, WRITTEN
from hockney.core.catalog import PING_PONG
from hockney.core.errors import HockneyError
from hockney.core.fit import Summary, UsedSurvey
from hockney.core.layout import NETWORK
from hockney.models.applications.message_costs import messages_for, usable_fit
from hockney.models.applications.point_to_point_costs import PointToPointCosts, costs_from_fit
from hockney.models.collective_costs import predict, tree_algorithm
from hockney.models.levels import place_of_fit
from hockney.profiles import rank_file as form

LEVELS_BY_DISTANCE = {
    form.SELF: ("core", "cache", "socket", "node", ""),
    form.CORE: ("core", "cache", "socket", "node", ""),
    form.PACKAGE: ("cache", "socket", "node", ""),
    form.NODE: ("node", "socket", "cache", ""),
    form.UNKNOWN: ("node", "socket", "cache", "", "network"),
    form.NETWORK: ("network",),
}
"""The levels of a survey's ping-pongs that describe messages of each distance, the best first. A profile's
`package` is a survey's cache or socket; "" is a ping-pong whose level is not known, which is within a node
unless the survey used several."""

MAX_SIZE_RATIO = math.log(16)
"""Sizes up to this factor apart have about the same noise."""
MEASURED, PREDICTED = "measured", "predicted"


@dataclass(frozen=True)
class Price:
    """The seconds of one call, and the upper bound of its 95% band. `basis` tells whether the operation was
    measured, or its price is predicted from messages."""

    value: float
    high: float
    basis: str = MEASURED


ZERO_PRICE = Price(0.0, 0.0)


@dataclass(frozen=True)
class MachineCosts:
    """The costs of a survey for a program on `hosts` hosts."""

    surveyed: UsedSurvey
    hosts: int = 1
    _known: dict[tuple[str, int, float], Price | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def where(self) -> str:
        return self.surveyed.where

    @cached_property
    def _messages(self) -> PointToPointCosts | None:
        try:
            return messages_for(self.surveyed.fits, self.surveyed.machine, self.where, hosts=self.hosts)
        except HockneyError:
            return None

    @cached_property
    def _levels(self) -> dict[str, tuple[PointToPointCosts, ...]]:
        """The costs of messages in unchanged buffers and in buffers just written, by level."""
        fits, found = self.surveyed.fits, {}
        for level in ("core", "cache", "socket", "node", "network", ""):
            usable = (usable_fit(fits, level, buffers) for buffers in (HOT, WRITTEN))
            chosen = {fit.line: fit for fit in usable if fit is not None}
            if chosen:
                found[level] = tuple(
                    costs_from_fit(fit, name="", title="", source=self.where) for fit in chosen.values()
                )
        return found

    def level_of(self, distance: int) -> str | None:
        """The level of the survey that describes messages at a distance; None if there is none."""
        levels = LEVELS_BY_DISTANCE.get(distance, ())
        return next((level for level in levels if level in self._levels), None)

    @cached_property
    def eager(self) -> float | None:
        """The largest message within a node that is sent without waiting for its receive; None if unknown."""
        for costs in self._levels.values():
            if math.isfinite(costs[0].eager_limit):
                return costs[0].eager_limit
        return None

    def message(self, size: float, distance: int) -> Price | None:
        """The price of one message."""
        level = self.level_of(distance)
        if level is None:
            return None
        values, highs = [], []
        for costs in self._levels[level]:
            value = max(0.0, costs.one_way(size))
            values.append(value)
            highs.append(value * (costs.bounds(size) or (1.0, 1.0))[1])
        return Price(min(values), max(max(values), *highs) * self._tail_factor(size, level))

    def _tail_factor(self, size: float, level: str) -> float:
        """The 95th percentile of single ping-pongs relative to their typical time: the median over similar
        sizes, because a single size may have been disturbed."""
        rows = self._tails.get(level) or self._tails.get("any") or ()
        near = [
            tail for measured, tail in rows if abs(math.log((measured + 8) / (size + 8))) <= MAX_SIZE_RATIO
        ]
        return median(near or [tail for _, tail in rows] or [1.0])

    @cached_property
    def _tails(self) -> dict[str, list[tuple[float, float]]]:
        found: dict[str, list[tuple[float, float]]] = {}
        role, operation = PING_PONG
        for workload, case, summary in self.surveyed.fits.measured_cases(role, operation=operation):
            if case.get("buffers", HOT) not in (HOT, WRITTEN):
                continue
            row = case.number(workload.size), _tail_of(summary)
            for level in {case.place or summary.place or "", "any"}:
                found.setdefault(level, []).append(row)
        return found

    @cached_property
    def _loggp(self) -> dict[str, float]:
        """The LogGP overheads of the first usable fit."""
        fits = (fit for fit in self.surveyed.fits.fits if fit.model == "loggp" and fit.verdict != "refused")
        chosen = min(fits, key=lambda fit: place_of_fit(fit, self.surveyed.fits) == NETWORK, default=None)
        return {} if chosen is None else {p.symbol: p.estimate.value for p in chosen.parameters}

    def sending_s(self, size: float) -> float:
        """The processor time for starting a message (LogGP's o_s), in seconds."""
        known = self._loggp
        return max(0.0, known.get("o_s", 0.0) + known.get("O_s", 0.0) * size)

    def receiving_s(self, size: float) -> float:
        """The processor time for receiving a message (LogGP's o_r), in seconds."""
        known = self._loggp
        return max(0.0, known.get("o_r", 0.0) + known.get("O_r", 0.0) * size)

    @property
    def has_overheads(self) -> bool:
        return "o_s" in self._loggp

    @property
    def knows_contention(self) -> bool:
        """Whether the survey measured messages of many pairs."""
        messages = self._messages
        return messages is not None and any(level.node_sharing is not None for level in messages.levels())

    def contention_s(self, size: float, distance: int, at_once: float) -> float | None:
        """How much longer each of `at_once` messages takes if they leave a node at the same time; None if the
        survey did not measure many pairs."""
        messages = self._messages
        if messages is None:
            return None
        level = messages.between_nodes if distance == form.NETWORK else messages.within_node or messages
        if level.node_sharing is None:
            return None
        return max(0.0, level.concurrent_time(size, at_once) - level.concurrent_time(size, 1))

    def collective(self, operation: str, ranks: int, size: float) -> Price | None:
        """The price of one collective (the blocking operation's name without MPI_), from the time when all
        ranks have begun it until the last one ends. Measured on as many ranks, or interpolated between fewer
        and more ranks; otherwise predicted from messages."""
        if ranks < 2:
            return ZERO_PRICE
        key = operation.lower(), ranks, size
        if key not in self._known:
            self._known[key] = self._interpolate_collective(*key)
        return self._known[key]

    def _interpolate_collective(self, operation: str, ranks: int, size: float) -> Price | None:
        name = SCALAR_OPERATIONS.get(operation, operation)
        curves = self._curves.get(name, {})
        if ranks in curves:
            return _interpolate(curves[ranks], size)
        fewer, more = [p for p in curves if p < ranks], [p for p in curves if p > ranks]
        if fewer and more:
            low, high = _interpolate(curves[max(fewer)], size), _interpolate(curves[min(more)], size)
            if low is None or high is None:
                return None
            share = math.log(ranks / max(fewer)) / math.log(min(more) / max(fewer))
            return Price(low.value + share * (high.value - low.value), max(low.high, high.high))
        return self._predict_collective(name, ranks, size)

    @cached_property
    def _curves(self) -> dict[str, dict[int, list[tuple[float, float, float]]]]:
        """(size, typical time, upper bound) by operation and ranks."""
        found: dict[str, dict[int, dict[float, tuple[float, float]]]] = {}
        tails: dict[tuple[str, int], list[float]] = {}
        for workload, case, summary in self.surveyed.fits.measured_cases("collective", "barrier"):
            nodes = case.nodes or summary.nodes
            if not case.is_usual or case.get("algorithm", "mpi") != "mpi" or (nodes and nodes != self.hosts):
                continue
            operation = workload.operation or "barrier"
            size = float(workload.size_of(case)) if workload.size else 0.0
            time = summary.typical.value
            high = max(time, summary.typical.high or 0.0)
            tails.setdefault((operation, case.ranks), []).append(_tail_of(summary))
            sizes = found.setdefault(operation, {}).setdefault(case.ranks, {})
            old = sizes.get(size, (math.inf, 0.0))
            sizes[size] = min(old[0], time), max(old[1], high)
        return {
            operation: {
                ranks: [
                    (size, time, max(high, time * median(tails[operation, ranks])))
                    for size, (time, high) in sorted(sizes.items())
                ]
                for ranks, sizes in by_ranks.items()
            }
            for operation, by_ranks in found.items()
        }

    def _predict_collective(self, operation: str, ranks: int, size: float) -> Price | None:
        if operation == "barrier":  # dissemination: each rank sends one message in each of log2(p) steps
            message = self.message(0, form.NETWORK if self.hosts > 1 else form.NODE)
            steps = math.ceil(math.log2(ranks))
            return message and Price(steps * message.value, steps * message.high, PREDICTED)
        try:
            algorithm = tree_algorithm(operation)
            (time,) = predict(
                self.surveyed.fits,
                self.surveyed.machine,
                operation,
                algorithm,
                ranks,
                [round(size)],
                where=self.where,
                nodes=self.hosts if self.hosts > 1 else 0,
            )
        except HockneyError:
            return None
        value = time.time.value
        return Price(value, max(value, time.time.high or 0.0), PREDICTED)


SCALAR_OPERATIONS = {
    "gatherv": "gather",
    "scatterv": "scatter",
    "allgatherv": "allgather",
    "alltoallv": "alltoall",
    "alltoallw": "alltoall",
    "reduce_scatter": "reduce_scatter_block",
}
"""Vector operations cost about what the plain ones do, with the mean size."""

MAX_EXTRAPOLATION = 2.0
"""A size up to this many times the largest measured one is extrapolated."""


def _tail_of(summary: Summary) -> float:
    typical = summary.typical.value
    return max(1.0, summary.quartiles[3] / typical) if typical > 0 else 1.0


def _interpolate(points: Sequence[tuple[float, float, float]], size: float) -> Price | None:
    """Interpolate linearly between the measured sizes, and extrapolate slightly beyond the last one."""
    if not points:
        return None
    first, last = points[0], points[-1]
    if size <= first[0] or len(points) == 1:
        beyond = len(points) == 1 and first[0] > 0 and size > MAX_EXTRAPOLATION * first[0]
        return None if beyond else Price(first[1], first[2])
    if size > MAX_EXTRAPOLATION * last[0]:
        return None
    before, after = next(((a, b) for a, b in pairwise(points) if size <= b[0]), (points[-2], points[-1]))
    share = (size - before[0]) / (after[0] - before[0])
    value, high = (max(0.0, before[k] + share * (after[k] - before[k])) for k in (1, 2))
    return Price(value, max(value, high))
