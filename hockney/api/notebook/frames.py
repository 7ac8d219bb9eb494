# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables as data frames of pandas or polars, whichever is installed; hockney depends on neither."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from hockney.api.export.table import Cell, Rows, one_type
from hockney.api.notebook import messages

if TYPE_CHECKING:
    from hockney.models.applications.grain_prediction import RanksRow

Library = Literal["pandas", "polars"]
PREDICTED = {"time": "s", "speed_up": "", "efficiency": "", "communication": ""}
"""The estimates in a prediction for each number of ranks, with their units."""


def frame(rows: Rows, library: Library | None = None) -> Any:
    """A DataFrame with the columns of `rows`, of the given `library`, or by default of pandas or else polars.
    Raises UsageError for another library, EnvironmentProblem if none is installed."""
    if library is not None and library not in get_args(Library):
        raise messages.unknown_frame_library(library, get_args(Library))
    for name in get_args(Library) if library is None else (library,):
        try:
            found = importlib.import_module(name)
        except ImportError:
            continue
        columns = {column: one_type(cells) for column, cells in rows.columns.items()}
        return found.DataFrame(columns) if name == "polars" else _pandas(found, columns)
    raise messages.no_frame_library(library or "")


def predicted_rows(rows: Sequence[RanksRow]) -> Rows:
    """A row for each number of ranks of a prediction."""
    columns: dict[str, list[Cell]] = {"ranks": [row.ranks for row in rows]}
    for name, unit in PREDICTED.items():
        estimates = [getattr(row, name) for row in rows]
        for end in ("value", "low", "high"):
            column = "_".join(filter(None, (name, "" if end == "value" else end, unit)))
            columns[column] = [getattr(estimate, end) for estimate in estimates]
    return Rows.of(columns | {"ranks_a_core": [row.shared_by for row in rows]})


def _pandas(pandas: Any, columns: dict[str, list[Cell]]) -> Any:
    """Integers stay integers if cells are empty."""
    return pandas.DataFrame(
        {
            name: pandas.array(cells, dtype="Int64") if _whole_with_gaps(cells) else cells
            for name, cells in columns.items()
        }
    )


def _whole_with_gaps(cells: list[Cell]) -> bool:
    kinds = {type(cell) for cell in cells}
    return kinds == {int, type(None)}
