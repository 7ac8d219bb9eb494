# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of the calls of programs, with both MPIs: the numbers of calls are those that an
independent library counts, messages are those that were sent, and programs do the same as without the
library."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from native import library
from recorded import Recorded, compiled, counting_library, launched, recorded, shared_library
from traced import called, check_traces

from hockney.core.machine import Mpi
from hockney.profiles.launching import kernel_here
from hockney.profiles.rank_file import (
    COLLECTIVE,
    COVERED,
    DISTANCES,
    FORKED,
    RECEIVE,
    SEND,
    SESSIONS,
    SPAWNED,
    RankFile,
    text_of,
)
from hockney.profiles.trace import LIMIT, NO_SPACE, pack_traces, trace_flags, traces_for_files

pytestmark = pytest.mark.mpi
LIBRARY_TESTS = Path(__file__).parents[1] / "library"


@pytest.fixture(scope="session")
def made(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The path of a program of this MPI, or of the library that counts."""
    folder = tmp_path_factory.mktemp("programs")
    paths: dict[str, Path] = {}

    def path(name: str) -> Path:
        if name not in paths:
            paths[name] = counting_library(mpi, folder) if name == "count" else compiled(mpi, folder, name)
        return paths[name]

    return path


def counted(run: Recorded, file: RankFile) -> Counter[str]:
    """The independent counts of a rank; those of functions for large counts are those of the others."""
    found: Counter[str] = Counter()
    for name, calls in run.counts[int(file.header["pid"])].items():
        stem = name.removesuffix("_c")
        found[stem if stem in run.names else name] += calls
    return found


def check(run: Recorded, ranks: int) -> None:
    """What holds for every program that ends well. Ranks name the kernel of their launcher, with another
    implementation of the same hash."""
    assert len(run.files) == ranks, run.done.err
    assert {file.kernel for file in run.files} == {kernel_here()}
    for file in run.files:
        head = file.header
        calls = run.calls(file)
        assert calls == counted(run, file)
        assert file.is_finalized and not file.damaged and not file.missing
        assert int(head["calls"]) == calls.total()
        assert (int(head["lost"]), int(head["unknown_requests"])) == (0, 0)
        check_entries(file, run.names)
    check_samples(run)


def check_entries(file: RankFile, names: Sequence[str]) -> None:
    for entry in file.entries:
        size, calls, total = int(entry["size_class"]), int(entry["calls"]), int(entry["bytes"])
        if size <= 1:
            assert total == 0
        else:
            assert calls << size >> 2 <= total < calls << size >> 1
        reads_clock = names[int(entry["function"])] in ("Wtime", "Wtick")
        assert int(entry["bins"].sum()) == (0 if reads_clock else calls)
        assert not (reads_clock and int(entry["ticks"]))
        assert int(entry["least"]) <= int(entry["ticks"]) // calls <= int(entry["most"])
    for peer in file.peers:
        assert (DISTANCES[int(peer["distance"])] == "self") == (int(peer["rank"]) == file.rank)
        near = ("unknown",) if file.flag(SESSIONS) else ("core", "package", "node")
        assert DISTANCES[int(peer["distance"])] in ("self", *near)
    sites = {int(site["id"]) for site in file.sites}
    assert {int(entry["site"]) for entry in file.entries} <= sites


def messages(run: Recorded) -> dict[tuple[int, int], dict[int, list[tuple[int, int, int]]]]:
    """Rank, peer and bytes of the samples of each side of messages, by channel and number. The probe of a
    message has a sample of its own."""
    found: dict[tuple[int, int], dict[int, list[tuple[int, int, int]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for file in run.files:
        for sample in file.samples[file.samples["role"] != COLLECTIVE]:
            if run.names[int(sample["function"])] in ("Probe", "Mprobe"):
                continue
            side = found[int(sample["channel"]), int(sample["number"])][int(sample["role"])]
            side.append((file.rank, int(sample["peer"]), int(sample["bytes"])))
    return found


def check_samples(run: Recorded) -> None:
    """Both sides of a message say the same, and all ranks of a collective operation."""
    for sides in messages(run).values():
        assert len(sides[SEND]) <= 1 and len(sides[RECEIVE]) <= 1
        for rank, peer, size in sides[SEND]:
            assert sides[RECEIVE] in ([], [(peer, rank, size)])
    together: dict[tuple[int, int], list[int]] = defaultdict(list)
    sizes: dict[tuple[int, int], set[int]] = defaultdict(set)
    for file in run.files:
        known = {int(each["id"]): int(each["size"]) for each in file.communicators}
        for sample in file.samples[file.samples["role"] == COLLECTIVE]:
            key = int(sample["channel"]), int(sample["number"])
            together[key].append(int(sample["function"]))
            sizes[key].add(known[int(sample["communicator"])])
    for key, functions in together.items():
        assert len(set(functions)) == 1 and sizes[key] == {len(functions)}


def check_communicators(run: Recorded) -> None:
    """A communicator has the same key on all of its members, and no other one has it."""
    holders: dict[int, list[tuple[int, int, int, tuple[int, ...]]]] = defaultdict(list)
    for file in run.files:
        keys = [int(each["key"]) for each in file.communicators]
        assert len(set(keys)) == len(keys)
        for each in file.communicators:
            size = int(each["size"])
            members = () if each["inter"] else tuple(map(int, each["members"][:size]))
            holders[int(each["key"])].append((file.rank, size, int(each["remote_size"]), members))
    for held in holders.values():
        if held[0][3]:
            assert {members for *_, members in held} == {held[0][3]}
            assert sorted(rank for rank, *_ in held) == sorted(held[0][3])
        else:
            assert len(held) == held[0][1] + held[0][2]


@pytest.fixture
def run(mpi: Mpi, made: Callable[[str], Path], tmp_path: Path) -> Callable[..., Recorded]:
    """Runs a program with both libraries and with traces, and checks that it does the same as without
    them."""

    def with_and_without(name: str, ranks: int, *words: str) -> Recorded:
        program = made(name)
        alone = launched(mpi, [str(program), *words], ranks)
        done = recorded(
            mpi, tmp_path, ranks, program, *words, counter=made("count"), HOCKNEY_PROFILE_TRACE="all"
        )
        assert (done.done.out, done.done.code) == (alone.out, alone.code)
        assert done.done.code == 0, done.done.err
        check(done, ranks)
        if name == "threads":
            assert not traces_for_files(done.files, done.names)
        else:
            checked = name != "callbacks" and words != ("requests",)  # wrong calls, and very many
            check_traces(done, statuses=name == "order", messages=checked)
        return done

    return with_and_without


@pytest.mark.slow
def test_messages_of_all_kinds(run):
    """A cancelled receive takes no message."""
    done = run("messages", 3)
    for file in done.files:
        assert int(file.header["failed"]) == 0
        neighbors = {(file.rank + 1) % 3, (file.rank + 2) % 3}
        assert neighbors == {int(peer["rank"]) for peer in file.peers}
        assert done.calls(file)["Cancel"] == 1


@pytest.mark.parametrize(
    ("seed", "phases", "ranks"),
    [
        (1, 40, 3),
        pytest.param(2, 300, 4, marks=pytest.mark.slow),
        pytest.param(3, 300, 2, marks=pytest.mark.slow),
    ],
)
def test_each_message_is_found_on_both_sides(run, seed, phases, ranks):
    """Those of one sender have all different sizes, so that equal sizes mean the same message."""
    done = run("order", ranks, str(seed), str(phases))
    assert "wrong 0\n" in done.done.out
    both = messages(done)
    assert len(both) > 200
    for sides in both.values():
        assert len(sides[SEND]) == len(sides[RECEIVE]) == 1
    truth = {
        tuple(map(int, line.split()[1:])) for line in done.done.out.splitlines() if line.startswith("pair")
    }
    pairs = [(file.rank, peer) for file in done.files for peer in file.peers]
    sent = {(a, int(p["rank"]), int(p["sent"]), int(p["sent_bytes"])) for a, p in pairs if p["sent"]}
    received = {
        (int(p["rank"]), a, int(p["received"]), int(p["received_bytes"])) for a, p in pairs if p["received"]
    }
    assert sent == received == truth
    assert all(int(file.header["unmatched"]) == 0 for file in done.files)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_collective_operations_and_communicators(run, ranks):
    done = run("collectives", ranks)
    check_communicators(done)
    names: dict[str, set[int]] = defaultdict(set)
    for file in done.files:
        for each in file.communicators:
            names[text_of(each["name"])].add(int(each["key"]))
    alone = {
        "first idup",
        "second idup",
        "group of all",
        "created",
        "with info",
        "node",
        "first of two",
        "second of two",
    }
    assert all(len(names[name]) == 1 for name in alone)
    assert all(not names[a] & names[b] for a in names for b in names if a != b)
    assert all(int(file.header["unmatched"]) == 0 for file in done.files)


@pytest.mark.slow
def test_windows_and_files(run, tmp_path):
    done = run("onesided", 3, str(tmp_path / "file"))
    put, got = (int(word) for word in done.done.out.split()[1:4:2])
    for file in done.files:
        assert int(file.peers["put_bytes"].sum()) == put
        assert int(file.peers["got_bytes"].sum()) == got
        assert int(done.of(file, "File_write_at", "File_write_at_all")["bytes"].sum()) == 2 * 64
        assert int(done.of(file, "File_iread_at", "File_iread_at_all")["bytes"].sum()) == 4 * 20


@pytest.mark.slow
def test_functions_of_the_program_and_wrong_calls(run):
    """Functions that MPI calls, whose own calls are parts of those; errors and error handlers; regions."""
    done = run("callbacks", 2)
    for file in done.files:
        assert int(file.header["failed"]) > 30
        assert int(file.header["unmatched"]) == 0
        regions = {text_of(each["name"]): each for each in file.regions}
        assert {name: int(each["entered"]) for name, each in regions.items()} == {
            "first": 2,
            "second region": 1,
        }
        barriers: Counter[int] = Counter()
        for entry in done.of(file, "Barrier"):
            barriers[int(entry["region"])] += int(entry["calls"])
        assert (barriers[int(regions["first"]["id"])], barriers[int(regions["second region"]["id"])]) == (
            2,
            2,
        )
        assert int(file.header["paused"]) > 0
        assert all(int(each["ticks"]) >= int(each["in_mpi"]) > 0 for each in regions.values())


@pytest.mark.slow
def test_an_error_handler_may_leave_a_call_by_a_jump(mpi, made, tmp_path):
    program = made("callbacks")
    alone = launched(mpi, [str(program), "jump"], 2)
    done = recorded(mpi, tmp_path, 2, program, "jump")
    assert (done.done.out, done.done.code, alone.code) == (alone.out, 0, 0)
    for file in done.files:
        assert done.calls(file)["Comm_set_name"] == 1, "which is deeper on the stack"
        assert done.calls(file)["Comm_rank"] == 2


@pytest.mark.slow
def test_threads(run):
    """More of them than have a state of their own, but not at the same time."""
    done = run("threads", 2, "200", "1200")
    for file in done.files:
        assert int(file.header["thread_level"]) == 3
        assert 2 <= len(file.threads) <= 10
        assert file.entries["calls"][file.entries["communicator"] > 1].sum() > 0


@pytest.mark.slow
def test_functions_for_large_counts(mpi_name, run):
    if mpi_name == "openmpi":
        pytest.skip("Open MPI 5 has no functions for large counts")
    done = run("large", 2)
    for file in done.files:
        assert (
            int(file.peers["sent_bytes"].sum()) == int(file.peers["received_bytes"].sum()) == 1000 + 8000 + 24
        )
        assert sorted(set(done.of(file, "Send", "Isend")["bytes"].tolist())) == [1000, 8000]
        assert done.of(file, "Allgatherv", "Alltoallv")["bytes"].tolist() == [16, 16]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["fork", "outside", "sessions", "many", "requests", "deep"])
def test_programs_that_end_well(run, how):
    done = run("endings", 2, how)
    for file in done.files:
        assert done.calls(file)["Barrier"] >= 100
        assert file.flag(FORKED) == (how == "fork")
        assert file.flag(SESSIONS) == (how == "sessions")
        assert int(file.header["size"]) == 2
        assert file.sites["ambiguous"].any() or how != "deep"
        if how == "many":
            assert len(file.communicators) < 2000


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sessions-twice", "both"])
def test_sessions_next_to_others(mpi_name, run, how):
    if mpi_name == "openmpi":
        pytest.skip("Open MPI 5.0.11 cannot start a second time")
    done = run("endings", 2, how)
    for file in done.files:
        assert file.flag(SESSIONS) == (how == "sessions-twice")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["abort", "exit", "kill"])
def test_what_was_recorded_before_a_sudden_end(mpi, made, tmp_path, how):
    program = made("endings")
    alone = launched(mpi, [str(program), how], 2)
    done = recorded(mpi, tmp_path, 2, program, how, HOCKNEY_PROFILE_TRACE="all")
    assert done.done.code == alone.code != 0
    assert len(done.files) == 2
    traces = traces_for_files(done.files, done.names)
    for file, trace in zip(done.files, traces, strict=True):
        assert not file.is_finalized and not file.damaged and not trace.complete
        barriers = done.calls(file)["Barrier"]
        # The last one may not have returned when the other rank ends.
        assert 99 <= barriers <= 100
        assert int(file.threads["calls"].sum()) >= 3 + barriers
        check_entries(file, done.names)
        functions = [call.function for call in called(trace)]
        assert functions[: 3 + barriers] == ["Init", "Comm_rank", "Comm_size"] + ["Barrier"] * barriers
        assert functions[3 + barriers :] in ([], ["Abort"])


@pytest.mark.slow
def test_another_tool_between_the_program_and_mpi(mpi, made, tmp_path):
    """Counts what the program calls, and not what the library calls for itself."""
    run = recorded(mpi, tmp_path, 2, made("collectives"), after=[made("count")])
    check(run, 2)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["recording", "choosing"])
def test_next_to_the_library_that_chooses_algorithms(mpi, tmp_path, first):
    """The choice is made in either order. Behind the other library, its functions are not seen, which the
    file tells."""
    program = compiled(mpi, tmp_path, "unchanged", folder=LIBRARY_TESTS)
    alone = recorded(mpi, tmp_path, 2, program)
    choosing = library(mpi) / "lib" / "libhockney-pmpi.so"
    table, report = tmp_path / "choices", tmp_path / "report"
    table.write_text("hockney-choices 1\nallreduce ranks=1:99 bytes=0:99999 algorithm=ring\n")
    order = {"after": [choosing]} if first == "recording" else {"counter": choosing}
    variables = {"HOCKNEY_CHOICES": str(table), "HOCKNEY_PMPI_REPORT": str(report)}
    both = recorded(mpi, tmp_path, 2, program, **order, **variables)
    assert (both.done.out, both.done.code) == (alone.done.out, 0), both.done.err
    # 10 in MPI_COMM_WORLD; halves of one rank and the two groups have no choice
    assert "operation=allreduce algorithm=ring calls=8 " in report.read_text()
    for before, file in zip(alone.files, both.files, strict=True):
        assert not before.flag(COVERED)
        assert file.flag(COVERED) == (first == "choosing")
        expected, found = alone.calls(before), both.calls(file)
        if first == "recording":
            assert found == expected and file.is_finalized
        else:
            kept = "Init", "Irecv", "Send", "Wait", "Comm_dup", "Intercomm_create"
            assert {name: found[name] for name in kept} == {name: expected[name] for name in kept}


@pytest.mark.slow
def test_the_program_closes_the_file(mpi, made, tmp_path):
    """Whatever has its descriptor then is left alone."""
    done = recorded(mpi, tmp_path, 2, made("endings"), "descriptor")
    assert (done.done.code, done.done.out.count("10 bytes\n")) == (0, 2), done.done.err
    assert all(done.calls(file)["Barrier"] == 100 for file in done.files)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [1000, 4])
def test_files_may_not_be_large(mpi, made, tmp_path, blocks):
    if mpi.family == "mpich":
        pytest.skip("MPICH needs larger files itself")
    script = f"ulimit -f {blocks}; exec {made('endings')} finalize"
    done = recorded(mpi, tmp_path, 1, "sh", "-c", script)
    assert (done.done.code, done.done.out) == (0, "finalize\n"), done.done.err
    assert len(done.files) == (1 if blocks > 100 else 0)
    assert ("ulimit" in done.done.err) == (blocks < 100)


@pytest.mark.slow
@pytest.mark.parametrize("what", ["limit", "disk"])
def test_a_trace_that_has_no_room(mpi, made, tmp_path, what):
    """It ends early, and the profile goes on. Packed it has the same events."""
    full = shared_library(mpi, tmp_path, "full") if what == "disk" else None
    limit = {"HOCKNEY_PROFILE_TRACE_LIMIT": "1"} if what == "limit" else {}
    variables = {"HOCKNEY_PROFILE_TRACE": "all", **limit}
    done = recorded(mpi, tmp_path, 1, made("endings"), "requests", counter=full, **variables)
    assert (done.done.code, done.done.out) == (0, "requests\n"), done.done.err
    (file,) = done.files
    assert file.is_finalized and done.calls(file)["Isend"] == 600000
    (trace,) = traces_for_files(done.files, done.names)
    chunk = (256 * 1024 - 8) // 8
    assert len(trace.events) == (2 if what == "limit" else 1) * chunk
    assert not trace.complete
    folder = file.path.parent
    assert list(trace_flags(folder).values()) == [LIMIT if what == "limit" else NO_SPACE]
    pack_traces(folder, "all", done.names)
    (again,) = traces_for_files(done.files, done.names)
    assert (again.events["call"] == trace.events["call"]).all() and not again.complete


@pytest.mark.parametrize("counter", ["cpu-time", "task-clock"])
def test_processor_time_between_calls_is_counted(mpi, made, tmp_path, counter):
    """The program prints the processor time of what it computes between two calls. It sleeps as well, which
    takes none."""
    variables = {"HOCKNEY_PROFILE_TRACE": "all", "HOCKNEY_PROFILE_COUNTER": counter}
    run = recorded(mpi, tmp_path, 2, made("computing"), **variables)
    assert run.done.code == 0, run.done.err
    printed = {int(rank): float(seconds) for rank, seconds in map(str.split, run.done.out.splitlines())}
    for trace in check_traces(run):
        assert trace.counter == "cpu time" and len(trace.counts) == len(trace.events)
        before = {
            trace.calls[number].function: count
            for number, count in zip(trace.events["call"].tolist(), trace.counts.tolist(), strict=True)
        }
        assert 0.99 * printed[trace.rank] < before["Barrier"] < printed[trace.rank] + 0.01
        gap_s = np.diff(trace.events["enter"])[-1]
        assert before["Finalize"] < 0.01 < 0.05 < gap_s, "sleep"


def test_by_default_oversubscribed_ranks_count(mpi, made, tmp_path):
    ranks = len(os.sched_getaffinity(0)) + 1
    for variables in ({}, {"HOCKNEY_PROFILE_COUNTER": "none"}):
        run = recorded(mpi, tmp_path, ranks, made("computing"), HOCKNEY_PROFILE_TRACE="all", **variables)
        counters = {trace.counter for trace in check_traces(run)}
        assert counters <= ({""} if variables else {"cpu time", "instructions"})


@pytest.mark.slow
def test_spawned_ranks(mpi, made, tmp_path, monkeypatch):
    monkeypatch.setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    program = made("endings")
    alone = launched(mpi, [str(program), "spawn"], 2)
    done = recorded(mpi, tmp_path, 2, program, "spawn", counter=made("count"))
    assert (done.done.out, done.done.code) == (alone.out, alone.code) == ("merged 2\n", 0)
    # The option -x of Open MPI's launcher sets variables of the first ranks only.
    spawned = 0 if mpi.family == "openmpi" else 2
    assert len(done.files) == 2 + spawned
    assert [file.flag(SPAWNED) for file in done.files].count(True) == spawned
    jobs = [{file.job for file in done.files if file.flag(SPAWNED) == which} for which in (False, True)]
    assert (len(jobs[0]), len(jobs[1])) == (1, spawned // 2) and not jobs[0] & jobs[1]
    for file in done.files:
        assert done.calls(file) == counted(done, file)
        assert int(file.header["unknown_requests"]) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("messages", ()),
        ("order", ("4", "100")),
        ("collectives", ()),
        ("large", ()),
        ("threads", ("50", "20")),
    ],
)
def test_the_binary_interface_of_the_standard(mpi, tmp_path, name, words):
    """MPICH has a second library, with the interface that MPI 5 defines."""
    if mpi.family == "openmpi":
        pytest.skip("Open MPI 5 has its own binary interface only")
    standard = msgspec.structs.replace(mpi, mpicxx=f"{mpi.mpicxx}_abi")
    program = compiled(standard, tmp_path, name)
    alone = launched(mpi, [str(program), *words], 2)
    counter = counting_library(standard, tmp_path)
    done = recorded(mpi, tmp_path, 2, program, *words, counter=counter)
    assert (done.done.out, done.done.code) == (alone.out, 0)
    check(done, 2)
    assert {int(file.header["mpi"]) for file in done.files} == {3}
