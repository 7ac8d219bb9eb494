# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Loads the library of `engine/replay/`, which is compiled on first use, and passes graphs to it."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Mapping
from ctypes import POINTER, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np

from hockney.build.identity import REPLAY, source_folder
from hockney.build.once import Products, compiled_once
from hockney.core.errors import EnvironmentProblem, HockneyError, one_line
from hockney.replay.graph import COST, GROUP, MESSAGE, OP, Graph

LIBRARY = "libhockney-replay.so"
FLAGS = ("-O3", "-shared", "-fPIC", "-fvisibility=default")
LINK_FLAGS = ("-Wl,--no-undefined",)


class GraphArrays(ctypes.Structure):
    """`Graph` in engine/replay/graph.hpp."""

    _fields_ = (
        ("ops", c_void_p),
        ("first", c_void_p),
        ("messages", c_void_p),
        ("tail", c_void_p),
        ("ranks", c_int64),
        ("messages_count", c_int64),
        ("groups_count", c_int64),
        ("places", c_int64),
    )


class Computation(ctypes.Structure):
    _fields_ = (("seconds", c_void_p), ("place_factor", c_void_p), ("rank_factor", c_void_p))


class Failure(ctypes.Structure):
    _fields_ = (("problem", c_int32), ("op", c_int64))


class Network(ctypes.Structure):
    """`Network` in engine/replay/network.cpp."""

    _fields_ = (
        ("node", c_void_p),
        ("route", c_void_p),
        ("route_first", c_void_p),
        ("route_links", c_void_p),
        ("rates", c_void_p),
        ("work_first", c_void_p),
        ("work", c_void_p),
        ("nodes", c_int64),
        ("links", c_int64),
        ("works", c_int64),
        ("slowest", c_double),
        ("medium", c_double),
        ("medium_per_byte", c_double),
    )


BAD_INDEX, BAD_MESSAGE, DEADLOCK, TOO_LARGE = 1, 2, 3, 4
"""Problems of a graph."""

LEVEL_COUNT = 5


class WaitRow(ctypes.Structure):
    _fields_ = (
        ("kind", c_uint32),
        ("place", c_uint32),
        ("by_place", c_uint32),
        ("by_rank", c_uint32),
        ("count", c_uint64),
        ("seconds", c_double),
    )


class NativePath(ctypes.Structure):
    """`Path` in engine/replay/path.cpp."""

    _fields_ = (
        ("unexplained", c_void_p),
        ("by_place", c_void_p),
        ("by_rank", c_void_p),
        ("ends", c_void_p),
        ("messages", c_double * LEVEL_COUNT),
        ("bytes", c_double * LEVEL_COUNT),
        ("overheads", c_double),
        ("last_rank", c_int64),
        ("waits", POINTER(WaitRow)),
        ("waits_count", c_int64),
        ("owned", c_void_p),
    )


@functools.cache
def library() -> Any:
    """Load the library. Raises EnvironmentProblem."""
    path = build()
    try:
        shared_library = ctypes.CDLL(str(path))
    except OSError as error:
        raise EnvironmentProblem(
            f"{LIBRARY} cannot be loaded",
            one_line(str(error)),
            f"delete {path.parent}, and try again",
            code="replay-library-unusable",
            library=str(path),
        ) from error
    graph, order, costs, computation = POINTER(GraphArrays), c_void_p, c_void_p, POINTER(Computation)
    signatures: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "order": (order, (graph, costs, c_int64, c_int32, c_void_p, POINTER(Failure))),
        "order_free": (None, (order,)),
        "order_most_received": (c_int64, (order,)),
        "ends": (None, (graph, order, costs, c_int64, computation, c_void_p)),
        "recorded": (None, (graph, order, costs, c_int64, c_void_p, c_void_p, c_void_p)),
        "begins": (None, (graph, order, costs, c_int64, c_void_p)),
        "slopes": (
            None,
            (graph, order, costs, costs, c_double, c_int64, computation, c_void_p, c_void_p),
        ),
        "path": (None, (graph, order, costs, c_int64, computation, POINTER(NativePath))),
        "path_free": (None, (POINTER(NativePath),)),
        "network": (
            None,
            (graph, POINTER(Network), costs, c_int64, computation, c_void_p, c_void_p, POINTER(Failure)),
        ),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(shared_library, f"hockney_replay_{name}")
        function.restype, function.argtypes = result, arguments
    return shared_library


