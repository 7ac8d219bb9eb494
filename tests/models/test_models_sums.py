# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Ratios to sums: coverage, agreement with the ratio of two times, and p values that fit the interval."""

from __future__ import annotations

import numpy as np
import pytest
from models_data import observed
from scipy.stats import binom
from tiers import slow

from hockney.core.case import Case
from hockney.core.fit import ExactValue
from hockney.models.statistics import Observation, ratio_to_sum

SETS = 150
LEAST = int(binom.ppf(0.001, SETS, 0.92))
"""With a coverage of 92% of all data sets the number falls below this count once in a thousand studies."""
LEFT, FIRST, SECOND = (Case.of("bcast", 2, algorithm="mpi", bytes=size) for size in (8, 16, 24))
TIMES = {LEFT: 12e-6, FIRST: 3e-6, SECOND: 1e-6}
TRUTH = 12 / (2 * 3 + 1)


def drawn(random: np.random.Generator, launches: int, apart: bool) -> list[Observation]:
    """The three cases. A launch's factor applies to all, or, if the second term is measured `apart`, not to
    that one."""
    shared, other = random.normal(0, 0.3 if not apart else 0.05, (2, launches))
    return [
        observed(
            case,
            np.log(time) + (other if apart and case == SECOND else shared) + random.normal(0, 0.03, launches),
            "other" if apart and case == SECOND else "",
            random,
        )
        for case, time in TIMES.items()
    ]


@pytest.mark.parametrize(("launches", "apart"), [(3, False), (12, True), *slow((5, False), (12, False))])
def test_the_interval_contains_the_truth_and_p_is_its_test(launches: int, apart: bool):
    random = np.random.default_rng(7)
    held = 0
    for _ in range(SETS):
        left, first, second = drawn(random, launches, apart)
        found = ratio_to_sum(left, [(first, 2), (second, 1)])
        low, high = found.ratio.low, found.ratio.high
        held += low <= TRUTH <= high
        assert found.ratio.value == pytest.approx(
            left.interval()[0] / (2 * first.interval()[0] + second.interval()[0])
        )
        if low < found.ratio.value:  # the interval was not stretched to contain the value
            assert found.p_above(low * 0.9999) < 0.05 < found.p_above(low * 1.0001)
        assert found.p_above(high) == 1.0
        assert found.freedom == launches - 1
    assert held >= LEAST
    width = np.log(high / low) / 2
    assert width < (0.3 if apart or launches == 3 else 0.12), "what launches share is not in the ratio"


def test_terms_from_the_same_other_launches_are_not_averaged_out():
    """What launches do to both terms does not shrink with their number."""
    random = np.random.default_rng(9)
    held = 0
    for _ in range(SETS):
        shared = random.normal(0, 0.1, 8)
        left = observed(LEFT, np.log(TIMES[LEFT]) + random.normal(0, 0.01, 8), random=random)
        first, second = (observed(c, np.log(TIMES[c]) + shared, "other", random) for c in (FIRST, SECOND))
        found = ratio_to_sum(left, [(first, 2), (second, 1)]).ratio
        held += found.low <= TRUTH <= found.high
    assert held >= LEAST


def test_one_launch_is_no_evidence_and_exact_times_need_none():
    random = np.random.default_rng(1)
    left, first, second = drawn(random, 1, apart=False)
    unknown = ratio_to_sum(left, [(first, 2), (second, 1)])
    assert (unknown.ratio.low, unknown.ratio.high, unknown.p_above(1.0)) == (None, None, None)
    exact = ratio_to_sum(left, [(first, 2), (second, 1)], exact=True)
    assert isinstance(exact.ratio, ExactValue)
    assert exact.p_above(exact.ratio.value * 0.999) == 0.0
    assert exact.p_above(exact.ratio.value * 1.001) == 1.0
