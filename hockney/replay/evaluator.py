# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a graph with the costs of a machine: the run time, the critical path, and the run time as a
function of a parameter of the costs.

The clocks follow `loggp_sim`: LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995) with messages that do not
slow each other down. Operations are sorted once so that each comes after those that it depends on. One pass
over them then gives all clocks, for any costs and computation times. If the order of arrivals is fixed, the
run time is the length of a longest path. It is convex and piecewise linear in each parameter, and the
intersection of two tangents is a breakpoint or lies below the curve. (LLAMP, by Shen et al., SC 2024, finds
breakpoints by linear programming.)

A wait for many messages receives them in the order of their arrival, as MPI_Waitall does. If the overhead of
a receive makes this order matter, or if crossing messages cost more, a curve may not be convex."""

from __future__ import annotations

import ctypes
import heapq
import math
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from hockney.core.errors import HockneyError, UsageError
from hockney.replay import native
from hockney.replay.graph import (
    AT_ROOT,
    COST,
    ENTER,
    LEAVE,
    LEVELS,
    RECEIVED,
    ROOTED_FROM,
    Graph,
    byte_times,
)

PARTS = (
    "computed",
    "overhead",
    "latency",
    "transfer",
    "receive",
    "gap",
    "exchange",
    "collective",
    "unexplained",
)
"""The parts of the time of a critical path."""
LATE_SENDER, LATE_RECEIVER, LATE_TO_COLLECTIVE = range(3)
"""Why an operation waits: its message was not sent yet, its receive was not posted yet, or another rank had
not entered the collective."""
WAIT = np.dtype(
    [
        ("kind", "u4"),
        ("place", "u4"),
        ("by_place", "u4"),
        ("by_rank", "u4"),
        ("count", "u8"),
        ("seconds", "f8"),
    ]
)
"""All waits of one kind at one place for operations at `by_place` on rank `by_rank`."""
MAX_EVALUATIONS = 4000
"""Limit of evaluations for one curve."""
MAX_LISTED_RANKS, MAX_FOLLOWED_RANKS = 16, 1000
"""Limits of the ranks that an error lists, and of those that the search for a cycle follows."""


@dataclass(frozen=True)
class RunTimes:
    """The result of a run. `ends` is the time at which each rank finishes its last operation and
    computation."""

    ends: np.ndarray

    @property
    def run_s(self) -> float:
        return float(self.ends.max(initial=0.0))


@dataclass(frozen=True)
class CriticalPath:
    """The longest chain of operations in which each waits for the previous one.

    `by_place` and `by_rank` contain its seconds by `PARTS`; the last row of `by_place` is the computation
    after all operations. `messages` and `size` are the messages and bytes on the path by level (`LEVELS`),
    with a collective as one message. `overheads` counts the sends and receives whose overhead is on the path.
    `slack_s` is how much longer each rank may compute at its end without delaying the run. `waits` are all
    waits, on the path or not."""

    ends: np.ndarray
    last_rank: int
    by_place: np.ndarray
    by_rank: np.ndarray
    messages: np.ndarray
    size: np.ndarray
    overheads: int
    waits: np.ndarray

    @property
    def run_s(self) -> float:
        return float(self.ends.max(initial=0.0))

    @property
    def parts(self) -> dict[str, float]:
        """The seconds of the whole path by part."""
        return dict(zip(PARTS, self.by_place.sum(axis=0).tolist(), strict=True))

    @property
    def slack_s(self) -> np.ndarray:
        return self.ends.max(initial=0.0) - self.ends


@dataclass(frozen=True)
class Parameter:
    """A parameter x of the costs, which are `base` + x `change`. `neutral` is the x of the machine's own
    costs."""

    name: str
    base: np.ndarray
    change: np.ndarray
    neutral: float

    @classmethod
    def latency(
        cls, costs: np.ndarray, level: int | None = None, count: np.ndarray | None = None
    ) -> Parameter:
        """Adds x seconds to each message of a level (None: all levels). `count` is the number of messages in
        each row, which exceeds 1 only for collectives."""
        change = np.zeros(len(costs), dtype=COST)
        change["latency"] = np.where(_has_level(costs, level), 1.0 if count is None else count, 0.0)
        return cls("latency", costs, change, 0.0)

    @classmethod
    def overhead(cls, costs: np.ndarray) -> Parameter:
        """Multiplies the overheads of all sends and receives by x."""
        return cls._scaling("overhead", costs, ("overhead", "receive"), None)

    @classmethod
    def transfer(cls, costs: np.ndarray, level: int | None = None) -> Parameter:
        """Multiplies the time per byte of the messages of a level (None: all levels) by x, as
        `pricing.with_network_change` does for a bandwidth divided by x."""
        parameter = cls._scaling("transfer", costs, ("transfer", "exchange"), level)
        for name, seconds in zip(("gap", "receive"), byte_times(costs), strict=True):
            bytes_s = np.where(_has_level(costs, level), seconds, 0.0)
            parameter.base[name] -= bytes_s
            parameter.change[name] += bytes_s
        return parameter

    @classmethod
    def _scaling(cls, name: str, costs: np.ndarray, fields: tuple[str, ...], level: int | None) -> Parameter:
        base, change, has_level = costs.copy(), np.zeros(len(costs), dtype=COST), _has_level(costs, level)
        for field in fields:
            change[field] = np.where(has_level, costs[field], 0.0)
            base[field] = np.where(has_level, 0.0, costs[field])
        return cls(name, base, change, 1.0)

    def at(self, x: float) -> np.ndarray:
        """The costs at x."""
        costs = self.base.copy()
        for name in _TIME_FIELDS:
            costs[name] += x * self.change[name]
        return costs


_TIME_FIELDS = ("overhead", "latency", "transfer", "receive", "gap", "exchange")


def _has_level(costs: np.ndarray, level: int | None) -> np.ndarray:
    if level is not None and not 0 <= level < len(LEVELS):
        raise UsageError(
            f"unknown level {level}", "", f"levels: {', '.join(LEVELS)}", code="unknown-level", level=level
        )
    return np.ones(len(costs), dtype=bool) if level is None else costs["level"] == level


@dataclass(frozen=True)
class Curve:
    """The run time as a function of a parameter: `run_s` at `x`, linear between two points. `slope` is the
    derivative after each point except the last. `exact`: the inner points are all of the breakpoints.
    `convex`: the function is known to be convex."""

    x: np.ndarray
    run_s: np.ndarray
    slope: np.ndarray
    exact: bool
    convex: bool
    evaluations: int

    @property
    def breakpoints(self) -> np.ndarray:
        return self.x[1:-1]


class Evaluator:
    """A graph with the costs of a machine. The order of its operations is computed once. It also holds for
    other costs, unless these make messages wait for their receives that did not wait before.

    Raises HockneyError if the graph is invalid, or if ranks deadlock."""

    def __init__(self, graph: Graph, costs: np.ndarray) -> None:
        self.graph = graph
        self.costs = native.check_costs(costs)
        self._native = native.NativeGraph(graph)
        self._library = native.library()
        self._order = self._find_order(self.costs, None)

    def run(
        self,
        costs: np.ndarray | None = None,
        *,
        computed_s: np.ndarray | None = None,
        place_factor: np.ndarray | None = None,
        rank_factor: np.ndarray | None = None,
    ) -> RunTimes:
        """Evaluate the graph, optionally with other costs, other seconds of computation before each
        operation, and factors of computation by place and rank."""
        table, order = self._prepare(costs)
        computation = native.NativeComputation(self.graph, computed_s, place_factor, rank_factor)
        ends = np.empty(self.graph.ranks)
        self._library.hockney_replay_ends(
            self._native.pointer,
            order.pointer,
            table.ctypes.data,
            len(table),
            computation.pointer,
            ends.ctypes.data,
        )
        return RunTimes(ends)

    def critical_path(
        self,
        costs: np.ndarray | None = None,
        *,
        computed_s: np.ndarray | None = None,
        place_factor: np.ndarray | None = None,
        rank_factor: np.ndarray | None = None,
    ) -> CriticalPath:
        table, order = self._prepare(costs)
        computation = native.NativeComputation(self.graph, computed_s, place_factor, rank_factor)
        ranks, places = self.graph.ranks, max(len(self.graph.places), 1)
        by_place, by_rank = np.zeros((places + 1, len(PARTS))), np.zeros((ranks, len(PARTS)))
        ends = np.empty(ranks)
        graph = self.graph
        unexplained = np.ascontiguousarray(graph.unexplained_s, dtype=np.float32)
        path = native.NativePath(
            unexplained=unexplained.ctypes.data if len(unexplained) else None,
            by_place=by_place.ctypes.data,
            by_rank=by_rank.ctypes.data,
            ends=ends.ctypes.data,
        )
        self._library.hockney_replay_path(
            self._native.pointer,
            order.pointer,
            table.ctypes.data,
            len(table),
            computation.pointer,
            ctypes.byref(path),
        )
        try:
            size = path.waits_count * WAIT.itemsize
            waits = np.frombuffer(ctypes.string_at(path.waits, size) if size else b"", dtype=WAIT)
        finally:
            self._library.hockney_replay_path_free(ctypes.byref(path))
        return CriticalPath(
            ends=ends,
            last_rank=int(path.last_rank),
            by_place=by_place,
            by_rank=by_rank,
            messages=np.array(path.messages),
            size=np.array(path.bytes),
            overheads=int(path.overheads),
            waits=np.sort(waits, order=("place", "kind", "by_place", "by_rank")),
        )

    def unexplained(self, begins_s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Start every call at its recorded time. Returns how much later that is than the costs and the
        previous calls explain, for each operation with a time in `begins_s` (NaN: none), and the ends of all
        ranks."""
        begins = np.ascontiguousarray(begins_s, dtype=np.float64)
        unexplained_s, ends = np.zeros(len(begins), np.float32), np.empty(self.graph.ranks)
        self._library.hockney_replay_recorded(
            self._native.pointer, self._order.pointer, self.costs.ctypes.data, len(self.costs),
            begins.ctypes.data, unexplained_s.ctypes.data, ends.ctypes.data,
        )  # fmt: skip
        return unexplained_s, ends

    def begins_s(self) -> np.ndarray:
        """When each operation begins, after the computation before it. The ends of one wait begin with the
        first of them; the others have the time 0."""
        begins_s = np.zeros(len(self.graph.ops))
        self._library.hockney_replay_begins(
            self._native.pointer, self._order.pointer, self.costs.ctypes.data, len(self.costs),
            begins_s.ctypes.data,
        )  # fmt: skip
        return begins_s

    def slope(self, parameter: Parameter, x: float) -> tuple[float, float]:
        """The run time and its derivative; at a breakpoint the derivative after it."""
        base, order = self._prepare(parameter.base)
        change = native.check_fields(parameter.change, COST, "costs")
        native.check_costs(parameter.at(x))
        ends, slopes = np.empty(self.graph.ranks), np.empty(self.graph.ranks)
        self._library.hockney_replay_slopes(
            self._native.pointer, order.pointer, base.ctypes.data, change.ctypes.data, x, len(base),
            native.NativeComputation(self.graph).pointer, ends.ctypes.data, slopes.ctypes.data,
        )  # fmt: skip
        if not len(ends):
            return 0.0, 0.0
        run_s = ends.max()
        return float(run_s), float(slopes[ends == run_s].max())

    def is_convex(self, parameter: Parameter) -> bool:
        """Whether the run time is known to be convex in the parameter: crossing messages do not cost more,
        and no wait depends on the order of arrivals."""
        has_exchanges = parameter.base["exchange"].any() or parameter.change["exchange"].any()
        has_receives = parameter.base["receive"].any() or parameter.change["receive"].any()
        has_many_receives = self._library.hockney_replay_order_most_received(self._order.pointer) > 1
        return not has_exchanges and not (has_receives and has_many_receives)

    def curve(
        self,
        parameter: Parameter,
        low: float,
        high: float,
        *,
        tolerance: float = 1e-9,
        evaluations: int = MAX_EVALUATIONS,
    ) -> Curve:
        """The run time from `low` to `high`. Segments that are linear within the relative `tolerance` are not
        divided further. At most `evaluations` points are evaluated."""
        if not low < high:
            raise UsageError(f"no range from {low} to {high}", code="replay-empty-range", low=low, high=high)
        return _Refinement(lambda x: self.slope(parameter, x), tolerance, evaluations).curve(
            low, high, self.is_convex(parameter)
        )

    def tolerance(self, parameter: Parameter, increase: float, *, max_x: float | None = None) -> float:
        """The x at which the run takes (1 + `increase`) times as long as with the machine's own costs; inf if
        there is none up to `max_x`. Uses Newton's method from above, where a convex curve is steeper."""
        if not increase > 0:
            raise UsageError(
                f"the increase {increase} is not positive", code="replay-no-increase", increase=increase
            )
        start = parameter.neutral
        run_s, slope = self.slope(parameter, start)
        target_s = run_s * (1 + increase)
        rates = np.concatenate([parameter.change[name] for name in _TIME_FIELDS])
        if not (rates > 0).any():
            return math.inf
        low = start
        # Beyond this x a single operation would exceed the target.
        high = start + target_s / float(rates[rates > 0].min())
        x = start + (target_s - run_s) / slope if slope > 0 else high
        x = min(x, high)
        for _ in range(200):
            run_s, slope = self.slope(parameter, x)
            if abs(run_s - target_s) <= 1e-12 * target_s:
                break
            if run_s < target_s:
                if x >= high:
                    return math.inf
                low = x
            else:
                high = x
            next_x = x - (run_s - target_s) / slope if slope > 0 else math.inf
            # Where the curve is not convex, Newton's method may leave the interval.
            x = next_x if low < next_x <= high else (low + high) / 2
            if not low < x < high and abs(run_s - target_s) <= 1e-9 * target_s:
                break
        return x if max_x is None or x <= max_x else math.inf

    # Orders

    def _prepare(self, costs: np.ndarray | None) -> tuple[np.ndarray, _Order]:
        """The table of costs, and an order that holds for it."""
        if costs is None:
            return self.costs, self._order
        table = native.check_costs(costs)
        if len(table) < len(self.costs):
            raise native.invalid_graph("the table has fewer costs than the first one", "costs")
        if not self._order.holds_for(table):
            self._order = self._find_order(table, self._order)
        return table, self._order

    def _find_order(self, costs: np.ndarray, previous: _Order | None) -> _Order:
        """An order that holds for these costs. If all messages may wait for their receives, it holds for any
        costs."""
        result = self._try_order(costs, all_wait=True) if previous is None else None
        if isinstance(result, _Order):
            return result
        if result is not None and result.problem != native.DEADLOCK:
            raise graph_error(self.graph, result, np.zeros(0))
        stuck_ops = np.zeros(self.graph.ranks, dtype=np.int64)
        result = self._try_order(costs, all_wait=False, stuck_ops=stuck_ops)
        if isinstance(result, _Order):
            return result
        raise graph_error(self.graph, result, stuck_ops)

    def _try_order(
        self, costs: np.ndarray, *, all_wait: bool, stuck_ops: np.ndarray | None = None
    ) -> _Order | native.Failure:
        stuck_ops = np.zeros(self.graph.ranks, dtype=np.int64) if stuck_ops is None else stuck_ops
        failure = native.Failure()
        pointer = self._library.hockney_replay_order(
            self._native.pointer,
            costs.ctypes.data,
            len(costs),
            all_wait,
            stuck_ops.ctypes.data,
            ctypes.byref(failure),
        )
        if not pointer:
            return failure
        return _Order(
            pointer, None if all_wait else costs["eager"] != 0, self._library.hockney_replay_order_free
        )


