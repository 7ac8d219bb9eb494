# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""MPIs' output about their transports. Open MPI 5.0.11, MPICH 5.0.2 and Intel MPI 2021.19 printed the texts
of one host; those of several hosts follow the sources of Open MPI's hook/comm_method and MPICH's netmod ofi,
and logs of Intel MPI's users."""

from __future__ import annotations

import pytest

from hockney.core.launcher_options import parse_launcher_options
from hockney.core.layout import Cores
from hockney.core.machine import Mpi
from hockney.launch.launch_test import parse_hellos, parse_transports
from hockney.launch.launcher import CheckedRanks, LaunchCommand
from hockney.launch.mpi import MpiLauncher
from hockney.mpi import BETWEEN_HOSTS, NETMOD, PROVIDER, WITHIN_HOST

CORES = Cores((0, 1), (0, 1), 2)
OPEN_MPI = """\
{"rank":1,"size":2,"host":"vm","library":"Open MPI v5.0.11"}
Host 0 [vm] ranks 0 - 1

 host | 0
======|=====
    0 : tcp

Connection summary: (pml)
  on-host:  all connections are tcp
  off-host: all connections are n/a

{"rank":0,"size":2,"host":"vm","library":"Open MPI v5.0.11"}
"""
OPEN_MPI_HOSTS = """\
[1,0]<stdout>:Connection summary: (btl)
[1,0]<stdout>:  on-host:  all connections are sm or self
[1,0]<stdout>:  off-host: most connections are tcp
[1,0]<stdout>:Exceptions:
[1,0]<stdout>:  host 1: [1x sm] [1x tcp] [1x n/a]
"""
MPICH = """\
==== UCX netmod Capability ====
MPIDI_UCX_CONTEXT_ID_BITS: 16
tag_bits: 30
===============================
==== Various sizes and limits ====
sizeof(MPIDI_per_vci_t): 128
MPID/shm: MPIDI_POSIX_coll_generic_json
MPICH 5.0.2 -  - Fri Sep 25 20:45:26 UTC 2026
{"rank":0,"size":2,"host":"vm","library":"MPICH Version:      5.0.2"}
{"rank":1,"size":2,"host":"vm","library":"MPICH Version:      5.0.2"}
"""
MPICH_OFI = """\
==== Capability set configuration ====
libfabric provider: tcp;ofi_rxm - 10.0.0.0/24
MPIDI_OFI_ENABLE_DATA: 1
"""
INTEL = """\
[0] MPI startup(): Intel(R) MPI Library, Version 2021.19.0  Build 20260929 (id: 1821d9b)
[0] MPI startup(): Copyright (C) 2003-2026 Intel Corporation.  All rights reserved.
[0] MPI startup(): library kind: release
[0] {"rank":1,"size":2,"host":"vm","library":"Intel(R) MPI Library"}
MPI startup(): Load tuning file: "/opt/mpi/etc/tuning_skx_shm.dat"
{"rank":0,"size":2,"host":"vm","library":"Intel(R) MPI Library"}
"""
INTEL_HOSTS = "[0] MPI startup(): libfabric provider: psm3\n"


@pytest.mark.parametrize(
    ("output", "found"),
    [
        (OPEN_MPI, {WITHIN_HOST: "tcp"}),
        (OPEN_MPI_HOSTS, {WITHIN_HOST: "sm or self", BETWEEN_HOSTS: "mostly tcp"}),
        (MPICH, {NETMOD: "UCX"}),
        (MPICH_OFI, {PROVIDER: "tcp;ofi_rxm"}),
        (INTEL, {}),
        (INTEL_HOSTS, {PROVIDER: "psm3"}),
        ("", {}),
        ("on-host: nothing known\nlibfabric provider: \n==== netmod\n\x1b[31m\n", {}),
    ],
)
def test_transports_are_found_where_they_are_reported(output, found):
    assert parse_transports(output.splitlines()) == found


@pytest.mark.parametrize("output", [OPEN_MPI, MPICH, INTEL])
def test_ranks_are_understood_among_such_lines(output):
    assert [hello.rank for hello in parse_hellos(output.splitlines())] == [0, 1]


def test_a_rank_is_understood_in_a_line_that_goes_on():
    (line, *_) = OPEN_MPI.splitlines()
    assert [hello.rank for hello in parse_hellos([f"[0] {line}Host 0 [vm] ranks 0 - 1"])] == [1]


def test_a_strange_name_is_short_and_printable():
    (name,) = parse_transports([f"on-host: all connections are \x1b[31m{'x' * 1000}"]).values()
    assert name.isprintable() and len(name) <= 100


@pytest.mark.parametrize(
    ("family", "version", "asked"),
    [
        ("openmpi", "5.0.11", ["OMPI_MCA_ompi_display_comm"]),
        ("openmpi", "4.1.4", ["OMPI_MCA_hook_comm_method_enable_mpi_init"]),
        ("mpich", "5.0.2", ["MPIR_CVAR_DEBUG_SUMMARY"]),
        ("intel", "2021.19", ["I_MPI_DEBUG"]),
        ("unknown", "", []),
    ],
)
def test_reports_are_asked_for_where_the_user_does_not(family, version, asked, tmp_path, monkeypatch):
    mpi = Mpi(family=family, version=version, prefix="/p", mpicxx="c", mpiexec="m", source="option")
    started: list[LaunchCommand] = []
    monkeypatch.setattr(
        "hockney.launch.mpi.say_hello", lambda command, *_, **__: started.append(command) or CheckedRanks(())
    )

    def reports(environ: dict[str, str], *variables: str) -> list[str]:
        user = parse_launcher_options("", variables)
        MpiLauncher(mpi, tmp_path / "engine", CORES, environ=environ, user=user).check(2)
        return [name for name, _ in started.pop().environment if name in asked]

    assert reports({}) == asked
    assert reports(dict.fromkeys(asked, "0")) == []
    if family != "unknown":
        assert reports({}, *(f"{name}=0" for name in asked)) == []
