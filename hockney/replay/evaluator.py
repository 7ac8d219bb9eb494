# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a graph with the costs of a machine: the run time, the critical path, and how the run time
depends on a parameter of the costs.

The clocks are those of `loggp_sim`: LogGP (Alexandrov, Ionescu, Schauser, Scheiman 1995) with messages that
do not slow each other down. The operations are put in an order once, in which each comes after those that it
depends on; then one pass over them gives all clocks, for any costs and times of computation. With a fixed
order of arrivals the run time is the length of a longest path, hence convex and piecewise linear in each
parameter, and the place where two tangents meet is a breakpoint or lies below the curve. (LLAMP, by Shen et
al., SC 2024, finds breakpoints by linear programming.)

One wait for several messages receives them in the order of their arrival, as MPI_Waitall does. Where the
overhead of a receive makes this matter, or crossing messages cost more, a curve may not be convex."""

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
"""What the time of a critical path consists of."""
LATE_SENDER, LATE_RECEIVER, LATE_TO_COLLECTIVE = range(3)
"""Why an operation waits: its message was not sent yet, its receive not posted, or another rank had not begun
the collective."""
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
"""All waits of one kind of the operations of a place for those of `by_place` on rank `by_rank`."""
EVALUATIONS = 4000
"""At most so many for a curve."""
LISTED_RANKS, FOLLOWED_RANKS = 16, 1000
"""At most so many are in an error, and so many are followed from one to the next to find a cycle."""


@dataclass(frozen=True)
class Times:
    """`ends` has the time of each rank after its last operation and computation."""

    ends: np.ndarray

    @property
    def run_s(self) -> float:
        return float(self.ends.max(initial=0.0))


@dataclass(frozen=True)
class CriticalPath:
    """The longest chain of operations of which each waits for the one before.

    `by_place` and `by_rank` have its seconds by `PARTS`; the last row of `by_place` is the computation after
    all operations. `messages` and `size` are the messages and bytes on it by level (`LEVELS`), a collective
    as one message; `overheads` counts the sends and receives whose overhead is on it. `slack_s` is how much
    longer each rank may compute at its end without a longer run. `waits` are all waits, on the path or not.
    """

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
        """Seconds of the whole path."""
        return dict(zip(PARTS, self.by_place.sum(axis=0).tolist(), strict=True))

    @property
    def slack_s(self) -> np.ndarray:
        return self.ends.max(initial=0.0) - self.ends


@dataclass(frozen=True)
class Parameter:
    """Costs `base` + x `change`; `neutral` is the x of the machine's own costs."""

    name: str
    base: np.ndarray
    change: np.ndarray
    neutral: float

    @classmethod
    def latency(
        cls, costs: np.ndarray, level: int | None = None, count: np.ndarray | None = None
    ) -> Parameter:
        """x seconds more for each message of a level, or of all. `count` has the number of messages in each
        row, which is one unless it is a collective's."""
        change = np.zeros(len(costs), dtype=COST)
        change["latency"] = np.where(_of(costs, level), 1.0 if count is None else count, 0.0)
        return cls("latency", costs, change, 0.0)

    @classmethod
    def overhead(cls, costs: np.ndarray) -> Parameter:
        """x times the overheads of all sends and receives."""
        return cls._factor("overhead", costs, ("overhead", "receive"), None)

    @classmethod
    def transfer(cls, costs: np.ndarray, level: int | None = None) -> Parameter:
        """x times the seconds per byte of the messages of a level, or of all: 1/x times their bandwidth, as
        `pricing.changed` has it."""
        found = cls._factor("transfer", costs, ("transfer", "exchange"), level)
        for name, seconds in zip(("gap", "receive"), byte_times(costs), strict=True):
            bytes_s = np.where(_of(costs, level), seconds, 0.0)
            found.base[name] -= bytes_s
            found.change[name] += bytes_s
        return found

    @classmethod
    def _factor(cls, name: str, costs: np.ndarray, fields: tuple[str, ...], level: int | None) -> Parameter:
        base, change, of_level = costs.copy(), np.zeros(len(costs), dtype=COST), _of(costs, level)
        for field in fields:
            change[field] = np.where(of_level, costs[field], 0.0)
            base[field] = np.where(of_level, 0.0, costs[field])
        return cls(name, base, change, 1.0)

    def at(self, x: float) -> np.ndarray:
        """The costs."""
        costs = self.base.copy()
        for name in _SECONDS:
            costs[name] += x * self.change[name]
        return costs


_SECONDS = ("overhead", "latency", "transfer", "receive", "gap", "exchange")


def _of(costs: np.ndarray, level: int | None) -> np.ndarray:
    if level is not None and not 0 <= level < len(LEVELS):
        raise UsageError(
            f"unknown level {level}", "", f"levels: {', '.join(LEVELS)}", code="unknown-level", level=level
        )
    return np.ones(len(costs), dtype=bool) if level is None else costs["level"] == level


