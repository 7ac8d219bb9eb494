# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""For each operation and kind of load: quantiles of its time relative to those in the quiet state, with
verdicts, and the smallest ratio that the run would have found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hockney.core.case import Case
from hockney.core.fit import Estimate, ExactValue
from hockney.models.significance import NOTABLE, UNDECIDED_VERDICTS, Verdict, time_to_decide, verdict
from hockney.pages.evidence import Evidence, MeasuredCase, StudyResults
from hockney.studies.congestion.plan import QUIET, WORKLOAD

if TYPE_CHECKING:
    from hockney.models.statistics import Observation

MEDIAN, P99, P999 = 0.5, 0.99, 0.999
QUANTILES = (MEDIAN, P99, P999)
SLOWED: Verdict = "slower"
"""The verdict that the operation is notably slower next to this load."""
EARLY_LOOKS = 4
"""Verdicts are sought several times during a run; with the interval for so many times as many comparisons,
early ones are hardly ever due to chance (benchmarks/congestion_noise.py)."""
LOAD_METRIC = "load"
LOAD_PARAMETERS = ("congestor", "load_bytes", "load_window")
"""Parameters in which a case differs from its quiet state."""


@dataclass(frozen=True)
class QuantileComparison:
    """A quantile of the repetitions of a launch in both states (s; geometric means over the launches), and
    its ratio, with the interval that the verdict uses. `smallest_detectable` is the smallest ratio that this
    run would have found with 95% (None without an interval). If a launch has fewer than `needed_repetitions`,
    both times and the ratio are None."""

    quantile: float
    quiet_s: float | None
    loaded_s: float | None
    ratio: Estimate | None
    verdict: Verdict
    smallest_detectable: float | None
    repetitions: int
    needed_repetitions: int

    @property
    def is_supported(self) -> bool:
        return self.ratio is not None


@dataclass(frozen=True)
class CongestionPoint:
    """An operation next to one kind of load."""

    loaded: MeasuredCase
    quiet: MeasuredCase
    comparisons: tuple[QuantileComparison, ...]

    @property
    def victim(self) -> str:
        return str(self.loaded.case["victim"])

    @property
    def congestor(self) -> str:
        return str(self.loaded.case["congestor"])

    @property
    def size(self) -> int:
        return int(self.loaded.size)

    @property
    def ranks(self) -> int:
        return self.loaded.case.ranks

    @property
    def operation(self) -> tuple[str, int, int]:
        """What the victims do: the operation, its size and the number of all ranks."""
        return self.victim, self.size, self.ranks

    @property
    def load(self) -> Estimate | None:
        """Bytes per second of all congestors."""
        metric = self.loaded.summary.metrics.get(LOAD_METRIC)
        return None if metric is None else metric.typical

    def at(self, quantile: float) -> QuantileComparison:
        return next(entry for entry in self.comparisons if entry.quantile == quantile)


