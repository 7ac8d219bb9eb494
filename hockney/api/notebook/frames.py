# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as data frames of pandas or polars, whichever is installed; hockney depends on neither."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from hockney.api.export.column_types import TypedColumn, typed
from hockney.api.export.table import Cell, Rows
from hockney.core.errors import EnvironmentProblem, unknown

if TYPE_CHECKING:
    from hockney.models.applications.grain_prediction import RanksRow

Library = Literal["pandas", "polars"]
PREDICTED = {"time": "s", "speed_up": "", "efficiency": "", "communication": ""}
"""The estimates in a prediction for each number of ranks, with their units."""

PANDAS = {int: "int64", float: "float64", bool: "bool"}


def frame(rows: Rows, library: Library | None = None) -> Any:
    """A DataFrame with the columns of `rows`, of the given `library`, or by default of pandas or else polars.
    Raises UsageError for another library, EnvironmentProblem if none is installed."""
    if library is not None and library not in get_args(Library):
        raise unknown("library of data frames", library, get_args(Library), code="unknown-frame-library")
    for name in get_args(Library) if library is None else (library,):
        try:
            found = importlib.import_module(name)
        except ImportError:
            continue
        return (_polars if name == "polars" else _pandas)(found, typed(rows))
    wanted = library or ""
    raise EnvironmentProblem(
        "cannot make a data frame",
        f"{wanted} is not installed" if wanted else "neither pandas nor polars is installed",
        f"run pip install {wanted or 'pandas'}, or use table(), which needs neither",
        code="no-frame-library",
        wanted=wanted,
    )


def predicted_rows(rows: Sequence[RanksRow]) -> Rows:
    """A row for each number of ranks of a prediction."""
    columns: dict[str, list[Cell]] = {"ranks": [row.ranks for row in rows]}
    for name, unit in PREDICTED.items():
        estimates = [getattr(row, name) for row in rows]
        for end in ("value", "low", "high"):
            column = "_".join(filter(None, (name, "" if end == "value" else end, unit)))
            columns[column] = [getattr(estimate, end) for estimate in estimates]
    return Rows.of(columns | {"ranks_a_core": [row.shared_by for row in rows]})


def _polars(polars: Any, columns: dict[str, TypedColumn]) -> Any:
    types = {str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
    return polars.DataFrame(
        {name: column.cells for name, column in columns.items()},
        schema={name: types[column.kind] for name, column in columns.items()},
    )


def _pandas(pandas: Any, columns: dict[str, TypedColumn]) -> Any:
    return pandas.DataFrame({name: _series(pandas, column) for name, column in columns.items()})


def _series(pandas: Any, column: TypedColumn) -> Any:
    """Integers stay integers if cells are empty. A text column is of the type that pandas chooses."""
    if column.kind is str:
        empty = all(cell is None for cell in column.cells)
        return pandas.Series(column.cells, dtype=object if empty else None)
    gaps = {int: "Int64", bool: "boolean"} if column.gaps else {}
    return pandas.Series(column.cells, dtype=gaps.get(column.kind, PANDAS[column.kind]))
