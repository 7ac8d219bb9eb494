# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Bytes and seconds: parsed from user input, formatted for output.

Inside hockney all quantities are in bytes and seconds; only this module converts other units.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import TypeVar

from hockney.core.errors import UsageError, printable

Value = TypeVar("Value")

MAX_BYTES = 1 << 50
MAX_SECONDS = 30 * 86400.0

LARGE_BYTES = 1e7
"""Sizes from this one on are not printed in bytes."""

_BYTES_PER_UNIT = {
    "": 1, "b": 1,
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
    "word": 4, "words": 4,
}  # fmt: skip
_SECONDS_PER_UNIT = {
    "ns": "1e-9",
    "us": "1e-6",
    "µs": "1e-6",
    "ms": "1e-3",
    "": "1",
    "s": "1",
    "m": "60",
    "min": "60",
    "h": "3600",
}
_UNIT_NAMES = {
    "nanosecond": "ns",
    "microsecond": "us", "usec": "us",
    "millisecond": "ms", "msec": "ms",
    "second": "s", "sec": "s",
    "minute": "m", "min": "m",
    "hour": "h", "hr": "h",
}  # fmt: skip
# A longer exponent is not a valid size or time, and exceeds what Decimal accepts.
_NUMBER = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?)\s*([A-Za-zµ%]*)\s*")


def _split_quantity(text: str, kind: str, example: str) -> tuple[Decimal, str]:
    """Split a quantity into value and unit. The value is a Decimal, so that 5us equals 0.000005: a case's
    line is its identity."""
    match = _NUMBER.fullmatch(text)
    if not match:
        raise UsageError(
            f"'{printable(text)}' is not a {kind}",
            "",
            f"write a number with a unit, for example {example}",
            code="not-a-quantity",
            text=text,
            example=example,
        )
    value = Decimal(match.group(1))
    if not math.isfinite(float(value)) or value < 0:
        raise UsageError(
            f"'{printable(text)}' is out of range",
            f"a {kind} must be finite and not negative",
            f"use for example {example}",
            code="negative-quantity",
            text=text,
            example=example,
        )
    return value, match.group(2)


def parse_bytes(text: str) -> int:
    """Parse bytes from "0", "8", "4KiB", "40kB", "1000words". K, M, G alone are binary, kB, MB, GB decimal. A
    word has 4 bytes, as in papers that count in words."""
    value, unit = _split_quantity(text, "size", "4KiB or 40kB")
    factor = _BYTES_PER_UNIT.get(unit.lower())
    if factor is None:
        raise _unknown_unit(unit, text, "B, kB, MB, GB or KiB, MiB, GiB")
    result = value * factor
    if result > MAX_BYTES:
        raise UsageError(
            f"size '{printable(text)}' is too large",
            f"the limit is {format_bytes(MAX_BYTES)}",
            code="size-too-large",
            text=text,
        )
    if result != int(result):
        raise UsageError(
            f"'{printable(text)}' is not a whole number of bytes",
            "",
            "use for example 4KiB",
            code="fractional-size",
            text=text,
        )
    return int(result)


def parse_seconds(text: str, example: str = "100us or 60s") -> float:
    """Parse seconds from "60", "60s", "2m", "1.5h", "100us". Errors contain `example`."""
    value, unit = _split_quantity(text, "time", example)
    factor = _SECONDS_PER_UNIT.get(unit.lower())
    if factor is None:
        raise _unknown_unit(unit, text, "ns, us, ms, s, m or h", normalize_time(text))
    seconds = float(value * Decimal(factor))
    if seconds > MAX_SECONDS:
        limit_days = MAX_SECONDS / 86400
        raise UsageError(
            f"time '{printable(text)}' is too long",
            f"the limit is {limit_days:g} days",
            code="time-too-long",
            text=text,
            limit_days=limit_days,
        )
    return seconds


