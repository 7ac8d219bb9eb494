# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checks everything that a survey needs, step by step. It starts ranks as a run would, and reports where they
are and what starting them costs."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from hockney import build
from hockney.core.errors import HockneyError, join_sentences, printable
from hockney.core.launcher_options import NO_LAUNCHER_OPTIONS, LauncherOptions
from hockney.core.layout import (
    LEVEL_PHRASES,
    THIS_HOST,
    Cores,
    HostOptions,
    level_between,
    sort_levels,
)
from hockney.core.machine import Machine, Mpi, Traits
from hockney.core.paths import cache_folder
from hockney.core.record import Launch
from hockney.core.units import format_bytes, format_seconds
from hockney.core.wording import join_words, list_names, plural
from hockney.discovery.cpu import processors
from hockney.discovery.describe import describe
from hockney.discovery.find import find_all_mpis, find_mpi
from hockney.discovery.load import load_between, moment
from hockney.discovery.simgrid import find_simgrid
from hockney.discovery.system import shared_memory, writable
from hockney.launch.allocation import count_hosts
from hockney.launch.choosing import Hosts, choose
from hockney.launch.launcher import Hello, LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.measurement.bench import Notify
from hockney.measurement.events import Finding
from hockney.measurement.kinds import kind_of, prepare
from hockney.measurement.noise import BUSY_CODE, QUIET_CODE, noise_findings, noise_skipped_finding
from hockney.mpi import family_of, title_of

MAX_QUIET_CORES = 0.2
LOAD_SAMPLE_S = 1.0
MIN_SHARED_BYTES = 128 << 20
_MAX_LISTED_HOSTS = 8
MIN_REPORTED_FABRIC_S = 0.1
"""A fabric that costs less time than this is not reported."""


def inspect_host(machine: str, mpi: str, notify: Notify) -> tuple[Machine, list[Mpi]]:
    """Return this machine and all its MPIs, the one that would be used first. Raises HockneyError if `mpi` is
    not usable."""
    if kind_of(machine).TRAITS.is_fake:
        return prepare(machine).machine, []
    mpis: list[Mpi] = []
    try:
        mpis.append(find_mpi(mpi or None, notify=notify))
    except HockneyError as problem:
        if mpi:
            raise
        notify(f"note: {problem}")
    mpis += [other for other in find_all_mpis(os.environ) if other.mpicxx not in [m.mpicxx for m in mpis]]
    return describe(mpis[0] if mpis else None), mpis


def examine(
    machine: str,
    mpi: str,
    noise_s: float = 0.0,
    host_options: HostOptions = THIS_HOST,
    launcher_options: LauncherOptions = NO_LAUNCHER_OPTIONS,
) -> Iterator[Finding]:
    """Yield findings as they are made. The first bad one is the last, because further checks depend on it.

    With `noise_s`, noise is observed for that time (s). Ranks start on the hosts of `host_options`, with the
    mpiexec options of `launcher_options`. An emulated machine has its own hosts; all other findings are about
    this host.
    """
    site = _ExaminedSite(machine, mpi, host_options, launcher_options)
    if site.traits.is_fake:
        yield Finding("good", "machine", "fake; it can always measure", "fake-machine")
        if noise_s:
            yield _noise_not_applicable_finding()
        return
    yield from system_findings(site.machine_here)
    if not noise_s:  # observing the noise measures the load too
        yield _load_finding()
    yield shared_memory_finding(shared_memory())
    yield cache_finding(cache_folder(os.environ))
    yield simgrid_finding(os.environ)
    try:
        for check in _LAUNCH_CHECKS:
            yield from check(site)
    except HockneyError as problem:
        if noise_s:
            yield _load_finding()
            yield noise_skipped_finding(f"no ranks can be started ({problem.what})")
        yield Finding("bad", "cannot measure", str(problem), "cannot-measure")
        return
    if noise_s:
        yield from _noise_and_load_findings(site, noise_s)


