# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Shows what the ranks of a running, hung or killed program do: which rank waits where, since when and for
whom, and what this means for the program."""

from __future__ import annotations

import os
import platform
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hockney.core.errors import EnvironmentProblem, printable
from hockney.core.wording import join_words, plural, verb_form
from hockney.draw.page import Caveat
from hockney.pages.format import quantity
from hockney.profiles.call_sites import NOWHERE, CallSite
from hockney.profiles.manifest import ProfiledLaunch, read_manifest
from hockney.profiles.operations import FROM_ROOT, KIND_NAMES, TO_ROOT, Kind, blocking, kind_of
from hockney.profiles.profile import Launch, RankClock, make_launch, rank_clocks
from hockney.profiles.rank_file import PATTERN, RankFile, rank_list, read_launch

Phase = Literal["in MPI", "outside MPI", "finished", "ended"]
"""ended: the process no longer exists, but did not reach MPI_Finalize. If that holds for all ranks that have
not finished, they have the phase in which they ended."""

Verdict = Literal["deadlock", "waiting for ranks", "waiting", "running", "finished", "ended"]

LONG_S = 1.0
"""A shorter wait is no sign of a problem."""
POLLING: tuple[Kind, ...] = "poll", "local"
"""Kinds of calls of a rank that polls, and calls nothing else."""


@dataclass(frozen=True)
class ThreadActivity:
    """The activity of a thread. In MPI: the `function` (without MPI_), its call site and communicator, the
    rank `peer` for which it waits (None: unknown, or not a single one), whether it waits for `any_rank`, for
    how many requests, and where these were started. `seconds` is how long this has lasted."""

    thread: int
    in_mpi: bool
    seconds: float | None
    function: str = ""
    site: CallSite = NOWHERE
    communicator: str = ""
    members: tuple[int, ...] = ()
    peer: int | None = None
    any_rank: bool = False
    pending: int = 0
    started_at: CallSite | None = None
    calls: int = 0


@dataclass(frozen=True)
class RankActivity:
    """The activity of a rank, by its index in the launch. A rank `polls` if it has called nothing but tests
    and probes for a long time; it then counts as in MPI, even between calls."""

    place: int
    label: str
    hostname: str
    pid: int
    phase: Phase
    threads: tuple[ThreadActivity, ...]
    calls: int
    polls: bool = False

    @property
    def waiting(self) -> ThreadActivity | None:
        """The thread that has been in MPI for longest."""
        threads_in_mpi = [thread for thread in self.threads if thread.in_mpi]
        return max(threads_in_mpi, key=lambda thread: thread.seconds or 0.0, default=None)

    @property
    def waits_s(self) -> float:
        """How long that thread has been in MPI, 0 if unknown."""
        return (self.waiting.seconds or 0.0) if self.waiting else 0.0

    @property
    def now(self) -> ThreadActivity | None:
        """The thread in MPI, or else the first one."""
        return self.waiting or next(iter(self.threads), None)

    @property
    def all_in_mpi(self) -> bool:
        return bool(self.threads) and all(thread.in_mpi for thread in self.threads)


@dataclass(frozen=True)
class Finding:
    """Why ranks wait. `ranks` are the waiting ranks, `for_ranks` the ranks that they wait for (indices)."""

    verdict: Verdict
    text: str
    ranks: tuple[int, ...] = ()
    for_ranks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Live:
    """The activities of all ranks, and findings, the most important one first. `awaited` contains the ranks
    for which each rank waits, if known. `over`: the program has ended."""

    folder: str
    ranks: tuple[RankActivity, ...]
    findings: tuple[Finding, ...]
    caveats: tuple[Caveat, ...] = ()
    awaited: tuple[tuple[int, ...], ...] = ()
    over: bool = False

    @property
    def verdict(self) -> Verdict:
        verdicts = [finding.verdict for finding in self.findings]
        return "deadlock" if "deadlock" in verdicts and not self.over else verdicts[0]

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines for a terminal: the findings, then the activities. Ranks with the same activity share a
        line."""
        return (*(finding.text for finding in self.findings), *_rank_lines(self.ranks))

    @property
    def document(self) -> dict[str, Any]:
        """The findings and ranks as JSON; times in seconds."""
        return {
            "schema": 1,
            "launch": self.folder,
            "verdict": self.verdict,
            "findings": [
                {
                    "verdict": each.verdict,
                    "text": each.text,
                    "ranks": [self.ranks[k].label for k in each.ranks],
                    "for_ranks": [self.ranks[k].label for k in each.for_ranks],
                }
                for each in self.findings
            ],
            "ranks": [self._rank(each) for each in self.ranks],
            "warnings": [asdict(each) for each in self.caveats],
        }

    def _rank(self, rank: RankActivity) -> dict[str, Any]:
        return {
            "rank": rank.label,
            "host": rank.hostname,
            "pid": rank.pid,
            "phase": rank.phase,
            "polls": rank.polls,
            "calls": rank.calls,
            "threads": [
                {
                    "thread": each.thread,
                    "in_mpi": each.in_mpi,
                    "seconds": each.seconds,
                    "function": f"MPI_{each.function}" if each.function else "",
                    "site": each.site.frame.text if each.site is not NOWHERE else "",
                    "call_path": each.site.path_text if each.site is not NOWHERE else "",
                    "communicator": each.communicator,
                    "peer": None if each.peer is None else self.ranks[each.peer].label,
                    "any_rank": each.any_rank,
                    "pending": each.pending,
                    "started_at": each.started_at.frame.text if each.started_at else "",
                }
                for each in rank.threads
            ],
        }


