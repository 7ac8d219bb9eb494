# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting is found at the right call site and rank, with its true length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from written import START, WORLD, Written, allreduces, arrives_early, folder_of, message, program, ticks

from hockney.profiles import rank_file as form
from hockney.profiles.operations import blocking, kind_of
from hockney.profiles.profile import Launch, read_profile, sample_weight
from hockney.profiles.waits import WaitKind, Waits, find_waits


def make_launch(tmp_path: Path, ranks: list[Written]) -> Launch:
    return read_profile(folder_of(tmp_path / "p", [ranks])).typical


def found(tmp_path: Path, ranks: list[Written]) -> Waits:
    return find_waits(make_launch(tmp_path, ranks), cores=64)


def of_kind(waits: Waits, kind: WaitKind) -> float:
    return sum(cause.seconds for cause in waits.causes if cause.kind == kind)


def test_a_late_rank_at_a_collective(tmp_path: Path):
    ranks = program(4)
    truth = allreduces(ranks, late=3)
    launch = make_launch(tmp_path, ranks)
    waits = find_waits(launch, cores=64)
    (cause,) = waits.causes
    assert cause.kind == "collective"
    assert cause.by_rank == 3
    assert cause.waiting == (0, 1, 2)
    assert cause.seconds == pytest.approx(truth, rel=1e-3)
    assert launch.sites[cause.site].text == "solver.py:120 solve"
    assert waits.caused_by(4)[3] == pytest.approx(truth, rel=1e-3)
    assert not waits.caveats


def test_many_calls_are_estimated_from_some(tmp_path: Path):
    ranks = program(2, end=300)
    steps, more, cost = 20_000, 0.003, 20e-6
    chosen = np.flatnonzero(sample_weight(np.arange(steps))[0])
    for each in ranks:
        each.site(5, "a.c:1 f")
        late = each.rank == 1
        for step in chosen.tolist():
            begin = step * 0.01
            enter = begin + (more if late else 0.0)
            each.sampled("Allreduce", 5, form.COLLECTIVE, WORLD, step, enter, enter, begin + more + cost)
        each.called("Allreduce", 5, steps * (cost + (0 if late else more)), steps, 8 * steps)
    assert found(tmp_path, ranks).total_s == pytest.approx(steps * more, rel=0.02)


@settings(max_examples=20, deadline=None)
@given(late=st.floats(0, 0.01), number=st.integers(1, 40))
def test_a_late_sender_of_any_size(tmp_path_factory: pytest.TempPathFactory, late: float, number: int):
    ranks = program(2)
    for k in range(number):
        message(ranks[0], ranks[1], k, posted=k * 0.1 + late, received=k * 0.1)
    waits = found(tmp_path_factory.mktemp("late"), ranks)
    assert of_kind(waits, "late_sender") == pytest.approx(number * late, rel=1e-3, abs=1e-6)
    assert of_kind(waits, "late_receiver") == 0
    assert waits.matched.violations == 0
    assert waits.matched.messages == number


def test_a_late_receiver_of_a_rendezvous_message(tmp_path: Path):
    ranks = program(2)
    for k in range(10):
        message(
            ranks[0], ranks[1], k, posted=k * 0.1, received=k * 0.1 + 0.02, bytes=1 << 20, rendezvous=True
        )
    waits = found(tmp_path, ranks)
    assert of_kind(waits, "late_receiver") == pytest.approx(0.2, rel=1e-3)
    assert waits.causes[0].by_rank == 1
    assert of_kind(waits, "late_sender") == 0


def test_a_probe_waits_for_its_message(tmp_path: Path):
    """As mpi4py receives objects: MPI_Mprobe waits, and MPI_Mrecv takes what is there."""
    ranks = program(2)
    for k in range(10):
        at = k * 0.1
        ranks[0].sampled("Send", ranks[0].site(3, "s.py:3 f"), form.SEND, 9, k, at + 0.01, at + 0.01,
                         at + 0.0101, peer=1)  # fmt: skip
        for name, site, enter, leave in (
            ("Mprobe", 4, at, at + 0.0101),
            ("Mrecv", 5, at + 0.0102, at + 0.0103),
        ):
            ranks[1].sampled(name, ranks[1].site(site, "s.py:9 g"), form.RECEIVE, 9, k, enter, enter, leave,
                             peer=0)  # fmt: skip
    ranks[0].called("Send", 3, 0.001, 10, 80)
    ranks[1].called("Mprobe", 4, 0.101, 10)
    ranks[1].called("Mrecv", 5, 0.001, 10, 80)
    launch = make_launch(tmp_path, ranks)
    waits = find_waits(launch)
    (cause,) = waits.causes
    assert launch.function(cause.function) == "Mprobe"
    assert cause.seconds == pytest.approx(0.1, rel=1e-3)
    assert waits.matched.messages == 10


