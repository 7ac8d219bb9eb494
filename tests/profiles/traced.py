# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for the traces of every program: they agree with the profile, and both sides of each message and
all ranks of each collective operation say the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from recorded import Recorded

from hockney.profiles import trace as form
from hockney.profiles.rank_file import RankFile
from hockney.profiles.trace import RankTrace, traces_for_files

BEFORE_INIT = {"Initialized", "Finalized", "Get_version", "Get_library_version", "Query_thread"}
STARTS = (form.START_SEND, form.START_RECEIVE, form.START_COLLECTIVE)


def called(trace: RankTrace, *whats: int) -> Iterator[form.Call]:
    """The calls in order; with `whats` those only that have such a part."""
    wanted = np.array([not whats or bool(np.isin(call.parts["what"], whats).any()) for call in trace.calls])
    numbers = trace.events["call"]
    return (trace.calls[number] for number in numbers[wanted[numbers]].tolist())


def check_traces(run: Recorded, *, statuses: bool = False, messages: bool = True) -> list[RankTrace]:
    """Of a program that ends well. With `statuses` it looks at all of them; without `messages` these are not
    compared."""
    traces = traces_for_files(run.files, run.names)
    assert len(traces) == len(run.files)
    for file, trace in zip(run.files, traces, strict=True):
        assert trace.complete and trace.rank == file.rank
        check_calls(run, file, trace)
        check_times(file, trace)
    check_collectives(run, traces)
    if messages:
        check_messages(run, traces, known=statuses)
    return traces


def check_calls(run: Recorded, file: RankFile, trace: RankTrace) -> None:
    """As many calls from each site as the profile counts, and tests that found nothing at least once."""
    calls: Counter[tuple[str, int]] = Counter()
    misses: Counter[tuple[str, int]] = Counter()
    for entry in file.entries:
        key = run.names[int(entry["function"])], int(entry["site"])
        calls[key] += int(entry["calls"]) - int(entry["misses"])
        misses[key] += int(entry["misses"])
    found: Counter[tuple[str, int]] = Counter()
    missed: Counter[tuple[str, int]] = Counter()
    often = np.bincount(trace.events["call"], minlength=len(trace.calls)).tolist()
    for call, times in zip(trace.calls, often, strict=True):
        (missed if call.misses else found)[call.function, call.site] += times
    paused = int(file.header["paused"]) > 0
    for key in calls.keys() | found.keys():
        if key[0] in ("Wtime", "Wtick"):
            assert not found[key]
            continue
        assert calls[key] == found[key] or key[0] in BEFORE_INIT or (paused and calls[key] < found[key]), key
    assert all(missed[key] <= misses[key] or paused for key in missed)
    assert bool(+missed) == bool(+misses) or paused


def check_times(file: RankFile, trace: RankTrace) -> None:
    enter, leave = trace.events["enter"], trace.events["leave"]
    assert (enter <= leave).all() and (leave[:-1] <= enter[1:] + 1e-9).all()
    if trace.calls[trace.events["call"][-1]].function != "Finalize":
        return  # sessions
    elapsed = enter[-1] - enter[0]
    first, last = int(file.header["init_enter"]), int(file.header["finalize_enter"])
    expected = (last - first) * file.clock.seconds_per_tick
    assert abs(elapsed - expected) < 1e-5 * expected


def completed(trace: RankTrace) -> tuple[list[Any], dict[int, Any]]:
    """The parts that start a message or operation, in order, and by place among these the part that ended
    it."""
    started: list[Any] = []
    requests: list[int] = []
    ends: dict[int, Any] = {}
    for call in called(trace, *range(1, form.PROBE)):
        for part in call.parts:
            what = int(part["what"])
            if what in STARTS or int(part["flags"]) & form.REQUEST:
                requests.append(len(started))
                started.append(part)
            elif what == form.END:
                place = requests[-int(part["age"])]
                assert place not in ends, "a request ends once"
                ends[place] = part
            elif what != form.PROBE:
                started.append(part)
    return started, ends


def check_messages(run: Recorded, traces: Sequence[RankTrace], *, known: bool) -> int:
    """The n-th message that is sent in a channel is the n-th that is received there, with the same bytes, if
    these are `known`, as the program looks at all statuses. As many are received as are sent in any case.
    Returns their number."""
    keys = {file.rank: {int(c["id"]): int(c["key"]) for c in file.communicators} for file in run.files}
    inter = {int(c["key"]) for file in run.files for c in file.communicators if c["inter"]}
    sent: dict[tuple[int, ...], list[int]] = defaultdict(list)
    received: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for trace in traces:
        started, ends = completed(trace)
        for place, part in enumerate(started):
            what, key = int(part["what"]), keys[trace.rank].get(int(part["communicator"]), 0)
            if part["peer"] == form.NO_PROCESS or key in inter or int(part["flags"]) & form.PARTITIONED:
                continue
            if what in (form.SEND, form.START_SEND):
                channel = key, trace.rank, int(part["peer"]), int(part["tag"])
                sent[channel].append(int(part["bytes"]))
            elif what in (form.RECEIVE, form.START_RECEIVE):
                end = ends.get(place) if what == form.START_RECEIVE else part
                if end is None or int(end["flags"]) & form.CANCELLED:
                    continue
                channel = key, int(end["peer"]), trace.rank, int(end["tag"])
                received[channel].append(int(end["bytes"]))
    assert sent == received or not known
    arrived: Counter[tuple[int, int]] = Counter()
    for direction, channels in ((1, sent), (-1, received)):
        for (key, _, receiver, _), sizes in channels.items():
            arrived[key, receiver] += direction * len(sizes)
    assert not any(arrived.values())
    return sum(map(len, sent.values()))


def check_collectives(run: Recorded, traces: Sequence[RankTrace]) -> int:
    """All members of a communicator perform the same operations on it, in the same order."""
    of_ranks: dict[int, list[list[str]]] = defaultdict(list)
    sizes: dict[int, int] = {}
    for file, trace in zip(run.files, traces, strict=True):
        keys = {int(c["id"]): c for c in file.communicators}
        own: dict[int, list[str]] = defaultdict(list)
        for call in called(trace, form.COLLECTIVE, form.START_COLLECTIVE):
            for part in call.parts:
                if int(part["what"]) in (form.COLLECTIVE, form.START_COLLECTIVE) and not (
                    int(part["flags"]) & form.PERSISTENT
                ):
                    own[int(part["communicator"])].append(call.function)
        for number, functions in own.items():
            row = keys[number]
            of_ranks[int(row["key"])].append(functions)
            sizes[int(row["key"])] = int(row["size"]) + int(row["remote_size"])
    for key, held in of_ranks.items():
        assert len(held) == sizes[key] and all(each == held[0] for each in held)
    return sum(len(held[0]) for held in of_ranks.values())
