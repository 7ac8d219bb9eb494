# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The run folder: `plan.txt`, `machine.json`, append-only `records.jsonl`, and the derived `fits.json`."""

from hockney.store.appender import Appender, lockable
from hockney.store.folder import RunFolder, default_path, refuse_taken
from hockney.store.pair import SIDES, create_pair, pair_in, pair_with
from hockney.store.parts import LaunchShare, PartFolder, absorb_shares, lock_records, unabsorbed_shares
from hockney.store.plan import Item, Plan, addition_rounds, expected_items, missing_items, unmeasured_items
from hockney.store.record_reader import Reading
from hockney.store.salvage import Salvaged, salvage
