# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LU on a simulated machine: how its grid is divided, and that its sweeps are a pipeline."""

from __future__ import annotations

import math

import pytest
from engine_lines import failures, records
from simulated_switch import lines_on_switch

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

POINTS, STEPS = 12, 50
SWEEPS = 0.6  # of a step's computing
OPERATIONS = STEPS * (1984.77 * POINTS**3 - 10923.3 * POINTS**2 + 27770.9 * POINTS - 144010)


def simulated(words, ranks, latency_s=1e-6):
    """What the engine prints for these cases on a switch where a message takes this long, of any length."""
    return lines_on_switch("hockney-npb", words, ranks, latency_s=latency_s, per_byte_s=1e-12)


def measured(words, ranks, **options):
    lines = simulated(words, ranks, **options)
    assert [line.message for line in failures(lines)] == []
    return records(lines)


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


def test_computing_takes_the_official_operations_and_messages_are_the_same_without_arithmetic():
    rate = 1e6
    real, none = measured([f"lu rate={rate}", f"lu rate={rate} arithmetic=none"], 6)
    assert real.times_s == pytest.approx(none.times_s)
    computation = real.metrics["computation"].values[0]  # the mean over the ranks
    assert computation == pytest.approx(OPERATIONS / rate / 6)


def test_sweeps_are_pipelined():
    """On 2 x 2 ranks, the last one begins two chunks of planes after the first one."""
    (alone,) = measured(["lu class=W rate=1e9 arithmetic=none"], 1)
    by_planes = {planes: f"lu class=W rate=1e9 arithmetic=none planes={planes}" for planes in (31, 4)}
    times = [record.times_s[0] / alone.times_s[0] for record in measured(by_planes.values(), 4)]
    largest = 16 * 16 / 31**2
    for planes, time in zip(by_planes, times, strict=True):
        chunks = math.ceil(31 / planes)
        expected = largest * (1 + SWEEPS * 2 / chunks)
        assert time == pytest.approx(expected, rel=0.1), planes
