# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney build: compile the engine now, SimGrid for simulated machines, or the C++ library."""

from __future__ import annotations

from pathlib import Path

from hockney import measurement
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_unwrapped
from hockney.core.errors import UsageError
from hockney.measurement import StepDone


def action(
    mpi: str,
    machine: str,
    simgrid: bool,
    force: bool,
    library: bool,
    prefix: Path | None,
    quiet: bool,
    as_json: bool,
) -> int:
    reporter = ProgressReporter(quiet)
    if library and (simgrid or machine):
        option = "--simgrid" if simgrid else "--machine"
        raise UsageError(
            f"--library and {option} exclude each other",
            "the library is built for an MPI on this machine",
            "use for example --library --prefix ~/.local --mpi mpich",
            code="library-with-other-target",
            option=option,
        )
    if library != (prefix is not None):
        prefix_given = prefix is not None
        raise UsageError(
            "--prefix requires --library" if prefix_given else "--library requires --prefix",
            "only the library is installed" if prefix_given else "the library is installed in that folder",
            "use for example --library --prefix ~/.local",
            code="library-without-prefix",
        )
    if prefix is not None:
        return _build_library(reporter, mpi, prefix, as_json)
    if simgrid:
        return _build_simgrid(reporter, force, as_json)
    if force:
        raise UsageError(
            "--force requires --simgrid",
            "the engine is rebuilt automatically when its inputs change",
            "leave --force out",
            code="force-without-simgrid",
        )
    bench = measurement.prepare(machine, mpi, True, reporter.say)
    if as_json:
        machine_built = bench.machine
        print_json(
            {
                "engine": machine_built.engine,
                "compiler": machine_built.compiler,
                "flags": machine_built.flags,
                "mpi": machine_built.mpi,
            }
        )
    else:
        print_unwrapped(bench.machine.engine)
    return 0


def _build_library(reporter: ProgressReporter, mpi: str, prefix: Path, as_json: bool) -> int:
    where = prefix.expanduser().absolute()
    linked = measurement.install_library(mpi, where, reporter.say)
    if as_json:
        print_json({"library": str(where), "mpi": linked})
    else:
        print_unwrapped(str(where))
    return 0


def _build_simgrid(reporter: ProgressReporter, force: bool, as_json: bool) -> int:
    with reporter:
        installed = measurement.provide_simgrid(
            force, reporter.say, lambda done, total: reporter(StepDone("compiled", done, total))
        )
    if as_json:
        print_json({"simgrid": installed})
    else:
        print_unwrapped(installed.prefix)
    return 0
