# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A look at a program that runs or hangs: who waits where for whom."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import FUNCTIONS, START, Written, folder_of, function, program, ticks

from hockney.profiles.live import Live, live_of, read_live
from hockney.profiles.manifest import ProfiledLaunch
from hockney.profiles.rank_file import RankFiles, parse_rank_file

NOW = START + 20 * 10**9


def look(ranks: list[Written], ended: tuple[int, ...] = ()) -> Live:
    files = [parse_rank_file(each.content, Path(f"rank-{each.rank}")) for each in ranks]
    exists = {1000 + each.rank: each.rank not in ended for each in ranks}
    entry = ProfiledLaunch(folder="launch-1")
    return live_of(RankFiles(tuple(files)), entry, FUNCTIONS, now_ns=NOW, exists=exists)


def inside(rank: Written, name: str, at: float, site: str, peer: int = -1, **more: object) -> None:
    number = rank.site(40, site)
    rank.add("threads", id=0, depth=1, site=number, function=function(name), peer=peer, communicator=1,
             since=ticks(at), calls=10, **more)  # fmt: skip


def outside(rank: Written, at: float) -> None:
    number = rank.site(41, "main.c:7 main")
    rank.add(
        "threads", id=0, depth=0, site=number, function=function("Send"), peer=-1, since=ticks(at), calls=3
    )


def running(size: int) -> list[Written]:
    return program(size, finalized=False)


def test_a_collective_waits_for_a_rank_outside_of_mpi():
    ranks = running(8)
    for each in ranks[:7]:
        inside(each, "Allreduce", 8.0, "solver.c:120 solve")
    outside(ranks[7], 8.0)
    live = look(ranks)
    assert live.verdict == "waiting for ranks"
    finding = live.findings[0]
    assert (finding.ranks, finding.for_ranks) == (tuple(range(7)), (7,))
    assert finding.text == (
        "Ranks 0-6 wait in MPI_Allreduce (solver.c:120) for rank 7, which has been outside of MPI for 12.0 "
        "s, after MPI_Send (main.c:7)."
    )


def test_two_receives_are_a_deadlock():
    ranks = running(2)
    inside(ranks[0], "Recv", 5.0, "x.c:10 f", peer=1)
    inside(ranks[1], "Recv", 5.0, "x.c:10 f", peer=0)
    live = look(ranks)
    assert live.verdict == "deadlock"
    assert live.findings[0].text == (
        "Deadlock: rank 0 waits in MPI_Recv (x.c:10) for rank 1 and rank 1 waits in MPI_Recv (x.c:10) for "
        "rank 0."
    )


@given(size=st.integers(2, 12), first=st.integers(0, 11))
def test_a_ring_is_a_deadlock(size: int, first: int):
    ranks = running(size + 1)
    for k in range(size):
        inside(ranks[k], "Send", 5.0, "r.c:1 f", peer=(k + 1) % size)
    inside(ranks[size], "Recv", 5.0, "r.c:2 f", peer=first % size)
    finding = look(ranks).findings[0]
    assert finding.verdict == "deadlock"
    assert finding.for_ranks == tuple(range(size))
    assert finding.ranks == tuple(range(size + 1))


def test_a_chain_ends_at_the_rank_that_computes():
    ranks = running(4)
    for k in range(3):
        inside(ranks[k], "Recv", 5.0, f"c.c:{k} f", peer=k + 1)
    outside(ranks[3], 4.0)
    live = look(ranks)
    assert live.verdict == "waiting for ranks"
    assert {finding.for_ranks for finding in live.findings} == {(3,)}


def test_different_collectives_are_a_deadlock():
    ranks = running(2)
    inside(ranks[0], "Bcast", 5.0, "a.c:1 f")
    inside(ranks[1], "Barrier", 5.0, "a.c:2 f")
    assert look(ranks).verdict == "deadlock"


def test_a_receive_from_a_rank_that_has_finished_is_a_deadlock():
    ranks = running(2)
    inside(ranks[0], "Recv", 5.0, "a.c:1 f", peer=1)
    ranks[1].finalized = True
    live = look(ranks)
    assert live.verdict == "deadlock"
    assert live.findings[0].for_ranks == (1,)


def test_a_receive_from_a_killed_rank(tmp_path: Path):
    ranks = running(2)
    inside(ranks[0], "Recv", 5.0, "a.c:1 f", peer=1)
    outside(ranks[1], 5.0)
    live = look(ranks, ended=(1,))
    assert live.ranks[1].phase == "ended"
    assert "which has ended" in live.findings[0].text


def test_a_wildcard_may_be_served_by_anyone():
    ranks = running(3)
    inside(ranks[0], "Recv", 5.0, "a.c:1 f", wildcard=1)
    inside(ranks[1], "Recv", 5.0, "a.c:2 f", peer=0)
    outside(ranks[2], 5.0)
    assert look(ranks).verdict == "waiting for ranks"


def test_all_in_the_same_collective_for_long():
    ranks = running(3)
    for each in ranks:
        inside(each, "Allreduce", 5.0, "a.c:1 f")
    live = look(ranks)
    assert live.verdict == "waiting"
    assert "15.0 s" in live.findings[0].text


def test_short_waits_are_no_finding():
    ranks = running(2)
    inside(ranks[0], "Recv", 19.9999, "a.c:1 f", peer=1)
    inside(ranks[1], "Recv", 19.9999, "a.c:1 f", peer=0)
    assert look(ranks).verdict == "running"


def test_a_finished_program():
    assert look(program(2)).verdict == "finished"


@pytest.mark.parametrize("of_launch", [True, False])
def test_a_profile_is_read_from_its_folder(tmp_path: Path, of_launch: bool):
    ranks = running(2)
    inside(ranks[0], "Recv", 5.0, "x.c:10 f", peer=1)
    inside(ranks[1], "Recv", 5.0, "x.c:10 f", peer=0)
    folder = folder_of(tmp_path / "p", [ranks])
    live = read_live(folder / "launch-1" if of_launch else folder)
    assert live.verdict == "deadlock"
    document = msgspec.json.decode(msgspec.json.encode(live.document))
    assert [rank["threads"][0]["peer"] for rank in document["ranks"]] == ["1", "0"]
    assert live.lines[-1] == "rank 1: MPI_Recv (x.c:10) for rank 0 for 5.00 s"


def test_what_the_ranks_of_a_killed_program_did_last():
    ranks = running(3)
    inside(ranks[0], "Recv", 9.9999, "x.c:10 f", peer=1)
    inside(ranks[1], "Recv", 9.9999, "x.c:10 f", peer=0)
    outside(ranks[2], 5.0)
    live = look(ranks, ended=(0, 1, 2))
    assert live.verdict == "ended"
    assert live.findings[0].text == "Ranks 0-2 have ended without MPI_Finalize."
    assert live.findings[1].verdict == "deadlock"
    assert live.findings[1].text.startswith(
        "At the end: Deadlock: rank 0 waits in MPI_Recv (x.c:10) for rank 1"
    )
