# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney resume: go on with a run that was ended early."""

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
    help="Time for what is left, or for each round that is.  [default: its share of the run's]",
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
    """Measure what a run planned and does not have; cases that failed are tried once more.

    A run folder that you did not make starts no program that it names, unless you name it again.
    """
    with ProgressReporter(quiet) as reporter:
        made = api.resume(run, budget=budget, **instead, listen=reporter)
        return print_answer(made, reporter, Form(as_json, columns))
