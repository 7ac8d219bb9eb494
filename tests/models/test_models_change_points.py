# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Change points: found where they are, and seldom where nothing changed, for many distributions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import slow

from hockney.models.history.series import ratio_to_usual
from hockney.models.statistics import change_significance, find_change_points
from hockney.models.statistics.level_changes import (
    MIN_VALUES,
    QUANTILES,
    _simulated_differences,
    _tail_probability,
)

Make = Callable[[np.random.Generator, int], np.ndarray]


def normal(rng: np.random.Generator, count: int) -> np.ndarray:
    return 0.02 * rng.normal(size=count)


def heavy(rng: np.random.Generator, count: int) -> np.ndarray:
    return 0.02 * rng.standard_t(2, size=count)


def outliers(rng: np.random.Generator, count: int) -> np.ndarray:
    return normal(rng, count) + 0.5 * (rng.random(count) < 0.1)


@pytest.mark.parametrize("make", [heavy, *slow(normal, outliers)])
@pytest.mark.parametrize("count", [12, *slow(40)])
def test_false_alarms_are_rare(make: Make, count: int):
    rng = np.random.default_rng(1)
    found = sum(bool(find_change_points(list(make(rng, count)))) for _ in range(120))
    assert found <= 14  # 6 expected; more with a probability of 0.2%


def test_a_slowdown_is_found_with_its_place_and_size():
    rng = np.random.default_rng(2)
    found, inside, held = 0, 0, 0
    for _ in range(60):
        logs = normal(rng, 40)
        logs[25:] += 0.08
        for change in find_change_points(list(logs)):
            if abs(change.index - 25) <= 2:
                found += 1
                inside += change.first <= 25 <= change.last
                assert change.ratio.ratio.low is not None and change.ratio.ratio.high is not None
                held += change.ratio.ratio.low < math.exp(0.08) < change.ratio.ratio.high
    assert found >= 57 and inside >= 0.85 * found and held >= 0.8 * found


def test_a_slowdown_that_was_mended_has_two_changes():
    rng = np.random.default_rng(3)
    logs = normal(rng, 60)
    logs[20:32] += 0.15
    first, second = find_change_points(list(logs))
    assert abs(first.index - 20) <= 2 and abs(second.index - 32) <= 2
    assert first.ratio.ratio.value > 1.1 and second.ratio.ratio.value < 0.9


def test_several_levels():
    rng = np.random.default_rng(4)
    logs = np.concatenate([normal(rng, 15) + level for level in (0.0, 0.2, 0.1, 0.4)])
    found = [change.index for change in find_change_points(list(logs))]
    assert len(found) == 3 and all(abs(at - true) <= 1 for at, true in zip(found, (15, 30, 45), strict=True))


def test_an_outlier_does_not_hide_a_change():
    logs = [*normal(np.random.default_rng(5), 30), *(normal(np.random.default_rng(6), 20) + 0.1)]
    logs[3], logs[44] = 2.0, -1.0
    (change,) = find_change_points(logs)
    assert abs(change.index - 30) <= 1 and change.last - change.first <= 3


def test_too_few_values_and_equal_values():
    assert (
        find_change_points([0.0, 1.0] * 3) == []
        and find_change_points([]) == []
        and find_change_points([1.0] * 30) == []
    )
    assert change_significance([0.0] * (MIN_VALUES - 1)) == 1
    exact = find_change_points([0.0] * 12 + [0.1] * 12)
    assert [each.index for each in exact] == [12]
    assert exact[0].ratio.ratio.value == pytest.approx(math.exp(0.1))


@settings(max_examples=15, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=0, max_size=40), st.floats(-3, 3), st.floats(0.1, 10))
def test_only_the_order_of_values_decides(values, shift, factor):
    found = [each.index for each in find_change_points(values)]
    assert found == sorted(set(found)) and all(2 <= at <= len(values) - 2 for at in found)
    if len(set(values)) == len({shift + factor * each for each in values}):
        assert [
            each.index for each in find_change_points([shift + factor * each for each in values])
        ] == found
        backwards = {len(values) - each.index for each in find_change_points(values[::-1])}
        assert len(backwards) == len(found) or change_significance(values) > 0.01  # ties are cut at one end


def test_the_table_continues_what_is_drawn():
    drawn = _simulated_differences(64)
    for p in (0.1, 0.05, 0.01):
        quantile = float(np.quantile(drawn, 1 - p))
        assert _tail_probability(64, quantile) == pytest.approx(p, rel=0.2)
        assert _tail_probability(65, quantile) == pytest.approx(p, rel=0.3)
    for count in (100, *QUANTILES):
        chances = [_tail_probability(count, t) for t in np.linspace(2, 8, 40)]
        assert chances == sorted(chances, reverse=True) and 0 < chances[-1] < 1e-6 and chances[0] > 0.9


def test_a_new_run_is_within_its_interval_as_often_as_promised():
    rng = np.random.default_rng(7)
    inside = 0
    for _ in range(400):
        logs = normal(rng, 11)
        ratio = ratio_to_usual(list(logs[:10]), float(logs[10])).ratio
        assert ratio.low is not None and ratio.high is not None
        inside += ratio.low < 1 < ratio.high
    assert 365 <= inside <= 393


def test_a_run_with_fewer_launches_may_be_further_off():
    earlier = [0.0, 0.01, -0.01, 0.02, -0.02, 0.0]
    usual = ratio_to_usual(earlier, 0.1, [0.02] * 6, 0.02)
    vague = ratio_to_usual(earlier, 0.1, [0.02] * 6, 0.2)
    assert (
        vague.lower_width > 2 * usual.lower_width
        and usual.lower_width == ratio_to_usual(earlier, 0.1).lower_width
    )
    assert ratio_to_usual(earlier[:1], 0.1).ratio.low is None
