# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The run folder: `plan.txt`, `machine.json`, append-only `records.jsonl`, and the derived `fits.json`."""

from hockney.store.appender import Appender, lockable
from hockney.store.completeness import additions, expected, left, missing
from hockney.store.folder import RunFolder, default_path, refuse_taken
from hockney.store.pair import SIDES, create_pair, pair_in, pair_with
from hockney.store.parts import LaunchShare, PartFolder, absorb, parts_of, writing
from hockney.store.plan import Item, Plan
from hockney.store.record_reader import Reading
from hockney.store.salvage import Salvaged, salvage

__all__ = [
    "SIDES",
    "Appender",
    "Item",
    "LaunchShare",
    "PartFolder",
    "Plan",
    "Reading",
    "RunFolder",
    "Salvaged",
    "absorb",
    "additions",
    "create_pair",
    "default_path",
    "expected",
    "left",
    "lockable",
    "missing",
    "pair_in",
    "pair_with",
    "parts_of",
    "refuse_taken",
    "salvage",
    "writing",
]
