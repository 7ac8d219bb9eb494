# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The command line in this process, on the fake machine, in a temporary folder: fixtures."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hockney import api, report
from hockney.cli import start
from hockney.core.errors import HockneyError
from hockney.draw.page import Page


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str
    error: HockneyError | None


@pytest.fixture
def hockney(tmp_path, monkeypatch, capsys):
    """hockney("survey", "-q") returns exit code, stdout, stderr and the error (None if there is none)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOCKNEY_MACHINE", "fake")
    monkeypatch.setenv("COLUMNS", "100")

    run_command = start.run_command

    def call(*words: str) -> Said:
        capsys.readouterr()
        ends: list[tuple[int, HockneyError | None]] = []
        with monkeypatch.context() as patch:
            patch.setattr(
                start, "run_command", lambda arguments: ends.append(run_command(arguments)) or ends[-1]
            )
            code = start.guarded(words)
        caught = capsys.readouterr()
        return Said(code, caught.out, caught.err, ends[-1][1])

    return call


@pytest.fixture(autouse=True)
def stub_page(request, monkeypatch):
    """Rendering takes longer than everything else in tests of the command line. Tests that inspect the page
    are marked."""
    if "hockney" not in request.fixturenames or request.node.get_closest_marker("page"):
        return

    def write(page: Page, path: Path, *, in_run_folder: bool = False) -> Path:
        path.write_text("the report's place\n")
        return path

    monkeypatch.setattr(report, "write", write)


@pytest.fixture(scope="session")
def kept_survey(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A survey of the fake machine, to copy."""
    folder = tmp_path_factory.mktemp("surveys") / "kept"
    api.survey(api.RunOptions(machine="fake", seed=1, budget=5.0), out=folder)
    return folder


@pytest.fixture
def surveyed(hockney, kept_survey: Path) -> str:
    """A survey in runs/first."""
    shutil.copytree(kept_survey, "runs/first")
    return "runs/first"


@pytest.fixture
def small_survey(hockney) -> Callable[[str], None]:
    """small_survey("runs/first") measures what message costs require."""

    def survey(out: str) -> None:
        sizes = ("--ranks", "2", "--sizes", "0,64,1KiB,4KiB,64KiB,1MiB")
        done = hockney("survey", "-q", "--budget", "5s", *sizes, "--out", out)
        assert done.code == 0, done.err

    return survey


@pytest.fixture(scope="session")
def measured_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """measured_once("barriers", launches=3) is a run of the fake machine, which is measured at the first such
    call."""

    @functools.cache
    def measure(*question: str, **options: Any) -> Path:
        folder = tmp_path_factory.mktemp("once") / "kept"
        asked = question[0] if len(question) == 1 else question
        api.run(asked, api.RunOptions(**{"machine": "fake", "seed": 1, **options}), out=folder)
        return folder

    return measure


@pytest.fixture
def copied_run(hockney, measured_once: Callable[..., Path]) -> Callable[..., str]:
    """copied_run("runs/b", "barriers") copies such a run to runs/b."""

    def copy(out: str, *question: str, **options: Any) -> str:
        shutil.copytree(measured_once(*question, **options), out)
        return out

    return copy


@pytest.fixture
def mine(copied_run: Callable[..., str]) -> str:
    """A small run in runs/mine, with a page."""
    run = copied_run("runs/mine", "pingpong bytes=0:64", "barrier")
    Path(run, "report.html").write_text("a page\n")
    return run


def one_error(done, *codes: int) -> str:
    """The only line on stderr."""
    assert done.code in codes, done
    lines = [line for line in done.err.splitlines() if not line.startswith("note:")]
    assert len(lines) == 1 and lines[0].startswith("error: ") and lines[0].isprintable(), done.err
    assert done.out == "" and "Traceback" not in done.err
    assert len(lines[0]) > len("error: ") + 8
    return lines[0]
