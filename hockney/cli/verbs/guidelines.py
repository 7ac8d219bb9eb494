# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney guidelines: which collectives are slower than another way to the same result."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("guidelines", "hockney run guidelines --ranks 2", "hockney guidelines --factor 1.1")
@click.argument("run", type=options.RUN, required=False)
@click.option(
    "--factor",
    type=options.FACTOR,
    help="A violation takes more than F times as long as the other way.  [default: 1.05]",
)
@options.cost
def command() -> None:
    """List collectives that are slower than another way to the same result.

    Uses RUN, or the newest complete run of 'hockney run guidelines' in runs/, or else the newest complete run
    of any kind that contains the necessary cases. The other way is an emulation by other collectives, an
    algorithm of hockney, the same call with more bytes, or several calls with fewer.

    Exit code 1 if there are violations, 4 if there are none but most comparisons are undecided.
    """
