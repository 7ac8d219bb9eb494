# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney report: the page of a run, and its figures as files."""

from __future__ import annotations

from pathlib import Path

import click

from hockney.api import Run
from hockney.cli import messages
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.load import load_and_note
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_whole
from hockney.core.errors import printable
from hockney.core.fit import Cost


@click.command("report", cls=Command, epilog=example("hockney report runs/mine --figures figures"))
@options.folder
@click.option(
    "--figures",
    type=options.PATH,
    metavar="DIR",
    help="Also write each figure as SVG and PNG into DIR.",
)
@options.cost
@options.quiet
@options.as_json
def command(run: Path | Run, figures: Path | None, cost: Cost, quiet: bool, as_json: bool) -> int:
    """Rewrite a run's report.html from its records."""
    loaded = load_and_note(run, cost, quiet=quiet, fit=True)
    with ProgressReporter(quiet).doing(messages.writing_report()):
        written = [loaded.report()]
        if figures is not None:
            written += loaded.figures(figures)
    if as_json:
        print_json({"files": [printable(str(path)) for path in written], "cost": cost})
    else:
        for path in written:
            print_whole(str(path))
    return 0
