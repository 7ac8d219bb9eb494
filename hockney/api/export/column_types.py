# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The type of each column of a table, for files and data frames. It does not depend on which cells are empty,
so that the tables of several runs can be joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hockney.api.export.table import Cell, Rows

Kind = type[str] | type[int] | type[float] | type[bool]

WHOLE = frozenset(
    (
        "nodes", "launch_index", "operations", "ranks_a_core", "a_launches", "b_launches", "a_more_launches",
        "b_more_launches",
    )
)  # fmt: skip
TEXT = frozenset(("place", "level", "parameter", "symbol", "unit", "setting"))
"""Columns that may be empty in all rows and are not real numbers; the other empty ones are measurements."""


@dataclass(frozen=True)
class TypedColumn:
    kind: Kind
    cells: Sequence[Cell]

    @property
    def gaps(self) -> bool:
        return any(cell is None for cell in self.cells)


def typed(rows: Rows) -> dict[str, TypedColumn]:
    return {name: column(name, cells) for name, cells in rows.columns.items()}


def column(name: str, cells: Sequence[Cell]) -> TypedColumn:
    """A parameter that is a word in one workload and a number in another is a word throughout; integers mixed
    with reals become reals."""
    kind = _kind(name, {type(cell) for cell in cells if cell is not None})
    return TypedColumn(kind, [None if cell is None else kind(cell) for cell in cells])


def _kind(name: str, found: set[type]) -> Kind:
    for kind in (str, float, int, bool):
        if any(issubclass(each, kind) and (each is bool) == (kind is bool) for each in found):
            return kind
    if name in TEXT:
        return str
    return int if name in WHOLE else float
