# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Output of tables, prose and documents on stdout.

Tables fit a width: units appear once per column, and constant parameters once above the table. If the width
does not suffice, headings are wrapped, then text in cells. Remaining columns are continued below, with the
first column repeated."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
import msgspec

from hockney.cli.output.terminal import apply_colour, echo, width, wrap_text
from hockney.core.errors import one_line
from hockney.draw.amount import Amount, scaled, shortest_scale, unit_of
from hockney.draw.page import Table
from hockney.measurement.events import Finding

MARGIN = " " * 5
"""Below a finding's verdict."""


def text_table(table: Table, keys: int = 1, *, keep_columns: bool = False) -> str:
    """Format aligned columns, two spaces apart, within the width of stdout. Cells are printable, on one line
    each if the width allows it. The first `keys` columns distinguish the rows. With `keep_columns`, no column
    is moved above the table."""
    columns, constant = split_constant_columns(
        columns_of(table), len(table.columns) if keep_columns else keys
    )
    shared_lines = [
        f"{column.title} = {column.cells[0].strip()} {column.unit}".rstrip() for column in constant
    ]
    blocks = [wrap_text(f"In all rows: {', '.join(shared_lines)}.", width())] if shared_lines else []
    columns, below_columns = split_long_texts(columns, width(), keys)
    for k, part in enumerate(split_columns(columns, width(), keys)):
        lines = lines_of(part, None)
        if len(below_columns) == 1 and not k:
            lines.append(apply_colour(f"{BELOW}{below_columns[0].title}", "head"))
        for row in range(len(table.rows)):
            lines += lines_of(part, row)
            lines += [] if k else lines_below(below_columns, row, width())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def fits(table: Table, keys: int = 1) -> bool:
    """Whether the table fits without continuation."""
    return len(list(split_columns(split_constant_columns(columns_of(table), keys)[0], width(), keys))) == 1


def print_table(table: Table, keys: int = 1, *, keep_columns: bool = False) -> None:
    echo(text_table(table, keys, keep_columns=keep_columns))


@dataclass(frozen=True)
class Group:
    """Rows of a table below common `lines` of prose. The last word of the first line is coloured if it is a
    `verdict`."""

    lines: tuple[str, ...]
    rows: int
    verdict: str = ""


def print_groups(table: Table, groups: Sequence[Group]) -> None:
    """Print the rows of a table in groups, indented below the lines that describe each group."""
    line_width = width()
    columns = fit_columns(columns_of(table), None if line_width is None else line_width - GAP)
    for line in lines_of(columns, None):
        echo(" " * GAP + line)
    row = 0
    for group in groups:
        for k, text in enumerate(group.lines):
            lines_shown = wrap_text(text, line_width, indent="" if k == 0 else " " * GAP, hang=" " * GAP)
            if group.verdict and k == 0:
                lines_shown = lines_shown.removesuffix(group.verdict) + apply_colour(
                    group.verdict, group.verdict
                )
            echo(lines_shown)
        for row_index in range(row, row + group.rows):
            for line in lines_of(columns, row_index):
                echo(" " * GAP + line)
        row += group.rows


