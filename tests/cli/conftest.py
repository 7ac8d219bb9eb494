# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command line in this process, on the fake machine, in a folder of its own."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hockney.cli.errors import guarded


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


@pytest.fixture
def hockney(tmp_path, monkeypatch, capsys):
    """hockney("survey", "-q") gives code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOCKNEY_MACHINE", "fake")
    monkeypatch.setenv("COLUMNS", "100")

    def call(*words: str) -> Said:
        capsys.readouterr()
        code = guarded(words)
        caught = capsys.readouterr()
        return Said(code, caught.out, caught.err)

    return call


@pytest.fixture
def mine(hockney):
    """A small run in runs/mine."""
    done = hockney("run", "pingpong bytes=0:64", "barrier", "--out", "runs/mine", "--seed", "1", "-q")
    assert done.code == 0, done.err
    return "runs/mine"
