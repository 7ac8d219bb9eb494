# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey: the study everyone starts with."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hockney.api import Question, RunOptions
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.answer import Form, measure_and_print

if TYPE_CHECKING:
    from hockney.pages.columns import CaseColumn


@click.command("survey", cls=Command, epilog=example("hockney survey --budget 30s --precision 5%"))
@options.asked
@options.out
@options.columns
@options.quiet
@options.as_json
def command(
    out: Path | None, columns: tuple[CaseColumn, ...], quiet: bool, as_json: bool, **given: Any
) -> int:
    """Measure this machine's message passing and report what it costs.

    Prints a summary and the path of report.html; with --columns also a table of all cases.
    """
    return measure_and_print(Question("survey"), RunOptions(**given), out, quiet, Form(as_json, columns))
