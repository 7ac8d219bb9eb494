# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Every workload of the catalog measures and verifies, at 1 to 5 ranks, on Open MPI and MPICH."""

from __future__ import annotations

import os
import re
import signal
from statistics import median

import pytest
from engine_cases import COMPUTING, every_case, group_runs, whole_cycles
from engine_lines import YIELDING, failures, launcher_for, lines_of, records, verified
from golden_catalogs import REMEDY, golden_catalog
from golden_files import replaced
from real_mpi import group_for
from tiers import slow

from hockney import build
from hockney.build.identity import MAIN
from hockney.core.case import parse_canonical
from hockney.core.catalog import decode_catalog
from hockney.core.record import End, Launch, Record, Start
from hockney.discovery.cpu import processors
from hockney.launch.launcher import LaunchFailed, LaunchOptions
from hockney.launch.mpi import MpiLauncher

pytestmark = pytest.mark.mpi


@pytest.fixture(scope="session")
def launcher(mpi, engine) -> MpiLauncher:
    return launcher_for(mpi, engine)


@pytest.mark.parametrize("ranks", [2, 3, *slow(1, 4, 5)])
def test_every_workload_verifies(launcher, engine, mpi_name, ranks):
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    # Windows need a core for each rank.
    sync = ("barrier", "window") if ranks <= len(processors().cores.cpus) else ("barrier",)
    together = {2: 1, 3: 1, 5: None}.get(ranks, 2)  # all combinations take a minute
    verifies(launcher, list(every_case(engine.catalog, ranks, sync, together=together)), ranks)


GROUPS = sorted(build.groups(build.source_folder()))


@pytest.mark.parametrize(
    ("group", "ranks"),
    [*group_runs(2), *slow(*group_runs(1, 3, 4, 5))],
)
def test_every_workload_of_a_group_verifies(mpi, mpi_name, group, ranks, tmp_path, monkeypatch):
    if mpi_name == "mpich" and ranks > 3:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    built = group_for(mpi, group)
    monkeypatch.setenv("HOCKNEY_IO_FOLDER", str(tmp_path))
    cases = list(every_case(built.catalog, ranks, ("barrier",), together=1 if ranks == 2 else 2))
    verifies(launcher_for(mpi, built), cases, ranks)
    assert not list(tmp_path.iterdir()), "files are removed"


def verifies(launcher, cases, ranks):
    lines = lines_of(launcher, cases, ranks)
    for record in verified(lines, cases, ranks):
        case = record.parse_case()
        assert (record.metric("work") is not None) == (case.workload in COMPUTING)
        assert 1 <= len(record.times_s) <= whole_cycles(case, 3)
        assert all(t >= 0 for t in record.times_s)
        assert record.sync.kind == dict(case.parameters).get("sync", "none")
        by_clock = record.sync.kind == "window" or case.workload in ("barrier_skew", "barrier_staggered")
        assert (record.sync.error_s is not None) == by_clock
    assert isinstance(lines[-1], End) and lines[-1].cases == len(cases)


def test_the_catalog_is_the_one_in_the_contract(engine):
    assert engine.catalog == decode_catalog(golden_catalog(MAIN).read_bytes()), REMEDY


@pytest.mark.parametrize("group", GROUPS)
def test_the_catalog_of_a_group_is_the_one_in_the_contract(mpi, group):
    golden = golden_catalog(group)
    assert golden.is_file(), REMEDY
    assert group_for(mpi, group).catalog == decode_catalog(golden.read_bytes()), REMEDY


def test_one_launch_runs_200_cases_and_names_where_its_ranks_ran(launcher, engine):
    cases = [engine.catalog.case(f"pingpong bytes={8 * i}", 2) for i in range(200)]
    lines = lines_of(launcher, cases, 2)
    (launch,) = (line for line in lines if isinstance(line, Launch))
    assert len(records(lines)) == 200 and len({rank.pid for rank in launch.ranks}) == 2
    assert 0 < launch.clock.overhead_s < 1e-5 and 0 < launch.clock.resolution_s < 1e-5
    assert launch.engine == engine.catalog.engine and launch.library


