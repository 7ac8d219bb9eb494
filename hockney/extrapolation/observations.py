# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The traces of a program on several numbers of ranks, with calls that can be compared between ranks and
runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from hockney.extrapolation.arrangements import Partners
from hockney.profiles import trace as records
from hockney.profiles.profile import OUTSIDE_MPI_TIME
from hockney.profiles.trace import PART, Counter, RankTrace, concatenated_ranges
from hockney.replay.building import Job

POINT_TO_POINT = (
    records.SEND, records.RECEIVE, records.START_SEND, records.START_RECEIVE, records.PUT, records.GET,
    records.PROBE,
)  # fmt: skip


STARTS = (records.START_SEND, records.START_RECEIVE, records.START_COLLECTIVE)
COLLECTIVE = (records.COLLECTIVE, records.START_COLLECTIVE)


@dataclass(frozen=True)
class CallKind:
    """A call at a call site, whatever its partners, sizes and number of messages. `site` is the text of the
    call site; `origins` are those of the communicators of its collectives."""

    site: str
    function: str
    misses: bool
    shape: tuple[tuple[int, int], ...]
    origins: tuple[str, ...] = ()


@dataclass
class CallKinds:
    """Numbers of kinds of calls, in all runs."""

    kinds: list[CallKind] = field(default_factory=list)
    number_of: dict[CallKind, int] = field(default_factory=dict)

    def number(self, kind: CallKind) -> int:
        if kind not in self.number_of:
            self.number_of[kind] = len(self.kinds)
            self.kinds.append(kind)
        return self.number_of[kind]


@dataclass(frozen=True)
class RankSequence:
    """The calls of one rank that communicate. `parts` of call k are at first[k] to first[k+1], with the
    run's numbers of communicators; `computed_s` seconds of computation precede each call, which takes
    `called_s`, and `tail_s` follow the last one. `counts` has what the run's counter counted before each call
    and after the last one; empty without a counter."""

    rank: int
    kinds: np.ndarray
    first: np.ndarray
    parts: np.ndarray
    computed_s: np.ndarray
    called_s: np.ndarray
    tail_s: float
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def is_root(self) -> np.ndarray:
        """Whether the rank is the root of each call."""
        return are_roots(self.rank, self.first, self.parts)

    def parts_of(self, calls: np.ndarray) -> np.ndarray:
        """The places of the parts of these calls."""
        return concatenated_ranges(self.first[calls], self.first[calls + 1] - self.first[calls])

    def with_calls(self, calls: np.ndarray) -> RankSequence:
        """The sequence of these calls, each with what was computed before it."""
        return replace(
            self,
            kinds=self.kinds[calls],
            first=np.concatenate([[0], np.cumsum(np.diff(self.first)[calls])]),
            parts=self.parts[self.parts_of(calls)],
            computed_s=self.computed_s[calls],
            called_s=self.called_s[calls],
            counts=self.counts[np.append(calls, len(self.kinds))] if len(self.counts) else self.counts,
        )


@dataclass(frozen=True)
class ObservedRun:
    """A traced launch. `communicators` are the members of each, by the run's number, `origins` the calls that
    made them. `nodes` has the node of each rank. `crowded`: ranks shared cores, so that times of computation
    are too long. `counter` is what all ranks counted between their calls, `launches_s` the times of all
    launches, and `busy_cores` the largest number of cores of a host that ranks used (0: unknown)."""

    ranks: int
    sequences: tuple[RankSequence, ...]
    communicators: tuple[np.ndarray, ...]
    origins: tuple[str, ...]
    nodes: tuple[int, ...]
    crowded: bool
    elapsed_s: float
    counter: Counter = ""
    launches_s: tuple[float, ...] = ()
    busy_cores: int = 0

    @cached_property
    def groups(self) -> dict[str, np.ndarray | None]:
        """By the call that made communicators, the lowest rank in the communicator of each rank (-1: in
        none); None if a rank is in several."""
        found: dict[str, np.ndarray | None] = {}
        for origin, members in zip(self.origins, self.communicators, strict=True):
            lowest = found.setdefault(origin, np.full(self.ranks, -1))
            if lowest is None or not len(members):
                continue
            before = lowest[members]
            if (before >= 0).any() and not (
                (before == members.min()).all() and np.count_nonzero(lowest == members.min()) == len(members)
            ):
                found[origin] = None
            else:
                lowest[members] = members.min()
        return found


