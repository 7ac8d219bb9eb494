# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer for programs (`--json`), and the tables on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hockney.draw.page import Table
from hockney.models.significance import OPEN
from hockney.pages.evidence import Evidence
from hockney.studies.overlap import tables
from hockney.studies.overlap.results import PAYS, BestTests, OverlapPoint, OverlapResults, sizes_where


def is_conclusive(evidence: Evidence) -> bool:
    return OverlapResults.of(evidence).conclusive


def summary(evidence: Evidence) -> Sequence[Table]:
    run = OverlapResults.of(evidence)
    return tuple(table for ranks in run.counts if (table := tables.best(run, ranks)) is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """The answer: where nonblocking communication pays and with how many tests; and every case with its times
    (s) and shares of 1. Values have 95% intervals; null if unknown."""
    run = OverlapResults.of(evidence)
    return {
        "pays": run.pays,
        "operations": [
            _operation(operation, ranks, best)
            for operation in run.operations
            for ranks in run.counts
            if (best := run.best(operation, ranks))
        ],
        "cases": [_case(run, p) for p in run.points],
        "progress_thread": [
            {
                "case": p.measured.case.line,
                "pays": p.pays,
                "verdict": p.verdict,
                "ratio_to_blocking_without": p.ratio,
                "computing_ratio": run.times(p).step_ratio(run.times(plain)),
                "pure_ratio": run.times(p).pure_ratio(run.times(plain)),
            }
            for p, plain in run.threads
        ],
    }


def _operation(operation: str, ranks: int, found: Sequence[BestTests]) -> dict[str, Any]:
    return {
        "operation": operation,
        "ranks": ranks,
        "pays_at": sizes_where(found, PAYS),
        "undecided_at": sizes_where(found, *OPEN),
        "best": [
            {
                "bytes": each.size,
                "verdict": each.verdict,
                "tests": each.best.tests,
                "progress": each.best.progress,
                "ratio": each.best.ratio,
            }
            for each in found
        ],
    }


def _case(run: OverlapResults, p: OverlapPoint) -> dict[str, Any]:
    times = run.times(p)
    return {
        "case": p.measured.case.line,
        "operation": p.operation,
        "bytes": p.size,
        "ranks": p.ranks,
        "tests": p.tests,
        "progress": p.progress,
        "launches": p.measured.summary.launches,
        "total_s": p.total,
        "pure_s": times.pure,
        "cpu_s": times.cpu,
        "ratio": p.ratio,
        "verdict": p.verdict,
        "hidden": times.hidden,
        "overlap_imb": times.imb,
        "overlap_reported": p.hidden,
        "availability": times.availability,
        "availability_reported": p.availability,
        "slowdown": times.slowdown,
        "parts_s": p.parts,
    }
