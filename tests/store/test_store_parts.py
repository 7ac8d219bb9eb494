# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Shares of a run: each writer has a separate file; no data is lost or doubled when they are joined."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from raising import raises_code

from hockney import api, measurement
from hockney.api.run_options import RunOptions
from hockney.core.errors import HockneyError
from hockney.core.record import Launch
from hockney.measurement import ignore_event, prepare
from hockney.measurement.events import MeasuringBegan
from hockney.store import (
    Appender,
    LaunchShare,
    PartFolder,
    RunFolder,
    absorb_shares,
    appender,
    lockable,
    parts,
    unabsorbed_shares,
    unmeasured_items,
)
from hockney.store.record_reader import decoded, raw_lines

ROUNDS = 6


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the fake machine that has a plan and no records: two cases in six launches."""
    path = tmp_path_factory.mktemp("planned") / "run"
    options = RunOptions(machine="fake", seed=1, budget=20.0, launches=ROUNDS)
    made = api.plan("pingpong bytes=0,8", options)
    measurement.create_run(path, made.cases, made.settings, made.bench)
    return path


@pytest.fixture
def folder(planned: Path, tmp_path: Path) -> RunFolder:
    shutil.copytree(planned, tmp_path / "run")
    return RunFolder(tmp_path / "run")


def measure(folder: RunFolder, share: LaunchShare | None = None) -> measurement.Outcome:
    return measurement.measure(folder, prepare("fake"), ignore_event, share=share)


def write_part(folder: RunFolder, share: LaunchShare) -> Path:
    """The records of a share, of which nobody has taken notice yet."""
    part = PartFolder.of_share(folder, share)
    measurement.session._measure(part, prepare("fake"), ignore_event, 10.0)
    return part.records_path


def done(folder: RunFolder) -> int:
    run = folder.read().run
    assert len({(r.launch, r.case) for r in run.records}) == len(run.records)
    return len(run.records)


@pytest.mark.parametrize("count", [1, 2, 4, 7])
def test_shares_are_all_launches_once(folder: RunFolder, count: int):
    plan = folder.plan()
    shares = [LaunchShare(number, count).of(plan).items for number in range(1, count + 1)]
    assert sorted(item.launch for items in shares for item in items) == [i.launch for i in plan.items]


@pytest.mark.parametrize("text", ["0/4", "5/4", "1", "1/0", "a/b", "1/99999", "-1/2"])
def test_a_share_is_a_number_of_a_count(text: str):
    with raises_code("not-a-share"):
        LaunchShare.parse(text)


def test_shares_measured_in_any_order_complete_the_run(folder: RunFolder):
    for number in (3, 1, 2):
        assert measure(folder, LaunchShare(number, 3)).missing_count == 0
    assert done(folder) == 2 * ROUNDS
    assert not unmeasured_items(folder.plan(), folder.read().run)
    assert not unabsorbed_shares(folder)
    assert all(finding.verdict != "bad" for finding in api.verify(folder.path))


def test_two_shares_at_once(folder: RunFolder):
    """While another writer has its file open, only finished ones are taken."""
    first, second = LaunchShare(1, 2), LaunchShare(2, 2)
    write_part(folder, first)
    with PartFolder.of_share(folder, second).append():
        assert absorb_shares(folder) == 1
        assert done(folder) == ROUNDS
        assert [path.name for path in unabsorbed_shares(folder)] == [second.file]
    assert absorb_shares(folder) == 0
    assert not unabsorbed_shares(folder)


def test_a_share_waits_for_the_writer_of_the_run(folder: RunFolder):
    write_part(folder, LaunchShare(1, 2))
    with folder.append(), pytest.raises(HockneyError) as raised:
        absorb_shares(folder, wait_s=0.3)
    assert raised.value.code == "records-locked"
    assert absorb_shares(folder) == 0
    assert done(folder) == ROUNDS


def test_a_share_killed_in_the_middle_of_a_line_loses_only_that(folder: RunFolder):
    path = write_part(folder, LaunchShare(1, 2))
    path.write_bytes(path.read_bytes() + b'{"kind":"record","schema":2,"lau')
    absorb_shares(folder)
    assert done(folder) == ROUNDS


@pytest.mark.parametrize("kept", range(0, 12, 3))
def test_an_absorption_killed_in_the_middle_is_repeated(folder: RunFolder, kept: int):
    """The first lines have arrived already when the file is taken again."""
    path = write_part(folder, LaunchShare(1, 2))
    copy = path.read_bytes()
    absorb_shares(folder)
    lines = folder.records_path.read_bytes().splitlines(keepends=True)
    folder.records_path.write_bytes(b"".join(lines[:kept]))
    path.write_bytes(copy)
    absorb_shares(folder)
    assert done(folder) == ROUNDS
    assert folder.records_path.read_bytes() == b"".join(lines)


def test_launches_that_two_writers_gave_one_name_are_kept_apart(folder: RunFolder):
    """A job that was requeued measures a launch again, whose first records nobody had taken yet."""
    path = write_part(folder, LaunchShare(1, 2))
    lines = [decoded(raw, path, number) for number, raw in raw_lines(path)]
    absorb_shares(folder)
    with Appender(path, folder.sums.checksum) as out:
        for line in lines:
            later = isinstance(line, Launch)
            out.append(msgspec.structs.replace(line, started_s=line.started_s + 60) if later else line)
    absorb_shares(folder)
    run = folder.read().run
    assert len({launch.launch for launch in run.launches}) == len(run.launches) == ROUNDS
    assert done(folder) == 2 * ROUNDS


def test_what_the_run_has_is_not_measured_again(folder: RunFolder):
    measure(folder, LaunchShare(1, 2))
    assert PartFolder.of_share(folder, LaunchShare(1, 2)).plan().items == ()
    assert measure(folder, LaunchShare(1, 2)).measured_count == 0
    assert measure(folder).measured_count == ROUNDS


def test_resuming_takes_what_shares_left_behind(folder: RunFolder):
    write_part(folder, LaunchShare(2, 2))
    assert measure(folder).measured_count == ROUNDS
    assert done(folder) == 2 * ROUNDS


def test_nobody_writes_to_a_file_that_was_taken(folder: RunFolder, monkeypatch: pytest.MonkeyPatch):
    """The file is unlinked between opening and locking it."""
    path = write_part(folder, LaunchShare(1, 2))
    part = PartFolder.of_share(folder, LaunchShare(1, 2)).append()
    flock = __import__("fcntl").flock

    def late(file: int, how: int) -> None:
        os.unlink(path)
        flock(file, how)

    monkeypatch.setattr("hockney.store.appender.fcntl.flock", late)
    with raises_code("records-locked"), part:
        pass


def test_a_share_is_on_the_disk_before_its_file_goes(folder: RunFolder, monkeypatch: pytest.MonkeyPatch):
    """A crash of the system must not take both copies."""
    path = write_part(folder, LaunchShare(1, 2))
    records = folder.records_path
    at_sync: list[int] = []
    kept: list[bytes] = []
    through, unlink = appender.through_to_disk, Path.unlink

    def sync(file: int) -> None:
        through(file)
        if os.fstat(file).st_ino == records.stat().st_ino:
            at_sync.append(os.fstat(file).st_size)

    def last(self: Path, missing_ok: bool = False) -> None:
        if self == path:
            kept.append(records.read_bytes()[: at_sync[-1] if at_sync else 0])
        unlink(self, missing_ok)

    monkeypatch.setattr(appender, "SYNC_S", 1e9)
    monkeypatch.setattr(appender, "through_to_disk", sync)
    monkeypatch.setattr(Path, "unlink", last)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join(lines[:-1]) + b"\n")  # killed before the end of its last launch
    absorb_shares(folder)
    assert kept == [records.read_bytes()]


@pytest.mark.parametrize("share", [None, LaunchShare(1, 2)])
def test_only_in_a_job_a_lock_is_waited_for(folder, share, monkeypatch):
    """The lock of a node that died, whose job was requeued, is released late."""
    path = folder.records_path if share is None else folder.path / share.file
    holder = Appender(path, folder.sums.checksum)
    waits: list[float] = []

    def release(seconds: float) -> None:
        waits.append(seconds)
        holder.__exit__(None, None, None)

    monkeypatch.setattr(parts.time, "sleep", release)
    bench = prepare("fake")
    with holder, pytest.raises(HockneyError) as raised:
        measurement.measure(folder, bench, ignore_event, share=share)
    assert raised.value.code == "records-locked"
    in_job = replace(bench, machine=msgspec.structs.replace(bench.machine, scheduler="Slurm job 3"))
    with holder:
        assert measurement.measure(folder, in_job, ignore_event, share=share).missing_count == 0
    assert len(waits) == 1, "released during the wait"


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on some network file systems."""

    def refuse(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "")

    monkeypatch.setattr("hockney.store.appender.fcntl.flock", refuse)


