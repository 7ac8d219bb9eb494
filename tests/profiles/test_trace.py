# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Traces are the same after they are packed, up to 1% of each time, and damaged ones are refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import FUNCTIONS, folder_of, function, program, ticks

from hockney.core.errors import HockneyError
from hockney.profiles import trace as form
from hockney.profiles.manifest import TraceMode
from hockney.profiles.profile import read_profile
from hockney.profiles.trace import (
    build_grammar,
    expand_grammar,
    pack_traces,
    packed_traces,
    read_raw,
    read_traces,
)

CHUNK = 4096
"""Bytes of a chunk, so that traces have several."""
BEGIN = ticks(0)
BIAS, COUNTED = 300, 0.25


def code_of(number: int) -> int:
    """`coded` of engine/profile/trace.hpp."""
    if number < 1 << 20:
        return number
    shift = number.bit_length() - 20
    return (shift << 19) + (number >> shift)


def definition(site: int, name: str, k: int = 0, parts: int = 0, misses: int = 0, **part: int) -> np.ndarray:
    row = np.zeros(1, form._DEFINITION)
    values = {"site": site, "function": function(name), "place": k, "parts": parts, "misses": misses, **part}
    for field, value in values.items():
        row[field] = value
    return row


def content_of(
    rank: int,
    size: int,
    calls: Sequence[Sequence[np.ndarray]],
    events: Sequence[tuple[int, int, int]],
    flags: int = 0,
    slots: int = 1 << 16,
    counter: int = 0,
) -> bytes:
    """The file of a rank with these calls, each a list of definitions, and events: call, gap and duration.
    With few `slots` they are used several times. A counter counted COUNTED of each gap, and BIAS."""
    in_slot: dict[int, int] = {}
    words, rows = [], []
    for number, (call, gap, duration) in enumerate(events):
        slot = 1 + call % (slots - 1)
        if in_slot.get(slot) != call:
            in_slot[slot] = call
            for row in calls[call]:
                used = row.copy()
                used["slot"], used["event"] = slot, number + 1
                rows.append(used)
        words.append(slot << 48 | code_of(gap) << 24 | code_of(duration))
    header = np.zeros(1, form._HEADER)
    values = {"magic": form.MAGIC, "version": form.VERSION, "chunk_bytes": CHUNK, "rank": rank, "size": size}
    values |= {"counter": counter, "bias": BIAS if counter else 0}
    for field, value in {**values, "flags": flags, "begin": BEGIN}.items():
        header[field] = value
    chunks = [header.tobytes().ljust(form.PAGE, b"\0")]
    counts = [code_of(int(COUNTED * gap) + BIAS) for _, gap, _ in events] if counter else []
    bodies = (
        np.array(words, "<u8").tobytes(),
        b"".join(row.tobytes() for row in rows),
        np.array(counts, "<u4").tobytes(),
    )
    for kind, body, record in zip((1, 2, 3), bodies, (8, 64, 4), strict=True):
        room = (CHUNK - 8) // record * record
        for k, at in enumerate(range(0, len(body), room)):
            head = np.array([kind, k], "<u4").tobytes()
            chunks.append((head + body[at : at + room]).ljust(CHUNK, b"\0"))
    return b"".join(chunks)


def exchange(rank: int, size: int, site: int = 1) -> list[list[np.ndarray]]:
    """A nonblocking exchange with both neighbors, and a reduction."""
    calls = []
    for k, step in enumerate((1, size - 1)):
        peer = (rank + step) % size
        for name, what in (("Irecv", form.START_RECEIVE), ("Isend", form.START_SEND)):
            part = {"what": what, "peer": peer, "tag": 7, "communicator": 1, "root": -1, "bytes": 800}
            calls.append([definition(site + k, name, 0, 1, by=function(name), **part)])
    ends = [
        definition(site + 4, "Waitall", k, 4, what=form.END, peer=-1, tag=-1, root=-1, age=4 - k)
        for k in range(4)
    ]
    whole = {"what": form.COLLECTIVE, "peer": -1, "tag": -1, "communicator": 1, "root": -1, "bytes": 8}
    return [*calls, ends, [definition(site + 5, "Allreduce", 0, 1, **whole)]]


