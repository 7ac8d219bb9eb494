# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Everything a survey needs, checked step by step."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hockney import build
from hockney.core.errors import HockneyError
from hockney.core.machine import Machine, Mpi
from hockney.core.units import format_seconds
from hockney.lab.bench import Tell, fake_bench
from hockney.launch.mpi import MpiLauncher
from hockney.machine import describe, find_mpi, load_between, moment, on_machine, processors

BUSY_CORES = 0.2
LISTENING_S = 1.0


@dataclass(frozen=True)
class Finding:
    verdict: Literal["good", "note", "bad"]
    subject: str
    text: str


def look_around(machine: str, mpi: str, tell: Tell) -> tuple[Machine, list[Mpi]]:
    """This machine, and every MPI found: first the one that would be used."""
    if machine.startswith("fake"):
        return fake_bench(machine).machine, []
    mpis: list[Mpi] = []
    try:
        mpis.append(find_mpi(mpi or None, tell=tell))
    except HockneyError as problem:
        tell(f"note: {problem}")
    mpis += [found for found in on_machine(os.environ) if found.mpicxx not in [m.mpicxx for m in mpis]]
    return describe(mpis[0] if mpis else None), mpis


def examine(machine: str, mpi: str) -> Iterator[Finding]:
    """Findings as they are made; the first that is bad ends it, since the rest rests on it."""
    if machine.startswith("fake"):
        yield Finding("good", "machine", "a fake one, which can always measure")
        return
    here = describe(None)
    yield Finding("good", "machine", f"{here.cpu}, {here.cores} cores, {here.system}")
    if here.virtual:
        yield Finding("note", "virtual", f"{here.virtual}: neighbours can slow it unseen")
    if here.governor not in ("", "performance"):
        yield Finding("note", "governor", f"{here.governor}: set 'performance' for steady numbers")
    yield _load()
    try:
        found = find_mpi(mpi or None)
        yield Finding("good", "MPI", f"{found.title} in {found.prefix} (by {found.source})")
        built = build.engine(found)
        how = "compiled before" if built.cached else f"compiled in {format_seconds(built.seconds)}"
        yield Finding("good", "engine", f"{built.path} ({how}, {built.compiler})")
        launcher = MpiLauncher(found, built.path, processors().cores)
        for ranks in sorted({2, max(2, here.cores)}):
            hosts = {hello.host for hello in launcher.check(ranks)}
            yield Finding("good", f"{ranks} ranks", f"start and see each other on {', '.join(sorted(hosts))}")
    except HockneyError as problem:
        yield Finding("bad", "cannot measure", str(problem))


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