def build(environ: Mapping[str, str] | None = None, notify: Callable[[str], None] = lambda _: None) -> Path:
    """The path of the library, which is compiled unless it is cached. Raises EnvironmentProblem."""
    folder = compiled_once(
        REPLAY,
        "the evaluator of traces (once; a few seconds)",
        "replay-does-not-compile",
        (*FLAGS, *LINK_FLAGS),
        _products,
        environ=environ,
        notify=notify,
    )
    return folder / LIBRARY


def _products(folder: Path) -> Products:
    sources = sorted(str(path) for path in (source_folder() / REPLAY).glob("*.cpp"))
    yield LIBRARY, (*FLAGS, *sources, *LINK_FLAGS)


class NativeGraph:
    """A graph's arrays in the layout of the library. Raises HockneyError."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ops = check_fields(graph.ops, OP, "operations")
        self.messages = check_fields(graph.messages, MESSAGE, "messages")
        self.groups = check_fields(graph.groups, GROUP, "groups")
        self.first = np.ascontiguousarray(graph.first, dtype=np.int64)
        counts = np.diff(self.first)
        if not len(self.first) or self.first[0] != 0 or (counts < 0).any() or self.first[-1] != len(self.ops):
            raise invalid_graph("the operations of its ranks do not follow one another", "first")
        tail = graph.tail_s if len(graph.tail_s) else np.zeros(graph.ranks)
        self.tail = check_times(
            tail, np.float64, graph.ranks, "tail_s", allow_negative=bool(len(graph.unexplained_s))
        )
        self.arrays = GraphArrays(
            ops=self.ops.ctypes.data,
            first=self.first.ctypes.data,
            messages=self.messages.ctypes.data,
            tail=self.tail.ctypes.data,
            ranks=graph.ranks,
            messages_count=len(self.messages),
            groups_count=len(self.groups),
            places=max(len(graph.places), 1),
        )

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self.arrays)


class NativeComputation:
    """Seconds that replace those of a graph's operations, and factors for them. Raises HockneyError."""

    def __init__(
        self,
        graph: Graph,
        computed_s: np.ndarray | None = None,
        place_factor: np.ndarray | None = None,
        rank_factor: np.ndarray | None = None,
    ) -> None:
        places = max(len(graph.places), 1)
        self._arrays = (
            None if computed_s is None else check_times(computed_s, np.float32, len(graph.ops), "computed_s"),
            None if place_factor is None else check_times(place_factor, np.float64, places, "place_factor"),
            None if rank_factor is None else check_times(rank_factor, np.float64, graph.ranks, "rank_factor"),
        )
        self.seconds = Computation(*(None if array is None else array.ctypes.data for array in self._arrays))

    @property
    def pointer(self) -> Any:
        return ctypes.byref(self.seconds)


def check_costs(costs: np.ndarray) -> np.ndarray:
    """The table of costs as the library expects it. Raises HockneyError for times that are negative or not
    finite."""
    table = check_fields(costs, COST, "costs")
    for name in ("overhead", "latency", "transfer", "receive", "gap", "exchange"):
        if not (np.isfinite(table[name]).all() and (table[name] >= 0).all()):
            raise invalid_graph(f"a {name} is negative or no number", name)
    return table


def check_fields(array: np.ndarray, dtype: np.dtype[Any], name: str) -> np.ndarray:
    if array.dtype != dtype:
        raise invalid_graph(f"its {name} have other fields", name)
    return np.ascontiguousarray(array)


def check_times(
    array: np.ndarray, dtype: Any, size: int, name: str, *, allow_negative: bool = False
) -> np.ndarray:
    times = np.ascontiguousarray(array, dtype=dtype)
    is_valid = np.isfinite(times) & (allow_negative | (times >= 0))
    if times.shape != (size,) or not is_valid.all():
        raise invalid_graph(f"{name} is not {size} times", name)
    return times


def invalid_graph(why: str, field: str) -> HockneyError:
    return HockneyError("the graph of the trace is invalid", why, code="replay-graph-invalid", field=field)
