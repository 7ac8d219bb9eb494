# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables in files, written completely or not at all."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

from hockney.api import messages
from hockney.api.export_table import Cell, Rows, one_type
from hockney.core.spreadsheet import not_a_formula
from hockney.system.files import replace
from hockney.system.packages import install_command


def save_csv(table: Rows, name: str) -> None:
    """As RFC 4180 with a header line; empty cells if there is no value; "-" is stdout. A text that a
    spreadsheet would interpret as a formula is preceded by an apostrophe."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    columns = ([_no_formula(cell) for cell in cells] for cells in table.columns.values())
    writer.writerows(zip(*columns, strict=True))
    if name == "-":
        sys.stdout.write(text.getvalue())
    else:
        _put(Path(name), text.getvalue().encode("utf-8"))


def _no_formula(cell: Cell) -> Cell:
    return not_a_formula(cell) if isinstance(cell, str) else cell


def save_text(text: str, path: Path) -> None:
    _put(path, text.encode("utf-8"))


def save_parquet(table: Rows, path: Path) -> None:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise messages.no_pyarrow(install_command("pyarrow")) from error
    columns = {name: pyarrow.array(one_type(cells)) for name, cells in table.columns.items()}
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), content)
    _put(path, content.getvalue())


def _put(path: Path, content: bytes) -> None:
    """Devices and pipes are written to directly; only regular files are replaced."""
    try:
        if not path.exists() or path.is_file() or path.is_dir():
            replace(path, content)
        else:
            path.write_bytes(content)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise messages.cannot_write_table(path, error) from error
