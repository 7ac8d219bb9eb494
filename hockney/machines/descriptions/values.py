# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One value of a machine file: a number in SI units, or a string with its unit.

The name of a key alone decides its meaning: `latency_s` is always a time.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hockney.core.errors import UsageError, printable, unknown
from hockney.core.units import (
    MAX_BYTES,
    MAX_SECONDS,
    parse_bytes,
    parse_flops,
    parse_operations,
    parse_rate,
    parse_seconds,
    parse_seconds_per_byte,
)

MOST = 10**7
"""The maximum number of ranks of a case; more nodes or cores are considered a typing error."""
MOST_SEED = 2**31 - 1
MOST_RATE = 1e18
MOST_FLOPS = 1e21

WORD = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
NAME = re.compile(rf"{WORD.pattern}(\+{WORD.pattern})*")
"""A machine's name is followed by its variants."""


@dataclass(frozen=True)
class Place:
    """Position of a value for error messages: the file and the key."""

    where: str
    key: str

    def at(self, key: str) -> Place:
        return Place(self.where, f"{self.key}.{key}" if self.key else key)

    def item(self, index: int) -> Place:
        return Place(self.where, f"{self.key}[{index}]")

    @property
    def label(self) -> str:
        """Beginning of an error message."""
        return f"{printable(self.where)}: {printable(self.key)}" if self.key else printable(self.where)


@dataclass(frozen=True)
class Quantity:
    """A kind of number: the parser of strings with units, and the range of plain numbers from `low` to
    `high`, without 0 if `positive`."""

    name: str
    parse: Callable[[str], float]
    example: str
    high: float
    positive: bool = False
    whole: bool = False
    low: float = 0.0

    def read(self, value: Any, place: Place) -> float | int:
        if isinstance(value, str):
            try:
                value = self.parse(value)
            except UsageError as error:
                raise error.with_context(place.label) from error
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise UsageError(
                f"{place.label} is {kind_of(value)}",
                f"a {self.name} is expected",
                f"use for example {self.example}",
                code="quantity-expected",
                place=place.label,
            )
        if self.whole and not isinstance(value, int):
            raise UsageError(
                f"{place.label} = {value!s} is not a {self.name}",
                "a whole number is expected",
                f"use for example {self.example}",
                code="whole-number-expected",
                place=place.label,
            )
        if not self.low <= value <= self.high or (self.positive and value == 0):
            limits = (
                f"greater than 0 and at most {self.high:g}"
                if self.positive and not self.low
                else f"from {self.low:g} to {self.high:g}"
            )
            raise UsageError(
                f"{place.label} = {_shorten(value)} is out of range",
                f"a {self.name} must be {limits}",
                f"use for example {self.example}",
                code="outside-limits",
                place=place.label,
                high=self.high,
            )
        return value if self.whole else float(value)


SECONDS = Quantity("time", parse_seconds, '"10.5us"', MAX_SECONDS)
PER_BYTE = Quantity("time per byte", parse_seconds_per_byte, '"20ns/B" or "1/(308MB/s)"', MAX_SECONDS)
BYTES = Quantity("size", parse_bytes, '"4KiB" or 4096', MAX_BYTES, whole=True)
RATE = Quantity("rate", parse_rate, '"308MB/s"', MOST_RATE, positive=True)
FLOPS = Quantity("computing speed", parse_flops, '"600Mflop/s"', MOST_FLOPS, positive=True)
OPERATIONS = Quantity("rate of operations", parse_operations, '"20Mop/s"', MOST_RATE, positive=True)


def no_text(text: str) -> float:
    """Parser of numbers without a unit, which rejects strings."""
    raise UsageError(
        f"'{printable(text)}' is not a number",
        "this value has no unit",
        "write the number without quotes",
        code="number-without-unit-expected",
    )


COUNT = Quantity("count", no_text, "8", MOST, positive=True, whole=True)
INDEX = Quantity("number from 0", no_text, "0", MOST, whole=True)
SEED = Quantity("whole number", no_text, "1", MOST_SEED, whole=True)
FRACTION = Quantity("spread", no_text, "0.05", 10.0)


def text_value(value: Any, place: Place) -> str:
    if not isinstance(value, str):
        raise UsageError(
            f"{place.label} is {kind_of(value)}",
            "text is expected",
            "put it in quotes",
            code="text-expected",
            place=place.label,
        )
    return value


def nonempty_text(value: Any, place: Place) -> str:
    """Read a string that is not empty."""
    if not text_value(value, place).strip():
        raise UsageError(
            f"{place.label} is empty", "", "describe it in a few words", code="empty-text", place=place.label
        )
    return value


def machine_name(value: Any, place: Place) -> str:
    """Read a machine's name: lower-case letters, digits, dots and dashes, with variants after a +."""
    if not NAME.fullmatch(text_value(value, place)):
        raise bad_name(place.label, value, "t3e")
    return value


def choice_of(allowed: tuple[str, ...]) -> Callable[[Any, Place], str]:
    def read(value: Any, place: Place) -> str:
        if text_value(value, place) not in allowed:
            error = unknown("value", value, allowed, code="unknown-choice")
            remedy = f"did you mean '{error.suggestion}'?" if error.suggestion else ""
            raise UsageError(
                f"{place.label} = '{printable(value)}' is unknown",
                f"available: {', '.join(allowed)}",
                remedy,
                code="unknown-choice",
                place=place.label,
                suggestion=error.suggestion,
            )
        return value

    return read


def list_of(item_reader: Callable[[Any, Place], Any]) -> Callable[[Any, Place], tuple[Any, ...]]:
    def read(value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, list):
            table = place.key if isinstance(value, dict) else ""
            raise list_expected(place.label, kind_of(value), table)
        return tuple(item_reader(item, place.item(k)) for k, item in enumerate(value))

    return read


def one_or_list_of(item_reader: Callable[[Any, Place], Any]) -> Callable[[Any, Place], tuple[Any, ...]]:
    """Reader of a list whose only item may be written without brackets."""
    read_list = list_of(item_reader)
    return lambda value, place: read_list(value if isinstance(value, list) else [value], place)


def kind_of(value: Any) -> str:
    names = (
        (bool, "true or false"),
        (str, "text"),
        (int | float, "a number"),
        (list, "a list"),
        (dict, "a table"),
    )
    return next((name for kind, name in names if isinstance(value, kind)), "a date or time")


def _shorten(value: float) -> str:
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a number of more than 20 digits"
    return "not a number" if math.isnan(value) else f"{value:g}"


def bad_name(place: str, name: str, example: str) -> UsageError:
    return UsageError(
        f"{place} = '{printable(name)}' is not a valid name",
        "only lower-case letters, digits, '-', '_' and '.' are allowed",
        f"use for example {example}",
        code="bad-name",
        place=place,
    )


def list_expected(place: str, actual: str, table: str) -> UsageError:
    """Error for a value that is not a list. `table` is the key of a table where a list of tables is expected,
    "" for other values."""
    remedy = f"write [[{table}]]" if table else "put it in [ ]"
    return UsageError(f"{place} is {actual}", "a list is expected", remedy, code="list-expected", place=place)


def origin_of_nothing(place: str, key: str, example: str) -> UsageError:
    return UsageError(
        f"{place} = '{printable(key)}' is not a key of this file",
        "an origin names a key of the file and gives its source",
        f"use for example {example}",
        code="origin-of-nothing",
        place=place,
    )