@dataclass(frozen=True)
class _ExaminedSite:
    """The examined machine. Each part is determined when a check first needs it, and may raise
    HockneyError."""

    machine: str
    requested_mpi: str
    host_options: HostOptions
    launcher_options: LauncherOptions

    @cached_property
    def traits(self) -> Traits:
        return kind_of(self.machine).TRAITS

    @cached_property
    def machine_here(self) -> Machine:
        return describe(None)

    @cached_property
    def mpi(self) -> Mpi:
        return find_mpi(self.requested_mpi or None)

    @cached_property
    def hosts(self) -> Hosts:
        """The hosts of a launch; for an emulated machine, this host."""
        return choose(THIS_HOST if self.traits.emulated else self.host_options, self.mpi, os.environ)

    @cached_property
    def engine(self) -> build.Engine:
        return build.engine(self.mpi)

    @cached_property
    def launcher(self) -> MpiLauncher:
        return MpiLauncher(
            self.mpi,
            self.engine.path,
            processors().cores,
            user=self.launcher_options,
            layout=self.hosts.layout,
            clusters=lambda: self.hosts.candidate_clusters(self.mpi, os.environ),
        )


def system_findings(here: Machine) -> Iterator[Finding]:
    yield Finding("good", "machine", f"{here.cpu}, {here.cores} cores, {here.system}", "machine")
    yield Finding("good", "Python", f"{here.python} in {sys.prefix}", "python")
    if here.virtual:
        text = f"{here.virtual}: other guests can slow it down undetected"
        yield Finding("note", "virtual", text, "virtual-machine")
    if here.governor not in ("", "performance"):
        text = f"{here.governor}: set 'performance' for stable numbers"
        yield Finding("note", "governor", text, "governor-not-performance")


def _check_mpis(site: _ExaminedSite) -> Iterator[Finding]:
    mpi = site.mpi
    text = f"{title_of(mpi)}: {mpi.mpicxx} and {mpi.mpiexec} (by {mpi.source})"
    yield Finding("good", "MPI", text, "mpi")
    for candidate in find_all_mpis(os.environ):
        if candidate.mpicxx != mpi.mpicxx:
            text = f"{title_of(candidate)}; measure it with --mpi {candidate.mpicxx}"
            yield Finding("note", "other MPI", text, "other-mpi")


def _check_user(site: _ExaminedSite) -> Iterator[Finding]:
    root_variables = family_of(site.mpi).root_variables
    if root_variables and is_root():
        variable = next(iter(root_variables))
        text = f"running as root: hockney sets {variable} for its launches, as containers need"
        yield Finding("note", "user", text, "root-allowed")


def _check_hosts(site: _ExaminedSite) -> Iterator[Finding]:
    """Report the hosts to be used, before anything is started there."""
    layout = site.hosts.layout
    if layout is None or not site.hosts.spans_nodes:
        return
    hosts = site.hosts.cluster.hosts[: layout.nodes]  # () if only the launcher has their names
    host_list = f" on {list_names(hosts, _MAX_LISTED_HOSTS)}" if hosts else ""
    job_text = f" ({site.machine_here.scheduler})" if site.machine_here.scheduler else ""
    yield Finding(
        "good",
        "hosts",
        f"{layout.text}: {plural(layout.nodes, 'host')} with {plural(layout.ranks_per_node, 'rank')} each"
        f"{host_list}{job_text}",
        "layout",
        {"nodes": layout.nodes, "ranks_per_node": layout.ranks_per_node, "hosts": list(hosts)},
    )


def _check_engine(site: _ExaminedSite) -> Iterator[Finding]:
    engine = site.engine
    origin = "compiled earlier" if engine.cached else f"compiled in {format_seconds(engine.seconds)}"
    yield Finding("good", "engine", f"{engine.path} ({origin}, {engine.compiler})", "engine")


def _check_emulated_hosts(site: _ExaminedSite) -> Iterator[Finding]:
    """Start the ranks of a survey on the hosts of an emulated machine."""
    if not site.traits.emulated:
        return
    bench = prepare(site.machine, site.requested_mpi, hosts=site.host_options, launcher=site.launcher_options)
    start_s = time.monotonic()
    hellos = bench.launcher.check(bench.layout.ranks if bench.layout else 2).hellos
    hosts = ", ".join(sorted({hello.host for hello in hellos}))
    duration = format_seconds(time.monotonic() - start_s)
    text = f"ranks started on the emulated hosts {hosts} in {duration}"
    yield Finding("good", site.machine, text, "emulated-hosts-start")


