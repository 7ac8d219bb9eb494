# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables, prose and documents on stdout.

Tables fit a width: units appear once per column, and parameters that all rows share once above. Where the
width does not suffice, headings are wrapped, then texts in cells; what still does not fit is continued below,
with the first column repeated."""

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
    """Aligned columns, two spaces apart, as wide as stdout. Cells are printable, on one line each if the
    width allows it. The first `keys` columns distinguish the rows. No column of a `keep_columns` table is
    moved above it."""
    columns, constant = split_constant_columns(
        columns_of(table), len(table.columns) if keep_columns else keys
    )
    shared = [f"{column.title} = {column.cells[0].strip()} {column.unit}".rstrip() for column in constant]
    blocks = [wrap_text(f"In all rows: {', '.join(shared)}.", width())] if shared else []
    columns, below = split_long_texts(columns, width(), keys)
    for k, part in enumerate(split_columns(columns, width(), keys)):
        lines = lines_of(part, None)
        if len(below) == 1 and not k:
            lines.append(apply_colour(f"{BELOW}{below[0].title}", "head"))
        for row in range(len(table.rows)):
            lines += lines_of(part, row)
            lines += [] if k else lines_below(below, row, width())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def fits(table: Table, keys: int = 1) -> bool:
    """Whether no column has to be continued below."""
    return len(list(split_columns(split_constant_columns(columns_of(table), keys)[0], width(), keys))) == 1


def print_table(table: Table, keys: int = 1, *, keep_columns: bool = False) -> None:
    echo(text_table(table, keys, keep_columns=keep_columns))


@dataclass(frozen=True)
class Group:
    """Rows of a table, below `lines` of prose that apply to all of them. The last word of the first line is
    coloured if it is a `verdict`."""

    lines: tuple[str, ...]
    rows: int
    verdict: str = ""


def print_groups(table: Table, groups: Sequence[Group]) -> None:
    """The table's rows in groups, indented below the lines that describe each group."""
    room = width()
    columns = fit_columns(columns_of(table), None if room is None else room - GAP)
    for line in lines_of(columns, None):
        echo(" " * GAP + line)
    row = 0
    for group in groups:
        for k, text in enumerate(group.lines):
            shown = wrap_text(text, room, indent="" if k == 0 else " " * GAP, hang=" " * GAP)
            if group.verdict and k == 0:
                shown = shown.removesuffix(group.verdict) + apply_colour(group.verdict, group.verdict)
            echo(shown)
        for each in range(row, row + group.rows):
            for line in lines_of(columns, each):
                echo(" " * GAP + line)
        row += group.rows


def print_json(document: Any) -> None:
    """A document for programs: dataclasses and structs as objects, two spaces deep. Terminals that show it
    obey no character of it."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    click.echo(text if text.isascii() and "\x7f" not in text else "".join(map(_escaped, text)))


def _escaped(character: str) -> str:
    """Text as JSON escapes it if it is not printable: DEL, control characters beyond ASCII, changes of
    direction."""
    if character.isprintable() or character == "\n":
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[k : k + 2].hex()}" for k in range(0, len(units), 2))


def print_line(text: str, hang: str = "") -> None:
    """Print prose, wrapped if stdout has a width. `hang` precedes each further line."""
    echo(wrap_text(text, width(), hang=hang))


def print_unwrapped(text: str) -> None:
    """Prints a line without wrapping: a path, or text to be copied."""
    echo(one_line(text))


def print_labelled(label: str, text: str) -> None:
    """ "LABEL: text", the label in its colour."""
    line = wrap_text(f"{label}: {text}", width(), hang="  ")
    echo(apply_colour(f"{label}:", label) + line.removeprefix(f"{label}:"))


def print_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        line = wrap_text(f"{finding.subject}: {finding.text}", width(), indent=MARGIN)
        echo(apply_colour(f"{finding.verdict:4}", finding.verdict) + " " + line.removeprefix(MARGIN))


GAP = 2
SHORTEST_TEXT = 40
"""A column of text is made no narrower than its longest word, or this, whichever is less."""
SHORTEST_BELOW, MOST_LINES, BELOW = 30, 2, " " * 4
"""Where a row takes more lines than these on average, the longest texts, if not short, go below the rows."""
FEWEST_ALIKE = 3
"""A column of numbers is moved above the table only if at least this many rows share its value; for words,
two are enough."""


@dataclass(frozen=True)
class Column:
    """`cells` are one printable line each; numbers are in one `unit`, if the column has one. `width` is the
    width of the column. Only a `parameter` may be moved above the table."""

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
        """Numbers are never wrapped."""
        heading = max(map(len, self.heading.split()), default=0)
        if self.numeric:
            return max(heading, *map(len, self.cells), 0)
        words = max((len(word) for cell in self.cells for word in cell.split()), default=0)
        return max(heading, min(words, SHORTEST_TEXT))

    def wrap_cell(self, text: str) -> list[str]:
        return textwrap.wrap(text, self.width, break_on_hyphens=False) or [""]

    def pad(self, text: str) -> str:
        return text.rjust(self.width) if self.numeric else text.ljust(self.width)


def columns_of(table: Table) -> list[Column]:
    """Every column. Those of quantities have one unit each, and the same if that keeps numbers short."""
    cells = [[row[k] for row in table.rows] for k in range(len(table.columns))]
    units = [unit_of(column_cells) if k in table.numeric else "" for k, column_cells in enumerate(cells)]
    same_unit: dict[str, list[str]] = {}
    for unit, column_cells in zip(units, cells, strict=True):
        same_unit.setdefault(unit, []).extend(column_cells)
    columns = []
    for k, title in enumerate(table.columns):
        scale = (shortest_scale(same_unit[units[k]]) or shortest_scale(cells[k])) if units[k] else None
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
    """One line. Spaces behind a number stand for the digits that others have there."""
    line = one_line(text)
    return line + " " * (len(text) - len(text.rstrip(" "))) if line else ""


def align_points(cells: Sequence[str]) -> list[str]:
    """Plain numbers of one unit, with spaces behind those that have fewer decimals."""
    decimals = [_decimals(cell) for cell in cells]
    max_decimals = max((each for each in decimals if each is not None), default=0)
    return [
        cell if count is None else cell + " " * (max_decimals - count)
        for cell, count in zip(cells, decimals, strict=True)
    ]


def _decimals(text: str) -> int | None:
    """The position of a number's decimal point; None for other texts."""
    whole, point, digits = text.lstrip("-").partition(".")
    return len(point + digits) if whole.isdigit() and (digits.isdigit() or not point) else None


