# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Executes the graph of a traced program with calls of MPI on any machine that hockney can measure: this one,
simulated and emulated ones. Computation takes the time that it took in the trace."""

from __future__ import annotations

import contextlib
import struct
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from hockney import measurement
from hockney.core.case import Case
from hockney.core.errors import EnvironmentProblem, UsageError
from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.layout import THIS_HOST, HostOptions
from hockney.core.machine import Machine, MachineReference
from hockney.core.program_cases import IN_PLAN, REPLAY, REPLAY_HEADER, REPLAY_STEP, replay_file
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
"""Those that are called, in the order of `Operation` in engine/replayer/replay.cpp. Those of vectors have
blocks of the mean size in place of different ones."""
SIMILAR = {"Alltoallw": "Alltoallv"}
"""Called in place of operations that move as much."""
BARRIER = "Barrier"
"""In place of all other operations of which all ranks wait for each other."""

STEP = np.dtype(list(REPLAY_STEP))
NAME = b"replay01"
PUT, GET = 7, 8
"""Kinds of steps besides those of graphs: the starts of one-sided operations."""
ANY = -1

GRAPH = "app"
"""The name of the only graph of a plan."""
LAUNCHES, REPETITIONS = 3, 3
SHORTEST_BUDGET_S = 20.0
SIMULATION_S = 3600.0
"""The time for a launch on a real machine, at least, and for a simulation."""
SLOWER = 5
"""A machine on which communication makes the program take longer than so many times its computation is given
up."""


@dataclass(frozen=True)
class Steps:
    """The file of a graph's steps, and what is not in it or is another call: messages and instances of
    collectives that some ranks took no part in, and the numbers of collectives by the operations that they
    stand for."""

    content: bytes
    left_out_messages: int
    left_out_collectives: int
    substituted: dict[str, int]
    computed_s: float
    """Of the rank that computes longest."""


@dataclass(frozen=True)
class Execution:
    """Times of a graph's replay on a machine, in seconds.

    `time_s` is that of the whole program with its 95% interval, the longest over the ranks; `times_s` are the
    repetitions by launch, `rank_s` the medians of each rank. `computed_s`, `messages_s` and `collectives_s`
    are the parts of the time, and `places_s` is the time in the calls of each place: means over the ranks,
    medians over the repetitions or launches."""

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
    launcher: LauncherOptions = NOTHING_ADDED,
    hosts: HostOptions = THIS_HOST,
    launches: int = LAUNCHES,
    repetitions: int = REPETITIONS,
    free_matching: bool = False,
    budget_s: float | None = None,
    listen: Listener = ignore_event,
) -> Execution:
    """Replay `graph` on `machine`: "" for this one, or for example sim:t3e or lan:sun-ethernet. See
    `replay_with`. Raises the errors of `measurement.prepare` as well."""
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
    """On an emulated machine as many ranks on each host as are needed, unless the user wants it otherwise."""
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
    """Replay `graph` with `repetitions` in each of `launches`; a simulation without noise has a single one.
    `budget_s` is the time for each launch. Raises UsageError for more ranks than the machine can have,
    EnvironmentProblem for a graph that its MPI cannot replay, and LaunchFailed."""
    steps = write_steps(graph, free_matching=free_matching)
    traits = bench.machine.traits
    sync = "window" if traits.simulated else "barrier"
    case = bench.catalog.case(f"{REPLAY} graph={IN_PLAN}{GRAPH} sync={sync}", graph.ranks)
    bench = measurement.check_start(bench, [case])
    if budget_s is None:
        most_s = SLOWER * (repetitions + 2) * steps.computed_s
        budget_s = SIMULATION_S if not traits.wall_clock else max(SHORTEST_BUDGET_S, most_s)
    lines: list[Launch | Record | Failure] = []
    platform = bench.machine.platform
    if platform is not None and platform.noise is None:
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
        with contextlib.closing(launch_lines(bench.launcher, [case], graph.ranks, options)) as launched:
            lines += [line for line in launched if isinstance(line, Launch | Record | Failure)]
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
    wrong = sum(record.verified.errors for record in run.records)
    if wrong:
        raise EnvironmentProblem(
            f"{plural(wrong, 'message')} of the replay arrived at the wrong receive or damaged",
            run.corrupted_records[0].verified.first,
            "run 'hockney doctor'",
            code="replay-corrupted",
            errors=wrong,
        )
    (observation,) = observe(run, bench.catalog)
    time_s, low_s, high_s = observation.interval()

    def typical(name: str) -> float:
        return float(np.median(np.concatenate([record.metrics[name].values for record in run.records])))

    ranks = np.concatenate([np.reshape(r.metrics["rank"].values, (-1, graph.ranks)) for r in run.records])
    return Execution(
        time_s=time_s,
        low_s=low_s,
        high_s=high_s,
        times_s=tuple(tuple(record.times_s) for record in run.records),
        rank_s=np.median(ranks, axis=0),
        places_s=np.median([record.metrics["place"].values for record in run.records], axis=0),
        computed_s=typical("computation"),
        messages_s=typical("messages"),
        collectives_s=typical("collectives"),
        machine=bench.machine,
        steps=steps,
        records=run,
    )


def write_steps(graph: Graph, *, free_matching: bool = False) -> Steps:
    """The steps of all ranks. A receive from any rank takes the message that it got in the trace, unless
    `free_matching`: then it takes any with its tag, and if the program's further course depends on the
    sender, the replay may never end. Raises UsageError for a graph without ranks."""
    if graph.ranks < 1:
        raise UsageError("there are no ranks to replay", "the graph is empty", code="replay-without-ranks")
    ops, messages, groups = graph.ops, graph.messages, graph.groups
    kind, slot = ops["kind"], ops["slot"].astype(np.int64)
    first = np.asarray(graph.first, dtype=np.int64)
    rank = np.repeat(np.arange(graph.ranks), np.diff(first))
    steps = np.zeros(len(ops), STEP)
    for here, there in (("kind", "kind"), ("flags", "flags"), ("place", "place"), ("seconds", "computed_s")):
        steps[here] = ops[there]

    members = graph.communicators
    place_in = _Places(members, graph.ranks)
    begins = np.full(len(ops), -1, dtype=np.int64)
    """The index of the operation that started what an operation ends."""
    lone = np.zeros(len(ops), dtype=bool)
    """Operations on messages and collectives of which other ranks have no part."""

    both = np.ones(len(messages), dtype=bool)
    tags = _tags(messages, by_size=not free_matching)
    for start, end, other in ((SEND, SENT, "target"), (RECEIVE, RECEIVED, "source")):
        started, ended = np.flatnonzero(kind == start), np.flatnonzero(kind == end)
        starts = np.full(len(messages), -1, dtype=np.int64)
        starts[slot[started]] = started
        both &= starts >= 0
        begins[ended] = starts[slot[ended]]
        started = started[ops["flags"][started] & ONE_SIDED == 0]
        of = messages[slot[started]]
        steps["peer"][started] = place_in(of["communicator"], of[other])
        steps["tag"][started] = tags[slot[started]]
        steps["communicator"][started] = of["communicator"]
        steps["bytes"][started] = of["size"]
    of_message = np.isin(kind, (SEND, SENT, RECEIVE, RECEIVED))
    lone[of_message] = ~both[slot[of_message]]
    one_sided = of_message & (ops["flags"] & ONE_SIDED != 0)
    asked, done = (np.flatnonzero(one_sided & (kind == each)) for each in (SEND, RECEIVED))
    of = messages[slot[asked]]
    steps["kind"][asked] = np.where(ops["flags"][asked] & BUFFERED != 0, PUT, GET)
    steps["peer"][asked] = place_in(of["communicator"], of["tag"])
    steps["communicator"][asked], steps["bytes"][asked] = of["communicator"], of["size"]
    operation = np.full(len(messages), -1, dtype=np.int64)
    operation[slot[asked]] = asked
    begins[done] = operation[slot[done]]
    lone |= one_sided & (kind == RECEIVE)
    windows = np.zeros(len(members), dtype=np.uint64)
    np.maximum.at(windows, of["communicator"], np.maximum(of["size"], 1))
    if free_matching:
        _relax_wildcard_receives(steps, ops, messages, tags)

    entered, left = np.flatnonzero(kind == ENTER), np.flatnonzero(kind == LEAVE)
    keys = slot[entered] * graph.ranks + rank[entered]
    order = np.argsort(keys, kind="stable")
    wanted = slot[left] * graph.ranks + rank[left]
    at = np.searchsorted(keys, wanted, sorter=order)
    begins[left] = entered[order[np.minimum(at, max(0, len(order) - 1))]] if len(order) else -1
    sizes = np.array([len(each) for each in members], dtype=np.int64)
    complete = np.bincount(slot[entered], minlength=len(groups)) == sizes[groups["communicator"]]
    calls, substituted = _calls(graph, complete)
    of = groups[slot[entered]]
    rooted = of["root"] >= 0
    steps["peer"][entered] = ANY
    steps["peer"][entered[rooted]] = place_in(of["communicator"][rooted], of["root"][rooted])
    steps["tag"][entered] = calls[of["operation"]]
    steps["communicator"][entered] = of["communicator"]
    steps["bytes"][entered] = np.where(calls[of["operation"]] == 0, 0, np.round(of["size"]))
    of_group = np.isin(kind, (ENTER, LEAVE))
    lone[of_group] = ~complete[slot[of_group]]

    ends = begins >= 0
    steps["start"][ends] = begins[ends] - first[rank[ends]]
    lone |= np.isin(kind, (SENT, RECEIVED, LEAVE)) & ~ends
    steps["kind"][lone] = COMPUTE
    tail_s = graph.tail_s if len(graph.tail_s) else np.zeros(graph.ranks)
    computed = np.bincount(rank, weights=ops["computed_s"], minlength=graph.ranks) + tail_s
    everyone = np.concatenate(
        [np.asarray(each, dtype=np.uint64) for each in members] or [np.zeros(0, np.uint64)]
    )
    places = max(len(graph.places), int(ops["place"].max(initial=0)) + 1)
    content = b"".join(
        (
            struct.pack(REPLAY_HEADER, NAME, graph.ranks, len(members), len(everyone), places),
            first.astype(np.uint64).tobytes(),
            np.cumsum(sizes, dtype=np.uint64).tobytes(),
            windows.tobytes(),
            everyone.tobytes(),
            np.asarray(tail_s, dtype=np.float64).tobytes(),
            steps.tobytes(),
        )
    )
    return Steps(
        content=content,
        left_out_messages=int(len(messages) - both.sum()),
        left_out_collectives=int(len(groups) - complete.sum()),
        substituted=substituted,
        computed_s=float(computed.max()),
    )


class _Places:
    """The places of ranks in communicators."""

    def __init__(self, communicators: tuple[np.ndarray, ...], ranks: int) -> None:
        self.ranks = ranks
        keys = [number * ranks + np.asarray(each, np.int64) for number, each in enumerate(communicators)]
        places = [np.arange(len(each)) for each in communicators]
        all_keys = np.concatenate(keys) if keys else np.zeros(0, np.int64)
        self.order = np.argsort(all_keys, kind="stable")
        self.keys = all_keys[self.order]
        self.places = np.concatenate(places)[self.order] if keys else np.zeros(0, np.int64)

    def __call__(self, communicator: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """Raises UsageError for a rank that is not in its communicator."""
        wanted = communicator.astype(np.int64) * self.ranks + rank
        at = np.searchsorted(self.keys, wanted)
        at = np.minimum(at, max(0, len(self.keys) - 1))
        if len(wanted) and (not len(self.keys) or np.any(self.keys[at] != wanted)):
            raise UsageError(
                "the graph has a message or collective of a rank that is not in its communicator",
                "the trace is damaged",
                code="rank-outside-communicator",
            )
        return self.places[at] if len(wanted) else np.zeros(0, np.int64)


def _tags(messages: np.ndarray, *, by_size: bool) -> np.ndarray:
    """Small tags, one for each of the program's; with `by_size` one for each size too, because SimGrid lets
    small messages overtake large ones with the same tag."""
    tags = np.unique(messages["tag"], return_inverse=True)[1].ravel()
    if by_size:
        sizes, size = np.unique(messages["size"], return_inverse=True)
        tags = np.unique(tags * len(sizes) + size.ravel(), return_inverse=True)[1].ravel()
    return tags.astype(np.int32)


def _relax_wildcard_receives(
    steps: np.ndarray, ops: np.ndarray, messages: np.ndarray, tags: np.ndarray
) -> None:
    """Receives that would take any sender do so: with room for the largest message that may come."""
    channel = np.stack([messages["target"], messages["communicator"], tags], axis=1)
    number = np.unique(channel, axis=0, return_inverse=True)[1].ravel()
    most = np.zeros(number.max(initial=-1) + 1, dtype=np.uint64)
    np.maximum.at(most, number, messages["size"])
    free = np.flatnonzero((ops["kind"] == RECEIVE) & (ops["flags"] & WILDCARD != 0))
    steps["peer"][free] = ANY
    steps["bytes"][free] = most[number[ops["slot"][free]]]


def _calls(graph: Graph, complete: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
    """The number of the collective that each operation calls, and how often it is another operation."""
    made = Counter(graph.groups["operation"][complete].tolist())
    calls, substituted = [], {}
    for row, operation in enumerate(graph.operations):
        name = blocking(operation)
        call = SIMILAR.get(name, name)
        if call not in COLLECTIVES:
            call = BARRIER
        if call != name and made[row]:
            substituted[operation] = made[row]
        calls.append(COLLECTIVES.index(call))
    return np.array(calls, dtype=np.int64), substituted
