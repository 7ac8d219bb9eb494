# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A machine with exactly known costs, for tests: fake, fake:seed=3;pace=5ms, fake:nodes=2;levels=cache."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Mapping
from dataclasses import replace

import msgspec

from hockney import __version__
from hockney.core.machine import Machine, MachineReference, Traits
from hockney.core.record import SCHEMA
from hockney.discovery.mpi_settings import mpi_settings
from hockney.launch.fake import CORES, FakeLauncher, parse_fake_launcher
from hockney.launch.fake_world import World
from hockney.measurement.bench import Bench
from hockney.measurement.kinds import PrepareOptions
from hockney.system.bundled import bundled_catalog, catalog_with

SCHEME = "fake"
KIND = "fake"
HELP = "a fake machine with known costs, for tests"
HIDDEN = True
TRAITS = Traits(origin="fake", local=False)


def prepare(reference: MachineReference, options: PrepareOptions) -> Bench:
    cores = options.cores or CORES
    launcher = parse_fake_launcher(str(reference), options.hosts, cores)
    launcher.world = _with_variables(launcher.world, dict(options.launcher.variables))
    bench = fake_bench(launcher, cores, options.workloads)
    settings = mpi_settings(os.environ)  # recorded as on a real machine, so that tests need no MPI
    return replace(bench, machine=msgspec.structs.replace(bench.machine, settings=settings))


def _with_variables(world: World, variables: Mapping[str, str]) -> World:
    """Return the world with the user's variables, and with different noise."""
    if not variables:
        return world
    return replace(world.with_variables(variables), seed=world.seed + zlib.crc32(repr(variables).encode()))


def fake_bench(launcher: str | FakeLauncher, cores: int = CORES, workloads: Collection[str] = ()) -> Bench:
    """Return a bench on the fake machine, whose simulated clock measures budgets."""
    launcher = parse_fake_launcher(launcher) if isinstance(launcher, str) else launcher
    machine = Machine(
        schema=SCHEMA,
        kind=KIND,
        traits=TRAITS,
        host="fakehost",
        system="none",
        cpu="none",
        cores=cores,
        threads=cores,
        caches={"L1d": 32768, "L2": 1 << 20, "L3": 1 << 24},
        memory_bytes=1 << 33,
        engine="fake",
        compiler="none",
        flags="",
        hockney=__version__,
    )
    catalog = catalog_with(bundled_catalog(), workloads)
    launcher.world = replace(launcher.world, catalog=catalog)
    layout = launcher.nodes.layout
    return Bench(launcher, catalog, machine, launcher.launch_s, launcher.now, launcher.wait, layout=layout)
