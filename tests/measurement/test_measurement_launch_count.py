# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Over how many launches a budget is spread."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.settings import FEWEST_LAUNCHES
from hockney.measurement.budget import (
    MOST,
    MOST_REPETITIONS,
    MOST_VALUES,
    launch_count,
    most_repetitions,
)


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
    assert FEWEST_LAUNCHES <= launch_count(budget_s, cost_s, groups, cases) <= MOST


def test_a_run_keeps_no_more_than_fits_its_file():
    assert most_repetitions(1) == MOST_REPETITIONS
    assert most_repetitions(1800) * 1800 <= MOST_VALUES