def observe(
    traces: Sequence[RankTrace],
    job: Job,
    kinds: CallKinds,
    *,
    crowded: bool,
    elapsed_s: float,
    launches_s: tuple[float, ...] = (),
    cores: int = 0,
) -> ObservedRun:
    """`cores` is the number of cores of a host (0: unknown)."""
    ordered = sorted(traces, key=lambda trace: trace.rank)
    origins = job.origins or tuple(f"communicator {number}" for number in range(len(job.communicators)))
    sequences = tuple(_sequence(trace, job, origins, kinds) for trace in ordered)
    counters = {trace.counter for trace in ordered}
    counter = counters.pop() if len(counters) == 1 else ""
    nodes = _nodes(job, origins)
    return ObservedRun(
        len(ordered),
        sequences,
        job.communicators,
        origins,
        nodes,
        crowded,
        elapsed_s,
        counter,
        launches_s,
        min(cores, int(np.bincount(job.placement.host).max())),
    )


def without_polls(runs: Sequence[ObservedRun], kinds: CallKinds) -> list[ObservedRun]:
    """The runs with all requests completed where the program waits for them. If it tests for their end
    before, and waits only after a test that misses, which of the two completes them depends on the time."""
    waits = [number for number, kind in enumerate(kinds.kinds) if _only_ends(kind, "Wait")]
    tests = [number for number, kind in enumerate(kinds.kinds) if _only_ends(kind, "Test")]
    if not waits or not tests:
        return list(runs)
    size = len(kinds.kinds)
    counts = [np.array([np.bincount(each.kinds, minlength=size) for each in run.sequences]) for run in runs]

    def differing(chosen: Sequence[int]) -> int:
        return sum(len(np.unique(each[:, chosen].sum(axis=1))) for each in counts)

    waits_after = {
        test: [wait for wait in waits if differing([test, wait]) < differing([wait])] for test in tests
    }
    places: dict[int, set[tuple[int, int]]] = {wait: set() for each in waits_after.values() for wait in each}
    for run in runs if places else ():
        for each in run.sequences:
            before, kind, after = each.kinds[:-2], each.kinds[1:-1], each.kinds[2:]
            for wait, own in places.items():
                own |= {*zip(before[kind == wait].tolist(), after[kind == wait].tolist(), strict=True)}
    wait_between = {
        test: {place: wait for wait in after for place in places[wait]}
        for test, after in waits_after.items()
        if after
    }
    if not wait_between:
        return list(runs)
    return [
        replace(run, sequences=tuple(_with_tests_as_waits(each, wait_between) for each in run.sequences))
        for run in runs
    ]


def _with_tests_as_waits(
    sequence: RankSequence, wait_between: Mapping[int, Mapping[tuple[int, int], int]]
) -> RankSequence:
    """The sequence in which tests that completed requests are the waits that would have followed, between
    two other calls. Unchanged if there is no such place for one."""
    started = np.concatenate([[0], np.cumsum(starts_request(sequence.parts))])[sequence.first].tolist()
    order: list[tuple[int, int]] = []  # the calls, with their kinds
    pending: int | None = None
    kinds = sequence.kinds.tolist()
    computed, counts = sequence.computed_s.copy(), sequence.counts.copy()
    age = np.zeros(len(kinds), dtype=np.int64)
    for k, kind in enumerate(kinds):
        if pending is not None:
            wait = wait_between[kinds[pending]].get((order[-1][1] if order else -1, kind))
            if wait is not None:
                order.append((pending, wait))
                age[pending] = started[k] - started[pending]
                for each in (computed, counts[: len(kinds)]):
                    each[k : k + 1] += each[pending : pending + 1]
                    each[pending : pending + 1] = 0.0
                pending = None
            elif kind in wait_between:
                return sequence
        if kind in wait_between:
            pending = k
        else:
            order.append((k, kind))
    if pending is not None:
        return sequence
    calls = np.array([call for call, _ in order], dtype=np.int64)
    lengths = np.diff(sequence.first)[calls]
    made = replace(sequence, computed_s=computed, counts=counts).with_calls(calls)
    made.parts["age"] += np.repeat(age[calls], lengths).astype(made.parts["age"].dtype)
    return replace(made, kinds=np.array([kind for _, kind in order], dtype=sequence.kinds.dtype))


