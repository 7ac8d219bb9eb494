# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What earlier schemas wrote, as the present one has it: the one place that knows them.

Schema 1: a record's `work` was an object of its own and is now metrics and a label. (A rank had no node; its
host is the default.)
"""

from __future__ import annotations

from typing import Any

SCHEMA = 2
"""Of everything that is written."""

WORK_METRICS = {"preset_s": ("work", "s"), "error": ("work_error", ""), "imbalance": ("imbalance", "")}


def upgraded_line(line: dict[str, Any]) -> dict[str, Any]:
    """A line of `records.jsonl` of any earlier schema, not yet checked."""
    line = dict(line, schema=SCHEMA)
    work = line.pop("work", None) if line.get("kind") == "record" else None
    if isinstance(work, dict):
        work = {"imbalance": 1.0, "clock": "thread"} | work
        line["metrics"] = {
            name: {"unit": unit, "over_ranks": "max", "per": "record", "phase": False, "values": [work[old]]}
            for old, (name, unit) in WORK_METRICS.items()
            if old in work
        }
        line["labels"] = {"work_clock": work["clock"]}
    return line
