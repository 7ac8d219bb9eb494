# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""An archive has whole runs, each once, and its index agrees with them whatever happened to it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.archive import Archive
from hockney.archive.archive import ABANDONED_S
from hockney.archive.archived_run import describe
from hockney.archive.copying import COPY_PREFIX, MAX_FOREIGN_BYTES, digest_of, remove_run
from hockney.archive.index import _seal_file, read_index
from hockney.core.errors import EnvironmentProblem, HockneyError, Inconclusive, UsageError
from hockney.models.history.times import CaseTime, RunTimes
from hockney.store import RunFolder


def names(archive: Archive) -> list[str]:
    return [entry.name for entry in archive.contents().entries]


def filled(archive: Archive, runs: list[Path]) -> list[str]:
    return [archive.add(RunFolder(run)).entry.name for run in runs]


def test_a_copy_is_the_run(archive, runs):
    added = archive.add(RunFolder(runs[0]))
    copy = archive.folder(added.entry)
    assert added.is_new and copy.read().run == RunFolder(runs[0]).read().run
    assert copy.plan() == RunFolder(runs[0]).plan() and digest_of(copy) == digest_of(RunFolder(runs[0]))
    assert (copy.path / "fits.json").is_file() and not copy.report_path.exists()
    assert describe(copy) == added.entry == archive.contents().entries[0]


def test_runs_are_listed_by_date(archive, runs):
    expected = filled(archive, runs)
    assert names(archive) == expected
    dates = [entry.started_s for entry in archive.contents().entries]
    assert [round((each - dates[0]) / 86_400) for each in dates] == list(range(6))


def test_the_same_run_is_added_once(archive, runs, tmp_path):
    first = archive.add(RunFolder(runs[0]))
    shutil.copytree(runs[0], tmp_path / "copy")
    (tmp_path / "copy" / "report.html").write_text("another report")
    again = archive.add(RunFolder(tmp_path / "copy"))
    assert not again.is_new and again.entry == first.entry and len(names(archive)) == 1


def half(run: Path, into: Path, lines: int = 4) -> Path:
    """The run as it was after its first lines."""
    shutil.copytree(run, into)
    records = into / "records.jsonl"
    records.write_bytes(b"".join(records.read_bytes().splitlines(keepends=True)[:lines]))
    return into


def test_a_later_state_replaces_an_earlier_one(archive, runs, tmp_path):
    early = archive.add(RunFolder(half(runs[0], tmp_path / "early")))
    assert early.entry.left
    later = archive.add(RunFolder(runs[0]))
    assert later.replaced == (early.entry.name,) and names(archive) == [later.entry.name]
    assert not later.entry.left and not (archive.path / early.entry.name).exists()


def test_an_earlier_state_does_not_come_back(archive, runs, tmp_path):
    later = archive.add(RunFolder(runs[0]))
    early = archive.add(RunFolder(half(runs[0], tmp_path / "early")))
    assert not early.is_new and early.entry == later.entry and names(archive) == [later.entry.name]
    shutil.copytree(tmp_path / "early", archive.path / "put-there")
    assert names(archive) == [later.entry.name], "nor behind the archive's back"


def test_two_continuations_of_a_run_are_both_kept(archive, runs, tmp_path):
    from resealed import reseal

    other = shutil.copytree(runs[0], tmp_path / "other")
    records = other / "records.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[:-1]))
    last = lines[-1].replace(b'"exit_code":0', b'"exit_code":1')
    records.write_bytes(records.read_bytes() + last)
    reseal(other)
    filled(archive, [runs[0], other])
    assert len(names(archive)) == 2


def test_what_is_no_run_is_not_added(archive, runs, tmp_path):
    empty = half(runs[0], tmp_path / "empty", lines=1)
    with pytest.raises(Inconclusive) as nothing:
        archive.add(RunFolder(empty))
    damaged = half(runs[0], tmp_path / "damaged", lines=9)
    text = (damaged / "records.jsonl").read_text().replace('"batch":', '"butch":', 1)
    (damaged / "records.jsonl").write_text(text)
    with pytest.raises(EnvironmentProblem):
        archive.add(RunFolder(damaged))
    with pytest.raises(UsageError) as inside:
        archive.add(archive.folder(archive.add(RunFolder(runs[1])).entry))
    assert (nothing.value.code, inside.value.code) == ("archive-nothing-measured", "run-of-the-archive")
    assert len(names(archive)) == 1 and not list(archive.path.glob(".*"))


def test_links_are_not_followed(archive, runs, tmp_path):
    linked = shutil.copytree(runs[0], tmp_path / "linked")
    (tmp_path / "secret").write_text("secret")
    (linked / "notes").symlink_to(tmp_path / "secret")
    (linked / "more").symlink_to(tmp_path)
    (linked / "kept").mkdir()
    (linked / "kept" / "notes.txt").write_text("notes")
    os.mkfifo(linked / "pipe")
    copy = archive.folder(archive.add(RunFolder(linked)).entry).path
    assert not {"notes", "more", "pipe"} & set(os.listdir(copy))
    assert (copy / "kept" / "notes.txt").read_text() == "notes"