def are_roots(rank: int, first: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Whether the rank is the root of each call, whose parts are from first[k] to first[k+1]."""
    rooted = np.isin(parts["what"], COLLECTIVE) & (parts["root"] == rank)
    return np.diff(np.concatenate([[0], np.cumsum(rooted)])[first]) > 0


def starts_request(parts: np.ndarray) -> np.ndarray:
    """Whether parts start a request."""
    by_memory = np.isin(parts["what"], (records.PUT, records.GET)) & (parts["flags"] & records.REQUEST > 0)
    return np.asarray(np.isin(parts["what"], STARTS) | by_memory)


def _only_ends(kind: CallKind, functions: str) -> bool:
    return kind.function.startswith(functions) and all(what == records.END for what, _ in kind.shape)


def _nodes(job: Job, origins: Sequence[str]) -> tuple[int, ...]:
    """The node of each rank: as the program asked MPI for it, or else its host."""
    node = np.array(job.placement.host, dtype=np.int64)
    first = next((origin for origin in origins if asks_for_nodes(origin)), None)
    for origin, members in zip(origins, job.communicators, strict=True):
        if origin == first:
            node[members] = members.min()
    return tuple(np.unique(node, return_inverse=True)[1].reshape(-1).tolist())


def asks_for_nodes(origin: str) -> bool:
    """Whether a call makes communicators of the ranks of a node."""
    return origin.startswith("Comm_split_type")


def _sequence(trace: RankTrace, job: Job, origins: Sequence[str], kinds: CallKinds) -> RankSequence:
    numbers = job.communicator_by_id[trace.rank]
    kind_of_call = np.full(len(trace.calls), -1)
    parts_of_call = []
    added = np.zeros(len(trace.calls))
    polls = np.zeros(len(trace.calls), dtype=bool)
    for k, call in enumerate(trace.calls):
        added[k] = job.recording_time(call.function)
        polls[k] = call.misses and not len(call.parts)
        parts = call.parts.copy()
        parts["communicator"] = [numbers.get(int(each), 0) for each in parts["communicator"]]
        parts_of_call.append(parts)
        if len(parts) and call.function not in OUTSIDE_MPI_TIME:
            shape = list(zip(parts["what"].tolist(), parts["flags"].tolist(), strict=True))
            distinct = tuple(sorted(set(shape)))
            place = job.describe_place(trace.rank, call.function, call.site)
            collective = np.isin(parts["what"], COLLECTIVE)
            own = dict.fromkeys(parts["communicator"][collective].tolist())
            made_by = tuple(origins[each] for each in own)
            kind_of_call[k] = kinds.number(CallKind(place, call.function, call.misses, distinct, made_by))
    events = trace.events
    calls = events["call"].astype(np.int64)
    used = np.flatnonzero(kind_of_call[calls] >= 0)
    counts = np.array([len(parts) for parts in parts_of_call], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(counts[calls[used]])])
    starts = np.cumsum(counts) - counts
    dictionary = np.concatenate(parts_of_call) if parts_of_call else np.zeros(0, PART)
    parts = dictionary[concatenated_ranges(starts[calls[used]], counts[calls[used]])]
    called = (events["leave"] - events["enter"])[used]
    gap, tail = _computation(trace, job, used, added[calls], polls[calls])
    counts = _sums_before(trace.counts, used) if trace.counter else trace.counts
    return RankSequence(trace.rank, kind_of_call[calls[used]], first, parts, gap, called, tail, counts)


def _computation(
    trace: RankTrace, job: Job, used: np.ndarray, added: np.ndarray, polls: np.ndarray
) -> tuple[np.ndarray, float]:
    """Seconds before each of the used calls and after the last one, without polling and recording."""
    events = trace.events
    without = added + np.where(polls, events["leave"] - events["enter"], 0.0)
    begins = np.append(events["enter"][used], job.end[trace.rank])
    # Ranks leave MPI_Init at different times, which is no computation.
    ends = np.concatenate([[job.start[trace.rank]], events["leave"][used]])
    before = np.concatenate([[0.0], np.cumsum(without)])[np.concatenate([[0], used, [len(events)]])]
    gap = np.maximum(begins - ends - np.diff(before), 0.0)
    return gap[:-1], float(gap[-1])


def _sums_before(values: np.ndarray, used: np.ndarray) -> np.ndarray:
    """The sums of the values of events up to each of the used ones, from the one before it on, and of those
    after the last one."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return np.diff(sums[np.concatenate([[0], used + 1, [len(values)]])])


def partners_by_site(runs: Sequence[ObservedRun], kinds: CallKinds) -> dict[str, list[Partners]]:
    """The distinct pairs of ranks that communicate at each call site, in each run."""
    found: dict[str, list[Partners]] = defaultdict(list)
    for run in runs:
        pairs: dict[str, list[np.ndarray]] = defaultdict(list)
        for sequence in run.sequences:
            owner = np.repeat(sequence.kinds, np.diff(sequence.first))
            known = with_partner(sequence.parts)
            keys = np.unique(owner[known].astype(np.int64) << 32 | sequence.parts["peer"][known])
            for kind in np.unique(keys >> 32).tolist():
                peers = keys[keys >> 32 == kind] & 0xFFFFFFFF
                pairs[kinds.kinds[kind].site].append(
                    np.stack([np.full(len(peers), sequence.rank), peers], axis=1)
                )
        for site, parts in pairs.items():
            source, target = np.unique(np.concatenate(parts), axis=0).T
            found[site].append(Partners(run.ranks, source, target))
    return found


def with_partner(parts: np.ndarray) -> np.ndarray:
    """Whether parts name another rank: messages, and the ends of receives from any rank."""
    wild = (parts["what"] == records.END) & (parts["flags"] & records.WILDCARD > 0)
    return np.asarray((np.isin(parts["what"], POINT_TO_POINT) | wild) & (parts["peer"] >= 0))
