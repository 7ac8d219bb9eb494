# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A described machine, simulated by SimGrid: sim:NAME or sim:FILE."""

from __future__ import annotations

from collections.abc import Sequence

from hockney import __version__, build
from hockney.core.machine import Machine, MachineReference, Mpi, Traits, without_scheme
from hockney.core.platform import Platform
from hockney.core.record import SCHEMA
from hockney.discovery.simgrid import find_simgrid
from hockney.launch.smpi import SmpiLauncher
from hockney.machines import simulated
from hockney.measurement.bench import Bench
from hockney.measurement.builds import build_executables
from hockney.measurement.kinds import PrepareOptions, published

SCHEME = "sim"
KIND = "simulated"
HELP = "a described machine, simulated by SimGrid: a NAME below, or FILE.toml"
TRAITS = Traits(origin="simulated", noiseless=True, local=False, shared_memory=False, wall_clock=False)


def names() -> Sequence[str]:
    return [simulated_reference(name) for name in simulated.names()]


def simulated_reference(name: str) -> str:
    """Return --machine's value for the description `name`."""
    return str(MachineReference(SCHEME, name))


def description_name(text: str) -> str:
    """Return the name or file in `text`, if only a description can be meant: t3e, sim:t3e, published:t3e."""
    return without_scheme(text, (SCHEME, published.SCHEME))


def repeats_itself(reference: MachineReference) -> bool:
    return not simulated.platform(reference.name).varies


def varies_by_launch(reference: MachineReference) -> bool:
    """Cores with detours are observed for long enough in one launch."""
    return simulated.platform(reference.name).messages_vary


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    """Prepare the simulated machine. Its description is read before anything is searched for or compiled."""
    platform = simulated.platform(reference.name)
    mpi = find_simgrid(notify=options.notify)
    engine, catalog, group_engines = build_executables(
        mpi, options.workloads, options.notify, is_compiled=not options.plans_only
    )
    verified_workloads = {workload.name for workload in catalog.with_role("npb", "annealing")}
    layout = simulated.layout(platform, options.hosts.nodes, options.hosts.ranks_per_node)
    launcher = SmpiLauncher(
        mpi,
        engine.path,
        engine.platform,
        platform,
        group_engines=group_engines,
        self_verifying_workloads=verified_workloads,
        ranks_per_node=layout.ranks_per_node if layout is not None else 0,
    )
    return Bench(launcher, catalog, _describe_machine(platform, mpi, engine), layout=layout)


def _describe_machine(platform: Platform, mpi: Mpi, engine: build.Engine) -> Machine:
    """Return the machine described by `platform`, as stored in a run. The only facts about this host are
    those of the engine's compilation."""
    cores = platform.capacity
    return Machine(
        schema=SCHEMA,
        kind=KIND,
        traits=TRAITS,
        host=platform.name,
        system="simulated",
        cpu=platform.title,
        cores=cores,
        threads=cores,
        mpi=mpi,
        engine=str(engine.path),
        compiler=engine.compiler,
        flags=engine.flags,
        network=[platform.network.shape],
        hockney=__version__,
        platform=platform,
    )