times = st.integers(0, 1 << 20) | st.integers(0, 1 << 45)


@st.composite
def sequences(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    """Loops of loops, and what is between them."""
    pieces = draw(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=6), min_size=1, max_size=4))
    ids: list[int] = []
    for piece, again in draw(st.lists(st.tuples(st.sampled_from(pieces), st.integers(1, 40)), max_size=12)):
        ids += piece * again
    few = draw(st.lists(times, min_size=1, max_size=20))
    chosen = np.random.default_rng(draw(st.integers(0, 99))).integers(0, len(few), (len(ids), 2)).tolist()
    return [(call, few[a], few[b]) for call, (a, b) in zip(ids, chosen, strict=True)]


@given(events=sequences(), slots=st.sampled_from([3, 4, 1 << 16]), flags=st.sampled_from([0, form.LIMIT]))
def test_packed_traces_are_the_same(tmp_path_factory: pytest.TempPathFactory, events, slots, flags):
    folder = tmp_path_factory.mktemp("launch")
    for rank in range(3):
        content = content_of(rank, 3, exchange(rank, 3), events, flags, slots)
        (folder / f"rank-{rank:05d}-1.trace").write_bytes(content)
    before = [read_raw(path, FUNCTIONS) for path in sorted(folder.glob("*.trace"))]
    given_times = np.array(events, dtype=np.int64).reshape(-1, 3)
    for trace in before:
        named = [trace.dictionary.calls["function"][k] for k in trace.ids.tolist()]
        whole = exchange(trace.rank, 3)
        assert named == [int(whole[call][0]["function"][0]) for call, _, _ in events]
        for found, exact in ((trace.gaps, given_times[:, 1]), (trace.durations, given_times[:, 2])):
            assert (found.astype(np.int64) <= exact).all()
            assert (found >= exact * (1 - 2.0**-19)).all()
    assert pack_traces(folder, "all", FUNCTIONS) == 3
    assert sorted(path.name for path in folder.iterdir()) == [form.PACKED]
    pack = form._Pack.read(folder / form.PACKED)
    assert len({rank.dictionary for rank in pack.index.ranks}) == 1, "peers are relative"
    for trace in before:
        again = pack.sequence(f"rank-{trace.rank:05d}-1")
        assert (again.rank, again.begin, again.flags) == (trace.rank, trace.begin, flags)
        assert (again.ids == trace.ids).all()
        assert (again.dictionary.calls == trace.dictionary.calls).all()
        assert (again.dictionary.parts == trace.dictionary.parts).all()
        for found, exact in ((again.gaps, trace.gaps), (again.durations, trace.durations)):
            np.testing.assert_allclose(found, exact.astype(float), rtol=0.01)
        for first in range(0, len(trace.ids), form.BLOCK):
            block = slice(first, first + form.BLOCK)
            sums = [float((each.gaps[block] + each.durations[block]).sum()) for each in (again, trace)]
            assert sums[0] == pytest.approx(sums[1], rel=1e-9)


@given(events=sequences())
def test_summaries_have_the_sequence_and_the_sums(tmp_path_factory: pytest.TempPathFactory, events):
    folder = tmp_path_factory.mktemp("launch")
    (folder / "rank-00000-1.trace").write_bytes(content_of(0, 2, exchange(0, 2), events))
    before = read_raw(folder / "rank-00000-1.trace", FUNCTIONS)
    pack_traces(folder, "summary", FUNCTIONS)
    again = form._Pack.read(folder / form.PACKED).sequence("rank-00000-1")
    assert (again.ids == before.ids).all()
    for call in range(6):
        for found, exact in ((again.gaps, before.gaps), (again.durations, before.durations)):
            expected = float(exact[before.ids == call].sum(dtype=np.float64))
            assert float(found[before.ids == call].sum()) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("counter", [0, 1, 2, 3])