IMPOSSIBLE = (
    "bcast bytes=8 ranks=2 root=2",
    "reduce bytes=12 ranks=2",
    "pingpong bytes=8 ranks=3",
    "pingpog bytes=8 ranks=2",
    "pingpong bytes=8 colour=red ranks=2",
    "granularity ranks=2 shares=3:1:1",
    "granularity ranks=2 shares=3:0",
    "granularity ranks=2 shares=even",
    "granularity ranks=2 shares=normal:3",
    "granularity ranks=2 work=0",
    "granularity ranks=2 work=10",
)


OUTLASTING = "barrier algorithm=central iterations=1000000000 ranks=2 sync=barrier"


def test_cases_that_cannot_run_are_refused_and_the_next_one_runs(launcher, engine, golden):
    """Also one that would outlast its time, and a message larger than memory."""
    huge, good = engine.catalog.case("pingpong bytes=1TiB", 2), engine.catalog.case("barrier", 2)
    asked = [*map(parse_canonical, (*IMPOSSIBLE, OUTLASTING)), huge, good]
    lines = lines_of(launcher, asked, 2)
    *refused, outlasting, large = failures(lines)
    assert [f.case for f in refused] == list(IMPOSSIBLE)
    assert {f.reason for f in (*refused, outlasting)} == {"refused"}
    assert (large.reason, large.case) == ("memory", huge.line)
    text = "\n\n".join(f"{f.case}\n  {f.message}" for f in refused)
    golden("refusals.txt", text, replaced(r"may take \S+ s", "may take N s"))
    assert [record.case for record in records(lines)] == [good.line]


@pytest.mark.parametrize("ranks", [6, 7, 9])
def test_every_exchange_goes_round_larger_rings(launcher, engine, mpi_name, ranks):
    if mpi_name == "mpich":
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    workload = engine.catalog.workload("round_robin")
    ways = next(p for p in workload.parameters if p.name == "exchange").choices
    cases = [
        engine.catalog.case(f"round_robin exchange={w} bytes={b}", ranks) for w in ways for b in (5, 9000)
    ]
    found = records(lines_of(launcher, cases, ranks))
    assert [x.case for x in found] == [c.line for c in cases]
    for record in found:
        assert record.verified.errors == 0, record.verified.first
        assert record.verified.bytes == record.verified.runs * record.bytes_moved
        assert record.verified.runs >= ranks


@pytest.mark.parametrize("ranks", [4, 6, 9])
def test_blocks_reach_the_neighbors_on_larger_topologies(mpi, mpi_name, ranks):
    """4 ranks: 2 x 2, 6: 3 x 2, 9: 3 x 3, where all four neighbors differ."""
    if mpi_name == "mpich":
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    built = group_for(mpi, "hockney-neighborhood")
    degrees = {"torus": 4, "random degree=3": 3, "random degree=3 seed=2": 3, "random degree=100": ranks - 1}
    cases = [
        built.catalog.case(f"{workload.name} bytes=1001 topology={topology}", ranks)
        for workload in built.catalog.workloads
        for topology in degrees
    ]
    lines = lines_of(launcher_for(mpi, built), cases, ranks)
    found = records(lines)
    assert [x.case for x in found] == [c.line for c in cases]
    each = [1001 * degree for degree in degrees.values()]
    assert [x.bytes_moved for x in found] == each * len(built.catalog.workloads)
    for record in found:
        assert record.verified.errors == 0, record.verified.first
        assert record.verified.bytes >= ranks * record.bytes_moved


def test_work_is_shared_as_asked_for(launcher, engine):
    """2 ranks: the busiest one takes as long as the record's preset, and the other waits for it."""
    presets = {
        "granularity work=4ms iterations=2": (2e-3, 1.0),
        "granularity work=4ms iterations=2 shares=3:1": (3e-3, 1.5),
        "granularity work=4ms iterations=2 shares=1:3 serial=0.25": (2.25e-3, 1.5),
        "granularity work=4ms iterations=2 serial=1": (4e-3, 1.0),
        "compute work=3ms": (3e-3, 1.0),
    }
    cases = [engine.catalog.case(text, 2) for text in presets]
    found = records(lines_of(launcher, cases, 2, budget=2.0, repetitions=9))
    for record, (preset_s, imbalance) in zip(found, presets.values(), strict=True):
        assert record.metric("work") == pytest.approx(preset_s, rel=1e-6)
        assert record.metric("imbalance") == pytest.approx(imbalance, rel=1e-6)
        assert record.labels["work_clock"] == "thread"
        # On a busy machine the preset is missed by more, which the record must then report.
        consumed_s = (1 - record.metric("work_error")) * preset_s
        assert median(record.times_s) > 0.99 * consumed_s
        assert record.batch == (2 if "iterations" in record.case else 1)


