# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney models: the fitted parameters of a run."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import Command, example


@click.command("models", cls=Command, epilog=example("hockney models runs/mine"))
@options.complete_run
@options.cost
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Print the models fitted to a run: parameters, 95% intervals, verdicts. Nothing is written."""
    from hockney.cli.actions.models import action

    return action(**given)