def _check_ranks(site: _ExaminedSite) -> Iterator[Finding]:
    """Start 2 ranks, then one on each core, or the ranks of the layout. Raises EnvironmentProblem."""
    launcher, layout = site.launcher, site.hosts.layout
    hellos: tuple[Hello, ...] = ()
    for ranks in [layout.ranks] if layout else sorted({2, max(2, site.machine_here.cores)}):
        hellos = launcher.check(ranks).hellos
        hosts = ", ".join(sorted({hello.host for hello in hellos}))
        yield Finding("good", f"{ranks} ranks", f"start and see each other on {hosts}", "ranks-start")
    srun, agent = launcher.cluster.srun, " ".join(launcher.cluster.agent)
    program, interface = (srun.program, srun.pmi) if srun else (launcher.mpi.mpiexec, "")
    details = f" --mpi={interface}" if interface else f", remote shell {printable(agent)}" if agent else ""
    numbers = {"program": program, "interface": interface, "agent": agent}
    yield Finding("good", "launcher", f"{program}{details}", "launcher", numbers)
    if layout is None:
        return
    levels = sort_levels({level_between(hellos[0], other) for other in hellos[1:]})
    if levels:
        text = f"pairs of ranks meet {join_words(LEVEL_PHRASES[level] for level in levels)}"
    else:
        text = "only one rank: nothing can be measured between two"
    yield Finding("good" if levels else "note", "levels", text, "levels", {"levels": list(levels)})


def _check_start(site: _ExaminedSite) -> Iterator[Finding]:
    """Start idle ranks, and report where each is bound and what starting ranks and a network fabric cost."""
    launcher, layout = site.launcher, site.hosts.layout
    ranks = layout.ranks if layout else min(2, site.machine_here.cores)
    launch, start_s = start_idle_ranks(launcher, ranks)
    if launch is None:
        yield Finding("note", "binding", "the ranks do not report where they run", "binding-unknown")
        return
    yield Finding(
        "good" if launch.bound else "note",
        "binding",
        launch.binding,
        "bound" if launch.bound else "not-bound",
    )
    yield Finding(
        "good",
        "starting",
        f"starting {ranks} ranks takes {format_seconds(start_s)}, "
        f"including {format_seconds(launch.init_s)} in MPI_Init",
        "cost-of-starting",
        {"ranks": ranks, "start_s": start_s, "init_s": launch.init_s},
    )
    family = family_of(launcher.mpi)
    variables = family.fabric_off_variables
    if not variables or not dict(launcher.describe(ranks).environment).items() >= variables.items():
        return
    fabric_launch, _ = start_idle_ranks(launcher.with_environ(family.fabric_choice_variables), ranks)
    if fabric_launch is not None and fabric_launch.init_s > launch.init_s + MIN_REPORTED_FABRIC_S:
        setting = " ".join(f"{name}={value}" for name, value in variables.items())
        yield Finding(
            "note",
            "fabric",
            f"MPI_Init takes {format_seconds(fabric_launch.init_s)} with the network fabric, which ranks on "
            f"one host do not use, and {format_seconds(launch.init_s)} without it: launches leave it out "
            f"({setting})",
            "cost-of-fabric",
            {"variables": dict(variables), "init_s": launch.init_s, "with_fabric_s": fabric_launch.init_s},
        )


def start_idle_ranks(launcher: MpiLauncher, ranks: int) -> tuple[Launch | None, float]:
    """Return a launch without cases, and the time (s) until the engine's first line."""
    start_s = time.monotonic()
    lines = launcher.run([], ranks, LaunchOptions("doctor", 0, budget_s=1.0))
    launch = next((line for line in lines if isinstance(line, Launch)), None)
    return launch, time.monotonic() - start_s


def _check_oversubscription(site: _ExaminedSite) -> Iterator[Finding]:
    """Start more ranks than cores. Most machines can do this, but not every allocation allows it."""
    if site.hosts.spans_nodes:
        return
    ranks = site.machine_here.cores + 1
    verdict: Literal["good", "note"] = "good"
    text, code = "start, though they share cores", "oversubscribed-ranks-start"
    try:
        site.launcher.check(ranks)
    except HockneyError as problem:
        verdict = "note"
        text, code = f"more ranks than cores do not start: {problem}", "oversubscribed-ranks-fail"
    yield Finding(verdict, f"{ranks} ranks", text, code)


def _check_abilities(site: _ExaminedSite) -> Iterator[Finding]:
    yield from ability_findings(site.mpi, os.environ)


_LAUNCH_CHECKS: tuple[Callable[[_ExaminedSite], Iterator[Finding]], ...] = (
    _check_mpis,
    _check_user,
    _check_hosts,
    _check_engine,
    _check_emulated_hosts,
    _check_ranks,
    _check_start,
    _check_oversubscription,
    _check_abilities,
)
"""The checks in order: each depends on the earlier ones."""


