# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables and documents for stdout."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from hockney.core.errors import one_line
from hockney.draw.page import Table


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
    """A document for programs: dataclasses and structs as objects, two spaces deep."""
    click.echo(msgspec.json.format(msgspec.json.encode(document), indent=2).decode())


def print_line(text: str) -> None:
    click.echo(one_line(text))
