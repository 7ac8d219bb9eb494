# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney compare --interleaved with real MPIs on 2 ranks."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from real_mpi import engine_for, mpi_named

from hockney.store import RunFolder

pytestmark = [pytest.mark.mpi, pytest.mark.slow]
WORDS = (
    "pingpong bytes=8",
    "barrier",
    "--ranks",
    "2",
    "--launches",
    "3",
    "--budget",
    "4s",
    "--out",
    "r",
    "--json",
)


@pytest.fixture
def real(hockney, monkeypatch):
    monkeypatch.delenv("HOCKNEY_MACHINE")
    return hockney


def alternating() -> list[list]:
    """The launches of both sides, of which those with the same number follow one another."""
    runs = [RunFolder(Path("r") / side).read().run for side in "ab"]
    began = sorted(
        (launch.started_s, launch.index, k) for k, run in enumerate(runs) for launch in run.launches
    )
    pairs = [began[k : k + 2] for k in range(0, len(began) - 1, 2)]  # on a busy machine, fewer than planned
    assert pairs and all(one[1:] != other[1:] and one[1] == other[1] for one, other in pairs)
    assert all(one[1][2] == other[0][2] for one, other in pairwise(pairs[:2])), "ABBA"
    return [list(run.launches) for run in runs]


def test_two_mpis(real):
    for name in ("openmpi", "mpich"):
        engine_for(mpi_named(name))
    said = real("compare", "--interleaved", "--mpi openmpi", "--mpi mpich", *WORDS)
    assert said.code in (0, 1, 4), said.err
    document = json.loads(said.out)
    assert document["paired"] and len(document["cases"]) == 2
    assert all(each["ratio"] > 0 for each in document["cases"])
    differing = {each["what"]: each for each in document["differences"]}
    assert "Open MPI" in differing["MPI"]["a"] and "MPICH" in differing["MPI"]["b"]
    of_a, of_b = alternating()
    assert all("Open MPI" in launch.library for launch in of_a)
    assert all("MPICH" in launch.library for launch in of_b)


def test_a_parameter_and_the_binding(real):
    engine_for(mpi_named("openmpi"))
    b = "--no-bind -x OMPI_MCA_btl_sm_eager_limit=2048 --mpiexec-args '--mca coll_base_verbose 0'"
    said = real("compare", "--mpi", "openmpi", "-x", "SHARED=1", "--interleaved", "", b, *WORDS)
    assert said.code in (0, 1, 4), said.err
    differing = {each["what"]: (each["a"], each["b"]) for each in json.loads(said.out)["differences"]}
    assert differing["OMPI_MCA_btl_sm_eager_limit"][1] == "2048"
    of_a, of_b = alternating()
    assert all(launch.bound for launch in of_a) and not any(launch.bound for launch in of_b)
    settings = [RunFolder(Path("r") / side).plan().settings for side in "ab"]
    assert settings[0].variables == ("SHARED=1",)
    assert settings[1].variables == ("SHARED=1", "OMPI_MCA_btl_sm_eager_limit=2048")
    assert settings[1].mark and settings[0].interleaved == settings[1].interleaved
    assert real("resume", "r", "--json").code in (0, 1, 4), "this user typed these options"


def test_a_side_that_does_not_start(real):
    engine_for(mpi_named("openmpi"))
    said = real("compare", "--mpi", "openmpi", "--interleaved", "", "--mpiexec-args --no-such-option", *WORDS)
    assert said.code == 3 and str(said.error).startswith("B: ")
    assert not Path("r").exists()
