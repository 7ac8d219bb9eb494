# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.core.units import format_interval, format_value


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "text"),
    [
        (435e-9, 430e-9, 441e-9, "s", "435 ns [430, 441]"),
        (1.03e-3, 1.029e-3, 1.031e-3, "s", "1.030 ms [1.029, 1.031]"),
        (9.42e9, 9.3e9, 9.6e9, "B/s", "9.42 GB/s [9.30, 9.60]"),
        (16384, 8192, 32768, "B", "16 KiB [8, 32]"),
        (0, 0, 3, "B", "0 B [0, 3]"),
        (-1e-9, -2e-9, 1e-9, "s", "-1.00 ns [-2.00, 1.00]"),
        (435e-9, None, None, "s", "435 ns"),
        (435e-9, 1e-9, float("inf"), "s", "435 ns"),
        (float("nan"), 1e-9, 2e-9, "s", "unknown"),
        (0.0123, 0.01, 0.02, "", "0.0123 [0.0100, 0.0200]"),
    ],
)
def test_an_interval_has_the_value_s_unit_and_the_digits_it_deserves(value, low, high, unit, text):
    assert format_interval(value, low, high, unit) == text


@settings(max_examples=200)
@given(st.floats(1e-9, 50.0), st.floats(1e-4, 0.9))
def test_value_and_ends_keep_their_order_and_differ(value, width):
    text = format_interval(value, value * (1 - width), value * (1 + width), "s")
    middle, low, high = (float(t) for t in re.fullmatch(r"(\S+) \w+ \[(\S+), (\S+)\]", text).groups())
    assert low < middle < high


def test_a_word_follows_its_number():
    assert format_value(16, "ranks") == "16 ranks"
    assert format_value(1234567, "") == "1234567"
    assert format_value(0.12345, "cores") == "0.123 cores"
