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
from hockney.measurement.bench import Bench
from hockney.measurement.builds import build_executables
from hockney.measurement.kinds import PrepareOptions

SCHEME = ""
KIND = "real"
HELP = "this machine, or the hosts of its batch job"
TRAITS = Traits()


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    mpi = find_mpi(options.mpi or None, notify=options.notify)
    chosen = choose(options.hosts, mpi, os.environ)
    built, catalog, others = build_executables(mpi, options.workloads, options.notify)
    user = options.launcher
    here = describe(mpi, engine=str(built.path), compiler=built.compiler, flags=built.flags, user=user)
    launcher = MpiLauncher(
        mpi,
        built.path,
        processors().cores,
        bind=options.bind,
        others=others,
        user=user,
        layout=chosen.layout,
        ways=lambda: chosen.ways(mpi, os.environ),
    )
    placed = msgspec.structs.replace(
        here,
        hosts=list(chosen.cluster.hosts),
        ranks_per_node=chosen.layout.ranks_per_node if chosen.layout else 0,
    )
    return Bench(launcher, catalog, placed, layout=chosen.layout)
