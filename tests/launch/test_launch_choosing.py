# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which hosts a run uses, from the user's options and the batch job."""

from __future__ import annotations

import launcher_output
import pytest
from raising import raises_code
from scripts import script

from hockney.core.errors import HockneyError
from hockney.core.layout import HostOptions, Layout
from hockney.core.machine import Mpi
from hockney.launch.choosing import Hosts, choose
from hockney.launch.cluster import Cluster, Srun
from hockney.launch.slurm import parse_interfaces, parse_version, suitable_interfaces

SLURM = {
    "PATH": "/nowhere",
    "SLURM_JOB_ID": "7",
    "SLURM_JOB_NUM_NODES": "3",
    "SLURM_JOB_NODELIST": "n[1-3]",
    "SLURM_TASKS_PER_NODE": "2(x3)",
    "SLURM_JOB_CPUS_PER_NODE": "8(x3)",
}
OUTSIDE = {"PATH": "/bin:/usr/bin"}


def mpi(family: str = "openmpi") -> Mpi:
    return Mpi(family=family, version="5.0", prefix="/p", mpicxx="c", mpiexec="mpiexec", source="option")


def chosen(environ=SLURM, family: str = "openmpi", **given):
    return choose(HostOptions(**given), mpi(family), environ)


def refused(environ=SLURM, family: str = "openmpi", **given) -> str:
    with pytest.raises(HockneyError) as error:
        chosen(environ, family, **given)
    return error.value.code


def test_outside_of_a_job_it_is_this_host():
    assert chosen(OUTSIDE) == Hosts()
    assert chosen(OUTSIDE, ranks_per_node=4).layout == Layout(1, 4)


def test_a_job_is_used_as_a_whole():
    found = chosen()
    assert found.layout == Layout(3, 2) and found.spans_nodes
    assert found.cluster == Cluster(("n1", "n2", "n3"), (8, 8, 8), (2, 2, 2))


def test_options_choose_among_the_hosts_of_a_job():
    assert chosen(nodes=2, ranks_per_node=4).layout == Layout(2, 4)
    found = chosen(hosts=("n3", "n1"))
    assert found.cluster == Cluster(("n3", "n1"), (8, 8), (2, 2)) and found.layout == Layout(2, 2)
    assert chosen(hosts=("n3:5", "n1:5")).cluster.slots == (5, 5)


def test_one_of_several_hosts():
    assert chosen(OUTSIDE, hosts=("a", "b"), nodes=1).cluster == Cluster(("a",))
    assert chosen(OUTSIDE, hosts=("a:4", "b:3"), nodes=1).cluster == Cluster(("a",), (4,))
    found = chosen(nodes=1)
    assert found.cluster == Cluster(("n1",), (8,), (2,)) and not found.spans_nodes
    assert chosen(nodes=1, ranks_per_node=2).cluster.hosts == ("n1", "n2", "n3"), "each launch takes the next"


def test_a_job_on_one_host_is_this_host():
    environ = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n1", "SLURM_TASKS_PER_NODE": "4", "PATH": ""}
    assert chosen(environ) == Hosts()


def test_a_job_whose_hosts_are_not_named_is_left_to_the_launcher():
    environ = {"PBS_NUM_NODES": "2", "PATH": ""}
    assert chosen(environ).layout is None
    assert chosen(environ, ranks_per_node=2).layout == Layout(2, 2)
    assert chosen(environ, ranks_per_node=2).cluster == Cluster()


def test_named_hosts_have_one_rank_unless_more_fit():
    assert chosen(OUTSIDE, hosts=("a", "b")).layout == Layout(2, 1)
    found = chosen(OUTSIDE, hosts=("a:4", "b:3"), agent="sh -x")
    assert found.layout == Layout(2, 3)
    assert found.cluster.agent[0].endswith("/sh") and found.cluster.agent[1:] == ("-x",)


