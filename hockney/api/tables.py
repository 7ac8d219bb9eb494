# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a run: repetitions, records, summaries and fitted parameters, with the type of each column.

Each parameter has a column, which is empty for cases without it. Column types do not depend on empty cells,
so the tables of several runs can be joined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hockney.core.case import NODES, PLACE, Case, Value, parse_canonical
from hockney.core.fit import Estimate, Fits, FittedParameter, Summary, estimate_fields
from hockney.core.record import Record, RunRecords

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Cell = Value | None

PARAMETER_COLUMNS = ("parameter", "symbol", "unit", "value", "low", "high")
NO_PARAMETER = FittedParameter(name="", symbol="", unit="", estimate=Estimate(0.0, None, None))
"""Placeholder for the parameters of a refused fit."""
PLACE_COLUMNS = (PLACE, NODES)
"""Columns of every table of measurements: where the ranks were."""
PEER_METRICS = (
    "min_s",
    "mean_s",
    "p50_s",
    "p95_s",
    "p99_s",
    "max_s",
    "algbw_bytes_per_s",
    "busbw_bytes_per_s",
    "rate_per_s",
    "operations",
)
"""Metrics of other benchmarks, by their names in summaries."""


@dataclass(frozen=True)
class Block:
    """`count` consecutive rows of a table. A column is stored as a single cell if it is constant, otherwise
    as a list of cells. Missing columns are empty."""

    count: int
    cells: Mapping[str, Cell | Sequence[Cell]]

    def column(self, name: str) -> Sequence[Cell]:
        cells = self.cells.get(name)
        return [cells] * self.count if is_single(cells) else cells


def is_single(cells: Cell | Sequence[Cell]) -> TypeIs[Cell]:
    """Whether the column is a single cell for all rows of a block."""
    return cells is None or isinstance(cells, (str, int, float))


@dataclass(frozen=True)
class Rows:
    """A table: the `names` of its columns and its rows in blocks."""

    names: tuple[str, ...]
    blocks: tuple[Block, ...]

    @staticmethod
    def of(columns: Mapping[str, Sequence[Cell]]) -> Rows:
        """Table from columns of the same length."""
        return Rows(tuple(columns), (Block(len(next(iter(columns.values()), ())), columns),))

    @staticmethod
    def of_rows(rows: Sequence[Mapping[str, Cell]]) -> Rows:
        """Table from rows with the same columns; without rows there are no columns."""
        return Rows.of({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})

    @cached_property
    def columns(self) -> dict[str, list[Cell]]:
        """Values of each column, all of the same length."""
        return {name: [cell for block in self.blocks for cell in block.column(name)] for name in self.names}

    @property
    def count(self) -> int:
        return sum(block.count for block in self.blocks)


def repetitions(run: RunRecords) -> Rows:
    """Table with one row per stored repetition, in order of measurement; `repetition` counts from 0."""
    names = parameter_names(parse_canonical(record.case) for record in run.records)
    index = {launch.launch: launch.index for launch in run.launches}
    case_columns = ("case", "workload", "ranks", *PLACE_COLUMNS, *names)
    record_columns = (
        "origin",
        "launch",
        "launch_index",
        "position",
        "repetition",
        "time_s",
        "batch",
        "bytes_moved",
    )
    metrics = [_metric_columns(record) for record in run.records]
    blocks = [
        Block(
            len(record.times_s),
            {
                **case_cells(record.parse_case(), record, names),
                "origin": record.origin,
                "launch": record.launch,
                "launch_index": index.get(record.launch),
                "position": record.position,
                "repetition": range(len(record.times_s)),
                "time_s": record.times_s,
                "batch": record.batch,
                "bytes_moved": record.bytes_moved,
                "sync_kind": record.sync.kind,
                **cells,
            },
        )
        for record, cells in zip(run.records, metrics, strict=True)
    ]
    metric_columns = dict.fromkeys(name for cells in metrics for name in cells)
    return Rows((*case_columns, *record_columns, "sync_kind", *metric_columns), tuple(blocks))


