# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import errno
import os

import pytest

from hockney.core.errors import EnvironmentProblem, UsageError
from hockney.system.files import replace


def test_a_file_is_replaced_whole_in_a_folder_that_is_made(tmp_path):
    path = tmp_path / "a" / "b" / "report.html"
    replace(path, b"one")
    replace(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["report.html"]
    mask = os.umask(0o022)
    os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o666 & ~mask


@pytest.mark.parametrize(
    ("number", "words"),
    [(errno.ENOSPC, "disk is full"), (errno.EROFS, "read-only"), (errno.EACCES, "may not write")],
)
def test_a_failed_write_keeps_the_old_file_and_says_why(tmp_path, monkeypatch, number, words):
    path = tmp_path / "report.html"
    path.write_bytes(b"old")

    def fail(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(EnvironmentProblem, match=words) as told:
        replace(path, b"new")
    assert "report.html" in str(told.value) and "name another folder" in str(told.value)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_real_full_disk_is_told():
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with pytest.raises(EnvironmentProblem):
        from pathlib import Path

        replace(Path("/dev/full/report.html"), b"x")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(UsageError, match="is a folder"):
        replace(tmp_path, b"x")


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(EnvironmentProblem, match="cannot write"):
        replace(tmp_path / "file" / "report.html", b"x")
