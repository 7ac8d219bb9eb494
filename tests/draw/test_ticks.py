# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.core.units import format_interval, format_value, parse_bytes, parse_seconds
from hockney.draw.describe import axis_title
from hockney.draw.figure import Axis
from hockney.draw.ticks import make_scale

BYTES = Axis("message size", "B", zero=True)
TIME = Axis("time", "s")
SIZES = [0.0, *(2.0**k for k in range(23))]


def room(text: str) -> float:
    return 7.0 * len(text) + 14


RANKS, RATIO = Axis("ranks", "ranks"), Axis("B / A", "", "log")
COUNTS = [2.0, 3, 4, 5, 8, 16]


@pytest.mark.parametrize(
    ("axis", "values", "length", "space", "labels"),
    [
        (BYTES, SIZES, 420, room, "0|1 B|16 B|256 B|4 KiB|64 KiB|1 MiB"),
        (TIME, [300e-9, 2e-3], 200, 26, "1 us|10 us|100 us|1 ms"),
        (RANKS, COUNTS, 600, room, "2|3|4|5|8|16"),
        (RANKS, COUNTS, 130, room, "2|4|8|16"),
        (replace(RATIO, include=(0.8, 1.3)), (1.29,), 150, 26, "0.8|1|1.25"),
        (replace(RATIO, include=(0.8, 1.25)), (1.06,), 450, 30, "0.8|0.9|1|1.1|1.2|1.3|1.4"),
        (RATIO, (0.99, 1.02), 450, 50, "1|1.05|1.1"),
    ],
)
def test_labels(axis, values, length, space, labels):
    measured = values if axis is RANKS else ()
    ticks = make_scale(axis, values, measured).ticks(length, space if callable(space) else lambda text: space)
    assert ticks.labels == tuple(labels.split("|"))


def test_zero_is_apart_on_the_left():
    x = make_scale(BYTES, SIZES)
    ticks = x.ticks(420, room)
    assert ticks.values[1:] == tuple(2.0**k for k in range(0, 23, 4))
    assert x.low < ticks.values[0] == x.zero < 1.0
    assert x.place(0.0) == x.zero
    assert x.place(8.0) == 8.0


def test_the_view_holds_all_values_and_a_wide_axis_has_finer_ticks():
    x = make_scale(BYTES, SIZES)
    assert x.low < x.zero and x.high > 2.0**22
    assert "2 B" in x.ticks(2000, room).labels
    assert "2 B" not in x.ticks(420, room).labels
    assert len(x.ticks(150, room).values) >= 2


def test_zero_has_no_place_where_it_was_not_asked_for_or_not_measured():
    assert make_scale(Axis("size", "B"), SIZES).place(0.0) is None
    assert make_scale(BYTES, SIZES[1:]).zero is None
    assert make_scale(TIME, [1e-6]).place(-1.0) is None
    assert make_scale(TIME, [1e-6]).place(math.nan) is None


def test_rates_on_a_linear_axis_begin_at_nothing_and_have_round_ticks():
    y = make_scale(Axis("bandwidth", "B/s", "linear"), [1e6, 9.6e9])
    ticks = y.ticks(330, lambda t: 26)
    assert y.low < 0 < y.high / 10
    assert ticks.values[0] == 0
    assert ticks.labels[1:5] == ("1 GB/s", "2 GB/s", "3 GB/s", "4 GB/s")


def test_values_far_from_nothing_and_near_each_other_are_not_squeezed():
    y = make_scale(Axis("time", "s", "linear"), [10.0e-6, 10.2e-6])
    assert y.low > 9.9e-6
    labels = y.ticks(330, lambda t: 26).labels
    assert len(set(labels)) == len(labels) >= 3


positive = st.floats(1e-10, 1e12)


@settings(max_examples=150, deadline=None)
@given(st.lists(positive, min_size=1, max_size=20), st.sampled_from(["s", "B", "B/s", "ranks", ""]),
       st.sampled_from(["log", "linear"]), st.booleans(), st.integers(120, 2000))  # fmt: skip
