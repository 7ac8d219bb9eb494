# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables, prose and documents for stdout."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import click
import msgspec

from hockney.cli.output.layout import (
    BELOW,
    GAP,
    Column,
    alike,
    columns_of,
    fitted,
    hung,
    lines_below,
    lines_of,
    parts,
)
from hockney.cli.output.terminal import echo, painted, width, wrapped
from hockney.core.errors import one_line
from hockney.draw.page import Table
from hockney.measurement.events import Finding

MARGIN = " " * 5
"""Below a finding's verdict."""


def text_table(table: Table, keys: int = 1, *, whole: bool = False) -> str:
    """Aligned columns, two spaces apart, as wide as stdout. Cells are printable, on one line each if the
    width allows it. The first `keys` columns distinguish the rows. No column of a `whole` table is moved
    above it."""
    columns, same = alike(columns_of(table), len(table.columns) if whole else keys)
    blocks = [wrapped(f"In all rows: {', '.join(_said(same))}.", width())] if same else []
    columns, below = hung(columns, width(), keys)
    for k, part in enumerate(parts(columns, width(), keys)):
        lines = lines_of(part, None, painted)
        if len(below) == 1 and not k:
            lines.append(painted(f"{BELOW}{below[0].title}", "head"))
        for row in range(len(table.rows)):
            lines += lines_of(part, row, painted)
            lines += [] if k else lines_below(below, row, width())
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _said(columns: Iterable[Column]) -> list[str]:
    return [f"{column.title} = {column.cells[0].strip()} {column.unit}".rstrip() for column in columns]


def fits(table: Table, keys: int = 1) -> bool:
    """Whether no column has to be continued below."""
    return len(list(parts(alike(columns_of(table), keys)[0], width(), keys))) == 1


def print_table(table: Table, keys: int = 1, *, whole: bool = False) -> None:
    echo(text_table(table, keys, whole=whole))


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
    columns = fitted(columns_of(table), None if room is None else room - GAP)
    for line in lines_of(columns, None, painted):
        echo(" " * GAP + line)
    row = 0
    for group in groups:
        for k, text in enumerate(group.lines):
            shown = wrapped(text, room, indent="" if k == 0 else " " * GAP, hang=" " * GAP)
            if group.verdict and k == 0:
                shown = shown.removesuffix(group.verdict) + painted(group.verdict, group.verdict)
            echo(shown)
        for each in range(row, row + group.rows):
            for line in lines_of(columns, each, painted):
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


def print_line(text: str, indent: str = "", hang: str = "") -> None:
    """Prose, wrapped where stdout has a width. `hang` is before each further line."""
    echo(wrapped(text, width(), indent, hang))


def print_whole(text: str) -> None:
    """Prints a line without wrapping: a path, or text to be copied."""
    echo(one_line(text))


def print_labelled(label: str, text: str) -> None:
    """ "LABEL: text", the label in its colour."""
    plain = wrapped(f"{label}: {text}", width(), hang="  ")
    echo(painted(f"{label}:", label) + plain.removeprefix(f"{label}:"))


def print_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        plain = wrapped(f"{finding.subject}: {finding.text}", width(), indent=MARGIN)
        echo(painted(f"{finding.verdict:4}", finding.verdict) + " " + plain.removeprefix(MARGIN))