def test_an_eager_send_waits_for_nobody(tmp_path: Path):
    ranks = program(2)
    for k in range(10):
        message(ranks[0], ranks[1], k, posted=k * 0.1, received=k * 0.1 + 0.02)
    assert found(tmp_path, ranks).total_s == 0


def test_requests_completed_together_share_the_interval(tmp_path: Path):
    ranks = program(3)
    receiver = ranks[0]
    receiver.site(7, "h.c:70 wait")
    receiver.site(6, "h.c:60 post")
    for sender, posted in ((1, 1.004), (2, 1.010)):
        ranks[sender].site(8, "h.c:50 send")
        ranks[sender].sampled("Isend", 8, form.SEND, 100 + sender, 0, posted, posted, posted + 1e-6, peer=0)
        ranks[sender].called("Isend", 8, 1e-6, 1, 8, form.NODE)
        receiver.sampled("Irecv", 6, form.RECEIVE, 100 + sender, 0, 0.9, 1.0, 1.011, peer=sender, wait_site=7)
    receiver.called("Irecv", 6, 2e-6, 2, 16, form.NODE)
    receiver.called("Waitall", 7, 0.011, waited=2)
    launch = make_launch(tmp_path, ranks)
    waits = find_waits(launch, cores=64)
    assert waits.total_s == pytest.approx(0.010, rel=1e-3)
    (cause,) = waits.causes
    assert cause.by_rank == 2
    assert launch.function(cause.function) == "Waitall"
    assert launch.sites[cause.by_site].place == "h.c:50"


@pytest.mark.parametrize(("function", "waiting"), [("Bcast", (0, 2, 3)), ("Reduce", (1,))])
def test_rooted_collectives_depend_on_some(tmp_path: Path, function: str, waiting: tuple[int, ...]):
    """Rank 1 is the root, and either it or rank 3 is late."""
    ranks = program(4)
    late = 1 if function == "Bcast" else 3
    for each in ranks:
        each.site(9, "b.c:9 f")
        for k in range(20):
            enter = k * 0.1 + (0.01 if each.rank == late else 0)
            leave = k * 0.1 + 0.0101 if each.rank in (*waiting, late) else enter + 1e-6
            each.sampled(function, 9, form.COLLECTIVE, WORLD, k, enter, enter, leave, peer=1)
        each.called(function, 9, 20 * (0.0001 if each.rank == late else 0.0101), 20, 160)
    (cause,) = found(tmp_path, ranks).causes
    assert (cause.by_rank, cause.waiting) == (late, waiting)
    assert cause.seconds == pytest.approx(len(waiting) * 20 * 0.01, rel=1e-3)


def test_a_root_may_wait_for_others(tmp_path: Path):
    """Broadcasts of long vectors return when all members have entered."""
    ranks = program(3)
    for each in ranks:
        each.site(9, "b.c:9 f")
        for k in range(20):
            enter = k * 0.1 + (0.01 if each.rank == 2 else 0)
            each.sampled("Bcast", 9, form.COLLECTIVE, WORLD, k, enter, enter, k * 0.1 + 0.0101, peer=0)
        each.called("Bcast", 9, 20 * (0.0001 if each.rank == 2 else 0.0101), 20, 20 << 20)
    (cause,) = found(tmp_path, ranks).causes
    assert (cause.by_rank, cause.waiting) == (2, (0, 1))


def test_a_nonblocking_collective_waits_for_members_that_compute(tmp_path: Path):
    """Rank 1 starts it as early as rank 0, but does not advance it until it waits, too."""
    ranks = program(2)
    for each in ranks:
        site, waits_at = each.site(3, "n.c:3 f"), each.site(4, "n.c:4 f")
        for k in range(10):
            at = k * 0.1
            enter = at + (0.02 if each.rank == 1 else 0.001)
            each.sampled(
                "Iallreduce", site, form.COLLECTIVE, WORLD, k, at, enter, at + 0.021, wait_site=waits_at
            )
        each.called("Wait", waits_at, 0.2 if each.rank == 0 else 0.01, 10)
    launch = make_launch(tmp_path, ranks)
    (cause,) = find_waits(launch).causes
    assert cause.by_rank == 1
    assert cause.seconds == pytest.approx(0.19, rel=1e-3)
    assert launch.sites[cause.by_site].place == "n.c:4"


