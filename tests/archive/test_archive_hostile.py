# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that somebody else made: their names and files stay inside, and do no harm to the other runs."""

from __future__ import annotations

import errno
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from hockney.archive import Archive
from hockney.archive import copying as copying_module
from hockney.core.errors import EnvironmentProblem, UsageError
from hockney.core.notice import Notice
from hockney.models.history.times import RunTimes
from hockney.store import Plan, RunFolder


def named(run: Path, study: str, into: Path) -> RunFolder:
    """The run as one of another study."""
    source = RunFolder(run)
    plan = source.plan()
    settings = replace(plan.settings, study=study)
    folder = RunFolder.create(into, Plan(settings, plan.items), source.machine(), catalog=source.catalog())
    read = source.read().run
    with folder.append() as out:
        for line in (*read.launches, *read.records):
            out.append(line)
    return folder


@pytest.mark.parametrize("study", ["../../x", ".hidden", ".adding-x", "a/b", "..", "x" * 300])
def test_a_study_is_not_a_path(archive, runs, tmp_path, study):
    archive.add(RunFolder(runs[0]))
    around = set(tmp_path.parent.iterdir())
    entry = archive.add(named(runs[1], study, tmp_path / "evil")).entry
    assert (archive.path / entry.name / "plan.txt").is_file() and "/" not in entry.name
    assert entry.name in [each.name for each in archive.contents().entries] and entry.study == study
    assert set(tmp_path.parent.iterdir()) == around


def test_a_damaged_catalog_is_not_added(archive, runs, tmp_path):
    run = shutil.copytree(runs[0], tmp_path / "run")
    (run / "catalog.json").write_text("{")
    with pytest.raises(EnvironmentProblem):
        archive.add(RunFolder(run))
    assert not archive.contents().entries and not archive.contents().damaged


@pytest.mark.parametrize("file", ["catalog.json", "machine.json"])
def test_a_file_that_is_damaged_later_concerns_only_its_run(archive, runs, file):
    first, second = (archive.add(RunFolder(run)).entry.name for run in runs[:2])
    archive.contents()
    (archive.path / first / file).write_text('{"schema":1,"x":' + "[" * 100_000)
    contents = archive.contents()
    assert [each.name for each in contents.entries] == [second]
    assert [each.name for each in contents.damaged] == [first]


def test_a_file_without_end_concerns_only_its_run(archive, runs, tmp_path):
    run = shutil.copytree(runs[0], tmp_path / "run")
    kept, endless = (archive.add(RunFolder(each)).entry.name for each in (runs[1], run))
    for folder in (archive.path / endless, run):
        os.truncate(folder / "records.jsonl", 1 << 43)
    contents = archive.contents()
    assert [each.name for each in contents.entries] == [kept]
    assert [(each.name, each.code) for each in contents.damaged] == [(endless, "record-damaged")]
    with pytest.raises(EnvironmentProblem) as refused:
        archive.add(RunFolder(run))
    assert refused.value.fields["path"] == str(run / "records.jsonl"), "not that of a copy"


def test_a_run_without_times_is_left_out(archive, runs):
    for run in runs[:2]:
        archive.add(RunFolder(run))
    first, second = archive.contents().entries
    heard = []

    def compute(folder: RunFolder) -> RunTimes:
        if folder.path.name == first.name:
            raise EnvironmentProblem("it is damaged", "", "", code="test")
        return RunTimes("program", [], {})

    found = archive.times([first, second], "program", compute, listen=heard.append)
    codes = [event.code for event in heard if isinstance(event, Notice)]
    assert list(found) == [second.name] and codes == ["archive-damaged-run"]


def test_a_name_that_is_not_utf8_concerns_only_its_run(archive, runs):
    kept = archive.add(RunFolder(runs[0])).entry
    try:
        shutil.copytree(runs[1], archive.path / os.fsdecode(b"caf\xe9"))
    except OSError:
        pytest.skip("the file system has no such names")
    for _ in range(2):
        contents = archive.contents()
        assert [each.name for each in contents.entries] == [kept.name]
        assert [each.code for each in contents.damaged] == ["archive-name-not-utf8"]
        assert contents.damaged[0].name.encode() and len(contents.notices) == 1


def test_an_archive_inside_of_the_run_is_refused(runs, tmp_path):
    run = shutil.copytree(runs[0], tmp_path / "run")
    with pytest.raises(UsageError) as refused:
        Archive.open(run / "history", create=True).add(RunFolder(run))
    assert refused.value.code == "archive-in-run"


def test_the_side_that_fails_is_named(archive, runs, monkeypatch):
    def copied(error: OSError):
        def fails(*_: object) -> None:
            raise error

        return fails

    for number, code in ((errno.EACCES, "file-not-readable"), (errno.ENOSPC, "archive-not-writable")):
        error = OSError(number, "it fails", str(runs[0] / "records.jsonl"))
        monkeypatch.setattr(copying_module.shutil, "copy2", copied(error))
        with pytest.raises(EnvironmentProblem) as told:
            archive.add(RunFolder(runs[0]))
        assert told.value.code == code
