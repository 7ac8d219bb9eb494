# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Each operation and size: what computing hides with each number of tests, and which number is best."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from hockney.core.fit import Estimate
from hockney.core.progress_thread import OWN, SETTING, THREAD
from hockney.models.overlap import PHASES, REPORTED, ROLE, OverlapTimes
from hockney.models.statistics import OPEN, Verdict, stricter, time_to_decide, verdict
from hockney.pages.evidence import Evidence, Measured

PAYS: Verdict = "faster"
"""Nonblocking communication pays: starting it, computing and waiting takes less time than one after the
other."""


@dataclass(frozen=True)
class OverlapPoint:
    """A case. `ratio` is its time over that of the communication and the computation one after the other, the
    communication without progress thread if that was measured too."""

    measured: Measured
    times: OverlapTimes
    ratio: Estimate
    verdict: Verdict = "unknown"

    @property
    def operation(self) -> str:
        return str(self.measured.case.get("operation", self.measured.workload.operation))

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
    def reported(self) -> Estimate | None:
        """The engine's own overlap, as a share of 1."""
        return self._metric(REPORTED, 100)

    @property
    def parts(self) -> dict[str, float]:
        """Seconds of each phase that was reported."""
        metrics = self.measured.summary.metrics
        return {name: metrics[name].typical.value for name in PHASES if name in metrics}

    def _metric(self, name: str, unit: float) -> Estimate | None:
        metric = self.measured.summary.metrics.get(name)
        if metric is None:
            return None
        low, high = (None if end is None else end / unit for end in (metric.typical.low, metric.typical.high))
        return Estimate(metric.typical.value / unit, low, high)


@dataclass(frozen=True)
class BestTests:
    """The points of one operation and size on so many ranks; `best` has the smallest ratio."""

    points: tuple[OverlapPoint, ...]

    @property
    def best(self) -> OverlapPoint:
        """Among those for which nonblocking pays, if there are any; of equal ones that with fewer tests."""
        return min(self.points, key=lambda p: (not p.pays, round(p.ratio.value, 3), p.tests))

    @property
    def verdict(self) -> Verdict:
        """That of the best number of tests. Nonblocking does not pay only if it does with no number."""
        if self.best.pays:
            return PAYS
        every = {p.verdict for p in self.points}
        for state in (*OPEN, "alike"):
            if state in every:
                return state
        return self.best.verdict

    @property
    def size(self) -> int:
        return self.points[0].size


@dataclass(frozen=True)
class OverlapResults:
    evidence: Evidence

    @classmethod
    def of(cls, evidence: Evidence) -> OverlapResults:
        return evidence.cached(cls)

    @cached_property
    def points(self) -> tuple[OverlapPoint, ...]:
        """In the order of operations in the plan, by ranks, size, progress and tests."""
        settings = ("", SETTING)
        found = [m for m in self.evidence.measured if m.workload.role == ROLE and m.case.setting in settings]
        measured = {m.case.line: m for m in found}
        made = []
        for seen in self.evidence.observed((m.case for m in found), cost="typical"):
            times = OverlapTimes.of(seen, exact=self.evidence.machine.exact)
            if times is not None:
                made.append(OverlapPoint(measured[seen.case.line], times, times.ratio))
        known = {p.measured.case.line: p for p in made}
        level = stricter(len(made))
        points = [self._judged(p, known, level) for p in made]
        order = list(dict.fromkeys(p.operation for p in points))
        points.sort(key=lambda p: (order.index(p.operation), p.ranks, p.size, p.progress, p.tests))
        return tuple(points)

    @staticmethod
    def _judged(p: OverlapPoint, known: dict[str, OverlapPoint], level: float) -> OverlapPoint:
        plain = known.get(p.measured.case.under("").line)
        ratio = p.ratio if plain is None or plain is p else p.times.ratio_to(plain.times)
        return replace(p, ratio=ratio, verdict=verdict(ratio, level))

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
        own = [p for p in self.counts if p <= self.evidence.run.cores(self.evidence.machine)]
        return own[-1] if own else min(self.counts, default=2)

    def of_operation(self, operation: str, ranks: int, progress: str = "") -> tuple[OverlapPoint, ...]:
        return tuple(
            p
            for p in self.points
            if (p.operation, p.ranks) == (operation, ranks) and progress in ("", p.progress)
        )

    def best(self, operation: str, ranks: int) -> tuple[BestTests, ...]:
        """For each size."""
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
        found = {each.verdict for each in self.every_best}
        if PAYS in found:
            return True
        return None if not found or not found.isdisjoint(OPEN) else False

    @property
    def conclusive(self) -> bool:
        """Whether it pays somewhere, or whether that is decided for half of the sizes."""
        undecided = [each for each in self.every_best if each.verdict in OPEN]
        return bool(self.pays) or 2 * len(undecided) <= len(self.every_best)

    @property
    def threads(self) -> tuple[tuple[OverlapPoint, OverlapPoint], ...]:
        """Each point with the progress thread, and the same one without."""
        plain = {p.measured.case.line: p for p in self.points if p.progress == OWN}
        of = ((p, plain.get(p.measured.case.under("").line)) for p in self.points if p.progress == THREAD)
        return tuple((p, other) for p, other in of if other is not None)

    def times_to_decide(self) -> list[float]:
        """For each undecided size, the multiple of the measuring time that decides it."""
        level = stricter(len(self.points))
        return [time_to_decide(each.best.ratio, level) for each in self.every_best if each.verdict in OPEN]

    @property
    def launches(self) -> int:
        """The fewest that measured a case."""
        return min((len(p.times.launches) for p in self.points), default=0)


def sizes_where(found: Iterable[BestTests], *wanted: Verdict) -> list[int]:
    return [each.size for each in found if each.verdict in wanted]


def runs_of(wanted: Sequence[int], every: Sequence[int]) -> list[tuple[int, int]]:
    """Sizes that follow each other among all measured ones, as first and last."""
    found: list[tuple[int, int]] = []
    last = -2
    for place, size in enumerate(sorted(every)):
        if size in wanted:
            found = [*found[:-1], (found[-1][0], size)] if place == last + 1 else [*found, (size, size)]
            last = place
    return found