def test_ranks_that_sleep_take_as_long_and_the_record_names_it(mpi, engine):
    launcher = MpiLauncher(mpi, engine.path, processors().cores, user=YIELDING, asleep=True)
    lines = (
        "compute work=5ms",
        "granularity work=8ms iterations=2 bytes=64",
        "round_robin bytes=64 sync=window",
    )
    cases = [engine.catalog.case(text, 2) for text in lines]
    found = lines_of(launcher, cases, 2, budget=1.0)
    assert {line.waits for line in found if isinstance(line, Launch)} == {"asleep"}
    computing = verified(found, cases, 2)[:2]
    for record, least_s in zip(computing, (5e-3, 4e-3), strict=True):
        assert record.labels["work_clock"] == "asleep"
        assert min(record.times_s) >= least_s
        assert record.metric("work_error") >= 0


@pytest.mark.slow
@pytest.mark.parametrize("visits", [40, *slow(1)])
def test_no_case_begins_after_the_limit(launcher, engine, visits):
    """One case computes for longer than the limit, so the others are left out, however fast the machine."""
    cases = [engine.catalog.case(f"compute work={ms}ms", 2) for ms in (50, 51, 52)]
    options = LaunchOptions("T", 0, budget_s=60.0, max_repetitions=2, visits=visits, limit_s=0.02)
    lines = list(launcher.run(cases, 2, options))
    assert [x.case for x in lines if isinstance(x, Start)] == [cases[0].line]
    assert [x.case for x in lines if isinstance(x, Record)] == [cases[0].line]
    assert isinstance(lines[-1], End)


def test_drawn_shares_are_the_seeds(launcher, engine):
    """The same on every launch, and others for another seed; their mean is 1, so the largest is above."""
    words = "granularity work=1us iterations=1 shares=exponential:0.5"
    cases = [engine.catalog.case(f"{words} seed={seed}", 2) for seed in (1, 2)]
    first, again = ([x.metric("imbalance") for x in records(lines_of(launcher, cases, 2))] for _ in range(2))
    assert first == again and first[0] != first[1] and all(1 < x < 2 for x in first)


def test_a_million_barriers_in_a_row_are_one_repetition(launcher, engine):
    case = engine.catalog.case("barrier algorithm=shm_dissemination iterations=1000000", 2)
    (record,) = records(lines_of(launcher, [case], 2, repetitions=1, hang=600.0))
    assert record.batch == 1_000_000 and len(record.times_s) == 1


def test_late_ranks_are_not_part_of_what_a_barrier_takes(launcher, engine):
    """100 ms of lateness, none of which may be in the time: far more than any barrier takes."""
    late = engine.catalog.case("barrier_staggered delay=0.1", 2)
    (record,) = records(lines_of(launcher, [late], 2, budget=2.0))
    assert min(record.times_s) < 0.05
    assert record.sync.error_s is not None and record.sync.error_s >= 0


@pytest.mark.slow
def test_a_stopped_rank_is_named_by_the_watchdog(launcher, engine):
    """2 ranks; rank 1 is stopped by a signal, rank 0 waits for it."""
    cases = [engine.catalog.case("pingpong bytes=8", 2)]
    options = LaunchOptions("T", 0, budget_s=3.0, precision=1e-9, max_repetitions=10**8, hang_s=1.5)
    running = launcher.run(cases, 2, options)
    launch = next(running)
    os.kill(launch.ranks[1].pid, signal.SIGSTOP)
    with pytest.raises(LaunchFailed) as failed:
        list(running)
    assert failed.value.reason == "hung"
    assert failed.value.case == cases[0].line
    assert failed.value.silent_ranks == (1,)
    assert not failed.value.phase.startswith("decision")  # except where messages are waited for


