# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney calibrate: turn a survey of a real machine into a simulated one."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("calibrate", "hockney calibrate runs/mine --out mine.toml --check")
@options.survey_run
@click.option("--out", type=options.FILE, help="The machine file to write.  [default: stdout]")
@click.option("--name", metavar="NAME", default="", help="The machine's name.  [default: the host's]")
@click.option(
    "--nodes",
    type=options.NODES,
    default=0,
    help="Number of nodes.  [default: enough for 16384 ranks]",
)
@click.option(
    "--network",
    metavar="NAME|FILE",
    default="",
    help="Take the network between nodes from this simulated machine.  [default: as measured]",
)
@click.option("--noise", is_flag=True, help="Add noise to messages, as measured in the run.")
@click.option(
    "--check",
    is_flag=True,
    help="Survey the simulated twin too, and compare it with the run. The first time, this compiles the "
    "engine for SimGrid.",
)
@click.option("--against", type=options.RUN, help="Compare the twin with another run instead.")
@options.cost
def command() -> None:
    """Write a machine file from a run, to simulate its machine at any size.

    For every number, the machine file states the fit or typical time that it comes from, or marks it as a
    guess. With --cost undisturbed, the times describe the fast mode.

    With --check or --against, the simulated twin is surveyed too. Exit code 1 if a message, a fitted
    parameter or a collective between 2 ranks disagrees, 4 if nothing disagrees but most comparisons are
    undecided.
    """
