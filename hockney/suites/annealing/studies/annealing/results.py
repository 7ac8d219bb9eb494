# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The annealing with each set-up, on each number of ranks: its time, what the ranks spend it on, and the
share of communication that was predicted from one rank and the costs of messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Literal, get_args

from hockney.core.fit import Estimate, ExactValue
from hockney.core.record import Record
from hockney.models.significance import widen
from hockney.models.statistics import Observation, Verdict, interval_stretch, ratio, verdict
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import rate_of
from hockney.studies.program_costs import communication
from hockney.studies.progress import SETTING
from hockney.suites.annealing.models.prediction import SingleRank, handling_times, predict, round_spread
from hockney.suites.annealing.models.program import program_of
from hockney.suites.annealing.models.rounds import RankTimes
from hockney.suites.annealing.models.runs import AnnealingRun, Course, course_of, runs_of
from hockney.suites.annealing.studies.annealing.plan import ROLE, SETUP

Part = Literal["computation", "posting", "testing", "waiting", "balancing"]
PARTS: tuple[Part, ...] = get_args(Part)
COMMUNICATION = PARTS[1:]
EQUAL = "equal"


@dataclass(frozen=True, eq=False)
class AnnealingPoint:
    """One set-up on `ranks` ranks; `records` are its launches. Equal only to itself."""

    measured: Measured
    observation: Observation
    records: tuple[Record, ...]

    @property
    def setup(self) -> str:
        return str(self.measured.case[SETUP])

    @property
    def label(self) -> str:
        """The set-up, with what distinguishes its variants."""
        words = []
        if lag := int(self.measured.case.number("lag")):
            words.append(f"lag {lag}")
        if interval := int(self.measured.case.number("test_every")):
            words.append(f"tests every {interval} steps")
        if self.with_thread:
            words.append("progress thread")
        return f"{self.setup} ({', '.join(words)})" if words else self.setup

    @property
    def with_thread(self) -> bool:
        """Whether MPI's progress thread is switched on."""
        return self.measured.case.setting == SETTING

    @property
    def ranks(self) -> int:
        return self.measured.case.ranks

    @property
    def walkers(self) -> int:
        return int(self.measured.case.number("walkers"))

    @property
    def uneven(self) -> bool:
        """Whether ranks are slower on purpose."""
        return self.measured.case["shares"] != EQUAL

    @property
    def balanced(self) -> bool:
        return self.measured.case["balance"] == "yes"

    @property
    def time(self) -> Estimate:
        """The time of a run (s)."""
        return self.measured.summary.typical

    @property
    def steps(self) -> float:
        """The steps of all walkers in a run."""
        metric = self.measured.summary.metrics.get("total_steps")
        return metric.typical.value if metric is not None else 0.0

    @property
    def rate(self) -> Estimate:
        """Steps per second of all walkers."""
        return rate_of(self.steps, self.time)

    @cached_property
    def by_rank(self) -> dict[Part, tuple[float, ...]]:
        """Seconds of each rank."""
        metrics = self.measured.summary.metrics
        return {part: tuple(metrics[name].by_rank) for part in PARTS if (name := f"rank_{part}") in metrics}

    def part(self, part: Part) -> float:
        """Mean seconds of `part` over the ranks."""
        seconds = self.by_rank.get(part, ())
        return sum(seconds) / len(seconds) if seconds else 0.0

    def share(self, *parts: Part) -> float:
        """Combined share (0 to 1) of `parts` in the time of all parts."""
        total = sum(map(self.part, PARTS))
        return sum(map(self.part, parts)) / total if total else 0.0

    @property
    def communication(self) -> float:
        """The share of communication in the time."""
        return self.share(*COMMUNICATION)

    def rank_seconds(self, rank: int, *parts: Part) -> float:
        """Seconds."""
        return sum(self.by_rank[part][rank] for part in parts if part in self.by_rank)

    def worker_seconds(self, *parts: Part) -> float:
        """Seconds, the mean over all ranks except the master."""
        return sum(self.rank_seconds(rank, *parts) for rank in range(1, self.ranks)) / max(1, self.ranks - 1)

    @cached_property
    def sum_error(self) -> float:
        """The largest relative difference of all runs between the sum of a rank's parts and its time."""
        return max((run.sum_error for run in self.runs), default=0.0)

    @cached_property
    def runs(self) -> tuple[AnnealingRun, ...]:
        return tuple(run for record in self.records for run in runs_of(record))

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        """The course of the last run of each launch."""
        return tuple(course for record in self.records if (course := course_of(record)) is not None)

    @property
    def estimated(self) -> float:
        """The share of the rounds that used an estimate of the schedule."""
        metric = self.measured.summary.metrics.get("estimated_rounds")
        return metric.typical.value if metric is not None else 0.0

    @property
    def optimum(self) -> float | None:
        """The known optimum of the instance; None without one."""
        text = next((r.labels["optimum"] for r in self.records if r.labels.get("optimum")), "")
        return float(text) if text else None

    @property
    def instance(self) -> str:
        return next((r.labels["instance"] for r in self.records if "instance" in r.labels), "")