def test_a_long_message_waits_until_its_sender_is_in_mpi_again(tmp_path: Path):
    ranks = program(2)
    for k in range(10):
        at = k * 0.1
        ranks[0].sampled("Isend", ranks[0].site(3, "s.c:3 f"), form.SEND, 9, k, at, at + 0.02, at + 0.021,
                         peer=1, bytes=1 << 20, wait_site=ranks[0].site(4, "s.c:4 f"))  # fmt: skip
        ranks[1].sampled("Recv", ranks[1].site(5, "s.c:5 f"), form.RECEIVE, 9, k, at + 0.001, at + 0.001,
                         at + 0.021, peer=0, bytes=1 << 20)  # fmt: skip
    ranks[0].called("Wait", 4, 0.01, 10)
    ranks[1].called("Recv", 5, 0.2, 10, 10 << 20)
    launch = make_launch(tmp_path, ranks)
    (cause,) = find_waits(launch).causes
    assert cause.seconds == pytest.approx(0.19, rel=1e-3)
    assert launch.sites[cause.by_site].place == "s.c:4"


def test_hosts_have_different_clocks(tmp_path: Path):
    ranks = program(4, hosts=2)
    allreduces(ranks, late=3)
    waits = found(tmp_path, ranks)
    assert waits.total_s == 0
    assert [caveat.code for caveat in waits.caveats] == ["clocks-of-hosts"]


def test_clocks_of_hosts_that_were_compared_are_used(tmp_path: Path):
    """The second host's clock is 3 s behind, and 5 parts per million slower."""
    ranks = program(4, hosts=2)
    truth = allreduces(ranks, late=3)
    second = 10**9
    behind, slower = 3 * second, 5e-6
    for each in ranks[2:]:
        points = []
        for seconds in (0, 10):
            true = START + seconds * second
            shown = START + round(seconds * second * (1 - slower)) - behind
            points.append((shown, true - shown, 2000))
        each.header["remote"] = points
        first, last = -0.1, 10.0
        each.header["first"] = ticks(first), START + round(first * second * (1 - slower)) - behind
        each.header["last"] = ticks(last), START + round(last * second * (1 - slower)) - behind
    waits = found(tmp_path, ranks)
    assert waits.total_s == pytest.approx(truth, rel=1e-3)
    assert not waits.caveats


@pytest.mark.parametrize(
    ("early", "number", "doubted"),
    [(76e-9, 7, False), (0.9e-6, 50, False), (20e-6, 50, False), (5e-3, 50, True)],
)
def test_small_disagreements_of_clocks_are_tolerated(
    tmp_path: Path, early: float, number: int, doubted: bool
):
    """50 receives wait for 20 ms each, others return too early: ticks are not serialised, and 20 us change
    the waiting by 0.2%."""
    ranks = program(2, end=20)
    for k in range(50):
        message(ranks[0], ranks[1], k, posted=k * 0.1 + 0.02, received=k * 0.1)
    for k in range(50, 50 + number):
        arrives_early(ranks[0], ranks[1], k, k * 0.1, early, lasted=1e-6)
    waits = found(tmp_path, ranks)
    assert waits.matched.doubted == doubted
    assert waits.matched.violations == (number if early > 1e-6 else 0)
    assert [caveat.code for caveat in waits.caveats] == ["receive-before-send"] * (early > 1e-6)
    if doubted:
        assert waits.total_s == 0
    else:
        assert waits.total_s == pytest.approx(1.0, rel=0.01)
        assert waits.caused_by(2)[0] == pytest.approx(1.0, rel=0.01)


def test_a_rank_without_profile_makes_collectives_incomplete(tmp_path: Path):
    ranks = program(4)
    allreduces(ranks, late=3)
    waits = found(tmp_path, ranks[:3])
    assert waits.total_s == 0
    assert [caveat.code for caveat in waits.caveats] == ["incomplete-collectives"]


@pytest.mark.parametrize(
    ("name", "kind", "of"),
    [
        ("Iallreduce", "start collective", "Allreduce"),
        ("Ireduce_scatter_block_c", "start collective", "Reduce_scatter_block"),
        ("Ineighbor_alltoall", "start collective", "Neighbor_alltoall"),
        ("Neighbor_alltoall", "neighbors", "Neighbor_alltoall"),
        ("Init", "synchronisation", "Init"),
        ("Isend", "start", "Isend"),
        ("Send_init", "local", "Send"),
        ("Bcast_init", "local", "Bcast"),
        ("Comm_rank", "local", "Comm_rank"),
        ("Info_create", "local", "Info_create"),
        ("File_write_all", "file", "File_write_all"),
    ],
)
def test_functions_have_kinds(name: str, kind: str, of: str):
    assert (kind_of(name), blocking(name)) == (kind, of)
