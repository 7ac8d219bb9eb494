# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine, and the executables that are compiled when one of their workloads is first used."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from msgspec.structs import replace

from hockney import build
from hockney.core.catalog import Catalog
from hockney.core.machine import Mpi
from hockney.measurement.bench import Tell


def executables(
    mpi: Mpi, workloads: Collection[str], notify: Tell, *, compiles: bool = True
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