def print_json(document: Any) -> None:
    """Print a JSON document: dataclasses and structs as objects, indented by two spaces. Control characters
    are escaped, so that it is safe on a terminal."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    click.echo(text if text.isascii() and "\x7f" not in text else "".join(map(_escaped, text)))


def _escaped(character: str) -> str:
    """Escape unprintable characters as in JSON: DEL, control characters beyond ASCII, changes of
    direction."""
    if character.isprintable() or character == "\n":
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[k : k + 2].hex()}" for k in range(0, len(units), 2))


def print_line(text: str, hang: str = "") -> None:
    """Print prose, wrapped if stdout has a width. `hang` precedes each further line."""
    echo(wrap_text(text, width(), hang=hang))


def print_unwrapped(text: str) -> None:
    """Print a line without wrapping: a path, or text to be copied."""
    echo(one_line(text))


def print_labelled(label: str, text: str) -> None:
    """Print "LABEL: text" with a coloured label."""
    line = wrap_text(f"{label}: {text}", width(), hang="  ")
    echo(apply_colour(f"{label}:", label) + line.removeprefix(f"{label}:"))


def print_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        line = wrap_text(f"{finding.subject}: {finding.text}", width(), indent=MARGIN)
        echo(apply_colour(f"{finding.verdict:4}", finding.verdict) + " " + line.removeprefix(MARGIN))


GAP = 2
MIN_TEXT_WIDTH = 40
"""A column of text is made no narrower than its longest word, or this, whichever is less."""
SHORTEST_BELOW, MOST_LINES, BELOW = 30, 2, " " * 4
"""Where a row takes more lines than these on average, the longest texts, if not short, go below the rows."""
MIN_CONSTANT_ROWS = 3
"""A column of numbers is moved above the table only if at least this many rows share its value; for words,
two are enough."""


@dataclass(frozen=True)
class Column:
    """A column of a table. `cells` contain one printable line each. Numbers share the `unit`, if any. Only a
    `parameter` may be moved above the table."""

    title: str
    cells: tuple[str, ...]
    numeric: bool
    unit: str = ""
    width: int = 0
    parameter: bool = False

    @property
    def heading(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title

    @property
    def natural_width(self) -> int:
        return max(map(len, (self.heading, *self.cells)))

    @property
    def min_width(self) -> int:
        """Minimum width of the column. Numbers are never wrapped."""
        heading = max(map(len, self.heading.split()), default=0)
        if self.numeric:
            return max(heading, *map(len, self.cells), 0)
        words = max((len(word) for cell in self.cells for word in cell.split()), default=0)
        return max(heading, min(words, MIN_TEXT_WIDTH))

    def wrap_cell(self, text: str) -> list[str]:
        return textwrap.wrap(text, self.width, break_on_hyphens=False) or [""]

    def pad(self, text: str) -> str:
        return text.rjust(self.width) if self.numeric else text.ljust(self.width)


def columns_of(table: Table) -> list[Column]:
    """Columns of a table. Quantities have one unit per column, and a common unit if that keeps numbers
    short."""
    cells = [[row[k] for row in table.rows] for k in range(len(table.columns))]
    units = [unit_of(column_cells) if k in table.numeric else "" for k, column_cells in enumerate(cells)]
    cells_of_unit: dict[str, list[str]] = {}
    for unit, column_cells in zip(units, cells, strict=True):
        cells_of_unit.setdefault(unit, []).extend(column_cells)
    columns = []
    for k, title in enumerate(table.columns):
        scale = (shortest_scale(cells_of_unit[units[k]]) or shortest_scale(cells[k])) if units[k] else None
        if scale is not None:
            texts = align_points(scaled(cells[k], scale[0]))
        else:
            texts = [cell.unit_once if isinstance(cell, Amount) else cell for cell in cells[k]]
        columns.append(
            Column(
                one_line(title),
                tuple(map(_cell, texts)),
                numeric=k in table.numeric,
                unit=scale[1] if scale is not None else "",
                parameter=k in table.parameters,
            )
        )
    return columns


def _cell(text: str) -> str:
    """Convert a cell to one line."""
    line = one_line(text)
    return line + " " * (len(text) - len(text.rstrip(" "))) if line else ""


def align_points(cells: Sequence[str]) -> list[str]:
    """Align plain numbers at their decimal points by trailing spaces."""
    decimals = [_decimals(cell) for cell in cells]
    max_decimals = max((decimal_count for decimal_count in decimals if decimal_count is not None), default=0)
    return [
        cell if decimal_count is None else cell + " " * (max_decimals - decimal_count)
        for cell, decimal_count in zip(cells, decimals, strict=True)
    ]


def _decimals(text: str) -> int | None:
    """Number of decimals of a number; None for other text."""
    integer_part, point, digits = text.lstrip("-").partition(".")
    return len(point + digits) if integer_part.isdigit() and (digits.isdigit() or not point) else None


def split_constant_columns(columns: Sequence[Column], keys: int = 1) -> tuple[list[Column], list[Column]]:
    """Separate parameters that are constant in all rows from the other columns. Empty columns are removed.
    The first `keys` columns, which name the rows, and results are kept."""
    remaining_columns, constant = [], []
    for k, column in enumerate(columns):
        has_enough_rows = len(column.cells) >= (MIN_CONSTANT_ROWS if column.numeric else 2)
        if k >= keys and not any(map(str.strip, column.cells)) and column.cells:
            continue
        if k >= keys and column.parameter and has_enough_rows and len(set(column.cells)) == 1:
            constant.append(column)
        else:
            remaining_columns.append(column)
    return remaining_columns, constant


def fit_columns(columns: Sequence[Column], width: int | None) -> list[Column]:
    """Reduce the widths of columns to a total of at most `width`, as far as wrapping allows."""
    fitted_columns = [replace(column, width=column.natural_width) for column in columns]
    if width is None:
        return fitted_columns
    excess = total(fitted_columns) - width
    for is_eligible in (lambda c: c.numeric, lambda c: True):  # headings of numbers first, they lose nothing
        while excess > 0:
            shrinkable_columns = [
                k for k, c in enumerate(fitted_columns) if is_eligible(c) and c.width > c.min_width
            ]
            if not shrinkable_columns:
                break
            widest_column = max(shrinkable_columns, key=lambda k: fitted_columns[k].width)
            fitted_columns[widest_column] = replace(
                fitted_columns[widest_column], width=fitted_columns[widest_column].width - 1
            )
            excess -= 1
    return fitted_columns


def total(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def split_columns(columns: Sequence[Column], width: int | None, keys: int = 1) -> Iterator[list[Column]]:
    """Split columns into the minimum number of parts for the width. Each part begins with the first `keys`
    columns."""
    fitted = fit_columns(columns, width)
    if width is None or total(fitted) <= width:
        yield fitted
        return
    part = fitted[:keys]
    for column in fitted[keys:]:
        if len(part) > keys and total([*part, column]) > width:
            yield fit_columns(part, width)
            part = fitted[:keys]
        part.append(column)
    yield fit_columns(part, width)


def split_long_texts(
    columns: Sequence[Column], width: int | None, keys: int = 1
) -> tuple[list[Column], list[Column]]:
    """Separate columns with text that is too long for the table and is printed below each row."""
    remaining, below_columns = list(columns), list[Column]()
    while width is not None and remaining and remaining[0].cells:
        fitted_columns = fit_columns(remaining, width)
        lines = sum(
            max(len(_wrapped(c, row)) for c in fitted_columns) for row in range(len(fitted_columns[0].cells))
        )
        texts = [column for column in remaining[keys:] if not column.numeric]
        if not texts or (
            lines <= MOST_LINES * len(fitted_columns[0].cells) and total(fitted_columns) <= width
        ):
            break
        longest_column = max(texts, key=lambda column: sum(map(len, column.cells)))
        if longest_column.natural_width <= SHORTEST_BELOW:
            break
        remaining.remove(longest_column)
        below_columns = [column for column in columns if column in (*below_columns, longest_column)]
    return remaining, below_columns


def lines_below(columns: Sequence[Column], row: int, width: int | None) -> list[str]:
    """Lines below a row with its long texts, with titles if there are several."""
    return [
        wrap_text(f"{column.title}: {cell}" if len(columns) > 1 else cell, width, BELOW)
        for column in columns
        if (cell := column.cells[row])
    ]


def lines_of(columns: Sequence[Column], row: int | None) -> list[str]:
    """Lines of one row, or of the headings if `row` is None."""
    texts = [c.wrap_cell(c.heading) if row is None else _wrapped(c, row) for c in columns]
    height = max(map(len, texts))
    if row is None:  # a heading of one line stands directly above its numbers
        texts = [[""] * (height - len(text)) + text for text in texts]
    lines = []
    for k in range(height):
        cells = []
        for column, text in zip(columns, texts, strict=True):
            padded_text = column.pad(text[k] if k < len(text) else "")
            if row is None:
                padded_text = apply_colour(padded_text, "head")
            elif column.title == "verdict":
                padded_text = apply_colour(padded_text, column.cells[row].partition(":")[0])
            cells.append(padded_text)
        lines.append((" " * GAP).join(cells).rstrip())
    return lines


def _wrapped(column: Column, row: int) -> list[str]:
    cell = column.cells[row]
    return [cell] if len(cell) <= column.width else column.wrap_cell(cell)
