# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Checks everything that a survey needs, step by step; starts ranks as a run would, and reports where they
are and what starting costs."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from hockney import build
from hockney.core.errors import HockneyError, printable, sentences
from hockney.core.launcher_options import NOTHING_ADDED, LauncherOptions
from hockney.core.layout import (
    LEVEL_PHRASES,
    THIS_HOST,
    Cores,
    HostOptions,
    Layout,
    Level,
    level_between,
    sort_levels,
)
from hockney.core.machine import Machine, Mpi, Traits
from hockney.core.paths import cache_folder
from hockney.core.record import Launch
from hockney.core.units import format_bytes, format_seconds
from hockney.core.wording import join_words, list_names
from hockney.discovery.cpu import processors
from hockney.discovery.describe import describe
from hockney.discovery.find import find_all_mpis, find_mpi
from hockney.discovery.load import load_between, moment
from hockney.discovery.simgrid import find_simgrid
from hockney.discovery.system import shared_memory, writable
from hockney.launch.allocation import hosts
from hockney.launch.choosing import Hosts, choose
from hockney.launch.launcher import Hello, LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.measurement.bench import Notify
from hockney.measurement.events import Finding
from hockney.measurement.kinds import kind_of, prepare
from hockney.measurement.noise import BUSY, QUIET, noise_findings, noise_skipped
from hockney.mpi import family_of, title_of

BUSY_CORES = 0.2
LOAD_SAMPLE_S = 1.0
SMALL_SHARED_BYTES = 128 << 20


def inspect_host(machine: str, mpi: str, notify: Notify) -> tuple[Machine, list[Mpi]]:
    """This machine and all its MPIs, first the one that would be used. Raises HockneyError if `mpi` is not
    usable."""
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
    launcher_options: LauncherOptions = NOTHING_ADDED,
) -> Iterator[Finding]:
    """Yields findings as they are made; the first bad one is the last, since the rest depends on it.

    Observes noise for `noise_s` seconds, if not 0. Starts ranks on the hosts of `host_options`, with the
    mpiexec options of `launcher_options`; an emulated machine has its own hosts, and all other findings are
    about this host."""
    site = _Site(machine, mpi, host_options, launcher_options)
    if site.traits.is_fake:
        yield Finding("good", "machine", "fake; it can always measure", "fake-machine")
        if noise_s:
            yield _not_real()
        return
    yield from system_findings(site.here)
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
            yield noise_skipped(f"no ranks can be started ({problem.what})")
        yield Finding("bad", "cannot measure", str(problem), "cannot-measure")
        return
    if noise_s:
        yield from _noise_and_load_findings(site, noise_s)


@dataclass(frozen=True)
class _Site:
    """What is examined. Each part is found when a check first needs it, and may raise HockneyError."""

    machine: str
    wanted_mpi: str
    host_options: HostOptions
    launcher_options: LauncherOptions

    @cached_property
    def traits(self) -> Traits:
        return kind_of(self.machine).TRAITS

    @cached_property
    def here(self) -> Machine:
        return describe(None)

    @cached_property
    def mpi(self) -> Mpi:
        return find_mpi(self.wanted_mpi or None)

    @cached_property
    def where(self) -> Hosts:
        """The hosts of a launch; of an emulated machine, this host."""
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
            layout=self.where.layout,
            ways=lambda: self.where.ways(self.mpi, os.environ),
        )


def system_findings(here: Machine) -> Iterator[Finding]:
    yield Finding("good", "machine", f"{here.cpu}, {here.cores} cores, {here.system}", "machine")
    yield Finding("good", "Python", f"{here.python} in {sys.prefix}", "python")
    if here.virtual:
        yield Finding(
            "note", "virtual", f"{here.virtual}: other guests can slow it down undetected", "virtual-machine"
        )
    if here.governor not in ("", "performance"):
        yield Finding(
            "note",
            "governor",
            f"{here.governor}: set 'performance' for stable numbers",
            "governor-not-performance",
        )


def _check_mpis(site: _Site) -> Iterator[Finding]:
    chosen = site.mpi
    text = f"{title_of(chosen)}: {chosen.mpicxx} and {chosen.mpiexec} (by {chosen.source})"
    yield Finding("good", "MPI", text, "mpi")
    for other in find_all_mpis(os.environ):
        if other.mpicxx != chosen.mpicxx:
            text = f"{title_of(other)}; measure it with --mpi {other.mpicxx}"
            yield Finding("note", "other MPI", text, "other-mpi")


def _check_user(site: _Site) -> Iterator[Finding]:
    permitting = family_of(site.mpi).root_variables
    if permitting and is_root():
        yield _root_finding(next(iter(permitting)))


