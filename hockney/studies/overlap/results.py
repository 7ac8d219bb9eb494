# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""For each operation and size: what computation hides with each number of tests, and the best number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hockney.core.fit import Estimate, ExactValue
from hockney.models.significance import (
    UNDECIDED_VERDICTS,
    Verdict,
    interval_stretch,
    time_to_decide,
    verdict,
    widen,
)
from hockney.pages.evidence import Evidence, MeasuredCase, StudyResults
from hockney.studies.progress import OWN_PROGRESS, SETTING_NAME, THREAD_PROGRESS

if TYPE_CHECKING:
    from hockney.models.overlap import OverlapTimes

OVERLAP_ROLE = "overlap"
MESSAGE_OPERATION = "message"
"""The operation between two ranks."""
RATIO_METRIC, HIDDEN_METRIC, AVAILABILITY_METRIC = "ratio", "overlap", "availability"
"""Metrics: the time relative to that of consecutive communication and computation, the hidden share of the
shorter of the two, and the share of the time in which the program computes (%)."""
PHASE_METRICS = ("posting", "computing", "testing", "waiting")
"""Metrics: the parts of the time."""
PAYS_VERDICT: Verdict = "faster"
"""The verdict that nonblocking communication pays: starting it, computing and waiting takes less time than
communication followed by computation."""


@dataclass(frozen=True)
class OverlapPoint:
    """A case. `ratio` is its time relative to that of communication followed by computation. The
    communication is that without the progress thread if it was measured too. Its interval is the one used by
    the verdict."""

    measured: MeasuredCase
    ratio: Estimate
    verdict: Verdict

    @property
    def operation(self) -> str:
        return operation_of(self.measured)

    @property
    def ranks(self) -> int:
        return self.measured.case.ranks

    @property
    def size(self) -> int:
        return int(self.measured.size)

    @property
    def tests(self) -> int:
        return int(self.measured.case.number("tests"))

    @property
    def progress(self) -> str:
        return THREAD_PROGRESS if self.measured.case.setting else OWN_PROGRESS

    @property
    def combination(self) -> tuple[str, int, int]:
        return self.operation, self.ranks, self.size

    @property
    def total(self) -> Estimate:
        """The time of both together (s)."""
        return self.measured.summary.typical

    @property
    def pays(self) -> bool:
        return self.verdict == PAYS_VERDICT

    @property
    def hidden(self) -> float | None:
        """The hidden share, from 0 to 1, by IMB's definition, as reported by the engine."""
        return self._share(HIDDEN_METRIC)

    @property
    def availability(self) -> float | None:
        """The availability, from 0 to 1, by COMB's definition, as reported by the engine."""
        return self._share(AVAILABILITY_METRIC)

    @property
    def phases_s(self) -> dict[str, float]:
        """Seconds of each reported phase."""
        metrics = self.measured.summary.metrics
        return {name: metrics[name].typical.value for name in PHASE_METRICS if name in metrics}

    def _share(self, name: str) -> float | None:
        metric = self.measured.summary.metrics.get(name)
        return None if metric is None else metric.typical.value / 100


def operation_of(measured: MeasuredCase) -> str:
    return str(measured.case.get("operation", measured.workload.operation))


