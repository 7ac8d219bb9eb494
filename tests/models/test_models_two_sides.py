# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts on two independent sets of launches. `benchmarks/comparison.py` is the large version of the last
tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from models_data import CATALOG, benchmark, observed
from scipy import stats
from tiers import slow

from hockney.core.case import Case
from hockney.core.fit import ExactValue
from hockney.models.comparison import SIGNIFICANCE_LEVEL, Pair, judge, more_launches
from hockney.models.statistics import PooledCase, independent_ratio

CASE = CATALOG.case("bcast bytes=64", 2)


def seen(logs: np.ndarray | list[float], case: Case = CASE, prefix: str = "") -> PooledCase:
    """A case of a single run, whose launches took exp(logs) s."""
    return PooledCase.from_runs({0: observed(case, logs, prefix)})


def one(a: list[float] | np.ndarray, b: list[float] | np.ndarray, tolerance: float = 0.05):
    return judge([Pair(CASE, seen(a), seen(b))], tolerance).cases[0]


def spread_around(middle: float, width: float, count: int) -> np.ndarray:
    """Without outliers; their mean is `middle`."""
    return middle + width * np.linspace(-1, 1, count)


@pytest.mark.parametrize(("first", "second"), [(8, 8), (6, 14)])
def test_the_interval_is_welchs(first: int, second: int):
    rng = np.random.default_rng(first)
    a, b = rng.uniform(-0.1, 0.1, first), 0.2 + rng.uniform(-0.02, 0.02, second)
    found = independent_ratio([seen(b)], [seen(a)])
    known = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert math.log(found.ratio.low) == pytest.approx(known.low, abs=1e-9)
    assert math.log(found.ratio.high) == pytest.approx(known.high, abs=1e-9)
    p = found.p_above(math.exp(0.15))
    assert p == pytest.approx(stats.ttest_ind(b, a + 0.15, equal_var=False).pvalue, rel=1e-6)
    assert found.p_below(math.exp(0.15)) == 1.0


def test_verdicts():
    quiet = spread_around(0, 0.01, 10)
    assert one(quiet, quiet + 0.2).state == "slower"
    assert one(quiet, quiet - 0.2).state == "faster"
    assert one(quiet, quiet + 0.01).state == "same"
    assert one(quiet, quiet + 0.05).state == "undecided"  # right at the limit
    noisy = spread_around(0, 0.3, 6)
    assert one(noisy, noisy).state == "undecided", "the lack of a finding is no finding"
    assert one(quiet, [0.5]).state == "unknown"
    assert one(quiet, quiet + 0.003, tolerance=0.0).state == "undecided"
    assert one(quiet, quiet + 0.05, tolerance=0.0).state == "slower"


def test_a_verdict_implies_where_the_interval_is():
    """Also with hundreds of cases, whose probabilities are adjusted."""
    rng = np.random.default_rng(3)
    cases = [CATALOG.case(f"bcast bytes={k}", 2) for k in range(200)]
    pairs = [
        Pair(case, seen(rng.normal(0, 0.02, 8), case), seen(rng.normal(shift, 0.02, 8), case))
        for case, shift in zip(cases, np.linspace(-0.2, 0.2, 200), strict=True)
    ]
    judged = judge(pairs, 0.05)
    assert {case.state for case in judged.cases} == {"slower", "same", "faster", "undecided"}
    for case in judged.cases:
        low, high = case.ratio.low, case.ratio.high
        assert case.state != "slower" or low > 1.05
        assert case.state != "faster" or high < 1 / 1.05
        assert case.state != "same" or (low > 1 / 1.05 and high < 1.05)
        assert case.more_launches is None or case.state == "undecided"
    assert judged.tests == 201, "of all cases, and of their mean"


