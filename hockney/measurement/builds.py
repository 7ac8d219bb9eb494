# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles the engine with the executables that a run needs, the C++ library for the user's MPI, and
SimGrid."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from msgspec.structs import replace

from hockney import build
from hockney.build import duration
from hockney.core.catalog import Catalog
from hockney.core.machine import Mpi
from hockney.discovery.cpu import memory_bytes, processors
from hockney.discovery.find import find_mpi
from hockney.discovery.simgrid import find_all_simgrids, find_simgrid
from hockney.measurement.bench import Notify
from hockney.mpi import title_of

COMPILER_JOB_BYTES = 1 << 30
"""GCC 12 needs 0.53 GB for SimGrid's largest source."""


def install_library(mpi: str, prefix: Path, notify: Notify) -> Mpi:
    """Compile the library for --mpi and install it into `prefix`. Return the MPI that programs then need."""
    found_mpi = find_mpi(mpi or None, notify=notify)
    notify(f"compiling the library for {title_of(found_mpi)} ({duration.expected(duration.LIBRARY_S)})")
    build.install_library(found_mpi, prefix)
    return found_mpi


def provide_simgrid(
    is_rebuild: bool,
    notify: Notify,
    progress: Callable[[int, int], None],
    environ: Mapping[str, str] | None = None,
) -> Mpi:
    """Return the SimGrid that simulated machines will use. With `rebuild`, it is built even if one exists.

    Raises EnvironmentProblem if there is no SimGrid and none can be built.
    """
    environ = os.environ if environ is None else environ
    existing_simgrid = None if is_rebuild else usable_simgrid(environ, notify)
    if existing_simgrid is not None:
        notify(
            simgrid_present_text(
                title_of(existing_simgrid), existing_simgrid.prefix, existing_simgrid.source == "cache"
            )
        )
        return existing_simgrid
    build.simgrid(environ, notify, progress, compiler_jobs(), is_rebuild)
    return find_simgrid(environ, notify)


def usable_simgrid(environ: Mapping[str, str], notify: Notify) -> Mpi | None:
    """Return the SimGrid named by $HOCKNEY_SIMGRID, which must work, or else the first one found."""
    if environ.get("HOCKNEY_SIMGRID"):
        return find_simgrid(environ, notify)
    return next(find_all_simgrids(environ, notify), None)


def compiler_jobs() -> int:
    """Return the number of compilers to run at once, which usable cores and memory limit."""
    return max(1, min(processors().cores.usable, memory_bytes() // COMPILER_JOB_BYTES))


def simgrid_present_text(title: str, prefix: str, is_cached: bool) -> str:
    """Return a note that SimGrid exists already, either in the cache or elsewhere."""
    note = "" if is_cached else " and is used; --force builds another one into the cache"
    return f"{title} is already in {prefix}{note}"


def build_executables(
    mpi: Mpi, workloads: Collection[str], notify: Notify, *, is_compiled: bool = True
) -> tuple[build.Engine, Catalog, dict[str, Path]]:
    """Return the engine, the catalog of everything that can be run, and the executables for those of
    `workloads` that the engine does not contain. Unless they are compiled, paths may not exist."""
    engine = build.engine(mpi, notify=notify, compiles=is_compiled)
    catalog = engine.catalog
    executables: dict[str, Path] = {}
    for group, names in other_groups().items():
        if set(names) & set(workloads):
            group_engine = build.engine(mpi, notify=notify, group=group, compiles=is_compiled)
            executables |= {workload.name: group_engine.path for workload in group_engine.catalog.workloads}
            catalog = replace(catalog, workloads=[*catalog.workloads, *group_engine.catalog.workloads])
    return engine, catalog, executables


def other_groups() -> dict[str, tuple[str, ...]]:
    """Return the workloads that are compiled on first use, by executable."""
    return build.groups(build.source_folder())


def source_workloads() -> dict[str, tuple[str, ...]]:
    """Return the workloads of each executable as defined by the sources; a stored catalog may lack some."""
    return {build.MAIN: build.main_workloads(build.source_folder()), **other_groups()}