def summaries(fits: Fits) -> Rows:
    """Table with one row per case."""
    cases = [parse_canonical(summary.case) for summary in fits.summaries]
    names = parameter_names(cases)
    metrics = {name: metric.unit for s in fits.summaries for name, metric in s.metrics.items()}
    rows: list[dict[str, Cell]] = [
        {
            **case_cells(case, s, names),
            "typical_s": s.typical.value,
            "low_s": s.typical.low,
            "high_s": s.typical.high,
            **estimate_fields("undisturbed", s.undisturbed.cost if s.undisturbed else None, "_s"),
            "disturbed": s.undisturbed.disturbed if s.undisturbed else None,
            "within": s.within,
            "between": s.between,
            **{name: getattr(s, name) for name in PEER_METRICS},
            "repetitions": s.repetitions,
            "visits": s.visits,
            "launches": s.launches,
            "inferred_launches": s.inferred_launches,
            "bytes_moved": s.bytes_moved,
            "verified_bytes": s.verified_bytes,
            "errors": s.errors,
            **_metric_cells(s, metrics),
        }
        for case, s in zip(cases, fits.summaries, strict=True)
    ]
    return Rows.of_rows(rows)


def parameters(fits: Fits) -> Rows:
    """Table with one row per parameter of each fit, and one row without a parameter for each refused fit."""
    names = sorted({name for fit in fits.fits for name in fit.subject.values})
    columns = (*("model", "workload", *names), *PARAMETER_COLUMNS, "verdict", "preferred")
    rows: list[dict[str, Cell]] = [
        {
            "model": fit.model,
            "workload": fit.subject.workload,
            **{name: fit.subject.get(name) for name in names},
            **_parameter_cells(parameter),
            "verdict": fit.verdict,
            "preferred": fit.preferred,
        }
        for fit in fits.fits
        for parameter in fit.parameters or [NO_PARAMETER]
    ]
    return Rows.of({name: [row[name] for row in rows] for name in columns})


def _parameter_cells(parameter: FittedParameter) -> dict[str, Cell]:
    if parameter is NO_PARAMETER:
        return dict.fromkeys(PARAMETER_COLUMNS)
    estimate = parameter.estimate
    values = (parameter.name, parameter.symbol, parameter.unit, estimate.value, estimate.low, estimate.high)
    return dict(zip(PARAMETER_COLUMNS, values, strict=True))


def case_cells(case: Case, source: Record | Summary, names: Iterable[str]) -> dict[str, Cell]:
    """Cells that describe a case, including the level at which the ranks communicated and the number of nodes
    (empty if unknown), even if the case does not name them."""
    location = {PLACE: source.place or None, NODES: source.nodes or None}
    values = {name: case.get(name) for name in names}
    return {"case": source.case, "workload": case.workload, "ranks": case.ranks, **location, **values}


def metric_column(metric: str, unit: str) -> str:
    """Name of a metric's column, with its unit as a suffix."""
    return f"metric_{metric}" + {"s": "_s", "B": "_bytes"}.get(unit, "")


def _metric_cells(summary: Summary, metrics: Mapping[str, str]) -> dict[str, Cell]:
    """Value and bounds of every metric of the run; empty for cases without it."""
    cells: dict[str, Cell] = {}
    for name, unit in metrics.items():
        metric = summary.metrics.get(name)
        cells |= estimate_fields(metric_column(name, unit), metric.typical if metric else None)
    return cells


def _metric_columns(record: Record) -> dict[str, float | list[float]]:
    """Metrics of a record by column name, with one column per rank for per-rank metrics. A column contains a
    value for each repetition, or one for the whole record. Phase metrics have a column for each phase if the
    record's label names the phases; other metrics of supersteps, and of events, are only in the records."""
    columns: dict[str, float | list[float]] = {}
    count = len(record.times_s)
    for name, metric_values in record.metrics.items():
        column = metric_column(name, metric_values.unit)
        if metric_values.per == "superstep":
            phases = _phase_names(record)
            if len(phases) == len(metric_values.values):
                columns |= {
                    f"{column}_{phase}": value
                    for phase, value in zip(phases, metric_values.values, strict=True)
                }
            continue
        if metric_values.per == "event":
            continue
        rows = 1 if metric_values.per == "record" else count
        ranks = len(metric_values.values) // rows if rows and metric_values.over_ranks == "each" else 1
        if ranks * rows != len(metric_values.values):
            continue
        for rank in range(ranks):
            values = metric_values.values[rank::ranks]
            rank_column = f"{column}_rank{rank}" if metric_values.over_ranks == "each" else column
            columns[rank_column] = values[0] if rows == 1 else values
    return columns


