# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Computation of ranks that share the memory of a node.

A core alone on its node reads and writes memory faster than one of k busy cores. The ratio of its rates,
alone and with k - 1 others, is the slowdown S(k) of computation that only waits for memory. If that is a
share m of a program's computation on one core, computation with k busy cores takes 1 + m (S(k) - 1) times as
long.

The share follows from runs that kept different numbers of cores busy: on the same number of ranks, by the
time per instruction, or if computation alone then follows the usual law. Otherwise, it is between 0 and 1."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hockney.extrapolation.computation import MIN_LAUNCHES, difference_of_launches
from hockney.extrapolation.grids import Dims
from hockney.extrapolation.observations import ObservedRun
from hockney.extrapolation.region_laws import ASSUMED_ERROR, MIN_ERROR, Scaling, fit_totals
from hockney.extrapolation.regions import computed_totals

Evidence = Literal["same ranks", "instructions", "law", "none"]
"""What shows the share of memory: runs on the same number of ranks, the time per instruction, the law of
computation alone, or nothing."""


MAX_ERROR = 2 * MIN_ERROR
"""With a larger error, runs do not follow a law."""
SHARES = 21
"""Shares that are tried."""


@dataclass(frozen=True)
class MemoryRates:
    """The rate of a core in the memory of its node (B/s), by the number of busy cores, of which one is 1.
    `source` names the run or the machine with these rates, `error` is the relative error of their ratios."""

    rates: Mapping[int, float]
    source: str
    error: float = 0.0

    def slowdown(self, busy: int) -> float:
        """S(busy), interpolated between the logarithms, at least 1. Beyond the largest measured number, cores
        share the bandwidth of all."""
        counts = sorted(self.rates)
        if busy > counts[-1]:
            return self.slowdown(counts[-1]) * busy / counts[-1]
        logs = np.interp(math.log(busy), np.log(counts), np.log([self.rates[each] for each in counts]))
        return max(1.0, self.rates[1] / math.exp(float(logs)))


@dataclass(frozen=True)
class MemoryShare:
    """The share of a program's computation on one core that is limited by memory: from `low` to `high`, as
    the `evidence` shows."""

    low: float = 0.0
    high: float = 1.0
    evidence: Evidence = "none"


@dataclass(frozen=True)
class MemoryModel:
    """How busy cores of a node slow a program down. `traced` are the rates of the machine of its runs, `busy`
    the number of busy cores of the largest run that shows computation."""

    traced: MemoryRates
    share: MemoryShare
    busy: int

    @property
    def removed(self) -> float:
        """The share by which runs are compared: the middle of what they show, or else none."""
        return 0.0 if self.share.evidence == "none" else (self.share.low + self.share.high) / 2

    def alone(self, run: ObservedRun) -> float:
        """How much longer the computation of a run took than on one busy core, by the `removed` share."""
        return _longer(self.removed, self.traced, max(run.busy_cores, 1))

    def bounds(self, busy: int, rates: MemoryRates | None = None) -> tuple[float, float]:
        """The computation with so many busy cores of a machine with these rates (default: as the runs),
        relative to that of the largest run: with either end of the share, the smaller one first."""
        used = rates or self.traced
        is_other = busy != self.busy or rates is not None
        ends = []
        for share in (self.share.low, self.share.high):
            ratio = _longer(share, used, busy) / _longer(share, self.traced, self.busy)
            error = share * max(used.error, self.traced.error) if is_other else 0.0
            ends += [ratio * math.exp(-error), ratio * math.exp(error)]
        return min(ends), max(ends)

    def effect(self, busy: int, rates: MemoryRates | None = None) -> float:
        """The computation with so many busy cores, relative to `alone` computation: the middle of the bounds,
        of which either end differs by the same factor."""
        return math.sqrt(math.prod(self.bounds(busy, rates))) * _longer(self.removed, self.traced, self.busy)


def _longer(share: float, rates: MemoryRates, busy: int) -> float:
    return 1 + share * (rates.slowdown(busy) - 1)


