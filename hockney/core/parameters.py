# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of studies, and lists of values for parameters of any kind.

A list is written with commas; numbers also take ranges, whose steps depend on the kind:

    sizes, counts    0:4MiB       powers of two
    times            10us:10ms    1 and 3 times powers of ten
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hockney.core.catalog import unknown_parameter, unknown_value
from hockney.core.errors import UsageError, printable
from hockney.core.units import (
    doubling_series,
    half_decades,
    not_a_range,
    parse_bytes,
    parse_seconds,
    parse_share,
    value_out_of_range,
)

Kind = Literal["integer", "real", "choice", "text", "path"]


@dataclass(frozen=True)
class StudyParameter:
    """A parameter of a study, in addition to ranks and sizes.

    `unit` of a number is "B", "s", "share" (1% or 0.01) or "" (a plain number). `low` and `high` are
    inclusive limits, `above` is an exclusive lower limit. With `many` the user may give a list; the value is
    a tuple, sorted if it contains numbers. With an empty `default` the study decides: the value is then None,
    or () with `many`. A `path` is not opened, except for those called `survey` and `topology`: a run
    (`Options.survey`) and a file (`Machine.topology`) that are read before the study plans.
    """

    name: str
    kind: Kind
    help: str
    unit: str = ""
    default: str = ""
    low: float = 0.0
    high: float = math.inf
    above: float | None = None
    choices: tuple[str, ...] = ()
    many: bool = False
    example: str = ""

    @property
    def metavar(self) -> str:
        """Parameter as shown in help texts: work=TIME,..."""
        noun = {"B": "SIZE", "s": "TIME", "share": "SHARE", "": "N"}[self.unit]
        if self.kind not in ("integer", "real"):
            noun = "|".join(self.choices) or self.kind.upper()
        return f"{self.name}={noun}{',...' if self.many else ''}"

    @property
    def description(self) -> str:
        """Help text with an example, and the default if it is fixed."""
        example = f"; as {self.name}={self.example}" if self.example else ""
        return f"{self.help}{example}" + (f"  [default: {self.default}]" if self.default else "")

    def value(self, text: str | None = None) -> Any:
        """Return the value of `text` in its type, or the default for None. Raises UsageError."""
        if text is None and not self.default:
            return () if self.many else None
        value_text = self.default if text is None else text
        try:
            if not self.many:
                return self._parse_one(value_text)
            values = dict.fromkeys(
                self._parse_one(part) for part in list_values(self.kind, self.unit, value_text)
            )
            return tuple(sorted(values)) if self.kind in ("integer", "real") else tuple(values)
        except UsageError as error:
            raise error.with_context(f"{self.name}={printable(value_text)}") from error

    def _parse_one(self, text: str) -> Any:
        if self.kind == "choice":
            if text not in self.choices:
                raise unknown_value(text, self.name, self.choices)
            return text
        if self.kind in ("text", "path"):
            if not text or "\0" in text:
                raise UsageError(
                    "the value is empty",
                    f"a {self.kind} is required",
                    f"use for example {self._example}" if self._example else "",
                    code="empty-value",
                )
            return Path(text) if self.kind == "path" else text
        value = _parse_number(self.unit, text, self._example)
        is_in_range = self.low <= value <= self.high and (self.above is None or value > self.above)
        if not is_in_range or (self.kind == "integer" and value != int(value)):
            raise self._out_of_range(text)
        return int(value) if self.kind == "integer" else value

    def _out_of_range(self, text: str) -> UsageError:
        low = f"from {self.low:g}" if self.above is None else f"greater than {self.above:g}"
        high = "" if self.high == math.inf else f"{self.high:g}"
        return value_out_of_range(text, self.kind == "integer", low, high, self._example)

    @property
    def _example(self) -> str:
        """An example NAME=VALUE; "" if there is none."""
        value = self.example or self.default
        return f"{self.name}={value}" if value else ""


def parse_parameters(
    declared: Iterable[StudyParameter], raw: Mapping[str, str], owner: str
) -> dict[str, Any]:
    """Parse the values of `raw` (NAME: text). Raises UsageError, also for a name that is not declared."""
    by_name = {parameter.name: parameter for parameter in declared}
    for name in raw:
        if name not in by_name:
            raise unknown_parameter(name, owner, by_name)
    return {name: by_name[name].value(text) for name, text in raw.items()}


def list_values(kind: str, unit: str, text: str) -> tuple[str, ...]:
    """Return the distinct values listed in `text`, as texts: numbers ascending, others in the given order.

    Colons mean a range of numbers; in texts they belong to the value (shares=equal,3:1). Raises UsageError
    for a range that does not ascend and for an empty part.
    """
    parts = text.split(",")
    if kind not in ("integer", "real"):
        if not all(parts):
            raise UsageError(
                f"'{printable(text)}' has an empty element",
                "",
                "remove the extra comma",
                code="empty-list-element",
                text=text,
            )
        return tuple(dict.fromkeys(parts))
    if len(parts) == 1 and ":" not in text:
        return (text,)
    values: dict[float, str] = {}
    for part in parts:
        bounds = part.split(":")
        if len(bounds) == 1:
            values.setdefault(_parse_number(unit, part, ""), part)
        else:
            values.update({step: _format_number(step) for step in _parse_range(unit, part, bounds)} | values)
    return tuple(values[value] for value in sorted(values))


def _parse_range(unit: str, part: str, bounds: list[str]) -> list[float]:
    steps: Callable[[Any, Any], Iterable[float]] = half_decades if unit == "s" else _doubling_steps
    if unit == "share":
        raise UsageError(
            f"'{printable(part)}' is a range",
            "ranges of shares are not supported",
            "list the values, for example 0,1%,10%",
            code="range-of-shares",
            text=part,
        )
    first, last = (_parse_number(unit, bound, "") for bound in (bounds[0], bounds[-1]))
    example = "10us:10ms" if unit == "s" else "1:8"
    if len(bounds) > 2 or first > last:
        raise not_a_range(part, example)
    if unit == "s" and first <= 0:
        raise UsageError(
            f"'{printable(part)}' is not a range",
            "times in a range must be greater than 0",
            f"use for example {example}",
            code="range-from-zero",
            text=part,
        )
    return list(steps(first, last))


def _doubling_steps(first: float, last: float) -> list[int]:
    if first != int(first) or last != int(last):
        raise UsageError(
            f"'{first:g}:{last:g}' is not a range",
            "its ends must be whole numbers",
            "list the values one by one",
            code="fractional-range",
        )
    return doubling_series(int(first), int(last))


def _parse_number(unit: str, text: str, example: str) -> float:
    if unit == "B":
        return parse_bytes(text)
    if unit == "s":
        return parse_seconds(text)
    if unit == "share":
        return parse_share(text)
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(
            f"'{printable(text)}' is not a number",
            "",
            f"use for example {example}" if example else "",
            code="not-a-number",
            text=text,
        )
    return value


def _format_number(value: float) -> str:
    return str(value) if isinstance(value, int) else repr(value)
