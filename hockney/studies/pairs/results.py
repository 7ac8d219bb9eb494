# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""For each number of pairs, their combined performance, and how much their messages slow each other."""

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
from hockney.studies.pairs.plan import BOTH_WAYS, ONE_RANK_PER_NODE, STREAM, VARIED_PARAMETERS, WORKLOADS

if TYPE_CHECKING:
    from hockney.models.statistics import Observation

GAINING: Verdict = "faster"
"""More pairs carry notably more: each message takes less time relative to the number of pairs."""


@dataclass(frozen=True)
class Pattern:
    """The properties that distinguish curves over the pairs: the workload, the level where ranks meet, and
    other parameters."""

    workload: str
    level: str
    direction: str
    parameters: tuple[tuple[str, str | int | float], ...]

    @property
    def is_stream(self) -> bool:
        return self.workload == STREAM


@dataclass(frozen=True)
class PairsPoint:
    """One case. `slowdown` is the message time relative to the fewest pairs, and `gain` the bandwidth
    relative to the next smaller number of pairs (None if there is none). Each has a verdict."""

    measured: MeasuredCase
    pattern: Pattern
    pairs: int
    slowdown: Estimate
    slowdown_verdict: Verdict
    gain: Estimate | None
    gain_verdict: Verdict

    @property
    def size(self) -> int:
        return int(self.measured.size)

    @property
    def bandwidth(self) -> Estimate:
        """The bandwidth of all pairs (B/s)."""
        return bandwidth(self.measured)

    @property
    def rate(self) -> Estimate:
        """Messages per second of all pairs."""
        return rate_from_time(
            1.0 if self.pattern.is_stream else float(self.pairs), self.measured.summary.typical
        )

    @property
    def message_s(self) -> float:
        """The time in which each pair sends one message in each direction."""
        each = self.pairs * (2 if self.pattern.direction == BOTH_WAYS else 1) if self.pattern.is_stream else 1
        return self.measured.summary.typical.value * each


@dataclass(frozen=True)
class Saturation:
    """Whether more pairs stop carrying more messages of one size (None: undecided), and the number of `pairs`
    from which this holds."""

    reached: bool | None
    pairs: int