def test_without_locks_only_its_own_writer_takes_a_share(folder: RunFolder, no_locks: None):
    """The other file may have a writer, even one that is in the middle of a line."""
    first, second = LaunchShare(1, 2), LaunchShare(2, 2)
    path = write_part(folder, first)
    path.write_bytes(path.read_bytes() + b'{"kind":"record"')
    written = path.read_bytes()
    assert measure(folder, second).missing_count == 0
    assert path.read_bytes() == written
    assert done(folder) == ROUNDS
    assert absorb_shares(folder) == 1
    assert measure(folder, first).missing_count == 0
    assert not unabsorbed_shares(folder)
    assert done(folder) == 2 * ROUNDS


def test_without_locks_all_shares_are_taken_when_all_have_ended(folder: RunFolder, no_locks: None):
    write_part(folder, LaunchShare(1, 2))
    write_part(folder, LaunchShare(2, 2))
    assert absorb_shares(folder) == 2
    assert absorb_shares(folder, all_ended=True) == 0
    assert done(folder) == 2 * ROUNDS


def test_a_share_whose_file_alone_cannot_be_locked_is_not_taken(folder: RunFolder, monkeypatch):
    """A host may run out of locks."""
    path = write_part(folder, LaunchShare(1, 2))
    flock = __import__("fcntl").flock

    def short(file: int, how: int) -> None:
        if os.fstat(file).st_ino == path.stat().st_ino:
            raise OSError(errno.ENOLCK, "")
        flock(file, how)

    monkeypatch.setattr("hockney.store.appender.fcntl.flock", short)
    assert absorb_shares(folder) == 1
    assert path.exists()


