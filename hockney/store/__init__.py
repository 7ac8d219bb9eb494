# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The run folder: `plan.txt`, `machine.json`, append-only `records.jsonl`, and the derived `fits.json`."""

from hockney.store.appender import Appender
from hockney.store.completeness import additions, expected, left, missing
from hockney.store.folder import RunFolder, default_path
from hockney.store.plan import Item, Plan
from hockney.store.record_reader import Reading
from hockney.store.salvage import Salvaged, salvage

__all__ = [
    "Appender",
    "Item",
    "Plan",
    "Reading",
    "RunFolder",
    "Salvaged",
    "additions",
    "default_path",
    "expected",
    "left",
    "missing",
    "salvage",
]
