# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney verify: whether a run's folder can be trusted."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("verify", "hockney verify runs/mine", "hockney verify runs/mine --salvage runs/intact")
@options.any_run
@click.option(
    "--salvage",
    type=options.PATH,
    metavar="NEW",
    help="Copy the intact lines of records.jsonl into a new run, the folder NEW.",
)
def command() -> None:
    """Check that a run's measurements are unchanged, complete and correct.

    The default for RUN is the run in runs/ with the latest records, complete or not.

    Every line of records.jsonl and every other file of a measurement has a checksum. Derived files
    (report.html, fits.json) are not checked: 'hockney report' writes them again. Exit code 1 if anything does
    not match, 4 if everything matches but measurements are missing.
    """
