# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals of ratios: their coverage is as stated, and factors shared by launches cancel."""

from __future__ import annotations

import numpy as np
import pytest
from models_data import CATALOG, record
from scipy.stats import binom

from hockney.core.case import Case
from hockney.core.fit import Estimate
from hockney.models.statistics import observe_case, ratio, ratio_of_estimates

SETS = 150
LEAST = int(binom.ppf(0.001, SETS, 0.92))
"""With a coverage of 92% of all data sets the number falls below this count once in a thousand studies."""
FAST, SLOW = Case.of("barrier", 2, algorithm="central"), Case.of("barrier", 2, algorithm="mpi")
TRUTH = 5.13


def observed(case: Case, logs: np.ndarray, prefix: str = "", random: np.random.Generator | None = None):
    """One launch for each of `logs`, the log of its typical time."""
    scatter = (random or np.random.default_rng(0)).normal(0, 0.01, (len(logs), 30))
    times = np.exp(logs[:, None] + scatter)
    return observe_case(
        [record(case, f"{prefix}{k}", launch.tolist()) for k, launch in enumerate(times)], CATALOG
    )


def drawn(random: np.random.Generator, launches: int, apart: bool = False):
    """Both cases; each launch's factor applies to both or, if measured `apart`, to one only."""

    def logs(typical: float, shared: np.ndarray) -> np.ndarray:
        return np.log(typical) + shared + random.normal(0, 0.03, launches)

    factors = random.normal(0, 0.3, (2, launches))
    slow = observed(SLOW, logs(TRUTH * 1e-7, factors[0]), random=random)
    fast = observed(FAST, logs(1e-7, factors[int(apart)]), "other" if apart else "", random)
    return slow, fast


@pytest.mark.parametrize(("launches", "apart"), [(3, False), (5, False), (12, False), (12, True)])
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


def test_of_values_that_are_known_apart():
    found = ratio_of_estimates(Estimate(6.0, 3.0, 12.0), Estimate(2.0, None, None))
    assert found == Estimate(3.0, None, None)
    found = ratio_of_estimates(Estimate(6.0, 5.0, 7.0), Estimate(2.0, 2.0, 2.0))
    assert (found.low, found.high) == (pytest.approx(2.5), pytest.approx(3.5))
    wide = ratio_of_estimates(Estimate(6.0, 3.0, 12.0), Estimate(2.0, 1.0, 4.0))
    assert np.log(wide.high / wide.value) == pytest.approx(np.sqrt(2) * np.log(2))
