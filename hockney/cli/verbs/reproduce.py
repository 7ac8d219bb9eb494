# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney reproduce: a paper's printed numbers compared with a simulation of its machine."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("reproduce", "hockney reproduce --list")
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--list", "show", is_flag=True, help="List what can be reproduced.")
@click.option(
    "--out",
    type=options.DIR,
    help="Folder for the runs and the report: new, or from a reproduction to be continued.  "
    "[default: runs/reproduce-NAME-TIME]",
)
@click.option("--figures", type=options.DIR, help="Also write each figure as SVG and PNG into DIR.")
@click.option(
    "--machine",
    default="",
    metavar="lan:NAME|lan:FILE",
    help="Also measure on an emulated Ethernet, with real TCP (sun and ethernet).",
)
def command() -> None:
    """Repeat papers' studies on their machines, simulated by SimGrid or emulated.

    NAME is a paper's machine (t3e, paragon ...) or all. For every published number, the output lists the
    published, simulated and modelled values, the error, and whether the machine's description was fitted to
    the number or predicts it. Each statement of the paper is checked. The report draws the paper's figures.
    Exit code 1 if a statement does not hold.
    """
