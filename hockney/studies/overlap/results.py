# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Each operation and size: what computing hides with each number of tests, and which number is best."""

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
from hockney.studies.progress import OWN, SETTING, THREAD

if TYPE_CHECKING:
    from hockney.models.overlap import OverlapTimes

ROLE = "overlap"
MESSAGE = "message"
"""The operation between two ranks."""
RATIO, HIDDEN, AVAILABILITY = "ratio", "overlap", "availability"
"""Metrics: the time relative to that of communication and computation one after the other; the hidden share
of the shorter of the two, and the share of the time in which the program computes (%)."""
PHASES = ("posting", "computing", "testing", "waiting")
"""Metrics: the parts of the time."""
PAYS: Verdict = "faster"
"""Nonblocking communication pays: starting it, computing and waiting takes less time than one after the
other."""


@dataclass(frozen=True)
class OverlapPoint:
    """A case. `ratio` is its time relative to the time of communication and computation one after the other,
    the communication without progress thread if that was measured too; its interval is the one that the
    verdict uses."""

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
        return THREAD if self.measured.case.setting else OWN

    @property
    def place(self) -> tuple[str, int, int]:
        return self.operation, self.ranks, self.size

    @property
    def total(self) -> Estimate:
        """The time of both at once (s)."""
        return self.measured.summary.typical

    @property
    def pays(self) -> bool:
        return self.verdict == PAYS

    @property
    def hidden(self) -> float | None:
        """The hidden share, from 0 to 1, by IMB's definition, as reported by the engine."""
        return self._share(HIDDEN)

    @property
    def availability(self) -> float | None:
        """The availability, from 0 to 1, by COMB's definition, as reported by the engine."""
        return self._share(AVAILABILITY)

    @property
    def parts(self) -> dict[str, float]:
        """Seconds of each phase that was reported."""
        metrics = self.measured.summary.metrics
        return {name: metrics[name].typical.value for name in PHASES if name in metrics}

    def _share(self, name: str) -> float | None:
        metric = self.measured.summary.metrics.get(name)
        return None if metric is None else metric.typical.value / 100


def operation_of(measured: MeasuredCase) -> str:
    return str(measured.case.get("operation", measured.workload.operation))


@dataclass(frozen=True)
class BestTests:
    """The points of one operation and size on one number of ranks; `best` has the smallest ratio. Points with
    the progress thread count if it pays: otherwise, long computations make the ratio nearly 1 with it."""

    points: tuple[OverlapPoint, ...]

    @property
    def counted(self) -> tuple[OverlapPoint, ...]:
        own = tuple(p for p in self.points if p.progress == OWN or p.pays)
        return own or self.points

    @property
    def best(self) -> OverlapPoint:
        """The point with the smallest ratio, among those for which nonblocking pays if there are any; of
        equal ones, the point with fewer tests."""
        return min(self.counted, key=lambda p: (not p.pays, round(p.ratio.value, 3), p.tests))

    @property
    def verdict(self) -> Verdict:
        """The verdict on the best number of tests. It is that nonblocking does not pay only if that holds for
        every number of tests."""
        if self.best.pays:
            return PAYS
        every = {p.verdict for p in self.counted}
        for state in (*UNDECIDED_VERDICTS, "alike"):
            if state in every:
                return state
        return self.best.verdict

    @property
    def size(self) -> int:
        return self.points[0].size


