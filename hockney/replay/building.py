# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From the traces of all ranks to the graph of the program: which receive gets which message, which calls
form one collective, and what is computed between them.

All messages from one rank to another with one tag, on one communicator, are a channel: its k-th send is
matched with its k-th receive. A receive from any rank or with any tag is part of the channel of the message
that it got."""

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

MOST_PLACES = 65536
OTHERS = "other places"
NULL = -2
"""The rank MPI_PROC_NULL."""

_END, _PROBE = 200, 201
"""Rows whose kind depends on the request that they complete; probes."""
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
"""An operation of a distinct call. `back` is how many rows before an end its start is."""
_PUT, _GET, _COMPLETES = 1, 2, 3
_KEY = np.dtype([("communicator", "i4"), ("source", "i4"), ("target", "i4"), ("tag", "i4")])


@dataclass(frozen=True)
class Placement:
    """Where the ranks are: numbers of hosts, packages and cores (-1: not known, or several)."""

    host: np.ndarray
    package: np.ndarray
    core: np.ndarray

    def level(self, source: np.ndarray, target: np.ndarray) -> np.ndarray:
        """How far messages go: places in LEVELS."""
        near = (self.package[source] == self.package[target]) & (self.package[source] >= 0)
        core = near & (self.core[source] == self.core[target]) & (self.core[source] >= 0)
        level = np.where(core, 1, np.where(near, 2, 3))
        level = np.where(self.host[source] == self.host[target], level, 4)
        return np.where(source == target, 0, level).astype(np.uint8)

    @classmethod
    def on_hosts(cls, host: np.ndarray) -> Placement:
        unknown = np.full(len(host), -1)
        return cls(np.asarray(host), unknown, unknown)


@dataclass(frozen=True)
class Job:
    """What is known of the ranks besides their traces, by rank in MPI_COMM_WORLD. `communicators` are the
    ranks of each, in its own order, and `communicator_of` their places there by the rank's own number of it.
    `start` and `end` (s) are the end of MPI_Init and the begin of MPI_Finalize; ranks with the same `clock`
    share one. `added_s` is what recording adds to a call, by its kind."""

    communicators: tuple[np.ndarray, ...]
    communicator_of: tuple[Mapping[int, int], ...]
    start: np.ndarray
    end: np.ndarray
    clock: np.ndarray
    placement: Placement
    place: Callable[[int, str, int], str]
    added_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Unmatched:
    """Operations without a partner at one place: "send", "receive", "collective",
    "completion of an unknown request", or "pending receive": one that the program did not wait for."""

    place: str
    kind: str
    count: int
    ranks: tuple[int, ...]

    @property
    def text(self) -> str:
        return f"{plural(self.count, self.kind)} of {rank_list(self.ranks)} at {self.place}"


@dataclass(frozen=True)
class Recorded:
    """When calls were recorded to begin, on the ranks' common clock (s): of the call whose first operation is
    `at` in the graph, after what was computed before it. `added_s` is what recording added since the call
    before. `ends_s` and `ends_added_s` are of the ends of all ranks."""

    at: np.ndarray
    begins_s: np.ndarray
    added_s: np.ndarray
    ends_s: np.ndarray
    ends_added_s: np.ndarray


@dataclass(frozen=True)
class Built:
    """The graph, and what the trace shows besides: the time (s) at which each rank ends after the first one's
    start, the seconds in MPI calls at each place, over all ranks, and what recording added by rank, which the
    graph lacks. `cut_s` is the time up to which an incomplete trace was used. `recorded` is None if ranks
    have different clocks."""

    graph: Graph
    placement: Placement
    end_s: np.ndarray
    called_s: np.ndarray
    added_s: np.ndarray
    unmatched: tuple[Unmatched, ...] = ()
    wildcards: int = 0
    inferred: int = 0
    """Receives from any rank whose sender is not known, but was the only one left, or the earliest."""
    cut_s: float | None = None
    recorded: Recorded | None = None


def job_of(launch: Launch) -> Job:
    """The ranks of a profiled launch. Raises EnvironmentProblem if it started several programs."""
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
    number = {key: k for k, key in enumerate(members)}
    sites = [_site_texts(launch, k) for k in range(len(files))]
    hosts = np.unique([file.host for file in files], return_inverse=True)[1].reshape(-1)
    return Job(
        tuple(np.array([rank for _, rank in sorted(each)]) for each in members.values()),
        tuple({int(row["id"]): number[int(row["key"])] for row in file.communicators} for file in files),
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
    )


def _site_texts(launch: Launch, rank: int) -> dict[int, str]:
    rows = launch.calls[launch.calls["rank"] == rank]
    raw, first = np.unique(rows["raw_site"], return_index=True)
    places = [launch.sites[site].text for site in rows["site"][first].tolist()]
    return dict(zip(raw.tolist(), places, strict=True))


def build(traces: Sequence[RankTrace], job: Job) -> Built:
    """Raises EnvironmentProblem if ranks have no trace, or disagree about a collective."""
    ordered = sorted(traces, key=lambda trace: trace.rank)
    missing = sorted(set(range(len(job.start))) - {trace.rank for trace in ordered})
    if missing or not ordered:
        raise EnvironmentProblem(
            f"{rank_list(missing)} {'has' if len(missing) == 1 else 'have'} no trace",
            "a replay needs the traces of all ranks",
            "profile the program again with --trace, and call MPI from one thread",
            code="ranks-without-trace",
            ranks=missing,
        )
    builder = _Builder(job)
    ranks = [builder.expanded(trace) for trace in ordered]
    return builder.built(ranks, cut=not all(trace.complete for trace in ordered))


@dataclass
class _Rank:
    """The operations of one rank. `row` and `event` are of each operation; `start_of` is the place of the
    start of each end (-1: it is none). `keys` are the keys of channels, own sends first, and `in_channel` is
    the channel of each operation (-1: none)."""

    rank: int
    rows: np.ndarray
    enter: np.ndarray
    leave: np.ndarray
    gap: np.ndarray
    """Seconds of computation before each event with operations."""
    began: np.ndarray
    """When each event began, with polls in vain."""
    recording: np.ndarray
    """Seconds that recording added before each event, and after the last one."""
    tail_s: float
    added_s: float
    row: np.ndarray
    event: np.ndarray
    kind: np.ndarray
    start_of: np.ndarray
    alive: np.ndarray
    unmatched: np.ndarray
    keys: np.ndarray
    in_channel: np.ndarray
    global_key: np.ndarray = field(default_factory=lambda: np.zeros(0, int))
    slot: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint32))
    own_s: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """Seconds of each operation that no model of messages has."""

    def shorten(self, events: int) -> None:
        """Keeps the first events only."""
        count = int(np.searchsorted(self.event, events))
        self.enter, self.leave, self.gap = self.enter[:events], self.leave[:events], self.gap[:events]
        self.began, self.recording = self.began[:events], np.append(self.recording[:events], 0.0)
        for name in ("row", "event", "kind", "start_of", "alive", "unmatched", "in_channel"):
            setattr(self, name, getattr(self, name)[:count])
        self.tail_s = 0.0

    def without_sender(self) -> np.ndarray:
        """Places of receives whose message is not known."""
        at = np.flatnonzero(self.unmatched & ~self.alive & (self.kind == g.RECEIVE) & (self.in_channel >= 0))
        key = self.keys[self.in_channel[at]]
        return at[((key["source"] < 0) | (key["tag"] < 0)) & (key["communicator"] >= 0)]

    def channel_of_key(self, number: int, keys: np.ndarray) -> int:
        """The channel with a global number, which becomes the rank's own if it is not."""
        found = np.flatnonzero(self.global_key == number)
        if not len(found):
            self.keys = np.append(self.keys, keys[number : number + 1])
            self.global_key = np.append(self.global_key, number)
            return len(self.keys) - 1
        return int(found[0])

    def of_kind(self, kind: int) -> np.ndarray:
        """Places of operations of this kind with a channel or an instance."""
        return np.flatnonzero((self.kind == kind) & self.alive & (self.in_channel >= 0))

    def numbered(self, at: np.ndarray) -> np.ndarray:
        """The number of each of these operations in its channel."""
        channel = self.in_channel[at]
        if not len(at):
            return np.zeros(0, dtype=np.int64)
        narrow = channel.astype(np.uint16) if len(self.keys) < 65536 else channel
        order = np.argsort(narrow, kind="stable")
        counts = np.bincount(channel, minlength=len(self.keys))
        first = np.cumsum(counts) - counts
        number = np.empty(len(at), dtype=np.int64)
        number[order] = np.arange(len(at)) - first[channel[order]]
        return number


