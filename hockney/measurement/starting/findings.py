# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Start ranks as a run would, and report where they are and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hockney.measurement.finding import Finding

from hockney.core.errors import printable
from hockney.core.layout import LEVEL_PHRASES, Layout, Level, level_between, sort_levels
from hockney.core.record import Launch
from hockney.core.units import format_seconds
from hockney.core.wording import join_words, list_names
from hockney.launch.choosing import Hosts
from hockney.launch.launcher import Hello, LaunchOptions
from hockney.launch.mpi import MpiLauncher
from hockney.mpi import family_of

_MOST_NAMED = 8

NOTICEABLE_S = 0.1
"""What the fabric costs less is not worth a line."""


@dataclass(frozen=True)
class Started:
    """A launch without cases; `start_s` is the time until the engine's first line."""

    launch: Launch | None
    start_s: float


def hosts_found(chosen: Hosts, scheduler: str) -> Iterator[Finding]:
    """What is to be used, before anything is started there."""
    if chosen.layout is not None and chosen.several:
        yield _layout_chosen(chosen.layout, chosen.cluster.hosts[: chosen.layout.nodes], scheduler)


def ranks_found(launcher: MpiLauncher, chosen: Hosts, cores: int) -> Iterator[Finding]:
    """Starts 2 ranks and one on each core, or those of the layout. Raises EnvironmentProblem."""
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


def start_found(launcher: MpiLauncher, ranks: int) -> Iterator[Finding]:
    """Starts idle ranks: where each is bound, what starting costs, and what of it a fabric would."""
    started = start(launcher, ranks)
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
        f"{ranks} ranks take {format_seconds(started.start_s)}, of which MPI_Init {format_seconds(init_s)}",
        "cost-of-starting",
        {"ranks": ranks, "start_s": started.start_s, "init_s": init_s},
    )
    family = family_of(launcher.mpi)
    left_out = family.without_fabric
    if left_out and dict(launcher.describe(ranks).environment).items() >= left_out.items():
        using = launcher.having_environ(family.with_fabric)
        whole = start(using, ranks).launch
        if whole is not None and whole.init_s > init_s + NOTICEABLE_S:
            yield _cost_of_fabric(left_out, init_s, whole.init_s)


def start(launcher: MpiLauncher, ranks: int, now: Callable[[], float] = time.monotonic) -> Started:
    began = now()
    for line in launcher.run([], ranks, LaunchOptions("doctor", 0, budget_s=1.0)):
        if isinstance(line, Launch):
            return Started(line, now() - began)
    return Started(None, now() - began)


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
    how = f" --mpi={interface}" if interface else f", remote shell {printable(agent)}" if agent else ""
    numbers = {"program": program, "interface": interface, "agent": agent}
    return Finding("good", "launcher", f"{program}{how}", "launcher", numbers)


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
