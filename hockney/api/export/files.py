# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables in files, written completely or not at all."""

from __future__ import annotations

import csv
import io
import shlex
import sys
from collections.abc import Iterable, Sequence
from itertools import repeat
from pathlib import Path

from hockney.api.export.column_types import typed
from hockney.api.export.table import Block, Cell, Rows, is_single
from hockney.core.errors import EnvironmentProblem, printable
from hockney.core.spreadsheet import not_a_formula
from hockney.system.files import replace
from hockney.system.packages import install_command


def save_csv(table: Rows, name: str) -> None:
    """Write a table as RFC 4180 with a header line; a cell without a value is empty; "-" is stdout. A text
    that a spreadsheet would interpret as a formula is preceded by an apostrophe."""
    head = io.StringIO(newline="")
    csv.writer(head, lineterminator="\n").writerow(table.names)
    text = (head.getvalue(), *(_lines(block, table.names) for block in table.blocks))
    if name == "-":
        sys.stdout.writelines(text)
    else:
        replace(Path(name), "".join(text).encode("utf-8"))


def _lines(block: Block, names: Sequence[str]) -> str:
    """The rows of a block. Neighboring columns whose cells are the same in all rows are one text."""
    columns: list[Iterable[str]] = []
    alike: list[str] = []
    for cells in map(block.cells.get, names):
        if is_single(cells):
            alike.append(_field(cells))
            continue
        if alike:
            columns.append(repeat(",".join(alike), block.count))
            alike = []
        columns.append(map(str if {*map(type, cells)} <= {int, float} else _field, cells))
    if alike:
        columns.append(repeat(",".join(alike), block.count))
    rows: Iterable[str] = map(",".join, zip(*columns, strict=True))
    if len(names) == 1:
        rows = (row or '""' for row in rows)  # an empty line would be no row
    return "\n".join((*rows, ""))


def _field(cell: Cell) -> str:
    if not isinstance(cell, str):
        return "" if cell is None else str(cell)
    line = io.StringIO(newline="")
    # An empty field that is alone would be quoted.
    csv.writer(line, lineterminator="\n").writerow((not_a_formula(cell), ""))
    return line.getvalue()[:-2]


def save_text(text: str, path: Path) -> None:
    replace(path, text.encode("utf-8"))


def save_parquet(table: Rows, path: Path) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        command = install_command("pyarrow")
        raise EnvironmentProblem(
            "cannot write Parquet",
            "pyarrow is not installed",
            f"run '{printable(shlex.join(command))}', or use --csv",
            code="no-pyarrow",
            command=list(command),
        ) from error
    types = {str: pyarrow.string(), int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    columns = {name: pyarrow.array(each.cells, types[each.kind]) for name, each in typed(table).items()}
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), content)
    replace(path, content.getvalue())
