# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney import: the output of other benchmarks as runs."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb(
    "import",
    "hockney import logs/osu_latency.log",
    "hockney import logs/osu_1.log logs/osu_2.log --ranks 16 --label old --out runs/old",
)
@click.argument("files", metavar="FILE...", nargs=-1, type=options.PATH)
@click.option(
    "--ranks",
    type=options.NODES,
    help="The number of ranks, if the output does not state it.",
)
@click.option("--machine", metavar="NAME", default="", help="A name for the machine, which the page shows.")
@click.option(
    "--label", metavar="TEXT", default="", help="A name for the run, which pages and comparisons show."
)
@click.option(
    "--in-place", is_flag=True, help="Use the in-place times of nccl-tests instead of the out-of-place times."
)
@options.out
def command() -> None:
    """Convert the output of OSU, IMB, nccl-tests or SKaMPI into runs.

    The formats are recognised by their contents. Each suite and version gets its own run; if there are
    several, --out is the folder for all of them. Each execution of a benchmark is treated as a launch, so
    several logs of the same benchmark give intervals. The verbs report, models, predict, compare and export
    read these runs like any others.

    Results without a corresponding case are listed on stderr.
    """