def parse_quantity(text: str) -> float:
    """Parse a plain number, seconds or bytes from "4096", "1.2ns", "8kB". Raises UsageError for units of
    both, such as m."""
    value, unit = _split_quantity(text, "number", "4096, 1.2ns or 8kB")
    if not unit:
        return float(value)
    is_time, is_size = (unit.lower() in units for units in (_SECONDS_PER_UNIT, _BYTES_PER_UNIT))
    if is_time == is_size:
        raise _unknown_unit(unit, text, "ns, us, ms, s, h or B, kB, MB, GB")
    return parse_seconds(text) if is_time else float(parse_bytes(text))


def normalize_time(text: str) -> str:
    """Return "60m" for "60 minutes"; empty if `text` is not a number followed by a unit of time."""
    match = _NUMBER.fullmatch(text)
    if not match:
        return ""
    number, unit = match.groups()
    singular = unit.lower().removesuffix("s")
    unit_name = unit if unit in _SECONDS_PER_UNIT else _UNIT_NAMES.get(singular, "")
    return f"{number}{unit_name}" if unit_name else ""


def format_time_option(seconds: float) -> str:
    """Format a time of at least `seconds` as the value of an option: 75s, 12m, 2.5h."""
    units = ((1e-3, 1e-6, "us"), (1.0, 1e-3, "ms"), (120.0, 1.0, "s"), (7200.0, 60.0, "m"))
    suitable_units = ((factor, unit) for limit, factor, unit in units if seconds < limit)
    factor, unit = next(suitable_units, (3600.0, "h"))
    value = seconds / factor
    step = 10.0 ** (math.floor(math.log10(value)) - 1) if value > 0 else 1.0
    return f"{math.ceil(round(value / step, 9)) * step:.6g}{unit}"


def parse_rate(text: str) -> float:
    """Parse bytes per second from "308MB/s", "1.25GB/s", "10Mbit/s"."""
    amount = _strip_divisor(text, "s", "rate", "308MB/s or 10Mbit/s")
    value, unit = _split_quantity(amount, "rate", "308MB/s or 10Mbit/s")
    factor = _BYTES_PER_UNIT.get(unit.lower()) if unit else None
    bits = re.fullmatch(r"([kMGT]?)bit", unit)
    if bits:
        factor, value = _BYTES_PER_UNIT[f"{bits[1].lower()}b"], value / 8
    if factor is None:
        raise _unknown_unit(f"{unit}/s", text, "B/s, kB/s, MB/s, GB/s or Mbit/s, Gbit/s")
    return _check_positive(float(value * factor), text, "rate", "308MB/s")


def parse_flops(text: str) -> float:
    """Parse floating point operations per second from "600Mflop/s", "2.5Gflop/s"."""
    return _per_second(text, "flop", "computing speed", "600Mflop/s")


def parse_operations(text: str) -> float:
    """Parse operations per second from "20Mop/s"."""
    return _per_second(text, "op", "rate of operations", "20Mop/s")


def _per_second(text: str, noun: str, name: str, example: str) -> float:
    amount = _strip_divisor(text, "s", name, example)
    value, unit = _split_quantity(amount, name, example)
    match = re.fullmatch(rf"([kMGT]?){noun}", unit)
    if not match:
        raise _unknown_unit(f"{unit}/s", text, f"M{noun}/s, G{noun}/s or T{noun}/s")
    return _check_positive(float(value * _BYTES_PER_UNIT[f"{match[1].lower()}b"]), text, name, example)


def parse_seconds_per_byte(text: str) -> float:
    """Parse seconds per byte from "20ns/B" or, as the inverse of a rate, "1/(308MB/s)"."""
    inverse = re.fullmatch(r"\s*1\s*/\s*\(([^()]*)\)\s*", text)
    if inverse:
        return 1 / parse_rate(inverse[1])
    return parse_seconds(_strip_divisor(text, "B", "time per byte", "20ns/B or 1/(308MB/s)"), "20ns/B")


