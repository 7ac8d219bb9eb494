# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The features that groups of workloads need and an MPI lacks.

The preprocessor lists the calls that the MPI's header declares (engine/abilities/list.inc, with the macros by
which groups refuse to compile). A small program then tests on one rank what the header does not show: the
thread level, windows, files. Both results are cached for this MPI and these sources.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

import msgspec

from hockney import build, process
from hockney.core.errors import EnvironmentProblem, one_line
from hockney.core.machine import Mpi
from hockney.core.paths import cache_folder
from hockney.discovery.cpu import processors
from hockney.launch.command import command
from hockney.mpi import environment_of, family_of, title_of
from hockney.system.files import write_atomically

ABILITY_LINE = re.compile(r'HOCKNEY_ABILITY\("([^"]*)", "([^"]*)", ([01])\)')
COMPILE_TIMEOUT_S = 120.0
RUN_TIMEOUT_S = 60.0


class Ability(msgspec.Struct, frozen=True):
    """A feature of an MPI: `what` it offers, and whether it is `there`. `refused` lists the groups or cases
    that are refused without it, separated by commas."""

    what: str
    refused: str
    there: bool


class Abilities(msgspec.Struct, frozen=True):
    """The abilities of one MPI. `cached` is set if they were found earlier."""

    known: tuple[Ability, ...]
    cached: bool = False

    @property
    def missing(self) -> tuple[Ability, ...]:
        return tuple(each for each in self.known if not each.there)


def find_abilities(mpi: Mpi, environ: Mapping[str, str], root: bool = False) -> Abilities:
    """Determine the abilities of `mpi`, from the cache if they were found earlier. Raises EnvironmentProblem
    if the program does not compile or run."""
    source = build.source_folder()
    cache_file = (
        cache_folder(environ) / "abilities" / f"{mpi.family}-{build.identity_of(mpi, source, environ)}.json"
    )
    try:
        return msgspec.structs.replace(
            msgspec.json.decode(cache_file.read_bytes(), type=Abilities), cached=True
        )
    except (OSError, msgspec.DecodeError):
        pass
    by_name = {ability.what: ability for ability in _header_abilities(mpi, source)}
    if not family_of(mpi).simulated:
        by_name |= {ability.what: ability for ability in _tested_abilities(mpi, source, root)}
    result = Abilities(tuple(by_name.values()))
    cache_file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(cache_file, msgspec.json.encode(result))
    return result


def _header_abilities(mpi: Mpi, source: Path) -> list[Ability]:
    """Return the abilities that the MPI's header declares."""
    simulator_options = ["-DHOCKNEY_SMPI"] if family_of(mpi).simulated else []
    command_words = [
        mpi.mpicxx,
        *simulator_options,
        f"-I{source}",
        "-E",
        "-P",
        "-x",
        "c++",
        str(source / "abilities/list.inc"),
    ]
    completed = process.capture(command_words, env=environment_of(mpi), timeout=COMPILE_TIMEOUT_S)
    return _read_abilities(mpi, completed)


def _tested_abilities(mpi: Mpi, source: Path, root: bool) -> list[Ability]:
    """Return the abilities that a test program finds on one rank."""
    with tempfile.TemporaryDirectory(prefix="hockney-") as folder:
        program = f"{folder}/abilities"
        command_words = [mpi.mpicxx, f"-I{source}", "-o", program, str(source / "abilities/abilities.cpp")]
        compiled = process.capture(command_words, env=environment_of(mpi), timeout=COMPILE_TIMEOUT_S)
        if not compiled.ok:
            raise _unknown_abilities_error(title_of(mpi), compiled.err)
        launch = command(mpi, [program, f"{folder}/file"], 1, processors().cores, bind=False, root=root)
        completed = process.capture(launch.words, env=dict(launch.environment), timeout=RUN_TIMEOUT_S)
        return _read_abilities(mpi, completed)


def _read_abilities(mpi: Mpi, completed: process.CompletedProgram) -> list[Ability]:
    abilities = [
        Ability(feature, refused_workloads, is_present == "1")
        for feature, refused_workloads, is_present in ABILITY_LINE.findall(completed.out)
    ]
    if not completed.ok or not abilities:
        raise _unknown_abilities_error(title_of(mpi), completed.err)
    return abilities


def _unknown_abilities_error(mpi_title: str, output: str) -> EnvironmentProblem:
    """Return the error for an MPI whose test failed with this output of the compiler or the launcher."""
    lines = [line for line in output.splitlines() if line.strip()]
    return EnvironmentProblem(
        f"cannot determine what {mpi_title} lacks",
        f"a small test program does not compile or run: {one_line(lines[-1])}" if lines else "",
        "a workload that needs a missing call is refused when it runs",
        code="abilities-unknown",
        mpi=mpi_title,
    )