def read_live(folder: Path) -> Live:
    """Read what the ranks of the last launch of a profile do now, or did last. `folder` contains a profile or
    one of its launches. Raises HockneyError."""
    if any(folder.glob(PATTERN)):
        path, manifest = folder, read_manifest(folder.parent)
    else:
        manifest = read_manifest(folder)
        last = [folder / each.folder for each in manifest.launches if each.profiled][-1:]
        newest = sorted(folder.glob("launch-*"), key=lambda path: -path.stat().st_mtime)
        found = next((path for path in (*last, *newest) if any(path.glob(PATTERN))), None)
        if found is None:
            raise EnvironmentProblem(
                f"{printable(str(folder))} has no rank that called MPI_Init yet",
                code="no-rank-yet",
                path=str(folder),
            )
        path = found
    noted = (each for each in manifest.launches if each.folder == path.name)
    entry = next(noted, ProfiledLaunch(folder=path.name))
    read = read_launch(path)
    before: Sequence[RankFile] = ()
    between_s = 0.0
    polls = _function_numbers(manifest.functions, "poll")
    if any(_may_poll(file, polls) for file in read.files):  # look twice
        began = time.monotonic()
        time.sleep(LONG_S)
        before, read = read.files, read_launch(path)
        between_s = time.monotonic() - began
    now_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    launch = make_launch(read, entry, manifest.functions)
    here = platform.node()
    pids = [int(each.header["pid"]) for each in launch.files if each.hostname == here]
    live = live_state(
        launch,
        now_ns=now_ns,
        exists={pid: _exists(pid) for pid in pids},
        before=before,
        between_s=between_s,
    )
    return replace(live, folder=str(path), caveats=read.caveats)


def _function_numbers(functions: Sequence[str], *kinds: Kind) -> list[int]:
    """The numbers of the functions of these kinds."""
    return [number for number, name in enumerate(functions) if kind_of(name) in kinds]


def _may_poll(file: RankFile, polls: Sequence[int]) -> bool:
    """Whether the rank is not in MPI_Finalize and the last call of a thread was a nonblocking test or
    probe."""
    return not int(file.header["finalize_enter"]) and bool(np.isin(file.threads["function"], polls).any())


def _only_polls(before: RankFile, now: RankFile, functions: Sequence[str]) -> bool:
    """Whether a rank that may poll has made calls since the previous reading, but no other kind of call."""
    others = _function_numbers(functions, *(kind for kind in KIND_NAMES if kind not in POLLING))
    done = [file.entries["calls"][np.isin(file.entries["function"], others)].sum() for file in (before, now)]
    grew = int(now.threads["calls"].sum()) > int(before.threads["calls"].sum())
    return grew and done[0] == done[1] and _may_poll(now, _function_numbers(functions, "poll"))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    try:  # a process that has ended, but that its parent has not waited for
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return True
    return state != "Z"


