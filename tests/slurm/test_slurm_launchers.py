# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks started by srun, through each interface that Slurm offers to MPI, and by mpiexec."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from front import Front
from profiles.recorded import compiled
from real_mpi import mpi_named
from tiers import slow

pytestmark = [pytest.mark.mpi, pytest.mark.needs("Slurm", "iproute2")]

ALLOCATION = ("salloc", "--nodes=2", "--ntasks-per-node=2")
ON_TWO = ("--nodes", "2", "--ranks-per-node", "2")
CASES = ("run", "barrier ranks=4", "--launches", "1", "--budget", "5s", *ON_TWO)
SURVEY = ("--sizes", "8,1KiB", "--no-refine", "--launches", "1", "--budget", "15s", *ON_TWO, "--out", "r")


def assert_two_levels(places: set[str]) -> None:
    """Between nodes, and within a node: where, depends on its processors and the binding."""
    assert {"network"} < places - {""}


@pytest.mark.parametrize(("name", "interface"), [("openmpi", "pmix"), *slow(("mpich", "pmi2"))])
def test_srun_starts_ranks_that_find_each_other(front: Front, name: str, interface: str) -> None:
    mpi_named(name)
    front = replace(front, environ={**front.environ, "HOCKNEY_MPI": name})
    front(*CASES, "--launcher", "srun", "--out", "r", before=ALLOCATION)
    (launch,) = front.reading("r").run.launches
    assert len({rank.host for rank in launch.ranks}) == 2
    assert len(launch.ranks) == 4
    assert f"--mpi={interface}" in launch.command


@pytest.mark.slow
@pytest.mark.parametrize("export", ["ALL", "HOME,PATH"])
def test_ranks_of_srun_are_profiled(front: Front, export: str) -> None:
    program = compiled(mpi_named("openmpi"), front.folder, "endings")
    words = ("srun", "--mpi=pmix", f"--export={export}", str(program), "normal")
    done = front("profile", "--json", "--survey", "none", "--out", "p", "--", *words, before=ALLOCATION)
    document = json.loads(done.out)
    assert (document["exit_code"], document["ranks_count"]) == (0, 4), done
    assert {each["host"] for each in document["ranks"]} == {"n1", "n2"}
    assert sum(each["calls"] for each in document["call_sites"] if each["function"] == "MPI_Barrier") == 400


@pytest.mark.slow
def test_an_interface_that_the_mpi_lacks_is_named(front: Front) -> None:
    """Without one, every rank believes that it is alone."""
    words = ("--launcher", "srun", "--mpiexec-args=--mpi=none", "--json")
    done = front(*CASES, *words, before=ALLOCATION, code=None)
    error = json.loads(next(line for line in done.err.splitlines() if '"error"' in line))["error"]
    assert done.code == 3, done
    assert error["code"] == "srun-connects-no-ranks", error


@pytest.mark.slow(30)
def test_a_survey_in_an_allocation_tells_the_levels_apart(front: Front) -> None:
    done = front("survey", *SURVEY, "--json", before=ALLOCATION, code=None)
    assert done.code in (0, 4), done
    run = front.reading("r").run
    assert_two_levels({record.place for record in run.records})
    on = {launch.launch: [rank.host for rank in launch.ranks] for launch in run.launches}
    for record in run.records:
        if record.place:
            first, second = (on[record.launch][member] for member in record.members or range(2))
            assert (first == second) == (record.place != "network"), record


@pytest.mark.slow(40)
def test_a_submitted_survey_measures_the_levels_of_the_nodes_of_its_job(front: Front) -> None:
    done = front("survey", *SURVEY, "--submit", "--wait", "--json", code=None)
    assert done.code in (0, 4), done
    machine = json.loads((front.folder / "r" / "machine.json").read_text())
    assert machine["host"].startswith("n"), "the plan is that of the job"
    assert machine["scheduler"] != "batch"
    assert_two_levels({record.place for record in front.reading("r").run.records})
