# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checks everything a survey needs, step by step."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from hockney import build
from hockney.core.binding import Cores
from hockney.core.errors import HockneyError
from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.layout import THIS_HOST, HostOptions
from hockney.core.machine import Machine, Mpi
from hockney.core.paths import cache_folder
from hockney.lab.bench import Tell
from hockney.lab.finding import Finding
from hockney.lab.kinds import kind_of, prepare
from hockney.lab.messages import findings, machines
from hockney.lab.noise import messages as noise_messages
from hockney.lab.starting import messages as starting_messages
from hockney.lab.starting.findings import hosts_found, ranks_found, start_found
from hockney.launch.allocation import hosts
from hockney.launch.choosing import Hosts, choose
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


def look_around(machine: str, mpi: str, notify: Tell) -> tuple[Machine, list[Mpi]]:
    """This machine and all its MPIs, first the one that would be used. Raises if there is no usable `mpi`."""
    if kind_of(machine).TRAITS.invented:
        return prepare(machine).machine, []
    mpis: list[Mpi] = []
    try:
        mpis.append(find_mpi(mpi or None, notify=notify))
    except HockneyError as problem:
        if mpi:
            raise
        notify(machines.note(str(problem)))
    mpis += [other for other in on_machine(os.environ) if other.mpicxx not in [m.mpicxx for m in mpis]]
    return describe(mpis[0] if mpis else None), mpis


def examine(
    machine: str,
    mpi: str,
    noise_s: float = 0.0,
    places: HostOptions = THIS_HOST,
    user: LauncherOptions = NOTHING_ADDED,
) -> Iterator[Finding]:
    """Yields findings as they are made; the first bad one is the last, since the rest depends on it. Noise is
    observed for `noise_s`, if given. Ranks are started on the hosts of `places`, with the `user`'s options of
    mpiexec; on an emulated machine these are its own hosts, and the rest is about this one."""
    traits = kind_of(machine).TRAITS
    if traits.invented:
        yield findings.machine_is_fake()
        if noise_s:
            yield noise_messages.not_real()
        return
    here = describe(None)
    yield findings.machine_found(here.cpu, here.cores, here.system)
    yield findings.python_found(here.python, sys.prefix)
    if here.virtual:
        yield findings.virtual_machine(here.virtual)
    if here.governor not in ("", "performance"):
        yield findings.governor_not_performance(here.governor)
    if not noise_s:  # observing the noise measures the load too
        yield _load()
    yield shared_room(shared_memory())
    yield cache_room(cache_folder(os.environ))
    yield simulator(os.environ)
    try:
        chosen = find_mpi(mpi or None)
        yield findings.mpi_found(chosen.title, chosen.mpicxx, chosen.mpiexec, chosen.source)
        for other in on_machine(os.environ):
            if other.mpicxx != chosen.mpicxx:
                yield findings.other_mpi(other.title, other.mpicxx)
        if chosen.family == "openmpi" and is_root():
            yield findings.root_allowed()
        where = choose(THIS_HOST if traits.emulated else places, chosen, os.environ)
        yield from hosts_found(where, here.scheduler)
        built = build.engine(chosen)
        yield findings.engine_built(built.path, built.cached, built.seconds, built.compiler)
        if traits.emulated:
            yield from emulated_hosts(machine, mpi, places, user)
        launcher = MpiLauncher(
            chosen,
            built.path,
            processors().cores,
            user=user,
            layout=where.layout,
            ways=lambda: where.ways(chosen, os.environ),
        )
        yield from ranks_found(launcher, where, here.cores)
        yield from start_found(launcher, where.layout.ranks if where.layout else min(2, here.cores))
        if not where.several:
            yield _oversubscribed(launcher, here.cores + 1)
        yield from lacking(chosen, os.environ)
    except HockneyError as problem:
        if noise_s:
            yield _load()
            yield noise_messages.no_launch(problem)
        yield findings.cannot_measure(problem)
        return
    if noise_s and traits.by_mpiexec:
        found = list(_noise(chosen, built, noise_s, where, launcher))
        if not any(finding.code in (noise_messages.QUIET, noise_messages.BUSY) for finding in found):
            yield _load()
        yield from found
    elif noise_s:
        yield _load()
        yield noise_messages.not_real()