def live_state(
    launch: Launch,
    *,
    now_ns: int | None = None,
    exists: Mapping[int, bool] | None = None,
    ended: bool = False,
    before: Sequence[RankFile] = (),
    between_s: float = 0.0,
) -> Live:
    """What the ranks of a launch do. `now_ns` is the time of CLOCK_MONOTONIC on their host. `exists` tells
    for a process number whether the process runs. If the program has `ended`, the result is what they did
    last. `before` are the files as of `between_s` earlier, which show who polls."""
    known = exists or {}
    unfinished = [int(file.header["pid"]) for file in launch.files if not int(file.header["finalize_enter"])]
    ended = ended or (bool(unfinished) and not any(known.get(pid, True) for pid in unfinished))
    earlier = {file.path: file for file in before}
    clocks = rank_clocks(launch.files)
    places = {(file.job, file.rank): k for k, file in reversed(list(enumerate(launch.files)))}
    ranks = []
    for k, file in enumerate(launch.files):
        pid, clock = int(file.header["pid"]), clocks[k]
        running = known.get(pid, not file.is_finalized) and not file.is_finalized
        end = launch.ranks[k].end
        if clock.number == file.kernel and now_ns is not None and running and pid in known:
            end = (now_ns - clock.base_ns) * 1e-9
        past = earlier.get(file.path) if running else None
        polled = past if past is not None and _only_polls(past, file, launch.functions) else None
        threads = tuple(_threads_now(launch, k, clock, None if ended else end, places, polled, between_s))
        phase: Phase = "outside MPI"
        if file.is_finalized or int(file.header["finalize_enter"]):
            phase = "finished"
        elif known.get(pid) is False and not ended:
            phase = "ended"
        elif any(thread.in_mpi for thread in threads):
            phase = "in MPI"
        calls = max(int(file.header["calls"]), sum(thread.calls for thread in threads))
        label = launch.ranks[k].label
        ranks.append(RankActivity(k, label, file.hostname, pid, phase, threads, calls, polled is not None))
    found = _last_activities(ranks) if ended else _findings(ranks)
    findings = tuple(replace(each, text=_sentence(each.text)) for each in found)
    awaited = tuple(tuple(_awaited_ranks(rank, ranks)) for rank in ranks)
    return Live("", tuple(ranks), findings, awaited=awaited, over=ended)


def _threads_now(
    launch: Launch,
    place: int,
    clock: RankClock,
    end: float | None,
    places: Mapping[tuple[int, int], int],
    polled: RankFile | None,
    between_s: float,
) -> Iterator[ThreadActivity]:
    """The threads of a rank at the time `end` (None: unknown). `polled` is the earlier file of a rank that
    polls: its threads count as being in the test in which they were last seen."""
    file, index_of = launch.files[place], launch.index_of[place]
    communicators = {int(row["id"]): row for row in file.communicators}
    texts = {each.key: each.text for each in launch.communicators}
    of_job = {rank: place for (job, rank), place in sorted(places.items()) if job == file.job}
    tests = _function_numbers(launch.functions, "poll")
    last_polls = {
        int(row["id"]): row
        for each in ((polled, file) if polled is not None else ())
        for row in each.threads
        if int(row["depth"]) and row["function"] in tests
    }
    for now in file.threads:
        polls = polled is not None and now["function"] in tests
        row = last_polls.get(int(now["id"]), now) if polls else now
        inside = int(row["depth"]) > 0
        seconds = None
        if polls:
            seconds = between_s
        elif end is not None and int(row["since"]) and file.clock.ns_per_tick is not None:
            seconds = max(0.0, end - clock.second(int(row["since"])))
        site = launch.sites[index_of.get(int(row["site"]), 0)]
        thread = ThreadActivity(int(row["id"]), inside or polls, seconds, site=site, calls=int(row["calls"]))
        if inside or site is not NOWHERE:
            thread = replace(thread, function=launch.function(int(row["function"])))
        if inside:
            communicator = communicators.get(int(row["communicator"]))
            started = int(row["started_at"])
            thread = replace(
                thread,
                communicator="" if communicator is None else texts[int(communicator["key"])],
                members=() if communicator is None else tuple(_members(communicator, of_job)),
                peer=of_job.get(int(row["peer"])) if int(row["peer"]) >= 0 else None,
                any_rank=bool(row["wildcard"]),
                pending=int(row["pending"]),
                started_at=launch.sites[index_of[started]] if started and started in index_of else None,
            )
        yield thread


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def open_waits(launch: Launch) -> dict[int, int]:
    """The rank for which each rank waits, by index, if its only open call waits for a single known rank."""
    if not launch.open_calls:
        return {}
    calls = Counter(each.rank for each in launch.open_calls)
    live = live_state(launch, ended=True)
    return {k: live.awaited[k][0] for k, count in calls.items() if count == 1 == len(live.awaited[k])}