def _noise_and_load_findings(site: _ExaminedSite, seconds: float) -> Iterator[Finding]:
    if not site.traits.uses_mpiexec:
        yield _load_finding()
        yield _noise_not_applicable_finding()
        return
    findings = list(_noise_findings(site, seconds))
    if not any(finding.code in (QUIET_CODE, BUSY_CODE) for finding in findings):
        yield _load_finding()
    yield from findings


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def ability_findings(first_mpi: Mpi, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Report what each MPI on this machine lacks: first the one that would be used, last SimGrid's."""
    from hockney.measurement.abilities import find_abilities  # which only this step needs

    mpis = [
        first_mpi,
        *(candidate for candidate in find_all_mpis(environ) if candidate.mpicxx != first_mpi.mpicxx),
    ]
    with contextlib.suppress(HockneyError):
        mpis.append(find_simgrid(environ))
    for mpi in mpis:
        title = title_of(mpi)
        try:
            mpi_abilities = find_abilities(mpi, environ, is_root())
        except HockneyError as problem:
            yield unknown_abilities_finding(title, problem)
            continue
        numbers = {
            "mpi": title,
            "mpicxx": mpi.mpicxx,
            "lacks": [
                {"what": ability.what, "refused": ability.refused.split(", ")}
                for ability in mpi_abilities.missing
            ],
            "cached": mpi_abilities.cached,
        }
        if mpi_abilities.missing:
            listing = "; ".join(f"{ability.what} ({ability.refused})" for ability in mpi_abilities.missing)
            text = f"lacks, with the refused workloads in parentheses: {listing}"
            yield Finding("note", title, text, "mpi-lacks", numbers)
        else:
            text = "has every call that hockney's workloads use"
            yield Finding("good", title, text, "mpi-complete", numbers)


def unknown_abilities_finding(title: str, problem: HockneyError) -> Finding:
    return Finding("note", title, str(problem), "abilities-unknown")


def _noise_findings(site: _ExaminedSite, seconds: float) -> Iterator[Finding]:
    site_launcher, layout = site.launcher, site.hosts.layout

    def create_launcher(cores: Cores) -> MpiLauncher:
        return MpiLauncher(
            site.mpi,
            site.engine.path,
            cores,
            user=site_launcher.user,
            layout=layout,
            cluster=site_launcher.cluster,
        )

    one_host = not site.hosts.spans_nodes and count_hosts(os.environ) == 1
    yield from noise_findings(create_launcher, processors().cores, site.engine.catalog, seconds, one_host)


def _noise_not_applicable_finding() -> Finding:
    return noise_skipped_finding("only real machines have noise to measure")


def shared_memory_finding(free_bytes: int | None) -> Finding:
    """Report the free shared memory. Docker's default is 64 MB, which some MPIs fill with a few ranks."""
    if free_bytes is None:
        return Finding("note", "/dev/shm", "missing: MPI will use files or sockets", "shared-memory-missing")
    text = f"has {format_bytes(free_bytes)} free"
    if free_bytes < MIN_SHARED_BYTES:
        text += "; a container may need more (docker run --shm-size=1g)"
        return Finding("note", "/dev/shm", text, "shared-memory-small")
    return Finding("good", "/dev/shm", text, "shared-memory")


def cache_finding(folder: Path) -> Finding:
    reason = writable(folder)
    if not reason:
        return Finding("good", "cache", f"{folder} is writable", "cache-writable")
    text = f"{folder} is not writable ({reason}): set HOCKNEY_CACHE to another folder"
    return Finding("bad", "cache", text, "cache-not-writable")


def simgrid_finding(environ: Mapping[str, str]) -> Finding:
    """Report SimGrid, without which everything works except simulated machines."""
    try:
        simgrid = find_simgrid(environ)
    except HockneyError as problem:
        text = join_sentences(str(problem), "only simulated machines need it")
        return Finding("note", "SimGrid", text, "simgrid-missing")
    text = f"{simgrid.version} in {simgrid.prefix} (by {simgrid.source})"
    return Finding("good", "SimGrid", text, "simgrid")


def _load_finding() -> Finding:
    """Measure the load from other processes for a second."""
    start_load = moment()
    time.sleep(LOAD_SAMPLE_S)
    busy_cores = load_between(start_load, moment()).outside_cores
    if busy_cores is None:
        text = "the system does not report the load of other programs"
        return Finding("note", "load", text, "load-unknown")
    text = f"other programs use {busy_cores:.2f} processors"
    if busy_cores > MAX_QUIET_CORES:
        return Finding("note", "load", f"{text}; stop them before measuring", "load-high")
    return Finding("good", "load", text, "load-low")