@dataclass(frozen=True)
class PairsResults(StudyResults):
    @cached_property
    def points(self) -> tuple[PairsPoint, ...]:
        """The points by pattern, size and pairs."""
        points = []
        for pattern, size in dict.fromkeys((pattern, result.size) for pattern, result, _ in self._cases):
            row = [
                (result, pairs)
                for row_pattern, result, pairs in self._cases
                if (row_pattern, result.size) == (pattern, size)
            ]
            for index, (result, pairs) in enumerate(row):
                first, first_pairs = row[0]
                slowdown = self._ratio(result, first, pairs / first_pairs if pattern.is_stream else 1.0)
                gain = reverse = None
                if index:
                    previous, previous_pairs = row[index - 1]
                    reverse = self._ratio(
                        result, previous, 1.0 if pattern.is_stream else previous_pairs / pairs
                    )
                    gain = rate_from_time(1.0, reverse)
                slowed = verdict(slowdown) if index else "alike"
                gained = verdict(reverse) if reverse else "unknown"
                points.append(PairsPoint(result, pattern, pairs, slowdown, slowed, gain, gained))
        return tuple(points)

    @cached_property
    def interval_factor(self) -> float:
        """The factor by which intervals are widened for all comparisons: of each number of pairs with the
        fewest and with the next smaller one, which are the same for the second number."""
        rows = Counter((pattern, result.size) for pattern, result, _ in self._cases)
        return interval_stretch(max(1, sum(2 * count - 3 for count in rows.values() if count > 1)))

    @cached_property
    def _cases(self) -> list[tuple[Pattern, MeasuredCase, int]]:
        cases = [
            (
                pattern_of(result, self.evidence.run),
                result,
                int(result.case.number("pairs")) or result.case.ranks // 2,
            )
            for result in self.evidence.measured
            if result.case.workload in WORKLOADS and not result.case.setting
        ]
        return sorted(cases, key=lambda case: (_sort_key(case[0]), case[1].size, case[2], case[1].case.ranks))

    @cached_property
    def _observations(self) -> dict[str, Observation]:
        observations = self.evidence.observations((result.case for _, result, _ in self._cases))
        return {observation.case.line: observation for observation in observations}

    def _ratio(self, numerator: MeasuredCase, denominator: MeasuredCase, factor: float) -> Estimate:
        """The ratio of their times, multiplied by `factor`, with the interval that the verdicts use."""
        if numerator is denominator:
            return DefinedValue.of(factor)
        if self.evidence.machine.is_exact:
            return ExactValue.of(factor * numerator.summary.typical.value / denominator.summary.typical.value)
        from hockney.models.statistics import ratio

        unscaled = ratio(self._observations[numerator.case.line], self._observations[denominator.case.line])
        low, high = (None if bound is None else factor * bound for bound in (unscaled.low, unscaled.high))
        return widen(Estimate(factor * unscaled.value, low, high), self.interval_factor)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        return tuple(dict.fromkeys(point.pattern for point in self.points))

    @property
    def streams(self) -> tuple[Pattern, ...]:
        return tuple(pattern for pattern in self.patterns if pattern.is_stream)

    def points_of_pattern(self, pattern: Pattern) -> tuple[PairsPoint, ...]:
        return tuple(point for point in self.points if point.pattern == pattern)

    def row(self, pattern: Pattern, size: int) -> tuple[PairsPoint, ...]:
        """The points of one pattern and size, by pairs."""
        return tuple(point for point in self.points_of_pattern(pattern) if point.size == size)

    def sizes(self, pattern: Pattern) -> tuple[int, ...]:
        return tuple(sorted({point.size for point in self.points_of_pattern(pattern)}))

    def pair_counts(self, pattern: Pattern) -> tuple[int, ...]:
        """Numbers of pairs."""
        return tuple(sorted({point.pairs for point in self.points_of_pattern(pattern)}))

    def fit(self, pattern: Pattern) -> Fit | None:
        """The model of sharing."""
        fits = self.evidence.fits.select(MODEL, pattern.workload)
        return next((fit for fit in fits if dict(fit.subject.fixed) == dict(pattern.parameters)), None)

    @property
    def is_conclusive(self) -> bool:
        """Whether saturation is decided for the largest messages of each pattern."""
        rows = [self.row(pattern, self.sizes(pattern)[-1]) for pattern in self.streams]
        return all(saturation(row).reached is not None for row in rows if len(row) > 1)

    def times_to_decide(self) -> list[float]:
        """For each undecided step to more pairs of the largest messages, the multiple of the measuring time
        that decides it."""
        rows = [self.row(pattern, self.sizes(pattern)[-1]) for pattern in self.streams]
        steps = [
            point
            for row in rows
            if saturation(row).reached is None
            for point in row
            if point.gain_verdict in UNDECIDED_VERDICTS
        ]
        return [time_to_decide(point.gain) for point in steps if point.gain is not None]

    @property
    def launches(self) -> int:
        """The smallest number of launches of a case."""
        return min((point.measured.summary.launches for point in self.points), default=0)


def is_conclusive(evidence: Evidence) -> bool:
    return PairsResults.of(evidence).is_conclusive


def saturation(row: Sequence[PairsPoint]) -> Saturation:
    """The saturation from the smallest number of pairs beyond which no step carries notably more."""
    pairs = row[-1].pairs if row else 0
    for previous, point in reversed(list(pairwise(row))):
        if point.gain_verdict in UNDECIDED_VERDICTS and pairs == row[-1].pairs:
            return Saturation(None, point.pairs)
        if point.gain_verdict == GAINING or point.gain_verdict in UNDECIDED_VERDICTS:
            break
        pairs = previous.pairs
    return Saturation(bool(row) and pairs < row[-1].pairs, pairs)


def pattern_of(result: MeasuredCase, run: RunRecords) -> Pattern:
    """The pattern. If each rank has its own node, the number of nodes varies with the number of pairs;
    otherwise, different numbers of nodes are different patterns."""
    level = _level(result, run)
    varied = {result.workload.size, *VARIED_PARAMETERS} - (set() if level == ONE_RANK_PER_NODE else {NODES})
    parameters = tuple((name, value) for name, value in result.case.parameters if name not in varied)
    return Pattern(result.case.workload, level, str(result.case.get("direction", "")), parameters)


def _level(result: MeasuredCase, run: RunRecords) -> str:
    """The level that the case specifies, or where its ranks were; "" if they meet at several."""
    nodes = result.case.nodes or result.summary.nodes
    if result.case.place:
        return result.case.place
    if nodes == result.case.ranks > 1:
        return ONE_RANK_PER_NODE
    return NODE if nodes == 1 or (not result.case.nodes and len(run.nodes) == 1) else ""


def _sort_key(pattern: Pattern) -> tuple[int, str, str, str]:
    levels = ("", *LEVELS, ONE_RANK_PER_NODE)
    return (
        levels.index(pattern.level),
        "" if pattern.is_stream else pattern.workload,
        pattern.direction,
        str(pattern.parameters),
    )
