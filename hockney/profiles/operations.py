# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Properties of MPI's functions: how the recording library handles their calls, and how their time is
explained. Names are without MPI_."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

Kind = Literal[
    "local", "clock", "send", "receive", "exchange", "start", "wait", "poll", "probe", "collective",
    "neighbors", "one-sided", "synchronisation", "file", "start collective",
]  # fmt: skip
"""start: of a request for a message; poll: returns whether or not anything is complete; synchronisation: of
windows, communicators and processes, which the survey does not measure."""

KIND_NAMES: dict[Kind, str] = {
    "local": "local calls",
    "clock": "reads of the clock",
    "send": "sends",
    "receive": "receives",
    "exchange": "exchanges",
    "start": "starts of messages",
    "wait": "waits for requests",
    "poll": "tests and polls",
    "probe": "probes",
    "collective": "collectives",
    "neighbors": "neighborhood collectives",
    "one-sided": "one-sided communication",
    "synchronisation": "synchronisation",
    "file": "files",
    "start collective": "starts of collectives",
}

COLLECTIVES = (
    "Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall",
    "Alltoallv", "Alltoallw", "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan",
    "Exscan",
)  # fmt: skip
FROM_ROOT = ("Bcast", "Scatter", "Scatterv")
TO_ROOT = ("Reduce", "Gather", "Gatherv")
FROM_LOWER_RANKS = ("Scan", "Exscan")
SYNCHRONOUS = ("Ssend", "Issend")
NOT_SYNCHRONISING = ("Comm_free", "Comm_disconnect", "Cart_sub")
"""Collective calls that need not wait for other ranks."""


def base(function: str) -> str:
    """The function without the suffix _c (large counts)."""
    return function.removesuffix("_c")


@lru_cache(maxsize=2048)
def blocking(function: str) -> str:
    """The blocking collective for a nonblocking or persistent one: Allreduce for Iallreduce and
    Allreduce_init."""
    name = base(function).removesuffix("_init")
    if name.startswith("I") and name[1:2].islower():
        capital = name[1:].capitalize() if "_" not in name else name[1].upper() + name[2:]
        if capital in COLLECTIVES or capital.startswith("Neighbor_"):
            return capital
    return name


_NEIGHBORS = tuple(
    f"Neighbor_{each}" for each in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")
)
_FUNCTIONS: tuple[tuple[str, Kind, str], ...] = (
    ("init", "synchronisation", "Init Init_thread"),
    ("session", "synchronisation", "Session_init"),
    ("finalize", "synchronisation", "Finalize"),
    ("finalize_session", "synchronisation", "Session_finalize"),
    ("abort", "synchronisation", "Abort"),
    ("control", "local", "Pcontrol"),
    ("clock", "clock", "Wtime Wtick"),
    ("send", "send", "Send Bsend Ssend Rsend"),
    ("receive", "receive", "Recv"),
    ("receive_message", "receive", "Mrecv"),
    ("start_receive_message", "start", "Imrecv"),
    ("send_receive", "exchange", "Sendrecv Sendrecv_replace"),
    ("start_send_receive", "start", "Isendrecv Isendrecv_replace"),
    ("collective", "collective", " ".join(COLLECTIVES)),
    ("neighbors", "neighbors", " ".join(_NEIGHBORS)),
    ("probe", "probe", "Probe Mprobe"),
    ("poll_probe", "poll", "Iprobe Improbe"),
    ("wait", "wait", "Wait"),
    ("wait_all", "wait", "Waitall"),
    ("wait_any", "wait", "Waitany"),
    ("wait_some", "wait", "Waitsome"),
    ("test", "poll", "Test"),
    ("test_all", "poll", "Testall"),
    ("test_any", "poll", "Testany"),
    ("test_some", "poll", "Testsome"),
    ("start", "start", "Start"),
    ("start_all", "start", "Startall"),
    ("local", "start", "Pready Pready_range Pready_list"),
    ("free_request", "local", "Request_free"),
    ("cancel", "local", "Cancel"),
    ("poll", "poll", "Parrived Request_get_status Win_test"),
    ("local", "poll", "Request_get_status_all Request_get_status_any Request_get_status_some"),
    (
        "new_communicator", "synchronisation",
        "Comm_dup Comm_dup_with_info Comm_split Comm_split_type Comm_create Comm_create_group "
        "Comm_create_from_group Cart_create Cart_sub Graph_create Dist_graph_create "
        "Dist_graph_create_adjacent Intercomm_create Intercomm_create_from_groups Intercomm_merge Comm_spawn "
        "Comm_spawn_multiple Comm_accept Comm_connect",
    ),
    ("free_communicator", "synchronisation", "Comm_free Comm_disconnect"),
    ("name_communicator", "local", "Comm_set_name"),
    ("free_type", "local", "Type_free"),
    ("new_window", "synchronisation", "Win_create Win_allocate Win_allocate_shared Win_create_dynamic"),
    ("free_window", "synchronisation", "Win_free"),
    ("put", "one-sided", "Put Rput Accumulate Raccumulate"),
    ("get", "one-sided", "Get Rget Get_accumulate Rget_accumulate Fetch_and_op Compare_and_swap"),
    ("fence", "synchronisation", "Win_fence"),
    (
        "synchronize_window", "synchronisation",
        "Win_lock Win_lock_all Win_unlock Win_unlock_all Win_flush Win_flush_all Win_flush_local "
        "Win_flush_local_all Win_start Win_complete Win_post Win_wait Win_sync",
    ),
    ("open_file", "file", "File_open"),
    ("close_file", "file", "File_close"),
)  # fmt: skip
"""Classes of engine/profile/functions.hpp, with the kind and the names of their functions; local: those
without a class of their own."""
_NONBLOCKING: dict[str, Kind] = {
    "send": "start", "receive": "start", "collective": "start collective", "neighbors": "start collective",
}  # fmt: skip
"""The kind of the nonblocking forms (I...) of a class, which has persistent ones (..._init) too."""


def _classify_functions() -> Iterator[tuple[str, tuple[str, Kind]]]:
    for group, kind, names in _FUNCTIONS:
        for name in names.split():
            yield name, (group, kind)
            if group in _NONBLOCKING:
                lower = f"{name[0].lower()}{name[1:]}"
                yield f"I{lower}", (f"start_{group}", _NONBLOCKING[group])
                for prepared in (f"{name}_init", f"P{lower}_init"):
                    yield prepared, (f"prepare_{group}", "local")


_KIND_BY_FUNCTION: dict[str, tuple[str, Kind]] = dict(_classify_functions())


def class_of(function: str) -> str:
    """The class of a function in engine/profile/functions.hpp; "local" for functions that have no class by
    name."""
    return _KIND_BY_FUNCTION.get(function, ("local",))[0]


@lru_cache(maxsize=2048)
def kind_of(function: str) -> Kind:
    name = base(function)
    if name in _KIND_BY_FUNCTION:
        return _KIND_BY_FUNCTION[name][1]
    return "file" if name.startswith("File_") else "local"


_RECORDING_KINDS: dict[Kind, str] = {
    "local": "local",
    "clock": "clock",
    "start": "nonblocking",
    "wait": "nonblocking",
    "poll": "nonblocking",
    "start collective": "nonblocking",
}


def recording_kind(kind: Kind) -> str:
    """The kind of calls for which ranks measure the cost of recording (`engine/profile/session.cpp`) that
    stands for this kind."""
    return _RECORDING_KINDS.get(kind, "blocking")
