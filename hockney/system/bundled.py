# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The catalog that comes with hockney: what the engine's workloads are, where no engine was asked.

It is the contract's golden file, which a test holds to the engine's own answer. The fake machine runs what it
lists, published numbers are cases of it, and it says what the workloads of runs are that kept no catalog.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hockney.core.catalog import Catalog, decode_catalog


@cache
def bundled_catalog() -> Catalog:
    package = Path(__file__).resolve().parents[1]
    places = (package / "_contract", package.parent / "contract" / "golden")
    for path in (place / "catalog.json" for place in places):
        if path.is_file():
            return decode_catalog(path.read_bytes())
    raise FileNotFoundError("contract/golden/catalog.json")
