# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney replay: a traced program, run again by other executors."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import Command, example


@click.command(
    "replay",
    cls=Command,
    epilog=example("hockney replay runs/app --on model"),
)
@click.argument("profile", type=options.PATH, metavar="PROFILE")
@click.option(
    "--on",
    metavar="model|smpi|sim:NAME|lan:NAME|here",
    multiple=True,
    default=("model",),
    show_default="model",
    help="What runs it: the model; SimGrid with a machine like the surveyed one, or with a described one; an "
    "emulated machine; or this one. Several times for several.",
)
@click.option(
    "--run",
    type=options.PATH,
    metavar="RUN",
    help="Take the machine's costs from this survey.  [default: the profile's, or the newest one]",
)
@click.option("--mpi", metavar="NAME|PATH", default="", help="The MPI of the replayer.  [default: as usual]")
@click.option(
    "--free-matching",
    is_flag=True,
    help="Receives from any sender take the first message that comes, not the one of the trace.",
)
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Run a traced program again: by the model, a simulator, an emulated machine, or here.

    PROFILE is the folder of 'hockney profile --trace'. Every executor gets the same graph: computation as
    recorded, messages and collectives in the order of the trace. Executors of the program's own machine
    should agree with it. Call sites that differ by more than 5% of the time in MPI are named.

    Exit code 0 if they agree, 4 if not: then predictions for this program are not reliable."""
    from hockney.cli.actions.replay import action

    return action(**given)
