# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Verdicts about two times: no difference is claimed, and none is denied, that the interval does not show."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.fit import Estimate, ExactValue
from hockney.models.guidelines import FACTOR
from hockney.models.significance import widen
from hockney.models.statistics import (
    NOTABLE,
    UNDECIDED_VERDICTS,
    interval_stretch,
    time_to_decide,
    time_to_exclude,
    verdict,
)

RATIOS = st.builds(
    lambda value, below, above: Estimate(value, value * below, value * above),
    st.floats(0.3, 3),
    st.floats(0.5, 1),
    st.floats(1, 2),
)
WIDTHS = st.sampled_from([1.0, 1.5])


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        ((1.5, 1.4, 1.6), "slower"),
        ((0.6, 0.5, 0.7), "faster"),
        ((1.0, 0.97, 1.03), "alike"),
        ((1.03, 1.01, 1.045), "alike"),
        ((1.5, 0.9, 2.5), "undecided"),
        ((1.0, 0.8, 1.25), "undecided"),
        ((0.9, 0.7, 1.01), "undecided"),
        ((1.03, 1.01, 1.07), "undecided"),
        ((1.5, None, None), "unknown"),
    ],
)
def test_the_verdict_is_what_the_interval_shows(ratio, expected):
    assert verdict(Estimate(*ratio)) == expected


def test_a_ratio_that_does_not_vary_is_decided():
    values = {2.0: "slower", 0.5: "faster", 1.04: "alike", 1.0: "alike"}
    assert {value: verdict(widen(ExactValue.of(value), 2.0)) for value in values} == values
    assert verdict(None) == "unknown"


@given(RATIOS, WIDTHS)
def test_both_ends_are_treated_alike(ratio, width):
    wide = widen(ratio, width)
    turned = widen(Estimate(1 / ratio.value, 1 / ratio.high, 1 / ratio.low), width)
    names = {"slower": "faster", "faster": "slower"}
    found = verdict(wide)
    edges = (1.0, NOTABLE, 1 / NOTABLE)
    if not any(math.isclose(x, edge) for x in (wide.value, wide.low, wide.high) for edge in edges):
        assert verdict(turned) == names.get(found, found)


@given(RATIOS)
def test_the_time_to_decide_is_enough_and_less_is_not(ratio):
    """The half widths shrink with the root of the time."""
    assert ratio.low is not None and ratio.high is not None

    def after(time: float) -> Estimate:
        ends = (ratio.value * (end / ratio.value) ** (1 / math.sqrt(time)) for end in (ratio.low, ratio.high))
        return Estimate(ratio.value, *ends)

    if verdict(ratio) == "undecided":
        time = time_to_decide(ratio)
        if time < 1e6:
            assert verdict(after(1.01 * time)) not in UNDECIDED_VERDICTS
            assert time == 1 or verdict(after(0.99 * time)) == "undecided"


def test_the_time_to_exclude_a_bound():
    assert time_to_exclude(Estimate(0.9, 0.81, 1.0), 0.95) == pytest.approx(
        (math.log(1 / 0.9) / math.log(0.95 / 0.9)) ** 2
    )
    assert time_to_exclude(Estimate(0.9, 0.89, 0.91), 1.0) == 1, "excluded already"
    assert math.isinf(time_to_exclude(Estimate(0.9, None, None), 1.0))


def test_more_comparisons_need_wider_intervals():
    assert interval_stretch(1) == pytest.approx(1, rel=1e-4)
    assert interval_stretch(14) == pytest.approx(2.91 / 1.96, rel=0.01), "the quantile of 1 - 0.025/14"
    ratio = Estimate(1.5, 1.2, 1.9)
    found = [verdict(widen(ratio, interval_stretch(count))) for count in (1, 1000)]
    assert found == ["slower", "undecided"]


def test_guidelines_call_the_same_difference_notable():
    assert FACTOR == NOTABLE
