# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks on several hosts of a real Slurm, by mpiexec, by srun, and by a remote shell."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from slurm_rig import AGENT, Rig

from hockney import build
from hockney.core.machine import Mpi

pytestmark = [pytest.mark.mpi, pytest.mark.slow(60), pytest.mark.needs("Slurm", "iproute2")]
JOB = ("salloc", "--nodelist=n1,n2", "--ntasks-per-node=2")
INTERFACE = {"openmpi": "pmix", "mpich": "pmi2"}


@pytest.fixture
def doctor(rig: Rig, mpi: Mpi, engine: build.Engine, tmp_path: Path):
    """doctor("--launcher", "srun", job=JOB) runs the doctor on the front end and returns its findings."""

    def examine(*options: str, job: tuple[str, ...] = JOB) -> dict[str, dict]:
        words = (*job, sys.executable, "-m", "hockney", "doctor", "--no-noise", "--json", "-q")
        done = rig.run(*words, "--mpi", mpi.prefix, *options, check=False)
        assert done.code in (0, 3), done
        return {finding["code"]: finding for finding in json.loads(done.out)}

    return examine


def test_the_hosts_of_a_job_are_used_by_mpiexec(doctor, mpi):
    found = doctor()
    assert found["layout"]["numbers"] == {"nodes": 2, "ranks_per_node": 2, "hosts": ["n1", "n2"]}
    assert found["launcher"]["numbers"]["program"] == mpi.mpiexec
    levels = found["levels"]["numbers"]["levels"]
    assert len(levels) == 2 and levels[1] == "network"
    assert found["cost-of-starting"]["numbers"]["init_s"] > 0


def test_srun_connects_ranks_by_the_interface_of_the_mpi(doctor, mpi):
    numbers = doctor("--launcher", "srun")["launcher"]["numbers"]
    assert numbers["program"].endswith("srun") and numbers["interface"] == INTERFACE[mpi.family]


def test_a_remote_shell_of_the_user(doctor):
    found = doctor("--hosts", "n1:2,n2:2", "--agent", AGENT, job=())
    assert found["layout"]["numbers"]["hosts"] == ["n1", "n2"]
    assert found["launcher"]["numbers"]["agent"] == AGENT and "cannot-measure" not in found


def problem_of(found: dict[str, dict]) -> str:
    return found["cannot-measure"]["text"]


def test_a_host_that_does_not_answer_is_named(doctor):
    assert "n9" in problem_of(doctor("--hosts", "n1,n9", "--agent", AGENT, job=()))


def test_a_host_that_does_not_see_the_engine_is_named(rig, doctor, engine):
    folder = engine.path.parent
    rig.on("n2", f"mount -t tmpfs tmpfs {folder}")
    try:
        for options in ((), ("--launcher", "srun")):
            text = problem_of(doctor(*options))
            assert "n2" in text and "HOCKNEY_CACHE" in text
    finally:
        rig.on("n2", f"umount {folder}")


def test_a_host_with_another_engine_is_named(rig, doctor, engine, tmp_path):
    other = tmp_path / "other"
    other.write_bytes(engine.path.read_bytes() + b"\0")
    other.chmod(0o755)
    rig.on("n2", f"mount --bind {other} {engine.path}")
    try:
        text = problem_of(doctor())
        assert "n2" in text and "HOCKNEY_CACHE" in text
    finally:
        rig.on("n2", f"umount {engine.path}")


def test_more_ranks_than_the_job_has_slots(doctor):
    assert "2 slots" in problem_of(doctor("--ranks-per-node", "3"))
    assert "n3" in problem_of(doctor("--hosts", "n1,n3"))


def test_each_launch_begins_with_other_hosts_and_names_them(rig, mpi, engine, tmp_path):
    out = tmp_path / "run"
    words = ("run", "pingpong bytes=8", "--ranks", "2", "--launches", "2", "--budget", "40s", "-q")
    done = rig.run(
        *JOB, sys.executable, "-m", "hockney", *words, "--mpi", mpi.prefix, "--out", str(out), check=False
    )
    assert done.code == 0, done
    lines = map(json.loads, (out / "records.jsonl").read_text().splitlines())
    launches = [line for line in lines if line["kind"] == "launch"]
    assert [{rank["host"] for rank in launch["ranks"]} for launch in launches] == [{"n1"}, {"n2"}]