def test_false_discoveries_are_controlled():
    """Of 200 equal cases, about 10 differ by their own intervals, but hardly one is reported."""
    rng = np.random.default_rng(1)
    pairs = [
        Pair(case, seen(rng.normal(0, 0.02, 10), case), seen(rng.normal(0, 0.02, 10), case))
        for case in (CATALOG.case(f"bcast bytes={k}", 2) for k in range(200))
    ]
    judged = judge(pairs, 0.0)
    reported = sum(case.state in ("slower", "faster") for case in judged.cases)
    beyond = sum(case.ratio.low > 1 or case.ratio.high < 1 for case in judged.cases)
    assert beyond > 3 and reported <= 1


def test_the_mean_of_an_operation_finds_what_no_case_shows():
    """A change of 8% in cases that are too noisy one by one: their own noise averages out."""
    rng = np.random.default_rng(2)
    cases = [CATALOG.case(f"bcast bytes={k}", 2) for k in range(40)]

    def side(shift: float) -> list[PooledCase]:
        return [seen(rng.normal(shift, 0.08, 8), case) for case in cases]

    a, b = side(0.0), side(math.log(1.08))
    (operation,) = judge([Pair(*each) for each in zip(cases, a, b, strict=True)], 0.05).operations
    assert operation.mean_state == operation.state == "slower"
    assert operation.ratio.low < 1.08 < operation.ratio.high
    assert len(operation.of("slower")) < 5


def test_cases_of_a_launch_share_what_it_does():
    """40 cases in the same 8 launches are not 320 independent values: the interval of the mean is that of the
    launches."""
    effects = spread_around(0, 0.1, 8)
    cases = [CATALOG.case(f"bcast bytes={k}", 2) for k in range(40)]
    pairs = [Pair(case, seen(effects, case), seen(effects, case)) for case in cases]
    judged = judge(pairs, 0.05)
    (operation,) = judged.operations
    assert operation.ratio.high == pytest.approx(judged.cases[0].ratio.high)
    apart = [
        Pair(case, seen(effects, case, f"{k}a"), seen(effects, case, f"{k}b")) for k, case in enumerate(cases)
    ]
    (operation,) = judge(apart, 0.05).operations
    assert math.log(operation.ratio.high) < 0.2 * math.log(judged.cases[0].ratio.high), "other launches each"


def test_a_slow_mode_that_outlasts_launches_is_no_change():
    """B was slow in the last half of its launches, which is one change of the mode; A never was. The launches
    alone would be significant."""
    quiet, mode = spread_around(0, 0.01, 12), math.log(1.5)
    switched = quiet + np.where(np.arange(12) < 6, 0.0, mode)
    cases = [CATALOG.case(f"bcast bytes={k}", 2) for k in (1, 2)]
    judged = judge([Pair(case, seen(quiet, case), seen(switched, case)) for case in cases], 0.05)
    assert {each.state for each in judged.cases} == {"undecided"}
    assert judged.operations[0].state == "undecided"
    often = quiet + np.where(np.arange(12) % 2, 0.0, mode)
    narrow = one(quiet, often).ratio
    assert math.log(narrow.low) > 0.05 > math.log(judged.cases[0].ratio.low), "six cycles show the share"
    assert one(quiet, quiet + mode).state == "slower", "no modes: all launches are slower"


def test_an_operation_is_slower_if_one_of_its_cases_is():
    quiet = spread_around(0, 0.005, 8)
    cases = [CATALOG.case(f"bcast bytes={k}", 2) for k in range(12)]

    def judged(changes: dict[int, float]):
        pairs = [
            Pair(case, seen(quiet, case), seen(quiet + changes.get(k, 0.0), case))
            for k, case in enumerate(cases)
        ]
        return judge(pairs, 0.05).operations[0]

    assert judged({}).state == "same"
    assert judged({3: 0.2}).state == "slower" and judged({3: 0.2}).mean_state == "same"
    assert judged({3: -0.2}).state == "faster"
    assert judged({3: -0.2, 4: 0.2}).state == "slower"