def _strip_divisor(text: str, divisor: str, kind: str, example: str) -> str:
    """Return the part before the / of "308MB/s"."""
    amount, slash, denominator = text.partition("/")
    if not slash or denominator.strip() != divisor:
        raise UsageError(
            f"'{printable(text)}' is not a {kind}",
            f"it must end in /{divisor}",
            f"use for example {example}",
            code="quantity-without-divisor",
            text=text,
            divisor=divisor,
        )
    return amount


def _check_positive(value: float, text: str, kind: str, example: str) -> float:
    if not 0 < value < math.inf:
        raise UsageError(
            f"'{printable(text)}' is out of range",
            f"a {kind} must be greater than 0 and finite",
            f"use for example {example}",
            code="zero-quantity",
            text=text,
        )
    return value


def parse_fraction(text: str) -> float:
    """Parse a fraction in (0, 1] from "2%" or "0.02"."""
    return _parse_fraction(text, zero_allowed=False)


def parse_share(text: str) -> float:
    """Parse a fraction in [0, 1] from "1%", "0.01" or "0"."""
    return _parse_fraction(text, zero_allowed=True)


def _parse_fraction(text: str, *, zero_allowed: bool) -> float:
    value, unit = _split_quantity(text, "fraction", "2% or 0.02")
    if unit not in ("", "%"):
        raise _unknown_unit(unit, text, "2% or 0.02")
    fraction = float(value / 100 if unit == "%" else value)
    if fraction > 1 or (fraction == 0 and not zero_allowed):
        limits = "from 0 to 1" if zero_allowed else "greater than 0 and at most 1"
        raise UsageError(
            f"'{printable(text)}' is out of range",
            f"a fraction must be {limits}",
            "use for example 2% or 0.02",
            code="fraction-out-of-range",
            text=text,
        )
    return fraction


def half_decades(first: float, last: float) -> list[float]:
    """Return `first`, 1 and 3 times the powers of ten between, and `last`. Each value is exact as typed, so
    that 30us is the same in every list."""
    return sorted({first, *(step for step in _half_decades(first, last) if first < step < last), last})


def half_decades_around(low: float, high: float) -> list[float]:
    """Return 1 and 3 times powers of ten, from the last one not above `low` to the first one not below
    `high`."""
    steps = _half_decades(low, high)
    first = max(step for step in steps if step <= low * (1 + 1e-9))
    last = min(step for step in steps if step >= high * (1 - 1e-9))
    return [step for step in steps if first <= step <= last]


def _half_decades(low: float, high: float) -> list[float]:
    """Return 1 and 3 times every power of ten from below `low` to above `high`."""
    powers = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    return [float(f"{digit}e{power}") for power in powers for digit in (1, 3)]


def parse_counts(text: str, noun: str = "ranks") -> tuple[int, ...]:
    """Parse positive integers from "1,2,4" or "1:8" (doubling); sorted and distinct."""
    return _parse_list(text, lambda part: _parse_count(part, noun))


def parse_sizes(text: str) -> tuple[int, ...]:
    """Parse sizes from "0,8,4KiB" or "0:4MiB" (0, then powers of two); sorted and distinct."""
    return _parse_list(text, parse_bytes)


def _parse_count(text: str, noun: str) -> int:
    match = re.fullmatch(r"\s*(\d{1,7})\s*", text)
    if not match or int(match[1]) < 1:
        raise not_a_count(text, noun)
    return int(match[1])


def _parse_list(text: str, parse_item: Callable[[str], int]) -> tuple[int, ...]:
    values: set[int] = set()
    for part in text.split(","):
        bounds = [parse_item(bound) for bound in part.split(":")]
        if len(bounds) == 1:
            values.add(bounds[0])
        elif len(bounds) == 2 and bounds[0] <= bounds[1]:
            values.update(doubling_series(bounds[0], bounds[1]))
        else:
            raise not_a_range(part, "0:4MiB")
    return tuple(sorted(values))


