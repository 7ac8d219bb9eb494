# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What an MPI lacks of what the groups of workloads need.

Its header says which calls it has, so the preprocessor is asked first (engine/abilities/list.inc, with the
macros by which the groups refuse). A program of a few calls then tries on one rank what a header cannot tell:
the level of threads, windows, files. Both are kept in the cache, for this MPI and these sources.
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

LINE = re.compile(r'HOCKNEY_ABILITY\("([^"]*)", "([^"]*)", ([01])\)')
COMPILING_S = 120.0
RUNNING_S = 60.0


class Ability(msgspec.Struct, frozen=True):
    """`what` MPI offers, the groups or cases (`refused`, separated by commas) that are refused without it,
    and whether it is `there`."""

    what: str
    refused: str
    there: bool


class Abilities(msgspec.Struct, frozen=True):
    """The abilities of one MPI. `cached`: they were found earlier."""

    known: tuple[Ability, ...]
    cached: bool = False

    @property
    def missing(self) -> tuple[Ability, ...]:
        return tuple(each for each in self.known if not each.there)


def abilities(mpi: Mpi, environ: Mapping[str, str], root: bool = False) -> Abilities:
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
    by_name = {each.what: each for each in _header_abilities(mpi, source)}
    if not family_of(mpi).simulated:
        by_name |= {each.what: each for each in _tested_abilities(mpi, source, root)}
    result = Abilities(tuple(by_name.values()))
    cache_file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(cache_file, msgspec.json.encode(result))
    return result


def _header_abilities(mpi: Mpi, source: Path) -> list[Ability]:
    """The abilities that the MPI's header promises."""
    simulated = ["-DHOCKNEY_SMPI"] if family_of(mpi).simulated else []
    words = [
        mpi.mpicxx,
        *simulated,
        f"-I{source}",
        "-E",
        "-P",
        "-x",
        "c++",
        str(source / "abilities/list.inc"),
    ]
    done = process.capture(words, env=environment_of(mpi), timeout=COMPILING_S)
    return _read(mpi, done)


def _tested_abilities(mpi: Mpi, source: Path, root: bool) -> list[Ability]:
    """The abilities that a test program finds on one rank."""
    with tempfile.TemporaryDirectory(prefix="hockney-") as folder:
        program = f"{folder}/abilities"
        words = [mpi.mpicxx, f"-I{source}", "-o", program, str(source / "abilities/abilities.cpp")]
        compiled = process.capture(words, env=environment_of(mpi), timeout=COMPILING_S)
        if not compiled.ok:
            raise _abilities_unknown(title_of(mpi), compiled.err)
        launch = command(mpi, [program, f"{folder}/file"], 1, processors().cores, bind=False, root=root)
        done = process.capture(launch.words, env=dict(launch.environment), timeout=RUNNING_S)
        return _read(mpi, done)


def _read(mpi: Mpi, done: process.CompletedProgram) -> list[Ability]:
    abilities = [Ability(what, refused, there == "1") for what, refused, there in LINE.findall(done.out)]
    if not done.ok or not abilities:
        raise _abilities_unknown(title_of(mpi), done.err)
    return abilities


def _abilities_unknown(mpi: str, output: str) -> EnvironmentProblem:
    """`output` is the compiler's or the launcher's."""
    lines = [line for line in output.splitlines() if line.strip()]
    return EnvironmentProblem(
        f"cannot determine what {mpi} lacks",
        f"a small test program does not compile or run: {one_line(lines[-1])}" if lines else "",
        "a workload that needs a missing call is refused when it runs",
        code="abilities-unknown",
        mpi=mpi,
    )