class _Builder:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.places: dict[str, int] = {}
        self.operations: dict[str, int] = {}
        self.wildcards = 0

    def _place(self, text: str) -> int:
        """The last one stands for all that have no number."""
        return self.places.setdefault(text, len(self.places))

    # The operations of one rank

    def rows_of(self, trace: RankTrace) -> tuple[np.ndarray, np.ndarray]:
        """The operations of all distinct calls, and where those of each begin."""
        made: list[tuple[int, ...]] = []
        first = [0]
        communicator_of = self.job.communicator_of[trace.rank]
        for call in trace.calls:
            if len(call.parts):
                name = base(call.function)
                place = self._place(self.job.place(trace.rank, call.function, call.site))
                made += self._rows_of_call(name, call.parts, place, communicator_of, trace.rank)
            first.append(len(made))
        return np.array(made, dtype=_ROW), np.array(first)

    def _rows_of_call(
        self,
        function: str,
        parts: np.ndarray,
        place: int,
        communicator_of: Mapping[int, int],
        rank: int,
    ) -> list[tuple[int, ...]]:
        """Starts come first, then ends, those of receives before those of sends."""
        starts: list[tuple[int, ...]] = []
        received: list[tuple[int, ...]] = []
        sent: list[tuple[int, ...]] = []
        begun: list[tuple[int, int]] = []
        name = blocking(function).lower()
        for part in parts:
            what, flags = int(part["what"]), int(part["flags"])
            rest = (
                int(part["peer"]),
                int(part["tag"]),
                communicator_of.get(int(part["communicator"]), -1),
                int(part["bytes"]),
                int(part["age"]),
                int(part["root"]),
                place,
            )
            own = g.BUFFERED * bool(flags & records.BUFFERED)
            own |= g.SYNCHRONOUS * bool(flags & records.SYNCHRONOUS)
            own |= g.WILDCARD * bool(flags & records.WILDCARD)
            cancelled = bool(flags & records.CANCELLED)

            def row(
                kind: int, flags: int = 0, *, request: bool = False, one_sided: int = 0, operation: int = -1
            ) -> tuple[int, ...]:
                return (kind, flags, request, cancelled, one_sided, 0, *rest, operation)  # noqa: B023

            if what in (records.SEND, records.RECEIVE):
                sends = what == records.SEND
                begun.append((len(starts), g.SENT if sends else g.RECEIVED))
                starts.append(row(g.SEND if sends else g.RECEIVE, own | g.BLOCKING))
                (sent if sends else received).append(row(g.SENT if sends else g.RECEIVED))
            elif what in (records.START_SEND, records.START_RECEIVE):
                starts.append(row(g.SEND if what == records.START_SEND else g.RECEIVE, own, request=True))
            elif what == records.END:
                received.append(row(_END))
            elif what in (records.COLLECTIVE, records.START_COLLECTIVE):
                blocks = what == records.COLLECTIVE
                if not blocks or function not in NOT_SYNCHRONISING:
                    self._collective(starts, received, begun, row, name, int(part["root"]), rank, blocks)
            elif what in (records.PUT, records.GET):
                puts, requested = what == records.PUT, bool(flags & records.REQUEST)
                way, own = (_PUT, g.ONE_SIDED | g.BUFFERED) if puts else (_GET, g.ONE_SIDED)
                starts.append(row(g.SEND, own, request=requested and puts, one_sided=way))
                starts.append(row(g.RECEIVE, own, request=requested and not puts, one_sided=way))
                if puts or not requested:
                    begun.append((len(starts) - 1, g.RECEIVED))
                    received.append(row(g.RECEIVED, own, one_sided=way))
            elif what == records.SYNCHRONIZE:
                # Pending one-sided operations are complete before the call's group is.
                starts.append(row(g.COMPUTE, one_sided=_COMPLETES))
                if name in ("win_fence", "win_create", "win_allocate", "win_free"):
                    self._collective(starts, received, begun, row, name, -1, rank, True)
            elif what == records.PROBE:
                begun.append((len(starts), g.RECEIVED))
                starts.append(row(_PROBE, own | g.BLOCKING))
                received.append(row(g.RECEIVED))
        rows = starts + received + sent
        return self._with_back(rows, begun, len(starts), len(received))

    def _collective(
        self,
        starts: list[tuple[int, ...]],
        ends: list[tuple[int, ...]],
        begun: list[tuple[int, int]],
        row: Callable[..., tuple[int, ...]],
        name: str,
        root: int,
        rank: int,
        blocks: bool,
    ) -> None:
        operation = self.operations.setdefault(name, len(self.operations))
        flags = 0
        if root >= 0 and name.capitalize() in FROM_ROOT:
            flags = g.ROOTED_FROM
        elif root >= 0 and name.capitalize() in TO_ROOT:
            flags = g.ROOTED_TO
        if flags and root == rank:
            flags |= g.AT_ROOT
        if blocks:
            begun.append((len(starts), g.LEAVE))
            ends.append(row(g.LEAVE, flags))
        starts.append(
            row(g.ENTER, flags | (g.BLOCKING if blocks else 0), request=not blocks, operation=operation)
        )

    @staticmethod
    def _with_back(
        rows: list[tuple[int, ...]], begun: list[tuple[int, int]], starts: int, received: int
    ) -> list[tuple[int, ...]]:
        """Ends of calls that wait for what they started know how far back that is."""
        ends = {
            True: iter(range(starts + received, len(rows))),
            False: iter([k for k in range(starts, starts + received) if rows[k][0] != _END]),
        }
        for start, kind in begun:
            at = next(ends[kind == g.SENT])
            rows[at] = (*rows[at][:5], at - start, *rows[at][6:])
        return rows

    def expanded(self, trace: RankTrace) -> _Rank:
        outside = np.array([call.function in OUTSIDE_MPI_TIME for call in trace.calls], dtype=bool)
        if outside.any():
            trace = replace(trace, events=trace.events[~outside[trace.events["call"]]])
        rows, first = self.rows_of(trace)
        calls = trace.events["call"]
        sizes = np.diff(first)
        with_rows = sizes[calls] > 0
        added = np.array([self._added_s(call.function) for call in trace.calls])
        gap, began, recording, last = self._gaps(trace, with_rows, added)
        events = trace.events[with_rows]
        call = events["call"]
        count = sizes[call]
        ends = np.cumsum(count)
        event = np.repeat(np.arange(len(call), dtype=np.int32), count)
        row = np.arange(len(event)) - np.repeat(ends - count - first[call], count)
        row = row.astype(np.int32)
        kind = rows["kind"][row]
        alive = np.ones(len(row), dtype=bool)
        unmatched = np.zeros(len(row), dtype=bool)
        start_of = self._starts(rows, row, kind, alive, unmatched)
        if (rows["one_sided"] > 0).any():
            order, event, start_of, alive = _completed_late(rows, row, event, start_of, alive)
            row, kind, unmatched = row[order], kind[order], unmatched[order]
        made = _Rank(
            rank=trace.rank,
            rows=rows,
            enter=events["enter"],
            leave=events["leave"],
            gap=gap,
            began=began,
            recording=recording,
            tail_s=last,
            added_s=float(added[calls].sum()) if len(added) else 0.0,
            row=row,
            event=event,
            kind=kind,
            start_of=start_of,
            alive=alive,
            unmatched=unmatched,
            keys=np.zeros(0, _KEY),
            in_channel=np.full(len(row), -1, np.int32),
        )
        self._set_channels(made)
        return made

    def _added_s(self, function: str) -> float:
        kind = kind_of(function)
        if kind == "clock":  # a loop until a certain time takes no longer
            return 0.0
        return self.job.added_s.get(recording_kind(kind), 0.0)

    def _gaps(
        self, trace: RankTrace, with_rows: np.ndarray, added: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
        """Seconds between the calls with operations, when these begin, what recording adds before each and
        after the last one, and the seconds after the last one. Calls that poll in vain just before one that
        does not wait for what that one gets."""
        job, events = self.job, trace.events
        same = job.clock == job.clock[trace.rank]
        begin = float(job.start[same].min())
        end = float(job.end[trace.rank])
        recording, polling = np.zeros(len(events)), np.zeros(len(events))
        if len(events):
            recording = added[events["call"]]
            polls = np.array([call.misses and not len(call.parts) for call in trace.calls])[events["call"]]
            before = polls[:-1] & (with_rows[1:] | polls[1:])
            polling[:-1] = np.where(before, (events["leave"] - events["enter"])[:-1], 0.0)
        at = np.flatnonzero(with_rows)
        bounds = np.concatenate([[0], at, [len(events)]])
        recording, polling = (
            np.diff(np.concatenate([[0.0], np.cumsum(each)])[bounds]) for each in (recording, polling)
        )
        began = np.append(events["enter"][at], end) - polling
        between = began - np.concatenate([[begin], events["leave"][at]])
        gap = np.maximum(between - recording, 0.0)
        return gap[:-1], began[:-1], between - gap, float(gap[-1])

    def _starts(
        self,
        rows: np.ndarray,
        row: np.ndarray,
        kind: np.ndarray,
        alive: np.ndarray,
        unmatched: np.ndarray,
    ) -> np.ndarray:
        """Of each end the place of its start (-1 for others)."""
        start_of = np.full(len(row), -1, dtype=np.int32)
        back = rows["back"][row]
        own = np.flatnonzero(back > 0)
        start_of[own] = own - back[own]
        ends = np.flatnonzero(kind == _END)
        if len(ends):
            requests = rows["starts"][row]
            started = np.flatnonzero(requests)
            number = np.cumsum(requests)[ends] - rows["age"][row[ends]].astype(np.int64)
            known = (number >= 0) & (rows["age"][row[ends]] > 0)
            start_of[ends[known]] = started[number[known]]
            unmatched[ends[~known]] = True
            alive[ends[~known]] = False
            ends = ends[known]
            kind[ends] = _END_OF[kind[start_of[ends]]]
            cancelled = ends[rows["cancelled"][row[ends]]]
            alive[cancelled] = alive[start_of[cancelled]] = False
        return start_of

    def _set_channels(self, of: _Rank) -> None:
        rows, row, kind = of.rows, of.row, of.kind
        keys = np.zeros(len(rows), _KEY)
        sends = rows["kind"] == g.SEND
        keys["communicator"], keys["tag"] = rows["communicator"], rows["tag"]
        keys["source"] = np.where(sends, of.rank, rows["peer"])
        keys["target"] = np.where(sends, rows["peer"], of.rank)
        groups = rows["kind"] == g.ENTER
        keys["source"][groups] = keys["target"][groups] = keys["tag"][groups] = -1
        key_of = np.arange(len(rows), dtype=np.int64)[row]
        starting = (kind == g.SEND) | (kind == g.RECEIVE) | (kind == _PROBE) | (kind == g.ENTER)
        # A message from any rank, or with any tag, is known by its end.
        wild = np.flatnonzero((kind == g.RECEIVED) & (of.start_of >= 0) & of.alive)
        wild = wild[(rows["flags"][row[of.start_of[wild]]] & g.WILDCARD) > 0]
        wild = wild[rows["starts"][row[of.start_of[wild]]]]
        self.wildcards += int(np.count_nonzero((rows["flags"][row] & g.WILDCARD > 0) & starting))
        if len(wild):
            pairs = row[of.start_of[wild]].astype(np.int64) * len(rows) + row[wild]
            distinct, which = np.unique(pairs, return_inverse=True)
            got = np.zeros(len(distinct), _KEY)
            got["communicator"] = rows["communicator"][distinct // len(rows)]
            got["source"], got["tag"] = rows["peer"][distinct % len(rows)], rows["tag"][distinct % len(rows)]
            got["target"] = of.rank
            key_of[of.start_of[wild]] = len(rows) + which.reshape(-1)
            keys = np.concatenate([keys, got])
        accesses = (rows["one_sided"][row] > 0) & (rows["one_sided"][row] != _COMPLETES)
        of.alive[accesses & (rows["peer"][row] < 0)] = False
        starting &= (rows["one_sided"][row] == 0) & of.alive
        at = np.flatnonzero(starting)
        null = at[(rows["peer"][row[at]] == NULL) & (kind[at] != g.ENTER)]
        used = np.flatnonzero(np.bincount(key_of[at], minlength=len(keys)))
        of.keys, which_key = _distinct(keys[used])
        channel_of_key = np.full(len(keys), -1, dtype=np.int32)
        channel_of_key[used] = which_key
        of.in_channel[at] = channel_of_key[key_of[at]]
        unknown = (of.keys["source"] < 0) & (of.keys["target"] >= 0) | (of.keys["communicator"] < 0)
        unknown |= (of.keys["tag"] < 0) & (of.keys["target"] == of.rank) & (of.keys["source"] >= 0)
        lost = at[unknown[of.in_channel[at]]]
        of.alive[lost] = False
        of.unmatched[lost] = kind[lost] != _PROBE
        of.alive[null] = of.unmatched[null] = False
        of.unmatched[null] = False
        self._move_probes(of)

    def _move_probes(self, of: _Rank) -> None:
        """The first probe of a message waits for it; its receive then has it. Others tell nothing new."""
        probes = of.of_kind(_PROBE)
        if not (of.kind == _PROBE).any():
            return
        at = np.sort(np.concatenate([probes, of.of_kind(g.RECEIVE)]))
        channel = of.in_channel[at]
        order = np.argsort(channel, kind="stable")
        placed, channels = at[order], channel[order]
        is_probe = of.kind[placed] == _PROBE
        # The next receive of the same channel, from the end backwards.
        position = np.where(is_probe, len(placed), np.arange(len(placed)))
        following = np.minimum.accumulate(position[::-1])[::-1]
        found = following < len(placed)
        found[found] = channels[following[found]] == channels[found]
        dead = np.flatnonzero(of.kind == _PROBE)
        of.kind[dead] = g.RECEIVE
        ends = np.flatnonzero((of.kind == g.RECEIVED) & (of.start_of >= 0))
        end_of = np.full(len(of.row), -1, dtype=np.int64)
        end_of[of.start_of[ends]] = ends
        moved = np.flatnonzero(is_probe & found)
        target, first = np.unique(following[moved], return_index=True)
        keeps = moved[first]
        of.alive[dead] = False
        of.alive[placed[keeps]] = True
        of.alive[end_of[dead]] = of.alive[dead]
        of.in_channel[dead[~of.alive[dead]]] = -1
        received = placed[target]
        of.alive[received] = False
        of.in_channel[received] = -1
        late = end_of[received]
        of.alive[late[late >= 0]] = False

    # All ranks

    def built(self, ranks: list[_Rank], *, cut: bool) -> Built:
        cut_s = None
        if cut:
            cut_s = min(float(each.leave[-1]) if len(each.leave) else 0.0 for each in ranks)
            for each in ranks:
                each.shorten(int(np.searchsorted(each.leave, cut_s, side="right")))
        while True:
            matching = _Matching(ranks, self.job, list(self.operations))
            if not cut or not matching.shorten():
                break
        return self._assembled(matching, cut_s)

    def _assembled(self, matching: _Matching, cut_s: float | None) -> Built:
        ranks = matching.ranks
        texts = list(self.places)
        places = np.minimum(np.arange(max(len(texts), 1)), MOST_PLACES - 1)
        if len(texts) > MOST_PLACES:
            texts = [*texts[: MOST_PLACES - 1], OTHERS]
        called = np.zeros(len(self.places))
        unmatched: dict[tuple[int, str], dict[int, int]] = {}
        begin = self._begin(ranks)
        ops, counts, tails = np.empty(sum(len(of.row) for of in ranks), OP), [0], []
        calls: list[tuple[np.ndarray, ...]] = []
        ends_added = []
        for of, start in zip(ranks, begin.tolist(), strict=True):
            count, tail, (at, began, added), end_added = _fill(ops[counts[-1] :], of, places)
            calls.append((at + counts[-1], began - start, added))
            ends_added.append(end_added)
            counts.append(counts[-1] + count)
            tails.append(tail)
            first_ops = np.flatnonzero(np.diff(of.event, prepend=-1))
            place = of.rows["place"][of.row[first_ops]]
            called += np.bincount(place, of.leave - of.enter, len(called)) if len(place) else 0.0
            if cut_s is None:
                _count_unmatched(of, unmatched)
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
                self.job.end[of.rank] if cut_s is None else (of.leave[-1] if len(of.leave) else begin[k])
                for k, of in enumerate(ranks)
            ]
        )
        recorded = None
        if len(np.unique(self.job.clock)) == 1:
            at, began, added = (np.concatenate(each) for each in zip(*calls, strict=True))
            recorded = Recorded(at, began, added, end - begin, np.array(ends_added))
        by_place = np.zeros(len(texts))
        np.add.at(by_place, places[: len(called)], called)
        listed = list(self.places)
        return Built(
            graph,
            self.job.placement,
            end - begin,
            by_place,
            np.array([of.added_s for of in ranks]),
            tuple(
                Unmatched(listed[place], kind, sum(by_rank.values()), tuple(sorted(by_rank)))
                for (place, kind), by_rank in sorted(unmatched.items())
            ),
            self.wildcards,
            matching.inferred,
            None if cut_s is None else max(0.0, cut_s - float(begin.min())),
            recorded,
        )

    def _begin(self, ranks: list[_Rank]) -> np.ndarray:
        job = self.job
        return np.array([job.start[job.clock == job.clock[of.rank]].min() for of in ranks])


