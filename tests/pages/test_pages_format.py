# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers and cases for readers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from visited import CATALOG, LINE, evidence

from hockney.pages.format import format_range_width, format_scatter, quantity, typed_line


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (66716672.0, "", "66700000"),
        (2344.5, "", "2340"),
        (0.125, "", "0.125"),
        (89.94, "%", "89.9%"),
        (3.0, "packets", "3 packets"),
    ],
)
def test_counts_have_no_exponent_and_percent_no_space(value, unit, text):
    assert quantity(value, unit) == text


def test_a_spread_of_100_percent_or_more_is_a_factor():
    assert format_range_width(0.11) == format_scatter(0.11) == "11%"
    assert format_range_width(9.94).split()[-1] == "100" and "%" not in format_range_width(1.0)


@pytest.mark.parametrize(
    ("typed", "shown"), [("20us", "20us"), ("1.5ms", "1.5ms"), ("0", "0"), ("1", "1s"), ("0.1ns", "0.1ns")]
)
def test_times_in_names_of_cases_have_units(typed, shown):
    case = CATALOG.case(f"barrier_staggered delay={typed} ranks=2")
    (seen,) = evidence({LINE: [[1e-6]]}).measured
    of = replace(seen, case=case, workload=CATALOG.entry(case.workload))
    assert f" delay={shown} " in typed_line(of)


@pytest.mark.parametrize("unit", ["s", "B", "B/s", "s/B", "op/s", "%", "words"])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_unknown(value, unit):
    assert str(quantity(value, unit)) == "unknown"
