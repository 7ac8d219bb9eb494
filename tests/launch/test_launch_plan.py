# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where a launch keeps its plan: every host that may have rank 0 must see it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from hockney.core.case import Case
from hockney.core.errors import EnvironmentProblem
from hockney.core.launcher_options import LauncherOptions
from hockney.core.layout import Cores, Layout
from hockney.core.machine import Mpi
from hockney.launch import mpi as launching
from hockney.launch.cluster import Cluster
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import PLAN_FILE, STOP_FILE, MpiLauncher, plan_folder

MPI = Mpi(family="openmpi", version="5.0.11", prefix="/p", mpicxx="/p/c", mpiexec="/p/m", source="option")
PLANNED = [Case.of("barrier", 2)]
ALLOCATION = {"SLURM_JOB_ID": "1", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_NUM_NODES": "2"}


@pytest.fixture
def read_only(monkeypatch, tmp_path):
    """A folder that may not be written to; root may write to any."""
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    return tmp_path


def test_it_is_next_to_the_engine(tmp_path):
    for on_other_hosts in (False, True):
        scratch = plan_folder(PLANNED, tmp_path, on_other_hosts)
        assert scratch.folder.parent == tmp_path
        assert scratch.files == {PLAN_FILE: "barrier ranks=2\n", STOP_FILE: ""}


def test_on_this_host_temporary_files_will_do(read_only):
    assert plan_folder(PLANNED, read_only).folder.parent == Path(tempfile.gettempdir())


@pytest.mark.parametrize(
    "more",
    [
        {"cluster": Cluster(("n1", "n2"))},
        {"layout": Layout(2, 1)},
        {"environ": ALLOCATION},
        {"user": LauncherOptions(arguments=("--host", "n1,n2"))},
    ],
)
def test_with_other_hosts_the_check_refuses_what_they_do_not_see(read_only, monkeypatch, more):
    monkeypatch.setattr(launching, "say_hello", lambda *_: pytest.fail("a rank was started"))
    launcher = MpiLauncher(MPI, read_only / "engine", Cores((0,), (0,), 1), **{"environ": {}, **more})
    with pytest.raises(EnvironmentProblem) as refused:
        launcher.check(2)
    assert refused.value.code == "plan-folder-not-shared"
    assert refused.value.fields["folder"] == str(read_only)
    with pytest.raises(EnvironmentProblem):
        next(launcher.run(PLANNED, 2, LaunchOptions("L", 0, 1.0)))