_END_OF = np.full(256, g.COMPUTE, dtype=np.uint8)
_END_OF[[g.SEND, g.RECEIVE, g.ENTER]] = g.SENT, g.RECEIVED, g.LEAVE
_NAMES = {
    g.SEND: "send",
    g.RECEIVE: "receive",
    g.ENTER: "collective",
    _END: "completion of an unknown request",
}


def _completed_late(
    rows: np.ndarray, row: np.ndarray, event: np.ndarray, start_of: np.ndarray, alive: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Ends of puts and gets move to the next call that synchronises; without one they end nowhere."""
    at = np.flatnonzero((rows["kind"][row] == g.RECEIVED) & (rows["one_sided"][row] > 0))
    syncs = np.flatnonzero(rows["one_sided"][row] == _COMPLETES)
    following = np.searchsorted(syncs, at)
    done = following < len(syncs)
    order, event, alive = np.arange(len(row), dtype=float), event.copy(), alive.copy()
    order[at[done]] = syncs[following[done]] - 0.5
    event[at[done]] = event[syncs[following[done]]]
    alive[at[~done]] = False
    keep = np.argsort(order, kind="stable")
    moved_to = np.empty(len(row) + 1, dtype=np.int32)
    moved_to[keep], moved_to[-1] = np.arange(len(row)), -1
    return keep, event[keep], moved_to[start_of[keep]], alive[keep]


def _distinct(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct keys, and the place of each key among them."""
    if not len(keys):
        return keys, np.zeros(0, dtype=np.int64)
    order = np.lexsort([keys[name] for name in _KEY.names or ()])
    ordered = keys[order]
    new = np.zeros(len(keys), dtype=bool)
    for name in _KEY.names or ():
        new[1:] |= ordered[name][1:] != ordered[name][:-1]
    which = np.empty(len(keys), dtype=np.int64)
    which[order] = np.cumsum(new)
    new[0] = True
    return ordered[new], which


@dataclass
class _Channel:
    """A channel with more sends than receives: when its messages were sent, and the places of the receives
    that are known to be its own."""

    number: int
    key: np.void
    excess: int
    sent_s: np.ndarray
    known: np.ndarray
    taken: int = 0

    @classmethod
    def of(cls, matching: _Matching, receiver: _Rank, number: int, excess: int) -> _Channel:
        key = matching._keys[number]
        sender = matching.ranks[int(key["source"])]
        sends, receives = sender.of_kind(g.SEND), receiver.of_kind(g.RECEIVE)
        sends = sends[sender.global_key[sender.in_channel[sends]] == number]
        known = receives[receiver.global_key[receiver.in_channel[receives]] == number]
        return cls(number, key, excess, sender.enter[sender.event[sends]], known)

    def next_s(self, at: int) -> float:
        """When the message was sent that a receive at this place would get."""
        number = int(np.searchsorted(self.known, at)) + self.taken
        return float(self.sent_s[number]) if number < len(self.sent_s) else np.inf

    def may_have(self, asked: np.void, at: int) -> bool:
        same = self.key["communicator"] == asked["communicator"] and self.excess > self.taken
        for name in ("source", "tag"):
            same = same and (asked[name] < 0 or asked[name] == self.key[name])
        return bool(same) and self.next_s(at) < np.inf

    def take(self) -> None:
        self.taken += 1


class _Matching:
    """Messages and groups of the operations that the ranks have. Those without a partner have no slot."""

    def __init__(self, ranks: list[_Rank], job: Job, operations: Sequence[str]) -> None:
        self.ranks, self.job = ranks, job
        keys, which = _distinct(np.concatenate([of.keys for of in ranks]))
        bounds = np.cumsum([0, *(len(of.keys) for of in ranks)])
        for of, first, last in zip(ranks, bounds[:-1], bounds[1:], strict=True):
            of.global_key = which[first:last]
            of.slot = np.full(len(of.row), NO_SLOT, dtype=np.uint32)
        self._keys = keys
        self.inferred = 0
        self._infer_senders()
        self.messages = self._matched_messages()
        self.groups = self._matched_groups(operations)

    def _counted(self, kind: int) -> np.ndarray:
        counts = np.zeros(len(self._keys), dtype=np.int64)
        for of in self.ranks:
            counts[of.global_key] += np.bincount(of.in_channel[of.of_kind(kind)], minlength=len(of.keys))
        return counts

    def _infer_senders(self) -> None:
        """A program need not ask who sent a message that it took from anyone. Such a receive got one of those
        that no other receive has: the earliest one that may be next in its channel."""
        if not any(len(of.without_sender()) for of in self.ranks):
            return
        excess = self._counted(g.SEND) - self._counted(g.RECEIVE)
        for of in self.ranks:
            receives = of.without_sender()
            if not len(receives):
                continue
            candidates = np.flatnonzero((self._keys["target"] == of.rank) & (excess > 0))
            channels = [_Channel.of(self, of, int(key), int(excess[key])) for key in candidates]
            ends = np.flatnonzero(of.start_of >= 0)
            end_of = np.full(len(of.row), -1, dtype=np.int64)
            end_of[of.start_of[ends]] = ends
            for at in receives[end_of[receives] >= 0].tolist():
                asked = of.keys[of.in_channel[at]]
                before_s = float(of.leave[of.event[end_of[at]]])
                able = [each for each in channels if each.may_have(asked, at)]
                if not able:
                    continue
                chosen = min(able, key=lambda each: (each.next_s(at) > before_s, each.next_s(at)))
                chosen.take()
                of.in_channel[at] = of.channel_of_key(chosen.number, self._keys)
                of.alive[at], of.unmatched[at] = True, False
                self.inferred += 1

    def _matched_messages(self) -> np.ndarray:
        """Messages are numbered in the order in which their senders start them."""
        matched = np.minimum(self._counted(g.SEND), self._counted(g.RECEIVE))
        base_of = np.cumsum(matched) - matched
        slot_of = np.zeros(int(matched.sum()), dtype=np.uint32)
        parts, next_slot = [], 0
        one_sided: list[tuple[_Rank, np.ndarray]] = []
        for of in self.ranks:
            at = of.of_kind(g.SEND)
            key = of.global_key[of.in_channel[at]]
            number = of.numbered(at)
            found = number < matched[key]
            at, key, number = at[found], key[found], number[found]
            slots = np.arange(next_slot, next_slot + len(at))
            slot_of[base_of[key] + number] = slots
            of.slot[at] = slots
            parts.append(_messages(of, at))
            next_slot += len(at)
            if (of.rows["one_sided"] > 0).any():
                puts = (of.kind == g.SEND) & (of.rows["one_sided"][of.row] > 0) & of.alive
                one_sided.append((of, np.flatnonzero(puts)))
        for of, at in one_sided:
            slots = np.arange(next_slot, next_slot + len(at))
            of.slot[at] = of.slot[at + 1] = slots
            parts.append(_messages(of, at))
            next_slot += len(at)
        for of in self.ranks:
            at = of.of_kind(g.RECEIVE)
            key = of.global_key[of.in_channel[at]]
            number = of.numbered(at)
            found = number < matched[key]
            of.slot[at[found]] = slot_of[(base_of[key] + number)[found]]
        return np.concatenate(parts)

    def _matched_groups(self, operations: Sequence[str]) -> np.ndarray:
        keys = self._keys
        is_group = (keys["target"] < 0) & (keys["communicator"] >= 0)
        fewest = np.full(len(keys), np.iinfo(np.int64).max)
        present = np.zeros(len(keys), dtype=np.int64)
        for of in self.ranks:
            counts = np.bincount(of.in_channel[of.of_kind(g.ENTER)], minlength=len(of.keys))
            mine = of.global_key[counts > 0]
            fewest[mine] = np.minimum(fewest[mine], counts[counts > 0])
            present[mine] += 1
        members = np.array([len(each) for each in self.job.communicators], dtype=np.int64)
        size = np.zeros(len(keys), dtype=np.int64)
        size[is_group] = members[keys["communicator"][is_group]]
        matched = np.where(is_group & (present == size) & (present > 0), fewest, 0)
        base_of = np.cumsum(matched) - matched
        groups = np.zeros(int(matched.sum()), GROUP)
        of_key = np.repeat(np.arange(len(keys)), matched)
        groups["communicator"], groups["ranks"] = keys["communicator"][of_key], size[of_key]
        groups["root"] = -1
        known = np.full(len(groups), -1, dtype=np.int64)
        for of in self.ranks:
            at = of.of_kind(g.ENTER)
            key = of.global_key[of.in_channel[at]]
            number = of.numbered(at)
            found = number < matched[key]
            at, slot = at[found], (base_of[key] + number)[found]
            of.slot[at] = slot
            row = of.rows[of.row[at]]
            other = np.flatnonzero((known[slot] >= 0) & (known[slot] != row["operation"]))
            if len(other):
                one = int(other[0])
                names = operations[int(known[slot[one]])], operations[int(row["operation"][one])]
                raise EnvironmentProblem(
                    f"the ranks of a communicator called {names[0]} and {names[1]} at once",
                    f"rank {of.rank} is the first that disagrees",
                    "profile the program again",
                    code="mismatched-collectives",
                )
            known[slot] = row["operation"]
            groups["size"][slot] += row["size"]
            rooted = (row["flags"] & (g.ROOTED_FROM | g.ROOTED_TO)) > 0
            groups["root"][slot[rooted]] = row["root"][rooted]
        groups["operation"] = np.maximum(known, 0)
        self._set_own_seconds(len(groups), operations)
        groups["size"] /= np.maximum(groups["ranks"], 1)
        return groups

    def _set_own_seconds(self, count: int, operations: Sequence[str]) -> None:
        """What makes communicators, windows and files takes as long as on the rank that waited least."""
        has_model = np.array([_has_model(name) for name in operations], dtype=bool)
        if has_model.all():
            return
        least = np.full(count, np.inf)
        found = []
        for of in self.ranks:
            at = np.flatnonzero((of.kind == g.ENTER) & (of.slot != NO_SLOT))
            at = at[~has_model[of.rows["operation"][of.row[at]]]]
            took = (of.leave - of.enter)[of.event[at]]
            np.minimum.at(least, of.slot[at], took)
            found.append(at)
        for of, at in zip(self.ranks, found, strict=True):
            of.own_s = np.zeros(len(of.row))
            of.own_s[at] = least[of.slot[at]]

    def shorten(self) -> bool:
        """Cut each rank before its first operation without a partner. Returns whether anything was cut."""
        shortened = False
        for of in self.ranks:
            ends = np.flatnonzero((of.start_of >= 0) & ((of.kind == g.RECEIVED) | (of.kind == g.LEAVE)))
            start = of.start_of[ends]
            alone = ends[of.alive[ends] & of.alive[start] & (of.slot[start] == NO_SLOT)]
            if len(alone):
                of.shorten(int(of.event[alone[0]]))
                shortened = True
        return shortened


NO_SLOT = 0xFFFFFFFF


def _has_model(operation: str) -> bool:
    name = operation.capitalize()
    return kind_of(name) in ("collective", "neighbors") or name == "Win_fence"


def _messages(of: _Rank, at: np.ndarray) -> np.ndarray:
    rows, alone = of.rows, of.rows["one_sided"] > 0
    of_row = np.zeros(len(rows), MESSAGE)
    of_row["source"] = of.rank
    of_row["target"] = np.where(alone, of.rank, rows["peer"])
    of_row["tag"] = np.where(alone, rows["peer"], rows["tag"])
    of_row["communicator"], of_row["size"] = rows["communicator"], rows["size"]
    return of_row[of.row[at]]


def _fill(
    into: np.ndarray, of: _Rank, places: np.ndarray
) -> tuple[int, float, tuple[np.ndarray, np.ndarray, np.ndarray], float]:
    """Sets the operations with a partner; their number, the seconds after the last one, the first operation
    of each call with when it began and what recording added before it, and what it added after all."""
    first_of_event = np.ones(len(of.row), dtype=bool)
    first_of_event[1:] = of.event[1:] != of.event[:-1]
    computed = np.zeros(len(of.row))
    computed[first_of_event] = of.gap[of.event[first_of_event]]
    recording = np.zeros(len(of.row))
    recording[first_of_event] = of.recording[of.event[first_of_event]]
    began = of.began[of.event]
    if len(of.own_s):
        computed += of.own_s
        began += of.own_s
    slot = of.slot.copy()
    ends = np.flatnonzero(of.start_of >= 0)
    slot[ends] = of.slot[of.start_of[ends]]
    keep = of.alive & (slot != NO_SLOT)
    keep[ends] &= of.alive[of.start_of[ends]]
    lost = ~keep & (of.unmatched | (of.alive & (of.rows["one_sided"][of.row] != _COMPLETES)))
    lost[ends] = lost[of.start_of[ends]]
    if lost.any():
        # What is not matched takes as long as it did.
        kept_events = np.zeros(len(of.gap), dtype=bool)
        kept_events[of.event[keep]] = True
        alone = first_of_event & ~kept_events[of.event]
        events = np.unique(of.event[lost])
        alone &= np.isin(of.event, events)
        computed[alone] += (of.leave - of.enter)[of.event[alone]]
    rows, row, event, kind, start_of = of.rows, of.row, of.event, of.kind, of.start_of
    tail, end_added = of.tail_s, float(of.recording[-1])
    if not keep.all():
        at = np.flatnonzero(keep)
        computed, lost_s = _between(computed, at)
        recording, lost_added = _between(recording, at)
        tail, end_added = tail + lost_s, end_added + lost_added
        row, event, kind, slot, start_of = row[at], event[at], kind[at], slot[at], start_of[at]
        began = began[at]
    ops = into[: len(row)]
    ops["kind"], ops["slot"], ops["cost"], ops["computed_s"] = kind, slot, 0, computed
    flags = rows["flags"][row]
    first = np.ones(len(row), dtype=bool)
    first[1:] = event[1:] != event[:-1]
    flags[~first] |= np.uint8(g.TOGETHER)
    ends = np.flatnonzero(kind == g.LEAVE)
    started = rows["flags"][of.row[start_of[ends]]]
    flags[ends] |= started & (g.ROOTED_FROM | g.ROOTED_TO | g.AT_ROOT)
    ops["flags"], ops["place"] = flags, places[rows["place"]][row]
    calls = np.flatnonzero(first)
    return len(ops), tail, (calls, began[calls], recording[calls]), end_added


def _between(seconds: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, float]:
    """Sums of the seconds before each of these operations since the one before, and of those after all."""
    before = np.concatenate([[0.0], np.cumsum(seconds)])
    sums = np.diff(before[np.concatenate([[0], at + 1])])
    return sums, float(before[-1] - before[at[-1] + 1]) if len(at) else float(before[-1])


def _count_unmatched(of: _Rank, found: dict[tuple[int, str], dict[int, int]]) -> None:
    starts = (of.kind == g.SEND) | (of.kind == g.RECEIVE) | (of.kind == g.ENTER) | (of.kind == _END)
    alone = starts & (of.unmatched | (of.alive & (of.slot == NO_SLOT)))
    pending = alone & (of.kind == g.RECEIVE)
    pending[of.start_of[of.start_of >= 0]] = False
    chosen = {name: alone & ~pending & (of.kind == kind) for kind, name in _NAMES.items()}
    for name, which in {**chosen, "pending receive": pending}.items():
        place = of.rows["place"][of.row[which]]
        for number, count in zip(*np.unique(place, return_counts=True), strict=True):
            by_rank = found.setdefault((int(number), name), {})
            by_rank[of.rank] = by_rank.get(of.rank, 0) + int(count)
