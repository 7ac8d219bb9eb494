# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fabric that ranks on one host do not use: when it is disabled, and when somebody else decides."""

from __future__ import annotations

import pytest
from made_up import made_up_mpi
from native import locked

from hockney import process
from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, parse_launcher_options
from hockney.core.layout import Cores
from hockney.launch.command import command


@pytest.fixture
def etc(tmp_path):
    folder = tmp_path / "prefix" / "etc"
    folder.mkdir(parents=True)
    (folder / "openmpi-mca-params.conf").write_text("# btl = self\n\nmpi_abort_delay = 3\n")
    (folder / "prte-default-hostfile").write_text("# a host a line\n")
    return folder


WITHOUT_FABRIC = {"OMPI_MCA_btl": "^ofi"}
CORES = Cores((0, 1), (0, 1), 2)


def left_out(
    etc, many_hosts=False, user=NO_LAUNCHER_OPTIONS, family="openmpi", **environ: str
) -> dict[str, str]:
    environ.setdefault("HOME", str(etc.parent.parent / "home"))
    mpi = made_up_mpi(family, prefix=etc.parent)
    made = command(mpi, ("e",), 2, CORES, many_hosts=many_hosts, environ=environ, user=user)
    return dict(made.environment)


def test_it_is_left_out_on_one_host(etc):
    assert left_out(etc) == left_out(etc, OMPI_MCA_btl_base_verbose="1") == WITHOUT_FABRIC


def test_several_hosts_keep_it(etc):
    assert left_out(etc, many_hosts=True) == {}
    assert left_out(etc, PRTE_MCA_prte_default_hostfile="hosts") == {}
    (etc / "prte-default-hostfile").write_text("# a host a line\nnode1 slots=4\n")
    assert left_out(etc) == {}


@pytest.mark.parametrize("framework", ["btl", "mtl", "pml", "osc"])
def test_a_users_choice_of_transports_wins(etc, framework, tmp_path):
    assert left_out(etc, **{f"OMPI_MCA_{framework}": "self,tcp"}) == {}
    mine = tmp_path / "mine.conf"
    mine.write_text(f" {framework} = self,tcp\n")
    assert left_out(etc, OMPI_MCA_mca_base_param_files=f"{mine},/nowhere") == {}
    home = tmp_path / "home" / ".openmpi"
    home.mkdir(parents=True)
    (home / "mca-params.conf").write_text(f"{framework}=self,tcp\n")
    assert left_out(etc) == {}
    (home / "mca-params.conf").unlink()
    assert left_out(etc) == WITHOUT_FABRIC
    (etc / "openmpi-mca-params.conf").write_text(f"{framework}=self,tcp\n")
    assert left_out(etc) == {}


@pytest.mark.parametrize(
    ("arguments", "variables"),
    [
        ("--mca btl self,tcp", ()),
        ("-gmca pml ucx", ()),
        ("-x OMPI_MCA_mtl=ofi", ()),
        ("--tune mine.conf", ()),
        ("", ("OMPI_MCA_btl=self,tcp",)),
    ],
)
def test_a_choice_among_mpiexecs_arguments_wins(etc, arguments, variables):
    user = parse_launcher_options(arguments, variables)
    assert left_out(etc, user=user) == {}


def test_other_arguments_leave_it_out(etc):
    user = parse_launcher_options("--mca btl_base_verbose 1 --verbose", ("UCX_TLS=sm", "OMPI_MCA_coll=^han"))
    assert left_out(etc, user=user) == WITHOUT_FABRIC


def test_other_libraries_have_none(etc):
    assert left_out(etc, family="mpich") == left_out(etc, family="unknown") == {}


SHOW = """
#include <mpi.h>
int main(int argc, char** argv) { MPI_Init(&argc, &argv); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }
"""


@pytest.mark.mpi
def test_messages_travel_by_the_same_transport(mpi, tmp_path):
    if mpi.family != "openmpi":
        pytest.skip("no fabric is left out")
    with locked("show-transports"):
        (tmp_path / "show.cpp").write_text(SHOW)
        built = process.capture([mpi.mpicxx, str(tmp_path / "show.cpp"), "-o", str(tmp_path / "show")])
    assert built.ok, built.err

    def transports(environ: dict[str, str]) -> list[str]:
        cores = Cores((0, 1), (0, 1), 2)
        made = command(mpi, (str(tmp_path / "show"),), 2, cores, bind=False, root=True, environ=dict(environ))
        shown = dict(made.environment) | environ | {"OMPI_MCA_ompi_display_comm": "mpi_init"}
        done = process.capture(made.words, env=shown, timeout=120)
        assert done.ok, done.err
        return [line for line in (done.out + done.err).splitlines() if "host" in line or " : " in line]

    everything = transports({"OMPI_MCA_btl": "^nothing"})
    assert everything and transports({}) == everything
