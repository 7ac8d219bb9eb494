# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The measured grid: one cell for each T, L, s and np, with its efficiency; and the work from which ranks pay
off.

    efficiency = (time of T on one rank, measured) / (np x time of T shared among np ranks, exchange included)

This is equations 1, 2 and 6 with the measured times instead of T and the model's time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from statistics import median
from typing import Literal

from hockney.core.case import parse_canonical
from hockney.core.fit import Estimate
from hockney.models.applications.granularity import Algorithm, required_work, with_shared_cores
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_bounds
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import interval, quantity
from hockney.studies.needed_budget import MAX_MULTIPLE, MIN_MULTIPLE, MIN_RELIABLE_LAUNCHES

EQUAL_SHARES = "equal"


@dataclass(frozen=True)
class Cell:
    """A cell of the grid. `one_rank` is the measured time of the whole work on one rank, `imbalance` the
    largest parallel work of a rank divided by the mean. `times_s` contains every repetition by launch; each
    is the mean of a run of many exchanges. `started_s` is the start of the measurement in each launch,
    `one_rank_times_s` the time of the work on one rank in the same round of launches (over all rounds if it
    was not measured in this one). `outside_cores` is the number of processors used by other programs in the
    median launch."""

    measured: MeasuredCase
    one_rank: Estimate
    imbalance: float
    times_s: tuple[tuple[float, ...], ...]
    outside_cores: float = 0.0
    started_s: tuple[float, ...] = ()
    one_rank_times_s: tuple[float, ...] = ()

    @property
    def work_s(self) -> float:
        return float(self.measured.case.number("work"))

    @property
    def bytes(self) -> int:
        return int(self.measured.size)

    @property
    def serial(self) -> float:
        return float(self.measured.case.number("serial"))

    @property
    def ranks(self) -> int:
        return self.measured.case.ranks

    @property
    def nodes(self) -> int:
        """The number of nodes on which the ranks ran; 0 if the launch decides."""
        return self.measured.case.nodes

    @property
    def shares(self) -> str:
        return str(dict(self.measured.case.parameters).get("shares", EQUAL_SHARES))

    @property
    def is_even(self) -> bool:
        return self.shares == EQUAL_SHARES

    @property
    def algorithm(self) -> Algorithm:
        return Algorithm(self.work_s, self.bytes, self.serial, imbalance=self.imbalance)

    @cached_property
    def efficiency(self) -> Estimate:
        return efficiency_estimate(self.one_rank, self.measured.summary.typical, self.ranks)

    @property
    def run_efficiencies(self) -> tuple[float, ...]:
        """The efficiency of every single run, relative to one rank in the same round."""
        return tuple(efficiency for launch in self.efficiencies_by_launch for efficiency in launch)

    @property
    def efficiencies_by_launch(self) -> tuple[tuple[float, ...], ...]:
        """The efficiencies of the runs, by launch."""
        one_rank = self.one_rank_times_s or (self.one_rank.value,) * len(self.times_s)
        return tuple(
            tuple(one_rank_s / (self.ranks * time_s) for time_s in launch if time_s > 0)
            for one_rank_s, launch in zip(one_rank, self.times_s, strict=True)
        )


def cells(evidence: Evidence) -> tuple[Cell, ...]:
    """Every cell whose work was also measured on one rank, by np, L, s and T."""
    one_rank = {
        result.case.number("work"): result.summary.typical
        for result in evidence.of("compute", ranks=1)
        if result.summary.typical.value > 0
    }
    records = evidence.run.by_case()
    rounds = _round_indices(evidence)
    single_rank_times = _single_rank_times(evidence, rounds)
    load = {entry.launch: entry.outside_cores or 0.0 for entry in evidence.run.closes}
    measured = []
    for result in evidence.of("granularity"):
        work = result.case.number("work")
        if work in one_rank and work > 0 and result.summary.typical.value > 0:
            case_records = records.get(result.summary.case, [])
            imbalance = max((record.metric("imbalance") or 1.0 for record in case_records), default=1.0)
            times = tuple(tuple(record.times_s) for record in case_records)
            outside_cores = median([load.get(record.launch, 0.0) for record in case_records] or [0.0])
            started_s = tuple(record.started_s for record in case_records)
            overall_s = one_rank[work].value
            single_rank_s = tuple(
                single_rank_times.get((work, rounds.get(record.launch, -1)), overall_s)
                for record in case_records
            )
            measured.append(
                Cell(
                    result,
                    one_rank[work],
                    max(1.0, imbalance),
                    times,
                    outside_cores,
                    started_s,
                    single_rank_s,
                )
            )
    return tuple(
        sorted(
            measured,
            key=lambda entry: (
                entry.ranks,
                not entry.is_even,
                entry.shares,
                entry.bytes,
                entry.serial,
                entry.work_s,
            ),
        )
    )