@pytest.mark.parametrize("mode", ["all", "summary"])
def test_counts_between_calls_are_packed(tmp_path: Path, counter: int, mode: TraceMode):
    events = [(k % 6, 1000 * (1 + k % 7), 50) for k in range(3000)]
    path = tmp_path / "rank-00000-1.trace"
    path.write_bytes(content_of(0, 2, exchange(0, 2), events, counter=counter))
    name, counts = read_raw(path, FUNCTIONS).counted
    gaps = np.array([gap for _, gap, _ in events])
    assert name == ("", "instructions", "cpu time", "cpu time")[counter]
    unit = form.NANOSECOND if counter > 1 else 1.0
    np.testing.assert_array_equal(counts, COUNTED * gaps * unit if counter else [])
    pack_traces(tmp_path, mode, FUNCTIONS)
    again = form._Pack.read(tmp_path / form.PACKED).sequence("rank-00000-1").counted
    assert again[0] == name and len(again[1]) == len(counts)
    assert again[1].sum() == pytest.approx(counts.sum(), rel=1e-6)
    if mode == "all":
        np.testing.assert_allclose(again[1], counts, rtol=0.02)


def test_a_trace_without_all_its_counts_has_none(tmp_path: Path):
    content = content_of(0, 2, exchange(0, 2), [(0, 1000, 50)] * 600, counter=2)
    header = np.frombuffer(content, form._HEADER, 1)
    assert header["counter"] == 2
    without = content[: form.PAGE] + b"".join(
        content[at : at + CHUNK]
        for at in range(form.PAGE, len(content), CHUNK)
        if content[at : at + 4] != np.array(3, "<u4").tobytes()
    )
    (tmp_path / "rank-00000-1.trace").write_bytes(without)
    trace = read_raw(tmp_path / "rank-00000-1.trace", FUNCTIONS)
    assert len(trace.ids) == 600 and trace.counted[0] == ""


@given(ids=st.lists(st.integers(0, 3), max_size=400), again=st.integers(1, 30))
def test_a_grammar_has_its_sequence(ids, again):
    sequence = np.array(ids * again, np.int64)
    positions, calls = expand_grammar(build_grammar(sequence, 4))
    assert (calls[positions] == sequence).all()


def test_loops_do_not_grow_the_grammar():
    body = [0, 1, 2, 3, 4] * 3 + [5]
    short, long = (build_grammar(np.array(body * steps), 6) for steps in (20, 20000))
    assert len(short.left) == len(long.left) < 12 and len(short.top) == len(long.top) < 6
    positions, _ = expand_grammar(long)
    assert len(np.unique(positions)) < 20


def regular(rank: int, size: int, steps: int) -> bytes:
    """Times of an idle machine: the computation varies by 2%, calls by a quarter, and one in 50 is slow."""
    random = np.random.default_rng(rank)
    usual = (300, 500, 300, 500, 9000, 20000)
    events = []
    for _ in range(steps):
        for call in (0, 2, 1, 3, 4, 5):
            gap = (100 if call else 3_000_000) * random.lognormal(0, 0.02)
            slow = 8 if random.random() < 0.02 else 1
            events.append((call, int(gap), int(usual[call] * slow * random.lognormal(0, 0.25))))
    return content_of(rank, size, exchange(rank, size), events)


def test_a_call_takes_two_bytes(tmp_path: Path):
    for rank in range(2):
        (tmp_path / f"rank-{rank:05d}-1.trace").write_bytes(regular(rank, 2, 2000))
    pack_traces(tmp_path, "all", FUNCTIONS)
    assert (tmp_path / form.PACKED).stat().st_size < 2.0 * 2 * 6 * 2000


