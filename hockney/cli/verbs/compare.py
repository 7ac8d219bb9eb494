# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney compare: what is slower in B than in A."""

from __future__ import annotations

from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import TwoSidesCommand, example, typed_options


@click.command(
    "compare",
    cls=TwoSidesCommand,
    epilog=example(
        "hockney compare runs/old runs/new",
        "hockney compare runs/old runs/old-2 -- runs/new --tolerance 10% --report compared.html",
        'hockney compare --interleaved "--mpi openmpi" "--mpi mpich" allreduce bytes=8,1KiB --budget 10s',
    ),
)
@click.argument("sides", metavar="A... [--] B...|STUDY|CASE...", nargs=-1)
@click.option(
    "--interleaved",
    nargs=2,
    metavar="OPTIONS OPTIONS",
    help="Measure A and B in alternating launches, with these options each, such as '-x UCX_TLS=tcp'; "
    "the arguments are then a study or cases, as of hockney run (default: survey), and the options "
    "below apply to both.",
)
@click.option(
    "--tolerance",
    type=options.SHARE,
    metavar="SHARE",
    default=None,
    help="A change of the time that does not matter.  [default: 5%, 2% with --interleaved]",
)
@click.option("--all", "all_cases", is_flag=True, help="List all cases, not only the biggest changes.")
@options.result_format(
    ["table", "junit", "markdown"],
    "table; junit: XML for CI systems; markdown: for a pull request.",
)
@click.option("--report", "page", type=options.PATH, metavar="FILE", help="Also write a page, one HTML file.")
@options.cost
@options.out
@options.measuring_options
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Compare two runs, or several a side: what is slower in B than in A, and by how much.

    A and B are run folders, folders of runs, or a published machine (hockney machines). With several on a
    side, -- separates A from B; the launches of a side count together.

    For each case, the ratio B / A has a 95% interval over launches. B is slower or faster if the ratio is
    beyond the tolerance, the same if it is within it, and otherwise undecided. At most 5% of the cases
    reported as slower or faster are false on average, however many there are.

    With --interleaved, both are measured, in many pairs of short launches (--launches pairs), so that slow
    changes of the machine cancel. The runs are a and b in one folder: 'hockney compare FOLDER' compares them
    again, 'hockney resume FOLDER' measures what is missing, or adds pairs.

    Exit code 0 if B is not slower, 1 if an operation is slower or if data arrived wrong in B, 4 if none is,
    but some are undecided.
    """
    from hockney.cli.actions.compare import action

    return action(**given, typed=typed_options(click.get_current_context()))
