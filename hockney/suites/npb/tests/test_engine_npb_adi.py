# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""BT and SP on a simulated machine: how the grid is divided, and how lines pass through the ranks."""

from __future__ import annotations

import pytest
from engine_lines import failures, records
from simulated_switch import lines_on_switch

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

N = 12  # class S
OPERATIONS = {
    "bt": 60 * (3478.8 * N**3 - 17655.7 * N**2 + 28023.7 * N),
    "sp": 100 * (881.174 * N**3 - 4683.91 * N**2 + 11484.5 * N - 19272.4),
}
BOTH = pytest.mark.parametrize("kernel", ["bt", "sp"])


def simulated(words, ranks, latency_s=1e-6):
    """What the engine prints for these cases on a switch where a message takes this long, of any length."""
    return lines_on_switch("hockney-npb", words, ranks, latency_s=latency_s, per_byte_s=1e-12)


def measured(words, ranks):
    lines = simulated(words, ranks)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert len(found) == len(words)
    return found


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
    assert computation == pytest.approx(OPERATIONS[kernel] / rate / 6)


@BOTH
def test_line_solves_are_pipelined(kernel):
    """In chunks of lines, eight ranks need less than a quarter of the time of one, and with lines solved one
    rank after the other, they would need more than a third of it."""
    (alone,) = measured([f"{kernel} rate=1e6 arithmetic=none"], 1)
    (eight,) = measured([f"{kernel} rate=1e6 arithmetic=none"], 8)
    assert alone.times_s[0] == pytest.approx(OPERATIONS[kernel] / 1e6)
    assert alone.times_s[0] / 8 < eight.times_s[0] < alone.times_s[0] / 4


@BOTH
@pytest.mark.parametrize("ranks", [4, 25])
def test_no_rank_waits_in_a_multi_partition(kernel, ranks):
    """Of 10 inner points, 2 or 5 cells have the same number."""
    (alone,) = measured([f"{kernel} rate=1e6 arithmetic=none"], 1)
    (several,) = measured([f"{kernel} rate=1e6 arithmetic=none"], ranks)
    assert several.times_s[0] == pytest.approx(alone.times_s[0] / ranks, rel=0.01)


def test_a_dearer_message_makes_fewer_messages():
    cheap, dear = measured([f"bt startup={each} arithmetic=none" for each in (1e-6, 1e-3)], 8)
    assert dear.metric("sent_messages") < cheap.metric("sent_messages") / 2
    cheap, dear = measured([f"lu startup={each} arithmetic=none" for each in (1e-6, 1e-3)], 8)
    assert dear.metric("sent_messages") < cheap.metric("sent_messages") / 2
