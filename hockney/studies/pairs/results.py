# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Each number of pairs: what they reach together, and by how much their messages slow each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from hockney.core.case import NODES
from hockney.core.fit import DefinedValue, Estimate, ExactValue, Fit
from hockney.core.layout import LEVELS, NODE
from hockney.core.record import RunRecords
from hockney.models.max_rate import MODEL
from hockney.models.significance import (
    UNDECIDED_VERDICTS,
    Verdict,
    interval_stretch,
    time_to_decide,
    verdict,
    widen,
)
from hockney.pages.evidence import Evidence, MeasuredCase, StudyResults
from hockney.pages.format import bandwidth, rate_from_time
from hockney.studies.pairs.plan import APART, BOTH, FREE, STREAM, WORKLOADS

if TYPE_CHECKING:
    from hockney.models.statistics import Observation

MORE: Verdict = "faster"
"""More pairs carry notably more: each message of all takes less time."""


@dataclass(frozen=True)
class Way:
    """What differs between curves over the pairs: the workload, where ranks meet, and other parameters."""

    workload: str
    level: str
    direction: str
    fixed: tuple[tuple[str, str | int | float], ...]

    @property
    def streams(self) -> bool:
        return self.workload == STREAM


@dataclass(frozen=True)
class PairsPoint:
    """One case. `slowdown`: message time relative to the fewest pairs; `gain`: bandwidth relative to the next
    smaller number of pairs (None if there is none). `slowed` and `gained` are the verdicts."""

    measured: MeasuredCase
    way: Way
    pairs: int
    slowdown: Estimate
    slowed: Verdict
    gain: Estimate | None
    gained: Verdict

    @property
    def size(self) -> int:
        return int(self.measured.size)

    @property
    def bandwidth(self) -> Estimate:
        """The bandwidth of all pairs (B/s)."""
        return bandwidth(self.measured)

    @property
    def rate(self) -> Estimate:
        """Messages a second of all pairs."""
        return rate_from_time(1.0 if self.way.streams else float(self.pairs), self.measured.summary.typical)

    @property
    def message_s(self) -> float:
        """The time in which each pair sends one message in each direction."""
        each = self.pairs * (2 if self.way.direction == BOTH else 1) if self.way.streams else 1
        return self.measured.summary.typical.value * each


@dataclass(frozen=True)
class Saturation:
    """The saturation of messages of one size: whether more pairs stop carrying more (None: undecided), and
    from how many `pairs` on."""

    reached: bool | None
    pairs: int


