# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a field of `RunOptions` says about its option: the text on the command line and its parser, and
where else the option may be given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from hockney.core.errors import UsageError, printable
from hockney.core.layout import HostOptions
from hockney.core.units import parse_seconds

_OPTION = "option"


@dataclass(frozen=True)
class Option:
    """An option of a run. `shown` is its default as the help shows it, `negative` whether --no-NAME exists.
    `resumed`: `resume` may replace it; `of_side`: the sides of an interleaved comparison may differ in it."""

    help: str
    metavar: str = ""
    kind: str = "text"
    parse: Callable[[str], Any] | None = None
    shown: str = ""
    environ: str = ""
    flag: bool = False
    negative: bool = False
    multiple: bool = False
    resumed: bool = False
    of_side: bool = False


def run_option(default: Any, help: str, metavar: str = "", **traits: Any) -> Any:
    """A field of `RunOptions` with its default and the rest of its `Option`."""
    return field(default=default, metadata={_OPTION: Option(help, metavar, **traits)})


def options_of(kind: type) -> dict[str, tuple[Option, Any]]:
    """The option and the default of each field."""
    return {each.name: (each.metadata[_OPTION], each.default) for each in fields(kind)}


def budget(text: str) -> float:
    seconds = parse_seconds(text, "60s or 2m")
    if seconds <= 0:
        raise UsageError(
            f"'{printable(text)}' is not a time budget",
            "it must be greater than 0",
            "use for example 60s",
            code="budget-not-positive",
            text=text,
        )
    return seconds


def interval(text: str) -> float:
    seconds = parse_seconds(text, "1m or 8h")
    if seconds <= 0:
        raise UsageError(
            f"'{printable(text)}' is not an interval between rounds",
            "it must be greater than 0",
            "use for example 1m",
            code="interval-not-positive",
            text=text,
        )
    return seconds


def whole(low: int, high: int, example: str) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or len(text) > 20 or not low <= int(text) <= high:
            raise UsageError(
                f"'{printable(text)}' is out of range",
                f"expected an integer from {low} to {high}",
                f"use for example {example}",
                code="integer-out-of-range",
                text=text,
                low=low,
                high=high,
            )
        return int(text)

    return parse


def names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def starter(text: str) -> str:
    """ "" is hockney's choice. Raises UsageError."""
    return "" if text == "auto" else HostOptions(starter=text).starter