def doubling_series(first: int, last: int) -> list[int]:
    """Return `first`, the powers of two between, and `last`: 0:8 gives 0, 1, 2, 4, 8."""
    inner = [1 << k for k in range(last.bit_length() + 1) if first < 1 << k < last]
    return sorted({first, *inner, last})


def thin_out(values: Sequence[Value], max_count: int) -> tuple[Value, ...]:
    """Return at most `max_count` of `values`, evenly spread, including the first and the last."""
    if len(values) <= max_count:
        return tuple(values)
    step = (len(values) - 1) / (max_count - 1)
    return tuple(values[round(k * step)] for k in range(max_count))


def format_bytes(count: float) -> str:
    """Format with binary units: 8 B, 4 KiB, 1.5 MiB."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024 or unit == "TiB":
            return f"{value:.4g} {unit}"
        value /= 1024
    raise AssertionError("unreachable")


def format_size(count: float) -> str:
    """Format exact bytes as a user would type them: with binary units if the result is an integer, large
    sizes in decimal units if that gives an integer: 4 KiB, 40000 B, 1 MB."""
    if count % 2**20 == 0 or count % 10**6:
        return f"{count:.15g} B" if count < LARGE_BYTES and count % 2**10 else format_bytes(count)
    factor, unit = next(scale for scale in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")) if count >= scale[0])
    return f"{count / factor:.10g} {unit}"


def format_seconds(seconds: float, digits: int = 3) -> str:
    """Format with three significant digits and a suitable unit: 435 ns, 1.03 us, 2.5 ms, 1m40s."""
    if not math.isfinite(seconds):
        return "unknown"
    size = abs(seconds)
    if size >= 100:
        minutes, remaining_s = divmod(round(seconds), 60)
        return f"{minutes // 60}h{minutes % 60:02d}m" if minutes >= 60 else f"{minutes}m{remaining_s:02d}s"
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if size < limit * (1 - 10**-digits / 2):
            return f"{format_significant(seconds * factor, digits)} {unit}"
    return f"{format_significant(seconds, digits)} s"


def format_bit_rate(bytes_per_second: float) -> str:
    """Format the rate of a network: "10 Mbit/s"."""
    return format_rate(bytes_per_second * 8).replace("B/s", "bit/s")


def format_rate(bytes_per_second: float) -> str:
    """Format a bandwidth in decimal units, as usual for networks: 9.42 GB/s."""
    value = bytes_per_second
    for unit in ("B/s", "kB/s", "MB/s", "GB/s"):
        if abs(value) < 999.5 or unit == "GB/s":
            return f"{format_significant(value, 3)} {unit}"
        value /= 1000
    raise AssertionError("unreachable")


PERCENT = "%"
"""Unit of fractions that are displayed in percent."""


def format_value(value: float, unit: str, digits: int = 3) -> str:
    """Format a value for display. `unit` is "s", "s/B", "B", "B/s", "%" for a fraction, or a word that
    follows the number."""
    if unit == PERCENT:
        percent = 100 * value
        integer_digits = len(str(int(abs(percent)))) if math.isfinite(percent) else 0
        return f"{percent:.{max(digits, 3, integer_digits)}g}%"
    if unit == "s":
        return format_seconds(value, digits)
    if unit == "s/B":
        return f"{format_seconds(value, digits)}/B"
    if unit == "B":
        return format_bytes(value)
    if unit == "B/s":
        return format_rate(value)
    return f"{value:.{15 if float(value).is_integer() else digits}g} {unit}".rstrip()


_SCALES = {
    "s": ((1e-9, "ns"), (1e-6, "us"), (1e-3, "ms"), (1.0, "s")),
    "B/s": ((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")),
    PERCENT: ((0.01, "%"),),
    "B": ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB")),
}


def format_interval(value: float, low: float | None, high: float | None, unit: str) -> str:
    """Format a value and its interval in one unit, with the digits that the interval justifies: 435 ns [430,
    441].

    The value has at least three significant digits, and more if the interval is so narrow that half its width
    would vanish. An interval that is unknown or has no width is omitted.
    """
    if low == high == value:
        return format_value(value, unit)
    if low is None or high is None or not all(map(math.isfinite, (value, low, high))):
        return format_value(value, unit)
    size = abs(value) or max(abs(low), abs(high))
    scales = _SCALES.get(unit, ((1.0, unit),))
    factor, name = next((scale for scale in reversed(scales) if size >= scale[0] * 0.9995), scales[0])
    scaled = [number / factor for number in (value, low, high)]
    digits = 2 - math.floor(math.log10(size / factor)) if size else 0
    half_width = (high - low) / factor / 2
    if 0 < half_width < math.inf:
        digits = max(digits, math.ceil(-math.log10(half_width)))
    if unit == "B" and all(number.is_integer() for number in scaled):
        digits = 0
    value_digits, low_text, high_text = (f"{number:.{min(max(digits, 0), 6)}f}" for number in scaled)
    value_text = f"{value_digits}%" if unit == PERCENT else f"{value_digits} {name}".rstrip()
    return f"{value_text} [{low_text}, {high_text}]"


def format_significant(value: float, digits: int) -> str:
    """Format with this number of significant digits, with trailing zeros and without an exponent."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    rounded = round(value, digits - 1 - math.floor(math.log10(abs(value))))
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