@dataclass(frozen=True)
class OverlapResults(StudyResults):
    @cached_property
    def points(self) -> tuple[OverlapPoint, ...]:
        """The points by operation (messages first), ranks, size, progress and tests, without those whose
        records have no ratio, as of an older engine."""
        level = interval_stretch(len(self._measured))
        points = []
        for m in self._measured.values():
            ratio = widen(self._ratio(m), level)
            points.append(OverlapPoint(m, ratio, verdict(ratio)))
        points.sort(key=lambda p: (p.operation != MESSAGE, *p.place, p.progress, p.tests))
        return tuple(points)

    @cached_property
    def _measured(self) -> dict[str, MeasuredCase]:
        """Overlap cases with a measured ratio, with or without the progress thread, keyed by case line."""
        settings = ("", SETTING)
        every = (m for m in self.evidence.measured if m.workload.role == ROLE)
        with_ratio = (m for m in every if RATIO in m.summary.metrics)
        return {m.case.line: m for m in with_ratio if m.case.setting in settings}

    def _ratio(self, m: MeasuredCase) -> Estimate:
        plain = self._measured.get(m.case.with_setting("").line)
        if plain is not None and m.case.setting:
            return self._times[m.case.line].ratio_to(self._times[plain.case.line])
        ratio = m.summary.metrics[RATIO].typical
        return ExactValue.of(ratio.value) if self.evidence.machine.is_exact else ratio

    def times(self, p: OverlapPoint) -> OverlapTimes:
        """The times of each repetition."""
        return self._times[p.measured.case.line]

    @cached_property
    def _times(self) -> dict[str, OverlapTimes]:
        """The times of each repetition, by case line. A page with stored fits that does not need them is
        written without numpy."""
        from hockney.models.overlap import OverlapTimes

        observed = self.evidence.observations((m.case for m in self._measured.values()), cost="typical")
        exact = self.evidence.machine.is_exact
        return {observation.case.line: OverlapTimes.of(observation, exact=exact) for observation in observed}

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.operation for p in self.points))

    @property
    def counts(self) -> tuple[int, ...]:
        """Numbers of ranks."""
        return tuple(sorted({p.ranks for p in self.points}))

    @cached_property
    def shown(self) -> int:
        """The number of ranks of which the headline reports: the largest with a core for each, otherwise the
        smallest."""
        return self.evidence.max_count_with_cores(self.counts) or 2

    def of_operation(self, operation: str, ranks: int) -> tuple[OverlapPoint, ...]:
        return tuple(p for p in self.points if (p.operation, p.ranks) == (operation, ranks))

    def best(self, operation: str, ranks: int) -> tuple[BestTests, ...]:
        """The best numbers of tests, for each size."""
        sizes: dict[int, list[OverlapPoint]] = {}
        for p in self.of_operation(operation, ranks):
            sizes.setdefault(p.size, []).append(p)
        return tuple(BestTests(tuple(points)) for points in sizes.values())

    @cached_property
    def every_best(self) -> tuple[BestTests, ...]:
        return tuple(
            each
            for operation in self.operations
            for ranks in self.counts
            for each in self.best(operation, ranks)
        )

    @property
    def pays(self) -> bool | None:
        """Whether nonblocking communication pays at some size; None if that is undecided."""
        verdicts = {each.verdict for each in self.every_best}
        if PAYS in verdicts:
            return True
        return None if not verdicts or not verdicts.isdisjoint(UNDECIDED_VERDICTS) else False

    @property
    def conclusive(self) -> bool:
        """Whether it pays somewhere, or whether that is decided for half of the sizes."""
        undecided = [each for each in self.every_best if each.verdict in UNDECIDED_VERDICTS]
        return bool(self.pays) or 2 * len(undecided) <= len(self.every_best)

    @property
    def threads(self) -> tuple[tuple[OverlapPoint, OverlapPoint], ...]:
        """Each point with the progress thread, and the same one without."""
        plain = {p.measured.case.line: p for p in self.points if p.progress == OWN}
        point_pairs = (
            (p, plain.get(p.measured.case.with_setting("").line)) for p in self.points if p.progress == THREAD
        )
        return tuple((p, other) for p, other in point_pairs if other is not None)

    def times_to_decide(self) -> list[float]:
        """The multiple of the measuring time that decides a size, for each undecided size."""
        return [
            time_to_decide(each.best.ratio) for each in self.every_best if each.verdict in UNDECIDED_VERDICTS
        ]

    @property
    def launches(self) -> int:
        """The smallest number of launches that measured a case."""
        return min((p.measured.summary.launches for p in self.points), default=0)


def is_conclusive(evidence: Evidence) -> bool:
    return OverlapResults.of(evidence).conclusive


def sizes_where(bests: Iterable[BestTests], *verdicts: Verdict) -> list[int]:
    return [each.size for each in bests if each.verdict in verdicts]
