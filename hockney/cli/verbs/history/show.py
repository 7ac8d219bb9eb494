# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history show: how times changed."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.archive import archive, selected
from hockney.cli.arguments.click_extensions import Command, example


@click.command(
    "show",
    cls=Command,
    epilog=example(
        "hockney history show",
        "hockney history show pingpong --report changes.html",
        "hockney history show pingpong bytes=8 ranks=2 --since 2023-01-01",
    ),
)
@click.argument("case", metavar="[CASE]", nargs=-1)
@archive
@selected
@click.option("--report", "page", type=options.PATH, metavar="FILE", help="Also write a page, one HTML file.")
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Show how times changed over the runs, when, and what changed in the environment.

    CASE is an operation (allreduce), which stands for the mean of its cases and for each of them, or an
    operation with parameters (allreduce bytes=4KiB ranks=4). By default all operations are shown.

    Runs are the units of a series; each machine has its own. If nothing changed in any series of a machine,
    a change is reported with a probability of 5% at most. Each has its date and its size with 95% intervals.
    """
    from hockney.cli.actions.history.show import action

    return action(**given)
