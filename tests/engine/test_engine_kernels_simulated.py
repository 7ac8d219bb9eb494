# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels on a simulated machine: data are computed and verified, and computing takes as long as its rate
implies."""

from __future__ import annotations

import math

import pytest
from engine_lines import failures, records
from simulated_switch import lines_on_switch

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]

LATENCY_S, PER_BYTE_S = 10e-6, 1e-8


def simulated(words, ranks):
    """The records of these cases on a switch, where a message of x bytes takes 10 us + x / (100 MB/s)."""
    lines = lines_on_switch(
        "hockney-kernels", words, ranks, latency_s=LATENCY_S, per_byte_s=PER_BYTE_S, repetitions=2
    )
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert len(found) == len(words)
    for record in found:
        assert record.verified.errors == 0, (record.case, record.verified.first)
    return found


def computation(record):
    return record.metrics["computation"].values[0]


def test_computing_takes_its_operations_by_the_rate_that_a_case_gives():
    n, m = 48, 1000
    multiplication, free, sort, merges, paths, local = simulated(
        [
            f"matrix_multiplication n={n} grid=2:2:2 rate=1e6",
            f"matrix_multiplication n={n} grid=2:2:2",
            f"bitonic_sort keys={m} rate=1e6 style=bpram",
            f"bitonic_sort keys={m} merge_rate=1e7 style=mpi",
            f"shortest_paths n={n} block=1 rate=1e6",
            f"local_sort keys={m} rate=1e6",
        ],
        8,
    )
    assert computation(multiplication) == pytest.approx((2 * n**3 / 8 + n * n / 8) / 1e6)
    assert computation(free) == 0
    assert multiplication.times_s[0] == pytest.approx(computation(multiplication) + free.times_s[0], rel=1e-3)
    assert computation(sort) == pytest.approx(m * math.log2(m) / 1e6)
    assert computation(merges) == pytest.approx(6 * m / 1e7)
    assert computation(paths) <= n**3 / 8 / 1e6 <= 1.1 * computation(paths)
    assert local.times_s[0] == pytest.approx(m * math.log2(m) / 1e6)


def test_a_permutation_costs_a_message_and_an_h_relation_grows_with_its_words():
    small, large, few, many = simulated(
        [
            "block_permutation bytes=0 permutations=1",
            "block_permutation bytes=100000 permutations=1",
            "h_relation h=100",
            "h_relation h=10000",
        ],
        8,
    )
    assert large.times_s[0] - small.times_s[0] == pytest.approx(1e5 * PER_BYTE_S, rel=0.05)
    assert small.times_s[0] == pytest.approx(LATENCY_S, rel=0.5)
    assert many.times_s[0] > 2 * few.times_s[0]
