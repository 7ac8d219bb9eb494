# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run: a study by name, or individual cases."""

from __future__ import annotations

import click

from hockney.cli.arguments import batch, checking, options
from hockney.cli.arguments.commands import QuestionCommand, verb


@verb(
    "run",
    "hockney run pingpong bytes=0:64KiB barrier --budget 5s",
    "hockney run pingpong bytes=0:4MiB --format osu",
    "hockney run --like osu_allgatherv --like IMB-RMA/Unidir_put bytes=8,1KiB",
    "hockney run --list",
    cls=QuestionCommand,
)
@click.argument("words", nargs=-1, metavar="STUDY [NAME=VALUE...]|CASE...")
@click.option("--list", "show", is_flag=True, help="List the studies and workloads with their parameters.")
@options.like
@options.force
@options.new_run_options
@batch.batch
@checking.checking
@options.out
@options.columns
@options.result_format(
    ["table", "plain", "osu"],
    "table at the end, or lines while measuring: plain (size, time, bandwidth, or --columns) or osu (as "
    "OSU's benchmarks print them).",
)
@click.option(
    "-f",
    "--full",
    is_flag=True,
    help="With --format osu: also print minimum, maximum and iterations, like OSU's -f.",
)
def command() -> None:
    """Run a study, or individual cases.

    A study may have parameters: hockney run granularity work=1ms:10ms. 'hockney run STUDY --help' lists them.

    A case is a workload with its parameters: pingpong bytes=8. A list of values, such as bytes=0:4MiB,
    algorithm=mpi,dissemination or ranks=2,4, makes one case per value. --ranks and --sizes apply to cases
    that do not set them.

    --repeat 20 --every 1m measures everything 20 times, once a minute; --through 8h repeats them as often as
    8 hours allow. The differences between rounds show how the machine changes over time.
    """
