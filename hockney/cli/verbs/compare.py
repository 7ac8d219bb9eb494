# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney compare: what is slower in B than in A."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import TwoSidesCommand, verb


@verb(
    "compare",
    "hockney compare runs/old runs/new",
    "hockney compare runs/old runs/old-2 -- runs/new --tolerance 10% --report compared.html",
    'hockney compare --interleaved "--mpi openmpi" "--mpi mpich" allreduce bytes=8,1KiB --budget 10s',
    cls=TwoSidesCommand,
)
@click.argument("sides", metavar="A... [--] B...|STUDY|CASE...", nargs=-1)
@click.option(
    "--interleaved",
    nargs=2,
    metavar="OPTIONS OPTIONS",
    help="Measure A and B in alternating launches, each with its own options, such as '-x UCX_TLS=tcp'. "
    "The arguments are then a study or cases, as for hockney run (default: survey), and the options "
    "below apply to both sides.",
)
@click.option(
    "--tolerance",
    type=options.SHARE,
    help="Change in time that does not matter.  [default: 5%, 2% with --interleaved]",
)
@click.option("--all", "all_cases", is_flag=True, help="List all cases, not only the biggest changes.")
@options.result_format(
    ["table", "junit", "markdown"],
    "table; junit: XML for CI systems; markdown: for a pull request.",
)
@options.page
@options.cost
@options.out
@options.measuring_options
def command() -> None:
    """Compare two runs, or several per side: what is slower in B than in A, and by how much.

    A and B are run folders, folders of runs, or a published machine (hockney machines). With several on a
    side, -- separates A from B, and the launches of each side are pooled.

    For each case, the ratio B / A is given with a 95% interval over launches. B is slower or faster if the
    ratio is beyond the tolerance, the same if the ratio is within the tolerance, and otherwise undecided. On
    average, at most 5% of the cases reported as slower or faster are false, however many cases there are.

    With --interleaved, A and B are measured in many pairs of short launches (--launches sets the number of
    pairs), so that slow changes of the machine cancel out. The runs are a and b in one folder: 'hockney
    compare FOLDER' compares them again, 'hockney resume FOLDER' measures what is missing, or adds pairs.

    A and B may also be two profiles (hockney profile --repeat 5). The comparison then covers the program's
    time, and each MPI operation and call site.

    Exit code 0 if B is not slower, 1 if an operation is slower or data arrived corrupted in B, 4 if no
    operation is slower but some are undecided.
    """