@dataclass(frozen=True)
class ComparedSetup:
    """A set-up compared with the reference on the same number of ranks: `ratio` is its time relative to the
    reference's, with the interval that the verdict uses."""

    point: AnnealingPoint
    reference: AnnealingPoint
    ratio: Estimate
    verdict: Verdict


@dataclass(frozen=True)
class AnnealingResults:
    evidence: Evidence

    @staticmethod
    def of(evidence: Evidence) -> AnnealingResults:
        return evidence.cached(AnnealingResults)

    @cached_property
    def points(self) -> tuple[AnnealingPoint, ...]:
        """The points by number of ranks, the reference first."""
        records = self.evidence.run.by_case()
        measured = {
            m.case.line: m
            for m in self.evidence.measured
            if m.workload.role == ROLE and m.case.setting in ("", SETTING)
        }
        points = [
            AnnealingPoint(
                measured[observation.case.line], observation, tuple(records.get(observation.case.line, ()))
            )
            for observation in self.evidence.observed(m.case for m in measured.values())
        ]
        first = self.reference_name
        return tuple(sorted(points, key=lambda p: (p.ranks, p.setup != first, p.label, p.walkers)))

    @cached_property
    def reference_name(self) -> str:
        """The default of the workload's parameter."""
        for workload in self.evidence.catalog.with_role(ROLE):
            parameter = workload.parameter(SETUP)
            if parameter is not None:
                return parameter.default
        return ""

    @cached_property
    def plain(self) -> tuple[AnnealingPoint, ...]:
        """The points with even ranks, more than one, and without balancing."""
        return tuple(p for p in self.points if p.ranks > 1 and not p.uneven and not p.balanced)

    @property
    def rank_counts(self) -> tuple[int, ...]:
        """Numbers of ranks above 1."""
        return tuple(sorted({p.ranks for p in self.plain}))

    @cached_property
    def headline_ranks(self) -> int:
        """The number of ranks in the headline: the largest with a core for each, otherwise the smallest above
        1; 1 if there is no other."""
        full_counts = [p for p in self.rank_counts if p <= self.evidence.run.cores(self.evidence.machine)]
        return full_counts[-1] if full_counts else self.rank_counts[0] if self.rank_counts else 1

    @property
    def headline_points(self) -> tuple[AnnealingPoint, ...]:
        """The set-ups on `headline_ranks` ranks."""
        return self.points_on(self.headline_ranks)

    def points_on(self, ranks: int) -> tuple[AnnealingPoint, ...]:
        return tuple(p for p in self.plain if p.ranks == ranks)

    def reference(self, ranks: int) -> AnnealingPoint | None:
        """The set-up with which the others are compared: the workload's default if it was measured."""
        return next(iter(self.points_on(ranks)), None)

    def on_one_rank(self, walkers: int) -> AnnealingPoint | None:
        """The point of one rank with this number of walkers; None if it was not measured."""
        return next((p for p in self.points if p.ranks == 1 and p.walkers == walkers), None)

    def speedup(self, point: AnnealingPoint) -> Estimate | None:
        """T(1) / T(p) with as many walkers; None if one rank was not measured."""
        one = self.on_one_rank(point.walkers)
        return None if one is None else self.ratio(one, point)

    def ratio(self, of: AnnealingPoint, reference: AnnealingPoint) -> Estimate:
        """The ratio of their times."""
        value = ratio(of.observation, reference.observation)
        return ExactValue.of(value.value) if self.evidence.machine.is_exact else value

    def compared(self, ranks: int) -> Sequence[ComparedSetup]:
        """Each set-up with the reference, except itself."""
        reference = self.reference(ranks)
        if reference is None:
            return ()
        others = [p for p in self.points_on(ranks) if p is not reference]
        return [self.compare_with(p, reference, len(others)) for p in others]

    def compare_with(
        self, point: AnnealingPoint, reference: AnnealingPoint, comparisons: int = 1
    ) -> ComparedSetup:
        value = widen(self.ratio(point, reference), interval_stretch(comparisons))
        return ComparedSetup(point, reference, value, verdict(value))

    def judged_ratio(self, point: AnnealingPoint, reference: AnnealingPoint) -> Estimate:
        """The ratio of their times, with its interval among all comparisons on this number of ranks."""
        compared = (
            each for each in self.compared(point.ranks) if each.point is point and each.reference is reference
        )
        return next((each.ratio for each in compared if each.ratio), self.ratio(point, reference))

    @cached_property
    def balancing(self) -> tuple[ComparedSetup, ...]:
        """Uneven ranks with load balancing, and what they take with it relative to without."""
        pairs = []
        for balanced_point in (p for p in self.points if p.balanced):
            case = balanced_point.measured.case.with_parameter("balance", "no")
            unbalanced_point = next((p for p in self.points if p.measured.case == case), None)
            if unbalanced_point is not None:
                pairs.append(self.compare_with(balanced_point, unbalanced_point))
        return tuple(pairs)


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
    predictions: tuple[AnnealingPrediction, ...]

    def median_error(self, ranks: int = 0) -> float | None:
        """Absolute, over the set-ups on `ranks` ranks (0: all numbers); None if nothing was predicted."""
        errors = [abs(each.error) for each in self.predictions if ranks in (0, each.point.ranks)]
        return median(errors) if errors else None

    @property
    def worst(self) -> AnnealingPrediction | None:
        return max(self.predictions, key=lambda each: abs(each.error), default=None)

    def prediction_for(self, point: AnnealingPoint) -> AnnealingPrediction | None:
        return next((each for each in self.predictions if each.point is point), None)


