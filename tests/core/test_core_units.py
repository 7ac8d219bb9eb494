# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes and seconds: parsing and formatting."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from hockney.core.errors import UsageError
from hockney.core.units import (
    MAX_BYTES,
    doubling_series,
    format_bytes,
    format_rate,
    format_seconds,
    format_size,
    format_time_option,
    format_value,
    half_decades,
    half_decades_around,
    parse_bytes,
    parse_counts,
    parse_flops,
    parse_fraction,
    parse_operations,
    parse_rate,
    parse_seconds,
    parse_seconds_per_byte,
    parse_share,
    parse_sizes,
)


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [
        ("0", 0),
        ("8", 8),
        ("4KiB", 4096),
        ("4k", 4096),
        ("40kB", 40_000),
        ("1.5MB", 1_500_000),
        ("1.1kB", 1100),
        ("2GiB", 2**31),
        (" 1 MiB ", 2**20),
        ("1e3", 1000),
        ("0.5KiB", 512),
    ],
)
def test_sizes_are_read(text, bytes_):
    assert parse_bytes(text) == bytes_


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("60", 60),
        ("60s", 60),
        ("2m", 120),
        ("1.5h", 5400),
        ("5us", 5e-6),
        ("5µs", 5e-6),
        ("10ms", 0.01),
        ("7ns", 7e-9),
    ],
)
def test_times_are_read_exactly(text, seconds):
    """Bit for bit: a case's line is its identity."""
    assert parse_seconds(text) == seconds


@pytest.mark.parametrize("parse", [parse_bytes, parse_seconds, parse_fraction, parse_counts, parse_sizes])
@pytest.mark.parametrize(
    "bad",
    [
        "",
        " ",
        "x",
        "-1",
        "-",
        "1e400",
        "1e999999999",
        "nan",
        "inf",
        "1QB",
        "1..2",
        "1,,2",
        "0x10",
        "1 2",
        "\x00",
        "1:2:3",
        "8:4",
        "1e-999999999x",
        "1e-999999999999",
        "1e-99999999999999999999",
        "1e99999999999999999999",
    ],
)
def test_nonsense_is_a_usage_error(parse, bad):
    with pytest.raises(UsageError) as caught:
        parse(bad)
    assert "\x00" not in str(caught.value) and "\n" not in str(caught.value)


def test_limits():
    assert parse_bytes("1048576GiB") == MAX_BYTES
    assert parse_fraction("2%") == 0.02 and parse_fraction("1") == 1
    assert [parse_share(text) for text in ("0", "0.5%", "0.01", "100%")] == [0.0, 0.005, 0.01, 1.0]


def test_lists():
    assert parse_sizes("0:8") == (0, 1, 2, 4, 8)
    assert parse_sizes("3:9,1KiB,4") == (3, 4, 8, 9, 1024)
    assert parse_counts("4,2,4") == (2, 4)
    assert parse_counts("1:6") == (1, 2, 4, 6)
    assert parse_counts("3\x1d") == (3,), "some separators are white space to a pattern, not to int()"


@given(st.integers(0, 2**40), st.integers(0, 2**40))
def test_doubling_has_its_ends_and_powers_between(a, b):
    first, last = sorted((a, b))
    sizes = doubling_series(first, last)
    assert sizes == sorted(set(sizes)) and {sizes[0], sizes[-1]} == {first, last}
    assert all(size & (size - 1) == 0 for size in sizes[1:-1])
    assert all(y <= 2 * max(x, 1) for x, y in pairwise(sizes[1:]))


@given(st.floats(1e-12, 1e6))
def test_shown_times_read_back_within_three_digits(seconds):
    text = format_seconds(seconds)
    if seconds < 99:
        value, unit = text.split()
        back = float(value) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]
        assert back == pytest.approx(seconds, rel=6e-3)
        assert 0.9999 <= float(value) < 1000 or unit in ("ns", "s")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (4.354e-7, "435 ns"),
        (1.03e-6, "1.03 us"),
        (9.999e-7, "1.00 us"),
        (0.0025, "2.50 ms"),
        (0.99999, "1.00 s"),
        (100, "1m40s"),
        (3599.9, "1h00m"),
        (math.inf, "unknown"),
        (0, "0 ns"),
    ],
)
def test_times_are_shown_with_the_unit_that_fits(seconds, text):
    assert format_seconds(seconds) == text


def test_bytes_and_rates_are_shown():
    assert [format_bytes(b) for b in (0, 8, 1023, 1024, 1536, 4 << 20)] == [
        "0 B", "8 B", "1023 B", "1 KiB", "1.5 KiB", "4 MiB",
    ]  # fmt: skip
    assert [format_rate(r) for r in (1, 999.4, 1000, 9.416e9, 1e12)] == [
        "1.00 B/s", "999 B/s", "1.00 kB/s", "9.42 GB/s", "1000 GB/s",
    ]  # fmt: skip


@given(st.integers(0, 2**50))
def test_shown_bytes_read_back_near(count):
    assert (
        parse_bytes(format_bytes(count).replace(" ", "")) == pytest.approx(count, rel=1e-3)
        if count < 1024
        else True
    )


