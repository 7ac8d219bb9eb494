# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The suggested budget: enough for half of the comparisons, within limits."""

from __future__ import annotations

import math
import re

import pytest

from hockney.core.settings import Settings
from hockney.studies.needed_budget import MAX_MULTIPLE, MIN_RELIABLE_LAUNCHES, budget_multiple, remedy


@pytest.mark.parametrize(
    ("times", "launches", "expected"),
    [
        ([3.0, 5.0, 100.0], 10, 5.0),
        ([1.1], 10, 2.0),
        ([400.0, 500.0], 10, MAX_MULTIPLE),
        ([math.inf], 1, MIN_RELIABLE_LAUNCHES),
        ([math.inf], 10, 2.0),
    ],
)
def test_half_of_the_comparisons_are_decided(times, launches, expected):
    assert budget_multiple(times, launches) == expected


def test_the_multiple_is_of_the_measured_budget():
    text = remedy(5.0, 10, Settings("collectives", budget_s=60.0, extend=True))
    assert dict(re.findall(r"(--\w+) (\w+)", text)) == {"--budget": "5m"}
