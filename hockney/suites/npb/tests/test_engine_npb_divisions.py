# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How the NAS Parallel Benchmarks are divided among simulated ranks, down to one column or point of a rank:
every division verifies, grids of ranks are those with the least communication, and sweeps are pipelines."""

from __future__ import annotations

import math

import pytest
from engine_lines import failures, records
from simulated_switch import lines_on_switch

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

LU_POINTS, LU_STEPS = 12, 50
LU_SWEEPS = 0.6  # of a step's computing
LU_OPERATIONS = LU_STEPS * (1984.77 * LU_POINTS**3 - 10923.3 * LU_POINTS**2 + 27770.9 * LU_POINTS - 144010)


def simulated(words, ranks, latency_s=1e-6):
    """The engine's lines for these cases on a switch where a message of any length takes `latency_s`."""
    return lines_on_switch("hockney-npb", words, ranks, latency_s=latency_s, per_byte_s=1e-12)


def measured(words, ranks, **options):
    lines = simulated(words, ranks, **options)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert len(found) == len(words)
    return found


@pytest.mark.parametrize(
    ("ranks", "columns"),
    [(1, "1 x 1"), (2, "1 x 2"), (6, "2 x 3"), (7, "1 x 7"), (8, "2 x 4"), (12, "3 x 4")],
)
def test_blocks_of_columns_down_to_one_column_solve_the_same_system(ranks, columns):
    (record,) = measured(["lu"], ranks)
    assert record.verified.errors == 0, record.verified.first
    assert record.verified.bytes == record.verified.runs * 11 * 8
    assert record.labels["decomposition"].startswith(columns)
    assert record.metrics["deviation"].values[0] < 1e-10


def test_ranks_that_leave_no_column_for_one_are_refused():
    (refused,) = failures(simulated(["lu"], 11))
    assert refused.reason == "refused"
    assert "10" in refused.message


def test_computing_lu_takes_the_official_operations_and_messages_are_the_same_without_arithmetic():
    rate = 1e6
    real, none = measured([f"lu rate={rate}", f"lu rate={rate} arithmetic=none"], 6)
    assert real.times_s == pytest.approx(none.times_s)
    computation = real.metrics["computation"].values[0]  # the mean over the ranks
    assert computation == pytest.approx(LU_OPERATIONS / rate / 6)


def test_sweeps_are_pipelined():
    """The last of 2 x 2 ranks begins two chunks of planes after the first one."""
    (alone,) = measured(["lu class=W rate=1e9 arithmetic=none"], 1)
    by_planes = {planes: f"lu class=W rate=1e9 arithmetic=none planes={planes}" for planes in (31, 4)}
    times = [record.times_s[0] / alone.times_s[0] for record in measured(by_planes.values(), 4)]
    largest = 16 * 16 / 31**2
    for planes, time in zip(by_planes, times, strict=True):
        chunks = math.ceil(31 / planes)
        expected = largest * (1 + LU_SWEEPS * 2 / chunks)
        assert time == pytest.approx(expected, rel=0.1), planes


LINE_POINTS = 12  # class S
LINE_OPERATIONS = {
    "bt": 60 * (3478.8 * LINE_POINTS**3 - 17655.7 * LINE_POINTS**2 + 28023.7 * LINE_POINTS),
    "sp": 100 * (881.174 * LINE_POINTS**3 - 4683.91 * LINE_POINTS**2 + 11484.5 * LINE_POINTS - 19272.4),
}
BOTH = pytest.mark.parametrize("kernel", ["bt", "sp"])


@pytest.mark.parametrize(
    ("ranks", "division"),
    [
        (1, "1 x 1 x 1 blocks"),
        (3, "1 x 1 x 3 blocks"),
        (4, "2 x 2 x 2 cells in a multi-partition"),
        (7, "1 x 1 x 7 blocks"),
        (8, "2 x 2 x 2 blocks"),
        (9, "3 x 3 x 3 cells in a multi-partition"),
        (64, "8 x 8 x 8 cells in a multi-partition"),
    ],
)
def test_cells_down_to_one_point_of_a_line_solve_the_same_systems(ranks, division):
    for record in measured(["bt", "sp"], ranks):
        assert record.verified.errors == 0, (record.case, record.verified.first)
        assert record.verified.bytes == record.verified.runs * 10 * 8 > 0
        assert record.labels["decomposition"] == division
        assert record.metrics["deviation"].values[0] < 1e-10


@BOTH
def test_ranks_that_no_blocks_can_be_made_for_are_refused(kernel):
    (refused,) = failures(simulated([kernel], 13))
    assert refused.reason == "refused"
    assert "12" in refused.message


