# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney export: a run as a table for other programs."""

from __future__ import annotations

from pathlib import Path

from hockney.api import Run
from hockney.api.export import save_csv, save_parquet
from hockney.api.noise_trace import save_noise_trace
from hockney.api.run_contents import TableName
from hockney.cli.output.progress import ProgressReporter, load_and_note
from hockney.core.errors import UsageError
from hockney.core.notice import Notice

MANY_ROWS = 100_000


def action(
    run: Path | Run,
    csv_file: str | None,
    parquet_file: str | None,
    noise_trace: str | None,
    what: TableName,
    quiet: bool,
) -> int:
    if csv_file is None and parquet_file is None and noise_trace is None:
        raise UsageError(
            "no output file is given",
            "",
            "use --csv FILE, --parquet FILE or --noise-trace FILE",
            code="no-table-file",
        )
    contents = load_and_note(run, quiet=quiet)
    if noise_trace is not None:
        save_noise_trace(contents.evidence, Path(noise_trace))
    if csv_file is None and parquet_file is None:
        return 0
    table = contents.table(what)
    if csv_file is not None:
        save_csv(table, csv_file)
    if parquet_file is not None:
        save_parquet(table, Path(parquet_file))
    if what == "repetitions" and table.count > MANY_ROWS:
        ProgressReporter(quiet)(many_rows_notice(table.count))
    return 0


def many_rows_notice(rows: int) -> Notice:
    return Notice(
        f"the table has {rows} rows, one for each repetition; '--what summaries' writes one for each case",
        "many-rows",
    )