class _Order:
    """An order of operations in the library. `eager` marks the rows of costs for which the order assumes that
    messages do not wait for their receives; None: it holds for all costs."""

    def __init__(self, pointer: int, eager: np.ndarray | None, free: Callable[[int], None]) -> None:
        self.pointer = pointer
        self.eager = eager
        weakref.finalize(self, free, pointer)

    def holds_for(self, costs: np.ndarray) -> bool:
        if self.eager is None:
            return True
        rows = min(len(self.eager), len(costs))
        return bool((costs["eager"][:rows] != 0)[self.eager[:rows]].all())


def graph_error(graph: Graph, failure: native.Failure, stuck_ops: np.ndarray) -> HockneyError:
    """The error for a graph that the library rejects. `stuck_ops` are operations that cannot end."""
    if failure.problem == native.DEADLOCK:
        return _deadlock_error(graph, stuck_ops)
    if failure.problem == native.TOO_LARGE:
        return native.invalid_graph("it has too many ranks or messages", "messages")
    op = int(failure.op)
    rank = int(np.searchsorted(graph.first, op, side="right")) - 1
    explanation = {
        native.BAD_INDEX: "refers to something that does not exist",
        native.BAD_MESSAGE: "does not fit its message",
    }[failure.problem]
    return HockneyError(
        "the graph of the trace is invalid",
        f"operation {op} of rank {rank} {explanation}",
        code="replay-operation-invalid",
        rank=rank,
        operation=op,
    )


