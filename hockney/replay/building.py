# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the graph of a program from the traces of all ranks: matches sends with receives, groups the calls
of collectives, and finds the computation between calls.

All messages from one rank to another with one tag, on one communicator, form a channel: its k-th send is
matched with its k-th receive. A receive from any rank or with any tag belongs to the channel of the message
that it received."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.errors import EnvironmentProblem
from hockney.core.wording import plural
from hockney.profiles import trace as records
from hockney.profiles.operations import (
    FROM_ROOT,
    NOT_SYNCHRONISING,
    TO_ROOT,
    base,
    blocking,
    kind_of,
    recording_kind,
)
from hockney.profiles.profile import OUTSIDE_MPI_TIME, Launch
from hockney.profiles.rank_file import rank_list
from hockney.profiles.trace import RankTrace
from hockney.replay import graph as g
from hockney.replay.graph import GROUP, MESSAGE, OP, Graph

MAX_PLACES = 65536
OTHER_PLACES = "other places"
PROC_NULL = -2
"""The rank MPI_PROC_NULL, as recorded."""

_END, _PROBE = 200, 201
"""Additional kinds of rows: the end of a request, whose kind depends on what the request started, and a
probe."""
_ROW = np.dtype(
    [
        ("kind", "u1"),
        ("flags", "u1"),
        ("starts", "?"),
        ("cancelled", "?"),
        ("one_sided", "u1"),
        ("back", "u2"),
        ("peer", "i4"),
        ("tag", "i4"),
        ("communicator", "i4"),
        ("size", "u8"),
        ("age", "u4"),
        ("root", "i4"),
        ("place", "i4"),
        ("operation", "i4"),
    ]
)
"""An operation of a distinct call. `back` is the number of rows between an end and its start."""
_PUT, _GET, _COMPLETION = 1, 2, 3
_KEY = np.dtype([("communicator", "i4"), ("source", "i4"), ("target", "i4"), ("tag", "i4")])