def predictions(run: AnnealingResults) -> AnnealingPredictions:
    return run.evidence.cached(_predictions)


def _predictions(evidence: Evidence) -> AnnealingPredictions:
    """The predictions for all set-ups that have a model, if one rank was measured and the costs of messages
    are known."""
    run = AnnealingResults.of(evidence)
    costs = communication(evidence)
    if costs is None:
        return AnnealingPredictions(())
    cores = evidence.run.cores(evidence.machine)
    predictions = []
    for point in run.plain:
        program = program_of(point.measured.case)
        single_rank = _single_rank(run.points, -(-point.walkers // point.ranks))
        if program is None or single_rank is None or point.with_thread:
            continue  # no model, or a progress thread, which has none
        _, test_s = handling_times(costs, 0, point.ranks)  # a test costs what receiving nothing costs
        slowdown = max(1.0, point.ranks / cores)
        times = predict(program, single_rank, costs, test_s=test_s, slowdown=slowdown)
        if times is not None:
            predictions.append(AnnealingPrediction(point, times))
    return AnnealingPredictions(tuple(predictions))


def _single_rank(points: Iterable[AnnealingPoint], walkers: int) -> SingleRank | None:
    """One rank with this number of walkers, otherwise with the next larger number."""
    candidates = [p for p in points if p.ranks == 1 and p.walkers >= walkers and p.steps > 0]
    for point in sorted(candidates, key=lambda p: p.walkers):
        spread = round_spread([course.ends for course in point.courses])
        if spread is not None:
            return SingleRank(point.walkers, point.part("computation") / point.steps, spread)
    return None
