# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Computation between calls over numbers of ranks: its mean by region, and how it varies between ranks and
iterations.

A region is what precedes a call of one kind after a call of another. The time between calls is computation
if ranks had a core each; of runs whose ranks shared cores, the processor time between calls is used, or the
instructions, which take as long as in the other runs. Means follow a law with one coefficient, as few runs
would let a second one mean anything; variations are resampled, as those of different ranks add up in every
wait."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

import numpy as np

from hockney.core.errors import Inconclusive
from hockney.extrapolation.grids import Dims
from hockney.extrapolation.laws import CONSTANT, Basis
from hockney.extrapolation.observations import ObservedRun, RankSequence

Scaling = Literal["strong", "weak"]
"""Whether the problem stays the same on more ranks, or each rank's part of it."""
END = -1
"""In place of a kind of call: the begin or the end of the program."""
MIN_ERROR = 0.02
"""Relative error of a computation time that no number of runs makes smaller: programs differ by that between
launches, unless several launches show how much."""
MIN_LAUNCHES = 3
"""Fewer do not show how launches differ."""
COLD_S = 5e-6
"""Seconds by which the processor time between two calls of ranks that share cores may be too long, because
other ranks used the caches. Measured between 2 and 5 us on an EPYC processor: docs/replay.md."""
MIN_BUSY = 0.01
"""With a smaller share of processor time between calls, ranks sleep there, and wait for devices: their
computation does not follow from processor time."""
ASSUMED_ERROR = 0.1
"""Relative error of a law that only one run supports."""
MIN_SHARE = 0.02
"""Regions with a smaller share of a program's computation follow the law of the whole."""
MAX_EXCESS = 1.2
"""The computation of a rank with these calls, relative to the busiest rank by the law of all computation."""
MIN_ITERATIONS = 4
"""Fewer do not show how iterations vary."""
MAX_FACTORS = 4096


def _laws(scaling: Scaling, dimensions: int) -> tuple[Basis, ...]:
    """The most likely one first."""
    if scaling == "weak":
        return (CONSTANT, Basis("* P", 1))
    surfaces = [Basis(f"/ P^({size - 1}/{size})", (1 - size) / size) for size in (2, 3) if dimensions >= size]
    return (Basis("/ P", -1), CONSTANT, *surfaces, Basis("/ P^2", -2))


@dataclass(frozen=True)
class RegionLaw:
    """Mean seconds of a region: `factor` x basis. `error` is the largest relative error of a run that the
    others predict. Runs, on up to `largest` ranks, deviate by the number of ranks to the power `trend`."""

    basis: Basis
    factor: float
    error: float
    trend: float = 0.0
    largest: int = 1

    def at(self, ranks: int, dims: Dims) -> float:
        return self.factor * self.basis.at(ranks, dims)

    def error_at(self, ranks: int) -> float:
        """The relative error on more ranks, on which deviations are assumed to continue."""
        return self.error + self.trend * math.log(max(ranks / self.largest, 1.0))


Region = tuple[int, int]


@dataclass
class _Sums:
    """Of a region in one run: the number of times, and the seconds, over all ranks."""

    count: int = 0
    seconds: float = 0.0
    values: list[np.ndarray] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return self.seconds / self.count if self.count else 0.0


