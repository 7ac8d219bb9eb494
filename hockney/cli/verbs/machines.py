# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney machines: this machine, simulated and emulated machines, and machines in papers."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("machines", "hockney machines", "hockney machines --show t3e", "hockney machines --export t3e")
@click.option(
    "--show",
    "shown",
    metavar="NAME",
    default="",
    help="Show the details of a simulated or published machine (t3e, my.toml) or an emulated one (lan:NAME).",
)
@click.option(
    "--export",
    "exported",
    metavar="NAME",
    default="",
    help="Write a published machine's numbers as a run, for report, models and export.",
)
@options.out
@options.machine_options
def command() -> None:
    """List this machine and its MPIs, simulated, emulated and published machines."""
