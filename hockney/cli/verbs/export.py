# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney export: a run as a table for other programs."""

from __future__ import annotations

from pathlib import Path

import click

from hockney.api import Run
from hockney.api.export.files import save_csv, save_parquet
from hockney.api.run_contents import What
from hockney.cli import messages
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.load import load_and_note


@click.command(
    "export",
    cls=Command,
    epilog=example(
        "hockney export runs/mine --csv times.csv", "hockney export runs/mine --what summaries --csv -"
    ),
)
@options.folder
@click.option("--csv", "csv_file", metavar="FILE", help="Write CSV (- for stdout).")
@click.option("--parquet", "parquet_file", metavar="FILE", help="Write Parquet (needs pyarrow).")
@click.option(
    "--what",
    type=click.Choice(["repetitions", "summaries"]),
    default="repetitions",
    show_default=True,
    help="One row per repetition, or one per case with its typical time.",
)
@options.quiet
def command(run: Path | Run, csv_file: str | None, parquet_file: str | None, what: What, quiet: bool) -> int:
    """Write a run's times as CSV or Parquet. Times are in seconds, sizes in bytes."""
    if csv_file is None and parquet_file is None:
        raise messages.no_table_file()
    table = load_and_note(run, quiet=quiet).table(what)
    if csv_file is not None:
        save_csv(table, csv_file)
    if parquet_file is not None:
        save_parquet(table, Path(parquet_file))
    return 0