def test_whether_a_folder_has_locks(tmp_path: Path, request: pytest.FixtureRequest):
    assert lockable(tmp_path / "not" / "yet")
    request.getfixturevalue("no_locks")
    assert not lockable(tmp_path / "not" / "yet")
    assert not list(tmp_path.iterdir())


def test_nobody_measures_the_launches_of_shares_with_a_writer(folder: RunFolder):
    with PartFolder.of_share(folder, LaunchShare(1, 2)).append(), pytest.raises(HockneyError) as raised:
        measure(folder)
    assert raised.value.code == "shares-being-measured"
    assert raised.value.fields["writers"] == 1
    assert done(folder) == 0
    assert measure(folder).missing_count == 0


def given_s(folder: RunFolder, share: LaunchShare) -> float:
    """The time that the share's launches get."""
    events: list[object] = []
    measurement.measure(folder, prepare("fake"), events.append, share=share)
    return next(event for event in events if isinstance(event, MeasuringBegan)).budget_s


@pytest.mark.parametrize("taken", [True, False])
def test_the_rest_of_a_share_gets_the_rest_of_its_time(folder: RunFolder, tmp_path: Path, taken: bool):
    """A requeued job measures what its share lacks, whether its first records have been taken or not."""
    share = LaunchShare(1, 2)
    half_s = folder.plan().settings.budget_s / 2
    copy = RunFolder(tmp_path / "copy")
    shutil.copytree(folder.path, copy.path)
    assert given_s(copy, share) == pytest.approx(half_s)
    lines = copy.records_path.read_bytes().splitlines(keepends=True)
    path = folder.records_path if taken else folder.path / share.file
    path.write_bytes(b"".join(lines[:4]))  # one of three launches: its line, two records, its end
    assert 0.3 * half_s < given_s(folder, share) < 0.8 * half_s
