# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey: the study everyone starts with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hockney.api import Question, RunOptions
from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.output.summary import measure_and_print


@click.command("survey", cls=Command, epilog=example("hockney survey --budget 30s --precision 5%"))
@options.asked
@options.out
@options.quiet
@options.as_json
def command(out: Path | None, quiet: bool, as_json: bool, **given: Any) -> int:
    """Measure this machine's message passing and report what it costs.

    Prints a summary and the path of report.html.
    """
    return measure_and_print(Question("survey"), RunOptions(**given), out, quiet, as_json)
