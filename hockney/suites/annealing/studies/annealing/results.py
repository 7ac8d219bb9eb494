# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The annealing with each set-up, on each number of ranks: its time, the parts of the ranks' time, and the
share of communication predicted from one rank and the costs of messages."""

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
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import rate_from_time
from hockney.studies.program_costs import find_communication_costs
from hockney.studies.progress import SETTING_NAME
from hockney.suites.annealing.models.prediction import SingleRank, handling_times, predict, round_spread
from hockney.suites.annealing.models.program import program_of
from hockney.suites.annealing.models.rounds import RankTimes
from hockney.suites.annealing.models.runs import AnnealingRun, Course, course_of, runs_of
from hockney.suites.annealing.studies.annealing.plan import ROLE, SETUP_PARAMETER

Part = Literal["computation", "posting", "testing", "waiting", "balancing"]
PARTS: tuple[Part, ...] = get_args(Part)
COMMUNICATION = PARTS[1:]
EQUAL_SHARES = "equal"


@dataclass(frozen=True, eq=False)
class AnnealingPoint:
    """One set-up on `ranks` ranks; `records` are those of its launches. A point is equal only to itself."""

    measurement: MeasuredCase
    observation: Observation
    records: tuple[Record, ...]

    @property
    def setup(self) -> str:
        return str(self.measurement.case[SETUP_PARAMETER])

    @property
    def label(self) -> str:
        """The set-up, and the properties of its variant."""
        details = []
        if lag := int(self.measurement.case.number("lag")):
            details.append(f"lag {lag}")
        if interval := int(self.measurement.case.number("test_every")):
            details.append(f"tests every {interval} steps")
        if self.uses_progress_thread:
            details.append("progress thread")
        return f"{self.setup} ({', '.join(details)})" if details else self.setup

    @property
    def uses_progress_thread(self) -> bool:
        """Whether MPI's progress thread is on."""
        return self.measurement.case.setting == SETTING_NAME

    @property
    def ranks(self) -> int:
        return self.measurement.case.ranks

    @property
    def walkers(self) -> int:
        return int(self.measurement.case.number("walkers"))

    @property
    def is_uneven(self) -> bool:
        """Whether some ranks are deliberately slower."""
        return self.measurement.case["shares"] != EQUAL_SHARES

    @property
    def is_balanced(self) -> bool:
        return self.measurement.case["balance"] == "yes"

    @property
    def time(self) -> Estimate:
        """The time of a run (s)."""
        return self.measurement.summary.typical

    @property
    def steps(self) -> float:
        """The steps of all walkers in a run."""
        metric = self.measurement.summary.metrics.get("total_steps")
        return metric.typical.value if metric is not None else 0.0

    @property
    def rate(self) -> Estimate:
        """Steps per second of all walkers."""
        return rate_from_time(self.steps, self.time)

    @cached_property
    def seconds_by_rank(self) -> dict[Part, tuple[float, ...]]:
        """Seconds of each rank."""
        metrics = self.measurement.summary.metrics
        return {part: tuple(metrics[name].by_rank) for part in PARTS if (name := f"rank_{part}") in metrics}

    def part_seconds(self, part: Part) -> float:
        """Returns the mean seconds of `part` over the ranks."""
        seconds = self.seconds_by_rank.get(part, ())
        return sum(seconds) / len(seconds) if seconds else 0.0

    def share(self, *parts: Part) -> float:
        """Returns the combined share (0 to 1) of `parts` in the time of all parts."""
        total = sum(map(self.part_seconds, PARTS))
        return sum(map(self.part_seconds, parts)) / total if total else 0.0

    @property
    def communication(self) -> float:
        """The share of communication in the time."""
        return self.share(*COMMUNICATION)

    def rank_seconds(self, rank: int, *parts: Part) -> float:
        """Returns the seconds of a rank in these parts."""
        return sum(self.seconds_by_rank[part][rank] for part in parts if part in self.seconds_by_rank)

    def worker_seconds(self, *parts: Part) -> float:
        """Returns the mean seconds in these parts over all ranks except the master."""
        return sum(self.rank_seconds(rank, *parts) for rank in range(1, self.ranks)) / max(1, self.ranks - 1)

    @cached_property
    def sum_error(self) -> float:
        """The largest relative difference between a rank's time and the sum of its parts, over all runs."""
        return max((run.sum_error for run in self.runs), default=0.0)

    @cached_property
    def runs(self) -> tuple[AnnealingRun, ...]:
        return tuple(run for record in self.records for run in runs_of(record))

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        """The course of the last run of each launch."""
        return tuple(course for record in self.records if (course := course_of(record)) is not None)

    @property
    def estimated_share(self) -> float:
        """The share of the rounds that used an estimate of the schedule."""
        metric = self.measurement.summary.metrics.get("estimated_rounds")
        return metric.typical.value if metric is not None else 0.0

    @property
    def optimum(self) -> float | None:
        """The known optimum of the instance; None without one."""
        text = next((record.labels["optimum"] for record in self.records if record.labels.get("optimum")), "")
        return float(text) if text else None

    @property
    def instance(self) -> str:
        return next((record.labels["instance"] for record in self.records if "instance" in record.labels), "")


