# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney profile: where the communication time of the user's own program goes."""

from __future__ import annotations

import click

from hockney.api.run_options import integer_parser
from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb

MAX_LAUNCHES = 1000
REPEAT = options.ParsedType("N", integer_parser(1, MAX_LAUNCHES, "5"))


@verb(
    "profile",
    "hockney profile -- mpiexec -n 8 ./app input",
    "hockney profile --overhead --out runs/app -- srun -n 64 python app.py",
    "hockney profile runs/app",
    "hockney profile --live runs/app",
    context_settings={"allow_interspersed_args": False},
)
@click.argument("words", nargs=-1, metavar="[--] COMMAND...|PROFILE")
@click.option(
    "--repeat",
    type=REPEAT,
    help="Launch the program N times; intervals are over launches, from three on.  [default: 1, with --check "
    "5]",
)
@click.option(
    "--overhead",
    is_flag=True,
    help="Measure what recording costs: at least five launches with and five without it, in random order.",
)
@click.option(
    "--trace",
    type=click.Choice(("all", "summary")),
    is_flag=False,
    flag_value="all",
    help="Also keep every call in its order: with its times, or with --trace=summary their distributions.",
)
@click.option(
    "--survey",
    type=options.PATH,
    metavar="RUN|new|none",
    help="The survey that gives this machine's costs, new for one after the program has ended.  "
    "[default: the newest one with the program's MPI]",
)
@click.option("--live", type=options.PATH, metavar="PROFILE", help="Show what a running program does now.")
@click.option(
    "--check",
    "prediction",
    type=options.FILE,
    help="Compare a frozen prediction with launches, or with a later PROFILE: 'hockney predict RUN --freeze "
    "FILE'.",
)
@click.option("--report", "page", type=options.FILE, help="Also write the page to FILE, one HTML file.")
@options.archive
@options.out
def command() -> None:
    """Profile your own MPI program: where its communication time goes, and why.

    COMMAND starts the program without hockney: mpiexec, mpirun or srun with their options, or the program
    itself. The program must be linked dynamically, but need not be recompiled. Each rank records its MPI
    calls in a file, which survives a crash, a kill and a time limit.

    The program keeps its input, its output and its environment. The summary is printed on stderr, so that
    stdout is the program's; with --json, stdout is the document, and the program's output goes to stderr.

    Times in MPI are split into software overhead, transfer, waiting for other ranks, contention and excess,
    based on a survey of this machine. A PROFILE, the folder of an earlier one, is explained again. 'hockney
    compare' compares two, 'hockney report' rewrites the page.

    With --check, the program is launched with and without the predicted changes, in random order. Launches
    can change algorithms of collectives, and the eager limit. The run time is compared with the prediction.
    A prediction for more ranks is checked on any predicted number of ranks. 'hockney predict --scores' prints
    the results of all checks. The exit code is 1 if the prediction's interval misses, 4 if that is undecided.

    Exit code 0 if all is well, 1 if the program failed, 3 if nothing could be recorded, 4 if ranks are
    missing."""
