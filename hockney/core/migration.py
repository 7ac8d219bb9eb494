# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Converts files of earlier schemas to the current one. No other code depends on earlier schemas.

Schema 1: a record's `work` was a separate object and is now metrics and a label; a collective's case named no
algorithm, it was MPI's own; a machine had a kind and no traits; whether a form of a model is preferred was
the beginning of its `why`, and whether ranks were bound that of a launch's `binding`. (A rank had no node;
its host is the default.)
"""

from __future__ import annotations

from typing import Any

SCHEMA = 2
"""The schema of all files written now."""

WORK_METRICS = {"preset_s": ("work", "s"), "error": ("work_error", ""), "imbalance": ("imbalance", "")}

COLLECTIVES = (
    "allgather", "allreduce", "alltoall", "bcast", "gather", "reduce", "reduce_scatter_block", "scan",
    "scatter",
)  # fmt: skip
"""The operations in schema 1."""


def upgraded_case(case: str) -> str:
    """A canonical case of any earlier schema; one of the current schema is unchanged."""
    name, *parameters = case.split(" ")
    if name not in COLLECTIVES or any(word.startswith("algorithm=") for word in parameters):
        return case
    return " ".join([name, *sorted(["algorithm=mpi", *parameters])])


_TRAITS_OF_KIND: dict[str, dict[str, Any]] = {
    "simulated": {
        "origin": "simulated",
        "noiseless": True,
        "local": False,
        "shared_memory": False,
        "wall_clock": False,
    },
    "published": {
        "origin": "published",
        "noiseless": True,
        "local": False,
        "shared_memory": False,
        "wall_clock": False,
    },
    "fake": {"origin": "fake", "local": False},
}
"""Traits of the kinds in schema 1 that differ from a real machine."""


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
    binding = line.get("binding") if line.get("kind") == "launch" else None
    if isinstance(binding, str) and binding:
        line["bound"] = not binding.startswith("none")
    return line


def upgraded_machine(machine: dict[str, Any]) -> dict[str, Any]:
    """A `machine.json` of any earlier schema, not yet checked."""
    if "traits" in machine:
        return machine
    return machine | {"traits": _TRAITS_OF_KIND.get(str(machine.get("kind")), {})}


def upgraded_fits(fits: dict[str, Any]) -> dict[str, Any]:
    """A `fits.json` of any earlier schema, not yet checked."""
    fits = dict(fits, summaries=[_typical(summary) for summary in fits.get("summaries") or []])
    if fits.get("schema", SCHEMA) >= SCHEMA:
        return fits
    return fits | {
        "schema": SCHEMA,
        "summaries": [dict(s, case=upgraded_case(s["case"])) for s in fits.get("summaries") or []],
        "fits": [
            dict(fit, subject=upgraded_case(fit["subject"]), preferred=fit["why"].startswith("preferred"))
            for fit in fits.get("fits") or []
        ],
    }


def _typical(summary: dict[str, Any]) -> dict[str, Any]:
    """The typical time and metrics were named after the median."""
    named = {("typical" if name == "median" else name): value for name, value in summary.items()}
    metrics = named.get("metrics") or {}
    return named | {
        "metrics": {
            name: {("typical" if key == "median" else key): value for key, value in metric.items()}
            for name, metric in metrics.items()
        }
    }


def upgraded_survey(survey: dict[str, Any]) -> dict[str, Any]:
    """A `survey.json` of any earlier schema, not yet checked: it holds a machine and fits."""
    upgrades = {"machine": upgraded_machine, "fits": upgraded_fits}
    parts = {
        name: upgrade(survey[name])
        for name, upgrade in upgrades.items()
        if isinstance(survey.get(name), dict)
    }
    newer = survey.get("schema", SCHEMA) > SCHEMA
    return survey | parts | ({} if newer else {"schema": SCHEMA})
