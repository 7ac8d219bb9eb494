# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney build --simgrid with a stand-in build; the real one is tested in tests/build."""

from __future__ import annotations

import json

import pytest

from hockney import measurement
from hockney.core.errors import EnvironmentProblem
from hockney.core.machine import Mpi

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