def emulated_hosts(machine: str, mpi: str, places: HostOptions, user: LauncherOptions) -> Iterator[Finding]:
    """Whether the ranks of a survey start on the hosts of an emulated machine."""
    bench = prepare(machine, mpi, hosts=places, launcher=user)
    ranks = bench.layout.ranks if bench.layout else 2
    began = time.monotonic()
    found = sorted({hello.host for hello in bench.launcher.check(ranks).hellos})
    yield starting_messages.emulated_hosts_start(str(machine), found, time.monotonic() - began)


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def lacking(chosen: Mpi, environ: Mapping[str, str]) -> Iterator[Finding]:
    """What each MPI on this machine lacks, first the one that would be used, last SimGrid's."""
    from hockney.lab.abilities import abilities  # which only this step needs

    mpis = [chosen, *(other for other in on_machine(environ) if other.mpicxx != chosen.mpicxx)]
    with contextlib.suppress(HockneyError):
        mpis.append(find_simgrid(environ))
    for mpi in mpis:
        try:
            found = abilities(mpi, environ, is_root())
        except HockneyError as problem:
            yield findings.mpi_not_tried(mpi.title, problem)
            continue
        without = {each.what: each.refused for each in found.lacking}
        if without:
            yield findings.mpi_lacks(mpi.title, mpi.mpicxx, without, found.cached)
        else:
            yield findings.mpi_complete(mpi.title, mpi.mpicxx, found.cached)


def _noise(
    mpi: Mpi, built: build.Engine, seconds: float, where: Hosts, started: MpiLauncher
) -> Iterator[Finding]:
    from hockney.lab.noise.findings import noise_findings  # statistics, which only this step needs

    def launcher(cores: Cores) -> MpiLauncher:
        return MpiLauncher(
            mpi, built.path, cores, user=started.user, layout=where.layout, cluster=started.cluster
        )

    one_host = not where.several and hosts(os.environ) == 1
    yield from noise_findings(launcher, processors().cores, built.catalog, seconds, one_host)


def shared_room(room: tuple[int, int] | None) -> Finding:
    """Docker's default is 64 MB, which some MPIs fill with a few ranks."""
    if room is None:
        return findings.no_shared_memory()
    if room[0] < LITTLE_SHARED_BYTES:
        return findings.little_shared_memory(room[0])
    return findings.enough_shared_memory(room[0])


def cache_room(folder: Path) -> Finding:
    reason = writable(folder)
    return findings.cache_not_writable(folder, reason) if reason else findings.cache_writable(folder)


def simulator(environ: Mapping[str, str]) -> Finding:
    """Without SimGrid everything works except simulated machines."""
    try:
        simgrid = find_simgrid(environ)
    except HockneyError as problem:
        return findings.simgrid_missing(problem)
    return findings.simgrid_found(simgrid.version, simgrid.prefix, simgrid.source)


def _oversubscribed(launcher: MpiLauncher, ranks: int) -> Finding:
    """Most machines can start more ranks than cores, but not every allocation allows it."""
    try:
        launcher.check(ranks)
    except HockneyError as problem:
        return findings.oversubscribed_ranks_fail(ranks, problem)
    return starting_messages.oversubscribed_ranks_start(ranks)


def _load() -> Finding:
    """Measure the load from other processes for a second."""
    before = moment()
    time.sleep(LISTENING_S)
    busy = load_between(before, moment()).outside_cores
    if busy is None:
        return findings.load_unknown()
    return findings.load_high(busy) if busy > BUSY_CORES else findings.load_low(busy)
