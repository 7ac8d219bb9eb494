# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney resume: continue a run that ended early."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hockney import api
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.answer import Form, print_answer
from hockney.cli.output.progress import ProgressReporter

if TYPE_CHECKING:
    from hockney.pages.columns import CaseColumn


@click.command("resume", cls=Command, epilog=example("hockney resume runs/mine"))
@options.unfinished_folder
@click.option(
    "--budget",
    type=options.BUDGET,
    metavar="TIME",
    help="Time for the rest, or for each remaining round.  [default: its share of the run's budget]",
)
@options.launcher
@options.where
@options.columns
@options.quiet
@options.as_json
def command(
    run: Path,
    budget: float | None,
    columns: tuple[CaseColumn, ...],
    quiet: bool,
    as_json: bool,
    **instead: Any,
) -> int:
    """Measure the rest of an unfinished run; failed cases are tried once more.

    If somebody else made the run folder, repeat the options that name programs.
    """
    with ProgressReporter(quiet) as reporter:
        made = api.resume(run, budget=budget, **instead, listen=reporter)
        return print_answer(made, reporter, Form(as_json, columns))
