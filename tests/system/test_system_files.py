# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Folders that are created atomically."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from hockney.core.errors import EnvironmentProblem
from hockney.system.files import create_folder, make_folder, write_user_file

FILES = {"plan.txt": b"a plan", "machine.json": b"{}"}


def nameless_files_in(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except (AttributeError, OSError):
        return False
    return True


def test_a_new_folder_has_its_files_and_the_usual_rights(tmp_path):
    create_folder(tmp_path / "a" / "r", FILES)
    mask = os.umask(0o022)
    os.umask(mask)
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["r"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "a" / "r").iterdir()} == FILES
    assert (tmp_path / "a" / "r").stat().st_mode & 0o777 == 0o777 & ~mask
    assert (tmp_path / "a" / "r" / "plan.txt").stat().st_mode & 0o777 == 0o666 & ~mask
    with pytest.raises(FileExistsError):
        create_folder(tmp_path / "a" / "r", FILES)


def test_where_files_need_names_the_folder_is_the_same(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    create_folder(tmp_path / "r", FILES)
    assert {path.name: path.read_bytes() for path in (tmp_path / "r").iterdir()} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["r"]


@pytest.mark.parametrize("written", [1, 2])
def test_a_kill_while_files_go_to_the_disk_leaves_nothing(tmp_path, written):
    if not nameless_files_in(tmp_path):
        pytest.skip("this file system has no files without names")
    pid = os.fork()
    if pid == 0:
        left = [written]

        def killed(_: int) -> None:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

        os.fsync = killed
        create_folder(tmp_path / "r", FILES)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_not_written_into_a_folder_that_does_not_exist(tmp_path):
    """It may be a mistyped one."""
    with pytest.raises(EnvironmentProblem) as refused:
        write_user_file(tmp_path / "new" / "x.toml", b"x")
    assert refused.value.code == "cannot-write-file" and not (tmp_path / "new").exists()
    make_folder(tmp_path / "new" / "inner")
    write_user_file(tmp_path / "new" / "inner" / "x.toml", b"x")
    assert (tmp_path / "new" / "inner" / "x.toml").read_bytes() == b"x"
