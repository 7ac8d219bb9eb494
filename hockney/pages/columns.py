# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Columns, each declared once: its heading, its value as a function of a row, the value's format, and its key
in a JSON document. Tables and JSON objects are made from the same declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.pages.format import (
    format_share,
    format_signed,
    interval,
    quantity,
    ratio_interval,
    share_interval,
)


@dataclass(frozen=True)
class Format:
    """How to format a value and its interval. `numeric` values are aligned right."""

    text: Callable[[Any], str]
    numeric: bool = True
    interval: Callable[[Any], str] = lambda value: ""


def point_value(value: float | Estimate) -> float:
    return value.value if isinstance(value, Estimate) else value


def unit_format(unit: str) -> Format:
    """Return the format of quantities of this unit, which are numbers or estimates."""
    return Format(
        lambda value: quantity(point_value(value), unit), interval=lambda value: interval(value, unit)
    )


def _text(value: Any) -> str:
    """Return the value as text; an Amount stays an Amount."""
    return value if isinstance(value, str) else str(value)


def text_format(texts: Mapping[Any, str]) -> Format:
    return Format(texts.__getitem__, numeric=False)


TEXT_FORMAT = Format(_text, numeric=False)
COUNT_FORMAT = Format(_text)
SECONDS_FORMAT, SIZE_FORMAT, BANDWIDTH_FORMAT = unit_format("s"), unit_format("B"), unit_format("B/s")
SHARE_FORMAT = Format(lambda value: format_share(point_value(value)), interval=share_interval)
RATIO_FORMAT = Format(lambda value: f"{point_value(value):.2f}", interval=ratio_interval)
SIGNED_FORMAT = Format(format_signed)

Row = TypeVar("Row")
INTERVAL_HEADING = "95% interval"


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column without a `heading` is only in JSON documents; a column without a `key` is only in tables. In
    a table, `interval` is the heading of a second column for the value's interval, and `missing` the text for
    None. A `parameter` is an input rather than a result."""

    heading: str
    value: Callable[[Row], Any]
    format: Format = TEXT_FORMAT
    key: str = ""
    interval: str = ""
    missing: str = ""
    parameter: bool = False

    @property
    def headings(self) -> tuple[str, ...]:
        return (self.heading, self.interval) if self.interval else (self.heading,)

    def cells(self, row: Row) -> tuple[str, ...]:
        value = self.value(row)
        text = self.missing if value is None else self.format.text(value)
        if not self.interval:
            return (text,)
        return text, "" if value is None else self.format.interval(value)


def select_columns(
    columns: Iterable[Column[Row]], *headings: str | tuple[str, str]
) -> tuple[Column[Row], ...]:
    """Return the columns with these headings, in this order. A pair renames the column from its first to its
    second heading."""
    by_heading = {column.heading: column for column in columns}
    pairs = (pair if isinstance(pair, tuple) else (pair, pair) for pair in headings)
    return tuple(replace(by_heading[heading], heading=new_heading) for heading, new_heading in pairs)


def without_intervals(columns: Iterable[Column[Row]]) -> tuple[Column[Row], ...]:
    return tuple(replace(column, interval="") for column in columns)


def columns_table(
    name: str, title: str, columns: Iterable[Column[Row]], rows: Iterable[Row], caption: str = ""
) -> Table:
    titled_columns = [column for column in columns if column.heading]
    cell_columns = [column for column in titled_columns for _ in column.headings]
    return Table(
        name,
        title,
        tuple(heading for column in titled_columns for heading in column.headings),
        tuple(tuple(cell for column in titled_columns for cell in column.cells(row)) for row in rows),
        tuple(k for k, column in enumerate(cell_columns) if column.format.numeric),
        caption,
        tuple(k for k, column in enumerate(cell_columns) if column.parameter),
    )


def columns_document(columns: Iterable[Column[Row]], rows: Iterable[Row], *keys: str) -> list[dict[str, Any]]:
    """Return an object for each row, with the values of the columns with these keys (default: all columns
    with a key)."""
    by_key = {column.key: column for column in columns if column.key}
    return [{key: by_key[key].value(row) for key in keys or by_key} for row in rows]