@dataclass(frozen=True)
class ComputationModel:
    """Laws by region, and of all computation of a rank; how ranks and the iterations of a region differ from
    the mean (as factors). `runs` are the numbers of ranks that were used, `counted` those of them that
    counted processor time or instructions. `unseen` has the seconds, relative to each other, of regions that
    only other runs have. `launches` is the relative difference of launches, `busy_cores` the largest number
    of cores of a host that ranks used."""

    scaling: Scaling
    total: RegionLaw
    regions: Mapping[Region, RegionLaw]
    rank_factors: np.ndarray
    imbalance: float
    """The computation of the busiest rank, relative to the mean."""
    factors: Mapping[Region, np.ndarray]
    runs: tuple[int, ...]
    unseen: Mapping[Region, float]
    counted: tuple[int, ...] = ()
    launches: float = MIN_ERROR
    busy_cores: int = 0
    totals: Mapping[int, float] = field(default_factory=dict)
    """The mean computation (s) of a rank of each run."""

    def error_at(self, ranks: int) -> float:
        """The relative error of the computation of a rank: of its law, and between launches."""
        return math.hypot(self.total.error_at(ranks), self.launches)

    def means(self, kinds: np.ndarray, ranks: int, dims: Dims) -> ComputationMeans:
        """The mean computation of a rank that makes these calls. Regions that only crowded runs have share
        what the others lack of all computation, which no rank exceeds by far."""
        around = np.concatenate([[END], kinds, [END]]).astype(np.int64)
        pairs, inverse = np.unique(around[:-1] << 32 | (around[1:] & 0xFFFFFFFF), return_inverse=True)
        regions = [(int(pair >> 32), _signed(int(pair & 0xFFFFFFFF))) for pair in pairs]
        counts = np.bincount(inverse.reshape(-1))
        seconds = np.zeros(len(regions))
        weights = np.zeros(len(regions))
        for k, region in enumerate(regions):
            if region in self.regions:
                seconds[k] = self.regions[region].at(ranks, dims)
            else:
                weights[k] = self.unseen.get(region, 0.0)
        total, known = self.total.at(ranks, dims), float(seconds @ counts)
        if known > total * MAX_EXCESS * self.imbalance:
            # A loop has more iterations than in the runs, of which only some compute.
            seconds *= total / known
        elif known < total and weights.any():
            seconds += weights * (total - known) / float(weights @ counts)
        return ComputationMeans(seconds, inverse.reshape(-1), [self.factors.get(each) for each in regions])

    def rank_factor(self, random: np.random.Generator) -> float:
        return float(random.choice(self.rank_factors))


@dataclass(frozen=True)
class ComputationMeans:
    """Seconds by region, the region before each call and after the last one, and the factors by which its
    iterations differ."""

    seconds: np.ndarray
    region: np.ndarray
    factors: list[np.ndarray | None]

    def vary(self, random: np.random.Generator) -> np.ndarray:
        """Seconds before each call and after the last one, with variations."""
        found = self.seconds[self.region]
        for k, factors in enumerate(self.factors):
            if factors is not None:
                chosen = np.flatnonzero(self.region == k)
                found[chosen] *= random.choice(factors, len(chosen))
        return found


def _signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 else value


@dataclass(frozen=True)
class _Measured:
    """The computation in a run: seconds before each call of each rank, and after the last one. Each may be
    `cold_s` too long."""

    run: ObservedRun
    seconds: tuple[np.ndarray, ...]
    cold_s: float = 0.0

    def total(self, rank: int) -> float:
        return float(self.seconds[rank].sum())

    def mean_total(self) -> float:
        return float(np.mean([each.sum() for each in self.seconds]))

    def regions(self, ranks: Sequence[int] | None = None) -> dict[Region, _Sums]:
        """The regions of these ranks; by default of all."""
        chosen = range(len(self.seconds)) if ranks is None else ranks
        return _regions(
            [self.run.sequences[rank] for rank in chosen], [self.seconds[rank] for rank in chosen]
        )

    def total_error(self) -> float:
        """The relative error of a rank's computation, because of cold caches."""
        times = np.mean([len(each) for each in self.seconds])
        return float(min(1.0, self.cold_s * times / max(self.mean_total(), 1e-300)))


def _measured(runs: Sequence[ObservedRun]) -> list[_Measured]:
    """The runs that show computation, in the order of their ranks. Processor time is only recorded if ranks
    share cores, or on request because other programs do."""
    found = []
    for run in runs:
        counts = tuple(each.counts for each in run.sequences)
        if run.counter == "cpu time" and _is_busy(run):
            found.append(_Measured(run, counts, COLD_S))
        elif not run.crowded:
            seconds = tuple(np.append(each.computed_s, each.tail_s) for each in run.sequences)
            found.append(_Measured(run, seconds))
    rates = _seconds_per_instruction(found)
    for run in runs:
        if run.crowded and run.counter == "instructions" and rates:
            seconds = tuple(each.counts * _rates_of(each, rates) for each in run.sequences)
            found.append(_Measured(run, seconds))
    return sorted(found, key=_ranks_of)


