# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney tune: tables of collective algorithms for other programs, from the records of a run."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("tune", "hockney run tuning --ranks 2 --budget 5m", "hockney tune --out tuned --check")
@click.argument("run", type=options.RUN, required=False)
@click.option("--out", type=options.PATH, metavar="FOLDER", required=True, help="Write the tables here.")
@click.option(
    "--effect",
    type=options.PRECISION,
    help="Minimum gain for which another algorithm is used.  [default: 5%]",
)
@click.option(
    "--check",
    "checked",
    is_flag=True,
    help="Measure the gain again, in alternating launches with and without the tables.",
)
@click.option(
    "--library",
    type=options.PATH,
    metavar="PREFIX",
    help="With --check: where 'hockney build --library' has installed the library.",
)
@click.option(
    "--budget",
    type=options.BUDGET,
    help="With --check: time for all launches.  [default: 60s]",
)
def command() -> None:
    """Write tables of the fastest collective algorithms, for use by other programs.

    Uses RUN, or the newest complete run of 'hockney run tuning' in runs/. An algorithm other than MPI's own
    choice is used only where the 95% interval of the ratio of their times shows a gain of at least --effect.
    Writes hockney.choices for hockney's library (docs/library.md) and, if Open MPI's own algorithms were
    measured, openmpi-rules.conf for Open MPI (docs/tuning.md).

    Exit code 4 if no algorithm is faster and most comparisons are undecided.

    With --check: measures all sizes in the tables again, with and without the tables, both in programs that
    keep freed memory and in programs that return it. If a table is slower at some size in either kind of
    program, the size is removed from the table, and the exit code is 1. Exit code 4 if no gain was confirmed.
    """
