# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What is recorded of programs in Fortran 77, 90 and 2008, with Debian's MPIs."""

from __future__ import annotations

from collections import Counter

import pytest
from fortran import DIALECTS, FortranMpi, fortran_mpi
from recorded import PROGRAMS, Recorded
from test_calls import check_communicators, check_entries, check_samples, messages

from hockney.profiles import interposition
from hockney.profiles.rank_file import RECEIVE, SEND, read_rank_file

pytestmark = [
    pytest.mark.mpi,
    pytest.mark.slow,
    pytest.mark.compiler,
    pytest.mark.needs("gfortran", "compiler"),
]

CALLS = Counter(
    Comm_rank=1, Comm_size=1, Sendrecv=6, Get_count=4, Irecv=24, Isend=25, Waitany=13, Waitall=5,
    Send_init=1, Recv_init=1, Startall=3, Request_free=2, Type_vector=1, Type_commit=1, Type_free=1, Probe=1,
    Recv=1, Wait=1, Allreduce=1, Gather=2, Bcast=1, Comm_dup=1, Comm_set_name=1, Comm_split=1, Barrier=1,
    Comm_free=2, Pcontrol=1, Win_create=1, Win_fence=2, Put=1, Win_free=1, Reduce=1, Finalize=1,
)  # fmt: skip
"""Of each rank, apart from MPI_Waitsome, and of MPI_Init or MPI_Init_thread one."""
SENT = 5 * 40 + 4 * 4 * (1 + 2 + 3 + 4 + 5 + 6) + 3 * 8 + 16 + 4
"""Bytes from each rank to the next."""


@pytest.fixture(scope="session", params=["openmpi", "mpich"])
def family(request: pytest.FixtureRequest) -> FortranMpi:
    return fortran_mpi(str(request.param))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("ranks", [2, 3])
def test_calls_from_fortran(family, dialect, ranks, tmp_path):
    program = family.compiled(PROGRAMS / "fortran.F90", tmp_path, dialect)
    alone = family.launched(program, ranks)
    out = tmp_path / "profile"
    out.mkdir()
    library = interposition.build(family.libraries)
    done = family.launched(program, ranks, LD_PRELOAD=str(library), HOCKNEY_PROFILE_FOLDER=str(out))
    assert (done.code, alone.code) == (0, 0), done.err + alone.err
    told, sums = done.out.split(" somes "), alone.out.split(" somes ")
    assert told[0] == sums[0]
    names = tuple(interposition.functions(interposition.recorded_symbols(family.libraries)))
    files = sorted((read_rank_file(path) for path in out.glob("*.hkp")), key=lambda file: file.rank)
    run = Recorded(done, tuple(files), {}, names)
    assert len(files) == ranks
    start = "Init_thread" if dialect == "mpi" else "Init"
    for file, somes in zip(files, told[1].split(), strict=True):
        head = file.header
        assert run.calls(file) == CALLS + Counter({start: 1, "Waitsome": int(somes)})
        assert file.is_finalized and int(head["calls"]) == run.calls(file).total()
        assert [int(head[name]) for name in ("lost", "failed", "unmatched", "unknown_requests")] == [
            0,
            0,
            0,
            0,
        ]
        assert set(file.entries["language"].tolist()) == {2 if dialect == "mpi_f08" else 1}
        assert int(head["paused"]) > 0
        right, left = (file.rank + 1) % ranks, (file.rank - 1) % ranks
        peers = {int(peer["rank"]): peer for peer in file.peers}
        assert (int(peers[right]["sent"]), int(peers[right]["sent_bytes"])) == (34, SENT)
        assert (int(peers[left]["received"]), int(peers[left]["received_bytes"])) == (34, SENT)
        assert int(peers[right]["put_bytes"]) == 16
        waits = run.of(file, "Waitany", "Waitall", "Waitsome", "Wait")
        assert int(waits["waited"].sum()) == 4 * 12 + 3 * 2 + 1
        check_entries(file, run.names)
    check_samples(run)
    check_communicators(run)
    assert all(len(sides[SEND]) == len(sides[RECEIVE]) == 1 for sides in messages(run).values())
