# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What earlier schemas wrote, as the present one has it: the one place that knows them.

Schema 1: a record's `work` was an object of its own and is now metrics and a label. (A rank had no node; its
host is the default.) A collective's case named no algorithm; it was MPI's own.
"""

from __future__ import annotations

from typing import Any

SCHEMA = 2
"""Of everything that is written."""

WORK_METRICS = {"preset_s": ("work", "s"), "error": ("work_error", ""), "imbalance": ("imbalance", "")}

COLLECTIVES = (
    "allgather", "allreduce", "alltoall", "bcast", "gather", "reduce", "reduce_scatter_block", "scan",
    "scatter",
)  # fmt: skip
"""Those that schema 1 knew."""


def upgraded_case(case: str) -> str:
    """A canonical case of any earlier schema; of the present one it is the same."""
    name, *parameters = case.split(" ")
    if name not in COLLECTIVES or any(word.startswith("algorithm=") for word in parameters):
        return case
    return " ".join([name, *sorted(["algorithm=mpi", *parameters])])


def upgraded_line(line: dict[str, Any]) -> dict[str, Any]:
    """A line of `records.jsonl` of any earlier schema, not yet checked."""
    line = dict(line, schema=SCHEMA)
    if isinstance(line.get("case"), str):
        line["case"] = upgraded_case(line["case"])
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