def _members(communicator: np.void, place_by_rank: Mapping[int, int]) -> Iterator[int]:
    """The indices of a communicator's members. `place_by_rank` maps ranks of the world to indices. If a
    communicator has more members than the file lists, only those of the world (all ranks) are known."""
    size = int(communicator["size"])
    if int(communicator["id"]) == 1:
        yield from (place for rank, place in place_by_rank.items() if rank < size)
    elif size <= len(communicator["members"]):
        yield from (
            place_by_rank[rank] for rank in communicator["members"][:size].tolist() if rank in place_by_rank
        )


def _last_activities(ranks: Sequence[RankActivity]) -> Iterator[Finding]:
    """What the ranks did when their program ended. How long they had done so is unknown."""
    unfinished = [rank.place for rank in ranks if rank.phase != "finished"]
    if not unfinished:
        yield from _findings(ranks)
        return
    yield _ended_ranks_text(ranks, unfinished)
    for each in _findings(ranks, 0.0):
        if each.verdict != "running":
            yield replace(each, text=f"At the end: {each.text}")


def _ended_ranks_text(ranks: Sequence[RankActivity], places: Sequence[int]) -> Finding:
    text = f"{_names(ranks, places)} {verb_form(len(places), 'has', 'have')} ended without MPI_Finalize."
    return Finding("ended", text, tuple(places))


def _findings(ranks: Sequence[RankActivity], long_s: float = LONG_S) -> Iterator[Finding]:
    """Explain why ranks wait. `long_s` is how long ranks must wait for a finding."""
    if all(rank.phase == "finished" for rank in ranks):
        yield Finding("finished", "All ranks have finished.")
        return
    ended = [rank.place for rank in ranks if rank.phase == "ended"]
    if ended:
        yield _ended_ranks_text(ranks, ended)
    any_finding = bool(ended)
    graph = {rank.place: tuple(_awaited_ranks(rank, ranks)) for rank in ranks}
    any_of = {
        rank.place for rank in ranks if (waiting := rank.waiting) and waiting.any_rank and rank.all_in_mpi
    }
    stuck = _find_deadlocked(ranks, graph, any_of, long_s)
    reported: set[int] = set()
    if stuck:
        yield _describe_deadlock(ranks, graph, stuck)
        reported |= stuck
    causes: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for rank in ranks:
        waiting = rank.waiting
        if waiting is None or rank.place in reported:
            continue
        roots = tuple(sorted(_roots(rank.place, graph, ranks, set())))
        if roots and roots != (rank.place,):
            causes.setdefault((_call_text(waiting), roots), []).append(rank.place)
    for (what, roots), places in sorted(causes.items(), key=lambda item: -len(item[1])):
        late = [ranks[k] for k in roots if ranks[k].phase != "in MPI"]
        others = [ranks[k] for k in roots if ranks[k].phase == "in MPI"]
        longest = max(ranks[k].waits_s for k in places)
        text = (
            f"{_names(ranks, places)} {verb_form(len(places), 'waits', 'wait')} in {what} for "
            f"{_names(ranks, roots)}, which {_activity_text([*late, *others])}."
        )
        yield Finding("waiting for ranks" if longest >= long_s else "running", text, tuple(places), roots)
        reported |= set(places)
    alone: dict[str, list[int]] = {}
    for rank in ranks:
        if rank.phase == "in MPI" and rank.waiting is not None and rank.place not in reported:
            alone.setdefault(_call_text(rank.waiting), []).append(rank.place)
    for what, places in alone.items():
        seconds = max(ranks[k].waits_s for k in places)
        if seconds < long_s:
            continue
        any_finding = True
        names = _names(ranks, places)
        if not long_s:
            text = f"{names} {verb_form(len(places), 'was', 'were')} in {what}."
        elif all(ranks[k].polls for k in places):
            poll, call = (verb_form(len(places), f"{verb}s", verb) for verb in ("poll", "call"))
            text = f"{names} {poll} in {what}, and {call} nothing else."
        else:
            have = verb_form(len(places), "has", "have")
            text = f"{names} {have} been in {what} for {quantity(seconds, 's')}."
        yield Finding("waiting", text, tuple(places))
    if not reported and not any_finding:
        yield Finding("running", "No rank waits for long.")


