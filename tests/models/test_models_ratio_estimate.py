# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Probabilities adjusted for their number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hockney.models.statistics import adjust_p_values

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@given(PROBABILITIES)
def test_equal_weights_are_benjamini_and_hochbergs(p_values):
    expected = stats.false_discovery_control(p_values)
    assert adjust_p_values(p_values) == pytest.approx(expected)
    assert adjust_p_values(p_values, [1.0] * len(p_values)) == pytest.approx(expected)


def test_a_weight_makes_a_test_less_strict_and_the_others_stricter():
    p_values = [0.001, 0.2, 0.2, 0.2]
    plain, weighted = adjust_p_values(p_values), adjust_p_values(p_values, [2.5, 0.5, 0.5, 0.5])
    assert weighted[0] == pytest.approx(0.001 / 2.5 * 4) and weighted[0] < plain[0]
    assert all(weighted[1:] > np.array(plain[1:]))


@given(PROBABILITIES)
def test_what_is_significant_is_so_by_its_own_interval(p_values):
    weights = np.linspace(0.1, 1.9, len(p_values))
    assert all(np.array(adjust_p_values(p_values, weights)) >= p_values)


def test_false_alarms_with_weights():
    """One of 2 and 50 tests without any difference is significant in 5% of the sets."""
    rng, weights = np.random.default_rng(1), [13.0] * 2 + [0.52] * 50
    alarms = sum(min(adjust_p_values(rng.random(52), weights)) <= 0.05 for _ in range(2000))
    assert alarms <= stats.binom.ppf(0.999, 2000, 0.05)
