# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney build --simgrid with a stand-in build; the real one is tested in tests/build."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from hockney import measurement
from hockney.cli.output.progress import ProgressReporter
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi
from hockney.measurement import StepDone

FOUND = Mpi(
    family="smpi", version="4.1", prefix="/c/simgrid-4.1", mpicxx="/c/x", mpiexec="/c/r", source="cache"
)


@pytest.fixture
def asked(monkeypatch) -> list[bool]:
    """Whether each build was requested to start over."""
    heard: list[bool] = []

    def bring(again, tell, progress):
        heard.append(again)
        tell("fetching")
        progress(3, 3)
        return FOUND

    monkeypatch.setattr(measurement, "provide_simgrid", bring)
    return heard


def test_the_folder_is_data_and_the_rest_talk(hockney, asked):
    done = hockney("build", "--simgrid")
    assert (done.code, done.out, done.err) == (0, "/c/simgrid-4.1\n", "fetching\n")
    quiet = hockney("build", "--simgrid", "--force", "-q", "--json")
    assert json.loads(quiet.out)["simgrid"]["mpiexec"] == "/c/r" and quiet.err == ""
    assert asked == [False, True]


def test_what_cannot_be_is_one_line_and_3(hockney, monkeypatch):
    def bring(*_):
        raise EnvironmentProblem("there is no C compiler here", "why", "install one", code="no-compiler")

    monkeypatch.setattr(measurement, "provide_simgrid", bring)
    done = hockney("build", "--simgrid")
    assert (done.code, done.out, done.error.code) == (3, "", "no-compiler")
    assert done.err.count("\n") == 1
    assert hockney("build", "--force").error.code == "force-without-simgrid"


def count(*, terminal: bool, quiet: bool = False) -> str:
    """The progress reported for 40 steps of 4 s each."""
    seconds = iter(range(0, 10_000, 4))
    talk, stream = ProgressReporter(quiet, clock=lambda: next(seconds)), io.StringIO()
    talk.console = Console(file=stream, quiet=quiet, force_terminal=terminal, width=100, highlight=False)
    with talk:
        for done in range(1, 41):
            talk(StepDone("compiled", done, 40))
    return stream.getvalue()


def test_a_line_now_and_then_where_there_is_no_terminal():
    lines = count(terminal=False).splitlines()
    assert lines[0] == "4/40 compiled" and lines[1] == "7/40 compiled, 1m53s left"
    assert len(lines) == 13 and count(terminal=False, quiet=True) == ""


def test_a_bar_on_a_terminal():
    shown = count(terminal=True)
    assert "/40" in shown and "compiled" in shown and "left" in shown and "\x1b[" in shown
