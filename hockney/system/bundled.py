# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The catalog bundled with hockney: the engine's workloads, for use without an engine.

It is the golden file of the engine-frontend contract, which a test compares with the engine's catalog. The
fake machine runs its workloads, and published numbers are cases of them. It also describes the workloads of
runs without a catalog. Every group of workloads that is compiled on first use has a separate catalog.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from hockney.core.catalog import Catalog, Workload, decode_catalog


@cache
def bundled_catalog() -> Catalog:
    for path in (folder / "catalog.json" for folder in _contract_folders()):
        if path.is_file():
            return decode_catalog(path.read_bytes())
    raise FileNotFoundError("contract/golden/catalog.json")


@cache
def bundled_groups() -> tuple[Catalog, ...]:
    """Return the catalogs of the groups, sorted by name."""
    candidates = [folder / "groups" for folder in _contract_folders()]
    folder = next((candidate for candidate in candidates if candidate.is_dir()), None)
    paths = sorted(folder.glob("*.json")) if folder is not None else []
    return tuple(decode_catalog(path.read_bytes()) for path in paths)


def bundled_workloads() -> dict[str, Workload]:
    """Return all workloads by name, including those of groups."""
    return {w.name: w for catalog in (bundled_catalog(), *bundled_groups()) for w in catalog.workloads}


def catalog_with(catalog: Catalog, workloads: Collection[str]) -> Catalog:
    """Return `catalog` with the workloads of all groups needed to run `workloads`."""
    needed_groups = (
        group for group in bundled_groups() if not {w.name for w in group.workloads}.isdisjoint(workloads)
    )
    return replace(
        catalog, workloads=[*catalog.workloads, *(w for group in needed_groups for w in group.workloads)]
    )


def _contract_folders() -> tuple[Path, Path]:
    package = Path(__file__).resolve().parents[1]
    return package / "_contract", package.parent / "contract" / "golden"
