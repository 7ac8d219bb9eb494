# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney models: the fitted parameters of a run."""

from __future__ import annotations

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("models", "hockney models runs/mine")
@options.complete_run
@options.cost
def command() -> None:
    """Print the models fitted to a run: parameters, 95% intervals, verdicts. Nothing is written."""
