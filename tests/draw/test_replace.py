# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import errno
import os

import pytest

from hockney.core.errors import EnvironmentProblem, UsageError
from hockney.system.files import replace


def test_a_file_is_replaced_whole(tmp_path):
    path = tmp_path / "report.html"
    replace(path, b"one")
    replace(path, b"two")
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
        replace(path, b"new")
    assert (caught.value.code, caught.value.fields["errno"]) == ("cannot-write-file", number)
    assert str(path) in caught.value.what and caught.value.remedy
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["report.html"]


def test_a_name_that_is_too_long_is_told(tmp_path):
    with pytest.raises(EnvironmentProblem) as caught:
        replace(tmp_path / ("é" * 300) / "report.html", b"x")
    assert caught.value.fields["errno"] == errno.ENAMETOOLONG


def test_a_real_full_disk_is_told():
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with pytest.raises(EnvironmentProblem):
        from pathlib import Path

        replace(Path("/dev/full/report.html"), b"x")


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(UsageError) as caught:
        replace(tmp_path, b"x")
    assert caught.value.code == "folder-instead-of-file"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(EnvironmentProblem) as caught:
        replace(tmp_path / "file" / "report.html", b"x")
    assert caught.value.code == "cannot-write-file"