def _is_busy(run: ObservedRun) -> bool:
    between = sum(float(each.computed_s.sum()) + each.tail_s for each in run.sequences)
    return sum(float(each.counts.sum()) for each in run.sequences) > MIN_BUSY * between


_ALL: Region = (END - 1, END - 1)
"""In place of a region: all of them."""


def _seconds_per_instruction(alone: Sequence[_Measured]) -> dict[Region, float]:
    """By region, and of all, from runs that counted instructions as well."""
    seconds: dict[Region, float] = defaultdict(float)
    counts: dict[Region, float] = defaultdict(float)
    for each in alone:
        if each.run.counter != "instructions":
            continue
        counted = _Measured(each.run, tuple(sequence.counts for sequence in each.run.sequences))
        for into, regions in ((seconds, each.regions()), (counts, counted.regions())):
            for region, sums in regions.items():
                into[region] += sums.seconds
                into[_ALL] += sums.seconds
    return {region: seconds[region] / count for region, count in counts.items() if count > 0}


def _rates_of(sequence: RankSequence, rates: Mapping[Region, float]) -> np.ndarray:
    around = np.concatenate([[END], sequence.kinds, [END]]).tolist()
    return np.array([rates.get(region, rates[_ALL]) for region in pairwise(around)])


def fit_computation(
    runs: Sequence[ObservedRun], dims: Mapping[int, Dims], scaling: Scaling
) -> ComputationModel:
    """Raises Inconclusive if no run shows computation."""
    measured = _measured(runs)
    if not measured:
        raise Inconclusive(
            "the time of computation is not known",
            "in all runs ranks shared cores, so that computation took longer than it does alone, and their "
            "processor time was not counted",
            "trace the program on at most as many ranks as there are cores as well, or with "
            "HOCKNEY_PROFILE_COUNTER=cpu-time",
            code="only-crowded-runs",
        )
    laws = _laws(scaling, len(next(iter(dims.values()))))
    totals = {each.run.ranks: each.mean_total() for each in measured}
    total = _fit(totals, {each.run.ranks: each.total_error() for each in measured}, dims, laws)
    sums = {each.run.ranks: each.regions() for each in measured}
    means: dict[Region, dict[int, float]] = defaultdict(dict)
    errors: dict[Region, dict[int, float]] = defaultdict(dict)
    shares: dict[Region, float] = defaultdict(float)
    for each in measured:
        ranks = each.run.ranks
        for region, found in sums[ranks].items():
            means[region][ranks] = found.mean
            errors[region][ranks] = min(1.0, each.cold_s / max(found.mean, 1e-12))
            shares[region] = max(shares[region], found.seconds / max(totals[ranks] * ranks, 1e-300))
    regions = {
        region: _fit(
            by_run,
            errors[region],
            dims,
            laws if shares[region] >= MIN_SHARE else (total.basis,),
            total.basis,
        )
        for region, by_run in means.items()
    }
    unseen: dict[Region, float] = {}
    for run in sorted(runs, key=lambda run: run.ranks):
        if run.ranks not in sums:
            own = tuple(np.append(each.computed_s, each.tail_s) for each in run.sequences)
            for region, found in _regions(run.sequences, own).items():
                if region not in regions:
                    unseen[region] = float(np.median(np.concatenate(found.values)))
    largest = measured[-1]
    each_rank = np.array([largest.total(rank) for rank in range(largest.run.ranks)])
    # Ranks that make other calls compute another amount, which is no variation.
    expected = np.array([_expected(largest, rank, sums[largest.run.ranks]) for rank in range(len(each_rank))])
    # Cold caches would add to the variation of iterations.
    undisturbed = max((each for each in measured if not each.cold_s), key=_ranks_of, default=largest)
    return ComputationModel(
        scaling,
        total,
        regions,
        np.divide(each_rank, expected, out=np.ones(len(each_rank)), where=expected > 0),
        float(each_rank.max() / each_rank.mean()) if each_rank.mean() > 0 else 1.0,
        _factors(sums[undisturbed.run.ranks]),
        tuple(sorted(totals)),
        unseen,
        tuple(each.run.ranks for each in measured if each.run.crowded or each.cold_s),
        _difference_of_launches(runs),
        max(each.run.busy_cores for each in measured),
        totals,
    )