def _awaited_ranks(rank: RankActivity, ranks: Sequence[RankActivity]) -> Iterator[int]:
    """The ranks for which a rank waits, none if unknown. A collective waits for members that are not in a
    call of the same function on the same communicator. A nonblocking test or probe waits for no rank, unless
    the rank does nothing but poll."""
    waiting = rank.waiting
    if waiting is None or not rank.all_in_mpi:
        return
    if kind_of(waiting.function) == "poll" and not rank.polls:
        return
    if waiting.peer is not None and kind_of(waiting.function) != "collective":
        if waiting.peer != rank.place:
            yield waiting.peer
        return
    if waiting.any_rank:
        yield from (k for k in waiting.members or range(len(ranks)) if k != rank.place)
        return
    operation = blocking(waiting.function)
    kind = kind_of(waiting.function)
    if kind not in ("collective", "synchronisation"):
        return
    if waiting.peer is not None and operation in FROM_ROOT:
        members: Iterable[int] = (waiting.peer,)
    elif waiting.peer is not None and operation in TO_ROOT and waiting.peer != rank.place:
        members = (waiting.peer,)
    else:
        members = waiting.members
    for k in members:
        other = ranks[k].waiting
        same = (
            other is not None
            and blocking(other.function) == operation
            and other.communicator == waiting.communicator
            and ranks[k].phase == "in MPI"
        )
        if k != rank.place and not same:
            yield k


def _find_deadlocked(
    ranks: Sequence[RankActivity], graph: Mapping[int, tuple[int, ...]], any_of: set[int], long_s: float
) -> set[int]:
    """Ranks that can never continue. Each has waited for `long_s`, since a message may be in flight until
    then, and waits for a rank that has ended or cannot continue (all of them, if it waits for any rank)."""
    can_go_on = {
        rank.place
        for rank in ranks
        if rank.phase == "outside MPI"
        or (rank.phase == "in MPI" and not graph[rank.place])
        or (rank.waiting is not None and rank.waits_s < long_s)
    }
    changed = True
    while changed:
        changed = False
        for rank in ranks:
            k = rank.place
            if k in can_go_on or rank.phase != "in MPI":
                continue
            targets = graph[k]
            is_free = [target in can_go_on for target in targets]
            if (any(is_free) if k in any_of else all(is_free)) and targets:
                can_go_on.add(k)
                changed = True
    return {rank.place for rank in ranks if rank.phase == "in MPI" and rank.place not in can_go_on}


def _describe_deadlock(
    ranks: Sequence[RankActivity], graph: Mapping[int, tuple[int, ...]], stuck: set[int]
) -> Finding:
    cycle = _shortest_cycle(graph, stuck)
    if len(cycle) > 1:
        steps = [
            f"rank {ranks[k].label} {'polls' if ranks[k].polls else 'waits'} in "
            f"{_call_text(ranks[k].waiting)} for rank {ranks[n].label}"
            for k, n in zip(cycle, [*cycle[1:], cycle[0]], strict=True)
        ]
        shown = steps if len(steps) <= 6 else [*steps[:5], f"... ({len(steps)} ranks)"]
        text = f"Deadlock: {join_words(shown)}."
        others = sorted(stuck - set(cycle))
        if others:
            text += (
                f" {_sentence(_names(ranks, others))} {verb_form(len(others), 'waits', 'wait')} for these."
            )
        return Finding("deadlock", text, tuple(sorted(stuck)), tuple(cycle))
    gone = sorted({t for k in stuck for t in graph[k] if ranks[t].phase in ("finished", "ended")})
    waiting = sorted(k for k in stuck if any(t in gone for t in graph[k])) or sorted(stuck)
    text = (
        f"Deadlock: {_names(ranks, waiting)} {verb_form(len(waiting), 'waits', 'wait')} in "
        f"{_call_text(ranks[waiting[0]].waiting)} for {_names(ranks, gone)}, which "
        f"{_activity_text([ranks[k] for k in gone])}."
    )
    return Finding("deadlock", text, tuple(sorted(stuck)), tuple(gone))


