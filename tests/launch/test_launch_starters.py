# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which of several ways of starting ranks a launcher takes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from launch_site import ALONE, CONNECTED, Site, hello

from hockney.core.errors import EnvironmentProblem
from hockney.core.layout import Cores, HostOptions
from hockney.launch.choosing import choose
from hockney.launch.launch_test import START_SECONDS
from hockney.launch.mpi import MpiLauncher

CORES = Cores((0, 1), (0, 1), 2)


def launcher_on(site: Site, starter: str = "") -> MpiLauncher:
    chosen = choose(HostOptions(starter=starter), site.mpi, site.job)
    return MpiLauncher(
        site.mpi,
        site.folder / "engine",
        CORES,
        layout=chosen.layout,
        clusters=lambda: chosen.candidate_clusters(site.mpi, site.job),
        environ=site.job,
    )


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_mpiexec_is_taken_if_it_works(site):
    site.srun(pmix=CONNECTED)
    launcher = launcher_on(site)
    assert {hello.host for hello in launcher.check(4).hellos} == {"n1", "n2"}
    assert site.calls == ["mpiexec"] and launcher.cluster.srun is None


def test_otherwise_the_first_interface_of_srun_that_connects_the_ranks(site):
    site.mpiexec("no route", 1)
    site.srun(pmi2=CONNECTED, pmix=ALONE)
    launcher = launcher_on(site)
    launcher.check(4)
    assert site.calls == ["mpiexec", "srun --mpi=pmix", "srun --mpi=pmi2"]
    launcher.check(4)
    assert site.calls[3:] == ["srun --mpi=pmi2"], "found once for all"
    assert "--mpi=pmi2" in launcher.describe(4).words


def test_srun_alone_if_the_user_wants_it(site):
    site.srun(pmix=CONNECTED)
    launcher_on(site, "srun").check(4)
    assert site.calls == ["srun --mpi=pmix"]


def problem_of(launcher: MpiLauncher) -> EnvironmentProblem:
    with pytest.raises(EnvironmentProblem) as caught:
        launcher.check(4)
    return caught.value


def test_an_srun_that_connects_no_ranks(site):
    site.srun(pmi2=ALONE)
    problem = problem_of(launcher_on(site, "srun"))
    assert problem.code == "srun-connects-no-ranks"
    assert problem.fields["offered"] == ("none", "pmi2") and problem.fields["tried"] == ("pmi2",)


def test_an_srun_without_any_interface(site):
    site.srun()
    problem = problem_of(launcher_on(site, "srun"))
    assert problem.code == "srun-connects-no-ranks" and problem.fields["tried"] == ()


def test_a_cause_that_is_no_matter_of_the_launcher_is_the_one_reported(site):
    site.mpiexec(ALONE)
    site.srun(pmix="slurmstepd-n2: error: execve(): /cache/engine: No such file or directory")
    assert problem_of(launcher_on(site)).code == "engine-not-reachable"
    site.srun(pmix=ALONE)
    assert problem_of(launcher_on(site)).code == "ranks-run-as-separate-jobs"


def test_a_launcher_that_waits_for_a_rank_that_cannot_start_is_ended(site):
    site.mpiexec("[proxy:1@n2] HYDU_create_process: execvp error on file /cache/engine (No such file)")
    with (site.folder / "mpiexec").open("a") as script:
        script.write("sleep 100\n")
    text = (site.folder / "mpiexec").read_text()
    (site.folder / "mpiexec").write_text(text.replace("exit 0\n", ""))
    began = time.monotonic()
    assert problem_of(launcher_on(site, "mpiexec")).code == "engine-not-reachable"
    assert time.monotonic() - began < START_SECONDS / 2


def test_hosts_with_another_engine(site):
    other = hello((0, 4), (1, 4)) + "\n" + hello((2, 4), (3, 4), host="n2", engine="2")
    site.mpiexec(other)
    problem = problem_of(launcher_on(site, "mpiexec"))
    assert problem.code == "engines-differ" and "n2" in problem.what


def test_later_launches_begin_with_other_hosts(site):
    launcher = launcher_on(site, "mpiexec")
    launcher.check(4)

    def hosts(turn: int) -> str:
        words = launcher._command(Path("e"), 2, turn=turn).words
        return words[words.index("--host") + 1]

    assert [hosts(turn) for turn in range(3)] == ["n1:2", "n2:2", "n2:2"]