def _ranks_of(measured: _Measured) -> int:
    return measured.run.ranks


def _difference_of_launches(runs: Sequence[ObservedRun]) -> float:
    """The relative error of one launch, at 95%, from the runs with the most launches."""
    several = [run.launches_s for run in runs if len(run.launches_s) >= MIN_LAUNCHES and not run.crowded]
    if not several:
        return MIN_ERROR
    return max(2 * float(np.std(np.log(each), ddof=1)) for each in several)


def _regions(sequences: Sequence[RankSequence], seconds: Sequence[np.ndarray]) -> dict[Region, _Sums]:
    found: dict[Region, _Sums] = defaultdict(_Sums)
    for sequence, own in zip(sequences, seconds, strict=True):
        around = np.concatenate([[END], sequence.kinds, [END]]).astype(np.int64)
        pairs = np.stack([around[:-1], around[1:]], axis=1)
        distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        order = np.argsort(inverse, kind="stable")
        groups = np.split(own[order], np.cumsum(np.bincount(inverse))[:-1])
        for (previous, kind), values in zip(distinct.tolist(), groups, strict=True):
            each = found[previous, kind]
            each.count += len(values)
            each.seconds += float(values.sum())
            each.values.append(values)
    return found


def _expected(measured: _Measured, rank: int, regions: Mapping[Region, _Sums]) -> float:
    """The computation of a rank if all its regions take their mean."""
    return sum(each.count * regions[region].mean for region, each in measured.regions([rank]).items())


def _fit(
    values: Mapping[int, float],
    errors: Mapping[int, float],
    dims: Mapping[int, Dims],
    laws: Sequence[Basis],
    assumed: Basis | None = None,
) -> RegionLaw:
    """The law by which the others predict each run best; the first one if no other is clearly better, or only
    one run has the region. `errors` are the relative errors of the values, up to which nothing deviates."""
    counts = sorted(values)
    observed = np.maximum([values[ranks] for ranks in counts], 1e-12)
    own = np.array([errors[ranks] for ranks in counts])
    if len(counts) == 1:
        basis = assumed or laws[0]
        factor = float(observed[0]) / basis.at(counts[0], dims[counts[0]])
        return RegionLaw(basis, factor, math.hypot(ASSUMED_ERROR, float(own[0])), 0.0, counts[0])
    weight = 1 / (MIN_ERROR**2 + own**2)
    best: RegionLaw | None = None
    for basis in laws:
        ratio = np.log(observed / [basis.at(ranks, dims[ranks]) for ranks in counts])
        factor = float(np.average(ratio, weights=weight))
        others = [
            float(np.average(np.delete(ratio, k), weights=np.delete(weight, k))) for k in range(len(counts))
        ]
        deviation = np.maximum(np.abs(ratio - others) - own, 0.0)
        trend = 0.0
        if len(counts) >= MIN_TREND:
            place = np.log(counts) - np.average(np.log(counts), weights=weight)
            trend = abs(float((weight * place * (ratio - factor)).sum() / (weight * place**2).sum()))
        error = float(deviation.max())
        if best is None or (error < best.error / 2 and best.error > MIN_ERROR):
            best = RegionLaw(basis, math.exp(factor), error, trend, counts[-1])
    assert best is not None
    inaccuracy = float(1 / np.sqrt(weight.sum()))
    return RegionLaw(best.basis, best.factor, math.hypot(best.error, inaccuracy), best.trend, best.largest)


MIN_TREND = 3
"""Two runs deviate from any law in one direction."""


def _factors(regions: Mapping[Region, _Sums]) -> dict[Region, np.ndarray]:
    """By region, single computations relative to the mean of their rank."""
    found = {}
    for region, each in regions.items():
        parts = [values / values.mean() for values in each.values if values.mean() > 0]
        if parts and min(len(values) for values in parts) >= MIN_ITERATIONS:
            found[region] = np.concatenate(parts)[:MAX_FACTORS]
    return found
