# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Cases of interleaved comparisons relative to operations that did not change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from models_data import CATALOG, observed

from hockney.models.comparison import Pair, judge, relative_ratios
from hockney.models.statistics import PooledCase

OPERATIONS = ("allgather", "allreduce", "alltoall", "bcast", "reduce", "scan")
COMMON, OWN = 0.15, 0.02
"""Standard deviations of a pair's error that all cases share, and of a case's own."""


def made(slower, count=30, seed=1, operations=OPERATIONS, common=COMMON, runs=1):
    """Two cases of each operation; `slower` has the log of an operation's ratio, or of a case's."""
    rng = np.random.default_rng(seed)
    shared = common * rng.standard_normal((runs, count))
    pairs = []
    for name in operations:
        for size in (8, 1024):
            case = CATALOG.case(f"{name} bytes={size}", 2)
            by = slower.get((name, size), slower.get(name, slower.get("", 0.0)))
            sides = [{}, {}]
            for run in range(runs):
                own = OWN * rng.standard_normal((2, count))
                for side, logs in enumerate((own[0], own[1] + shared[run] + by)):
                    sides[side][run] = observed(case, logs)
            pairs.append(Pair(case, *map(PooledCase.from_runs, sides)))
    return pairs


def judged(slower, tolerance=0.02, **more):
    return judge(made(slower, **more), tolerance, paired=True)


def states(of):
    return {each.workload: each.state for each in of.operations}


def test_one_slower_operation_is_found_and_no_other():
    """Its own ratio is not certain to be beyond the tolerance."""
    found = judged({"bcast": 0.05})
    assert states(found) == {name: "slower" if name == "bcast" else "undecided" for name in OPERATIONS}
    (operation,) = (each for each in found.operations if each.workload == "bcast")
    assert operation.ratio.low < 1.02 < operation.relative.low
    assert operation.relative.value == pytest.approx(math.exp(0.05), abs=0.01)
    assert {each.state for each in operation.cases} == {"slower"}
    assert {name for name, _level in found.reference} == {*OPERATIONS} - {"bcast"}
    assert found.effect.state == "found" and found.effect.clearest.workload == "bcast"


def test_the_slower_case_of_an_operation_is_found():
    found = judged({("bcast", 1024): 0.06})
    assert [each.case.line for each in found.cases if each.state == "slower"] == [
        CATALOG.case("bcast bytes=1024", 2).line
    ]


def test_a_faster_one_too():
    assert states(judged({"scan": -0.06}))["scan"] == "faster"


def test_operations_that_changed_are_not_compared_with():
    """Two of six: the others stay what they are."""
    found = relative_ratios(made({"bcast": 0.10, "scan": -0.10}))
    assert {name for name, _level in found.reference} == set(OPERATIONS) - {"bcast", "scan"}
    for (name, _level), ratio in found.operations.items():
        truth = {"bcast": 0.10, "scan": -0.10}.get(name, 0.0)
        assert ratio.log_center == pytest.approx(truth, abs=0.015)


def test_if_all_are_slower_none_is_relative_to_the_others():
    """But each by itself."""
    found = judged({"": 0.15})
    assert set(states(found).values()) == {"slower"}
    assert all(each.relative is None for each in (*found.cases, *found.operations))


def test_most_of_them_differ():
    changes = dict(zip(OPERATIONS, (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), strict=True))
    assert relative_ratios(made(changes)) is None


@pytest.mark.parametrize("more", [{"operations": ("bcast", "scan")}, {"count": 7}, {"runs": 2}])
def test_nothing_to_compare_with(more):
    """Two operations, few pairs, several runs a side, which may differ by themselves."""
    assert relative_ratios(made({"bcast": 0.1}, **more)) is None


def test_launches_that_a_case_missed_do_not_count():
    pairs = made({"bcast": 0.05}, count=12)
    one = pairs[3]
    seen = one.b.pooled.select_launches(range(10))
    pairs[3] = Pair(one.case, one.a, PooledCase({0: seen}, seen))
    found = relative_ratios(pairs)
    assert found is not None and all(ratio.has_interval for ratio in found.cases)
    few = one.b.pooled.select_launches(range(7))
    pairs[3] = Pair(one.case, one.a, PooledCase({0: few}, few))
    assert relative_ratios(pairs) is None


@pytest.mark.slow
def test_equal_sides_are_rarely_reported():
    """At a tolerance of 0, in 5% of comparisons by chance."""
    alarms = 0
    for seed in range(60):
        found = judged({}, tolerance=1e-9, seed=seed, count=16)
        alarms += any(state in ("slower", "faster") for state in states(found).values())
    assert alarms <= 8, "binomial, 60 of 5%: 0.1%"


def test_relative_intervals_contain_the_truth():
    hits = []
    for seed in range(40):
        found = relative_ratios(made({"bcast": 0.05}, seed=seed, count=16))
        for pair, ratio in zip(made({}, seed=seed, count=8), found.cases, strict=True):
            truth = 0.05 if pair.case.workload == "bcast" else 0.0
            hits.append(math.log(ratio.ratio.low) <= truth <= math.log(ratio.ratio.high))
    assert 0.90 <= np.mean(hits) <= 0.99
