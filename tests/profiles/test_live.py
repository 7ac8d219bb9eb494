# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A look at a program that runs or hangs: who waits where for whom."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import FUNCTIONS, START, Written, folder_of, function, program, ticks

from hockney.profiles.live import Live, live_state, read_live
from hockney.profiles.manifest import ProfiledLaunch
from hockney.profiles.profile import make_launch
from hockney.profiles.rank_file import RankFiles, parse_rank_file

NOW = START + 20 * 10**9


def files_of(ranks: list[Written]) -> RankFiles:
    return RankFiles(tuple(parse_rank_file(each.content, Path(f"rank-{each.rank}")) for each in ranks))


def look(ranks: list[Written], ended: tuple[int, ...] = (), before: list[Written] | None = None) -> Live:
    exists = {1000 + each.rank: each.rank not in ended for each in ranks}
    entry = ProfiledLaunch(folder="launch-1")
    launch = make_launch(files_of(ranks), entry, FUNCTIONS)
    earlier = files_of(before or []).files
    return live_state(launch, now_ns=NOW, exists=exists, before=earlier, between_s=1.1)


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
    assert live.ranks[7].phase == "outside MPI"


@given(size=st.integers(2, 12), first=st.integers(0, 11))
def test_a_ring_is_a_deadlock(size: int, first: int):
    ranks = running(size + 1)
    for k in range(size):
        inside(ranks[k], "Send", 5.0, "r.c:1 f", peer=(k + 1) % size)
    inside(ranks[size], "Recv", 5.0, "r.c:2 f", peer=first % size)
    live = look(ranks)
    finding = live.findings[0]
    assert live.verdict == finding.verdict == "deadlock"
    assert live.awaited == (*(((k + 1) % size,) for k in range(size)), (first % size,))
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
    assert [(finding.verdict, finding.ranks) for finding in live.findings] == [
        ("ended", (1,)),
        ("deadlock", (0,)),
    ], "that it ended comes first, and the program cannot go on"
    assert live.verdict == "deadlock"


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
    assert [finding.verdict for finding in live.findings] == ["waiting"]
    assert [rank.now.seconds for rank in live.ranks if rank.now] == pytest.approx([15.0] * 3)


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
    assert len(live.lines) == 3


def test_what_the_ranks_of_a_killed_program_did_last():
    ranks = running(3)
    inside(ranks[0], "Recv", 9.9999, "x.c:10 f", peer=1)
    inside(ranks[1], "Recv", 9.9999, "x.c:10 f", peer=0)
    outside(ranks[2], 5.0)
    live = look(ranks, ended=(0, 1, 2))
    assert live.verdict == "ended"
    assert (live.findings[0].verdict, live.findings[0].ranks) == ("ended", (0, 1, 2))
    assert (live.findings[1].verdict, live.findings[1].ranks) == ("deadlock", (0, 1))


def polling(ranks: list[Written], tests: int, sends: int = 1) -> list[Written]:
    """Rank 0 receives from rank 1, which tests a receive from rank 0."""
    inside(ranks[0], "Recv", 5.0, "x.c:10 f", peer=1)
    ranks[1].add("threads", id=0, depth=1, site=ranks[1].site(40, "x.c:20 g"), function=function("Test"),
                 peer=0, communicator=1, since=ticks(19.99999), calls=tests + sends)  # fmt: skip
    ranks[1].called("Test", 40, 1.0, tests)
    ranks[1].called("Send", 41, 1.0, sends)
    return ranks


def test_a_test_does_not_block():
    live = look(polling(running(2), 1000))
    assert live.awaited == ((1,), ())
    assert live.verdict == "waiting for ranks"
    assert not live.ranks[1].polls


@pytest.mark.parametrize(("tests", "sends", "polls"), [(9000, 1, True), (9000, 2, False), (1000, 1, False)])
def test_a_rank_that_does_nothing_but_test_waits(tests: int, sends: int, polls: bool):
    """It polls if its tests become more, and nothing else does."""
    before, now = polling(running(2), 1000), polling(running(2), tests, sends)
    live = look(now, before=before)
    assert live.ranks[1].polls == polls
    assert live.awaited[1] == ((0,) if polls else ())
    assert (live.verdict == "deadlock") == polls
    assert live.document["ranks"][1]["polls"] == polls


def test_a_rank_polls_between_its_tests_too():
    before, now = polling(running(2), 1000), running(2)
    inside(now[0], "Recv", 5.0, "x.c:10 f", peer=1)
    now[1].add("threads", id=0, depth=0, site=now[1].site(40, "x.c:20 g"), function=function("Test"), peer=-1,
               since=ticks(19.99999), calls=9001)  # fmt: skip
    now[1].called("Test", 40, 1.0, 9000)
    now[1].called("Send", 41, 1.0, 1)
    live = look(now, before=before)
    assert live.ranks[1].phase == "in MPI" and live.awaited[1] == (0,)


def test_all_ranks_of_a_deadlock_have_waited_for_long():
    """The message to rank 1 may be under way."""
    ranks = running(2)
    inside(ranks[0], "Recv", 5.0, "x.c:10 f", peer=1)
    inside(ranks[1], "Recv", 19.9999, "x.c:10 f", peer=0)
    assert look(ranks).verdict == "waiting"


def test_sentences_begin_with_a_capital():
    ranks = running(4)
    for k, peer in enumerate((1, 0, 0, 1)):
        inside(ranks[k], "Recv", 5.0, "x.c:10 f", peer=peer)
    (finding,) = look(ranks).findings
    assert not re.search(r"[.] [a-z]", finding.text)
    assert finding.text[0].isupper()


def test_a_long_call_is_the_only_finding():
    """Nobody is known for whom it waits."""
    ranks = running(2)
    inside(ranks[0], "Put", 5.0, "w.c:10 f")
    outside(ranks[1], 19.99)
    live = look(ranks)
    assert [(finding.verdict, finding.ranks) for finding in live.findings] == [("waiting", (0,))]
