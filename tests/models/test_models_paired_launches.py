# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The ratio of two sides whose launches took turns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from models_data import CATALOG, record
from scipy import stats
from tiers import slow

from hockney.models.comparison import Pair, judge
from hockney.models.statistics import PooledCase, independent_ratio, observe_case, paired_ratio, student
from hockney.models.statistics.paired_launches import pair_center

CASE = CATALOG.case("bcast bytes=64", 2)


def side(*runs: dict[int, float] | np.ndarray, case=CASE) -> PooledCase:
    """A case whose launches took exp(logs) us, in one or more runs, by the number of the launch."""
    made = {}
    for number, logs in enumerate(runs):
        named = logs if isinstance(logs, dict) else dict(enumerate(logs))
        records = [record(case, str(k), [1e-6 * math.exp(x)] * 9) for k, x in named.items()]
        made[number] = observe_case(records, CATALOG)
    return PooledCase.from_runs(made)


def paired(differences, base=0.0):
    """The ratio of pairs with these log ratios, on a machine that is at `base` in each launch."""
    return paired_ratio([side(base + np.asarray(differences))], [side(base + np.zeros(len(differences)))])


def test_drift_cancels():
    rng = np.random.default_rng(1)
    a = np.cumsum(rng.normal(0, 0.2, 12))
    b = a + 0.03 + rng.uniform(-0.02, 0.02, 12)
    found = paired_ratio([side(b)], [side(a)])
    known = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert math.log(found.ratio.low) == pytest.approx(known.low, abs=0.004)
    assert math.log(found.ratio.high) == pytest.approx(known.high, abs=0.004)
    assert found.p_above(1.0) < 0.01 and found.p_below(1.0) == 1.0
    assert found.upper_width < 0.2 * independent_ratio([side(b)], [side(a)]).upper_width


def test_pairs_that_a_change_of_mode_splits_have_no_weight():
    """A fifth of the pairs are a factor of 2.8 off, in either direction."""
    quiet = 0.05 + np.linspace(-0.02, 0.02, 16)
    whole = paired(quiet)
    split = paired([*quiet, 1.03, 1.08, -0.98, -1.01])
    assert split.ratio.low == pytest.approx(whole.ratio.low, rel=0.002)
    assert split.ratio.high == pytest.approx(whole.ratio.high, rel=0.002)
    assert split.p_above(1.02) < 0.001 and not split.pairs


def test_with_many_outliers_the_signs_of_all_pairs_decide():
    """Six of ten agree, which is not much if the other four do not."""
    found = paired([*np.linspace(0.049, 0.051, 6), 1.0, -1.0, -1.1, -1.2])
    assert found.ratio.low > 1.03
    assert found.p_above(1.02) == pytest.approx(stats.binomtest(3, 10).pvalue)
    assert found.p_above(1.06) == 1.0 and found.p_below(1.02) == 1.0


def test_outliers_of_one_side_count():
    """In every fourth pair, B is 2.8 times as slow: that is no change of the machine."""
    slow = np.where(np.arange(24) % 4 == 0, 1.03, 0.0) + np.linspace(-0.01, 0.01, 24)
    found = paired(slow)
    assert found.log_center == pytest.approx(np.mean(slow), abs=0.1) and found.ratio.high > 1.3
    mixed = slow * np.where(np.arange(24) % 8 == 0, -1, 1)
    assert abs(paired(mixed).log_center) < 0.01, "in both directions they are"


@pytest.mark.parametrize("sign", [1, -1])
def test_pairs_that_only_one_side_lost_are_not_the_same(sign):
    """B (or A) takes 2.8 times as long in five of 40 pairs: too few for a mean, too many for `same`."""
    quiet = np.linspace(-0.01, 0.01, 40)

    def judged(*outliers: float):
        logs = quiet.copy()
        logs[: 7 * len(outliers) : 7] += np.array(outliers)
        cases = [CATALOG.case(f"bcast bytes={k}", 2) for k in range(3)]
        a, b = np.zeros(40), np.asarray(logs)
        made = [Pair(case, side(a, case=case), side(b, case=case)) for case in cases]
        return judge(made, 0.02, paired=True)

    far = 1.03 * sign
    lost = judged(*[far] * 5)
    assert {each.state for each in (*lost.cases, *lost.operations)} == {"undecided"}
    assert lost.operations[0].excluded == lost.cases[0].excluded == ((5, 0) if sign > 0 else (0, 5))
    assert lost.effect.state == "undecided" and lost.cases[0].more_launches == (40, 40)
    assert lost.cases[0].ratio.value == pytest.approx(1, abs=0.005), "the ratio is that of the other pairs"
    for split in ((far, far), (far, far, far, far, -far)):
        assert {each.state for each in judged(*split).cases} == {"same"}, "that may be chance"
    assert judged(*split).cases[0].excluded == ((4, 1) if sign > 0 else (1, 4))


