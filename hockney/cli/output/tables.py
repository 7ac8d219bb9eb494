# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables and documents for stdout."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click
import msgspec

from hockney.core.errors import one_line
from hockney.draw.page import Table
from hockney.lab.finding import Finding


def text_table(table: Table) -> str:
    """Aligned columns, two spaces apart; cells are one printable line each."""
    rows = [[one_line(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(table.columns))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if k in table.numeric else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def print_json(document: Any) -> None:
    """A document for programs: dataclasses and structs as objects, two spaces deep. Terminals that show it
    obey no character of it."""
    text = msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    click.echo(text if text.isascii() else "".join(map(_escaped, text)))


def _escaped(character: str) -> str:
    """As JSON writes it where it does not print: control characters beyond ASCII, changes of direction."""
    if character.isprintable() or character == "\n":
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[k : k + 2].hex()}" for k in range(0, len(units), 2))


def print_line(text: str) -> None:
    click.echo(one_line(text))


def print_findings(findings: Iterable[Finding]) -> None:
    for finding in findings:
        print_line(f"{finding.verdict:5} {finding.subject}: {finding.text}")
