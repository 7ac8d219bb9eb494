# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney resume: continue a run that ended early."""

from __future__ import annotations

import click

from hockney.cli.arguments import batch, options
from hockney.cli.arguments.commands import verb


@verb("resume", "hockney resume runs/mine")
@options.unfinished_run
@click.option(
    "--budget",
    type=options.BUDGET,
    help="Time for the rest, or for each remaining round.  [default: its share of the run's budget]",
)
@batch.share
@batch.batch
@options.launcher_options
@options.host_options
@options.machine_options
@options.columns
def command() -> None:
    """Measure the rest of an unfinished run; failed cases are tried once more.

    The results of a batch job are printed when it has ended; --submit submits another job for what is
    missing.

    If somebody else made the run folder, repeat the options that name programs.
    """
