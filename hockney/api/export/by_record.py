# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The records of a run as rows: each case in each launch, with statistics of its repetitions."""

from __future__ import annotations

from hockney.api.export.table import Cell, Rows, cells_of, parameter_names
from hockney.core.record import RunRecords
from hockney.models.statistics import median_interval


def records(run: RunRecords) -> Rows:
    """One row for each case in each launch, in order of measuring. `median_s` is that of the
    repetitions, and `low_s` to `high_s` its 95% interval within this launch (s); the next launch may differ
    by more, see `summaries`."""
    measured = [record for record in run.records if record.times_s]
    cases = [record.parsed_case() for record in measured]
    names, index = parameter_names(cases), {launch.launch: launch.index for launch in run.launches}
    rows: list[dict[str, Cell]] = [
        {
            **cells_of(case, record, names),
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
            "visits": record.visits_made,
            "batch": record.batch,
            "bytes_moved": record.bytes_moved,
            "verified_bytes": record.verified.bytes,
            "errors": record.verified.errors,
            "sync_kind": record.sync.kind,
        }
        for case, record in zip(cases, measured, strict=True)
        for median, low, high in [median_interval(record.times_s)]
    ]
    return Rows.of({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})