def test_exact_times():
    exact = judge([Pair(CASE, seen([0.0]), seen([0.1]))], 0.05, exact_a=True, exact_b=True).cases[0]
    assert exact.state == "slower" and isinstance(exact.ratio, ExactValue)
    same = judge([Pair(CASE, seen([0.0]), seen([0.01]))], 0.05, exact_a=True, exact_b=True).cases[0]
    assert same.state == "same"
    measured = spread_around(0, 0.01, 8)
    half = judge([Pair(CASE, seen([0.0]), seen(measured))], 0.05, exact_a=True).cases[0]
    (alone,) = [stats.t.ppf(0.975, 7) * measured.std(ddof=1) / math.sqrt(8)]
    assert math.log(half.ratio.high) == pytest.approx(alone, rel=1e-6) and half.state == "same"


@pytest.mark.parametrize(("shift", "state"), [(0.15, "slower"), (-0.15, "faster")])
def test_the_number_of_launches_that_would_decide(shift: float, state: str):
    """With as many more, such a case is decided; with half of them, it is not."""

    def measured(launches: int):
        rng = np.random.default_rng(1)  # in random order: from 16 visits on, a trend would matter
        return one(*(rng.permutation(spread_around(middle, 0.2, launches)) for middle in (0, shift)))

    first = measured(7)
    assert first.state == "undecided"
    more, same = first.more_launches
    assert more == same > 3
    assert measured(7 + more).state == state
    assert measured(7 + more // 2).state == "undecided"


def test_too_few_launches_and_hopeless_ones():
    unknown = one([0.0], [0.0])
    assert unknown.state == "unknown" and unknown.more_launches == (2, 2)
    ratio = one(spread_around(0, 0.3, 6), spread_around(0, 0.3, 6)).ratio
    assert more_launches(ratio, 0.05, (6, 6), 1.0) is not None
    assert more_launches(ratio, 0.001, (6, 6), 1.0) is None, "hundreds of thousands are no advice"
    assert more_launches(ratio, 0.05, (6, 6), 100.0) > more_launches(ratio, 0.05, (6, 6), 1.0)


def several(*runs: np.ndarray) -> PooledCase:
    return PooledCase.from_runs({number: observed(CASE, logs) for number, logs in enumerate(runs)})


def test_runs_that_differ_are_the_unit():
    """Three runs a side, whose launches agree to 1%, but which differ by 10% from each other: what the
    launches say is not independent."""
    shifts, width = (-0.1, 0.0, 0.1), 0.01
    a = several(*(spread_around(shift, width, 8) for shift in shifts))
    b = several(*(spread_around(shift + 0.08, width, 8) for shift in shifts))
    found = independent_ratio([b], [a])
    known = stats.ttest_ind([0.08 + shift for shift in shifts], shifts, equal_var=False)
    interval = known.confidence_interval(0.95)
    assert math.log(found.ratio.low) == pytest.approx(interval.low, abs=1e-6)
    assert math.log(found.ratio.high) == pytest.approx(interval.high, abs=1e-6)
    assert judge([Pair(CASE, a, b)], 0.05).cases[0].state == "undecided"
    cases = [CATALOG.case(f"bcast bytes={k}", 2) for k in range(5)]
    (operation,) = judge([Pair(case, a, b) for case in cases], 0.05).operations
    assert operation.ratio.high == pytest.approx(found.ratio.high), "other cases of the run do not help"


def test_the_runs_of_one_side_show_how_far_the_run_of_the_other_may_be_off():
    """As in a check: the new run differs from those of the baseline as they differ from each other."""
    shifts, width = (-0.1, -0.05, 0.0, 0.05, 0.1), 0.01
    a = several(*(spread_around(shift, width, 8) for shift in shifts))
    b = several(spread_around(0.08, width, 8))
    found = independent_ratio([b], [a])
    half = stats.t.ppf(0.975, 4) * np.std(shifts, ddof=1) * math.sqrt(1 + 1 / 5)
    assert math.log(found.ratio.high) == pytest.approx(0.08 + half, abs=1e-6) and found.freedom == 4
    back = independent_ratio([a], [b])
    assert back.ratio.low == pytest.approx(1 / found.ratio.high)
    exact = independent_ratio([b], [a], exact_numerator=True)
    assert math.log(exact.ratio.high) - 0.08 == pytest.approx(half / math.sqrt(6)), "B does not vary"


@pytest.mark.parametrize(
    ("runs", "launches", "apart"), [((5, 1), 5, 0.03), *slow(((5, 1), 10, 0.01), ((3, 3), 5, 0.01))]
)
def test_the_interval_contains_the_truth_if_runs_differ(runs: tuple[int, int], launches: int, apart: float):
    """Runs that differ by half as much as their launches, whose mean they move more than the launches do, and
    by more."""
    rng, hits, trials = np.random.default_rng([*runs, launches]), 0, 300
    for _ in range(trials):
        a, b = (
            several(*(apart * rng.standard_normal() + rng.normal(0, 0.02, launches) for _ in range(count)))
            for count in runs
        )
        found = independent_ratio([b], [a])
        hits += found.ratio.low <= 1 <= found.ratio.high
    assert stats.binom.ppf(0.001, trials, 0.95) <= hits <= stats.binom.ppf(0.999, trials, 0.975)


# A small version of the benchmark.


@pytest.fixture(scope="module")
def comparison():
    for module in ("comparison_worlds", "comparison_interleaved"):  # which it imports
        benchmark(module)
    return benchmark("comparison")


@pytest.mark.parametrize("world", ["launches differ", "modes 30%, 1.5", *slow("quiet", "heavy tails")])
def test_the_interval_contains_the_truth(comparison, world: str):
    rng = np.random.default_rng(11)
    hits = []
    for k in range(100):
        truth = (1.0, 1.07)[k % 2]
        found = comparison.one_pair(
            comparison.WORLDS[world], 10, truth, rng, comparison.Measured(), comparison.NOT_AT_ALL
        ).cases[0]
        hits.append(found.ratio.low <= truth <= found.ratio.high)
    assert sum(hits) >= stats.binom.ppf(0.001, 100, 0.95)


@pytest.mark.slow
def test_equal_runs_are_rarely_reported_as_different(comparison):
    """At a tolerance of 0, where every difference counts, at most 5% of the pairs of runs."""
    found = []
    for seed, world in enumerate(["quiet", "launches differ", "heavy tails"] * 7):
        rng = np.random.default_rng(seed)
        both = comparison.pair_of_runs(comparison.WORLDS[world], 6, rng, comparison.Measured(1, 10))
        found.append(comparison.alarms(judge(both, comparison.NOT_AT_ALL)) > 0)
    assert sum(found) <= stats.binom.ppf(0.999, len(found), SIGNIFICANCE_LEVEL)


def test_a_slower_operation_is_found_and_no_other(comparison):
    rng = np.random.default_rng(2)
    both = comparison.pair_of_runs(
        comparison.WORLDS["quiet"],
        10,
        rng,
        comparison.Measured(1, 10),
        lambda case: 1.3 if case.workload == "reduce" and case.bytes >= 1024 else 1.0,
    )
    judged = judge(both, 0.05)
    slower = {case.case for case in judged.cases if case.state in ("slower", "faster")}
    assert slower == {c for c in comparison.cases() if c.workload == "reduce" and c.bytes >= 1024}
    states = {each.workload: each.state for each in judged.operations}
    assert states.pop("reduce") == "slower" and set(states.values()) == {"same"}


@pytest.mark.parametrize("world", ["modes that last", *slow("drift", "modes of ten launches")])
def test_sides_that_took_turns(comparison, world: str):
    """On machines on which independent launches find nothing, or too much."""
    turns = benchmark("comparison_interleaved")
    case, rng, hits = [CASE], np.random.default_rng(4), 0
    for _ in range(60):
        made = turns.in_turns(
            case, turns.TURNS[world], 12, rng, comparison.Measured(1, 5), lambda case: 1.07, own=0.0
        )
        found = judge(made, 0.02, paired=True).cases[0].ratio
        hits += found.low <= 1.07 <= found.high
    assert hits >= stats.binom.ppf(0.001, 60, 0.94)
