# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals of ratios: their coverage is as stated, and factors shared by launches cancel."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from models_data import CATALOG, observed, record
from scipy.stats import binom
from tiers import slow

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.core.record import Visits
from hockney.models.statistics import mean_ratio, observe_case, ratio, ratio_of_estimates

SETS = 150
LEAST = int(binom.ppf(0.001, SETS, 0.92))
"""With a coverage of 92% of all data sets the number falls below this count once in a thousand studies."""
FAST, SLOW = Case.of("barrier", 2, algorithm="central"), Case.of("barrier", 2, algorithm="mpi")
TRUTH = 5.13


def drawn(random: np.random.Generator, launches: int, apart: bool = False):
    """Both cases; each launch's factor applies to both or, if measured `apart`, to one only."""

    def logs(typical: float, shared: np.ndarray) -> np.ndarray:
        return np.log(typical) + shared + random.normal(0, 0.03, launches)

    factors = random.normal(0, 0.3, (2, launches))
    slow = observed(SLOW, logs(TRUTH * 1e-7, factors[0]), random=random)
    fast = observed(FAST, logs(1e-7, factors[int(apart)]), "other" if apart else "", random)
    return slow, fast


@pytest.mark.parametrize(("launches", "apart"), [(3, False), (12, True), *slow((5, False), (12, False))])
def test_the_interval_holds_the_truth(launches: int, apart: bool):
    random = np.random.default_rng(11)
    found = [ratio(*drawn(random, launches, apart)) for _ in range(SETS)]
    assert sum(each.low <= TRUTH <= each.high for each in found) >= LEAST
    width = np.median([np.log(each.high / each.low) / 2 for each in found])
    assert width < (0.4 if apart else 0.12), "what launches share is not in the ratio"
    assert width > (0.1 if apart else 0.01)


def test_it_is_the_quotient_of_the_typical_times_and_lies_in_its_interval():
    random = np.random.default_rng(5)
    for launches in (1, 2, 3, 4, 7, 20):
        slow, fast = drawn(random, launches)
        found = ratio(slow, fast)
        assert found.value == pytest.approx(slow.interval()[0] / fast.interval()[0])
        assert found.low is None or found.low <= found.value <= found.high
        back = ratio(fast, slow)
        assert back.value == pytest.approx(1 / found.value)
        assert (found.low is None) == (back.high is None)
        if found.low is not None:
            assert back.high == pytest.approx(1 / found.low)


@pytest.mark.parametrize("launches", [5, *slow(3, 12)])
def test_the_interval_of_a_mean_holds_the_truth_and_is_narrower_than_that_of_one_ratio(launches: int):
    random = np.random.default_rng(17)
    means, single = [], []
    for _ in range(SETS):
        pairs = [drawn(random, launches) for _ in range(4)]
        means.append(mean_ratio(pairs))
        single.append(ratio(*pairs[0]))
    assert sum(each.low <= TRUTH <= each.high for each in means) >= LEAST
    widths = [np.median([np.log(each.high / each.low) for each in of]) for of in (means, single)]
    assert 0.2 < widths[0] / widths[1] < 0.8


def test_a_mean_ratio_is_the_geometric_mean_over_launches_that_have_all_cases():
    random = np.random.default_rng(3)
    pairs = [drawn(random, 6) for _ in range(3)]
    values = [ratio(*pair).value for pair in pairs]
    assert mean_ratio(pairs).value == pytest.approx(float(np.exp(np.mean(np.log(values)))))
    assert mean_ratio(pairs[:1]).value == pytest.approx(values[0])
    elsewhere = drawn(random, 6, apart=True)
    unknown = mean_ratio([*pairs, elsewhere])
    assert unknown.low is unknown.high is None, "no launch has all of them"


def test_of_values_that_are_known_apart():
    found = ratio_of_estimates(Estimate(6.0, 3.0, 12.0), Estimate(2.0, None, None))
    assert found == Estimate(3.0, None, None)
    found = ratio_of_estimates(Estimate(6.0, 5.0, 7.0), Estimate(2.0, 2.0, 2.0))
    assert (found.low, found.high) == (pytest.approx(2.5), pytest.approx(3.5))
    wide = ratio_of_estimates(Estimate(6.0, 3.0, 12.0), Estimate(2.0, 1.0, 4.0))
    assert np.log(wide.high / wide.value) == pytest.approx(np.sqrt(2) * np.log(2))


def visited(case: Case, levels: np.ndarray, random: np.random.Generator):
    """One launch for each of `levels` (logs), with 40 visits of one repetition, 5 s after the one before."""
    records = []
    for k, level in enumerate(levels):
        times = np.exp(level + random.normal(0, 0.02, 40))
        visits = Visits(after_s=(0.1 * np.arange(40)).tolist(), repetitions=[1] * 40, preempted=[0] * 40)
        made = record(case, str(k), times.tolist())
        records.append(msgspec.structs.replace(made, visits=visits, started_s=5.0 * k))
    return observe_case(records, CATALOG)


def log_half_width(estimate: Estimate) -> float:
    return float(np.log(estimate.high / estimate.low)) / 2


def test_a_slow_change_of_one_case_is_in_the_ratio_and_of_both_is_not():
    """Ten launches, of which the first five are slower by 20%."""
    random = np.random.default_rng(12)
    change, steady = np.repeat([np.log(1.2), 0.0], 5), np.zeros(10)
    changing, other = visited(SLOW, change, random), visited(FAST, change, random)
    quiet = visited(FAST, steady, random)
    alone, both = log_half_width(ratio(changing, quiet)), log_half_width(ratio(changing, other))
    own, least = (log_half_width(Estimate(*seen.interval())) for seen in (changing, quiet))
    assert alone >= own - least, "the ratio to something steady varies as the time does"
    assert both < 0.1 * alone


def test_ratios_of_two_surveys_agree_where_one_case_drifts():
    """The level of one case wanders from launch to launch (AR(1) with a memory of four launches)."""
    random = np.random.default_rng(13)
    found = []
    for _ in range(80):
        levels = [0.1 * random.standard_normal()]
        for _ in range(9):
            levels.append(
                np.exp(-0.25) * levels[-1] + 0.1 * (1 - np.exp(-0.5)) ** 0.5 * random.standard_normal()
            )
        one = ratio(visited(SLOW, np.array(levels), random), visited(FAST, np.zeros(10), random))
        found.append((np.log(one.value), log_half_width(one)))
    logs, halves = np.array(found).T
    assert np.mean(np.abs(logs[::2] - logs[1::2]) <= np.hypot(halves[::2], halves[1::2])) >= 0.85
