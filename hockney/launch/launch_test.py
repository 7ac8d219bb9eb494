# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Before anything is measured: do n ranks start, does each see all n, and whose library did they find?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from hockney import process
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.machine import Mpi
from hockney.launch.explain import explain, how_it_ended
from hockney.launch.launcher import LaunchCommand

START_SECONDS = 60.0
SIGNS = (("Intel(R) MPI", "intel"), ("Open MPI", "openmpi"), ("MVAPICH", "mpich"), ("MPICH", "mpich"))
TITLES = {"openmpi": "Open MPI", "mpich": "MPICH", "intel": "Intel MPI"}


class Hello(msgspec.Struct, frozen=True):
    """What one rank says of itself. `library` is MPI_Get_library_version's first line."""

    rank: int
    size: int
    host: str
    library: str


decode_hello = msgspec.json.Decoder(Hello).decode


def say_hello(command: LaunchCommand, mpi: Mpi, ranks: int, timeout: float = START_SECONDS) -> list[Hello]:
    """Run `command`, an engine with --hello; one Hello a rank, in order. Raises EnvironmentProblem."""
    try:
        done = process.capture(command.words, env=dict(command.environment), timeout=timeout)
        said, code = (done.err + done.out).splitlines(), done.code
        hellos = hellos_in(done.out.splitlines())
    except process.CannotStart as error:
        raise EnvironmentProblem(
            f"{mpi.mpiexec} cannot be started",
            error.why,
            f"repair or reinstall {mpi.title}, or choose another MPI with --mpi",
        ) from error
    except process.TookTooLong as error:
        known = explain(mpi, ranks, (error.err + error.out).splitlines())
        raise EnvironmentProblem(*(known or never_started(mpi, ranks, timeout, error.err))) from error
    problem = verdict(mpi, ranks, hellos)
    if problem is None and code == 0 and hellos:
        return hellos
    known = explain(mpi, ranks, said)
    if known or problem:
        raise EnvironmentProblem(*(known or problem))
    raise EnvironmentProblem(
        f"{mpi.title} does not start {ranks} ranks",
        how_it_ended(code, said),
        f"try '{' '.join(command.words[:3])} hostname'",
    )


def never_started(mpi: Mpi, ranks: int, timeout: float, err: str) -> tuple[str, str, str]:
    return (
        f"{mpi.title} did not start {ranks} ranks within {timeout:g} s",
        one_line(" ".join(err.split()[-40:])) or "it said nothing",
        f"try '{mpi.mpiexec} -n {ranks} hostname'; in a batch job, look at its network and host names",
    )


def hellos_in(lines: Iterable[str]) -> list[Hello]:
    """Other lines are talk of the launcher or of the site's start-up scripts."""
    found = []
    for line in lines:
        try:
            found.append(decode_hello(line[line.index("{") :]))
        except (ValueError, msgspec.DecodeError):
            continue
    return sorted(found, key=lambda hello: hello.rank)


def verdict(mpi: Mpi, ranks: int, hellos: Sequence[Hello]) -> tuple[str, str, str] | None:
    """What is wrong with these answers; None when all `ranks` ranks are there and see each other."""
    families = {family_of(hello.library) for hello in hellos} - {mpi.family, "unknown"}
    if families and mpi.family != "unknown":
        other = TITLES[families.pop()]
        return (
            f"the engine was compiled for {mpi.title}, but the ranks found the library of {other}",
            "LD_LIBRARY_PATH or a loaded module puts it first",
            f"unset LD_LIBRARY_PATH, unload {other}, or measure it instead with --mpi",
        )
    if ranks > 1 and len(hellos) > 1 and all(hello.size == 1 for hello in hellos):
        return (
            f"every rank believes to be alone: {mpi.mpiexec} does not belong to the library the ranks found",
            f"their library is {hellos[0].library.splitlines()[0][:60]}",
            "give the MPI's own prefix with --mpi, and unload other MPI modules",
        )
    if [hello.rank for hello in hellos] != list(range(ranks)) or any(hello.size != ranks for hello in hellos):
        return (
            (
                f"{len(hellos)} of {ranks} ranks answered",
                "nothing can be measured without the others",
                f"see what '{mpi.mpiexec} -n {ranks} hostname' says",
            )
            if hellos
            else None
        )
    return None


def family_of(library: str) -> str:
    return next((family for sign, family in SIGNS if sign in library), "unknown")
