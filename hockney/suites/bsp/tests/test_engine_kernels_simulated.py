# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The kernels on a simulated machine: data are computed and verified, and computing takes as long as its rate
implies."""

from __future__ import annotations

import math

import pytest
from engine_lines import failures, records
from msgspec.structs import replace
from simulated_switch import even_switch, lines_on, lines_on_switch

from hockney.core.platform import Libraries

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


COSTS = Libraries(write_s=3e-6, read_s=2e-6, superstep_s=1e-3, buffer_s_per_byte=1e-8, step_s=5e-4)


def with_costs(words, ranks):
    free, paid = (
        records(lines_on(replace(even_switch(ranks), libraries=costs), "hockney-kernels", words, ranks))
        for costs in (Libraries(), COSTS)
    )
    assert all(each.verified.errors == 0 for each in (*free, *paid)) and len(paid) == len(words)
    return [(a.times_s[0], b.times_s[0], b) for a, b in zip(free, paid, strict=True)]


def test_the_libraries_cost_what_the_description_states():
    """The described times of the libraries count: for each put where it is called and where it arrives, for
    each superstep, for arriving bytes, and for each step of the BPRAM."""
    relation, empty, block, words, whole = with_costs(
        [
            "h_relation h=700 packet=28 sync=window",
            "bsp_sync sync=window",
            "block_permutation bytes=1000 permutations=4 sync=window",
            "matrix_multiplication n=32 grid=2:2:2 packet=8 sync=window",
            "matrix_multiplication n=32 grid=2:2:2 sync=window",
        ],
        8,
    )
    free, paid, record = relation
    puts = 100
    added = puts * (COSTS.write_s + COSTS.read_s) + COSTS.superstep_s + 2800 * COSTS.buffer_s_per_byte
    assert paid - free == pytest.approx(added, rel=0.02)
    parts = {name: record.metrics[name].values[0] for name in ("write", "exchange", "read")}
    assert parts["write"] == pytest.approx(puts * COSTS.write_s)
    assert sum(parts.values()) == pytest.approx(paid, rel=0.01)
    assert parts["read"] >= puts * COSTS.read_s
    assert empty[1] - empty[0] == pytest.approx(COSTS.superstep_s, rel=1e-3)
    assert block[1] - block[0] == pytest.approx(COSTS.step_s, rel=1e-3)
    n = 32 * 32 // 8  # elements of each of three blocks
    assert words[1] - whole[1] == pytest.approx(3 * (n - 1) * (COSTS.write_s + COSTS.read_s), rel=0.05)


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