def format_number(value: float, digits: int = 3) -> str:
    """Format `value` with at most `digits` significant digits, without an exponent or trailing zeros."""
    return "<0.001" if 0 < value < 1e-3 else f"{float(f'{value:.{digits}g}'):.15g}"


def format_factor(factor: float) -> str:
    """Format as "a factor of 2.4", for values above 100%."""
    return f"a factor of {format_number(factor, 2)}"


def half_width_factor(width: float) -> float:
    """Return the factor by which an interval with this relative half width extends on a log scale."""
    return math.exp(math.asinh(width))


def format_percent(fraction: float, digits: int = 3) -> str:
    """Format a fraction as 82.2%, 0.181%, 50%."""
    return "<0.01%" if 0 < fraction < 1e-4 else f"{format_number(100 * fraction, digits)}%"


def format_date(seconds: float) -> str:
    """Format seconds since 1970 as "2026-01-31 09:30" in UTC; "" for a date outside the calendar's range."""
    try:
        date = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return ""
    return date.strftime("%Y-%m-%d %H:%M")


def _unknown_unit(unit: str, text: str, available: str, suggestion: str = "") -> UsageError:
    """Return the error for an unknown unit. `suggestion` is the same quantity with one of the `available`
    units; "" if ambiguous."""
    return UsageError(
        f"unknown unit '{printable(unit)}' in '{printable(text)}'",
        "",
        f"use {available}" + (f", as in {suggestion}" if suggestion else ""),
        code="unknown-unit",
        unit=unit,
        suggestion=suggestion,
    )


def not_a_range(text: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a range",
        "",
        f"write FIRST:LAST with FIRST <= LAST, for example {example}",
        code="not-a-range",
        text=text,
    )


def not_a_count(text: str, noun: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a number of {noun}",
        "",
        "write a whole number from 1 to 9999999, for example 1,2,4",
        code="not-a-count",
        text=text,
    )


def value_out_of_range(
    text: str, is_integer: bool, low: str, high: str, example: str, unit: str = ""
) -> UsageError:
    """Return the error for a number outside its limits. `low` is "from 0" or "greater than 0", `high` is ""
    without a limit."""
    noun = "whole number" if is_integer else "number"
    limit = f"{low} to {high}" if high else low
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"expected a {noun} {limit}{' ' if unit else ''}{unit}",
        f"use for example {example}" if example else "",
        code="value-out-of-range",
        text=text,
    )