def _round_indices(evidence: Evidence) -> dict[str, int]:
    """The round of each launch. A round contains a launch for each number of ranks, including failed ones;
    placed cases count as the whole layout (`Case.launched_ranks`)."""
    run = evidence.run
    lines = {record.case for record in run.records} | {failure.case for failure in run.failures}
    counts = {parse_canonical(line).launched_ranks for line in lines} or {0}
    return {launch.launch: launch.index // len(counts) for launch in run.launches}


def _single_rank_times(evidence: Evidence, rounds: Mapping[str, int]) -> dict[tuple[float, int], float]:
    """The median time of each work on one rank, by round."""
    records = evidence.run.by_case()
    times: dict[tuple[float, int], list[float]] = {}
    for result in evidence.of("compute", ranks=1):
        for record in records.get(result.summary.case, []):
            if record.launch in rounds:
                times.setdefault((result.case.number("work"), rounds[record.launch]), []).extend(
                    record.times_s
                )
    medians = {key: median(measured) for key, measured in times.items() if measured}
    return {key: median_s for key, median_s in medians.items() if median_s > 0}


def efficiency_estimate(numerator: Estimate, denominator: Estimate, ranks: int) -> Estimate:
    """numerator / (ranks x denominator). Both are medians of different launches with relative errors. Half
    the widths of their intervals are therefore combined as the root of the sum of squared logarithms, as for
    independent values. Influences that last for a round (load, frequency) affect both equally and partly
    cancel; the interval is then too wide."""
    value = numerator.value / (ranks * denominator.value)
    lower_error = _combined_log_error(numerator.value, numerator.low, denominator.high, denominator.value)
    upper_error = _combined_log_error(numerator.high, numerator.value, denominator.value, denominator.low)
    if lower_error is None or upper_error is None:
        return Estimate(value, None, None)
    return Estimate(value, value * math.exp(-lower_error), value * math.exp(upper_error))


def _combined_log_error(
    numerator_high: float | None,
    numerator_low: float | None,
    denominator_high: float | None,
    denominator_low: float | None,
) -> float | None:
    """Root of log(numerator_high/numerator_low)**2 + log(denominator_high/denominator_low)**2; None if a
    bound is unknown."""
    if not (numerator_high and numerator_low and denominator_high and denominator_low):
        return None
    return math.hypot(math.log(numerator_high / numerator_low), math.log(denominator_high / denominator_low))


def lengths(measured: tuple[Cell, ...]) -> tuple[int, ...]:
    return tuple(sorted({cell.bytes for cell in measured}))


def rank_counts(measured: tuple[Cell, ...]) -> tuple[int, ...]:
    """The numbers of ranks above 1."""
    return tuple(sorted({cell.ranks for cell in measured if cell.ranks > 1}))


def curve_cells(measured: tuple[Cell, ...], ranks: int, size: int, serial: float = 0.0) -> tuple[Cell, ...]:
    """The cells of one curve over T in ascending order, with evenly shared work."""
    return tuple(
        cell
        for cell in measured
        if cell.is_even and (cell.ranks, cell.bytes, cell.serial) == (ranks, size, serial)
    )


TARGET_EFFICIENCY = 0.9
"""The efficiency for which the table shows the required work, in addition to break-even."""
MIN_DISTANCE_FROM_BOUNDS = 1e-9


@dataclass(frozen=True)
class RequiredWorkResult:
    """The work (s) at which a curve of efficiencies reaches a value, or limits for it. With both limits, it
    is between `above` and `below`, or beyond the limits in `open_bounds`. `never`: no amount of work is
    enough."""

    work: Estimate | None = None
    below: float | None = None
    above: float | None = None
    never: bool = False
    open_bounds: Literal["", "below", "above", "both"] = ""

    def __str__(self) -> str:
        if self.work is not None:
            bounds = [quantity(bound, "s") for bound in (self.work.low, self.work.high) if bound is not None]
            value = quantity(self.work.value, "s")
            return f"{value} ({interval(self.work, 's')})" if set(bounds) - {value} else value
        if self.never:
            return "never"
        if self.below is not None and self.above is not None:
            lower_prefix = "less than " if self.open_bounds in ("below", "both") else ""
            upper_prefix = "more than " if self.open_bounds in ("above", "both") else ""
            return (
                f"between {lower_prefix}{quantity(self.above, 's')} and "
                f"{upper_prefix}{quantity(self.below, 's')}"
            )
        if self.below is not None:
            return f"below {quantity(self.below, 's')}"
        return f"above {quantity(self.above, 's')}" if self.above is not None else "not measured"

    @property
    def statement_suffix(self) -> str:
        """The end of a statement that holds from this work on: "from 26.8 us (25.1 us to 28.9 us) of
        work"."""
        if self.work is not None:
            return f"from {self} of work"
        if self.never:
            return "with no work"
        if self.below is not None and self.above is not None:
            return f"from a work {self}"
        return f"from {self} of work" if self.below is not None else f"only {self} of work"


def measured_work(measured: Sequence[Cell], efficiency: float) -> RequiredWorkResult:
    """The work at which measured efficiencies, ascending in T, first exceed `efficiency`. Between two works
    log(E / (1 - E)) is interpolated linearly over log T, as implied by equation 2.

    Its interval follows from the bounds of the efficiencies. Since efficiency does not fall with T, an upper
    bound also holds for less work, and a lower bound for more. If the curve exceeds `efficiency` everywhere
    or nowhere, but the bounds of its intervals do not, the result is a range: a single cell does not decide.
    """
    if not measured:
        return RequiredWorkResult()
    values = [(cell.work_s, cell.efficiency.value) for cell in measured]
    (min_work, first_efficiency), (max_work, _) = values[0], values[-1]
    uppers, lowers = _monotonic_limits(measured)
    work = _crossing(values, efficiency)
    lower_work, upper_work = _crossing(uppers, efficiency), _crossing(lowers, efficiency)
    if first_efficiency < efficiency and work is not None:
        return RequiredWorkResult(
            work=Estimate(work, lower_work and min(work, lower_work), upper_work and max(work, upper_work))
        )
    if not any(_has_interval(cell.efficiency) for cell in measured):
        return (
            RequiredWorkResult(below=min_work)
            if first_efficiency >= efficiency
            else RequiredWorkResult(above=max_work)
        )
    is_reached = uppers[-1][1] >= efficiency
    is_reached_at_min, is_surely_reached = uppers[0][1] >= efficiency, lowers[-1][1] >= efficiency
    if first_efficiency >= efficiency and is_surely_reached:
        return RequiredWorkResult(below=min_work if upper_work is None else upper_work)
    if first_efficiency < efficiency and not is_reached:
        return RequiredWorkResult(above=max_work)
    low, high = (
        (min_work if is_reached_at_min else lower_work),
        (upper_work if is_surely_reached else max_work),
    )
    if is_reached_at_min:
        return RequiredWorkResult(above=low, below=high, open_bounds="below" if is_surely_reached else "both")
    return RequiredWorkResult(above=low, below=high, open_bounds="" if is_surely_reached else "above")


def _has_interval(efficiency: Estimate) -> bool:
    return efficiency.low is not None and efficiency.high is not None


def _monotonic_limits(
    measured: Sequence[Cell],
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """The upper and the lower bounds of efficiencies by work, given that efficiency does not fall with the
    work."""
    works = [cell.work_s for cell in measured]
    highs = [math.inf if cell.efficiency.high is None else cell.efficiency.high for cell in measured]
    lows = [0.0 if cell.efficiency.low is None else cell.efficiency.low for cell in measured]
    uppers = list(accumulate(reversed(highs), min))[::-1]
    return list(zip(works, uppers, strict=True)), list(zip(works, accumulate(lows, max), strict=True))


def predicted_work(
    messages: PointToPointCosts, size: int, ranks: int, efficiency: float
) -> RequiredWorkResult:
    """The work required for an efficiency by equation 6. Its interval follows from the fit's."""
    algorithm = with_shared_cores(Algorithm(1.0, size), ranks, messages.max_ranks)
    value = required_work(efficiency, algorithm, messages, ranks)
    if value is None:
        return RequiredWorkResult(never=True)
    factors = exchange_bounds(messages, size, ranks)
    low, high = (
        (None, None)
        if factors is None
        else (required_work(efficiency, algorithm, messages, ranks, factor) for factor in factors)
    )
    return RequiredWorkResult(work=Estimate(value, low and min(low, value), high and max(high, value)))


def _crossing(values: Sequence[tuple[float, float | None]], efficiency: float) -> float | None:
    """The first position at which the value exceeds `efficiency` from below."""
    for (work0, efficiency0), (work1, efficiency1) in pairwise(values):
        if efficiency0 is not None and efficiency1 is not None and efficiency0 < efficiency <= efficiency1:
            logit0, logit1, target_logit = (_logit(value) for value in (efficiency0, efficiency1, efficiency))
            return work0 * (work1 / work0) ** ((target_logit - logit0) / (logit1 - logit0))
    return None


def _logit(value: float) -> float:
    clamped = min(max(value, MIN_DISTANCE_FROM_BOUNDS), 1 - MIN_DISTANCE_FROM_BOUNDS)
    return math.log(clamped / (1 - clamped))


MAX_OVERLAPPING_WIDTH = 0.1
"""The efficiencies with the smallest and the largest work may overlap if their intervals are at most this
wide: more work then does not matter."""
MAX_TYPICAL_WIDTH = 0.3
"""A curve with typically wider intervals is not conclusive."""


@dataclass(frozen=True)
class ThinCurve:
    """A curve over T with insufficient data. `typical_width` is that of its intervals (efficiency), or None
    if its ends have none. `launches` is the smallest number for one of its `cell_count` cells, of which
    `missing_intervals` have no interval. `known_efficiencies` contains the accurate ones of a curve without
    `typical_width`, as (T in s, efficiency)."""

    ranks: int
    bytes: int
    typical_width: float | None
    launches: int
    cell_count: int = 0
    missing_intervals: int = 0
    known_efficiencies: tuple[tuple[float, Estimate], ...] = ()

    @property
    def budget_multiple(self) -> float:
        """The multiple of the measuring time that would suffice. The width decreases with its square root."""
        multiple = MIN_RELIABLE_LAUNCHES / max(1, self.launches)
        if self.typical_width is not None:
            multiple = max(multiple, (self.typical_width / MAX_TYPICAL_WIDTH) ** 2)
        return min(MAX_MULTIPLE, max(MIN_MULTIPLE, multiple))


def find_thin(curve: Sequence[Cell]) -> ThinCurve | None:
    """What is missing for statements on `curve`, which ascends in T; None if nothing is missing."""
    if not curve:
        return None
    first_efficiency, last_efficiency = curve[0].efficiency, curve[-1].efficiency
    launches = min(len(cell.times_s) for cell in curve)
    ranks, size = curve[0].ranks, curve[0].bytes
    widths = [interval_width(cell.efficiency) for cell in curve]
    if math.isinf(widths[0]) or math.isinf(widths[-1]) or math.isinf(median(widths)):
        missing_intervals = sum(math.isinf(width) for width in widths)
        points = tuple(
            (cell.work_s, cell.efficiency)
            for cell, width in zip(curve, widths, strict=True)
            if width <= MAX_TYPICAL_WIDTH
        )
        return ThinCurve(ranks, size, None, launches, len(curve), missing_intervals, points)
    has_overlap = first_efficiency is not last_efficiency and (first_efficiency.high or 0.0) >= (
        last_efficiency.low or 0.0
    )
    outer_width = max(widths[0], widths[-1])
    if median(widths) > MAX_TYPICAL_WIDTH or (has_overlap and outer_width > MAX_OVERLAPPING_WIDTH):
        return ThinCurve(ranks, size, max(median(widths), outer_width), launches)
    return None


def interval_width(efficiency: Estimate) -> float:
    """The width of the interval; infinite without one."""
    if efficiency.low is None or efficiency.high is None:
        return math.inf
    return efficiency.high - efficiency.low


def crowded_counts(measured: Sequence[Cell], cores: int) -> tuple[int, ...]:
    """Numbers of ranks without a core per rank."""
    return tuple(sorted({cell.ranks for cell in measured if cell.ranks > cores}))