@dataclass(frozen=True)
class Curve:
    """The run time as a function of a parameter: `run_s` at `x`, linear between two points. `slope` is the
    derivative after each point but the last. `exact`: the inner points are all breakpoints; otherwise there
    may be more. `convex`: the function is known to be convex."""

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
    """A graph with the costs of a machine. The order of its operations is found once; it holds for other
    costs too, unless messages wait for their receives in these only, and a program that needs none to wait.

    Raises HockneyError if the graph is invalid, or if ranks wait for each other."""

    def __init__(self, graph: Graph, costs: np.ndarray) -> None:
        self.graph = graph
        self.costs = native.costs_of(costs)
        self._native = native.NativeGraph(graph)
        self._library = native.library()
        self._order = self._ordered(self.costs, None)

    def run(
        self,
        costs: np.ndarray | None = None,
        *,
        computed_s: np.ndarray | None = None,
        place_factor: np.ndarray | None = None,
        rank_factor: np.ndarray | None = None,
    ) -> Times:
        """With other costs, other seconds of computation before each operation, and factors of these by place
        and rank."""
        table, order = self._prepared(costs)
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
        return Times(ends)

    def critical_path(
        self,
        costs: np.ndarray | None = None,
        *,
        computed_s: np.ndarray | None = None,
        place_factor: np.ndarray | None = None,
        rank_factor: np.ndarray | None = None,
    ) -> CriticalPath:
        table, order = self._prepared(costs)
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
        """Start every call at its recorded time. Returns how much later that is than the costs and the calls
        before explain, for each operation with a time in `begins_s` (NaN: none), and the ends of all
        ranks."""
        begins = np.ascontiguousarray(begins_s, dtype=np.float64)
        found, ends = np.zeros(len(begins), np.float32), np.empty(self.graph.ranks)
        self._library.hockney_replay_recorded(
            self._native.pointer, self._order.pointer, self.costs.ctypes.data, len(self.costs),
            begins.ctypes.data, found.ctypes.data, ends.ctypes.data,
        )  # fmt: skip
        return found, ends

    def slope(self, parameter: Parameter, x: float) -> tuple[float, float]:
        """The run time and its derivative; at a breakpoint the one after it."""
        base, order = self._prepared(parameter.base)
        change = native.aligned(parameter.change, COST, "costs")
        native.costs_of(parameter.at(x))
        ends, slopes = np.empty(self.graph.ranks), np.empty(self.graph.ranks)
        self._library.hockney_replay_slopes(
            self._native.pointer, order.pointer, base.ctypes.data, change.ctypes.data, x, len(base),
            native.NativeComputation(self.graph).pointer, ends.ctypes.data, slopes.ctypes.data,
        )  # fmt: skip
        if not len(ends):
            return 0.0, 0.0
        run_s = ends.max()
        return float(run_s), float(slopes[ends == run_s].max())

    def convex(self, parameter: Parameter) -> bool:
        """Whether the run time is known to be convex in the parameter: no message costs more because it
        crosses another, and no order of arrivals decides what a wait costs."""
        exchanges = parameter.base["exchange"].any() or parameter.change["exchange"].any()
        receives = parameter.base["receive"].any() or parameter.change["receive"].any()
        several = self._library.hockney_replay_order_most_received(self._order.pointer) > 1
        return not exchanges and not (receives and several)

    def curve(
        self,
        parameter: Parameter,
        low: float,
        high: float,
        *,
        tolerance: float = 1e-9,
        evaluations: int = EVALUATIONS,
    ) -> Curve:
        """The run time from `low` to `high`. Parts of it that are linear within the `tolerance` (relative)
        are not divided further, nor are others after so many `evaluations`."""
        if not low < high:
            raise UsageError(f"no range from {low} to {high}", code="replay-empty-range", low=low, high=high)
        return _Refinement(lambda x: self.slope(parameter, x), tolerance, evaluations).curve(
            low, high, self.convex(parameter)
        )

    def tolerance(self, parameter: Parameter, increase: float, *, most: float | None = None) -> float:
        """The x at which the run takes (1 + `increase`) times as long as with the machine's own costs, at
        most `most`; inf if there is none. Newton's method from above, where a convex curve is steeper."""
        if not increase > 0:
            raise UsageError(
                f"the increase {increase} is not positive", code="replay-no-increase", increase=increase
            )
        start = parameter.neutral
        run_s, slope = self.slope(parameter, start)
        goal = run_s * (1 + increase)
        rates = np.concatenate([parameter.change[name] for name in _SECONDS])
        if not (rates > 0).any():
            return math.inf
        low = start
        # Beyond this x one operation alone would take that long.
        high = start + goal / float(rates[rates > 0].min())
        x = start + (goal - run_s) / slope if slope > 0 else high
        x = min(x, high)
        for _ in range(200):
            run_s, slope = self.slope(parameter, x)
            if abs(run_s - goal) <= 1e-12 * goal:
                break
            if run_s < goal:
                if x >= high:
                    return math.inf
                low = x
            else:
                high = x
            following = x - (run_s - goal) / slope if slope > 0 else math.inf
            # Where the curve is not convex, Newton's method may leave the interval.
            x = following if low < following <= high else (low + high) / 2
            if not low < x < high and abs(run_s - goal) <= 1e-9 * goal:
                break
        return x if most is None or x <= most else math.inf

    # Orders

    def _prepared(self, costs: np.ndarray | None) -> tuple[np.ndarray, _Order]:
        """The table, and an order that holds for it."""
        if costs is None:
            return self.costs, self._order
        table = native.costs_of(costs)
        if len(table) < len(self.costs):
            raise native.invalid("the table has fewer costs than the first one", "costs")
        if not self._order.holds_for(table):
            self._order = self._ordered(table, self._order)
        return table, self._order

    def _ordered(self, costs: np.ndarray, before: _Order | None) -> _Order:
        """Where all messages may wait for their receives, the order holds for all costs."""
        found = self._order_with(costs, waits=True) if before is None else None
        if isinstance(found, _Order):
            return found
        if found is not None and found.problem != native.DEADLOCK:
            raise problem(self.graph, found, np.zeros(0))
        stuck = np.zeros(self.graph.ranks, dtype=np.int64)
        found = self._order_with(costs, waits=False, stuck=stuck)
        if isinstance(found, _Order):
            return found
        raise problem(self.graph, found, stuck)

    def _order_with(
        self, costs: np.ndarray, *, waits: bool, stuck: np.ndarray | None = None
    ) -> _Order | native.Failure:
        stuck = np.zeros(self.graph.ranks, dtype=np.int64) if stuck is None else stuck
        failure = native.Failure()
        pointer = self._library.hockney_replay_order(
            self._native.pointer,
            costs.ctypes.data,
            len(costs),
            waits,
            stuck.ctypes.data,
            ctypes.byref(failure),
        )
        if not pointer:
            return failure
        return _Order(
            pointer, None if waits else costs["eager"] != 0, self._library.hockney_replay_order_free
        )


