# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Allocation of measuring time: over how many launches a budget is spread, what they cost, and that it is
kept."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hockney.core.case import Case
from hockney.core.settings import MIN_LAUNCHES
from hockney.measurement.budget import (
    MAX_LAUNCHES,
    MAX_REPETITIONS,
    MAX_RUN_REPETITIONS,
    Budget,
    launch_count,
    max_repetitions,
)
from hockney.models.least_time import min_launch_seconds


@pytest.mark.parametrize(
    ("budget_s", "cost_s", "groups", "cases", "launches"),
    [
        (60, 0.25, 2, 180, 10),
        (60, 1.2, 2, 180, 5),
        (20, 0.25, 1, 180, 4),
        (10, 0.25, 1, 5, 8),
        (2, 0.25, 1, 1, 3),
        (600, 0.25, 1, 180, 100),
        (600, 0.25, 2, 180, 50),
    ],
)
def test_launches_follow_budget_cost_and_cases(budget_s, cost_s, groups, cases, launches):
    assert launch_count(budget_s, cost_s, groups, cases) == launches


@given(st.floats(0.1, 1e5), st.floats(0, 100), st.integers(0, 20), st.integers(0, 10**5))
def test_there_are_always_some_and_never_too_many(budget_s, cost_s, groups, cases):
    assert MIN_LAUNCHES <= launch_count(budget_s, cost_s, groups, cases) <= MAX_LAUNCHES


def test_a_run_keeps_no_more_than_fits_its_file():
    assert max_repetitions(1) == MAX_REPETITIONS
    assert max_repetitions(1800) * 1800 <= MAX_RUN_REPETITIONS


CASES = (Case.of("pingpong", 2, bytes=8), Case.of("pingpong", 2, bytes=1024))


class Clock:
    def __init__(self) -> None:
        self.t = 100.0

    def __call__(self) -> float:
        return self.t


def test_the_first_share_leaves_room_for_every_launch():
    budget = Budget(60.0, Clock(), first_cost_s=2.0)
    assert budget.launch_budget(cases=100, remaining_cases=300, remaining_launches=3) == pytest.approx(
        (60 - 6) / 3
    )


def test_what_launches_cost_is_learned():
    clock = Clock()
    budget = Budget(60.0, clock, first_cost_s=2.0)
    clock.t += 25
    budget.record_launch(budget_s=18, measuring_s=18, launch_s=25, cases=100)
    assert budget.cost_s == 7
    assert budget.launch_budget(100, 200, 2) == pytest.approx((60 - 25 - 14) / 2)


def test_cases_that_overrun_get_less():
    clock = Clock()
    budget = Budget(60.0, clock)
    clock.t += 24
    budget.record_launch(budget_s=20, measuring_s=24, launch_s=24, cases=10)
    assert budget.launch_budget(10, 20, 2) == pytest.approx(36 / 2 / 1.2)


@given(
    st.floats(1, 300),
    st.integers(1, 12),
    st.floats(0, 3),
    st.floats(0, 0.2),
    st.integers(1, 200),
    st.floats(0.1, 1),
)
@example(total=1.0, launches=8, cost=0.12393085060771616, floor=0.0, cases=98, used=0.109375)
@settings(max_examples=150, deadline=None)
def test_the_promise_holds_whatever_launches_and_cases_cost(total, launches, cost, floor, cases, used):
    """Launches take their start, and at least `floor` per case, otherwise the fraction `used` of the given
    time; the last case begins before the limit. Only the first launch may exceed the budget, if that is less
    than launches and cases cost at least."""
    clock = Clock()
    budget = Budget(total, clock, first_cost_s=cost)
    plan = CASES[:1] * cases
    for k in range(launches):
        if k and budget.is_exhausted(cases):
            break
        given_s = budget.launch_budget(cases, cases * (launches - k), launches - k)
        measuring = min(max(floor * cases, used * given_s), budget.launch_limit(plan) + floor)
        clock.t += cost + measuring
        budget.record_launch(given_s, measuring, cost + measuring, cases)
        if k == 0 and budget.elapsed_s > total:
            break
    assert budget.elapsed_s <= max(total, cost + min_launch_seconds(plan)) + floor + 1e-6


def test_a_simulated_launch_may_use_all_that_is_left():
    clock = Clock()
    budget = Budget(100.0, clock, is_shared=False)
    clock.t += 30
    assert budget.launch_budget(cases=1, remaining_cases=50, remaining_launches=20) == pytest.approx(70)
    assert budget.launch_limit(CASES) == 0, "no limit, so that each simulated case is complete"
    clock.t += 200
    assert budget.launch_budget(1, 1, 1) == 0


def test_the_limit_of_a_launch_leaves_time_for_ending_it():
    clock = Clock()
    budget = Budget(10.0, clock, first_cost_s=1.0)
    assert budget.launch_limit(CASES) == pytest.approx(9)
    clock.t += 4
    budget.record_launch(budget_s=2, measuring_s=2, launch_s=4, cases=2)
    assert budget.launch_limit(CASES) == pytest.approx(4), "the dearer of the two launches counts"
    clock.t += 5
    assert budget.launch_limit(CASES) == pytest.approx(min_launch_seconds(CASES)), (
        "a launch that starts measures something"
    )


def test_a_launch_starts_only_if_one_as_dear_as_the_dearest_fits():
    clock = Clock()
    budget = Budget(10.0, clock, first_cost_s=0.5)
    clock.t += 6.5
    budget.record_launch(budget_s=3, measuring_s=3, launch_s=3.5, cases=2)
    budget.record_launch(budget_s=1, measuring_s=1, launch_s=3.0, cases=2)
    assert not budget.is_exhausted(2)
    clock.t += 1.6
    assert budget.is_exhausted(2)


def test_waiting_for_a_hung_case_is_not_counted():
    clock = Clock()
    budget = Budget(10.0, clock)
    clock.t += 30
    budget.exclude(29)
    assert budget.elapsed_s == pytest.approx(1)