@dataclass(frozen=True)
class SetupComparison:
    """A set-up compared with the reference on the same number of ranks. `ratio` is its time relative to
    the reference's, with the interval used for the verdict."""

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
        measured_by_line = {
            measurement.case.line: measurement
            for measurement in self.evidence.measured
            if measurement.workload.role == ROLE and measurement.case.setting in ("", SETTING_NAME)
        }
        points = [
            AnnealingPoint(
                measured_by_line[observation.case.line],
                observation,
                tuple(records.get(observation.case.line, ())),
            )
            for observation in self.evidence.observations(
                measurement.case for measurement in measured_by_line.values()
            )
        ]
        reference_name = self.reference_name
        return tuple(sorted(points, key=lambda p: (p.ranks, p.setup != reference_name, p.label, p.walkers)))

    @cached_property
    def reference_name(self) -> str:
        """The default of the workload's parameter."""
        for workload in self.evidence.catalog.with_role(ROLE):
            parameter = workload.parameter(SETUP_PARAMETER)
            if parameter is not None:
                return parameter.default
        return ""

    @cached_property
    def comparable_points(self) -> tuple[AnnealingPoint, ...]:
        """The points on several even ranks, without balancing."""
        return tuple(p for p in self.points if p.ranks > 1 and not p.is_uneven and not p.is_balanced)

    @property
    def rank_counts(self) -> tuple[int, ...]:
        """Numbers of ranks above 1."""
        return tuple(sorted({p.ranks for p in self.comparable_points}))

    @cached_property
    def headline_ranks(self) -> int:
        """The number of ranks in the headline: the largest with one core each, otherwise the smallest
        above 1; 1 if only one rank was measured."""
        counts_within_cores = [
            p for p in self.rank_counts if p <= self.evidence.run.cores(self.evidence.machine)
        ]
        return (
            counts_within_cores[-1] if counts_within_cores else self.rank_counts[0] if self.rank_counts else 1
        )

    @property
    def headline_points(self) -> tuple[AnnealingPoint, ...]:
        """The set-ups on `headline_ranks` ranks."""
        return self.points_on(self.headline_ranks)

    def points_on(self, ranks: int) -> tuple[AnnealingPoint, ...]:
        return tuple(p for p in self.comparable_points if p.ranks == ranks)

    def reference(self, ranks: int) -> AnnealingPoint | None:
        """Returns the set-up with which the others are compared, the workload's default if it was
        measured."""
        return next(iter(self.points_on(ranks)), None)

    def single_rank_point(self, walkers: int) -> AnnealingPoint | None:
        """Returns the point of one rank with this number of walkers; None if it was not measured."""
        return next((p for p in self.points if p.ranks == 1 and p.walkers == walkers), None)

    def speedup(self, point: AnnealingPoint) -> Estimate | None:
        """Returns T(1) / T(p) with the same number of walkers; None if one rank was not measured."""
        single_rank_point = self.single_rank_point(point.walkers)
        return None if single_rank_point is None else self.ratio(single_rank_point, point)

    def ratio(self, point: AnnealingPoint, reference: AnnealingPoint) -> Estimate:
        """Returns the ratio of their times."""
        value = ratio(point.observation, reference.observation)
        return ExactValue.of(value.value) if self.evidence.machine.is_exact else value

    def comparisons(self, ranks: int) -> Sequence[SetupComparison]:
        """Returns the comparison of each other set-up with the reference."""
        reference = self.reference(ranks)
        if reference is None:
            return ()
        other_points = [p for p in self.points_on(ranks) if p is not reference]
        return [self.compare_with(p, reference, len(other_points)) for p in other_points]

    def compare_with(
        self, point: AnnealingPoint, reference: AnnealingPoint, comparison_count: int = 1
    ) -> SetupComparison:
        widened_ratio = widen(self.ratio(point, reference), interval_stretch(comparison_count))
        return SetupComparison(point, reference, widened_ratio, verdict(widened_ratio))

    def widened_ratio(self, point: AnnealingPoint, reference: AnnealingPoint) -> Estimate:
        """Returns the ratio of their times, with its interval widened for all comparisons on this number
        of ranks."""
        comparisons = (
            comparison
            for comparison in self.comparisons(point.ranks)
            if comparison.point is point and comparison.reference is reference
        )
        return next(
            (comparison.ratio for comparison in comparisons if comparison.ratio), self.ratio(point, reference)
        )

    @cached_property
    def balancing_comparisons(self) -> tuple[SetupComparison, ...]:
        """The comparisons of uneven ranks with load balancing to those without."""
        pairs = []
        for balanced_point in (p for p in self.points if p.is_balanced):
            case = balanced_point.measurement.case.with_parameter("balance", "no")
            unbalanced_point = next((p for p in self.points if p.measurement.case == case), None)
            if unbalanced_point is not None:
                pairs.append(self.compare_with(balanced_point, unbalanced_point))
        return tuple(pairs)


