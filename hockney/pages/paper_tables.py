# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a paper's numbers, and of a machine's description with origins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from hockney.core.platform import Platform
from hockney.draw.page import Table
from hockney.machines.simulated import origin_of, places, value_text
from hockney.reference import Formula, PrintedRow, Published

NO_ORIGIN = "not said"
WIDEST = 60
"""Characters of a value."""


def tables(paper: Published) -> tuple[Table, ...]:
    """Every printed number: a grid of workloads and processes if the paper has one, otherwise a list."""
    made = []
    for name, rows in groupby(paper.rows, key=lambda row: row.table):
        group = list(rows)
        made.append(_grid(name, group) if _is_grid(group) else _list(name, group))
    return tuple(made)


def formulas(paper: Published) -> Table | None:
    if not paper.formulas:
        return None
    rows = tuple(
        (f.table, f.case or "no case", str(f.ranks), f.printed, _ranges(f), f.key) for f in paper.formulas
    )
    columns = ("formula", "case", "processes", "printed", "bytes", "key")
    return Table("formulas", "Formulas", columns, rows, numeric=(2,), parameters=(2, 4))


def described(platform: Platform) -> Table:
    """Every number and choice of a description that differs from its default, with its origin."""
    rows = []
    for place, value in places(platform).items():
        origin = origin_of(platform, place)
        status = origin.status if origin else NO_ORIGIN
        source = origin.source if origin else ""
        if origin and origin.rows:
            source += f" (rows {', '.join(origin.rows)})"
        rows.append((place, _shown(place, value), status, source))
    return Table("described", platform.title, ("key", "value", "origin", "from"), tuple(rows))


def extent(platform: Platform) -> str:
    """The network in a word or two: "torus 8x8x8", "switch"."""
    network = platform.network
    return " ".join(filter(None, (network.shape, "x".join(map(str, network.dims)))))


def node_count(platform: Platform) -> int:
    return sum(group.count for group in platform.nodes)


def _is_grid(rows: Sequence[PrintedRow]) -> bool:
    """Every workload has a number for each of several process counts, once."""
    asked = [(_what(row), row.ranks) for row in rows]
    counts = {row.ranks for row in rows}
    workloads = {_what(row) for row in rows}
    is_complete = len(asked) == len(set(asked)) == len(counts) * len(workloads)
    return is_complete and None not in counts and len(counts) > 1


def _what(row: PrintedRow) -> str:
    """The workload, and its algorithm if the case names one."""
    return " ".join([row.workload, *(word for word in row.case.split() if word.startswith("algorithm="))])


def _grid(name: str, rows: Sequence[PrintedRow]) -> Table:
    counts = sorted({row.ranks for row in rows if row.ranks is not None})
    lines: dict[str, dict[int | None, str]] = {}
    for row in rows:
        lines.setdefault(_what(row), {})[row.ranks] = f"{row.value:.10g}"
    cells = tuple((workload, *(line[count] for count in counts)) for workload, line in lines.items())
    columns = (f"{name} ({rows[0].unit})", *(f"P = {count}" for count in counts))
    caption = f"keys as {rows[0].key}"
    return Table(name, name, columns, cells, numeric=tuple(range(1, len(columns))), caption=caption)


def _list(name: str, rows: Sequence[PrintedRow]) -> Table:
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


def _ranges(formula: Formula) -> str:
    return ", ".join(f"{piece.first} to {piece.last}" for piece in formula.segments)


def _shown(place: str, value: object) -> str:
    """The value as in the file, to six digits; of a long list only the beginning."""
    rounded = float(f"{value:.6g}") if isinstance(value, float) else value
    text = value_text(place.rsplit(".", 1)[-1], rounded).strip('"')
    return text if len(text) <= WIDEST else f"{text[:WIDEST]}..."
