# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney plan: what would run, without running it."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import QuestionCommand, verb


@verb(
    "plan",
    "hockney plan --budget 5m",
    "hockney plan allreduce bytes=0:1MiB ranks=2 --cases",
    cls=QuestionCommand,
)
@click.argument("words", nargs=-1, metavar="[STUDY [NAME=VALUE...]|CASE...]")
@click.option("--cases", "lines", is_flag=True, help="Print only the cases, one canonical line each.")
@options.like
@options.force
@options.new_run_options
def command() -> None:
    """Show what would run: cases, launches, bytes and time. The default is the survey."""