def _deadlock_error(graph: Graph, stuck_ops: np.ndarray) -> HockneyError:
    """The error for ranks whose operations `stuck_ops` (-1: none) cannot end. Names a cycle if there is
    one."""
    waiting = np.flatnonzero(stuck_ops >= 0)
    rank, path = int(waiting[0]), list[int]()
    while rank >= 0 and rank not in path and stuck_ops[rank] >= 0 and len(path) < MAX_FOLLOWED_RANKS:
        path.append(rank)
        rank = _awaited_rank(graph, rank, int(stuck_ops[rank]), stuck_ops)
    cycle = path[path.index(rank) :] if rank in path else path
    listed_ranks = cycle[:MAX_LISTED_RANKS]
    places = [_place_name(graph, int(stuck_ops[listed_rank])) for listed_rank in listed_ranks]
    waits = ", ".join(
        f"rank {listed_rank} at {place}" for listed_rank, place in zip(listed_ranks, places, strict=True)
    )
    has_ended = rank >= 0 and stuck_ops[rank] < 0
    why = f"{waits}; rank {rank} has ended" if has_ended else waits
    return HockneyError(
        "the ranks are in a deadlock" if rank in path else "a rank waits for an operation that never starts",
        why + (", ..." if len(cycle) > len(listed_ranks) else ""),
        "the trace is incomplete, or its program depends on messages that leave before they are received",
        code="replay-deadlock",
        ranks=listed_ranks,
        places=places,
        waiting=len(waiting),
    )