@dataclass(frozen=True)
class Placement:
    """The numbers of the host, package and core of each rank (-1: unknown, or more than one)."""

    host: np.ndarray
    package: np.ndarray
    core: np.ndarray

    def level(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """The distance of messages, as indices into LEVELS."""
        same_package = (self.package[source] == self.package[target]) & (self.package[source] >= 0)
        same_core = same_package & (self.core[source] == self.core[target]) & (self.core[source] >= 0)
        level = np.where(same_core, 1, np.where(same_package, 2, 3))
        level = np.where(self.host[source] == self.host[target], level, 4)
        return np.where(source == target, 0, level).astype(np.uint8)

    @classmethod
    def from_hosts(cls, host: np.ndarray) -> Placement:
        unknown = np.full(len(host), -1)
        return cls(np.asarray(host), unknown, unknown)


@dataclass(frozen=True)
class Job:
    """What is known about the ranks besides their traces, by rank in MPI_COMM_WORLD. `communicators` contains
    the ranks of each communicator in its own order; `communicator_by_id` maps each rank's own numbers of
    communicators to their indices there. `start` and `end` (s) are the end of MPI_Init and the beginning of
    MPI_Finalize. Ranks with equal `clock` share a clock. `recording_s` is the time that recording adds to a
    call, by the kind of call. `origins` name the calls that made the communicators, equally on any number of
    ranks; empty if they are unknown."""

    communicators: tuple[np.ndarray, ...]
    communicator_by_id: tuple[Mapping[int, int], ...]
    start: np.ndarray
    end: np.ndarray
    clock: np.ndarray
    placement: Placement
    describe_place: Callable[[int, str, int], str]
    recording_s: Mapping[str, float] = field(default_factory=dict)
    origins: tuple[str, ...] = ()

    def recording_time(self, function: str) -> float:
        """The seconds that recording adds to a call of an MPI function."""
        kind = kind_of(function)
        if kind == "clock":  # a loop until a certain time takes no longer
            return 0.0
        return self.recording_s.get(recording_kind(kind), 0.0)


@dataclass(frozen=True)
class UnmatchedOperations:
    """Operations without a partner at one place. Their kind is "send", "receive", "collective", "completion
    of an unknown request", or "pending receive" (the program did not wait for it)."""

    place: str
    kind: str
    count: int
    ranks: tuple[int, ...]

    @property
    def text(self) -> str:
        return f"{plural(self.count, self.kind)} of {rank_list(self.ranks)} at {self.place}"


@dataclass(frozen=True)
class RecordedTimes:
    """The recorded beginning of each call, on the common clock of the ranks (s). `first_ops` are the first
    operations of the calls in the graph, which begin after the computation before them. `recording_s` is the
    time that recording added since the previous call. `ends_s` and `ends_recording_s` describe the end of
    each rank."""

    first_ops: np.ndarray
    begins_s: np.ndarray
    recording_s: np.ndarray
    ends_s: np.ndarray
    ends_recording_s: np.ndarray


@dataclass(frozen=True)
class TraceGraph:
    """The graph of a trace, with facts that the graph does not contain: the time (s) from the start of the
    first rank to the end of each rank, the seconds in MPI calls at each place over all ranks, and the time
    that recording added to each rank. `cut_s` is the time up to which an incomplete trace was used.
    `recorded_times` is None if ranks have different clocks."""

    graph: Graph
    placement: Placement
    end_s: np.ndarray
    calls_s: np.ndarray
    recording_s: np.ndarray
    unmatched: tuple[UnmatchedOperations, ...] = ()
    wildcards: int = 0
    inferred_senders: int = 0
    """The number of receives from any rank whose sender was not recorded. The earliest message that no other
    receive got is assumed."""
    cut_s: float | None = None
    recorded_times: RecordedTimes | None = None


def job_from_launch(launch: Launch) -> Job:
    """Describe the ranks of a profiled launch. Raises EnvironmentProblem if it started more than one
    program."""
    files = launch.files
    if len({file.job for file in files}) != 1:
        raise EnvironmentProblem(
            "the launch started several MPI programs",
            "a replay is of one MPI_COMM_WORLD",
            "profile one program at a time",
            code="replay-several-programs",
        )
    members: dict[int, list[tuple[int, int]]] = {}
    for file in files:
        for row in file.communicators:
            members.setdefault(int(row["key"]), []).append((int(row["rank"]), file.rank))
    communicator_numbers = {key: k for k, key in enumerate(members)}
    sites = [_site_texts(launch, k) for k in range(len(files))]
    hosts = np.unique([file.host for file in files], return_inverse=True)[1].reshape(-1)
    return Job(
        tuple(np.array([rank for _, rank in sorted(pairs)]) for pairs in members.values()),
        tuple(
            {int(row["id"]): communicator_numbers[int(row["key"])] for row in file.communicators}
            for file in files
        ),
        np.array([rank.start for rank in launch.ranks]),
        np.array([rank.end for rank in launch.ranks]),
        np.array([rank.clock for rank in launch.ranks], dtype=np.uint64),
        Placement(
            hosts,
            np.array([int(file.header["package"]) for file in files]),
            np.array([int(file.header["core"]) for file in files]),
        ),
        lambda rank, function, site: f"{function} at {sites[rank].get(site, 'unknown')}",
        {kind: added for kind, (_, added) in launch.overheads.items()},
        _origins(launch, communicator_numbers),
    )


WORLD = "MPI_COMM_WORLD"
MAX_CHILDREN = 16
"""Later communicators of a parent, which a program makes in a loop, are not told apart."""


def _origins(launch: Launch, numbers: Mapping[int, int]) -> tuple[str, ...]:
    """The call that made each communicator, such as "Comm_split 0 of MPI_COMM_WORLD"."""
    found = dict.fromkeys(range(len(numbers)), "")
    for file in launch.files:
        own = {0: "an unknown communicator"}
        for row in file.communicators:
            made_by, nth = int(row["made_by"]), int(row["nth"])
            text = WORLD if int(row["id"]) == 1 else "MPI_COMM_SELF" if int(row["size"]) == 1 else own[0]
            if made_by < len(launch.functions):
                number = f" {nth}" if nth < MAX_CHILDREN else ""
                text = f"{launch.functions[made_by]}{number} of {own.get(int(row['parent']), own[0])}"
            own[int(row["id"])] = text
            number_in_run = numbers[int(row["key"])]
            found[number_in_run] = found[number_in_run] or text
    return tuple(found.values())


def _site_texts(launch: Launch, rank: int) -> dict[int, str]:
    rows = launch.calls[launch.calls["rank"] == rank]
    raw_sites, first_rows = np.unique(rows["raw_site"], return_index=True)
    places = [launch.sites[site].text for site in rows["site"][first_rows].tolist()]
    return dict(zip(raw_sites.tolist(), places, strict=True))


def build(traces: Sequence[RankTrace], job: Job) -> TraceGraph:
    """Build the graph. Raises EnvironmentProblem if a rank has no trace, or if ranks disagree about a
    collective."""
    ordered_traces = sorted(traces, key=lambda trace: trace.rank)
    missing_ranks = sorted(set(range(len(job.start))) - {trace.rank for trace in ordered_traces})
    if missing_ranks or not ordered_traces:
        raise EnvironmentProblem(
            f"{rank_list(missing_ranks)} {'has' if len(missing_ranks) == 1 else 'have'} no trace",
            "a replay needs the traces of all ranks",
            "profile the program again with --trace, and call MPI from one thread",
            code="ranks-without-trace",
            ranks=missing_ranks,
        )
    builder = _Builder(job)
    ranks = [builder.expand(trace) for trace in ordered_traces]
    return builder.build(ranks, cut=not all(trace.complete for trace in ordered_traces))


@dataclass
class _RankOperations:
    """The operations of one rank. `op_rows` and `op_events` are the row and the event of each operation;
    `start_ops` is the index of the operation that started what an operation ends (-1: none). `keys` are the
    keys of the rank's channels, `channels` the channel of each operation (-1: none)."""

    number: int
    rows: np.ndarray
    enter: np.ndarray
    leave: np.ndarray
    gap_s: np.ndarray
    """Seconds of computation before each event with operations."""
    begins_s: np.ndarray
    """When each event began, including unsuccessful polls before it."""
    recording_before_s: np.ndarray
    """Seconds that recording added before each event, and after the last one."""
    tail_s: float
    recording_s: float
    op_rows: np.ndarray
    op_events: np.ndarray
    kind: np.ndarray
    start_ops: np.ndarray
    alive: np.ndarray
    unmatched: np.ndarray
    keys: np.ndarray
    channels: np.ndarray
    global_key: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    slot: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    unmodelled_s: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Seconds of each operation that the model of messages does not cover."""

    def shorten(self, events: int) -> None:
        """Keep the first events only."""
        count = int(np.searchsorted(self.op_events, events))
        self.enter, self.leave, self.gap_s = self.enter[:events], self.leave[:events], self.gap_s[:events]
        self.begins_s, self.recording_before_s = (
            self.begins_s[:events],
            np.append(self.recording_before_s[:events], 0.0),
        )
        for name in ("op_rows", "op_events", "kind", "start_ops", "alive", "unmatched", "channels"):
            setattr(self, name, getattr(self, name)[:count])
        self.tail_s = 0.0

    def receives_without_sender(self) -> np.ndarray:
        """The indices of receives whose message is unknown."""
        ops = np.flatnonzero(self.unmatched & ~self.alive & (self.kind == g.RECEIVE) & (self.channels >= 0))
        keys = self.keys[self.channels[ops]]
        return ops[((keys["source"] < 0) | (keys["tag"] < 0)) & (keys["communicator"] >= 0)]

    def channel_for_key(self, number: int, keys: np.ndarray) -> int:
        """The rank's channel for a global number of a key. Adds the channel if the rank does not have it."""
        matches = np.flatnonzero(self.global_key == number)
        if not len(matches):
            self.keys = np.append(self.keys, keys[number : number + 1])
            self.global_key = np.append(self.global_key, number)
            return len(self.keys) - 1
        return int(matches[0])

    def matchable_ops(self, kind: int) -> np.ndarray:
        """The indices of operations of this kind that have a channel."""
        return np.flatnonzero((self.kind == kind) & self.alive & (self.channels >= 0))

    def numbers_in_channel(self, ops: np.ndarray) -> np.ndarray:
        """The number of each of these operations within its channel."""
        channels = self.channels[ops]
        if not len(ops):
            return np.zeros(0, dtype=np.int64)
        sort_key = channels.astype(np.uint16) if len(self.keys) < 65536 else channels
        order = np.argsort(sort_key, kind="stable")
        counts = np.bincount(channels, minlength=len(self.keys))
        first_positions = np.cumsum(counts) - counts
        numbers = np.empty(len(ops), dtype=np.int64)
        numbers[order] = np.arange(len(ops)) - first_positions[channels[order]]
        return numbers


class _Builder:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.places: dict[str, int] = {}
        self.operations: dict[str, int] = {}
        self.wildcards = 0

    def _place_number(self, text: str) -> int:
        """The number of a place, which is added if it is new."""
        return self.places.setdefault(text, len(self.places))

    # The operations of one rank

    def call_rows(self, trace: RankTrace) -> tuple[np.ndarray, np.ndarray]:
        """The operations of all distinct calls, and the index of the first operation of each call."""
        rows: list[tuple[int, ...]] = []
        first_rows = [0]
        communicator_by_id = self.job.communicator_by_id[trace.rank]
        for call in trace.calls:
            if len(call.parts):
                name = base(call.function)
                place = self._place_number(self.job.describe_place(trace.rank, call.function, call.site))
                rows += self._rows_of_call(name, call.parts, place, communicator_by_id, trace.rank)
            first_rows.append(len(rows))
        return np.array(rows, dtype=_ROW), np.array(first_rows)

    def _rows_of_call(
        self,
        function: str,
        parts: np.ndarray,
        place: int,
        communicator_by_id: Mapping[int, int],
        rank: int,
    ) -> list[tuple[int, ...]]:
        """The operations of a call: starts come first, then the ends of receives, then the ends of sends."""
        starts: list[tuple[int, ...]] = []
        receive_ends: list[tuple[int, ...]] = []
        send_ends: list[tuple[int, ...]] = []
        blocking_starts: list[tuple[int, int]] = []
        name = blocking(function).lower()
        for part in parts:
            part_kind, flags = int(part["what"]), int(part["flags"])
            common_fields = (
                int(part["peer"]),
                int(part["tag"]),
                communicator_by_id.get(int(part["communicator"]), -1),
                int(part["bytes"]),
                int(part["age"]),
                int(part["root"]),
                place,
            )
            op_flags = g.BUFFERED * bool(flags & records.BUFFERED)
            op_flags |= g.SYNCHRONOUS * bool(flags & records.SYNCHRONOUS)
            op_flags |= g.WILDCARD * bool(flags & records.WILDCARD)
            cancelled = bool(flags & records.CANCELLED)

            def row(
                kind: int, flags: int = 0, *, request: bool = False, one_sided: int = 0, operation: int = -1
            ) -> tuple[int, ...]:
                return (kind, flags, request, cancelled, one_sided, 0, *common_fields, operation)  # noqa: B023

            if part_kind in (records.SEND, records.RECEIVE):
                is_send = part_kind == records.SEND
                blocking_starts.append((len(starts), g.SENT if is_send else g.RECEIVED))
                starts.append(row(g.SEND if is_send else g.RECEIVE, op_flags | g.BLOCKING))
                (send_ends if is_send else receive_ends).append(row(g.SENT if is_send else g.RECEIVED))
            elif part_kind in (records.START_SEND, records.START_RECEIVE):
                starts.append(
                    row(g.SEND if part_kind == records.START_SEND else g.RECEIVE, op_flags, request=True)
                )
            elif part_kind == records.END:
                receive_ends.append(row(_END))
            elif part_kind in (records.COLLECTIVE, records.START_COLLECTIVE):
                is_blocking = part_kind == records.COLLECTIVE
                if not is_blocking or function not in NOT_SYNCHRONISING:
                    self._add_collective(
                        starts, receive_ends, blocking_starts, row, name, int(part["root"]), rank, is_blocking
                    )
            elif part_kind in (records.PUT, records.GET):
                is_put, has_request = part_kind == records.PUT, bool(flags & records.REQUEST)
                access, op_flags = (_PUT, g.ONE_SIDED | g.BUFFERED) if is_put else (_GET, g.ONE_SIDED)
                starts.append(row(g.SEND, op_flags, request=has_request and is_put, one_sided=access))
                starts.append(row(g.RECEIVE, op_flags, request=has_request and not is_put, one_sided=access))
                if is_put or not has_request:
                    blocking_starts.append((len(starts) - 1, g.RECEIVED))
                    receive_ends.append(row(g.RECEIVED, op_flags, one_sided=access))
            elif part_kind == records.SYNCHRONIZE:
                # Pending one-sided operations complete before the call's collective does.
                starts.append(row(g.COMPUTE, one_sided=_COMPLETION))
                if name in ("win_fence", "win_create", "win_allocate", "win_free"):
                    self._add_collective(starts, receive_ends, blocking_starts, row, name, -1, rank, True)
            elif part_kind == records.PROBE:
                blocking_starts.append((len(starts), g.RECEIVED))
                starts.append(row(_PROBE, op_flags | g.BLOCKING))
                receive_ends.append(row(g.RECEIVED))
        rows = starts + receive_ends + send_ends
        return self._with_back_references(rows, blocking_starts, len(starts), len(receive_ends))

    def _add_collective(
        self,
        starts: list[tuple[int, ...]],
        ends: list[tuple[int, ...]],
        blocking_starts: list[tuple[int, int]],
        row: Callable[..., tuple[int, ...]],
        name: str,
        root: int,
        rank: int,
        is_blocking: bool,
    ) -> None:
        operation = self.operations.setdefault(name, len(self.operations))
        flags = 0
        if root >= 0 and name.capitalize() in FROM_ROOT:
            flags = g.ROOTED_FROM
        elif root >= 0 and name.capitalize() in TO_ROOT:
            flags = g.ROOTED_TO
        if flags and root == rank:
            flags |= g.AT_ROOT
        if is_blocking:
            blocking_starts.append((len(starts), g.LEAVE))
            ends.append(row(g.LEAVE, flags))
        starts.append(
            row(
                g.ENTER,
                flags | (g.BLOCKING if is_blocking else 0),
                request=not is_blocking,
                operation=operation,
            )
        )

    @staticmethod
    def _with_back_references(
        rows: list[tuple[int, ...]],
        blocking_starts: list[tuple[int, int]],
        start_count: int,
        receive_count: int,
    ) -> list[tuple[int, ...]]:
        """The rows, with the distance to the start in each end of a call that waits for what it started."""
        ends = {
            True: iter(range(start_count + receive_count, len(rows))),
            False: iter([k for k in range(start_count, start_count + receive_count) if rows[k][0] != _END]),
        }
        for start, kind in blocking_starts:
            end = next(ends[kind == g.SENT])
            rows[end] = (*rows[end][:5], end - start, *rows[end][6:])
        return rows

    def expand(self, trace: RankTrace) -> _RankOperations:
        outside_mpi = np.array([call.function in OUTSIDE_MPI_TIME for call in trace.calls], dtype=bool)
        if outside_mpi.any():
            trace = replace(trace, events=trace.events[~outside_mpi[trace.events["call"]]])
        rows, first_rows = self.call_rows(trace)
        calls = trace.events["call"]
        sizes = np.diff(first_rows)
        has_rows = sizes[calls] > 0
        recording_s = np.array([self.job.recording_time(call.function) for call in trace.calls])
        gap_s, begins_s, recording_before_s, tail_s = self._gaps(trace, has_rows, recording_s)
        events = trace.events[has_rows]
        call = events["call"]
        row_counts = sizes[call]
        end_positions = np.cumsum(row_counts)
        op_events = np.repeat(np.arange(len(call), dtype=np.int32), row_counts)
        op_rows = np.arange(len(op_events)) - np.repeat(
            end_positions - row_counts - first_rows[call], row_counts
        )
        op_rows = op_rows.astype(np.int32)
        kind = rows["kind"][op_rows]
        alive = np.ones(len(op_rows), dtype=bool)
        unmatched = np.zeros(len(op_rows), dtype=bool)
        start_ops = self._find_starts(rows, op_rows, kind, alive, unmatched)
        if (rows["one_sided"] > 0).any():
            order, op_events, start_ops, alive = _move_completions(rows, op_rows, op_events, start_ops, alive)
            op_rows, kind, unmatched = op_rows[order], kind[order], unmatched[order]
        rank = _RankOperations(
            number=trace.rank,
            rows=rows,
            enter=events["enter"],
            leave=events["leave"],
            gap_s=gap_s,
            begins_s=begins_s,
            recording_before_s=recording_before_s,
            tail_s=tail_s,
            recording_s=float(recording_s[calls].sum()) if len(recording_s) else 0.0,
            op_rows=op_rows,
            op_events=op_events,
            kind=kind,
            start_ops=start_ops,
            alive=alive,
            unmatched=unmatched,
            keys=np.zeros(0, _KEY),
            channels=np.full(len(op_rows), -1, np.int32),
        )
        self._set_channels(rank)
        return rank

    def _gaps(
        self, trace: RankTrace, has_rows: np.ndarray, recording_s: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """The seconds between calls with operations, the times at which these begin, the time that recording
        adds before each and after the last one, and the seconds after the last one. The gap before a call
        excludes unsuccessful polls just before it: what they waited for is received by the call."""
        job, events = self.job, trace.events
        same_clock = job.clock == job.clock[trace.rank]
        begin = float(job.start[same_clock].min())
        end = float(job.end[trace.rank])
        recording_before_s, polling_s = np.zeros(len(events)), np.zeros(len(events))
        if len(events):
            recording_before_s = recording_s[events["call"]]
            is_poll = np.array([call.misses and not len(call.parts) for call in trace.calls])[events["call"]]
            precedes_call = is_poll[:-1] & (has_rows[1:] | is_poll[1:])
            polling_s[:-1] = np.where(precedes_call, (events["leave"] - events["enter"])[:-1], 0.0)
        events_with_rows = np.flatnonzero(has_rows)
        bounds = np.concatenate([[0], events_with_rows, [len(events)]])
        recording_before_s, polling_s = (
            np.diff(np.concatenate([[0.0], np.cumsum(seconds)])[bounds])
            for seconds in (recording_before_s, polling_s)
        )
        begins_s = np.append(events["enter"][events_with_rows], end) - polling_s
        idle_s = begins_s - np.concatenate([[begin], events["leave"][events_with_rows]])
        gap_s = np.maximum(idle_s - recording_before_s, 0.0)
        return gap_s[:-1], begins_s[:-1], idle_s - gap_s, float(gap_s[-1])

    def _find_starts(
        self,
        rows: np.ndarray,
        op_rows: np.ndarray,
        kind: np.ndarray,
        alive: np.ndarray,
        unmatched: np.ndarray,
    ) -> np.ndarray:
        """The index of the start of each end (-1 for other operations)."""
        start_ops = np.full(len(op_rows), -1, dtype=np.int32)
        distance = rows["back"][op_rows]
        blocking_ends = np.flatnonzero(distance > 0)
        start_ops[blocking_ends] = blocking_ends - distance[blocking_ends]
        ends = np.flatnonzero(kind == _END)
        if len(ends):
            starts_request = rows["starts"][op_rows]
            request_starts = np.flatnonzero(starts_request)
            numbers = np.cumsum(starts_request)[ends] - rows["age"][op_rows[ends]].astype(np.int64)
            is_known = (numbers >= 0) & (rows["age"][op_rows[ends]] > 0)
            start_ops[ends[is_known]] = request_starts[numbers[is_known]]
            unmatched[ends[~is_known]] = True
            alive[ends[~is_known]] = False
            ends = ends[is_known]
            kind[ends] = _END_KINDS[kind[start_ops[ends]]]
            cancelled_ends = ends[rows["cancelled"][op_rows[ends]]]
            alive[cancelled_ends] = alive[start_ops[cancelled_ends]] = False
        return start_ops

    def _set_channels(self, rank: _RankOperations) -> None:
        rows, op_rows, kind = rank.rows, rank.op_rows, rank.kind
        keys = np.zeros(len(rows), _KEY)
        is_send = rows["kind"] == g.SEND
        keys["communicator"], keys["tag"] = rows["communicator"], rows["tag"]
        keys["source"] = np.where(is_send, rank.number, rows["peer"])
        keys["target"] = np.where(is_send, rows["peer"], rank.number)
        is_collective = rows["kind"] == g.ENTER
        keys["source"][is_collective] = keys["target"][is_collective] = keys["tag"][is_collective] = -1
        key_indices = np.arange(len(rows), dtype=np.int64)[op_rows]
        is_start = (kind == g.SEND) | (kind == g.RECEIVE) | (kind == _PROBE) | (kind == g.ENTER)
        # The end of a receive from any rank, or with any tag, identifies its message.
        wildcard_ends = np.flatnonzero((kind == g.RECEIVED) & (rank.start_ops >= 0) & rank.alive)
        wildcard_ends = wildcard_ends[
            (rows["flags"][op_rows[rank.start_ops[wildcard_ends]]] & g.WILDCARD) > 0
        ]
        wildcard_ends = wildcard_ends[rows["starts"][op_rows[rank.start_ops[wildcard_ends]]]]
        self.wildcards += int(np.count_nonzero((rows["flags"][op_rows] & g.WILDCARD > 0) & is_start))
        if len(wildcard_ends):
            row_pairs = (
                op_rows[rank.start_ops[wildcard_ends]].astype(np.int64) * len(rows) + op_rows[wildcard_ends]
            )
            distinct_pairs, pair_indices = np.unique(row_pairs, return_inverse=True)
            actual_keys = np.zeros(len(distinct_pairs), _KEY)
            actual_keys["communicator"] = rows["communicator"][distinct_pairs // len(rows)]
            actual_keys["source"], actual_keys["tag"] = (
                rows["peer"][distinct_pairs % len(rows)],
                rows["tag"][distinct_pairs % len(rows)],
            )
            actual_keys["target"] = rank.number
            key_indices[rank.start_ops[wildcard_ends]] = len(rows) + pair_indices.reshape(-1)
            keys = np.concatenate([keys, actual_keys])
        is_access = (rows["one_sided"][op_rows] > 0) & (rows["one_sided"][op_rows] != _COMPLETION)
        rank.alive[is_access & (rows["peer"][op_rows] < 0)] = False
        is_start &= (rows["one_sided"][op_rows] == 0) & rank.alive
        starts = np.flatnonzero(is_start)
        null_starts = starts[(rows["peer"][op_rows[starts]] == PROC_NULL) & (kind[starts] != g.ENTER)]
        used_keys = np.flatnonzero(np.bincount(key_indices[starts], minlength=len(keys)))
        rank.keys, key_channels = _distinct_keys(keys[used_keys])
        channel_by_key = np.full(len(keys), -1, dtype=np.int32)
        channel_by_key[used_keys] = key_channels
        rank.channels[starts] = channel_by_key[key_indices[starts]]
        is_unknown = (rank.keys["source"] < 0) & (rank.keys["target"] >= 0) | (rank.keys["communicator"] < 0)
        is_unknown |= (
            (rank.keys["tag"] < 0) & (rank.keys["target"] == rank.number) & (rank.keys["source"] >= 0)
        )
        lost_starts = starts[is_unknown[rank.channels[starts]]]
        rank.alive[lost_starts] = False
        rank.unmatched[lost_starts] = kind[lost_starts] != _PROBE
        rank.alive[null_starts] = rank.unmatched[null_starts] = False
        rank.unmatched[null_starts] = False
        self._move_probes(rank)

    def _move_probes(self, rank: _RankOperations) -> None:
        """Let the first probe of a message wait for it, in place of its receive. Remove all other probes."""
        probes = rank.matchable_ops(_PROBE)
        if not (rank.kind == _PROBE).any():
            return
        ops = np.sort(np.concatenate([probes, rank.matchable_ops(g.RECEIVE)]))
        op_channels = rank.channels[ops]
        order = np.argsort(op_channels, kind="stable")
        sorted_ops, sorted_channels = ops[order], op_channels[order]
        is_probe = rank.kind[sorted_ops] == _PROBE
        # The next receive of the same channel, from the end backwards.
        position = np.where(is_probe, len(sorted_ops), np.arange(len(sorted_ops)))
        next_receive = np.minimum.accumulate(position[::-1])[::-1]
        has_receive = next_receive < len(sorted_ops)
        has_receive[has_receive] = sorted_channels[next_receive[has_receive]] == sorted_channels[has_receive]
        all_probes = np.flatnonzero(rank.kind == _PROBE)
        rank.kind[all_probes] = g.RECEIVE
        ends = np.flatnonzero((rank.kind == g.RECEIVED) & (rank.start_ops >= 0))
        end_ops = np.full(len(rank.op_rows), -1, dtype=np.int64)
        end_ops[rank.start_ops[ends]] = ends
        probe_positions = np.flatnonzero(is_probe & has_receive)
        receive_positions, first_probes = np.unique(next_receive[probe_positions], return_index=True)
        first_positions = probe_positions[first_probes]
        rank.alive[all_probes] = False
        rank.alive[sorted_ops[first_positions]] = True
        rank.alive[end_ops[all_probes]] = rank.alive[all_probes]
        rank.channels[all_probes[~rank.alive[all_probes]]] = -1
        receives = sorted_ops[receive_positions]
        rank.alive[receives] = False
        rank.channels[receives] = -1
        receive_ends = end_ops[receives]
        rank.alive[receive_ends[receive_ends >= 0]] = False

    # All ranks

    def build(self, ranks: list[_RankOperations], *, cut: bool) -> TraceGraph:
        cut_s = None
        if cut:
            cut_s = min(float(rank.leave[-1]) if len(rank.leave) else 0.0 for rank in ranks)
            for rank in ranks:
                rank.shorten(int(np.searchsorted(rank.leave, cut_s, side="right")))
        while True:
            matching = _Matching(ranks, self.job, list(self.operations))
            if not cut or not matching.shorten():
                break
        return self._assemble(matching, cut_s)

    def _assemble(self, matching: _Matching, cut_s: float | None) -> TraceGraph:
        ranks = matching.ranks
        texts = list(self.places)
        places = np.minimum(np.arange(max(len(texts), 1)), MAX_PLACES - 1)
        if len(texts) > MAX_PLACES:
            texts = [*texts[: MAX_PLACES - 1], OTHER_PLACES]
        calls_s = np.zeros(len(self.places))
        unmatched: dict[tuple[int, str], dict[int, int]] = {}
        begin = self._begins_s(ranks)
        ops, counts, tails = np.empty(sum(len(rank.op_rows) for rank in ranks), OP), [0], []
        calls: list[tuple[np.ndarray, ...]] = []
        ends_recording_s = []
        for rank, start in zip(ranks, begin.tolist(), strict=True):
            count, tail, (first_call_ops, call_begins_s, recording_s), end_recording_s = _fill(
                ops[counts[-1] :], rank, places
            )
            calls.append((first_call_ops + counts[-1], call_begins_s - start, recording_s))
            ends_recording_s.append(end_recording_s)
            counts.append(counts[-1] + count)
            tails.append(tail)
            first_ops = np.flatnonzero(np.diff(rank.op_events, prepend=-1))
            place = rank.rows["place"][rank.op_rows[first_ops]]
            calls_s += np.bincount(place, rank.leave - rank.enter, len(calls_s)) if len(place) else 0.0
            if cut_s is None:
                _count_unmatched(rank, unmatched)
        graph = Graph(
            ops[: counts[-1]],
            np.array(counts),
            matching.messages,
            matching.groups,
            tuple(self.operations) or (),
            self.job.communicators,
            tuple(texts),
            np.array(tails),
        )
        end = np.array(
            [
                self.job.end[rank.number]
                if cut_s is None
                else (rank.leave[-1] if len(rank.leave) else begin[k])
                for k, rank in enumerate(ranks)
            ]
        )
        recorded = None
        if len(np.unique(self.job.clock)) == 1:
            first_call_ops, call_begins_s, recording_s = (
                np.concatenate(each) for each in zip(*calls, strict=True)
            )
            recorded = RecordedTimes(
                first_call_ops, call_begins_s, recording_s, end - begin, np.array(ends_recording_s)
            )
        by_place = np.zeros(len(texts))
        np.add.at(by_place, places[: len(calls_s)], calls_s)
        place_names = list(self.places)
        return TraceGraph(
            graph,
            self.job.placement,
            end - begin,
            by_place,
            np.array([rank.recording_s for rank in ranks]),
            tuple(
                UnmatchedOperations(place_names[place], kind, sum(by_rank.values()), tuple(sorted(by_rank)))
                for (place, kind), by_rank in sorted(unmatched.items())
            ),
            self.wildcards,
            matching.inferred_senders,
            None if cut_s is None else max(0.0, cut_s - float(begin.min())),
            recorded,
        )

    def _begins_s(self, ranks: list[_RankOperations]) -> np.ndarray:
        job = self.job
        return np.array([job.start[job.clock == job.clock[rank.number]].min() for rank in ranks])


_END_KINDS = np.full(256, g.COMPUTE, dtype=np.uint8)
_END_KINDS[[g.SEND, g.RECEIVE, g.ENTER]] = g.SENT, g.RECEIVED, g.LEAVE
_UNMATCHED_KINDS = {
    g.SEND: "send",
    g.RECEIVE: "receive",
    g.ENTER: "collective",
    _END: "completion of an unknown request",
}


def _move_completions(
    rows: np.ndarray, op_rows: np.ndarray, op_events: np.ndarray, start_ops: np.ndarray, alive: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Move the ends of puts and gets to the next call that synchronises. Without such a call they are
    removed."""
    ends = np.flatnonzero((rows["kind"][op_rows] == g.RECEIVED) & (rows["one_sided"][op_rows] > 0))
    completions = np.flatnonzero(rows["one_sided"][op_rows] == _COMPLETION)
    next_completion = np.searchsorted(completions, ends)
    completes = next_completion < len(completions)
    order, op_events, alive = np.arange(len(op_rows), dtype=float), op_events.copy(), alive.copy()
    order[ends[completes]] = completions[next_completion[completes]] - 0.5
    op_events[ends[completes]] = op_events[completions[next_completion[completes]]]
    alive[ends[~completes]] = False
    new_order = np.argsort(order, kind="stable")
    new_positions = np.empty(len(op_rows) + 1, dtype=np.int32)
    new_positions[new_order], new_positions[-1] = np.arange(len(op_rows)), -1
    return new_order, op_events[new_order], new_positions[start_ops[new_order]], alive[new_order]


def _distinct_keys(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct keys, and the index of each key among them."""
    if not len(keys):
        return keys, np.zeros(0, dtype=np.int64)
    order = np.lexsort([keys[name] for name in _KEY.names or ()])
    sorted_keys = keys[order]
    is_first = np.zeros(len(keys), dtype=bool)
    for name in _KEY.names or ():
        is_first[1:] |= sorted_keys[name][1:] != sorted_keys[name][:-1]
    indices = np.empty(len(keys), dtype=np.int64)
    indices[order] = np.cumsum(is_first)
    is_first[0] = True
    return sorted_keys[is_first], indices


@dataclass
class _Channel:
    """A channel with more sends than receives: the times at which its messages were sent, and the indices of
    the receives that are known to belong to it."""

    number: int
    key: np.void
    excess: int
    sent_s: np.ndarray
    known_receives: np.ndarray
    taken_count: int = 0

    @classmethod
    def for_receiver(
        cls, matching: _Matching, receiver: _RankOperations, number: int, excess: int
    ) -> _Channel:
        key = matching._keys[number]
        sender = matching.ranks[int(key["source"])]
        sends, receives = sender.matchable_ops(g.SEND), receiver.matchable_ops(g.RECEIVE)
        sends = sends[sender.global_key[sender.channels[sends]] == number]
        known_receives = receives[receiver.global_key[receiver.channels[receives]] == number]
        return cls(number, key, excess, sender.enter[sender.op_events[sends]], known_receives)

    def next_sent_s(self, receive: int) -> float:
        """When the message was sent that this receive would get; inf if there is none."""
        number = int(np.searchsorted(self.known_receives, receive)) + self.taken_count
        return float(self.sent_s[number]) if number < len(self.sent_s) else np.inf

    def can_match(self, receive_key: np.void, receive: int) -> bool:
        matches = self.key["communicator"] == receive_key["communicator"] and self.excess > self.taken_count
        for name in ("source", "tag"):
            matches = matches and (receive_key[name] < 0 or receive_key[name] == self.key[name])
        return bool(matches) and self.next_sent_s(receive) < np.inf

    def take(self) -> None:
        self.taken_count += 1


class _Matching:
    """Matches the sends, receives and collectives of all ranks. Operations without a partner have no slot."""

    def __init__(self, ranks: list[_RankOperations], job: Job, operations: Sequence[str]) -> None:
        self.ranks, self.job = ranks, job
        keys, key_numbers = _distinct_keys(np.concatenate([rank.keys for rank in ranks]))
        bounds = np.cumsum([0, *(len(rank.keys) for rank in ranks)])
        for rank, first, last in zip(ranks, bounds[:-1], bounds[1:], strict=True):
            rank.global_key = key_numbers[first:last]
            rank.slot = np.full(len(rank.op_rows), NO_SLOT, dtype=np.uint32)
        self._keys = keys
        self.inferred_senders = 0
        self._infer_senders()
        self.messages = self._match_messages()
        self.groups = self._match_groups(operations)

    def _count_ops(self, kind: int) -> np.ndarray:
        counts = np.zeros(len(self._keys), dtype=np.int64)
        for rank in self.ranks:
            counts[rank.global_key] += np.bincount(
                rank.channels[rank.matchable_ops(kind)], minlength=len(rank.keys)
            )
        return counts

    def _infer_senders(self) -> None:
        """Infer the senders of messages that were received from any rank without asking for the sender. Such
        a receive gets the earliest message that may be next in its channel and that no other receive has."""
        if not any(len(rank.receives_without_sender()) for rank in self.ranks):
            return
        excess = self._count_ops(g.SEND) - self._count_ops(g.RECEIVE)
        for rank in self.ranks:
            receives = rank.receives_without_sender()
            if not len(receives):
                continue
            candidates = np.flatnonzero((self._keys["target"] == rank.number) & (excess > 0))
            channels = [_Channel.for_receiver(self, rank, int(key), int(excess[key])) for key in candidates]
            ends = np.flatnonzero(rank.start_ops >= 0)
            end_ops = np.full(len(rank.op_rows), -1, dtype=np.int64)
            end_ops[rank.start_ops[ends]] = ends
            for receive in receives[end_ops[receives] >= 0].tolist():
                receive_key = rank.keys[rank.channels[receive]]
                before_s = float(rank.leave[rank.op_events[end_ops[receive]]])
                matching_channels = [
                    channel for channel in channels if channel.can_match(receive_key, receive)
                ]
                if not matching_channels:
                    continue
                channel = min(
                    matching_channels,
                    key=lambda channel: (
                        channel.next_sent_s(receive) > before_s,
                        channel.next_sent_s(receive),
                    ),
                )
                channel.take()
                rank.channels[receive] = rank.channel_for_key(channel.number, self._keys)
                rank.alive[receive], rank.unmatched[receive] = True, False
                self.inferred_senders += 1

    def _match_messages(self) -> np.ndarray:
        """Match sends with receives. Messages are numbered in the order in which their senders start them."""
        match_counts = np.minimum(self._count_ops(g.SEND), self._count_ops(g.RECEIVE))
        first_numbers = np.cumsum(match_counts) - match_counts
        slots_by_number = np.zeros(int(match_counts.sum()), dtype=np.uint32)
        message_parts, next_slot = [], 0
        one_sided: list[tuple[_RankOperations, np.ndarray]] = []
        for rank in self.ranks:
            ops = rank.matchable_ops(g.SEND)
            keys = rank.global_key[rank.channels[ops]]
            numbers = rank.numbers_in_channel(ops)
            is_matched = numbers < match_counts[keys]
            ops, keys, numbers = ops[is_matched], keys[is_matched], numbers[is_matched]
            slots = np.arange(next_slot, next_slot + len(ops))
            slots_by_number[first_numbers[keys] + numbers] = slots
            rank.slot[ops] = slots
            message_parts.append(_message_rows(rank, ops))
            next_slot += len(ops)
            if (rank.rows["one_sided"] > 0).any():
                puts = (rank.kind == g.SEND) & (rank.rows["one_sided"][rank.op_rows] > 0) & rank.alive
                one_sided.append((rank, np.flatnonzero(puts)))
        for rank, ops in one_sided:
            slots = np.arange(next_slot, next_slot + len(ops))
            rank.slot[ops] = rank.slot[ops + 1] = slots
            message_parts.append(_message_rows(rank, ops))
            next_slot += len(ops)
        for rank in self.ranks:
            ops = rank.matchable_ops(g.RECEIVE)
            keys = rank.global_key[rank.channels[ops]]
            numbers = rank.numbers_in_channel(ops)
            is_matched = numbers < match_counts[keys]
            rank.slot[ops[is_matched]] = slots_by_number[(first_numbers[keys] + numbers)[is_matched]]
        return np.concatenate(message_parts)

    def _match_groups(self, operations: Sequence[str]) -> np.ndarray:
        keys = self._keys
        is_group = (keys["target"] < 0) & (keys["communicator"] >= 0)
        min_counts = np.full(len(keys), np.iinfo(np.int64).max)
        rank_counts = np.zeros(len(keys), dtype=np.int64)
        for rank in self.ranks:
            counts = np.bincount(rank.channels[rank.matchable_ops(g.ENTER)], minlength=len(rank.keys))
            group_keys = rank.global_key[counts > 0]
            min_counts[group_keys] = np.minimum(min_counts[group_keys], counts[counts > 0])
            rank_counts[group_keys] += 1
        member_counts = np.array([len(members) for members in self.job.communicators], dtype=np.int64)
        sizes = np.zeros(len(keys), dtype=np.int64)
        sizes[is_group] = member_counts[keys["communicator"][is_group]]
        match_counts = np.where(is_group & (rank_counts == sizes) & (rank_counts > 0), min_counts, 0)
        first_numbers = np.cumsum(match_counts) - match_counts
        groups = np.zeros(int(match_counts.sum()), GROUP)
        key_of_group = np.repeat(np.arange(len(keys)), match_counts)
        groups["communicator"], groups["ranks"] = keys["communicator"][key_of_group], sizes[key_of_group]
        groups["root"] = -1
        known_operations = np.full(len(groups), -1, dtype=np.int64)
        for rank in self.ranks:
            ops = rank.matchable_ops(g.ENTER)
            op_keys = rank.global_key[rank.channels[ops]]
            numbers = rank.numbers_in_channel(ops)
            is_matched = numbers < match_counts[op_keys]
            ops, slot = ops[is_matched], (first_numbers[op_keys] + numbers)[is_matched]
            rank.slot[ops] = slot
            rows = rank.rows[rank.op_rows[ops]]
            conflicts = np.flatnonzero(
                (known_operations[slot] >= 0) & (known_operations[slot] != rows["operation"])
            )
            if len(conflicts):
                conflict = int(conflicts[0])
                names = (
                    operations[int(known_operations[slot[conflict]])],
                    operations[int(rows["operation"][conflict])],
                )
                raise EnvironmentProblem(
                    f"the ranks of a communicator called {names[0]} and {names[1]} at once",
                    f"rank {rank.number} is the first that disagrees",
                    "profile the program again",
                    code="mismatched-collectives",
                )
            known_operations[slot] = rows["operation"]
            groups["size"][slot] += rows["size"]
            is_rooted = (rows["flags"] & (g.ROOTED_FROM | g.ROOTED_TO)) > 0
            groups["root"][slot[is_rooted]] = rows["root"][is_rooted]
        groups["operation"] = np.maximum(known_operations, 0)
        self._set_unmodelled_seconds(len(groups), operations)
        groups["size"] /= np.maximum(groups["ranks"], 1)
        return groups

    def _set_unmodelled_seconds(self, count: int, operations: Sequence[str]) -> None:
        """Set the duration of calls that create communicators, windows and files: the shortest over the
        ranks, because the others also waited."""
        has_model = np.array([_has_model(name) for name in operations], dtype=bool)
        if has_model.all():
            return
        min_s = np.full(count, np.inf)
        unmodelled_ops = []
        for rank in self.ranks:
            ops = np.flatnonzero((rank.kind == g.ENTER) & (rank.slot != NO_SLOT))
            ops = ops[~has_model[rank.rows["operation"][rank.op_rows[ops]]]]
            call_s = (rank.leave - rank.enter)[rank.op_events[ops]]
            np.minimum.at(min_s, rank.slot[ops], call_s)
            unmodelled_ops.append(ops)
        for rank, ops in zip(self.ranks, unmodelled_ops, strict=True):
            rank.unmodelled_s = np.zeros(len(rank.op_rows))
            rank.unmodelled_s[ops] = min_s[rank.slot[ops]]

    def shorten(self) -> bool:
        """Cut each rank before its first operation without a partner. Returns whether anything was cut."""
        shortened = False
        for rank in self.ranks:
            ends = np.flatnonzero(
                (rank.start_ops >= 0) & ((rank.kind == g.RECEIVED) | (rank.kind == g.LEAVE))
            )
            starts = rank.start_ops[ends]
            unmatched_ends = ends[rank.alive[ends] & rank.alive[starts] & (rank.slot[starts] == NO_SLOT)]
            if len(unmatched_ends):
                rank.shorten(int(rank.op_events[unmatched_ends[0]]))
                shortened = True
        return shortened


NO_SLOT = 0xFFFFFFFF


def _has_model(operation: str) -> bool:
    name = operation.capitalize()
    return kind_of(name) in ("collective", "neighbors") or name == "Win_fence"


def _message_rows(rank: _RankOperations, ops: np.ndarray) -> np.ndarray:
    rows, is_one_sided = rank.rows, rank.rows["one_sided"] > 0
    row_messages = np.zeros(len(rows), MESSAGE)
    row_messages["source"] = rank.number
    row_messages["target"] = np.where(is_one_sided, rank.number, rows["peer"])
    row_messages["tag"] = np.where(is_one_sided, rows["peer"], rows["tag"])
    row_messages["communicator"], row_messages["size"] = rows["communicator"], rows["size"]
    return row_messages[rank.op_rows[ops]]


def _fill(
    destination: np.ndarray, rank: _RankOperations, places: np.ndarray
) -> tuple[int, float, tuple[np.ndarray, np.ndarray, np.ndarray], float]:
    """Write the operations that have a partner into `destination`. Returns their number, the seconds after
    the last one, the first operation of each call with its beginning and the time that recording added before
    it, and the time that recording added after the last call."""
    is_event_start = np.ones(len(rank.op_rows), dtype=bool)
    is_event_start[1:] = rank.op_events[1:] != rank.op_events[:-1]
    computed_s = np.zeros(len(rank.op_rows))
    computed_s[is_event_start] = rank.gap_s[rank.op_events[is_event_start]]
    recording_s = np.zeros(len(rank.op_rows))
    recording_s[is_event_start] = rank.recording_before_s[rank.op_events[is_event_start]]
    begins_s = rank.begins_s[rank.op_events]
    if len(rank.unmodelled_s):
        computed_s += rank.unmodelled_s
        begins_s += rank.unmodelled_s
    slot = rank.slot.copy()
    ends = np.flatnonzero(rank.start_ops >= 0)
    slot[ends] = rank.slot[rank.start_ops[ends]]
    is_kept = rank.alive & (slot != NO_SLOT)
    is_kept[ends] &= rank.alive[rank.start_ops[ends]]
    is_unmatched = ~is_kept & (
        rank.unmatched | (rank.alive & (rank.rows["one_sided"][rank.op_rows] != _COMPLETION))
    )
    is_unmatched[ends] = is_unmatched[rank.start_ops[ends]]
    if is_unmatched.any():
        # Unmatched operations take as long as recorded.
        has_kept_op = np.zeros(len(rank.gap_s), dtype=bool)
        has_kept_op[rank.op_events[is_kept]] = True
        keeps_time = is_event_start & ~has_kept_op[rank.op_events]
        unmatched_events = np.unique(rank.op_events[is_unmatched])
        keeps_time &= np.isin(rank.op_events, unmatched_events)
        computed_s[keeps_time] += (rank.leave - rank.enter)[rank.op_events[keeps_time]]
    rows, op_rows, op_events, kind, start_ops = (
        rank.rows,
        rank.op_rows,
        rank.op_events,
        rank.kind,
        rank.start_ops,
    )
    tail_s, end_recording_s = rank.tail_s, float(rank.recording_before_s[-1])
    if not is_kept.all():
        kept_ops = np.flatnonzero(is_kept)
        computed_s, lost_s = _sums_between(computed_s, kept_ops)
        recording_s, lost_recording_s = _sums_between(recording_s, kept_ops)
        tail_s, end_recording_s = tail_s + lost_s, end_recording_s + lost_recording_s
        op_rows, op_events, kind, slot, start_ops = (
            op_rows[kept_ops],
            op_events[kept_ops],
            kind[kept_ops],
            slot[kept_ops],
            start_ops[kept_ops],
        )
        begins_s = begins_s[kept_ops]
    ops = destination[: len(op_rows)]
    ops["kind"], ops["slot"], ops["cost"], ops["computed_s"] = kind, slot, 0, computed_s
    flags = rows["flags"][op_rows]
    is_first = np.ones(len(op_rows), dtype=bool)
    is_first[1:] = op_events[1:] != op_events[:-1]
    flags[~is_first] |= np.uint8(g.TOGETHER)
    ends = np.flatnonzero(kind == g.LEAVE)
    start_flags = rows["flags"][rank.op_rows[start_ops[ends]]]
    flags[ends] |= start_flags & (g.ROOTED_FROM | g.ROOTED_TO | g.AT_ROOT)
    ops["flags"], ops["place"] = flags, places[rows["place"]][op_rows]
    first_call_ops = np.flatnonzero(is_first)
    return (
        len(ops),
        tail_s,
        (first_call_ops, begins_s[first_call_ops], recording_s[first_call_ops]),
        end_recording_s,
    )


def _sums_between(seconds: np.ndarray, ops: np.ndarray) -> tuple[np.ndarray, float]:
    """The sum of the seconds up to each of these operations since the previous one, and the sum after the
    last."""
    cumulative_s = np.concatenate([[0.0], np.cumsum(seconds)])
    sums_s = np.diff(cumulative_s[np.concatenate([[0], ops + 1])])
    return sums_s, float(cumulative_s[-1] - cumulative_s[ops[-1] + 1]) if len(ops) else float(
        cumulative_s[-1]
    )


def _count_unmatched(rank: _RankOperations, counts: dict[tuple[int, str], dict[int, int]]) -> None:
    is_start = (rank.kind == g.SEND) | (rank.kind == g.RECEIVE) | (rank.kind == g.ENTER) | (rank.kind == _END)
    is_unmatched = is_start & (rank.unmatched | (rank.alive & (rank.slot == NO_SLOT)))
    is_pending = is_unmatched & (rank.kind == g.RECEIVE)
    is_pending[rank.start_ops[rank.start_ops >= 0]] = False
    masks = {
        name: is_unmatched & ~is_pending & (rank.kind == kind) for kind, name in _UNMATCHED_KINDS.items()
    }
    for name, mask in {**masks, "pending receive": is_pending}.items():
        place = rank.rows["place"][rank.op_rows[mask]]
        for number, occurrences in zip(*np.unique(place, return_counts=True), strict=True):
            by_rank = counts.setdefault((int(number), name), {})
            by_rank[rank.number] = by_rank.get(rank.number, 0) + int(occurrences)