def test_rates_and_speeds_are_read():
    assert parse_rate("308MB/s") == 308e6 and parse_rate(" 1.25 GB/s ") == 1.25e9
    assert (
        parse_rate("10Mbit/s") == 1.25e6
        and parse_rate("1KiB/s") == 1024
        and parse_rate("100Gbit/s") == 12.5e9
    )
    assert parse_flops("600Mflop/s") == 6e8 and parse_flops("2.5Tflop/s") == 2.5e12
    assert parse_operations("20Mop/s") == 2e7 and parse_operations("5op/s") == 5
    assert parse_seconds_per_byte("20ns/B") == 20e-9 and parse_seconds_per_byte("0s/B") == 0
    assert parse_seconds_per_byte("1/(308MB/s)") == 1 / 308e6


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("60 minutes", "60m"),
        ("1minute", "1m"),
        ("2.5 hrs", "2.5h"),
        ("100 usecs", "100us"),
        ("3 Seconds", "3s"),
    ],
)
def test_a_word_for_a_unit_of_time_gets_a_suggestion(text, meant):
    with pytest.raises(UsageError) as caught:
        parse_seconds(text)
    assert caught.value.fields["suggestion"] == meant and parse_seconds(meant) > 0


@given(st.floats(min_value=1e-6, max_value=1e6))
def test_a_time_as_typed_is_read_back_rounded_up(seconds):
    read = parse_seconds(format_time_option(seconds))
    assert seconds * (1 - 1e-6) <= read <= 1.11 * seconds


WRONG = {
    "not-a-quantity": {
        parse_bytes: ("x", "1..2", "0x10", "1 2"),
        parse_fraction: ("half", "nan"),
        parse_share: ("", "0,2"),
    },
    "negative-quantity": {
        parse_bytes: ("-1",),
        parse_seconds: ("1e999", "-1"),
        parse_rate: ("-1MB/s",),
        parse_share: ("-1%",),
    },
    "unknown-unit": {
        parse_bytes: ("1QB",),
        parse_seconds: ("1d",),
        parse_rate: ("1/s", "308/s", "10mbit/s"),
        parse_flops: ("1MB/s",),
        parse_operations: ("1Mflop/s",),
        parse_fraction: ("1s", "2kB"),
        parse_share: ("1s",),
    },
    "size-too-large": {parse_bytes: ("1048577GiB", "9" * 300)},
    "fractional-size": {parse_bytes: ("1.5", "0.3KiB")},
    "time-too-long": {parse_seconds: ("31000h", "31" + "0" * 9)},
    "quantity-without-divisor": {
        parse_rate: ("308", "1MB", "308MB/min"),
        parse_seconds_per_byte: ("20ns", "308MB/s", "1/308MB/s"),
    },
    "zero-quantity": {
        parse_rate: ("0MB/s",),
        parse_flops: ("0flop/s",),
        parse_operations: ("0Mop/s",),
        parse_seconds_per_byte: ("1/(0MB/s)",),
    },
    "fraction-out-of-range": {parse_fraction: ("0", "0%", "101%", "2"), parse_share: ("1.01", "101%")},
    "not-a-count": {parse_counts: ("0",)},
    "not-a-range": {parse_sizes: ("8:4",)},
}


@pytest.mark.parametrize("code", WRONG)
def test_what_is_wrong_has_a_code(code):
    for parse, texts in WRONG[code].items():
        for text in texts:
            with raises_code(code):
                parse(text)


@given(st.floats(1e-12, 1e6), st.floats(1e-12, 1e6))
def test_half_decades_have_their_ends_and_no_wide_gap(a, b):
    steps = half_decades(min(a, b), max(a, b))
    assert steps[0] == min(a, b) and steps[-1] == max(a, b)
    assert all(0 < y / x <= 10 / 3 * (1 + 1e-9) for x, y in pairwise(steps))
    assert all(float(repr(step)) == step and len(repr(step)) <= 8 for step in steps[1:-1])


@given(st.floats(1e-9, 1e6), st.floats(1, 1e6))
def test_half_decades_around_an_interval_enclose_it(low, factor):
    steps = half_decades_around(low, low * factor)
    assert steps[0] <= low * (1 + 1e-6) and steps[-1] >= low * factor * (1 - 1e-6)
    assert steps[0] > low / 3.4 and steps[-1] < low * factor * 3.4
    assert all(2.9 < b / a < 3.4 for a, b in pairwise(steps))


def test_seconds_per_byte_have_the_scale_of_seconds():
    assert format_value(21.8e-9, "s/B", 4) == "21.80 ns/B" and format_value(3e-6, "s/B") == "3.00 us/B"


@pytest.mark.parametrize(
    "text",
    [
        "8 B",
        "4 KiB",
        "40000 B",
        "1 MB",
        "1000001 B",
        "1.024 GB",
        "1 GB",
        "1.5 TB",
        "25 MB",
        "1 GiB",
        "16 MiB",
        "3 TiB",
    ],
)
def test_a_size_is_printed_in_the_units_in_which_it_was_typed(text):
    assert format_size(parse_bytes(text)) == text
