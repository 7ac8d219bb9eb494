# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a paper's numbers, and of a machine's description with the origins of its values."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from hockney.core.platform import Platform
from hockney.draw.page import Table
from hockney.machines.simulated import origin_of, places, value_text
from hockney.reference import Formula, PrintedRow, Published

NO_ORIGIN = "not said"
MAX_VALUE_LENGTH = 60
"""Longest text of a value, in characters."""


def number_tables(paper: Published) -> tuple[Table, ...]:
    """Return tables of all printed numbers. A table of the paper becomes a grid of workloads and processes if
    possible, otherwise a list."""
    results = []
    for name, rows in groupby(paper.rows, key=lambda row: row.table):
        group = list(rows)
        results.append(_grid_table(name, group) if _forms_grid(group) else _list_table(name, group))
    return tuple(results)


def formulas_table(paper: Published) -> Table | None:
    if not paper.formulas:
        return None
    rows = tuple(
        (
            formula.table,
            formula.case or "no case",
            str(formula.ranks),
            formula.printed,
            _segment_ranges(formula),
            formula.key,
        )
        for formula in paper.formulas
    )
    columns = ("formula", "case", "processes", "printed", "bytes", "key")
    return Table("formulas", "Formulas", columns, rows, numeric=(2,), parameters=(2, 4))


def description_table(platform: Platform) -> Table:
    """Return a table of every value of a description that differs from its default, with its origin."""
    rows = []
    for key, value in places(platform).items():
        origin = origin_of(platform, key)
        status = origin.status if origin else NO_ORIGIN
        source = origin.source if origin else ""
        if origin and origin.rows:
            source += f" (rows {', '.join(origin.rows)})"
        rows.append((key, _format_value(key, value), status, source))
    return Table("described", platform.title, ("key", "value", "origin", "from"), tuple(rows))


def network_text(platform: Platform) -> str:
    """Return a short description of the network, such as "torus 8x8x8" or "switch"."""
    network = platform.network
    return " ".join(filter(None, (network.shape, "x".join(map(str, network.dims)))))


def node_count(platform: Platform) -> int:
    return sum(group.count for group in platform.nodes)


def _forms_grid(rows: Sequence[PrintedRow]) -> bool:
    """Check whether every workload has exactly one number for each of several process counts."""
    cells = [(_workload_label(row), row.ranks) for row in rows]
    counts = {row.ranks for row in rows}
    workloads = {_workload_label(row) for row in rows}
    is_complete = len(cells) == len(set(cells)) == len(counts) * len(workloads)
    return is_complete and None not in counts and len(counts) > 1


def _workload_label(row: PrintedRow) -> str:
    """Return the workload, with its algorithm if the case names one."""
    return " ".join([row.workload, *(word for word in row.case.split() if word.startswith("algorithm="))])


def _grid_table(name: str, rows: Sequence[PrintedRow]) -> Table:
    counts = sorted({row.ranks for row in rows if row.ranks is not None})
    values_by_workload: dict[str, dict[int | None, str]] = {}
    for row in rows:
        values_by_workload.setdefault(_workload_label(row), {})[row.ranks] = f"{row.value:.10g}"
    cells = tuple(
        (workload, *(values[count] for count in counts)) for workload, values in values_by_workload.items()
    )
    columns = (f"{name} ({rows[0].unit})", *(f"P = {count}" for count in counts))
    caption = f"keys as {rows[0].key}"
    return Table(name, name, columns, cells, numeric=tuple(range(1, len(columns))), caption=caption)


def _list_table(name: str, rows: Sequence[PrintedRow]) -> Table:
    cells = tuple(
        (
            f"{row.workload}, {row.quantity}",
            "" if row.ranks is None else str(row.ranks),
            "" if row.bytes is None else str(row.bytes),
            f"{row.value:.10g} {row.unit}".removesuffix(" 1"),
            row.note,
            row.key,
        )
        for row in rows
    )
    columns = (name, "processes", "bytes", "value", "note", "key")
    return Table(name, name, columns, cells, numeric=(1, 2, 3), parameters=(1, 2))


def _segment_ranges(formula: Formula) -> str:
    return ", ".join(f"{segment.first} to {segment.last}" for segment in formula.segments)


def _format_value(key: str, value: object) -> str:
    """Format the value as in the file, with up to six digits. A long value is shortened."""
    rounded = float(f"{value:.6g}") if isinstance(value, float) else value
    text = value_text(key.rsplit(".", 1)[-1], rounded).strip('"')
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[:MAX_VALUE_LENGTH]}..."
