# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The catalog bundled with hockney: the engine's workloads, for use without an engine.

It is the golden file of the engine-frontend contract, which a test compares with the engine's own. The
fake machine runs its workloads, published numbers are cases of them, and it describes the workloads of runs
that have no catalog. Groups of workloads that are compiled on first use have a catalog each.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from hockney.core.catalog import Catalog, Workload, decode_catalog


@cache
def bundled_catalog() -> Catalog:
    for path in (place / "catalog.json" for place in _places()):
        if path.is_file():
            return decode_catalog(path.read_bytes())
    raise FileNotFoundError("contract/golden/catalog.json")


@cache
def bundled_groups() -> tuple[Catalog, ...]:
    """The catalog of each group, in the order of their names."""
    folder = next((place / "groups" for place in _places() if (place / "groups").is_dir()), None)
    paths = sorted(folder.glob("*.json")) if folder is not None else []
    return tuple(decode_catalog(path.read_bytes()) for path in paths)


def bundled_workloads() -> dict[str, Workload]:
    """All workloads by name, those of groups included."""
    return {w.name: w for catalog in (bundled_catalog(), *bundled_groups()) for w in catalog.workloads}


def catalog_with(catalog: Catalog, workloads: Collection[str]) -> Catalog:
    """`catalog` with the workloads of all groups that are needed to run `workloads`."""
    needed = (
        group for group in bundled_groups() if not {w.name for w in group.workloads}.isdisjoint(workloads)
    )
    return replace(catalog, workloads=[*catalog.workloads, *(w for group in needed for w in group.workloads)])


def _places() -> tuple[Path, Path]:
    package = Path(__file__).resolve().parents[1]
    return package / "_contract", package.parent / "contract" / "golden"