def _phase_names(record: Record) -> list[str]:
    """Names in the label `phases`, as used in column names; empty if there is no label."""
    names = filter(None, record.labels.get("phases", "").split(","))
    return [re.sub(r"\W+", "_", name) for name in names]


def parameter_names(cases: Iterable[Case]) -> tuple[str, ...]:
    """Names of all parameters except those in PLACE_COLUMNS, without duplicates."""
    return tuple(sorted({name for case in cases for name, _ in case.parameters if name not in PLACE_COLUMNS}))


def records(run: RunRecords) -> Rows:
    """Table with one row per case and launch, in order of measurement. `median_s` is the median of the
    repetitions, with its 95% interval `low_s` to `high_s` within this launch (s). Launches may differ by
    more, see `summaries`."""
    from hockney.models.statistics import median_interval  # needs numpy

    measured_records = [record for record in run.records if record.times_s]
    cases = [record.parse_case() for record in measured_records]
    names, index = parameter_names(cases), {launch.launch: launch.index for launch in run.launches}
    rows: list[dict[str, Cell]] = [
        {
            **case_cells(case, record, names),
            "origin": record.origin,
            "launch": record.launch,
            "launch_index": index.get(record.launch),
            "position": record.position,
            "started_s": record.started_s,
            "median_s": median,
            "low_s": low,
            "high_s": high,
            "mean_s": sum(record.times_s) / len(record.times_s),
            "min_s": min(record.times_s),
            "max_s": max(record.times_s),
            "repetitions": len(record.times_s),
            "visits": record.visit_count,
            "batch": record.batch,
            "bytes_moved": record.bytes_moved,
            "verified_bytes": record.verified.bytes,
            "errors": record.verified.errors,
            "sync_kind": record.sync.kind,
        }
        for case, record in zip(cases, measured_records, strict=True)
        for median, low, high in [median_interval(record.times_s)]
    ]
    return Rows.of_rows(rows)


ColumnType = type[str] | type[int] | type[float] | type[bool]

INTEGER_COLUMNS = frozenset(
    (
        "nodes", "launch_index", "operations", "ranks_a_core", "a_launches", "b_launches", "a_more_launches",
        "b_more_launches",
    )
)  # fmt: skip
TEXT_COLUMNS = frozenset(("place", "level", "parameter", "symbol", "unit", "setting"))
"""Columns that may be empty in all rows and are not real numbers; the other empty ones are measurements."""


@dataclass(frozen=True)
class TypedColumn:
    kind: ColumnType
    cells: Sequence[Cell]

    @property
    def has_gaps(self) -> bool:
        return any(cell is None for cell in self.cells)


def typed(rows: Rows) -> dict[str, TypedColumn]:
    return {name: column(name, cells) for name, cells in rows.columns.items()}


def column(name: str, cells: Sequence[Cell]) -> TypedColumn:
    """Determine the type of a column. A mixture of words and numbers becomes text, a mixture of integers and
    reals becomes real."""
    kind = _cell_type(name, {type(cell) for cell in cells if cell is not None})
    return TypedColumn(kind, [None if cell is None else kind(cell) for cell in cells])


def _cell_type(name: str, types: set[type]) -> ColumnType:
    for kind in (str, float, int, bool):
        if any(issubclass(type_, kind) and (type_ is bool) == (kind is bool) for type_ in types):
            return kind
    if name in TEXT_COLUMNS:
        return str
    return int if name in INTEGER_COLUMNS else float