@dataclass(frozen=True)
class AnnealingPrediction:
    """The prediction for a set-up on several even ranks."""

    point: AnnealingPoint
    predicted_times: RankTimes

    @property
    def share(self) -> float:
        """The predicted share of communication."""
        return self.predicted_times.share

    @property
    def error(self) -> float:
        """Predicted minus measured share: 0.01 is one percentage point."""
        return self.share - self.point.communication


@dataclass(frozen=True)
class AnnealingPredictions:
    predictions: tuple[AnnealingPrediction, ...]

    def median_error(self, ranks: int = 0) -> float | None:
        """Returns the median absolute error over the set-ups on `ranks` ranks (0: all numbers); None if
        nothing was predicted."""
        errors = [
            abs(prediction.error) for prediction in self.predictions if ranks in (0, prediction.point.ranks)
        ]
        return median(errors) if errors else None

    @property
    def worst_prediction(self) -> AnnealingPrediction | None:
        return max(self.predictions, key=lambda prediction: abs(prediction.error), default=None)

    def prediction_for(self, point: AnnealingPoint) -> AnnealingPrediction | None:
        return next((prediction for prediction in self.predictions if prediction.point is point), None)


def predictions(run: AnnealingResults) -> AnnealingPredictions:
    return run.evidence.cached(_compute_predictions)


def _compute_predictions(evidence: Evidence) -> AnnealingPredictions:
    """Predicts all set-ups that have a model, if one rank was measured and the costs of messages are
    known."""
    run = AnnealingResults.of(evidence)
    costs = find_communication_costs(evidence)
    if costs is None:
        return AnnealingPredictions(())
    cores = evidence.run.cores(evidence.machine)
    predictions = []
    for point in run.comparable_points:
        program = program_of(point.measurement.case)
        single_rank = _single_rank(run.points, -(-point.walkers // point.ranks))
        if program is None or single_rank is None or point.uses_progress_thread:
            continue  # there is no model, for example for a progress thread
        # A test costs as much as receiving an empty message.
        _, test_s = handling_times(costs, 0, point.ranks)
        slowdown = max(1.0, point.ranks / cores)
        times = predict(program, single_rank, costs, test_s=test_s, slowdown=slowdown)
        if times is not None:
            predictions.append(AnnealingPrediction(point, times))
    return AnnealingPredictions(tuple(predictions))


def _single_rank(points: Iterable[AnnealingPoint], walkers: int) -> SingleRank | None:
    """Returns one rank with this number of walkers, otherwise with the next larger number."""
    candidates = [p for p in points if p.ranks == 1 and p.walkers >= walkers and p.steps > 0]
    for point in sorted(candidates, key=lambda p: p.walkers):
        spread = round_spread([course.round_ends_s for course in point.courses])
        if spread is not None:
            return SingleRank(point.walkers, point.part_seconds("computation") / point.steps, spread)
    return None