def test_a_folder_of_endless_depth_or_size_is_not_copied(archive, runs, tmp_path):
    deep = place = shutil.copytree(runs[0], tmp_path / "deep")
    for _ in range(1200):
        place = place / "d"
    subprocess.run(["mkdir", "-p", place.relative_to(tmp_path)], cwd=tmp_path, check=True)
    large = shutil.copytree(runs[0], tmp_path / "large")
    (large / "notes").touch()
    os.truncate(large / "notes", MAX_FOREIGN_BYTES + 1)
    for run in (deep, large):
        with pytest.raises(EnvironmentProblem) as refused:
            archive.add(RunFolder(run))
        assert refused.value.code == "file-not-readable"
    assert not os.listdir(archive.path)
    shutil.move(deep, archive.path / "deep")
    remove_run(archive.path / "deep")
    assert not os.listdir(archive.path)


def test_runs_put_there_and_taken_away_are_noticed(archive, runs):
    filled(archive, runs[:2])
    shutil.copytree(runs[2], archive.path / "mine")
    assert len(names(archive)) == 3 and "mine" in names(archive)
    shutil.rmtree(archive.path / "mine")
    assert len(names(archive)) == 2


def test_a_damaged_run_is_left_out_with_a_reason(archive, runs):
    first, second = filled(archive, runs[:2])
    records = archive.path / first / "records.jsonl"
    good = records.read_bytes()
    records.write_bytes(good.replace(b'"batch":', b'"butch":', 1))
    for _ in range(2):  # read, and from the index
        contents = archive.contents()
        assert [each.name for each in contents.entries] == [second]
        assert [(each.name, each.code) for each in contents.damaged] == [(first, "record-damaged")]
        assert [notice.code for notice in contents.notices] == ["archive-damaged-run"]
    records.write_bytes(good)
    assert names(archive) == [first, second]


@pytest.mark.parametrize("damage", ["changed", "cut off", "missing", "not readable"])
def test_a_damaged_copy_is_repaired_by_adding_the_run_again(archive, runs, damage):
    first, second = filled(archive, runs[:2])
    records = archive.path / first / "records.jsonl"
    good = records.read_bytes()
    records.unlink()
    if damage == "not readable":
        records.mkdir()  # also for root
    elif damage != "missing":
        lines = good.splitlines(keepends=True)
        records.write_bytes(
            good.replace(b'"batch":', b'"butch":', 1) if damage == "changed" else b"".join(lines[:-2])
        )
    archive.contents()
    added = archive.add(RunFolder(runs[0]))
    assert added.is_new and added.entry.name == first and records.read_bytes() == good
    assert names(archive) == [first, second] and not archive.contents().damaged
    assert archive.contents().entries[0] == describe(RunFolder(archive.path / first))
    assert not archive.add(RunFolder(runs[0])).is_new and not list(archive.path.glob(".*"))


def test_a_run_that_was_resumed_in_the_archive_stays(archive, runs, tmp_path):
    early = half(runs[0], tmp_path / "early")
    (name,) = filled(archive, [early])
    whole = (runs[0] / "records.jsonl").read_bytes()
    (archive.path / name / "records.jsonl").write_bytes(whole)
    assert not archive.add(RunFolder(early)).is_new
    assert (archive.path / name / "records.jsonl").read_bytes() == whole


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
SPOIL = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "garbage": lambda path: path.write_bytes(os.urandom(10_000)),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "another schema": lambda path: changed(path, "PRAGMA user_version = 99"),
    "another table": lambda path: changed(path, "ALTER TABLE run RENAME COLUMN mpi TO ipm"),
    "wrong value": lambda path: changed(path, "UPDATE run SET origin = 'invented'"),
    "a time": lambda path: changed(path, "UPDATE time SET typical_s = 3 * typical_s"),
    "no time": lambda path: changed(path, "UPDATE time SET typical_s = 'x'"),
    "a negative time": lambda path: resealed(path, "UPDATE time SET typical_s = -1"),
    "text for a time": lambda path: resealed(path, "UPDATE time SET typical_s = 'x'"),
    "no program": lambda path: resealed(path, "UPDATE run SET times_by = NULL"),
    "bytes for a name": lambda path: resealed(path, "UPDATE run SET host = x'ff'"),
    "a pipe": lambda path: (path.unlink(), os.mkfifo(path)),
    "a device": lambda path: (path.unlink(), path.symlink_to("/dev/zero")),
    "sparse": lambda path: os.truncate(path, 1 << 41),
    "a folder": lambda path: (path.unlink(), (path / "x").mkdir(parents=True)),
    "an endless view": lambda path: resealed(
        path,
        f"DROP TABLE damaged; CREATE VIEW damaged AS {ENDLESS}"
        " SELECT '' name, '' state, '' code, '' text FROM c",
    ),
    "an endless trigger": lambda path: resealed(
        path,
        f"CREATE TRIGGER t BEFORE DELETE ON run BEGIN {ENDLESS} SELECT x FROM c; END;"
        "UPDATE run SET state = ''",
    ),
}


