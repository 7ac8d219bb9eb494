# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import errno
import os
import re
import stat
import subprocess
import sys

import pytest
from raising import raises_code

from hockney.core.errors import EnvironmentProblem, UsageError
from hockney.core.paths import INDEX, PLAN, RUN_FILE_PATTERNS
from hockney.store import RunFolder
from hockney.system.files import make_folder, write_internal_file, write_user_file


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "report.html"
    write_user_file(path, b"one")
    write_user_file(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["report.html"]
    mask = os.umask(0o022)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_a_failed_write_keeps_the_old_file_and_has_its_reason(tmp_path, monkeypatch, number):
    path = tmp_path / "report.html"
    path.write_bytes(b"old")

    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(EnvironmentProblem) as caught:
        write_user_file(path, b"new")
    assert (caught.value.code, caught.value.fields["errno"]) == ("cannot-write-file", number)
    assert str(path) in caught.value.what and caught.value.remedy
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_name_that_is_too_long_is_told(tmp_path):
    with pytest.raises(EnvironmentProblem) as caught:
        write_user_file(tmp_path / ("é" * 300) / "report.html", b"x")
    assert caught.value.fields["errno"] == errno.ENAMETOOLONG


def test_a_real_full_disk_is_told():
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with pytest.raises(EnvironmentProblem):
        from pathlib import Path

        write_user_file(Path("/dev/full/report.html"), b"x")


def test_a_folder_is_no_file(tmp_path):
    with raises_code("folder-instead-of-file"):
        write_user_file(tmp_path, b"x")


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with raises_code("cannot-write-file"):
        write_user_file(tmp_path / "file" / "report.html", b"x")


@pytest.fixture
def run(tmp_path):
    """A folder with the files that hockney writes there, and an archive around it."""
    folder = tmp_path / "archive" / "run"
    folder.mkdir(parents=True)
    names = [re.sub(r"\*", "1", pattern) for pattern in RUN_FILE_PATTERNS]
    for path in (*(folder / name for name in names), folder.parent / INDEX):
        path.write_bytes(b"measured")
    return folder


def test_files_of_runs_and_archives_are_refused(run, tmp_path):
    """By whichever name."""
    assert {path.name for path in RunFolder(run).files} == {path.name for path in run.iterdir()}
    link = tmp_path / "link.html"
    link.symlink_to(run / "records.jsonl")
    (tmp_path / "folder").symlink_to(run)
    named = [link, tmp_path / "folder" / "machine.json", run / ".." / "run" / PLAN, run.parent / INDEX]
    for path in (*run.iterdir(), *named):
        with pytest.raises(UsageError) as refused:
            write_user_file(path, b"x")
        assert refused.value.code == "file-of-a-run" and path.read_bytes() == b"measured"
    with raises_code("folder-of-a-run"):
        make_folder(run)
    write_user_file(run / "junit.xml", b"x")
    write_user_file(tmp_path / "records.jsonl", b"x")
    assert (run / "junit.xml").read_bytes() == (tmp_path / "records.jsonl").read_bytes() == b"x"


def test_a_link_is_followed_and_stays(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    link = tmp_path / "link"
    link.symlink_to("real")
    (tmp_path / "dangling").symlink_to("new")
    write_user_file(link, b"new")
    write_user_file(tmp_path / "dangling", b"made")
    assert link.is_symlink() and (tmp_path / "real").read_bytes() == b"new"
    assert (tmp_path / "dangling").is_symlink() and (tmp_path / "new").read_bytes() == b"made"


def test_a_link_of_a_run_is_not_followed(tmp_path):
    """Somebody else may have made it."""
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "report.html").symlink_to("mine")
    write_internal_file(tmp_path / "report.html", b"page")
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert not (tmp_path / "report.html").is_symlink()


def test_a_pipe_gets_the_content(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_user_file(pipe, b"page")
    assert os.read(reader, 100) == b"page" and stat.S_ISFIFO(pipe.stat().st_mode)
    os.close(reader)


def test_a_device_stays_one(tmp_path):
    null = tmp_path / "null"
    try:
        os.mknod(null, 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        null.write_bytes(b"x")
    except PermissionError:
        pytest.skip("needs the right to make devices")
    write_user_file(null, b"page")
    assert stat.S_ISCHR(null.stat().st_mode)


def test_standard_output_goes_on_after_the_file(tmp_path):
    """A shell may have made it a regular file, which must not be replaced."""
    code = (
        "from pathlib import Path; from hockney.system.files import write_user_file\n"
        "print('before'); write_user_file(Path('/dev/stdout'), b'page\\n'); print('after')"
    )
    out = tmp_path / "out"
    with out.open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert out.read_bytes() == b"before\npage\nafter\n"