@dataclass(frozen=True)
class CongestionResults(StudyResults):
    @cached_property
    def points(self) -> tuple[CongestionPoint, ...]:
        """The points in the order of the plan's parameters: ranks, victim, size, congestor."""
        return tuple(
            CongestionPoint(
                loaded, quiet, tuple(self._compare(loaded, quiet, quantile) for quantile in QUANTILES)
            )
            for loaded, quiet in self._pairs
        )

    @cached_property
    def _pairs(self) -> list[tuple[MeasuredCase, MeasuredCase]]:
        """Each loaded case with its quiet state, if both were measured."""
        cases = [m for m in self.evidence.measured if m.case.workload == WORKLOAD and not m.case.setting]
        quiet = {_without_load(m.case): m for m in cases if m.case["congestor"] == QUIET}
        pairs = [
            (m, quiet[key])
            for m in cases
            if m.case["congestor"] != QUIET and (key := _without_load(m.case)) in quiet
        ]
        return sorted(pairs, key=lambda pair: (pair[0].case.ranks, str(pair[0].case["victim"]), pair[0].size))

    @cached_property
    def observations(self) -> dict[str, Observation]:
        """All repetitions, by case line. Disturbed ones count: they are what the study asks for."""
        cases = [m.case for pair in self._pairs for m in pair]
        return {seen.case.line: seen for seen in self.evidence.observations(cases, cost="typical")}

    @cached_property
    def comparison_count(self) -> int:
        """The number of ratios, which are tested together."""
        return max(
            1, sum(self._is_supported(*pair, quantile) for pair in self._pairs for quantile in QUANTILES)
        )

    def _is_supported(self, loaded: MeasuredCase, quiet: MeasuredCase, quantile: float) -> bool:
        from hockney.models.statistics import min_repetitions

        return self._repetitions(loaded, quiet) >= min_repetitions(quantile)

    def _repetitions(self, loaded: MeasuredCase, quiet: MeasuredCase) -> int:
        """The smallest number of repetitions of a launch."""
        from hockney.models.statistics import fewest_repetitions

        return min(fewest_repetitions(self.observations[m.case.line]) for m in (loaded, quiet))

    def _compare(self, loaded: MeasuredCase, quiet: MeasuredCase, quantile: float) -> QuantileComparison:
        from hockney.models.statistics import (
            min_repetitions,
            quantile_ratio,
            quantile_s,
            smallest_detectable_ratio,
        )

        numerator, denominator = (self.observations[m.case.line] for m in (loaded, quiet))
        repetitions = self._repetitions(loaded, quiet)
        # simulated times do not vary: two repetitions show the median
        needed = 1 if quantile == MEDIAN and self.evidence.machine.is_exact else min_repetitions(quantile)
        if repetitions < needed:
            return QuantileComparison(quantile, None, None, None, "unknown", None, repetitions, needed)
        quiet_s, loaded_s = quantile_s(denominator, quantile), quantile_s(numerator, quantile)
        if self.evidence.machine.is_exact:
            ratio: Estimate = ExactValue.of(loaded_s / quiet_s)
            return QuantileComparison(
                quantile, quiet_s, loaded_s, ratio, verdict(ratio), NOTABLE, repetitions, needed
            )
        estimated = quantile_ratio(numerator, denominator, quantile, comparisons=self.comparison_count)
        assert estimated is not None
        smallest = smallest_detectable_ratio(
            estimated.ratio, estimated.freedom, self.comparison_count, NOTABLE
        )
        return QuantileComparison(
            quantile,
            quiet_s,
            loaded_s,
            estimated.ratio,
            verdict(estimated.ratio),
            smallest,
            repetitions,
            needed,
        )

    def is_open(self, point: CongestionPoint) -> bool:
        """Whether more launches may change the verdict on the median."""
        from hockney.models.statistics import quantile_ratio

        loaded, quiet = (self.observations[m.case.line] for m in (point.loaded, point.quiet))
        comparisons = EARLY_LOOKS * self.comparison_count
        estimated = quantile_ratio(loaded, quiet, MEDIAN, comparisons=comparisons)
        return estimated is None or verdict(estimated.ratio) in UNDECIDED_VERDICTS

    @property
    def operations(self) -> tuple[tuple[str, int, int], ...]:
        """The distinct operations of the points."""
        return tuple(dict.fromkeys(point.operation for point in self.points))

    def of_operation(self, operation: tuple[str, int, int]) -> tuple[CongestionPoint, ...]:
        return tuple(point for point in self.points if point.operation == operation)

    @property
    def slowed(self) -> tuple[CongestionPoint, ...]:
        """The points with a notably longer median, the most slowed one first."""
        slowed = [point for point in self.points if point.at(MEDIAN).verdict == SLOWED]
        return tuple(sorted(slowed, key=lambda point: -_value(point.at(MEDIAN))))

    @property
    def slowed_tails(self) -> tuple[tuple[CongestionPoint, QuantileComparison], ...]:
        """Notably longer tails of points whose median is not notably longer."""
        return tuple(
            (point, entry)
            for point in self.points
            for entry in point.comparisons
            if entry.verdict == SLOWED and point.at(MEDIAN).verdict != SLOWED
        )

    def comparisons(self, quantile: float) -> Iterator[QuantileComparison]:
        return (point.at(quantile) for point in self.points)

    def smallest_detectable(self, quantile: float) -> float | None:
        """The smallest ratio that the run would have found for every operation and load; None if that is
        unknown for one of them."""
        values = [entry.smallest_detectable for entry in self.comparisons(quantile)]
        known = [value for value in values if value is not None]
        return max(known) if known and len(known) == len(values) else None

    @property
    def is_conclusive(self) -> bool:
        """Whether the verdicts on all medians are known."""
        return all(entry.verdict not in UNDECIDED_VERDICTS for entry in self.comparisons(MEDIAN))

    def times_to_decide(self) -> list[float]:
        """For each undecided median, the multiple of the measuring time that decides it or gives it enough
        repetitions."""
        return [
            entry.needed_repetitions / max(1, entry.repetitions)
            if entry.ratio is None
            else time_to_decide(entry.ratio)
            for entry in self.comparisons(MEDIAN)
            if entry.verdict in UNDECIDED_VERDICTS
        ]

    @property
    def launches(self) -> int:
        """The smallest number of launches of a case."""
        return min((m.summary.launches for pair in self._pairs for m in pair), default=0)

    @property
    def is_on_one_node(self) -> bool:
        """Whether no message crosses a network."""
        return all(m.summary.nodes == 1 for pair in self._pairs for m in pair)


def is_conclusive(evidence: Evidence) -> bool:
    return CongestionResults.of(evidence).is_conclusive


def open_cases(evidence: Evidence) -> set[Case]:
    """The pairs whose median is undecided, by an interval for EARLY_LOOKS times as many comparisons."""
    run = CongestionResults.of(evidence)
    pairs = [(point.quiet, point.loaded) for point in run.points if run.is_open(point)]
    return {measured.case for pair in pairs for measured in pair}


def _value(comparison: QuantileComparison) -> float:
    return 0.0 if comparison.ratio is None else comparison.ratio.value


def _without_load(case: Case) -> tuple[tuple[str, object], ...]:
    """What a case shares with its quiet state."""
    return (("ranks", case.ranks), *((k, v) for k, v in case.parameters if k not in LOAD_PARAMETERS))