def changed(path: Path, statement: str) -> None:
    with sqlite3.connect(path) as index:
        index.executescript(statement)
    index.close()


def resealed(path: Path, statement: str) -> None:
    """As somebody who has read how the seal is made."""
    changed(path, statement)
    _seal_file(str(path))


def kept_times(archive: Archive) -> dict[str, RunTimes]:
    def compute(_: RunFolder) -> RunTimes:
        return RunTimes("program", [CaseTime("barrier", "here", 3, 2e-6, 1e-6, None)], {"mpi": "an MPI"})

    return archive.times(archive.contents().entries, "program", compute)


@pytest.mark.parametrize("spoil", SPOIL.values(), ids=SPOIL)
def test_any_index_is_as_good_as_a_new_one(archive, runs, spoil):
    expected = filled(archive, runs[:3])
    before, times = archive.contents(), kept_times(archive)
    spoil(archive.index_path)
    assert archive.contents() == before and kept_times(archive) == times
    assert archive.add(RunFolder(runs[3])).is_new and names(archive)[:3] == expected
    assert archive.reindex() == archive.contents() and len(names(archive)) == 4
    assert not list(archive.path.glob(".*"))


@given(st.data())
def test_no_bit_of_an_index_changes_an_answer(index_of_runs, data):
    archive, before, times = index_of_runs
    content = bytearray(archive.index_path.read_bytes())
    bit = data.draw(st.integers(0, 8 * len(content) - 1))
    content[bit // 8] ^= 1 << bit % 8
    archive.index_path.write_bytes(content)
    assert not read_index(archive.index_path)
    assert archive.contents() == before and kept_times(archive) == times


@pytest.fixture(scope="module")
def index_of_runs(runs, tmp_path_factory):
    archive = Archive.open(tmp_path_factory.mktemp("bits") / "archive", create=True)
    filled(archive, runs[:2])
    return archive, archive.contents(), kept_times(archive)


def test_an_archive_that_is_not_writable_is_read(archive, runs, monkeypatch):
    filled(archive, runs[:2])
    archive.index_path.unlink()
    monkeypatch.setattr("tempfile.mkstemp", refused)
    assert len(names(archive)) == 2 and not archive.index_path.exists()
    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refused)
        with pytest.raises(EnvironmentProblem) as problem:
            archive.add(RunFolder(runs[2]))
    assert problem.value.code == "archive-not-writable"


def refused(*_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_the_index_is_used(archive, runs, monkeypatch):
    filled(archive, runs[:3])
    monkeypatch.setattr("hockney.archive.archive.describe", lambda folder: pytest.fail("read again"))
    assert len(names(archive)) == 3


def test_abandoned_copies_are_removed_when_old(archive, runs):
    for name, age in (("old", ABANDONED_S + 60), ("new", 60.0)):
        folder = shutil.copytree(runs[0], archive.path / f"{COPY_PREFIX}{name}")
        os.utime(folder, (time.time() - age,) * 2)
    filled(archive, runs[1:2])
    assert len(names(archive)) == 1
    assert [path.name for path in archive.path.glob(".*")] == [f"{COPY_PREFIX}new"]


def times_of(folder: RunFolder) -> RunTimes:
    records = folder.read().run.records
    times = {record.case: CaseTime(record.case, "", 3, record.times_s[0], None, 2.0) for record in records}
    return RunTimes("program 1", list(times.values()), {"host": folder.machine().host})


def test_times_are_computed_once_for_each_program(archive, runs):
    filled(archive, runs[:2])
    entries = archive.contents().entries
    made: list[str] = []

    def counted(folder: RunFolder) -> RunTimes:
        made.append(folder.path.name)
        return times_of(folder)

    first = archive.times(entries, "program 1", counted)
    assert {name: times_of(RunFolder(archive.path / name)) for name in first} == first
    again = archive.times(entries, "program 1", counted)
    assert sorted(made) == sorted(first) == sorted(again)
    for name, of in again.items():
        assert (
            sorted(of.times, key=str) == sorted(first[name].times, key=str) and of.facts == first[name].facts
        )
    only = archive.times(entries, "program 1", counted, "barrier")
    assert {each.case.split()[0] for of in only.values() for each in of.times} == {"barrier"}
    archive.times(entries, "program 2", counted)
    assert len(made) == 4, "another program computes them again"


def test_times_of_a_changed_run_are_computed_again(archive, runs):
    (name,) = filled(archive, runs[:1])
    archive.times(archive.contents().entries, "program 1", times_of)
    records = archive.path / name / "records.jsonl"
    records.write_bytes(b"".join(records.read_bytes().splitlines(keepends=True)[:3]))
    assert len(archive.times(archive.contents().entries, "program 1", times_of)[name].times) == 2


def test_what_is_no_archive(runs, tmp_path):
    (tmp_path / "file").write_text("")
    codes = []
    for path, create in ((runs[0], True), (tmp_path / "file", True), (tmp_path / "none", False)):
        with pytest.raises(HockneyError) as problem:
            Archive.open(path, create=create)
        codes.append(problem.value.code)
    assert codes == ["archive-is-a-run", "archive-not-a-folder", "no-archive"]
