# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers, lists and ranges as users write them."""

from __future__ import annotations

from hockney.core.errors import UsageError, printable


def not_a_quantity(text: str, kind: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a {kind}",
        "",
        f"write a number with a unit, for example {example}",
        code="not-a-quantity",
        text=text,
        example=example,
    )


def negative_quantity(text: str, kind: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"a {kind} must be finite and not negative",
        f"use for example {example}",
        code="negative-quantity",
        text=text,
        example=example,
    )


def zero_quantity(text: str, kind: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"a {kind} must be greater than 0 and finite",
        f"use for example {example}",
        code="zero-quantity",
        text=text,
    )


def unknown_unit(unit: str, text: str, available: str, suggestion: str = "") -> UsageError:
    """`suggestion` is the same quantity with one of the `available` units; "" if it is not clear which."""
    return UsageError(
        f"unknown unit '{printable(unit)}' in '{printable(text)}'",
        "",
        f"use {available}" + (f", as in {suggestion}" if suggestion else ""),
        code="unknown-unit",
        unit=unit,
        suggestion=suggestion,
    )


def quantity_without_divisor(text: str, kind: str, divisor: str, example: str) -> UsageError:
    """A rate that has no "/s", a time per byte that has no "/B"."""
    return UsageError(
        f"'{printable(text)}' is not a {kind}",
        f"it must end in /{divisor}",
        f"use for example {example}",
        code="quantity-without-divisor",
        text=text,
        divisor=divisor,
    )


def size_too_large(text: str, limit: str) -> UsageError:
    return UsageError(
        f"size '{printable(text)}' is too large", f"the limit is {limit}", code="size-too-large", text=text
    )


def fractional_size(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a whole number of bytes",
        "",
        "use for example 4KiB",
        code="fractional-size",
        text=text,
    )


def time_too_long(text: str, limit_days: float) -> UsageError:
    return UsageError(
        f"time '{printable(text)}' is too long",
        f"the limit is {limit_days:g} days",
        code="time-too-long",
        text=text,
        limit_days=limit_days,
    )


def fraction_out_of_range(text: str, zero_allowed: bool) -> UsageError:
    limits = "from 0 to 1" if zero_allowed else "greater than 0 and at most 1"
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"a fraction must be {limits}",
        "use for example 2% or 0.02",
        code="fraction-out-of-range",
        text=text,
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


def range_of_shares(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is a range",
        "ranges of shares are not supported",
        "list the values, for example 0,1%,10%",
        code="range-of-shares",
        text=text,
    )


def range_from_zero(text: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a range",
        "times in a range must be greater than 0",
        f"use for example {example}",
        code="range-from-zero",
        text=text,
    )


def fractional_range(first: float, last: float) -> UsageError:
    return UsageError(
        f"'{first:g}:{last:g}' is not a range",
        "its ends must be whole numbers",
        "list the values one by one",
        code="fractional-range",
    )


def empty_list_element(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' has an empty element",
        "",
        "remove the extra comma",
        code="empty-list-element",
        text=text,
    )


def not_a_number(text: str, example: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' is not a number",
        "",
        f"use for example {example}" if example else "",
        code="not-a-number",
        text=text,
    )


def empty_value(kind: str, example: str) -> UsageError:
    return UsageError(
        "the value is empty",
        f"a {kind} is required",
        f"use for example {example}" if example else "",
        code="empty-value",
    )


def value_out_of_range(
    text: str, whole: bool, low: str, high: str, example: str, unit: str = ""
) -> UsageError:
    """`low` is "from 0" or "greater than 0", `high` "" if there is no limit."""
    noun = "whole number" if whole else "number"
    limit = f"{low} to {high}" if high else low
    return UsageError(
        f"'{printable(text)}' is out of range",
        f"expected a {noun} {limit}{' ' if unit else ''}{unit}",
        f"use for example {example}" if example else "",
        code="value-out-of-range",
        text=text,
    )