@dataclass(frozen=True)
class BestTests:
    """The points of one operation and size on one number of ranks. Points with the progress thread only count
    if it pays, because long computations otherwise make their ratio nearly 1."""

    points: tuple[OverlapPoint, ...]

    @property
    def candidates(self) -> tuple[OverlapPoint, ...]:
        eligible_points = tuple(
            point for point in self.points if point.progress == OWN_PROGRESS or point.pays
        )
        return eligible_points or self.points

    @property
    def best(self) -> OverlapPoint:
        """The point with the smallest ratio, among those for which nonblocking communication pays, if any. Of
        equal ones, the point with fewer tests."""
        return min(
            self.candidates, key=lambda point: (not point.pays, round(point.ratio.value, 3), point.tests)
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict on the best number of tests. Nonblocking communication only does not pay if that holds
        for every number of tests."""
        if self.best.pays:
            return PAYS_VERDICT
        verdicts = {point.verdict for point in self.candidates}
        for state in (*UNDECIDED_VERDICTS, "alike"):
            if state in verdicts:
                return state
        return self.best.verdict

    @property
    def size(self) -> int:
        return self.points[0].size


@dataclass(frozen=True)
class OverlapResults(StudyResults):
    @cached_property
    def points(self) -> tuple[OverlapPoint, ...]:
        """The points by operation (messages first), ranks, size, progress and tests. Records without a ratio,
        from older engines, are left out."""
        interval_factor = interval_stretch(len(self._measured))
        points = []
        for result in self._measured.values():
            ratio = widen(self._ratio(result), interval_factor)
            points.append(OverlapPoint(result, ratio, verdict(ratio)))
        points.sort(
            key=lambda point: (
                point.operation != MESSAGE_OPERATION,
                *point.combination,
                point.progress,
                point.tests,
            )
        )
        return tuple(points)

    @cached_property
    def _measured(self) -> dict[str, MeasuredCase]:
        """Overlap cases with a measured ratio, with or without the progress thread, by case line."""
        settings = ("", SETTING_NAME)
        overlap_results = (
            result for result in self.evidence.measured if result.workload.role == OVERLAP_ROLE
        )
        results_with_ratio = (result for result in overlap_results if RATIO_METRIC in result.summary.metrics)
        return {result.case.line: result for result in results_with_ratio if result.case.setting in settings}

    def _ratio(self, result: MeasuredCase) -> Estimate:
        without_thread = self._measured.get(result.case.with_setting("").line)
        if without_thread is not None and result.case.setting:
            return self._times[result.case.line].ratio_to(self._times[without_thread.case.line])
        ratio = result.summary.metrics[RATIO_METRIC].typical
        return ExactValue.of(ratio.value) if self.evidence.machine.is_exact else ratio

    def times(self, point: OverlapPoint) -> OverlapTimes:
        """The times of each repetition."""
        return self._times[point.measured.case.line]

    @cached_property
    def _times(self) -> dict[str, OverlapTimes]:
        """The times of each repetition, by case line. numpy is only imported here, so that pages with stored
        fits are written without it."""
        from hockney.models.overlap import OverlapTimes

        observations = self.evidence.observations(
            (result.case for result in self._measured.values()), cost="typical"
        )
        is_exact = self.evidence.machine.is_exact
        return {
            observation.case.line: OverlapTimes.of(observation, exact=is_exact)
            for observation in observations
        }

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(point.operation for point in self.points))

    @property
    def rank_counts(self) -> tuple[int, ...]:
        """Numbers of ranks."""
        return tuple(sorted({point.ranks for point in self.points}))

    @cached_property
    def default_ranks(self) -> int:
        """The number of ranks in the headline: the largest with a core for each rank, otherwise the
        smallest."""
        return self.evidence.max_count_with_cores(self.rank_counts) or 2

    def points_of_operation(self, operation: str, ranks: int) -> tuple[OverlapPoint, ...]:
        return tuple(point for point in self.points if (point.operation, point.ranks) == (operation, ranks))

    def best(self, operation: str, ranks: int) -> tuple[BestTests, ...]:
        """The best number of tests for each size."""
        points_by_size: dict[int, list[OverlapPoint]] = {}
        for point in self.points_of_operation(operation, ranks):
            points_by_size.setdefault(point.size, []).append(point)
        return tuple(BestTests(tuple(points)) for points in points_by_size.values())

    @cached_property
    def all_best_tests(self) -> tuple[BestTests, ...]:
        return tuple(
            best_tests
            for operation in self.operations
            for ranks in self.rank_counts
            for best_tests in self.best(operation, ranks)
        )

    @property
    def pays(self) -> bool | None:
        """Whether nonblocking communication pays at some size; None if that is undecided."""
        verdicts = {best_tests.verdict for best_tests in self.all_best_tests}
        if PAYS_VERDICT in verdicts:
            return True
        return None if not verdicts or not verdicts.isdisjoint(UNDECIDED_VERDICTS) else False

    @property
    def is_conclusive(self) -> bool:
        """Whether nonblocking communication pays somewhere, or this is decided for at least half of the
        sizes."""
        undecided = [
            best_tests for best_tests in self.all_best_tests if best_tests.verdict in UNDECIDED_VERDICTS
        ]
        return bool(self.pays) or 2 * len(undecided) <= len(self.all_best_tests)

    @property
    def thread_pairs(self) -> tuple[tuple[OverlapPoint, OverlapPoint], ...]:
        """Each point with the progress thread, and the corresponding one without it."""
        points_without_thread = {
            point.measured.case.line: point for point in self.points if point.progress == OWN_PROGRESS
        }
        point_pairs = (
            (point, points_without_thread.get(point.measured.case.with_setting("").line))
            for point in self.points
            if point.progress == THREAD_PROGRESS
        )
        return tuple(
            (point, point_without_thread)
            for point, point_without_thread in point_pairs
            if point_without_thread is not None
        )

    def times_to_decide(self) -> list[float]:
        """For each undecided size, the multiple of the measuring time that decides it."""
        return [
            time_to_decide(best_tests.best.ratio)
            for best_tests in self.all_best_tests
            if best_tests.verdict in UNDECIDED_VERDICTS
        ]

    @property
    def launches(self) -> int:
        """The smallest number of launches of a case."""
        return min((point.measured.summary.launches for point in self.points), default=0)


def is_conclusive(evidence: Evidence) -> bool:
    return OverlapResults.of(evidence).is_conclusive


def sizes_with_verdicts(best_tests: Iterable[BestTests], *verdicts: Verdict) -> list[int]:
    return [entry.size for entry in best_tests if entry.verdict in verdicts]
