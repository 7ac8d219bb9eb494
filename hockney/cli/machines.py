# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney machines: where programs can run."""

from __future__ import annotations

import click

from hockney import lab
from hockney.cli import options
from hockney.cli.tables import print_json, print_line, text_table
from hockney.cli.talk import Talk
from hockney.cli.words import Command, example
from hockney.draw.page import Table


@click.command("machines", cls=Command, epilog=example("hockney machines"))
@options.where
@options.as_json
def command(mpi: str, machine: str, as_json: bool) -> int:
    """Show this machine and every MPI found on it; the first is what hockney uses."""
    here, mpis = lab.look_around(machine, mpi, Talk(False).say)
    if as_json:
        print_json({"machine": here, "mpi": mpis})
        return 0
    virtual = f", {here.virtual}" if here.virtual else ""
    print_line(f"{here.host}: {here.cpu}, {here.cores} cores, {here.threads} threads{virtual}")
    rows = tuple((each.title, each.source, each.prefix) for each in mpis)
    if rows:
        click.echo()
        click.echo(text_table(Table("mpi", "", ("MPI", "found by", "in"), rows)))
    return 0