@dataclass(frozen=True)
class PairsResults(StudyResults):
    @cached_property
    def points(self) -> tuple[PairsPoint, ...]:
        """The points by way, size and pairs."""
        points = []
        for way, size in dict.fromkeys((way, m.size) for way, m, _ in self._cases):
            row = [(m, pairs) for w, m, pairs in self._cases if (w, m.size) == (way, size)]
            for place, (m, pairs) in enumerate(row):
                first, fewest = row[0]
                slowdown = self._ratio(m, first, pairs / fewest if way.streams else 1.0)
                gain = reverse = None
                if place:
                    before, fewer = row[place - 1]
                    reverse = self._ratio(m, before, 1.0 if way.streams else fewer / pairs)
                    gain = rate_from_time(1.0, reverse)
                slowed = verdict(slowdown) if place else "alike"
                gained = verdict(reverse) if reverse else "unknown"
                points.append(PairsPoint(m, way, pairs, slowdown, slowed, gain, gained))
        return tuple(points)

    @cached_property
    def stricter(self) -> float:
        """The factor by which `widened` widens intervals, for all comparisons: of each number of pairs with
        the fewest and with the next smaller one, which are the same for the second number."""
        rows = Counter((way, m.size) for way, m, _ in self._cases)
        return interval_stretch(max(1, sum(2 * counts - 3 for counts in rows.values() if counts > 1)))

    @cached_property
    def _cases(self) -> list[tuple[Way, MeasuredCase, int]]:
        cases = [
            (way_of(m, self.evidence.run), m, int(m.case.number("pairs")) or m.case.ranks // 2)
            for m in self.evidence.measured
            if m.case.workload in WORKLOADS and not m.case.setting
        ]
        return sorted(cases, key=lambda case: (_order(case[0]), case[1].size, case[2], case[1].case.ranks))

    @cached_property
    def _observed(self) -> dict[str, Observation]:
        observations = self.evidence.observations((m.case for _, m, _ in self._cases))
        return {each.case.line: each for each in observations}

    def _ratio(self, numerator: MeasuredCase, denominator: MeasuredCase, factor: float) -> Estimate:
        """The ratio of their times, times `factor`, with the interval that the verdicts use."""
        if numerator is denominator:
            return DefinedValue.of(factor)
        if self.evidence.machine.is_exact:
            return ExactValue.of(factor * numerator.summary.typical.value / denominator.summary.typical.value)
        from hockney.models.statistics import ratio

        unscaled = ratio(self._observed[numerator.case.line], self._observed[denominator.case.line])
        low, high = (None if end is None else factor * end for end in (unscaled.low, unscaled.high))
        return widen(Estimate(factor * unscaled.value, low, high), self.stricter)

    @property
    def ways(self) -> tuple[Way, ...]:
        return tuple(dict.fromkeys(p.way for p in self.points))

    @property
    def streams(self) -> tuple[Way, ...]:
        return tuple(way for way in self.ways if way.streams)

    def of_way(self, way: Way) -> tuple[PairsPoint, ...]:
        return tuple(p for p in self.points if p.way == way)

    def row(self, way: Way, size: int) -> tuple[PairsPoint, ...]:
        """The points of one way and size, by pairs."""
        return tuple(p for p in self.of_way(way) if p.size == size)

    def sizes(self, way: Way) -> tuple[int, ...]:
        return tuple(sorted({p.size for p in self.of_way(way)}))

    def counts(self, way: Way) -> tuple[int, ...]:
        """Numbers of pairs."""
        return tuple(sorted({p.pairs for p in self.of_way(way)}))

    def fit(self, way: Way) -> Fit | None:
        """The model of sharing."""
        fits = self.evidence.fits.select(MODEL, way.workload)
        return next((fit for fit in fits if dict(fit.subject.fixed) == dict(way.fixed)), None)

    @property
    def conclusive(self) -> bool:
        """Whether saturation is decided for the largest messages of each way."""
        rows = [self.row(way, self.sizes(way)[-1]) for way in self.streams]
        return all(saturation(row).reached is not None for row in rows if len(row) > 1)

    def times_to_decide(self) -> list[float]:
        """The multiple of the measuring time that decides a step, for each undecided step to more pairs of
        the largest messages."""
        rows = [self.row(way, self.sizes(way)[-1]) for way in self.streams]
        steps = [
            p
            for row in rows
            if saturation(row).reached is None
            for p in row
            if p.gained in UNDECIDED_VERDICTS
        ]
        return [time_to_decide(p.gain) for p in steps if p.gain is not None]

    @property
    def launches(self) -> int:
        """The smallest number of launches that measured a case."""
        return min((p.measured.summary.launches for p in self.points), default=0)


def is_conclusive(evidence: Evidence) -> bool:
    return PairsResults.of(evidence).conclusive


def saturation(row: Sequence[PairsPoint]) -> Saturation:
    """The saturation from the smallest number of pairs beyond which no step carries notably more."""
    pairs = row[-1].pairs if row else 0
    for before, p in reversed(list(pairwise(row))):
        if p.gained in UNDECIDED_VERDICTS and pairs == row[-1].pairs:
            return Saturation(None, p.pairs)
        if p.gained == MORE or p.gained in UNDECIDED_VERDICTS:
            break
        pairs = before.pairs
    return Saturation(bool(row) and pairs < row[-1].pairs, pairs)


def way_of(m: MeasuredCase, run: RunRecords) -> Way:
    """Pairs that are apart have more nodes the more there are; other numbers of nodes are different ways."""
    level = _level(m, run)
    free = {m.workload.size, *FREE} - (set() if level == APART else {NODES})
    fixed = tuple((k, v) for k, v in m.case.parameters if k not in free)
    return Way(m.case.workload, level, str(m.case.get("direction", "")), fixed)


def _level(m: MeasuredCase, run: RunRecords) -> str:
    """The level that the case names, or where its ranks were; "" if they meet at several."""
    nodes = m.case.nodes or m.summary.nodes
    if m.case.place:
        return m.case.place
    if nodes == m.case.ranks > 1:
        return APART
    return NODE if nodes == 1 or (not m.case.nodes and len(run.nodes) == 1) else ""


def _order(way: Way) -> tuple[int, str, str, str]:
    levels = ("", *LEVELS, APART)
    return levels.index(way.level), "" if way.streams else way.workload, way.direction, str(way.fixed)