def test_any_values_give_ticks_in_order_in_view_and_apart(values, unit, kind, zero, length):
    axis = make_scale(Axis("a", unit, kind, zero), [0.0, *values] if zero else values)
    assert axis.low < axis.high
    assert all(axis.low <= axis.place(v) <= axis.high for v in values)
    ticks = axis.ticks(length, lambda t: 20.0)
    assert ticks.values, "an axis without a tick cannot be read"
    assert list(ticks.values) == sorted(set(ticks.values))
    assert all(axis.low <= v <= axis.high for v in ticks.values)
    if ticks != axis.levels[0].within(axis.low, axis.high):
        places = [axis.fraction(v) * length for v in ticks.values]
        assert all(b - a >= 20 for a, b in itertools.pairwise(places))


@settings(max_examples=80, deadline=None)
@given(st.floats(1e-9, 1e3), st.floats(1.01, 1e6))
def test_a_time_tick_says_its_value(low, factor):
    axis = make_scale(TIME, [low, min(low * factor, 2e4)])
    for level in axis.levels:
        for value, label in zip(level.values, level.labels, strict=True):
            if value < 100:
                assert math.isclose(parse_seconds(label), value, rel_tol=1e-6)


def test_a_byte_tick_says_its_value():
    for level in make_scale(BYTES, SIZES).levels:
        assert [parse_bytes(t) for t in level.labels[1:]] == [int(v) for v in level.values[1:]]


def test_fractions_are_labelled_in_percent():
    efficiency = Axis("efficiency", "%", "linear")
    ticks = make_scale(efficiency, [0.02, 0.93]).ticks(420, room)
    assert all(label.endswith("%") for label in ticks.labels) and len(ticks.labels) > 2
    assert [float(label[:-1]) / 100 for label in ticks.labels] == pytest.approx(ticks.values)
    assert axis_title(efficiency) == "efficiency", "each tick has the unit"
    beyond = make_scale(efficiency, [0.2, 1.3]).ticks(420, room).labels
    assert "100%" in beyond and not any("e" in label for label in beyond)
    assert format_value(0.736, "%") == "73.6%" and format_value(12.0, "%", 1) == "1200%"
    assert format_interval(0.736, 0.729, 0.742, "%") == "73.6% [72.9, 74.2]"


@pytest.mark.parametrize("length", [55, 75, 100, 135, 200])
def test_a_small_axis_of_many_decades_has_more_than_two_ticks(length):
    """A small figure of a collective: 100 ns to 5 ms."""
    ticks = make_scale(TIME, [100e-9, 5e-3]).ticks(length, lambda t: 19)
    assert len(ticks.values) >= 3


@pytest.mark.parametrize("length", [140, 300, 420, 600, 900])
@pytest.mark.parametrize("ends", [(113e-9, 263e-9), (130e-9, 190e-9), (2.1e-6, 2.9e-6), (0.9e-3, 9e-3)])
def test_a_narrow_range_has_several_ticks_that_do_not_overlap(ends, length):
    axis = make_scale(TIME, ends)
    ticks = axis.ticks(length, room)
    assert len(ticks.values) > 1
    for (a, left), (b, right) in itertools.pairwise(zip(ticks.values, ticks.labels, strict=True)):
        assert (axis.fraction(b) - axis.fraction(a)) * length >= (room(left) + room(right)) / 2


def test_names_are_never_left_out():
    names = tuple(f"barrier {k}" for k in range(40))
    assert make_scale(Axis("barrier", "", "linear", names=names), []).ticks(100, room).labels == names


def test_large_counts_and_small_times_of_a_byte_have_no_exponents():
    counts = make_scale(Axis("keys", "keys"), [1000.0, 1e6])
    assert {"1000", "100000", "10⁶"} <= {*counts.ticks(420, room).labels}
    assert make_scale(Axis("ranks", "ranks"), [2.0**20], [2.0**20]).levels[-1].labels == ("1048576",)
    assert "2·10⁻⁵" in make_scale(Axis("a share", ""), [1e-5, 1e-4]).levels[-2].labels
    sigma = make_scale(Axis("sigma", "s/B"), [8e-11, 52e-9])
    labels = sigma.ticks(330, lambda t: 26).labels
    assert "10 ns/B" in labels and axis_title(sigma.axis) == "sigma"
    every = [label for axis in (counts, sigma) for level in axis.levels for label in level.labels]
    assert not any("e" in label for label in every)
