# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Columns, each declared once: its heading, its value as a function of a row, how the value is shown, and its
key in a JSON document. Tables and the objects of documents are made from the same declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.pages.format import interval, percent, quantity, ratio_interval, share_interval, signed


@dataclass(frozen=True)
class Format:
    """The text of a value, which is aligned right if it is `numeric`, and the text of its interval."""

    text: Callable[[Any], str]
    numeric: bool = True
    interval: Callable[[Any], str] = lambda value: ""


def number(value: float | Estimate) -> float:
    return value.value if isinstance(value, Estimate) else value


def in_unit(unit: str) -> Format:
    """Quantities of this unit, which are numbers or estimates."""
    return Format(lambda value: quantity(number(value), unit), interval=lambda value: interval(value, unit))


def _text(value: Any) -> str:
    """An Amount remains one."""
    return value if isinstance(value, str) else str(value)


def words(by_value: Mapping[Any, str]) -> Format:
    return Format(by_value.__getitem__, numeric=False)


TEXT = Format(_text, numeric=False)
COUNT = Format(_text)
SECONDS, SIZE, BANDWIDTH = in_unit("s"), in_unit("B"), in_unit("B/s")
SHARE = Format(lambda value: percent(number(value)), interval=share_interval)
RATIO = Format(lambda value: f"{number(value):.2f}", interval=ratio_interval)
SIGNED = Format(signed)

Row = TypeVar("Row")
INTERVAL = "95% interval"


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column without a `heading` is only in documents, one without a `key` only in tables. In a table,
    `interval` is the heading of a second column, of the value's interval, and `missing` is the text if the
    value is None. A `parameter` is what was chosen rather than found."""

    heading: str
    value: Callable[[Row], Any]
    format: Format = TEXT
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


def chosen(columns: Iterable[Column[Row]], *headings: str | tuple[str, str]) -> tuple[Column[Row], ...]:
    """The columns with these headings, in this order; a pair replaces the first heading by the second."""
    by_heading = {column.heading: column for column in columns}
    pairs = (pair if isinstance(pair, tuple) else (pair, pair) for pair in headings)
    return tuple(replace(by_heading[heading], heading=new_heading) for heading, new_heading in pairs)


def without_intervals(columns: Iterable[Column[Row]]) -> tuple[Column[Row], ...]:
    return tuple(replace(column, interval="") for column in columns)


def columns_table(
    name: str, title: str, columns: Iterable[Column[Row]], rows: Iterable[Row], caption: str = ""
) -> Table:
    titled_columns = [column for column in columns if column.heading]
    spread = [column for column in titled_columns for _ in column.headings]
    return Table(
        name,
        title,
        tuple(heading for column in titled_columns for heading in column.headings),
        tuple(tuple(cell for column in titled_columns for cell in column.cells(row)) for row in rows),
        tuple(k for k, column in enumerate(spread) if column.format.numeric),
        caption,
        tuple(k for k, column in enumerate(spread) if column.parameter),
    )


def columns_document(columns: Iterable[Column[Row]], rows: Iterable[Row], *keys: str) -> list[dict[str, Any]]:
    """An object for each row: the values of the columns with these keys, by default of all that have one."""
    by_key = {column.key: column for column in columns if column.key}
    return [{key: by_key[key].value(row) for key in keys or by_key} for row in rows]
