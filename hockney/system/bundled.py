# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The catalog that comes with hockney: the engine's workloads if no engine was run.

It is the contract's golden file, which a test holds to the engine's own answer. The fake machine runs what it
lists, published numbers are cases of it, and it says what the workloads of runs are that kept no catalog.
Groups of workloads that are compiled when first run have a catalog each.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from hockney.core.catalog import Catalog, decode_catalog


@cache
def bundled_catalog() -> Catalog:
    for path in (place / "catalog.json" for place in _places()):
        if path.is_file():
            return decode_catalog(path.read_bytes())
    raise FileNotFoundError("contract/golden/catalog.json")


@cache
def bundled_groups() -> tuple[Catalog, ...]:
    """The catalog of each group, in the order of their names."""
    found = next((place / "groups" for place in _places() if (place / "groups").is_dir()), None)
    paths = sorted(found.glob("*.json")) if found is not None else []
    return tuple(decode_catalog(path.read_bytes()) for path in paths)


def catalog_with(catalog: Catalog, workloads: Collection[str]) -> Catalog:
    """`catalog`, and what the groups have that are needed to run any of `workloads`."""
    needed = (
        group for group in bundled_groups() if not {w.name for w in group.workloads}.isdisjoint(workloads)
    )
    return replace(catalog, workloads=[*catalog.workloads, *(w for group in needed for w in group.workloads)])


def _places() -> tuple[Path, Path]:
    package = Path(__file__).resolve().parents[1]
    return package / "_contract", package.parent / "contract" / "golden"
