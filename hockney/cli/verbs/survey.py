# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey: the study everyone starts with."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.click_extensions import Command, example


@click.command("survey", cls=Command, epilog=example("hockney survey --budget 30s --precision 5%"))
@options.asked
@options.out
@options.columns
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Measure this machine's message passing and report what it costs.

    Prints a summary and the path of report.html; with --columns also a table of all cases.
    """
    from hockney.cli.actions.survey import action

    return action(**given)