def digests(mpi, path) -> list[str]:
    return [hello.engine for hello in MpiLauncher(mpi, path, processors().cores).check(2).hellos]


def test_every_rank_reports_which_executable_it_is(mpi, engine, tmp_path):
    own = digests(mpi, engine.path)
    assert len(own) == 2 and own[0] == own[1] and re.fullmatch("[0-9a-f]{16}", own[0])
    other = tmp_path / "engine"
    other.write_bytes(engine.path.read_bytes() + b"\0")
    other.chmod(0o755)
    changed = digests(mpi, other)
    assert changed[0] == changed[1] != own[0]


IMPOSSIBLE_IN_GROUPS = (
    ("onesided", 2, ("accumulate bytes=12 ranks=2", "put bytes=1099511627776 memory=create ranks=2"), "get"),
    ("onesided", 3, ("put bytes=8 ranks=3",), ""),
    ("io", 2, ("file_write ranks=2", "file_read ranks=2"), ""),
    (
        "datatypes",
        2,
        (
            "pingpong_datatype block=16 ranks=2 stride=8",
            "pingpong_datatype block=16 bytes=40 ranks=2 stride=32",
            "pack bytes=4294967296 ranks=2",
        ),
        "pack",
    ),
    ("messages", 2, ("pairs_pingpong pairs=2 ranks=2", "many_to_one ranks=2 senders=2"), "pairs_stream"),
)
"""Group, ranks, cases that cannot run on so many, and one that can."""


def group_lines(mpi, group, cases, ranks):
    return lines_of(launcher_for(mpi, group), cases, ranks, hang=120.0)


@pytest.mark.slow
def test_cases_of_groups_that_cannot_run_are_refused(mpi, golden, monkeypatch, tmp_path):
    """In the same words with each MPI."""
    monkeypatch.delenv("HOCKNEY_IO_FOLDER", raising=False)
    refused = {}
    for name, ranks, impossible, good in IMPOSSIBLE_IN_GROUPS:
        engine = group_for(mpi, f"hockney-{name}")
        cases = [engine.catalog.case(good, ranks)] if good else []
        lines = group_lines(mpi, engine, [*map(parse_canonical, impossible), *cases], ranks)
        failed = failures(lines)
        assert [f.case for f in failed] == list(impossible)
        assert {f.reason for f in failed} <= {"refused", "memory"}
        assert len(records(lines)) == len(cases)
        refused |= {f.case: f.message for f in failed}
    golden("refusals_groups.txt", "\n\n".join(f"{case}\n  {message}" for case, message in refused.items()))


def test_files_have_the_parts_of_their_ranks_and_a_record_names_the_folder(mpi, monkeypatch, tmp_path):
    monkeypatch.setenv("HOCKNEY_IO_FOLDER", str(tmp_path))
    engine = group_for(mpi, "hockney-io")
    words = [f"{w} bytes=1000 file={f}" for w in ("file_write", "file_read") for f in ("shared", "each")]
    lines = group_lines(mpi, engine, [engine.catalog.case(line, 2) for line in words], 2)
    found = records(lines)
    assert [record.metric("file_size") for record in found] == [2000, 1000, 2000, 1000]
    assert {record.labels["folder"] for record in found} == {str(tmp_path)}
    assert [record.bytes_moved for record in found] == [2000] * 4


def test_a_folder_that_is_not_there_is_refused_and_none_is_made(mpi, monkeypatch, tmp_path):
    monkeypatch.setenv("HOCKNEY_IO_FOLDER", str(tmp_path / "missing"))
    engine = group_for(mpi, "hockney-io")
    cases = [engine.catalog.case(f"file_write file={file}", 2) for file in ("shared", "each")]
    lines = group_lines(mpi, engine, cases, 2)
    refused = failures(lines)
    assert [line.case for line in refused] == [case.line for case in cases]
    assert {line.reason for line in refused} == {"refused"}
    assert all(str(tmp_path / "missing") in line.message for line in refused)
    assert not list(tmp_path.iterdir())