class _Order:
    """An order of the library. `eager` are the costs for which it holds: those rows whose messages leave at
    once; None: for all."""

    def __init__(self, pointer: int, eager: np.ndarray | None, free: Callable[[int], None]) -> None:
        self.pointer = pointer
        self.eager = eager
        weakref.finalize(self, free, pointer)

    def holds_for(self, costs: np.ndarray) -> bool:
        if self.eager is None:
            return True
        rows = min(len(self.eager), len(costs))
        return bool((costs["eager"][:rows] != 0)[self.eager[:rows]].all())


def problem(graph: Graph, failure: native.Failure, stuck: np.ndarray) -> HockneyError:
    """The error of a graph that the library refuses; `stuck` are operations that cannot end."""
    if failure.problem == native.DEADLOCK:
        return _deadlock(graph, stuck)
    if failure.problem == native.TOO_LARGE:
        return native.invalid("it has too many ranks or messages", "messages")
    op = int(failure.op)
    rank = int(np.searchsorted(graph.first, op, side="right")) - 1
    wrong = {
        native.BAD_INDEX: "refers to something that does not exist",
        native.BAD_MESSAGE: "does not fit its message",
    }[failure.problem]
    return HockneyError(
        "the graph of the trace is invalid",
        f"operation {op} of rank {rank} {wrong}",
        code="replay-operation-invalid",
        rank=rank,
        operation=op,
    )


def _deadlock(graph: Graph, stuck: np.ndarray) -> HockneyError:
    """The error of ranks whose operations `stuck` (-1: none) cannot end. Names a cycle if there is one."""
    waiting = np.flatnonzero(stuck >= 0)
    rank, path = int(waiting[0]), list[int]()
    while rank >= 0 and rank not in path and stuck[rank] >= 0 and len(path) < FOLLOWED_RANKS:
        path.append(rank)
        rank = _awaited(graph, rank, int(stuck[rank]), stuck)
    cycle = path[path.index(rank) :] if rank in path else path
    listed = cycle[:LISTED_RANKS]
    places = [_place(graph, int(stuck[each])) for each in listed]
    waits = ", ".join(f"rank {each} at {place}" for each, place in zip(listed, places, strict=True))
    ended = rank >= 0 and stuck[rank] < 0
    why = f"{waits}; rank {rank} has ended" if ended else waits
    return HockneyError(
        "the ranks are in a deadlock" if rank in path else "a rank waits for an operation that never starts",
        why + (", ..." if len(cycle) > len(listed) else ""),
        "the trace is incomplete, or its program depends on messages that leave before they are received",
        code="replay-deadlock",
        ranks=listed,
        places=places,
        waiting=len(waiting),
    )