def _check_hosts(site: _Site) -> Iterator[Finding]:
    yield from layout_findings(site.where, site.here.scheduler)


def _check_engine(site: _Site) -> Iterator[Finding]:
    built = site.engine
    yield _engine_finding(built.path, built.cached, built.seconds, built.compiler)


def _check_emulated_hosts(site: _Site) -> Iterator[Finding]:
    if site.traits.emulated:
        yield from emulated_host_findings(
            site.machine, site.wanted_mpi, site.host_options, site.launcher_options
        )


def _check_ranks(site: _Site) -> Iterator[Finding]:
    yield from rank_findings(site.launcher, site.where, site.here.cores)


def _check_start(site: _Site) -> Iterator[Finding]:
    layout = site.where.layout
    yield from start_findings(site.launcher, layout.ranks if layout else min(2, site.here.cores))


def _check_oversubscription(site: _Site) -> Iterator[Finding]:
    if not site.where.several:
        yield _oversubscription_finding(site.launcher, site.here.cores + 1)


def _check_abilities(site: _Site) -> Iterator[Finding]:
    yield from ability_findings(site.mpi, os.environ)


_LAUNCH_CHECKS: tuple[Callable[[_Site], Iterator[Finding]], ...] = (
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
"""In this order: each needs what the earlier ones found."""


def _noise_and_load_findings(site: _Site, seconds: float) -> Iterator[Finding]:
    if not site.traits.uses_mpiexec:
        yield _load_finding()
        yield _not_real()
        return
    findings = list(_noise_findings(site, seconds))
    if not any(finding.code in (QUIET, BUSY) for finding in findings):
        yield _load_finding()
    yield from findings


def emulated_host_findings(
    machine: str, mpi: str, host_options: HostOptions, launcher_options: LauncherOptions
) -> Iterator[Finding]:
    """Starts the ranks of a survey on the hosts of an emulated machine."""
    bench = prepare(machine, mpi, hosts=host_options, launcher=launcher_options)
    ranks = bench.layout.ranks if bench.layout else 2
    start_s = time.monotonic()
    hosts = sorted({hello.host for hello in bench.launcher.check(ranks).hellos})
    yield Finding(
        "good",
        str(machine),
        f"ranks started on the emulated hosts {', '.join(hosts)} in "
        f"{format_seconds(time.monotonic() - start_s)}",
        "emulated-hosts-start",
    )


def is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def ability_findings(chosen: Mpi, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Reports what each MPI on this machine lacks: first the one that would be used, last SimGrid's."""
    from hockney.measurement.abilities import abilities  # which only this step needs

    mpis = [chosen, *(other for other in find_all_mpis(environ) if other.mpicxx != chosen.mpicxx)]
    with contextlib.suppress(HockneyError):
        mpis.append(find_simgrid(environ))
    for mpi in mpis:
        try:
            abilities_found = abilities(mpi, environ, is_root())
        except HockneyError as problem:
            yield mpi_not_tried(title_of(mpi), problem)
            continue
        without = {each.what: each.refused for each in abilities_found.missing}
        if without:
            yield _mpi_lacks(title_of(mpi), mpi.mpicxx, without, abilities_found.cached)
        else:
            yield _mpi_complete(title_of(mpi), mpi.mpicxx, abilities_found.cached)


def _noise_findings(site: _Site, seconds: float) -> Iterator[Finding]:
    started, layout = site.launcher, site.where.layout

    def launcher(cores: Cores) -> MpiLauncher:
        return MpiLauncher(
            site.mpi, site.engine.path, cores, user=started.user, layout=layout, cluster=started.cluster
        )

    one_host = not site.where.several and hosts(os.environ) == 1
    yield from noise_findings(launcher, processors().cores, site.engine.catalog, seconds, one_host)


def shared_memory_finding(room: tuple[int, int] | None) -> Finding:
    """Docker's default is 64 MB, which some MPIs fill with a few ranks."""
    if room is None:
        return Finding("note", "/dev/shm", "missing: MPI will use files or sockets", "shared-memory-missing")
    if room[0] < SMALL_SHARED_BYTES:
        return Finding(
            "note",
            "/dev/shm",
            f"has {format_bytes(room[0])} free; a container may need more (docker run --shm-size=1g)",
            "shared-memory-small",
        )
    return Finding("good", "/dev/shm", f"has {format_bytes(room[0])} free", "shared-memory")


def cache_finding(folder: Path) -> Finding:
    reason = writable(folder)
    return (
        Finding(
            "bad",
            "cache",
            f"{folder} is not writable ({reason}): set HOCKNEY_CACHE to another folder",
            "cache-not-writable",
        )
        if reason
        else Finding("good", "cache", f"{folder} is writable", "cache-writable")
    )


def simgrid_finding(environ: Mapping[str, str]) -> Finding:
    """The finding about SimGrid, without which everything works except simulated machines."""
    try:
        simgrid = find_simgrid(environ)
    except HockneyError as problem:
        return _simgrid_missing(problem)
    return Finding(
        "good", "SimGrid", f"{simgrid.version} in {simgrid.prefix} (by {simgrid.source})", "simgrid"
    )


def _oversubscription_finding(launcher: MpiLauncher, ranks: int) -> Finding:
    """Most machines can start more ranks than cores, but not every allocation allows it."""
    try:
        launcher.check(ranks)
    except HockneyError as problem:
        return Finding(
            "note",
            f"{ranks} ranks",
            f"more ranks than cores do not start: {problem}",
            "oversubscribed-ranks-fail",
        )
    return Finding("good", f"{ranks} ranks", "start, though they share cores", "oversubscribed-ranks-start")


def _load_finding() -> Finding:
    """Measure the load from other processes for a second."""
    before = moment()
    time.sleep(LOAD_SAMPLE_S)
    busy = load_between(before, moment()).outside_cores
    if busy is None:
        return Finding(
            "note", "load", "the system does not report the load of other programs", "load-unknown"
        )
    return (
        Finding(
            "note",
            "load",
            f"other programs use {busy:.2f} processors; stop them before measuring",
            "load-high",
        )
        if busy > BUSY_CORES
        else Finding("good", "load", f"other programs use {busy:.2f} processors", "load-low")
    )


def _simgrid_missing(problem: HockneyError) -> Finding:
    text = sentences(str(problem), "only simulated machines need it")
    return Finding("note", "SimGrid", text, "simgrid-missing")


def _engine_finding(path: Path, cached: bool, seconds: float, compiler: str) -> Finding:
    origin = "compiled earlier" if cached else f"compiled in {format_seconds(seconds)}"
    return Finding("good", "engine", f"{path} ({origin}, {compiler})", "engine")


def _mpi_complete(title: str, mpicxx: str, cached: bool) -> Finding:
    """`cached`: whether this was found earlier."""
    numbers = {"mpi": title, "mpicxx": mpicxx, "lacks": [], "cached": cached}
    return Finding("good", title, "has every call that hockney's workloads use", "mpi-complete", numbers)


def _mpi_lacks(title: str, mpicxx: str, refused_by_ability: Mapping[str, str], cached: bool) -> Finding:
    """`refused_by_ability` maps what this MPI lacks to the groups or cases that are therefore refused."""
    listing = "; ".join(f"{what} ({refused})" for what, refused in refused_by_ability.items())
    lacks = [{"what": what, "refused": refused.split(", ")} for what, refused in refused_by_ability.items()]
    numbers = {"mpi": title, "mpicxx": mpicxx, "lacks": lacks, "cached": cached}
    text = f"lacks, with the refused workloads in parentheses: {listing}"
    return Finding("note", title, text, "mpi-lacks", numbers)


def _root_finding(variable: str) -> Finding:
    text = f"running as root: hockney sets {variable} for its launches, as containers need"
    return Finding("note", "user", text, "root-allowed")


def _not_real() -> Finding:
    return noise_skipped("only real machines have noise to measure")


def mpi_not_tried(title: str, problem: HockneyError) -> Finding:
    return Finding("note", title, str(problem), "abilities-unknown")


_MOST_NAMED = 8

NOTICEABLE_S = 0.1
"""A fabric that costs less than this is not reported."""


@dataclass(frozen=True)
class IdleLaunch:
    """A launch without cases; `start_s` is the time until the engine's first line."""

    launch: Launch | None
    start_s: float


def layout_findings(chosen: Hosts, scheduler: str) -> Iterator[Finding]:
    """Findings about the hosts to be used, before anything is started there."""
    if chosen.layout is not None and chosen.several:
        yield _layout_chosen(chosen.layout, chosen.cluster.hosts[: chosen.layout.nodes], scheduler)


def rank_findings(launcher: MpiLauncher, chosen: Hosts, cores: int) -> Iterator[Finding]:
    """Starts 2 ranks, then one on each core; or those of the layout. Raises EnvironmentProblem."""
    counts = {chosen.layout.ranks} if chosen.layout is not None else {2, max(2, cores)}
    hellos: tuple[Hello, ...] = ()
    for ranks in sorted(counts):
        hellos = launcher.check(ranks).hellos
        hosts = sorted({hello.host for hello in hellos})
        yield Finding(
            "good", f"{ranks} ranks", f"start and see each other on {', '.join(hosts)}", "ranks-start"
        )
    cluster = launcher.cluster
    program = cluster.srun.program if cluster.srun else launcher.mpi.mpiexec
    yield _started_by(program, cluster.srun.pmi if cluster.srun else "", " ".join(cluster.agent))
    if chosen.layout is not None:
        levels = sort_levels({level_between(hellos[0], other) for other in hellos[1:]})
        yield _levels_found(levels) if levels else _single_level()


def start_findings(launcher: MpiLauncher, ranks: int) -> Iterator[Finding]:
    """Starts idle ranks and reports where each is bound, and what starting them and a network fabric
    costs."""
    started = start_idle_ranks(launcher, ranks)
    if started.launch is None:
        yield Finding("note", "binding", "the ranks do not report where they run", "binding-unknown")
        return
    bound = bool(started.launch.bound)
    yield Finding(
        "good" if bound else "note", "binding", started.launch.binding, "bound" if bound else "not-bound"
    )
    init_s = started.launch.init_s
    yield Finding(
        "good",
        "starting",
        f"starting {ranks} ranks takes {format_seconds(started.start_s)}, "
        f"including {format_seconds(init_s)} in MPI_Init",
        "cost-of-starting",
        {"ranks": ranks, "start_s": started.start_s, "init_s": init_s},
    )
    family = family_of(launcher.mpi)
    fabric_variables = family.without_fabric
    if fabric_variables and dict(launcher.describe(ranks).environment).items() >= fabric_variables.items():
        using = launcher.having_environ(family.with_fabric)
        with_fabric = start_idle_ranks(using, ranks).launch
        if with_fabric is not None and with_fabric.init_s > init_s + NOTICEABLE_S:
            yield _cost_of_fabric(fabric_variables, init_s, with_fabric.init_s)


def start_idle_ranks(
    launcher: MpiLauncher, ranks: int, now: Callable[[], float] = time.monotonic
) -> IdleLaunch:
    start_s = now()
    for line in launcher.run([], ranks, LaunchOptions("doctor", 0, budget_s=1.0)):
        if isinstance(line, Launch):
            return IdleLaunch(line, now() - start_s)
    return IdleLaunch(None, now() - start_s)


def _layout_chosen(layout: Layout, hosts: Sequence[str], scheduler: str) -> Finding:
    """`hosts` are those that are used, in order; () if only the launcher has their names."""
    where = f" on {list_names(hosts, _MOST_NAMED)}" if hosts else ""
    job = f" ({scheduler})" if scheduler else ""
    return Finding(
        "good",
        "hosts",
        f"{layout.text}: {layout.nodes} {'host' if layout.nodes == 1 else 'hosts'} with "
        f"{layout.ranks_per_node} {'rank' if layout.ranks_per_node == 1 else 'ranks'} each{where}{job}",
        "layout",
        {"nodes": layout.nodes, "ranks_per_node": layout.ranks_per_node, "hosts": list(hosts)},
    )


def _started_by(program: str, interface: str, agent: str) -> Finding:
    """`interface` is srun's, "" with mpiexec; `agent` is the remote shell, "" for the launcher's own."""
    details = f" --mpi={interface}" if interface else f", remote shell {printable(agent)}" if agent else ""
    numbers = {"program": program, "interface": interface, "agent": agent}
    return Finding("good", "launcher", f"{program}{details}", "launcher", numbers)


def _levels_found(levels: Sequence[Level]) -> Finding:
    text = f"pairs of ranks meet {join_words(LEVEL_PHRASES[level] for level in levels)}"
    return Finding("good", "levels", text, "levels", {"levels": list(levels)})


def _single_level() -> Finding:
    text = "only one rank: nothing can be measured between two"
    return Finding("note", "levels", text, "levels", {"levels": []})


def _cost_of_fabric(variables: Mapping[str, str], init_s: float, with_fabric_s: float) -> Finding:
    """`variables` leave the fabric out."""
    setting = " ".join(f"{name}={value}" for name, value in variables.items())
    numbers = {"variables": dict(variables), "init_s": init_s, "with_fabric_s": with_fabric_s}
    text = (
        f"MPI_Init takes {format_seconds(with_fabric_s)} with the network fabric, which ranks on one host do "
        f"not use, and {format_seconds(init_s)} without it: launches leave it out ({setting})"
    )
    return Finding("note", "fabric", text, "cost-of-fabric", numbers)
