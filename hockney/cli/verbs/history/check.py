# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history check: is the newest run as usual?"""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.archive import archive, selected
from hockney.cli.arguments.click_extensions import Command, example


@click.command(
    "check",
    cls=Command,
    epilog=example("hockney history check", "hockney history check runs/mine --tolerance 10% --format junit"),
)
@click.argument("run", metavar="[RUN]", required=False)
@archive
@selected
@click.option(
    "--tolerance",
    type=options.SHARE,
    metavar="SHARE",
    default="5%",
    show_default=True,
    help="A change of the time that does not matter.",
)
@click.option(
    "--last",
    type=options.LAUNCHES,
    metavar="N",
    default="50",
    show_default=True,
    help="Compare with the last N earlier runs.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["table", "junit", "markdown"]),
    metavar="FORMAT",
    default="table",
    show_default=True,
    help="table; junit: XML for CI systems; markdown: for a message.",
)
@click.option("--report", "page", type=options.PATH, metavar="FILE", help="Also write a page, one HTML file.")
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Check whether the newest run is as usual, by the spread of the earlier ones.

    RUN is a run folder or the name of a run in the archive, by default the newest run there. It is compared
    with the earlier runs of the same machine since the last change: a time is slower or faster if it is
    outside of the interval in which 95% of such runs are, by more than the tolerance. At most 5% of those
    reported are false on average, however many cases there are.

    Exit code 0 if no operation is slower than usual, 1 if one is or if data arrived wrong, 4 if there are too
    few earlier runs (5 are needed), if they differ too much, or if cases failed.
    """
    from hockney.cli.actions.history.check import action

    return action(**given)
