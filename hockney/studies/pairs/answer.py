# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer for programs (`--json`), and the table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hockney.draw.page import Table
from hockney.pages.evidence import Evidence
from hockney.studies.pairs import tables
from hockney.studies.pairs.results import PairsPoint, PairsResults, Way, saturation


def is_conclusive(evidence: Evidence) -> bool:
    return PairsResults.of(evidence).conclusive


def summary(evidence: Evidence) -> Sequence[Table]:
    run = PairsResults.of(evidence)
    found = (tables.summary(run), tables.models(run))
    return tuple(table for table in found if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """The answer: for each way between ranks, whether it saturates and the parameters of the model; and every
    case with its bandwidth (B/s), messages a second and slowdown. Values have 95% intervals; null if
    unknown."""
    run = PairsResults.of(evidence)
    return {
        "ways": [_way(run, way) for way in run.ways],
        "cases": [_case(p) for p in run.points],
    }


def _way(run: PairsResults, way: Way) -> dict[str, Any]:
    fit = run.fit(way)
    return {
        **_named(way),
        "saturation": [
            {"bytes": size, "reached": found.reached, "pairs": found.pairs if found.reached else None}
            for size in run.sizes(way)
            for found in (saturation(run.row(way, size)),)
        ],
        "model": None
        if fit is None
        else {
            "verdict": fit.verdict,
            "why": fit.why,
            "parameters": {p.symbol: p.estimate for p in fit.parameters},
            "error": fit.error,
        },
    }


def _named(way: Way) -> dict[str, str]:
    return {"workload": way.workload, "place": way.level, "direction": way.direction}


def _case(p: PairsPoint) -> dict[str, Any]:
    return {
        "case": p.measured.case.line,
        **_named(p.way),
        "pairs": p.pairs,
        "bytes": p.size,
        "launches": p.measured.summary.launches,
        "bandwidth_bytes_per_s": p.bandwidth,
        "messages_per_s": p.rate,
        "message_s": p.message_s,
        "slowdown": p.slowdown,
        "slowed": p.slowed,
        "gain": p.gain,
        "gained": p.gained,
    }
