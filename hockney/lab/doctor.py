# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Everything a survey needs, checked step by step."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hockney import build
from hockney.core.errors import HockneyError
from hockney.core.machine import Machine, Mpi
from hockney.core.paths import cache_folder
from hockney.core.record import Launch
from hockney.core.units import format_bytes, format_seconds
from hockney.lab.bench import Tell
from hockney.lab.kinds import kind_of, prepare
from hockney.launch.launcher import LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.machine import (
    describe,
    find_mpi,
    find_simgrid,
    load_between,
    moment,
    on_machine,
    processors,
    shared_memory,
    writable,
)

BUSY_CORES = 0.2
LISTENING_S = 1.0
LITTLE_SHARED_BYTES = 128 << 20


@dataclass(frozen=True)
class Finding:
    verdict: Literal["good", "note", "bad"]
    subject: str
    text: str


def look_around(machine: str, mpi: str, tell: Tell) -> tuple[Machine, list[Mpi]]:
    """This machine, and every MPI found: first the one that would be used. Raises where `mpi` is none."""
    if kind_of(machine).TRAITS.invented:
        return prepare(machine).machine, []
    mpis: list[Mpi] = []
    try:
        mpis.append(find_mpi(mpi or None, tell=tell))
    except HockneyError as problem:
        if mpi:
            raise
        tell(f"note: {problem}")
    mpis += [found for found in on_machine(os.environ) if found.mpicxx not in [m.mpicxx for m in mpis]]
    return describe(mpis[0] if mpis else None), mpis


def examine(machine: str, mpi: str) -> Iterator[Finding]:
    """Findings as they are made; the first that is bad ends it, since the rest rests on it."""
    if kind_of(machine).TRAITS.invented:
        yield Finding("good", "machine", "a fake one, which can always measure")
        return
    here = describe(None)
    yield Finding("good", "machine", f"{here.cpu}, {here.cores} cores, {here.system}")
    yield Finding("good", "Python", f"{here.python} in {sys.prefix}")
    if here.virtual:
        yield Finding("note", "virtual", f"{here.virtual}: neighbours can slow it unseen")
    if here.governor not in ("", "performance"):
        yield Finding("note", "governor", f"{here.governor}: set 'performance' for steady numbers")
    yield _load()
    yield from shared_room(shared_memory())
    yield cache_room(cache_folder(os.environ))
    yield simulator(os.environ)
    try:
        found = find_mpi(mpi or None)
        yield Finding("good", "MPI", f"{found.title}: {found.mpicxx} and {found.mpiexec} (by {found.source})")
        for other in on_machine(os.environ):
            if other.mpicxx != found.mpicxx:
                yield Finding("note", "other MPI", f"{other.title}: --mpi {other.mpicxx} would measure it")
        built = build.engine(found)
        how = "compiled before" if built.cached else f"compiled in {format_seconds(built.seconds)}"
        yield Finding("good", "engine", f"{built.path} ({how}, {built.compiler})")
        launcher = MpiLauncher(found, built.path, processors().cores)
        for ranks in sorted({2, max(2, here.cores)}):
            hosts = {hello.host for hello in launcher.check(ranks)}
            yield Finding("good", f"{ranks} ranks", f"start and see each other on {', '.join(sorted(hosts))}")
        yield _binding(launcher, min(2, here.cores))
        yield _crowd(launcher, here.cores + 1)
    except HockneyError as problem:
        yield Finding("bad", "cannot measure", str(problem))


def shared_room(room: tuple[int, int] | None) -> Iterator[Finding]:
    """Docker gives 64 MB by default, which some MPIs fill with a few ranks."""
    if room is None:
        yield Finding("note", "/dev/shm", "is not there: MPI will talk through files or sockets")
    elif room[0] < LITTLE_SHARED_BYTES:
        size = format_bytes(room[0])
        yield Finding(
            "note", "/dev/shm", f"has {size} free: give a container more (docker run --shm-size=1g)"
        )
    else:
        yield Finding("good", "/dev/shm", f"has {format_bytes(room[0])} free")


def cache_room(folder: Path) -> Finding:
    why = writable(folder)
    if why:
        return Finding(
            "bad", "cache", f"{folder} cannot be written ({why}): set HOCKNEY_CACHE to another folder"
        )
    return Finding("good", "cache", f"{folder} can be written")


def simulator(environ: Mapping[str, str]) -> Finding:
    """Without SimGrid all but simulated machines works."""
    try:
        found = find_simgrid(environ)
    except HockneyError as problem:
        return Finding("note", "SimGrid", f"{problem}; nothing else needs it")
    return Finding("good", "SimGrid", f"{found.version} in {found.prefix} (by {found.source})")


def _binding(launcher: MpiLauncher, ranks: int) -> Finding:
    """Start ranks with nothing to do, and see where they say they are."""
    for line in launcher.run([], ranks, LaunchOptions("doctor", 0, budget_s=1.0)):
        if isinstance(line, Launch):
            bound = not line.binding.startswith("none")
            return Finding("good" if bound else "note", "binding", line.binding)
    return Finding("note", "binding", "the ranks do not tell where they are")


def _crowd(launcher: MpiLauncher, ranks: int) -> Finding:
    """More ranks than cores can start on most machines, but not in every allocation."""
    try:
        launcher.check(ranks)
    except HockneyError as problem:
        return Finding("note", f"{ranks} ranks", f"more ranks than cores do not start: {problem}")
    return Finding("good", f"{ranks} ranks", "start, though they share cores")


def _load() -> Finding:
    """Listen for a second to what else runs."""
    before = moment()
    time.sleep(LISTENING_S)
    busy = load_between(before, moment()).outside_cores
    if busy is None:
        return Finding("note", "load", "the system does not tell what else runs")
    if busy > BUSY_CORES:
        return Finding("note", "load", f"other programs use {busy:.2f} processors: end them before measuring")
    return Finding("good", "load", f"other programs use {busy:.2f} processors")