def split_constant_columns(columns: Sequence[Column], keys: int = 1) -> tuple[list[Column], list[Column]]:
    """The columns of the table, and the parameters that are the same in all rows; empty ones are left out.
    The first `keys`, which name the rows, stay, and so do results."""
    differing, constant = [], []
    for k, column in enumerate(columns):
        has_enough_rows = len(column.cells) >= (FEWEST_ALIKE if column.numeric else 2)
        if k >= keys and not any(map(str.strip, column.cells)) and column.cells:
            continue
        if k >= keys and column.parameter and has_enough_rows and len(set(column.cells)) == 1:
            constant.append(column)
        else:
            differing.append(column)
    return differing, constant


def fit_columns(columns: Sequence[Column], width: int | None) -> list[Column]:
    """The columns with widths that add up to at most `width`, as far as wrapping allows."""
    fitted = [replace(column, width=column.natural_width) for column in columns]
    if width is None:
        return fitted
    excess = total(fitted) - width
    for is_eligible in (lambda c: c.numeric, lambda c: True):  # headings of numbers first, they lose nothing
        while excess > 0:
            shrinkable = [k for k, c in enumerate(fitted) if is_eligible(c) and c.width > c.min_width]
            if not shrinkable:
                break
            widest = max(shrinkable, key=lambda k: fitted[k].width)
            fitted[widest] = replace(fitted[widest], width=fitted[widest].width - 1)
            excess -= 1
    return fitted


def total(columns: Sequence[Column]) -> int:
    return sum(column.width for column in columns) + GAP * (len(columns) - 1)


def split_columns(columns: Sequence[Column], width: int | None, keys: int = 1) -> Iterator[list[Column]]:
    """The columns in as few parts as the width needs, the first `keys` at the head of each."""
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
    """The columns of a table, and the columns whose texts are too long for it and go below each row."""
    remaining, below = list(columns), list[Column]()
    while width is not None and remaining and remaining[0].cells:
        fitted = fit_columns(remaining, width)
        lines = sum(max(len(_wrapped(c, row)) for c in fitted) for row in range(len(fitted[0].cells)))
        texts = [column for column in remaining[keys:] if not column.numeric]
        if not texts or (lines <= MOST_LINES * len(fitted[0].cells) and total(fitted) <= width):
            break
        longest = max(texts, key=lambda column: sum(map(len, column.cells)))
        if longest.natural_width <= SHORTEST_BELOW:
            break
        remaining.remove(longest)
        below = [column for column in columns if column in (*below, longest)]
    return remaining, below


def lines_below(columns: Sequence[Column], row: int, width: int | None) -> list[str]:
    """The texts of a row that are shown below it, with their titles if there are several."""
    return [
        wrap_text(f"{column.title}: {cell}" if len(columns) > 1 else cell, width, BELOW)
        for column in columns
        if (cell := column.cells[row])
    ]


def lines_of(columns: Sequence[Column], row: int | None) -> list[str]:
    """The lines of one row, of the headings where `row` is None."""
    texts = [c.wrap_cell(c.heading) if row is None else _wrapped(c, row) for c in columns]
    height = max(map(len, texts))
    if row is None:  # a heading of one line stands directly above its numbers
        texts = [[""] * (height - len(text)) + text for text in texts]
    lines = []
    for k in range(height):
        cells = []
        for column, text in zip(columns, texts, strict=True):
            shown = column.pad(text[k] if k < len(text) else "")
            if row is None:
                shown = apply_colour(shown, "head")
            elif column.title == "verdict":
                shown = apply_colour(shown, column.cells[row].partition(":")[0])
            cells.append(shown)
        lines.append((" " * GAP).join(cells).rstrip())
    return lines


def _wrapped(column: Column, row: int) -> list[str]:
    cell = column.cells[row]
    return [cell] if len(cell) <= column.width else column.wrap_cell(cell)
