# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney build: compile the engine now, SimGrid for simulated machines, or the C++ library."""

from __future__ import annotations

import click

from hockney.cli.arguments import options
from hockney.cli.arguments.commands import verb


@verb("build", "hockney build")
@options.machine_options
@click.option(
    "--simgrid",
    is_flag=True,
    help="Build SimGrid instead of the engine, unless it is installed already.",
)
@click.option("--force", is_flag=True, help="Build SimGrid even if it is installed already.")
@click.option("--library", is_flag=True, help="Compile and install the C++ library instead.")
@click.option("--prefix", type=options.DIR, help="Install the library into this folder.")
def command() -> None:
    """Compile the engine for an MPI, unless it is compiled already. Prints its path.

    With --simgrid: download the sources of SimGrid from the package index (and Boost's headers if the
    compiler finds none), compile them into hockney's cache, and print the folder. This takes a few minutes
    and 400 MB of temporary space, but needs neither root nor an MPI.

    With --library: compile the barriers and collectives for C++ programs that use this MPI, and BSPlib for C
    and C++. Headers, libraries, BSPlib's commands, and files for CMake and pkg-config are installed into
    --prefix.
    """