def test_a_summary_does_not_grow_with_the_run(tmp_path: Path):
    sizes = []
    for steps in (500, 4000):
        (tmp_path / "rank-00000-1.trace").write_bytes(regular(0, 2, steps))
        pack_traces(tmp_path, "summary", FUNCTIONS)
        sizes.append((tmp_path / form.PACKED).stat().st_size)
    assert sizes[1] < 1.5 * sizes[0] < 4000


def profiled(tmp_path: Path, flags: Sequence[int] = (0, 0)) -> Path:
    folder = folder_of(tmp_path / "p", [program(len(flags))], trace="all")
    events = [(call, 10_000, 5_000) for call in (0, 2, 1, 3, 4, 5)] * 10
    for rank, flag in enumerate(flags):
        name = f"rank-{rank:05d}-{11000 + rank}.trace"
        (folder / "launch-1" / name).write_bytes(
            content_of(rank, len(flags), exchange(rank, 2), events, flag)
        )
    return folder


@pytest.mark.parametrize("packed", [False, True])
def test_traces_of_a_launch(tmp_path: Path, packed: bool):
    folder = profiled(tmp_path)
    if packed:
        assert not list(packed_traces(folder, read_profile(folder).manifest))
    traces = read_traces(read_profile(folder).typical)
    assert [trace.rank for trace in traces] == [0, 1] and all(trace.complete for trace in traces)
    for trace in traces:
        names = [trace.calls[k].function for k in trace.events["call"][:6].tolist()]
        assert names == ["Irecv", "Irecv", "Isend", "Isend", "Waitall", "Allreduce"]
        first, end = trace.calls[0].parts[0], trace.calls[4].parts[0]
        assert (first["what"], first["peer"], first["bytes"]) == (form.START_RECEIVE, 1 - trace.rank, 800)
        assert (end["what"], end["age"]) == (form.END, 4)
        launch_start = read_profile(folder).typical.ranks[0].start
        assert trace.events["enter"][0] == pytest.approx(launch_start + 4e-6, abs=1e-7)
        assert np.diff(trace.events["enter"]) == pytest.approx(6e-6, rel=0.011)


def test_traces_that_end_early_are_told(tmp_path: Path):
    folder = profiled(tmp_path, (form.THREADS, form.LIMIT, form.NO_SPACE, 0))
    problems = {
        problem.code: str(problem) for problem in packed_traces(folder, read_profile(folder).manifest)
    }
    assert sorted(problems) == ["trace-not-written", "trace-of-threads", "trace-too-large"]
    assert "rank 1" in problems["trace-too-large"]
    traces = read_traces(read_profile(folder).typical)
    assert [(trace.rank, trace.complete) for trace in traces] == [(1, False), (2, False), (3, True)]
    (folder / "launch-1" / form.PACKED).unlink()
    assert [each.code for each in packed_traces(folder, read_profile(folder).manifest)] == ["no-traces"]


def test_what_cannot_be_packed_stays(tmp_path: Path):
    folder = profiled(tmp_path)
    (folder / "launch-1" / "rank-00009-1.trace").write_bytes(b"#!/bin/sh\n")
    codes = [problem.code for problem in packed_traces(folder, read_profile(folder).manifest)]
    assert codes == ["traces-not-packed"]
    assert len(read_traces(read_profile(folder).typical)) == 2


@given(data=st.data())
def test_damaged_files_never_crash(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject):
    folder = tmp_path_factory.mktemp("launch")
    raw = folder / "rank-00000-1.trace"
    content = bytearray(content_of(0, 2, exchange(0, 2), [(k % 6, 100, 50) for k in range(600)]))
    packs = data.draw(st.booleans())
    if packs:
        raw.write_bytes(content)
        pack_traces(folder, "all", FUNCTIONS)
        content = bytearray((folder / form.PACKED).read_bytes())
    for _ in range(4):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))]
    (folder / form.PACKED if packs else raw).write_bytes(content)
    try:
        if packs:
            form._Pack.read(folder / form.PACKED).sequence("rank-00000-1")
        else:
            read_raw(raw, FUNCTIONS)
    except HockneyError as error:
        assert error.code