def memory_model(
    runs: Sequence[ObservedRun],
    others: Sequence[ObservedRun],
    rates: MemoryRates,
    dims: Mapping[int, Dims],
    scaling: Scaling,
) -> MemoryModel | None:
    """`others` are further runs on numbers of ranks of the `runs`, with other numbers of busy cores. None if
    no run shows computation on a known number of cores."""
    totals = computed_totals(runs)
    known = [run for run in runs if run.ranks in totals and run.busy_cores]
    if not known:
        return None
    bounds: dict[Evidence, list[tuple[float, float]]] = defaultdict(list)
    for evidence, first, second, ratio, error in _ratios(known, others):
        ends = [
            _share(ratio * math.exp(sign * error), rates.slowdown(first), rates.slowdown(second))
            for sign in (-1, 1)
        ]
        bounds[evidence].append((min(ends), max(ends)))
    largest = max(known, key=lambda run: run.ranks)
    for evidence in ("same ranks", "instructions"):
        if found := bounds[evidence]:
            low, high = max(low for low, _ in found), min(high for _, high in found)
            if low > high:  # they contradict each other
                low, high = min(low for low, _ in found), max(high for _, high in found)
            return MemoryModel(rates, MemoryShare(low, high, evidence), largest.busy_cores)
    return MemoryModel(rates, _share_by_law(known, rates, dims, scaling), largest.busy_cores)


def _ratios(
    runs: Sequence[ObservedRun], others: Sequence[ObservedRun]
) -> Iterator[tuple[Evidence, int, int, float, float]]:
    """Pairs of numbers of busy cores, with the ratio of the computation on the second to that on the first,
    and its relative error."""
    totals = computed_totals(runs)
    by_ranks = {run.ranks: run for run in runs}
    for other in others:
        first, again = by_ranks.get(other.ranks), computed_totals([other])
        if first is not None and again and other.busy_cores not in (0, first.busy_cores):
            (second_s, second_error), (first_s, first_error) = again[other.ranks], totals[other.ranks]
            errors = (first_error / first_s, second_error / second_s)
            error = math.hypot(_launch_error(first), _launch_error(other), *errors)
            yield "same ranks", first.busy_cores, other.busy_cores, second_s / first_s, error
    counted = [run for run in (*runs, *others) if run.counter == "instructions" and not run.crowded]
    for first, second in itertools.combinations(counted, 2):
        if 0 not in (first.busy_cores, second.busy_cores) and first.busy_cores != second.busy_cores:
            ratio = _time_per_instruction(second) / _time_per_instruction(first)
            error = math.hypot(_launch_error(first), _launch_error(second))
            yield "instructions", first.busy_cores, second.busy_cores, ratio, error


def _share_by_law(
    runs: Sequence[ObservedRun], rates: MemoryRates, dims: Mapping[int, Dims], scaling: Scaling
) -> MemoryShare:
    """The shares with which the computation alone follows the usual law. Runs that follow another law as they
    are show none: it would be a guess which of the two explains them."""
    totals = computed_totals(runs)
    as_run = fit_totals(totals, dims, scaling, any_law=True)
    usual = fit_totals(totals, dims, scaling, any_law=False)
    if len({run.busy_cores for run in runs}) < 2 or (
        as_run.basis != usual.basis and as_run.error <= MAX_ERROR
    ):
        return MemoryShare()
    errors = {}
    for share in np.linspace(0, 1, SHARES).tolist():
        alone = {
            run.ranks: (totals[run.ranks][0] / _longer(share, rates, run.busy_cores), totals[run.ranks][1])
            for run in runs
        }
        errors[share] = fit_totals(alone, dims, scaling, any_law=False).error
    least = min(errors.values())
    good = [share for share, error in errors.items() if error <= least + MIN_ERROR]
    if least > MAX_ERROR or len(good) == SHARES:
        return MemoryShare()
    return MemoryShare(good[0], good[-1], "law")


def _launch_error(run: ObservedRun) -> float:
    """The relative error of the computation in a launch, which is assumed if several do not show it."""
    is_known = len(run.launches_s) >= MIN_LAUNCHES and not run.crowded
    return difference_of_launches([run]) if is_known else ASSUMED_ERROR


def _time_per_instruction(run: ObservedRun) -> float:
    seconds = sum(float(each.computed_s.sum()) + each.tail_s for each in run.sequences)
    return seconds / max(sum(float(each.counts.sum()) for each in run.sequences), 1e-300)


def _share(ratio: float, first: float, second: float) -> float:
    """The share m for which (1 + m (second - 1)) / (1 + m (first - 1)) is the ratio, from 0 to 1."""
    numerator, denominator = ratio - 1, (second - 1) - ratio * (first - 1)
    if second < first:
        numerator, denominator = -numerator, -denominator
    if denominator <= 0:  # more than any share explains
        return 1.0 if numerator > 0 else 0.0
    return min(1.0, max(0.0, numerator / denominator))
