# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Replays the graph of a traced program with MPI calls on any machine that hockney can measure: this one,
simulated and emulated ones. Computation takes as long as in the trace."""

from __future__ import annotations

import contextlib
import struct
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from hockney import measurement
from hockney.core.case import Case
from hockney.core.errors import EnvironmentProblem, UsageError
from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions
from hockney.core.layout import THIS_HOST, HostOptions
from hockney.core.machine import Machine, MachineReference
from hockney.core.program_cases import PLAN_PREFIX, REPLAY, REPLAY_HEADER, REPLAY_STEP, replay_file
from hockney.core.record import Failure, Launch, Record, RunRecords
from hockney.core.wording import plural
from hockney.launch.launcher import LaunchOptions
from hockney.machines import emulated
from hockney.measurement import Bench, Listener, Status, ignore_event, notifier
from hockney.measurement.kinds import lan
from hockney.measurement.launch_recorder import launch_lines
from hockney.models.statistics import observe
from hockney.profiles.operations import blocking
from hockney.replay.graph import (
    BUFFERED,
    COMPUTE,
    ENTER,
    LEAVE,
    ONE_SIDED,
    RECEIVE,
    RECEIVED,
    SEND,
    SENT,
    WILDCARD,
    Graph,
)

COLLECTIVES = (
    "Barrier", "Bcast", "Gather", "Scatter", "Allgather", "Alltoall", "Gatherv", "Scatterv", "Allgatherv",
    "Alltoallv", "Reduce", "Allreduce", "Reduce_scatter_block", "Reduce_scatter", "Scan", "Exscan",
)  # fmt: skip
"""The collectives that are called, in the order of `Operation` in engine/replayer/replay.cpp. Collectives of
vectors use blocks of the mean size."""
SIMILAR = {"Alltoallw": "Alltoallv"}
"""Collectives that are called in place of operations that move as much data."""
BARRIER = "Barrier"
"""Called in place of all other operations in which all ranks wait for each other."""

STEP = np.dtype(list(REPLAY_STEP))
MAGIC = b"replay01"
PUT, GET = 7, 8
"""Additional kinds of steps: the starts of one-sided operations."""
ANY_RANK = -1

GRAPH = "app"
"""The name of the only graph in a plan."""
LAUNCHES, REPETITIONS = 3, 3
MIN_BUDGET_S = 20.0
SIMULATION_S = 3600.0
"""The time limit of a launch: at least MIN_BUDGET_S on a real machine, and SIMULATION_S for a simulation."""
MAX_SLOWDOWN = 5
"""A replay is given up if communication makes the program take longer than this multiple of its
computation."""


@dataclass(frozen=True)
class Steps:
    """The file of a graph's steps, and how it differs from the graph: the numbers of messages and collectives
    that are left out because some ranks took no part in them, and the numbers of substituted collectives by
    the original operation."""

    content: bytes
    left_out_messages: int
    left_out_collectives: int
    substitutions: dict[str, int]
    computed_s: float
    """The computation time of the rank that computes longest."""


@dataclass(frozen=True)
class Execution:
    """Times of a graph's replay on a machine, in seconds.

    `time_s`, with its 95% interval, is the time of the whole program, the longest over the ranks. `times_s`
    are the repetitions by launch, and `rank_s` the median of each rank. `computed_s`, `messages_s` and
    `collectives_s` are the parts of the time, and `places_s` is the time in the calls at each place: means
    over the ranks, medians over the repetitions or launches."""

    time_s: float
    low_s: float
    high_s: float
    times_s: tuple[tuple[float, ...], ...]
    rank_s: np.ndarray
    places_s: np.ndarray
    computed_s: float
    messages_s: float
    collectives_s: float
    machine: Machine
    steps: Steps
    records: RunRecords


def replay_on(
    graph: Graph,
    machine: str = "",
    *,
    mpi: str = "",
    bind: bool = True,
    launcher: LauncherOptions = NO_LAUNCHER_OPTIONS,
    hosts: HostOptions = THIS_HOST,
    launches: int = LAUNCHES,
    repetitions: int = REPETITIONS,
    free_matching: bool = False,
    budget_s: float | None = None,
    listen: Listener = ignore_event,
) -> Execution:
    """Replay `graph` on `machine`: "" for this one, or for example sim:t3e or lan:sun-ethernet. See
    `replay_with`. Also raises the errors of `measurement.prepare`."""
    hosts = _with_ranks_per_host(machine, hosts, graph.ranks)
    bench = measurement.prepare(
        machine, mpi, bind, notifier(listen), [REPLAY], launcher=launcher, hosts=hosts
    )
    return replay_with(
        bench,
        graph,
        launches=launches,
        repetitions=repetitions,
        free_matching=free_matching,
        budget_s=budget_s,
        listen=listen,
    )


def _with_ranks_per_host(machine: str, hosts: HostOptions, ranks: int) -> HostOptions:
    """The host options, with enough ranks on each host of an emulated machine unless the user set their
    number."""
    reference = MachineReference.parse(machine)
    if reference.scheme != lan.SCHEME or hosts.ranks_per_node:
        return hosts
    nodes = hosts.nodes or emulated.ethernet(reference.name).hosts
    return replace(hosts, ranks_per_node=-(-ranks // nodes))


def replay_with(
    bench: Bench,
    graph: Graph,
    *,
    launches: int = LAUNCHES,
    repetitions: int = REPETITIONS,
    free_matching: bool = False,
    budget_s: float | None = None,
    listen: Listener = ignore_event,
) -> Execution:
    """Replay `graph` with `repetitions` in each of `launches`. A simulation without noise runs once.
    `budget_s` is the time limit of each launch. Raises UsageError if the machine cannot have enough ranks,
    EnvironmentProblem if its MPI cannot replay the graph, and LaunchFailed."""
    steps = write_steps(graph, free_matching=free_matching)
    traits = bench.machine.traits
    sync = "window" if traits.simulated else "barrier"
    case = bench.catalog.case(f"{REPLAY} graph={PLAN_PREFIX}{GRAPH} sync={sync}", graph.ranks)
    bench = measurement.check_start(bench, [case])
    if budget_s is None:
        slow_run_s = MAX_SLOWDOWN * (repetitions + 2) * steps.computed_s
        budget_s = SIMULATION_S if not traits.wall_clock else max(MIN_BUDGET_S, slow_run_s)
    lines: list[Launch | Record | Failure] = []
    platform = bench.machine.platform
    if platform is not None and not platform.varies:
        launches = repetitions = 1
    for index in range(launches):
        listen(Status(f"replay: launch {index + 1}"))
        options = LaunchOptions(
            launch=f"{index}.0",
            index=index,
            budget_s=budget_s,
            max_repetitions=repetitions,
            hang_s=max(60.0, budget_s),
            origin=traits.origin,
            turn=index,
            files={replay_file(GRAPH): steps.content},
        )
        with contextlib.closing(launch_lines(bench.launcher, [case], graph.ranks, options)) as output_lines:
            lines += [line for line in output_lines if isinstance(line, Launch | Record | Failure)]
    return _execution(bench, graph, case, RunRecords.of(lines), steps)


def _execution(bench: Bench, graph: Graph, case: Case, run: RunRecords, steps: Steps) -> Execution:
    if run.failures:
        failure = run.failures[0]
        raise EnvironmentProblem(
            "the program cannot be replayed",
            failure.message,
            code="replay-failed",
            reason=failure.reason,
        )
    error_count = sum(record.verified.errors for record in run.records)
    if error_count:
        raise EnvironmentProblem(
            f"{plural(error_count, 'message')} of the replay arrived at the wrong receive or damaged",
            run.corrupted_records[0].verified.first,
            "run 'hockney doctor'",
            code="replay-corrupted",
            errors=error_count,
        )
    (observation,) = observe(run, bench.catalog)
    time_s, low_s, high_s = observation.interval()

    def median(name: str) -> float:
        return float(np.median(np.concatenate([record.metrics[name].values for record in run.records])))

    ranks = np.concatenate(
        [np.reshape(record.metrics["rank"].values, (-1, graph.ranks)) for record in run.records]
    )
    return Execution(
        time_s=time_s,
        low_s=low_s,
        high_s=high_s,
        times_s=tuple(tuple(record.times_s) for record in run.records),
        rank_s=np.median(ranks, axis=0),
        places_s=np.median([record.metrics["place"].values for record in run.records], axis=0),
        computed_s=median("computation"),
        messages_s=median("messages"),
        collectives_s=median("collectives"),
        machine=bench.machine,
        steps=steps,
        records=run,
    )


def write_steps(graph: Graph, *, free_matching: bool = False) -> Steps:
    """Write the steps of all ranks. A receive from any rank takes the message that it got in the trace. With
    `free_matching`, it takes any message with its tag; the replay may then hang if the program's control flow
    depends on the sender. Raises UsageError for a graph without ranks."""
    if graph.ranks < 1:
        raise UsageError("there are no ranks to replay", "the graph is empty", code="replay-without-ranks")
    ops, messages, groups = graph.ops, graph.messages, graph.groups
    kind, slot = ops["kind"], ops["slot"].astype(np.int64)
    first = np.asarray(graph.first, dtype=np.int64)
    rank = np.repeat(np.arange(graph.ranks), np.diff(first))
    steps = np.zeros(len(ops), STEP)
    for step_field, op_field in (
        ("kind", "kind"),
        ("flags", "flags"),
        ("place", "place"),
        ("seconds", "computed_s"),
    ):
        steps[step_field] = ops[op_field]

    members = graph.communicators
    local_ranks = _LocalRanks(members, graph.ranks)
    start_indices = np.full(len(ops), -1, dtype=np.int64)
    """The index of the operation that started what each operation ends."""
    is_unmatched = np.zeros(len(ops), dtype=bool)
    """Operations on messages and collectives that lack their counterparts on other ranks."""

    is_matched = np.ones(len(messages), dtype=bool)
    tags = _tags(messages, by_size=not free_matching)
    for start, end, partner in ((SEND, SENT, "target"), (RECEIVE, RECEIVED, "source")):
        start_ops, end_ops = np.flatnonzero(kind == start), np.flatnonzero(kind == end)
        message_starts = np.full(len(messages), -1, dtype=np.int64)
        message_starts[slot[start_ops]] = start_ops
        is_matched &= message_starts >= 0
        start_indices[end_ops] = message_starts[slot[end_ops]]
        start_ops = start_ops[ops["flags"][start_ops] & ONE_SIDED == 0]
        rows = messages[slot[start_ops]]
        steps["peer"][start_ops] = local_ranks(rows["communicator"], rows[partner])
        steps["tag"][start_ops] = tags[slot[start_ops]]
        steps["communicator"][start_ops] = rows["communicator"]
        steps["bytes"][start_ops] = rows["size"]
    is_message_op = np.isin(kind, (SEND, SENT, RECEIVE, RECEIVED))
    is_unmatched[is_message_op] = ~is_matched[slot[is_message_op]]
    is_one_sided = is_message_op & (ops["flags"] & ONE_SIDED != 0)
    access_starts, access_ends = (np.flatnonzero(is_one_sided & (kind == item)) for item in (SEND, RECEIVED))
    rows = messages[slot[access_starts]]
    steps["kind"][access_starts] = np.where(ops["flags"][access_starts] & BUFFERED != 0, PUT, GET)
    steps["peer"][access_starts] = local_ranks(rows["communicator"], rows["tag"])
    steps["communicator"][access_starts], steps["bytes"][access_starts] = rows["communicator"], rows["size"]
    access_ops = np.full(len(messages), -1, dtype=np.int64)
    access_ops[slot[access_starts]] = access_starts
    start_indices[access_ends] = access_ops[slot[access_ends]]
    is_unmatched |= is_one_sided & (kind == RECEIVE)
    windows = np.zeros(len(members), dtype=np.uint64)
    np.maximum.at(windows, rows["communicator"], np.maximum(rows["size"], 1))
    if free_matching:
        _relax_wildcard_receives(steps, ops, messages, tags)

    enters, leaves = np.flatnonzero(kind == ENTER), np.flatnonzero(kind == LEAVE)
    keys = slot[enters] * graph.ranks + rank[enters]
    order = np.argsort(keys, kind="stable")
    leave_keys = slot[leaves] * graph.ranks + rank[leaves]
    positions = np.searchsorted(keys, leave_keys, sorter=order)
    start_indices[leaves] = enters[order[np.minimum(positions, max(0, len(order) - 1))]] if len(order) else -1
    sizes = np.array([len(item) for item in members], dtype=np.int64)
    is_complete = np.bincount(slot[enters], minlength=len(groups)) == sizes[groups["communicator"]]
    calls, substitutions = _collective_calls(graph, is_complete)
    rows = groups[slot[enters]]
    is_rooted = rows["root"] >= 0
    steps["peer"][enters] = ANY_RANK
    steps["peer"][enters[is_rooted]] = local_ranks(rows["communicator"][is_rooted], rows["root"][is_rooted])
    steps["tag"][enters] = calls[rows["operation"]]
    steps["communicator"][enters] = rows["communicator"]
    steps["bytes"][enters] = np.where(calls[rows["operation"]] == 0, 0, np.round(rows["size"]))
    is_collective_op = np.isin(kind, (ENTER, LEAVE))
    is_unmatched[is_collective_op] = ~is_complete[slot[is_collective_op]]

    has_start = start_indices >= 0
    steps["start"][has_start] = start_indices[has_start] - first[rank[has_start]]
    is_unmatched |= np.isin(kind, (SENT, RECEIVED, LEAVE)) & ~has_start
    steps["kind"][is_unmatched] = COMPUTE
    tail_s = graph.tail_s if len(graph.tail_s) else np.zeros(graph.ranks)
    computed_s = np.bincount(rank, weights=ops["computed_s"], minlength=graph.ranks) + tail_s
    all_members = np.concatenate(
        [np.asarray(item, dtype=np.uint64) for item in members] or [np.zeros(0, np.uint64)]
    )
    places = max(len(graph.places), int(ops["place"].max(initial=0)) + 1)
    content = b"".join(
        (
            struct.pack(REPLAY_HEADER, MAGIC, graph.ranks, len(members), len(all_members), places),
            first.astype(np.uint64).tobytes(),
            np.cumsum(sizes, dtype=np.uint64).tobytes(),
            windows.tobytes(),
            all_members.tobytes(),
            np.asarray(tail_s, dtype=np.float64).tobytes(),
            steps.tobytes(),
        )
    )
    return Steps(
        content=content,
        left_out_messages=int(len(messages) - is_matched.sum()),
        left_out_collectives=int(len(groups) - is_complete.sum()),
        substitutions=substitutions,
        computed_s=float(computed_s.max()),
    )


class _LocalRanks:
    """Maps ranks in MPI_COMM_WORLD to ranks in communicators."""

    def __init__(self, communicators: tuple[np.ndarray, ...], ranks: int) -> None:
        self.ranks = ranks
        keys = [
            number * ranks + np.asarray(members, np.int64) for number, members in enumerate(communicators)
        ]
        places = [np.arange(len(members)) for members in communicators]
        all_keys = np.concatenate(keys) if keys else np.zeros(0, np.int64)
        self.order = np.argsort(all_keys, kind="stable")
        self.keys = all_keys[self.order]
        self.places = np.concatenate(places)[self.order] if keys else np.zeros(0, np.int64)

    def __call__(self, communicator: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """Raises UsageError if a rank is not in its communicator."""
        keys = communicator.astype(np.int64) * self.ranks + rank
        positions = np.searchsorted(self.keys, keys)
        positions = np.minimum(positions, max(0, len(self.keys) - 1))
        if len(keys) and (not len(self.keys) or np.any(self.keys[positions] != keys)):
            raise UsageError(
                "the graph has a message or collective of a rank that is not in its communicator",
                "the trace is damaged",
                code="rank-outside-communicator",
            )
        return self.places[positions] if len(keys) else np.zeros(0, np.int64)


def _tags(messages: np.ndarray, *, by_size: bool) -> np.ndarray:
    """Small tags, one for each tag of the program. With `by_size` there is one for each size too, because
    SimGrid lets small messages overtake large ones with the same tag."""
    tags = np.unique(messages["tag"], return_inverse=True)[1].ravel()
    if by_size:
        sizes, size = np.unique(messages["size"], return_inverse=True)
        tags = np.unique(tags * len(sizes) + size.ravel(), return_inverse=True)[1].ravel()
    return tags.astype(np.int32)


def _relax_wildcard_receives(
    steps: np.ndarray, ops: np.ndarray, messages: np.ndarray, tags: np.ndarray
) -> None:
    """Let receives that accept any sender do so, with room for the largest message that may arrive."""
    channels = np.stack([messages["target"], messages["communicator"], tags], axis=1)
    channel_numbers = np.unique(channels, axis=0, return_inverse=True)[1].ravel()
    max_bytes = np.zeros(channel_numbers.max(initial=-1) + 1, dtype=np.uint64)
    np.maximum.at(max_bytes, channel_numbers, messages["size"])
    wildcards = np.flatnonzero((ops["kind"] == RECEIVE) & (ops["flags"] & WILDCARD != 0))
    steps["peer"][wildcards] = ANY_RANK
    steps["bytes"][wildcards] = max_bytes[channel_numbers[ops["slot"][wildcards]]]


def _collective_calls(graph: Graph, is_complete: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
    """The number of the collective that each operation calls, and the counts of operations that are
    replaced."""
    counts = Counter(graph.groups["operation"][is_complete].tolist())
    calls, substitutions = [], {}
    for row, operation in enumerate(graph.operations):
        name = blocking(operation)
        call = SIMILAR.get(name, name)
        if call not in COLLECTIVES:
            call = BARRIER
        if call != name and counts[row]:
            substitutions[operation] = counts[row]
        calls.append(COLLECTIVES.index(call))
    return np.array(calls, dtype=np.int64), substitutions