@pytest.mark.parametrize(
    ("code", "environ", "given"),
    [
        ("not-a-host", OUTSIDE, {"hosts": ("-x",)}),
        ("not-a-host", OUTSIDE, {"hosts": ("a b",)}),
        ("not-a-host", OUTSIDE, {"hosts": ("a:0",)}),
        ("not-a-host", OUTSIDE, {"hosts": ("",)}),
        ("host-given-twice", OUTSIDE, {"hosts": ("a", "a")}),
        ("slots-of-some-hosts", OUTSIDE, {"hosts": ("a:2", "b")}),
        ("too-few-hosts", OUTSIDE, {"hosts": ("a", "b"), "nodes": 3}),
        ("too-few-hosts", SLURM, {"nodes": 4}),
        ("no-other-hosts", OUTSIDE, {"nodes": 2}),
        ("host-not-in-job", SLURM, {"hosts": ("n1", "n4")}),
        ("unknown-starter", SLURM, {"starter": "aprun"}),
        ("srun-outside-of-job", OUTSIDE, {"starter": "srun"}),
        ("srun-missing", SLURM, {"starter": "srun"}),
        ("agent-not-words", OUTSIDE, {"hosts": ("a", "b"), "agent": "sh 'a b'"}),
        ("agent-not-words", OUTSIDE, {"hosts": ("a", "b"), "agent": "sh 'a"}),
        ("agent-not-words", OUTSIDE, {"hosts": ("a", "b"), "agent": "sh : rsh"}),
        ("agent-not-found", OUTSIDE, {"hosts": ("a", "b"), "agent": "/no/such/shell"}),
    ],
)
def test_what_is_refused(code, environ, given):
    assert refused(environ, **given) == code


def test_an_unknown_mpi_spreads_ranks_only_with_srun(srun):
    assert refused(OUTSIDE, "unknown", hosts=("a", "b")) == "layout-of-unknown-mpi"
    assert chosen(srun(), "unknown").starters == ("srun",)


@pytest.fixture
def srun(tmp_path):
    """Makes an srun with this list of interfaces; returns the environment of a job."""

    def made(offered: str = launcher_output.MPI_LIST):
        answers = f"case $1 in --version) echo slurm-wlm 22.05.8;; *) cat <<END\n{offered}\nEND\nesac"
        script(tmp_path / "srun", answers)
        return SLURM | {"PATH": f"{tmp_path}:/bin:/usr/bin"}

    return made


def ways(environ, family: str = "openmpi", **given) -> list[str]:
    found = chosen(environ, family, **given).candidate_clusters(mpi(family), environ)
    return [cluster.srun.pmi if cluster.srun else "mpiexec" for cluster in found]


def test_mpiexec_comes_first_and_then_the_interfaces_of_srun(srun):
    assert ways(srun()) == ["mpiexec", "pmix", "pmi2"]
    assert ways(srun(), "mpich") == ["mpiexec", "pmi2", "cray_shasta", "pmix"]
    assert ways(srun() | {"SLURM_MPI_TYPE": "pmix_v4"}, "mpich")[1] == "pmix_v4"
    assert ways(srun() | {"SLURM_MPI_TYPE": "none"}, "openmpi")[1] == "pmix"
    assert ways(srun(), starter="mpiexec") == ["mpiexec"]
    assert ways(OUTSIDE) == ["mpiexec"]


def test_the_ways_of_srun_have_its_version(srun):
    environ = srun()
    found = list(chosen(environ).candidate_clusters(mpi(), environ))
    assert found[1].srun == Srun(str(found[1].srun.program), (22, 5), "pmix")
    assert found[1].hosts == ("n1", "n2", "n3")


def test_srun_without_an_interface_for_the_mpi(srun):
    environ = srun("MPI plugin types are...\n\tnone\n\tpmi2\n")
    only = chosen(environ, starter="srun").candidate_clusters(mpi(), environ)
    assert next(only).srun.pmi == "pmi2"
    with raises_code("srun-connects-no-ranks", offered=("none", "pmi2")):
        next(only)


def test_no_remote_shell_with_srun(srun):
    assert refused(srun(), starter="srun", agent="sh") == "agent-with-srun"
    assert chosen(srun(), agent="sh").starters == ("mpiexec",)


def test_slurms_lists_of_interfaces():
    assert parse_interfaces(launcher_output.MPI_LIST) == ("pmix", "none", "cray_shasta", "pmi2")
    assert parse_interfaces(launcher_output.OLD_MPI_LIST) == ("openmpi", "none", "pmi2", "pmix_v3", "pmix")
    assert parse_interfaces("srun: fatal: Could not establish a configuration source") == ()
    assert suitable_interfaces(("none",), mpi("mpich"), {}) == []
    assert suitable_interfaces(("none", "pmi2"), mpi("unknown"), {}) == ["pmi2", ""]


def test_slurms_version():
    assert parse_version("slurm 23.11.4") == (23, 11) and parse_version("slurm-wlm 22.05.8") == (22, 5)
    assert parse_version("") == (0, 0)
