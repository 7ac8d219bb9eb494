# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history prune: removes old runs by rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.archive import MOMENT, archive
from hockney.cli.arguments.click_extensions import Command, example

F = TypeVar("F", bound=Callable[..., Any])


def _keep(what: str, text: str) -> Callable[[F], F]:
    return click.option(f"--keep-{what}", type=options.LAUNCHES, metavar="N", default=None, help=text)


@click.command(
    "prune",
    cls=Command,
    epilog=example(
        "hockney history prune --keep-last 20 --keep-weekly 52 --dry-run",
        "hockney history prune --older-than 2y --keep-monthly 24",
    ),
)
@archive
@_keep("last", "Keep the newest N runs.")
@_keep("daily", "Keep the newest run of each of the last N days with runs.")
@_keep("weekly", "Keep the newest run of each of the last N weeks with runs.")
@_keep("monthly", "Keep the newest run of each of the last N months with runs.")
@click.option(
    "--older-than",
    "older_s",
    type=MOMENT,
    metavar="DATE|AGO",
    default=None,
    help="Remove only runs from before this date, such as 2026-01-31, or from longer ago: 30d, 8w, 1y.",
)
@click.option(
    "--machine", metavar="NAME", default="", help="Only runs of this machine or host; * and ? match."
)
@click.option("--label", metavar="TEXT", default="", help="Only runs with this label; * and ? match.")
@click.option("--study", metavar="NAME", default="", help="Only runs of this study.")
@click.option("--dry-run", is_flag=True, help="Only print what would be removed.")
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Remove the runs that no rule keeps.

    Rules apply separately to each machine and study; a run stays if one of them keeps it. Without a rule
    nothing is removed. Days, weeks and months are those of UTC.
    """
    from hockney.cli.actions.history.prune import action

    return action(**given)
