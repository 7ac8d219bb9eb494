# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney export: a run as a table for other programs."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb(
    "export",
    "hockney export runs/mine --csv times.csv",
    "hockney export runs/mine --what summaries --csv -",
    json=False,
)
@options.complete_run
@click.option("--csv", "csv_file", metavar="FILE", help="Write CSV (- for stdout).")
@click.option("--parquet", "parquet_file", metavar="FILE", help="Write Parquet (needs pyarrow).")
@click.option(
    "--noise-trace",
    metavar="FILE",
    help="Write the observed noise of cores as a noise trace for machine files.",
)
@click.option(
    "--what",
    type=click.Choice(["repetitions", "records", "summaries", "parameters"]),
    default="repetitions",
    show_default=True,
    help="One row per repetition, per case and launch, per case, or per fitted parameter.",
)
def command() -> None:
    """Write a run's times as CSV or Parquet, or its noise of cores. Times are in seconds, sizes in bytes."""