@BOTH
def test_computing_takes_the_official_operations_and_messages_are_the_same_without_arithmetic(kernel):
    rate = 1e6
    real, none = measured([f"{kernel} rate={rate}", f"{kernel} rate={rate} arithmetic=none"], 6)
    assert real.times_s == pytest.approx(none.times_s)
    computation = real.metrics["computation"].values[0]  # the mean over the ranks
    assert computation == pytest.approx(LINE_OPERATIONS[kernel] / rate / 6)


@BOTH
def test_line_solves_are_pipelined(kernel):
    """Eight ranks that work in chunks of lines need less than a quarter of the time of one, and with lines
    solved one rank after the other, they would need more than a third of it."""
    (alone,) = measured([f"{kernel} rate=1e6 arithmetic=none"], 1)
    (eight,) = measured([f"{kernel} rate=1e6 arithmetic=none"], 8)
    assert alone.times_s[0] == pytest.approx(LINE_OPERATIONS[kernel] / 1e6)
    assert alone.times_s[0] / 8 < eight.times_s[0] < alone.times_s[0] / 4


@BOTH
@pytest.mark.parametrize("ranks", [4, 25])
def test_no_rank_waits_in_a_multi_partition(kernel, ranks):
    """10 inner points divide evenly into 2 or 5 cells."""
    (alone,) = measured([f"{kernel} rate=1e6 arithmetic=none"], 1)
    (several,) = measured([f"{kernel} rate=1e6 arithmetic=none"], ranks)
    assert several.times_s[0] == pytest.approx(alone.times_s[0] / ranks, rel=0.01)


def test_a_dearer_message_makes_fewer_messages():
    cheap, dear = measured([f"bt startup={each} arithmetic=none" for each in (1e-6, 1e-3)], 8)
    assert dear.metric("sent_messages") < cheap.metric("sent_messages") / 2
    cheap, dear = measured([f"lu startup={each} arithmetic=none" for each in (1e-6, 1e-3)], 8)
    assert dear.metric("sent_messages") < cheap.metric("sent_messages") / 2


def lines_of(words, ranks):
    """Lines of these cases on a switch, where a message of x bytes takes 10 us + x / (100 MB/s)."""
    return lines_on_switch("hockney-npb", words, ranks)


def answered(words, ranks):
    lines = lines_of(words, ranks)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert len(found) == len(words)
    assert all(record.verified.bytes > 0 for record in found)
    return found


@pytest.mark.parametrize(
    ("ranks", "matrix", "blocks"),
    [
        (2, "2 x 1", "1 x 1 x 2"),
        (12, "4 x 3", "1 x 3 x 4"),
        (11, "11 x 1", "1 x 1 x 11"),
        (16, "4 x 4", "1 x 4 x 4"),
    ],
)
def test_grids_of_ranks_exchange_least_and_verify(ranks, matrix, blocks):
    cg, mg = answered(["cg class=S", "mg class=S"], ranks)
    assert cg.labels["decomposition"] == f"{matrix} blocks of the matrix"
    assert mg.labels["decomposition"] == f"{blocks} blocks"
    for record in (cg, mg):
        assert record.verified.errors == 0, (record.case, record.verified.first)
        assert max(record.metrics["deviation"].values) < 1e-11, record.case


@pytest.mark.parametrize(("ranks", "blocks"), [(31, "1 x 1 x 31"), (36, "1 x 4 x 9")])
def test_mg_verifies_where_blocks_are_thin_and_uneven(ranks, blocks):
    """31 ranks have one or two of 32 planes, so that no coarser level could be divided among them."""
    (mg,) = answered(["mg class=S"], ranks)
    assert mg.labels["decomposition"] == f"{blocks} blocks"
    assert mg.verified.errors == 0, mg.verified.first


def test_mg_refuses_ranks_that_have_no_grid():
    """A grid of 37 ranks has 37 rows or planes, and class S has 32."""
    (refusal,) = failures(lines_of(["mg class=S arithmetic=none"], 37))
    assert refusal.reason == "refused"
    assert "36" in refusal.message


def test_mg_of_the_paper_ends_at_rounding_errors_and_finds_an_inverted_bit():
    right, wrong = answered(["mg class=paper", "mg class=paper fault=bit"], 3)
    assert right.verified.errors == 0, right.verified.first
    assert wrong.verified.errors > 0
    assert max(right.metrics["deviation"].values) < 0.25 < 1e3 < min(wrong.metrics["deviation"].values)
