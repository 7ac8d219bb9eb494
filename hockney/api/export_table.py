# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run as columns: the parameters of all cases become separate columns, empty for cases that do not have
them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hockney.core.case import Case, Value, parse_canonical
from hockney.core.fit import Estimate, Fits, FittedParameter, Summary
from hockney.core.record import Record, RunRecords

Cell = Value | None

FITTED = ("parameter", "symbol", "unit", "value", "low", "high")
NOTHING = FittedParameter(name="", symbol="", unit="", estimate=Estimate(0.0, None, None))
"""Placeholder for the parameters of a refused fit."""
PEERS = (
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
class Rows:
    """`columns` maps each name to its values, all of one length."""

    columns: dict[str, list[Cell]]

    @property
    def count(self) -> int:
        return len(next(iter(self.columns.values()), []))


def one_type(cells: list[Cell]) -> list[Cell]:
    """A parameter that is a word in one workload and a number in another is a word throughout; integers mixed
    with reals become reals."""
    for kind in (str, float):
        if any(isinstance(cell, kind) for cell in cells):
            return [None if cell is None else kind(cell) for cell in cells]
    return cells


def repetitions(run: RunRecords) -> Rows:
    """One row for each repetition kept, in order of measuring; `repetition` counts from 0."""
    names = _parameters(parse_canonical(record.case) for record in run.records)
    index = {launch.launch: launch.index for launch in run.launches}
    fixed = (
        "case",
        "workload",
        "ranks",
        *names,
        "origin",
        "launch",
        "launch_index",
        "position",
        "repetition",
    )
    columns: dict[str, list[Cell]] = {
        name: [] for name in (*fixed, "time_s", "batch", "bytes_moved", "sync_kind")
    }
    metrics = _Metrics.of(run)
    columns |= {name: [] for name in metrics.columns}
    for record in run.records:
        case = record.parsed_case()
        head: dict[str, Cell] = {
            **_of(case, record.case, names),
            "origin": record.origin,
            "launch": record.launch,
            "launch_index": index.get(record.launch),
            "position": record.position,
            "batch": record.batch,
            "bytes_moved": record.bytes_moved,
            "sync_kind": record.sync.kind,
        }
        count = len(record.times_s)
        for name, value in head.items():
            columns[name] += [value] * count
        columns["repetition"] += range(count)
        columns["time_s"] += record.times_s
        for name, cells in metrics.cells(record).items():
            columns[name] += cells
    return Rows(columns)


def summaries(fits: Fits) -> Rows:
    """One row for each case."""
    cases = [parse_canonical(summary.case) for summary in fits.summaries]
    names = _parameters(cases)
    metrics = {name: metric.unit for s in fits.summaries for name, metric in s.metrics.items()}
    rows: list[dict[str, Cell]] = [
        {
            **_of(case, s.case, names),
            "typical_s": s.typical.value,
            "low_s": s.typical.low,
            "high_s": s.typical.high,
            **_undisturbed(s),
            "within": s.within,
            "between": s.between,
            **{name: getattr(s, name) for name in PEERS},
            "repetitions": s.repetitions,
            "visits": s.visits,
            "launches": s.launches,
            "bytes_moved": s.bytes_moved,
            "verified_bytes": s.verified_bytes,
            "errors": s.errors,
            **_summaries_of(s, metrics),
        }
        for case, s in zip(cases, fits.summaries, strict=True)
    ]
    return Rows({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})


def parameters(fits: Fits) -> Rows:
    """One row for each parameter of each fit, and one without a parameter for each refused fit."""
    names = sorted({name for fit in fits.fits for name in fit.subject.values})
    columns = (*("model", "workload", *names), *FITTED, "verdict", "preferred")
    rows: list[dict[str, Cell]] = [
        {
            "model": fit.model,
            "workload": fit.subject.workload,
            **{name: fit.subject.get(name) for name in names},
            **_parameter(parameter),
            "verdict": fit.verdict,
            "preferred": fit.preferred,
        }
        for fit in fits.fits
        for parameter in fit.parameters or [NOTHING]
    ]
    return Rows({name: [row[name] for row in rows] for name in columns})


def _parameter(parameter: FittedParameter) -> dict[str, Cell]:
    if parameter is NOTHING:
        return dict.fromkeys(FITTED)
    estimate = parameter.estimate
    values = (parameter.name, parameter.symbol, parameter.unit, estimate.value, estimate.low, estimate.high)
    return dict(zip(FITTED, values, strict=True))


def _undisturbed(s: Summary) -> dict[str, Cell]:
    """Empty if a case had too few visits."""
    found = s.undisturbed
    return {
        "undisturbed_s": None if found is None else found.cost.value,
        "undisturbed_low_s": None if found is None else found.cost.low,
        "undisturbed_high_s": None if found is None else found.cost.high,
        "disturbed": None if found is None else found.disturbed,
    }


def _of(case: Case, line: str, names: Iterable[str]) -> dict[str, Cell]:
    return {"case": line, "workload": case.workload, "ranks": case.ranks, **{n: case.get(n) for n in names}}


def column_of(metric: str, unit: str) -> str:
    """The name of a metric's column, with its unit as for other fields."""
    return f"metric_{metric}" + {"s": "_s", "B": "_bytes"}.get(unit, "")


def _summaries_of(summary: Summary, metrics: Mapping[str, str]) -> dict[str, Cell]:
    """Value, low and high of every metric of the run, empty for cases without it."""
    cells: dict[str, Cell] = {}
    for name, unit in metrics.items():
        metric = summary.metrics.get(name)
        column = column_of(name, unit)
        cells[column] = None if metric is None else metric.typical.value
        cells[f"{column}_low"] = None if metric is None else metric.typical.low
        cells[f"{column}_high"] = None if metric is None else metric.typical.high
    return cells


@dataclass(frozen=True)
class _Metrics:
    """The columns of all metrics of a run: one each, or one per rank if the metric is kept for each rank."""

    columns: tuple[str, ...]

    @staticmethod
    def of(run: RunRecords) -> _Metrics:
        return _Metrics(tuple(dict.fromkeys(name for r in run.records for name in _by_column(r))))

    def cells(self, record: Record) -> dict[str, list[Cell]]:
        """One cell per repetition in every column; a value of the whole record is repeated in all of them."""
        values = _by_column(record)
        none: list[Cell] = [None] * len(record.times_s)
        return {name: list(values.get(name, none)) for name in self.columns}


def _by_column(record: Record) -> dict[str, list[float]]:
    columns: dict[str, list[float]] = {}
    count = len(record.times_s)
    for name, series in record.metrics.items():
        column = column_of(name, series.unit)
        repeated = series.values * count if series.per == "record" else series.values
        ranks = len(repeated) // count if count and series.over_ranks == "each" else 1
        if ranks * count != len(repeated):
            continue
        for rank in range(ranks):
            columns[f"{column}_rank{rank}" if series.over_ranks == "each" else column] = repeated[rank::ranks]
    return columns


def _parameters(cases: Iterable[Case]) -> tuple[str, ...]:
    """Names of all parameters, each once; `sync` and similar ones keep their names."""
    return tuple(sorted({name for case in cases for name, _ in case.parameters}))
