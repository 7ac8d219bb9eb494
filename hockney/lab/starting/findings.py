# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Start ranks as a run would, and report where they are and what it costs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hockney.core.layout import level_between, nearest_first
from hockney.core.record import Launch
from hockney.lab.finding import Finding
from hockney.lab.messages import findings as lab_messages
from hockney.lab.starting import messages
from hockney.launch.choosing import Hosts
from hockney.launch.fabric import IN_USE, WITHOUT_FABRIC
from hockney.launch.launcher import Hello, LaunchOptions
from hockney.launch.mpi import MpiLauncher

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
        yield messages.layout_chosen(chosen.layout, chosen.cluster.hosts[: chosen.layout.nodes], scheduler)


def ranks_found(launcher: MpiLauncher, chosen: Hosts, cores: int) -> Iterator[Finding]:
    """Starts 2 ranks and one on each core, or those of the layout. Raises EnvironmentProblem."""
    counts = {chosen.layout.ranks} if chosen.layout is not None else {2, max(2, cores)}
    hellos: tuple[Hello, ...] = ()
    for ranks in sorted(counts):
        hellos = launcher.check(ranks).hellos
        yield lab_messages.ranks_start(ranks, sorted({hello.host for hello in hellos}))
    cluster = launcher.cluster
    program = cluster.srun.program if cluster.srun else launcher.mpi.mpiexec
    yield messages.started_by(program, cluster.srun.pmi if cluster.srun else "", " ".join(cluster.agent))
    if chosen.layout is not None:
        levels = nearest_first({level_between(hellos[0], other) for other in hellos[1:]})
        yield messages.levels_found(levels) if levels else messages.single_level()


def start_found(launcher: MpiLauncher, ranks: int) -> Iterator[Finding]:
    """Starts idle ranks: where each is bound, what starting costs, and what of it a fabric would."""
    started = start(launcher, ranks)
    if started.launch is None:
        yield lab_messages.binding_unknown()
        return
    yield lab_messages.binding_reported(started.launch.binding, bool(started.launch.bound))
    init_s = started.launch.init_s
    yield messages.cost_of_starting(ranks, started.start_s, init_s)
    if dict(launcher.describe(ranks).environment).items() >= WITHOUT_FABRIC.items():
        using = launcher.having_environ(IN_USE)
        whole = start(using, ranks).launch
        if whole is not None and whole.init_s > init_s + NOTICEABLE_S:
            yield messages.cost_of_fabric(WITHOUT_FABRIC, init_s, whole.init_s)


def start(launcher: MpiLauncher, ranks: int, now: Callable[[], float] = time.monotonic) -> Started:
    began = now()
    for line in launcher.run([], ranks, LaunchOptions("doctor", 0, budget_s=1.0)):
        if isinstance(line, Launch):
            return Started(line, now() - began)
    return Started(None, now() - began)
