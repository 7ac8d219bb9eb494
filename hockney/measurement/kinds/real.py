# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""This machine, with an MPI found on it."""

from __future__ import annotations

import os

import msgspec

from hockney.core.machine import MachineReference, Traits
from hockney.discovery.cpu import processors
from hockney.discovery.describe import describe
from hockney.discovery.find import find_mpi
from hockney.launch.choosing import choose
from hockney.launch.mpi import MpiLauncher
from hockney.launch.topology import job_topology
from hockney.measurement.bench import Bench
from hockney.measurement.builds import build_executables
from hockney.measurement.kinds import PrepareOptions

SCHEME = ""
KIND = "real"
HELP = "this machine, or the hosts of its batch job"
TRAITS = Traits()


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    mpi = find_mpi(options.mpi or None, notify=options.notify)
    launch_hosts = choose(options.hosts, mpi, os.environ)
    engine, catalog, executables = build_executables(mpi, options.workloads, options.notify)
    user = options.launcher
    host_machine = describe(
        mpi, engine=str(engine.path), compiler=engine.compiler, flags=engine.flags, user=user
    )
    launcher = MpiLauncher(
        mpi,
        engine.path,
        processors().cores,
        bind=options.bind,
        group_engines=executables,
        user=user,
        layout=launch_hosts.layout,
        clusters=lambda: launch_hosts.candidate_clusters(mpi, os.environ),
    )
    machine = msgspec.structs.replace(
        host_machine,
        hosts=list(launch_hosts.cluster.hosts),
        topology=job_topology(os.environ) if len(launch_hosts.cluster.hosts) > 1 else [],
        ranks_per_node=launch_hosts.layout.ranks_per_node if launch_hosts.layout else 0,
    )
    return Bench(launcher, catalog, machine, layout=launch_hosts.layout)
