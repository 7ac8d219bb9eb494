# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney barrier: the fastest barrier, from the records of a run that measured them."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb
from hockney.cli.arguments.options import predicted_layout


@verb("barrier", "hockney run barriers --ranks 2", "hockney barrier --best")
@click.argument("run", type=options.RUN, required=False)
@click.option("--best", is_flag=True, help="Print only the fastest, as a sentence.")
@click.option(
    "--ranks",
    type=options.RANKS,
    metavar="P,...",
    default=(),
    help="Rank counts, such as 2 or 2,4,8.  [default: all that were measured]",
)
@predicted_layout("as measured")
def command() -> None:
    """Name the fastest barrier for a number of ranks, and its margin.

    Uses RUN, or the newest complete run of 'hockney run barriers' in runs/. If the number of ranks was
    measured, barriers are compared by their measured times, and two are treated as equally fast if the 95%
    interval of their ratio includes 1. Otherwise, they are compared by the models, within the limits of these
    models, and the output is marked as predicted. On several nodes, barriers are compared for each number of
    nodes that was measured, and predicted for other numbers from the costs of messages within a node and
    between nodes.
    """
