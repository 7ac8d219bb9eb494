# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey: the study everyone starts with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example
from hockney.cli.arguments.run_options import Asked
from hockney.cli.run_flow import ask


@click.command("survey", cls=Command, epilog=example("hockney survey --budget 30s --precision 5%"))
@options.asked
@options.out
@options.quiet
@options.as_json
def command(out: Path | None, quiet: bool, as_json: bool, **asked: Any) -> int:
    """Measure this machine's message passing and show what it costs.

    Prints the answer in words and the path of report.html.
    """
    return ask("survey", Asked(**asked), (), out, quiet, as_json)
