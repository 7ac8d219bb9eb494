# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney build: compile the engine now."""

from __future__ import annotations

import click

from hockney import lab
from hockney.cli import options
from hockney.cli.tables import print_json, print_line
from hockney.cli.talk import Talk
from hockney.cli.words import Command, example


@click.command("build", cls=Command, epilog=example("hockney build"))
@options.where
@options.quiet
@options.as_json
def command(mpi: str, machine: str, quiet: bool, as_json: bool) -> int:
    """Compile the engine for an MPI, unless that was done before. Prints its path."""
    bench = lab.prepare(machine, mpi, True, Talk(quiet).say)
    if as_json:
        here = bench.machine
        print_json({"engine": here.engine, "compiler": here.compiler, "flags": here.flags, "mpi": here.mpi})
    else:
        print_line(bench.machine.engine)
    return 0
