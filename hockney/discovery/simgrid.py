# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""SimGrid's SMPI, which runs the engine on simulated machines.

It is searched in $HOCKNEY_SIMGRID, in hockney's cache (where `hockney build --simgrid` puts it), on PATH, and
in the usual folders. Its compiler wrapper and launcher are treated as an MPI.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from hockney import process
from hockney.core.errors import EnvironmentProblem, one_line, printable
from hockney.core.machine import Mpi
from hockney.core.paths import COMPLETE_MARKER, cache_folder, expand_home
from hockney.discovery.cpu import read_text
from hockney.discovery.probe import TOOL_SECONDS, Notify, Source
from hockney.mpi import smpi

GET_SIMGRID = "apt install libsimgrid-dev (Debian, Ubuntu), or 'hockney build --simgrid', which needs no root"

OLDEST = (3, 32)
USUAL = ("/usr", "/usr/local", "/opt/simgrid")


def find_simgrid(environ: Mapping[str, str] | None = None, notify: Notify = lambda _: None) -> Mpi:
    """The SimGrid to simulate with. Raises EnvironmentProblem, with ways to get one."""
    environ = os.environ if environ is None else environ
    named = environ.get("HOCKNEY_SIMGRID")
    if named:
        return probe_simgrid(expand_home(Path(named)), "environment")
    simgrid = next(find_all_simgrids(environ, notify), None)
    if simgrid is None:
        raise EnvironmentProblem(
            "no SimGrid found",
            "simulated machines run on it",
            f"install it: {GET_SIMGRID}",
            code="no-simgrid",
        )
    return simgrid


def find_all_simgrids(environ: Mapping[str, str], notify: Notify = lambda _: None) -> Iterator[Mpi]:
    """Every usable SimGrid, each once, the one to use first; `notify` receives a note on each that is
    ignored."""
    seen: set[str] = set()
    for prefix, source in candidate_prefixes(environ):
        real = os.path.realpath(prefix / "bin" / "smpicxx")
        if real in seen or not os.path.isfile(real):
            continue
        seen.add(real)
        try:
            yield probe_simgrid(prefix, source)
        except EnvironmentProblem as problem:
            notify(str(problem))


def candidate_prefixes(environ: Mapping[str, str]) -> Iterator[tuple[Path, Source]]:
    """Prefixes that may contain one."""
    built = (cache_folder(environ)).glob("simgrid-*")
    prefixes = [place for place in built if read_text(place / COMPLETE_MARKER) == str(place)]
    for place in sorted(prefixes, key=lambda p: version_numbers(p.name), reverse=True):
        yield place, "cache"
    wrapper = shutil.which("smpicxx", path=environ.get("PATH", ""))
    if wrapper:
        yield Path(wrapper).absolute().parent.parent, "path"
    for usual in USUAL:
        yield Path(usual), "path"


def probe_simgrid(place: Path, source: Source) -> Mpi:
    """The SimGrid at a prefix, its bin folder, or one of its programs."""
    prefix = find_prefix(place)
    if prefix is None:
        raise EnvironmentProblem(
            f"no smpicxx at {printable(str(place))}",
            "the engine is compiled with it",
            f"install SimGrid with its development files: {GET_SIMGRID}",
            code="simgrid-wrapper-missing",
        )
    wrapper, launcher = prefix / "bin" / "smpicxx", prefix / "bin" / "smpirun"
    try:
        done = process.capture([str(launcher), "-version"], timeout=TOOL_SECONDS)
    except EnvironmentProblem as error:
        raise _simgrid_failed(launcher, str(error)) from error
    match = re.search(r"SimGrid version (\d+(?:\.\d+)+)", done.out + done.err)
    if not match:
        raise EnvironmentProblem(
            f"{launcher} does not work",
            "it does not print its version",
            f"reinstall SimGrid: {GET_SIMGRID}",
            code="simgrid-without-version",
        )
    if version_numbers(match[1]) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise EnvironmentProblem(
            f"SimGrid {match[1]} in {prefix} is too old",
            f"hockney needs {oldest} or newer",
            f"install a newer one: {GET_SIMGRID}",
            code="simgrid-too-old",
            version=match[1],
        )
    _start_simulator(launcher)
    return Mpi(
        family=smpi.FAMILY.name,
        version=match[1],
        prefix=str(prefix),
        mpicxx=str(wrapper),
        mpiexec=str(launcher),
        source=source,
    )


def _start_simulator(launcher: Path) -> None:
    """Start once what smpirun, a script, starts, with the libraries that it names: a copy may lack them.
    Raises EnvironmentProblem."""
    script = read_text(launcher)
    match = re.search(r'"([^"\n]*/smpimain)"', script)
    if match is None:
        return
    libraries = re.search(r'^export LD_LIBRARY_PATH="([^"$\n]+)', script, re.MULTILINE)
    before = os.environ.get("LD_LIBRARY_PATH")
    paths = [each for each in (libraries and libraries[1], before) if each]
    try:
        done = process.capture(
            [match[1], "program", "--version", ""],
            os.environ | ({"LD_LIBRARY_PATH": os.pathsep.join(paths)} if paths else {}),
            timeout=TOOL_SECONDS,
        )
    except EnvironmentProblem as error:
        raise _simgrid_failed(Path(match[1]), str(error)) from error
    if done.code:
        raise _simgrid_failed(Path(match[1]), done.err)


def find_prefix(place: Path) -> Path | None:
    """The prefix, given itself, its bin folder or a program there; None if it has no smpicxx."""
    meant = place.parent.parent if place.is_file() else place.parent if place.name == "bin" else place
    return meant if (meant / "bin" / "smpicxx").is_file() else None


def version_numbers(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", text))


def _simgrid_failed(program: Path, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{program} does not work",
        one_line(reason),
        f"reinstall SimGrid: {GET_SIMGRID}",
        code="simgrid-failed",
    )