def _place_name(graph: Graph, op: int) -> str:
    number = int(graph.ops["place"][op])
    return graph.places[number] if number < len(graph.places) else f"operation {op}"


def _awaited_rank(graph: Graph, rank: int, op: int, stuck_ops: np.ndarray) -> int:
    """The rank for which this rank waits; -1 if unknown."""
    kind, slot, flags = (int(graph.ops[name][op]) for name in ("kind", "slot", "flags"))
    if kind != LEAVE:
        side = "source" if kind == RECEIVED else "target"
        return int(graph.messages[side][slot])
    group = graph.groups[slot]
    if flags & ROOTED_FROM and not flags & AT_ROOT and group["root"] >= 0:
        return int(group["root"])
    for member in graph.communicators[int(group["communicator"])].tolist():
        end = int(stuck_ops[member]) if stuck_ops[member] >= 0 else int(graph.first[member + 1])
        member_ops = graph.ops[int(graph.first[member]) : end]
        if not ((member_ops["kind"] == ENTER) & (member_ops["slot"] == slot)).any():
            return int(member)
    return -1


@dataclass(frozen=True)
class _Point:
    x: float
    run_s: float
    slope: float


class _Refinement:
    """Divides a curve at the intersections of tangents, starting with the segment that has the largest
    possible error."""

    def __init__(
        self, evaluate: Callable[[float], tuple[float, float]], tolerance: float, evaluations: int
    ) -> None:
        self._evaluate = evaluate
        self._tolerance = tolerance
        self._remaining_evaluations = evaluations
        self._parts: list[tuple[float, int, _Point, _Point, float]] = []
        """Segments with the negative of their possible error, a number, and the x at which to divide."""
        self._linear_parts: list[tuple[_Point, float, float]] = []
        """The beginning, slope and end of linear segments."""
        self._number = count()

    def curve(self, low: float, high: float, convex: bool) -> Curve:
        evaluations = self._remaining_evaluations
        first, last = self._point_at(low), self._point_at(high)
        self._add_part(first, last)
        while self._parts and self._remaining_evaluations > 0:
            _, _, begin, end, x = heapq.heappop(self._parts)
            point = self._point_at(x)
            if convex and self._is_close(point.run_s, begin.run_s + begin.slope * (x - begin.x)):
                self._linear_parts += [(begin, begin.slope, x), (point, end.slope, end.x)]
            else:
                self._add_part(begin, point)
                self._add_part(point, end)
        exact = not self._parts
        for _, _, begin, end, _ in self._parts:
            self._linear_parts.append((begin, (end.run_s - begin.run_s) / (end.x - begin.x), end.x))
        self._linear_parts.sort(key=lambda part: part[0].x)
        merged: list[tuple[_Point, float]] = []
        slope_tolerance = 1e-9 * last.run_s / (high - low)
        for begin, slope, _ in self._linear_parts:
            is_same = merged and math.isclose(merged[-1][1], slope, rel_tol=1e-9, abs_tol=slope_tolerance)
            if not is_same:
                merged.append((begin, slope))
        return Curve(
            x=np.array([*(begin.x for begin, _ in merged), high]),
            run_s=np.array([*(begin.run_s for begin, _ in merged), last.run_s]),
            slope=np.array([slope for _, slope in merged]),
            exact=exact and convex,
            convex=convex,
            evaluations=evaluations - self._remaining_evaluations,
        )

    def _point_at(self, x: float) -> _Point:
        self._remaining_evaluations -= 1
        return _Point(x, *self._evaluate(x))

    def _is_close(self, first: float, second: float) -> bool:
        return abs(first - second) <= self._tolerance * max(abs(first), abs(second))

    def _add_part(self, begin: _Point, end: _Point) -> None:
        """Add a segment, or record it as linear if its end is on the tangent at its beginning, or vice
        versa."""
        width = end.x - begin.x
        if self._is_close(end.run_s, begin.run_s + begin.slope * width):
            self._linear_parts.append((begin, begin.slope, end.x))
            return
        if self._is_close(begin.run_s, end.run_s - end.slope * width):
            self._linear_parts.append((begin, end.slope, end.x))
            return
        x = begin.x + width / 2
        if end.slope != begin.slope:
            crossing = begin.x + (end.run_s - begin.run_s - end.slope * width) / (begin.slope - end.slope)
            x = crossing if begin.x < crossing < end.x else x
        chord = begin.run_s + (end.run_s - begin.run_s) * (x - begin.x) / width
        error = abs(chord - begin.run_s - begin.slope * (x - begin.x))
        if not begin.x < x < end.x:
            self._linear_parts.append((begin, (end.run_s - begin.run_s) / width, end.x))
            return
        heapq.heappush(self._parts, (-error, next(self._number), begin, end, x))
