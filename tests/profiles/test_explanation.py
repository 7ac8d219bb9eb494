# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the time in MPI: they add up, and each is what it is called."""

from __future__ import annotations

import math
from dataclasses import astuple
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from surveyed import fake_costs
from written import (
    FUNCTIONS,
    SECOND,
    START,
    WORLD,
    Written,
    allreduces,
    arrives_early,
    folder_of,
    message,
    program,
)

from hockney.profiles import rank_file as form
from hockney.profiles.explanation import Explanation, explain
from hockney.profiles.manifest import ProfiledLaunch, read_manifest, write_manifest
from hockney.profiles.profile import read_profile


def explained(tmp_path: Path, ranks: list[Written], survey: bool = True, cores: int = 64) -> Explanation:
    launch = read_profile(folder_of(tmp_path / "p", [ranks])).typical
    return explain(launch, fake_costs() if survey else None, cores=cores)


def test_waiting_is_no_excess(tmp_path: Path):
    ranks = program(4)
    cost = fake_costs().collective("Allreduce", 4, 8)
    assert cost is not None
    truth = allreduces(ranks, late=3, cost=cost.value, work=1e-4, more=2e-4)
    row = explained(tmp_path, ranks).rows[0]
    assert row.name == "Allreduce"
    assert row.parts.collective == pytest.approx(truth, rel=1e-2)
    assert row.parts.excess == 0
    assert row.parts.not_separated == 0
    assert row.parts.machine == pytest.approx(4 * 50 * cost.value, rel=0.05)


def test_a_slow_collective_is_excess(tmp_path: Path):
    ranks = program(4)
    cost = fake_costs().collective("Allreduce", 4, 8)
    assert cost is not None
    allreduces(ranks, late=3, cost=cost.value * 10, work=1e-4, more=0)
    row = explained(tmp_path, ranks).rows[0]
    assert row.parts.waiting == pytest.approx(0, abs=1e-6)
    assert row.parts.excess == pytest.approx(4 * 50 * (10 * cost.value - cost.high), rel=0.02)


def test_messages_at_the_machines_price_have_no_excess(tmp_path: Path):
    ranks = program(2)
    price = fake_costs().message(8, form.NODE)
    assert price is not None
    for k in range(50):
        message(ranks[0], ranks[1], k, posted=k * 1e-3, received=k * 1e-3, cost=price.value)
    total = explained(tmp_path, ranks).total
    assert total.excess == 0
    assert total.waiting == pytest.approx(0, abs=1e-6)
    assert total.software > 0 and total.transfer > 0


def test_without_a_survey_only_waiting_is_known(tmp_path: Path):
    ranks = program(4)
    truth = allreduces(ranks, late=3)
    found = explained(tmp_path, ranks, survey=False)
    assert found.total.collective == pytest.approx(truth, rel=1e-2)
    assert found.total.transfer == found.total.excess == 0
    assert found.total.not_separated > 0
    assert "no-survey" in [caveat.code for caveat in found.caveats]


def test_oversubscribed_ranks_make_no_claims(tmp_path: Path):
    ranks = program(4)
    allreduces(ranks, late=3)
    found = explained(tmp_path, ranks, cores=2)
    assert found.total.waiting == found.total.excess == 0
    assert found.total.not_separated > 0
    assert not found.waits.is_reliable and "oversubscribed" in [caveat.code for caveat in found.caveats]
    assert {why.code for row in found.rows for why in row.why} <= {"shared-cores", "within-scatter"}


def test_calls_that_have_not_returned_are_not_separated(tmp_path: Path):
    ranks = program(2, finalized=False)
    ranks[0].site(3, "x.c:3 f")
    ranks[0].add("threads", id=0, depth=1, site=3, function=FUNCTIONS.index("Recv"), peer=1, communicator=1,
                 since=ranks_ticks(4.0))  # fmt: skip
    found = explained(tmp_path, ranks)
    (row,) = found.rows
    assert (row.name, row.open_calls) == ("Recv", 1)
    assert row.parts.late_sender == pytest.approx(6.0)
    assert found.waits.caused_by(2) == pytest.approx([0, 6.0])


def test_nobody_is_blamed_for_calls_whose_rank_is_not_known(tmp_path: Path):
    ranks = program(3, finalized=False)
    ranks[0].site(3, "x.c:3 f")
    ranks[0].add("threads", id=0, depth=1, site=3, function=FUNCTIONS.index("Recv"), peer=-1, wildcard=1,
                 communicator=1, since=ranks_ticks(4.0))  # fmt: skip
    (row,) = explained(tmp_path, ranks).rows
    assert row.parts.not_separated == pytest.approx(6.0)
    assert [why.code for why in row.why] == ["open-call"]


