# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What is compiled: the engine with the executables that a run needs, the C++ library for the user's MPI, and
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

JOB_BYTES = 1 << 30
"""GCC 12 needs 0.53 GB for SimGrid's largest source."""


def install_library(mpi: str, prefix: Path, notify: Notify) -> Mpi:
    """Compile the library for --mpi into `prefix`; returns the MPI that programs then need."""
    chosen = find_mpi(mpi or None, notify=notify)
    notify(f"compiling the library for {title_of(chosen)} ({duration.expected(duration.LIBRARY_S)})")
    build.install_library(chosen, prefix)
    return chosen


def provide_simgrid(
    rebuild: bool,
    notify: Notify,
    progress: Callable[[int, int], None],
    environ: Mapping[str, str] | None = None,
) -> Mpi:
    """The SimGrid that simulated machines will use; `rebuild` builds one even if there is one already.

    Raises EnvironmentProblem if there is none and none can be built.
    """
    environ = os.environ if environ is None else environ
    present = None if rebuild else usable_simgrid(environ, notify)
    if present is not None:
        notify(simgrid_present_text(title_of(present), present.prefix, present.source == "cache"))
        return present
    build.simgrid(environ, notify, progress, compiler_jobs(), rebuild)
    return find_simgrid(environ, notify)


def usable_simgrid(environ: Mapping[str, str], notify: Notify) -> Mpi | None:
    """The SimGrid named by $HOCKNEY_SIMGRID, which has to work, or the first one found."""
    if environ.get("HOCKNEY_SIMGRID"):
        return find_simgrid(environ, notify)
    return next(find_all_simgrids(environ, notify), None)


def compiler_jobs() -> int:
    """Number of compilers to run at once: as many as usable cores and memory allow."""
    return max(1, min(processors().cores.usable, memory_bytes() // JOB_BYTES))


def simgrid_present_text(title: str, prefix: str, built_here: bool) -> str:
    """`built_here`: whether it is the one in the cache."""
    other = "" if built_here else " and is used; --force builds another one into the cache"
    return f"{title} is already in {prefix}{other}"


def build_executables(
    mpi: Mpi, workloads: Collection[str], notify: Notify, *, compiles: bool = True
) -> tuple[build.Engine, Catalog, dict[str, Path]]:
    """The engine, the catalog of everything that can be run, and the executables of those of `workloads` that
    the engine does not contain. If nothing is compiled, paths may not exist."""
    built = build.engine(mpi, notify=notify, compiles=compiles)
    catalog = built.catalog
    others: dict[str, Path] = {}
    for group, names in other_groups().items():
        if set(names) & set(workloads):
            more = build.engine(mpi, notify=notify, group=group, compiles=compiles)
            others |= {workload.name: more.path for workload in more.catalog.workloads}
            catalog = replace(catalog, workloads=[*catalog.workloads, *more.catalog.workloads])
    return built, catalog, others


def other_groups() -> dict[str, tuple[str, ...]]:
    """Workloads that are compiled on first use, by executable."""
    return build.groups(build.source_folder())


def source_workloads() -> dict[str, tuple[str, ...]]:
    """The workloads of each executable, as the sources define them; a stored catalog may lack some."""
    return {build.MAIN: build.main_workloads(build.source_folder()), **other_groups()}
