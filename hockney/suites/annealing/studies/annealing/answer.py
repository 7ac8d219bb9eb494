# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer for programs (`--json`), and the tables below the headline on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hockney.draw.page import Table
from hockney.pages.evidence import Evidence
from hockney.suites.annealing.studies.annealing import tables
from hockney.suites.annealing.studies.annealing.choice import choice, until_decided
from hockney.suites.annealing.studies.annealing.predicted import AnnealingPredictions, predictions
from hockney.suites.annealing.studies.annealing.quality import quality
from hockney.suites.annealing.studies.annealing.results import (
    COMMUNICATION,
    PARTS,
    AnnealingPoint,
    AnnealingResults,
)


def summary(evidence: Evidence) -> Sequence[Table]:
    run = AnnealingResults.of(evidence)
    if not run.plain:
        return ()
    shown = (
        tables.setups(run),
        tables.energies(run, run.shown),
        tables.targets(run, run.shown),
        tables.balancing(run),
        tables.predicted(run, predictions(run)),
    )
    return tuple(table for table in shown if table is not None)


def answer(evidence: Evidence) -> dict[str, Any]:
    """Every set-up with its time, steps per second, and parts of its time (s; the master's, the mean of the
    workers, the mean over the ranks); the choice for each number of ranks; quality relative to the reference;
    load balancing; predictions. Ratios and differences have 95% intervals; null if unknown."""
    run = AnnealingResults.of(evidence)
    found = predictions(run)
    return {
        "reference": run.reference_name,
        "choices": [_choice(run, ranks) for ranks in run.counts],
        "setups": [_setup(run, p, found) for p in run.points if not p.uneven],
        "quality": [each for ranks in run.counts for each in _quality(run, ranks)],
        "balancing": [
            {
                "setup": each.point.label,
                "ranks": each.point.ranks,
                "shares": each.point.measured.case["shares"],
                "time_without_s": each.over.time,
                "time_s": each.point.time,
                "ratio": each.ratio,
                "verdict": each.verdict,
            }
            for each in run.balancing
        ],
        "median_prediction_error": found.median_error(),
        "largest_sum_error": max((p.sum_error for p in run.points), default=None),
    }


def _choice(run: AnnealingResults, ranks: int) -> dict[str, Any]:
    found = choice(run, ranks)
    if found is None:
        nothing = dict.fromkeys(("take", "outcome", "basis", "fastest", "meanwhile"))
        return {"ranks": ranks, **nothing, "rivals": []}
    meanwhile = until_decided(run, found)
    return {
        "ranks": ranks,
        "take": None if found.take is None else found.take.label,
        "outcome": found.outcome,
        "basis": found.basis,
        "fastest": found.fastest.label,
        "rivals": [p.label for p in found.rivals],
        "meanwhile": None if meanwhile is None else meanwhile.take.label,
    }


def _setup(run: AnnealingResults, p: AnnealingPoint, found: AnnealingPredictions) -> dict[str, Any]:
    over = run.reference(p.ranks)
    compared = None if over is None or p not in run.plain else run.against(p, over)
    predicted = found.at(p)
    return {
        "case": p.measured.case.line,
        "setup": p.label,
        "ranks": p.ranks,
        "walkers": p.walkers,
        "time_s": p.time,
        "steps_per_s": p.rate,
        "speedup": run.speedup(p) if p in run.plain else None,
        "ratio": None if compared is None or p is over else compared.ratio,
        "verdict": None if compared is None or p is over else compared.verdict,
        "communication": p.communication,
        "predicted_communication": None if predicted is None else predicted.share,
        "parts_s": {part: p.part(part) for part in PARTS},
        "master_s": _spent(p.of_rank(0, "computation"), p.of_rank(0, *COMMUNICATION)),
        "worker_s": _spent(p.of_workers("computation"), p.of_workers(*COMMUNICATION)),
        "estimated_rounds": p.estimated,
        "sum_error": p.sum_error,
    }


def _spent(computation: float, communication: float) -> dict[str, float]:
    return {"computation": computation, "communication": communication}


def _quality(run: AnnealingResults, ranks: int) -> Iterator[dict[str, Any]]:
    found = quality(run, ranks)
    for p in found.points:
        loss = found.loss(p)
        yield {
            "setup": p.label,
            "ranks": ranks,
            "seeds": len(found.energies(p)),
            "energy": found.mean_energy(p),
            "optimum": p.optimum,
            "target": found.target,
            "target_time_s": found.target_time(p),
            "reached": found.reached(p),
            "repeats": found.repeats(p),
            "loss": None if loss is None else loss.equal_steps,
            "loss_at_equal_time": None if loss is None else loss.equal_time,
            "target_ratio": None if loss is None else loss.target,
            "worth": None if loss is None else loss.worth,
        }