@pytest.mark.parametrize("kernel", ["4d", "4e"])
def test_open_calls_last_until_the_launch_ended(tmp_path: Path, kernel: str):
    """Ranks of host 77 hung for 25 s more, of which their files show nothing."""
    ranks = program(2, finalized=False)
    for each in ranks:
        each.site(3, "x.c:3 f")
        each.overhead = {}
        each.add("threads", id=0, depth=1, site=3, function=FUNCTIONS.index("Recv"), peer=1 - each.rank,
                 communicator=1, since=ranks_ticks(9.9))  # fmt: skip
    folder = folder_of(tmp_path / "p", [ranks])
    manifest = read_manifest(folder)
    ended = ProfiledLaunch(folder="launch-1", exit_code=124, ended_ns=START + 35 * SECOND, kernel=kernel)
    write_manifest(folder, msgspec.structs.replace(manifest, launches=[ended]))
    launch = read_profile(folder).typical
    more = 25.0 if kernel == "4d" else 0.0
    assert launch.elapsed_s == pytest.approx(10 + more)
    assert launch.in_mpi_s == pytest.approx(2 * (0.1 + more))
    found = explain(launch, fake_costs())
    assert found.total.late_sender == pytest.approx(2 * (0.1 + more))
    assert math.isnan(found.recording_s), "no rank measured it"


def test_a_rank_outside_of_mpi_computes_until_the_launch_ended(tmp_path: Path):
    """Half of the time of the two ranks is in MPI."""
    ranks = program(2, end=0.001, finalized=False)
    ranks[0].site(3, "x.c:3 f")
    ranks[0].add("threads", id=0, depth=1, site=3, function=FUNCTIONS.index("Recv"), peer=1, communicator=1,
                 since=ranks_ticks(0.001))  # fmt: skip
    folder = folder_of(tmp_path / "p", [ranks])
    ended = ProfiledLaunch(folder="launch-1", exit_code=124, ended_ns=START + 20 * SECOND, kernel="4d")
    write_manifest(folder, msgspec.structs.replace(read_manifest(folder), launches=[ended]))
    launch = read_profile(folder).typical
    assert launch.mpi_share == pytest.approx(0.5, rel=1e-3)
    assert launch.ranks[1].outside_s == pytest.approx(20, rel=1e-3)


def test_a_later_program_of_a_script_ends_the_calls_of_a_killed_one(tmp_path: Path):
    killed, later = program(1, end=2.0, finalized=False), program(1, job=2)
    killed[0].site(3, "x.c:3 f")
    killed[0].add("threads", id=0, depth=1, site=3, function=FUNCTIONS.index("Recv"), since=ranks_ticks(1.0))
    later[0].header["first"] = ranks_ticks(5.0), START + 5 * SECOND
    folder = folder_of(tmp_path / "p", [[*killed, *later]])
    ended = ProfiledLaunch(folder="launch-1", exit_code=0, ended_ns=START + 35 * SECOND, kernel="4d")
    write_manifest(folder, msgspec.structs.replace(read_manifest(folder), launches=[ended]))
    (call,) = read_profile(folder).typical.open_calls
    assert call.seconds == pytest.approx(4.0)


def test_clocks_that_disagree_are_no_excess(tmp_path: Path):
    """Messages arrive 1 ms before they are sent, and take long on both sides: nobody was interrupted."""
    ranks = program(2)
    for k in range(50):
        at = 1 + k * 0.1
        arrives_early(ranks[0], ranks[1], k, at, 1e-3, lasted=0.02)
    found = explained(tmp_path, ranks)
    assert found.waits.matched.doubted
    assert found.total.excess == found.total.waiting == 0
    (receive,) = (row for row in found.rows if row.name == "Recv")
    assert receive.why[0].code == "clocks-disagree"
    assert receive.why[0].seconds == pytest.approx(receive.parts.not_separated, rel=0.01)


def ranks_ticks(seconds: float) -> int:
    from written import ticks

    return ticks(seconds)


CALLS = st.tuples(
    st.sampled_from(FUNCTIONS[2:]), st.floats(1e-7, 1.0), st.integers(1, 1000), st.integers(0, 1 << 20),
    st.integers(0, 6),
)  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    calls=st.lists(CALLS, min_size=1, max_size=12),
    late=st.floats(0, 0.02),
    survey=st.booleans(),
    cores=st.sampled_from([1, 64]),
)
def test_parts_add_up_and_are_not_negative(
    tmp_path_factory: pytest.TempPathFactory, calls: list, late: float, survey: bool, cores: int
):
    ranks = program(3)
    allreduces(ranks, late=1, steps=5, more=late)
    for k, (name, seconds, count, size, distance) in enumerate(calls):
        each = ranks[k % 3]
        site = each.site(20 + k, f"a.c:{k} f")
        each.called(name, site, seconds, count, count * size, distance, waited=count if "Wait" in name else 0)
        each.sampled(name, site, k % 3, WORLD + k, 0, 0.1, 0.1, 0.1 + seconds, bytes=size, distance=distance)
    found = explained(tmp_path_factory.mktemp("sum"), ranks, survey, cores)
    for row in found.rows:
        assert min(astuple(row.parts)) >= 0
        assert row.parts.total == pytest.approx(row.seconds, rel=1e-9, abs=1e-12)
        assert sum(why.seconds for why in row.why) == pytest.approx(
            row.parts.not_separated, rel=1e-6, abs=1e-12
        )
    observed = float(found.launch.counted["seconds"].sum())
    assert found.total.total == pytest.approx(observed, rel=1e-9)
