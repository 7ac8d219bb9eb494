# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What MPI's functions do, as far as it matters for the explanation of their time. Names are without MPI_."""

from __future__ import annotations

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
_SENDS = ("Send", "Bsend", "Ssend", "Rsend")
_RECEIVES = ("Recv", "Mrecv")
_EXCHANGES = ("Sendrecv", "Sendrecv_replace")
_STARTS = (
    "Isend", "Ibsend", "Issend", "Irsend", "Irecv", "Imrecv", "Isendrecv", "Isendrecv_replace", "Start",
    "Startall", "Pready", "Pready_range", "Pready_list",
)  # fmt: skip
_WAITS = ("Wait", "Waitall", "Waitany", "Waitsome")
_POLLS = ("Test", "Testall", "Testany", "Testsome", "Iprobe", "Improbe", "Parrived", "Win_test",
          "Request_get_status", "Request_get_status_all", "Request_get_status_any",
          "Request_get_status_some")  # fmt: skip
_PROBES = ("Probe", "Mprobe")
_ONE_SIDED = ("Put", "Get", "Accumulate", "Get_accumulate", "Fetch_and_op", "Compare_and_swap", "Rput",
              "Rget", "Raccumulate", "Rget_accumulate")  # fmt: skip
_SYNCHRONISATION = (
    "Comm_dup", "Comm_dup_with_info", "Comm_split", "Comm_split_type", "Comm_create", "Comm_create_group",
    "Comm_create_from_group", "Cart_create", "Cart_sub", "Graph_create", "Dist_graph_create",
    "Dist_graph_create_adjacent", "Intercomm_create", "Intercomm_create_from_groups", "Intercomm_merge",
    "Comm_free", "Comm_disconnect", "Comm_spawn", "Comm_spawn_multiple", "Comm_accept", "Comm_connect",
    "Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic", "Win_fence", "Win_free",
    "Win_lock", "Win_lock_all", "Win_unlock", "Win_unlock_all", "Win_flush", "Win_flush_all",
    "Win_flush_local", "Win_flush_local_all", "Win_start", "Win_complete", "Win_post", "Win_wait", "Win_sync",
    "Session_init", "Session_finalize", "Init", "Init_thread", "Finalize", "Abort",
)  # fmt: skip
NOT_SYNCHRONISING = ("Comm_free", "Comm_disconnect", "Cart_sub")
"""Collective calls that need not wait for other ranks."""


def base(function: str) -> str:
    """The function without _c (large counts)."""
    return function.removesuffix("_c")


@lru_cache(maxsize=2048)
def blocking(function: str) -> str:
    """The blocking collective of a nonblocking or persistent one: Allreduce of Iallreduce, Allreduce_init."""
    name = base(function).removesuffix("_init")
    if name.startswith("I") and name[1:2].islower():
        capital = name[1:].capitalize() if "_" not in name else name[1].upper() + name[2:]
        if capital in COLLECTIVES or capital.startswith("Neighbor_"):
            return capital
    return name


@lru_cache(maxsize=2048)
def kind_of(function: str) -> Kind:
    name = base(function)
    for names, kind in _KINDS:
        if name in names:
            return kind
    if name.startswith("File_"):
        return "file"
    if name.endswith("_init"):
        return "local"
    collective = blocking(name)
    if collective != name and collective in COLLECTIVES:
        return "start collective"
    if collective.startswith("Neighbor_"):
        return "neighbors" if collective == name else "start collective"
    return "local"


_KINDS: tuple[tuple[tuple[str, ...], Kind], ...] = (
    (("Wtime", "Wtick"), "clock"),
    (COLLECTIVES, "collective"),
    (_SENDS, "send"),
    (_RECEIVES, "receive"),
    (_EXCHANGES, "exchange"),
    (_STARTS, "start"),
    (_WAITS, "wait"),
    (_POLLS, "poll"),
    (_PROBES, "probe"),
    (_ONE_SIDED, "one-sided"),
    (_SYNCHRONISATION, "synchronisation"),
)

_RECORDING_KINDS: dict[Kind, str] = {
    "local": "local",
    "clock": "clock",
    "start": "nonblocking",
    "wait": "nonblocking",
    "poll": "nonblocking",
    "start collective": "nonblocking",
}


def recording_kind(kind: Kind) -> str:
    """The kind of calls whose cost of recording, which ranks measure (`engine/profile/session.cpp`), is that
    of this kind."""
    return _RECORDING_KINDS.get(kind, "blocking")