def _shortest_cycle(graph: Mapping[int, tuple[int, ...]], stuck: set[int]) -> list[int]:
    """A shortest cycle of ranks that wait for each other, starting with its lowest rank."""
    best: list[int] = []
    for start in sorted(stuck):
        before: dict[int, int] = {}
        queue = [start]
        for k in queue:
            for target in graph[k]:
                if target == start:
                    cycle = [k]
                    while cycle[-1] != start:
                        cycle.append(before[cycle[-1]])
                    found = cycle[::-1]
                    if not best or len(found) < len(best):
                        best = found
                elif target in stuck and target not in before:
                    before[target] = k
                    queue.append(target)
        if len(best) == 2:
            break
    lowest = best.index(min(best)) if best else 0
    return best[lowest:] + best[:lowest]


def _roots(
    place: int, graph: Mapping[int, tuple[int, ...]], ranks: Sequence[RankActivity], seen: set[int]
) -> set[int]:
    """The ranks at the end of the chains of waiting ranks."""
    seen.add(place)
    roots: set[int] = set()
    for target in graph[place]:
        if target in seen:
            continue
        roots |= _roots(target, graph, ranks, seen) if graph[target] else {target}
    return roots


def _call_text(thread: ThreadActivity | None) -> str:
    """ "MPI_Allreduce (solver.c:120)"."""
    if thread is None:
        return "MPI"
    site = thread.site if thread.site is not NOWHERE else None
    text = f"MPI_{thread.function}" + (f" ({site.place})" if site else "")
    if thread.started_at is not None and site is not None and thread.started_at.place != site.place:
        text += f" of requests started at {thread.started_at.place}"
    return text


def _names(ranks: Sequence[RankActivity], places: Sequence[int]) -> str:
    labels = [ranks[k].label for k in places]
    if all(label.isdigit() for label in labels):
        return rank_list(map(int, labels))
    return f"{'rank' if len(labels) == 1 else 'ranks'} {', '.join(labels)}"


def _activity_text(ranks: Sequence[RankActivity]) -> str:
    """The activity of ranks, as the end of a sentence."""
    is_one = len(ranks) == 1
    parts = []
    by_phase: dict[Phase, list[RankActivity]] = {}
    for rank in ranks:
        by_phase.setdefault(rank.phase, []).append(rank)
    for phase, group in by_phase.items():
        longest = max((rank.now.seconds or 0.0 for rank in group if rank.now), default=0.0)
        if phase == "finished":
            parts.append(f"{'has' if is_one else 'have'} finished")
        elif phase == "ended":
            parts.append(f"{'has' if is_one else 'have'} ended")
        elif phase == "outside MPI":
            now = group[0].now
            after = ""
            if now is not None and now.function and is_one:
                after = f", after {_call_text(now)}"
            since = f" for {quantity(longest, 's')}" if longest else ""
            parts.append(f"{'has' if is_one else 'have'} been outside of MPI{since}{after}")
        else:
            what = {_call_text(rank.waiting) for rank in group}
            where = what.pop() if len(what) == 1 else f"{plural(len(what), 'different call')}"
            polls = all(rank.polls for rank in group)
            doing = ("polls" if is_one else "poll") if polls else "is" if is_one else "are"
            parts.append(f"{doing} in {where}")
    return join_words(parts) if parts else "are not known"


def _rank_lines(ranks: Sequence[RankActivity]) -> Iterator[str]:
    groups: dict[tuple[str, str], list[RankActivity]] = {}
    for rank in ranks:
        now = rank.waiting
        target = ""
        if now is not None:
            if now.peer is not None:
                target = f"for rank {ranks[now.peer].label}"
            elif now.any_rank:
                target = "for any rank"
            elif now.communicator:
                target = f"on {now.communicator}"
        what = _call_text(now) if now is not None else rank.phase
        if rank.polls:
            what = f"polls in {what}"
        groups.setdefault((what, target), []).append(rank)
    for (what, target), group in groups.items():
        seconds = [rank.now.seconds for rank in group if rank.now and rank.now.seconds is not None]
        since = ""
        if seconds and group[0].phase in ("in MPI", "outside MPI"):
            low, high = quantity(min(seconds), "s"), quantity(max(seconds), "s")
            since = f" for {low}" if low == high else f" for {low} to {high}"
        names = _names(ranks, [rank.place for rank in group])
        yield f"{names}: {' '.join(filter(None, (what, target)))}{since}"
