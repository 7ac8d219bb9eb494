# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer for programs (`--json`), and the tables below the headline on a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hockney.core.case import MPI
from hockney.core.fit import Estimate
from hockney.draw.page import Table
from hockney.pages.evidence import Evidence
from hockney.studies.collectives import tables
from hockney.studies.collectives.eager_effect import EagerEffect
from hockney.studies.collectives.results import CollectivePoint, CollectiveResults


def summary(evidence: Evidence) -> Sequence[Table]:
    run = CollectiveResults.of(evidence)
    found = tables.fastest(run, run.shown_first)
    return () if found is None else (found,)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Every comparison with MPI's own algorithm, how many have each verdict, and every eager limit. Times in
    seconds, sizes in bytes, null for an unknown end of an interval."""
    effect = EagerEffect.of(evidence)
    points = CollectiveResults.of(evidence).points
    return {
        "collectives": [_point(p) for p in points],
        "counts": dict(Counter(p.verdict for p in points if p.ratio is not None)),
        "eager_limits": [
            {
                "limit_bytes": each.limit,
                "setting": each.setting,
                **_ratio(each.over_all),
                "verdict": effect.verdict(each),
                "by_size": [
                    {"bytes": size, **_ratio(value), "verdict": effect.verdict(each, size)}
                    for size, value in each.by_size.items()
                ],
            }
            for each in effect.limits
        ],
        "best_eager_limit_bytes": None if effect.best is None else effect.best.limit,
    }


def _point(p: CollectivePoint) -> dict[str, Any]:
    rate = p.bandwidth(MPI)
    return {
        "operation": p.operation,
        "ranks": p.ranks,
        "block_bytes": p.block,
        "buffer_bytes": p.buffer,
        "mpi_s": None if (time := p.time(MPI)) is None else time.value,
        "mpi_aggregated_bytes_per_s": None if rate is None else rate.value,
        "best": p.best or None,
        "best_s": None if (time := p.time(p.best)) is None else time.value,
        **_ratio(p.ratio),
        "mpi_is": p.verdict,
    }


def _ratio(value: Estimate | None) -> dict[str, float | None]:
    if value is None:
        return {"ratio": None, "ratio_low": None, "ratio_high": None}
    return {"ratio": value.value, "ratio_low": value.low, "ratio_high": value.high}
