# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tests see the tools that they declare, and no others."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import needs
import pytest


def test_a_test_sees_no_tool_that_it_does_not_declare():
    every = re.compile("|".join(needs.TOOLS.values()))
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    seen = [path for folder in folders if folder.is_dir() for path in folder.iterdir()]
    assert [path for path in seen if every.fullmatch(path.name)] == []
    assert shutil.which("sh") and shutil.which("git")


@pytest.mark.compiler
def test_a_declared_tool_is_seen():
    assert shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


def test_only_the_programs_of_other_tools_are_hidden(tmp_path, monkeypatch):
    names = ("c++", "x86_64-linux-gnu-gcc-12", "spin", "ip", "awk", "ccache")
    for name in names:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setattr(needs, "PATH", str(tmp_path))
    folders = (needs.programs_of.__wrapped__("SPIN"), needs.path_without_tools())
    assert [sorted(os.listdir(folder)) for folder in folders] == [["spin"], ["awk", "ccache"]]


def test_a_missing_tool_skips_the_test_and_fails_it_in_ci(monkeypatch):
    monkeypatch.setattr(needs, "hidden", False)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(needs.Missing) as skipped:
        needs.need_program("SPIN", "no-such-program")
    assert skipped.value.need == "SPIN"
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception):
        needs.need_program("SPIN", "no-such-program")
