# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of launch commands; those of Open MPI, MPICH and Intel MPI were run by hand once."""

from __future__ import annotations

import pytest

from hockney.core.binding import Cores
from hockney.core.launcher_options import LauncherOptions, launcher_options
from hockney.core.machine import Mpi
from hockney.launch.command import command
from hockney.launch.messages import binding

FOUR = Cores((0, 1, 2, 3), (0, 1, 2, 3), 4)
CHOSEN = {"OMPI_MCA_btl": "self,sm"}
"""An environment to which nothing is added."""
MASKED = Cores((5, 6), (2, 3), 2, restricted=True)


def mpi(family: str, version: str = "5.0.11") -> Mpi:
    return Mpi(
        family=family,
        version=version,
        prefix="/p",
        mpicxx="/p/bin/mpicxx",
        mpiexec="mpiexec",
        source="option",
    )


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
    assert made.bound and made.binding == binding.bound_to_cores()


def test_sharing_cores_is_announced_before_measuring():
    made = command(mpi("openmpi"), ("engine",), 3, Cores((0, 1), (0, 1), 2), environ=CHOSEN)
    assert made.notes == (binding.oversubscribed(3, 2, bound=False),) and not made.bound
    made = command(mpi("mpich"), ("engine",), 4, Cores((0,), (0,), 1), bind=False)
    assert made.notes == (binding.oversubscribed(4, 1, bound=False),) and not made.bound


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
    return launcher_options(arguments, variables)


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