def _place(graph: Graph, op: int) -> str:
    number = int(graph.ops["place"][op])
    return graph.places[number] if number < len(graph.places) else f"operation {op}"


def _awaited(graph: Graph, rank: int, op: int, stuck: np.ndarray) -> int:
    """The rank that this one waits for; -1 if it is unknown."""
    kind, slot, flags = (int(graph.ops[name][op]) for name in ("kind", "slot", "flags"))
    if kind != LEAVE:
        side = "source" if kind == RECEIVED else "target"
        return int(graph.messages[side][slot])
    group = graph.groups[slot]
    if flags & ROOTED_FROM and not flags & AT_ROOT and group["root"] >= 0:
        return int(group["root"])
    for member in graph.communicators[int(group["communicator"])].tolist():
        end = int(stuck[member]) if stuck[member] >= 0 else int(graph.first[member + 1])
        mine = graph.ops[int(graph.first[member]) : end]
        if not ((mine["kind"] == ENTER) & (mine["slot"] == slot)).any():
            return int(member)
    return -1


@dataclass(frozen=True)
class _Point:
    x: float
    run_s: float
    slope: float


class _Refinement:
    """Divides a curve where tangents meet, the part with the largest possible error first."""

    def __init__(
        self, evaluate: Callable[[float], tuple[float, float]], tolerance: float, evaluations: int
    ) -> None:
        self._evaluate = evaluate
        self._tolerance = tolerance
        self._left = evaluations
        self._parts: list[tuple[float, int, _Point, _Point, float]] = []
        """With minus the possible error, a number, and the place to divide at."""
        self._linear: list[tuple[_Point, float, float]] = []
        """The begin, slope and end of linear parts."""
        self._number = count()

    def curve(self, low: float, high: float, convex: bool) -> Curve:
        evaluations = self._left
        first, last = self._at(low), self._at(high)
        self._add(first, last)
        while self._parts and self._left > 0:
            _, _, begin, end, x = heapq.heappop(self._parts)
            point = self._at(x)
            if convex and self._near(point.run_s, begin.run_s + begin.slope * (x - begin.x)):
                self._linear += [(begin, begin.slope, x), (point, end.slope, end.x)]
            else:
                self._add(begin, point)
                self._add(point, end)
        exact = not self._parts
        for _, _, begin, end, _ in self._parts:
            self._linear.append((begin, (end.run_s - begin.run_s) / (end.x - begin.x), end.x))
        self._linear.sort(key=lambda part: part[0].x)
        merged: list[tuple[_Point, float]] = []
        flat = 1e-9 * last.run_s / (high - low)
        for begin, slope, _ in self._linear:
            same = merged and math.isclose(merged[-1][1], slope, rel_tol=1e-9, abs_tol=flat)
            if not same:
                merged.append((begin, slope))
        return Curve(
            x=np.array([*(begin.x for begin, _ in merged), high]),
            run_s=np.array([*(begin.run_s for begin, _ in merged), last.run_s]),
            slope=np.array([slope for _, slope in merged]),
            exact=exact and convex,
            convex=convex,
            evaluations=evaluations - self._left,
        )

    def _at(self, x: float) -> _Point:
        self._left -= 1
        return _Point(x, *self._evaluate(x))

    def _near(self, a: float, b: float) -> bool:
        return abs(a - b) <= self._tolerance * max(abs(a), abs(b))

    def _add(self, begin: _Point, end: _Point) -> None:
        """A part, unless it is linear: its end is on the tangent at its begin, or the other way round."""
        width = end.x - begin.x
        if self._near(end.run_s, begin.run_s + begin.slope * width):
            self._linear.append((begin, begin.slope, end.x))
            return
        if self._near(begin.run_s, end.run_s - end.slope * width):
            self._linear.append((begin, end.slope, end.x))
            return
        x = begin.x + width / 2
        if end.slope != begin.slope:
            meet = begin.x + (end.run_s - begin.run_s - end.slope * width) / (begin.slope - end.slope)
            x = meet if begin.x < meet < end.x else x
        chord = begin.run_s + (end.run_s - begin.run_s) * (x - begin.x) / width
        error = abs(chord - begin.run_s - begin.slope * (x - begin.x))
        if not begin.x < x < end.x:
            self._linear.append((begin, (end.run_s - begin.run_s) / width, end.x))
            return
        heapq.heappush(self._parts, (-error, next(self._number), begin, end, x))