@pytest.mark.parametrize("split", [0.16, *slow(0.0, 0.3)])
@pytest.mark.parametrize("count", [6, 24, *slow(12)])
def test_the_interval_contains_the_truth(split, count):
    """Student's t with 2.5 degrees of freedom, and pairs that changes of mode split."""
    rng, hits, trials = np.random.default_rng([count, int(100 * split)]), 0, 400
    for _ in range(trials):
        logs = 0.07 + 0.02 * rng.standard_t(2.5, count)
        logs += np.where(rng.random(count) < split, rng.choice([-1.03, 1.03], count), 0.0)
        center = pair_center(logs)
        hits += abs(center.log - 0.07) <= student(center.freedom) * math.sqrt(center.variance)
    assert stats.binom.ppf(0.001, trials, 0.94) <= hits <= stats.binom.ppf(0.999, trials, 0.975)


def test_the_mean_over_cases_accounts_for_what_a_pair_does_to_all_of_them():
    cases = [CATALOG.case(f"bcast bytes={k}", 2) for k in range(20)]
    effects, base = np.linspace(-0.1, 0.1, 8), np.random.default_rng(2).normal(0, 0.5, 8)
    pairs = [Pair(case, side(base, case=case), side(base + effects, case=case)) for case in cases]
    judged = judge(pairs, 0.02, paired=True)
    (operation,) = judged.operations
    assert operation.ratio.high == pytest.approx(judged.cases[0].ratio.high, rel=1e-6)
    apart = np.random.default_rng(3).normal(0, 0.1, (20, 8))
    pairs = [
        Pair(case, side(base, case=case), side(base + own, case=case))
        for case, own in zip(cases, apart, strict=True)
    ]
    (operation,) = judge(pairs, 0.02, paired=True).operations
    assert math.log(operation.ratio.high / operation.ratio.low) < 0.12, "their own noise averages out"


def test_the_mean_of_cases_that_missed_different_launches():
    """Each pair counts with the cases that have it."""
    rng, cases = np.random.default_rng(5), [CATALOG.case(f"bcast bytes={k}", 2) for k in (1, 2)]
    drift = rng.normal(0, 0.5, 10)
    logs = [{k: float(drift[k]) for k in range(first, first + 8)} for first in (0, 2)]
    slower = [{k: x + 0.1 + float(rng.normal(0, 0.01)) for k, x in of.items()} for of in logs]
    a = [side(of, case=case) for of, case in zip(logs, cases, strict=True)]
    b = [side(of, case=case) for of, case in zip(slower, cases, strict=True)]
    found = paired_ratio(b, a)
    assert found.ratio.value == pytest.approx(math.exp(0.1), rel=0.01) and found.upper_width < 0.02
    none = [side({k: 0.0 for k in (20, 21, 22)}, case=cases[1])]
    assert paired_ratio([b[0], *none], [a[0], a[1]]).ratio == paired_ratio(b[:1], a[:1]).ratio


def test_a_comparison_of_hardly_any_pairs_does_not_show_how_far_comparisons_differ():
    """One pair has no centre."""
    pairs = np.linspace(-0.01, 0.01, 8)
    whole, more = side(np.zeros(8)), side(np.zeros(8), {0: 0.0})
    found = paired_ratio([side(0.05 + pairs, {0: 0.3})], [more])
    assert found.ratio.value == pytest.approx(1.05, rel=0.01)
    assert found.upper_width < 2 * paired_ratio([side(0.05 + pairs)], [whole]).upper_width


def test_comparisons_that_differ_as_much_as_their_pairs_do():
    """Four pairs each: the difference of the comparisons is part of the spread of all pairs."""
    rng, hits, trials = np.random.default_rng(8), 0, 300
    for _ in range(trials):
        b = side(*(0.03 * rng.standard_normal() + rng.normal(0, 0.02, 4) for _ in range(4)))
        found = paired_ratio([b], [side(*[np.zeros(4)] * 4)])
        hits += found.ratio.low <= 1 <= found.ratio.high
    assert stats.binom.ppf(0.001, trials, 0.95) <= hits <= stats.binom.ppf(0.999, trials, 0.975)


def test_exact_times_need_no_pairs():
    judged = judge([Pair(CASE, side([0.0]), side([0.1]))], 0.02, exact_a=True, exact_b=True, paired=True)
    assert judged.cases[0].state == "slower" and not judged.paired
