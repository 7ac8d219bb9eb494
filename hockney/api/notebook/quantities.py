# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Quantities in Python programs: numbers (seconds, bytes, fractions), or words as on the command line
("100us", "40kB", "1%")."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import SupportsFloat, SupportsIndex, TypeVar, get_args

from hockney.core.case import format_value
from hockney.core.errors import UsageError, printable, unknown
from hockney.core.fit import Cost
from hockney.core.units import (
    parse_bytes,
    parse_counts,
    parse_fraction,
    parse_seconds,
    parse_share,
    parse_sizes,
)

Quantity = str | SupportsFloat | SupportsIndex
Quantities = Quantity | Iterable[Quantity]

T = TypeVar("T")


def as_word(value: Quantity) -> str:
    """A number as text that the command line reads back exactly. Raises UsageError for anything else."""
    if isinstance(value, str):
        return value
    try:
        if isinstance(value, SupportsIndex):
            return str(operator.index(value))
        return format_value(float(value))
    except (TypeError, ValueError):  # also an array of several numbers
        kind = type(value).__name__
        raise UsageError(
            f"a value of type {printable(kind)} is not a quantity",
            "",
            'use a number, or text such as "40kB" or "100us"',
            code="not-a-quantity-type",
            kind=kind,
        ) from None


def as_words(values: Quantities) -> str:
    """One or several, separated by commas."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return as_word(values)
    return ",".join(map(as_word, values))


def _one(parse: Callable[[str], T]) -> Callable[[Quantity], T]:
    return lambda value: parse(as_word(value))


def _several(parse: Callable[[str], tuple[int, ...]]) -> Callable[[Quantities], tuple[int, ...]]:
    def read(values: Quantities) -> tuple[int, ...]:
        words = as_words(values)
        return parse(words) if words else ()

    return read


seconds = _one(parse_seconds)
size = _one(parse_bytes)
fraction = _one(parse_fraction)
share = _one(parse_share)
counts = _several(parse_counts)
sizes = _several(parse_sizes)


def share_of(name: str, value: Quantity) -> float:
    """The share given for the keyword `name`. Raises UsageError."""
    try:
        return share(value)
    except UsageError as error:
        raise error.inside(name) from error


def seconds_of(name: str, value: Quantity) -> float:
    """The time `value`, in seconds; an error has the `name` of the argument."""
    try:
        return seconds(value)
    except UsageError as error:
        raise error.inside(name) from error


def check_cost(cost: str) -> None:
    """Raises UsageError for an unknown cost."""
    if cost not in get_args(Cost):
        raise unknown("cost", cost, get_args(Cost), code="unknown-cost-word")
