# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Export of tables: as CSV and Parquet files, which are written completely or not at all, and as data frames
of pandas or polars. hockney requires neither."""

from __future__ import annotations

import csv
import importlib
import io
import shlex
import sys
from collections.abc import Iterable, Sequence
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from hockney.api.tables import Block, Cell, Rows, TypedColumn, is_single, typed
from hockney.core.errors import EnvironmentProblem, printable, unknown
from hockney.core.fit import estimate_fields
from hockney.core.wording import escape_formula
from hockney.system.files import write_user_file
from hockney.system.packages import install_command

if TYPE_CHECKING:
    from hockney.models.applications.grain_prediction import RanksRow
    from hockney.models.programs.scaling import ProgramRow


def save_csv(table: Rows, name: str) -> None:
    """Write a table as CSV (RFC 4180) with a header line to a file, or to stdout if `name` is "-". Missing
    values become empty fields. Text that a spreadsheet would interpret as a formula is preceded by an
    apostrophe."""
    header = io.StringIO(newline="")
    csv.writer(header, lineterminator="\n").writerow(table.names)
    chunks = (header.getvalue(), *(_csv_lines(block, table.names) for block in table.blocks))
    if name == "-":
        sys.stdout.writelines(chunks)
    else:
        write_user_file(Path(name), "".join(chunks).encode("utf-8"))


def _csv_lines(block: Block, names: Sequence[str]) -> str:
    """Format the rows of a block. Adjacent constant columns are formatted once."""
    columns: list[Iterable[str]] = []
    constant_fields: list[str] = []
    for cells in map(block.cells.get, names):
        if is_single(cells):
            constant_fields.append(_csv_field(cells))
            continue
        if constant_fields:
            columns.append(repeat(",".join(constant_fields), block.count))
            constant_fields = []
        columns.append(map(str if {*map(type, cells)} <= {int, float} else _csv_field, cells))
    if constant_fields:
        columns.append(repeat(",".join(constant_fields), block.count))
    rows: Iterable[str] = map(",".join, zip(*columns, strict=True))
    if len(names) == 1:
        rows = (row or '""' for row in rows)  # an empty line would be no row
    return "\n".join((*rows, ""))


def _csv_field(cell: Cell) -> str:
    if not isinstance(cell, str):
        return "" if cell is None else str(cell)
    line = io.StringIO(newline="")
    # An empty field that is alone would be quoted.
    csv.writer(line, lineterminator="\n").writerow((escape_formula(cell), ""))
    return line.getvalue()[:-2]


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
    columns = {name: pyarrow.array(column.cells, types[column.kind]) for name, column in typed(table).items()}
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), content)
    write_user_file(path, content.getvalue())


Library = Literal["pandas", "polars"]
FORECAST_UNITS = {"time": "_s", "speed_up": "", "efficiency": "", "communication": ""}
"""Estimates of a prediction for each number of ranks, with the suffixes of their columns."""

PANDAS_TYPES = {int: "int64", float: "float64", bool: "bool"}


def frame(rows: Rows, library: Library | None = None) -> Any:
    """Convert `rows` to a DataFrame of `library`, by default pandas if installed, otherwise polars.
    Raises UsageError for another library, EnvironmentProblem if none is installed."""
    if library is not None and library not in get_args(Library):
        raise unknown("library of data frames", library, get_args(Library), code="unknown-frame-library")
    for name in get_args(Library) if library is None else (library,):
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        return (_polars_frame if name == "polars" else _pandas_frame)(module, typed(rows))
    requested_name = library or ""
    raise EnvironmentProblem(
        "cannot make a data frame",
        f"{requested_name} is not installed" if requested_name else "neither pandas nor polars is installed",
        f"run pip install {requested_name or 'pandas'}, or use table(), which needs neither",
        code="no-frame-library",
        wanted=requested_name,
    )


def forecast_table(rows: Sequence[RanksRow | ProgramRow]) -> Rows:
    """Table of a prediction with one row per number of ranks."""
    return Rows.of_rows([_forecast_cells(row) for row in rows])


def program_table(rows: Sequence[ProgramRow]) -> Rows:
    """Table of a program's prediction with one row per number of ranks, including the parts of its time
    (s)."""
    from hockney.models.programs.scaling import TIME_PARTS

    parts = [{f"{part}_s": row.seconds(part) for part in TIME_PARTS} for row in rows]
    return Rows.of_rows([_forecast_cells(row) | cells for row, cells in zip(rows, parts, strict=True)])


def _forecast_cells(row: RanksRow | ProgramRow) -> dict[str, Cell]:
    cells: dict[str, Cell] = {"ranks": row.ranks}
    for name, unit in FORECAST_UNITS.items():
        cells |= estimate_fields(name, getattr(row, name), unit)
    return cells | {"ranks_a_core": row.shared_by}


def _polars_frame(polars: Any, columns: dict[str, TypedColumn]) -> Any:
    types = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    return polars.DataFrame(
        {name: column.cells for name, column in columns.items()},
        schema={name: types[column.kind] for name, column in columns.items()},
    )


def _pandas_frame(pandas: Any, columns: dict[str, TypedColumn]) -> Any:
    return pandas.DataFrame({name: _series(pandas, column) for name, column in columns.items()})


def _series(pandas: Any, column: TypedColumn) -> Any:
    """Convert a column to a Series. Integer columns with missing values use a nullable integer type."""
    if column.kind is str:
        is_empty = all(cell is None for cell in column.cells)
        return pandas.Series(column.cells, dtype=object if is_empty else None)
    nullable_types = {int: "Int64", bool: "boolean"} if column.has_gaps else {}
    return pandas.Series(column.cells, dtype=nullable_types.get(column.kind, PANDAS_TYPES[column.kind]))
