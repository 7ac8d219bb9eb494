# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney import: the output of other benchmarks as runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import Command, example


@click.command(
    "import",
    cls=Command,
    epilog=example(
        "hockney import logs/osu_latency.log",
        "hockney import logs/osu_1.log logs/osu_2.log --ranks 16 --label old --out runs/old",
    ),
)
@click.argument("files", metavar="FILE...", nargs=-1, type=options.PATH)
@click.option(
    "--ranks",
    type=options.NODES,
    metavar="N",
    help="The number of ranks, where the output does not contain it.",
)
@click.option("--machine", metavar="NAME", default="", help="A name for the machine, which the page shows.")
@click.option(
    "--label", metavar="TEXT", default="", help="A name for the run, which pages and comparisons show."
)
@click.option(
    "--in-place", is_flag=True, help="The in-place times of nccl-tests instead of the out-of-place times."
)
@options.out
@options.quiet
@options.as_json
def command(**given: Any) -> int:
    """Make runs of the output of OSU, IMB, nccl-tests or SKaMPI.

    The formats are recognised by their contents. There is one run for each suite and version; with several,
    --out is the folder of all of them. Each time that a benchmark was run is a launch, so several logs of the
    same benchmark give intervals. report, models, predict, compare and export read these runs like others.

    What has no corresponding case is listed on stderr.
    """
    return int(import_module("hockney.cli.actions.import").action(**given))
