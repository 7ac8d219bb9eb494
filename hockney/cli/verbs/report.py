# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney report: the page of a run, and its figures as files."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("report", "hockney report runs/mine --figures figures")
@options.complete_run
@click.option(
    "--figures",
    type=options.DIR,
    help="Also write each figure as SVG and PNG into DIR.",
)
@options.cost
def command() -> None:
    """Rewrite a run's report.html from its records.

    RUN may also be a profile, the folder of hockney profile.
    """
