# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The share of communication that was predicted for each set-up, from one rank and the costs of messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from hockney.pages.evidence import Evidence
from hockney.studies.program_costs import communication
from hockney.suites.annealing.models.prediction import OneRank, handling, predict
from hockney.suites.annealing.models.program import of_case
from hockney.suites.annealing.models.rounds import RankTimes
from hockney.suites.annealing.models.spread import spread
from hockney.suites.annealing.studies.annealing.results import AnnealingPoint, AnnealingResults


@dataclass(frozen=True)
class AnnealingPrediction:
    """A set-up on several even ranks, as predicted."""

    point: AnnealingPoint
    predicted: RankTimes

    @property
    def share(self) -> float:
        """The predicted share of communication."""
        return self.predicted.share

    @property
    def error(self) -> float:
        """Predicted minus measured share: 0.01 is one percentage point."""
        return self.share - self.point.communication


@dataclass(frozen=True)
class AnnealingPredictions:
    of: tuple[AnnealingPrediction, ...]

    def median_error(self, ranks: int = 0) -> float | None:
        """Absolute, over the set-ups on `ranks` ranks (0: all numbers); None if nothing was predicted."""
        errors = [abs(each.error) for each in self.of if ranks in (0, each.point.ranks)]
        return median(errors) if errors else None

    @property
    def worst(self) -> AnnealingPrediction | None:
        return max(self.of, key=lambda each: abs(each.error), default=None)

    def at(self, point: AnnealingPoint) -> AnnealingPrediction | None:
        return next((each for each in self.of if each.point is point), None)


def predictions(run: AnnealingResults) -> AnnealingPredictions:
    return run.evidence.cached(_of)


def _of(evidence: Evidence) -> AnnealingPredictions:
    """The predictions for all set-ups that have a model, if one rank was measured and the costs of messages
    are known."""
    run = AnnealingResults.of(evidence)
    costs = communication(evidence)
    if costs is None:
        return AnnealingPredictions(())
    cores = evidence.run.cores(evidence.machine)
    found = []
    for point in run.plain:
        program, one = of_case(point.measured.case), _one_rank(run.points, -(-point.walkers // point.ranks))
        if program is None or one is None or point.with_thread:
            continue  # no model, or a progress thread, which has none
        tested = handling(costs, 0, point.ranks)[1]  # a test is taken to cost what receiving nothing costs
        slower = max(1.0, point.ranks / cores)
        times = predict(program, one, costs, test_s=tested, slower=slower)
        if times is not None:
            found.append(AnnealingPrediction(point, times))
    return AnnealingPredictions(tuple(found))


def _one_rank(points: Iterable[AnnealingPoint], walkers: int) -> OneRank | None:
    """One rank with this number of walkers, otherwise with the next larger number."""
    known = [p for p in points if p.ranks == 1 and p.walkers >= walkers and p.steps > 0]
    for point in sorted(known, key=lambda p: p.walkers):
        rounds = spread([course.ends for course in point.courses])
        if rounds is not None:
            return OneRank(point.walkers, point.part("computation") / point.steps, rounds)
    return None
