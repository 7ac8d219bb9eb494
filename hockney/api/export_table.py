# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run as columns: the parameters of all cases become columns of their own, empty where a case has none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hockney.core.case import Case, Value, parse_canonical
from hockney.core.fit import Fits
from hockney.core.record import Run

Cell = Value | None


@dataclass(frozen=True)
class Rows:
    """`columns` maps each name to its values, all of one length."""

    columns: dict[str, list[Cell]]

    @property
    def count(self) -> int:
        return len(next(iter(self.columns.values()), []))


def repetitions(run: Run) -> Rows:
    """One row for each repetition kept, in the order measured; `repetition` counts from 0."""
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
    return Rows(columns)


def summaries(fits: Fits) -> Rows:
    """One row for each case."""
    cases = [parse_canonical(summary.case) for summary in fits.summaries]
    names = _parameters(cases)
    rows: list[dict[str, Cell]] = [
        {
            **_of(case, s.case, names),
            "median_s": s.median.value,
            "low_s": s.median.low,
            "high_s": s.median.high,
            "within": s.within,
            "between": s.between,
            "repetitions": s.repetitions,
            "launches": s.launches,
            "bytes_moved": s.bytes_moved,
            "verified_bytes": s.verified_bytes,
            "errors": s.errors,
        }
        for case, s in zip(cases, fits.summaries, strict=True)
    ]
    return Rows({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})


def _of(case: Case, line: str, names: Iterable[str]) -> dict[str, Cell]:
    values = dict(case.parameters)
    return {"case": line, "workload": case.workload, "ranks": case.ranks, **{n: values.get(n) for n in names}}


def _parameters(cases: Iterable[Case]) -> tuple[str, ...]:
    """Names of all parameters, each once; `sync` and the like keep their names."""
    return tuple(sorted({name for case in cases for name, _ in case.parameters}))
