# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Computation between calls over numbers of ranks: its mean by region, from runs whose ranks had a core
each, and how it varies between ranks and iterations.

A region is what precedes a call of one kind after a call of another. Means follow a law with one
coefficient, as few runs would let a second one mean anything; variations are resampled, as those of
different ranks add up in every wait."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
launches."""
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
    """Mean seconds of a region: `factor` x basis. `error` is relative."""

    basis: Basis
    factor: float
    error: float

    def at(self, ranks: int, dims: Dims) -> float:
        return self.factor * self.basis.at(ranks, dims)


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
    the mean (as factors). `runs` are the numbers of ranks that were used. `unseen` has the seconds, relative
    to each other, of regions that only crowded runs have."""

    scaling: Scaling
    total: RegionLaw
    regions: Mapping[Region, RegionLaw]
    rank_factors: np.ndarray
    imbalance: float
    """The computation of the busiest rank, relative to the mean."""
    factors: Mapping[Region, np.ndarray]
    runs: tuple[int, ...]
    unseen: Mapping[Region, float]

    @property
    def error(self) -> float:
        """The relative error of the computation of a rank."""
        return self.total.error

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


def fit_computation(
    runs: Sequence[ObservedRun], dims: Mapping[int, Dims], scaling: Scaling
) -> ComputationModel:
    """Raises Inconclusive if ranks shared cores in all runs."""
    alone = [run for run in runs if not run.crowded]
    if not alone:
        raise Inconclusive(
            "the time of computation is not known",
            "in all runs ranks shared cores, so that computation took longer than it does alone",
            "trace the program on at most as many ranks as there are cores as well",
            code="only-crowded-runs",
        )
    laws = _laws(scaling, len(next(iter(dims.values()))))
    totals = {run.ranks: float(np.mean([_total(each) for each in run.sequences])) for run in alone}
    total = _fit(totals, dims, laws)
    sums = {run.ranks: _regions(run) for run in alone}
    by_region: dict[Region, dict[int, float]] = defaultdict(dict)
    shares: dict[Region, float] = defaultdict(float)
    for ranks, regions in sums.items():
        for region, each in regions.items():
            by_region[region][ranks] = each.mean
            shares[region] = max(shares[region], each.seconds / max(totals[ranks] * ranks, 1e-300))
    found = {
        region: _fit(means, dims, laws if shares[region] >= MIN_SHARE else (total.basis,), total.basis)
        for region, means in by_region.items()
    }
    largest = max(alone, key=lambda run: run.ranks)
    unseen: dict[Region, float] = {}
    for run in sorted(runs, key=lambda run: run.ranks):
        if run.crowded:
            for region, each in _regions(run).items():
                if region not in found:
                    unseen[region] = float(np.median(np.concatenate(each.values)))
    each_rank = np.array([_total(each) for each in largest.sequences])
    # Ranks that make other calls compute another amount, which is no variation.
    expected = np.array([_expected(each, sums[largest.ranks]) for each in largest.sequences])
    return ComputationModel(
        scaling,
        total,
        found,
        np.divide(each_rank, expected, out=np.ones(len(each_rank)), where=expected > 0),
        float(each_rank.max() / each_rank.mean()) if each_rank.mean() > 0 else 1.0,
        _factors(sums[largest.ranks]),
        tuple(sorted(totals)),
        unseen,
    )


def _total(sequence: RankSequence) -> float:
    return float(sequence.computed_s.sum()) + sequence.tail_s


def _regions(run: ObservedRun) -> dict[Region, _Sums]:
    return _regions_of(run.sequences)


def _regions_of(sequences: Sequence[RankSequence]) -> dict[Region, _Sums]:
    found: dict[Region, _Sums] = defaultdict(_Sums)
    for sequence in sequences:
        around = np.concatenate([[END], sequence.kinds, [END]]).astype(np.int64)
        seconds = np.append(sequence.computed_s, sequence.tail_s)
        pairs = np.stack([around[:-1], around[1:]], axis=1)
        distinct, inverse = np.unique(pairs, axis=0, return_inverse=True)
        inverse = inverse.reshape(-1)
        order = np.argsort(inverse, kind="stable")
        groups = np.split(seconds[order], np.cumsum(np.bincount(inverse))[:-1])
        for (previous, kind), values in zip(distinct.tolist(), groups, strict=True):
            each = found[previous, kind]
            each.count += len(values)
            each.seconds += float(values.sum())
            each.values.append(values)
    return found


def _expected(sequence: RankSequence, regions: Mapping[Region, _Sums]) -> float:
    """The computation of a rank if all its regions take their mean."""
    return sum(each.count * regions[region].mean for region, each in _regions_of([sequence]).items())


def _fit(
    values: Mapping[int, float], dims: Mapping[int, Dims], laws: Sequence[Basis], assumed: Basis | None = None
) -> RegionLaw:
    """The law with the smallest relative errors; the first one if no other is clearly better, or only one run
    has the region."""
    counts = sorted(values)
    observed = np.maximum([values[ranks] for ranks in counts], 1e-12)
    if len(counts) == 1:
        basis = assumed or laws[0]
        return RegionLaw(basis, float(observed[0]) / basis.at(counts[0], dims[counts[0]]), ASSUMED_ERROR)
    best: RegionLaw | None = None
    for basis in laws:
        ratio = observed / [basis.at(ranks, dims[ranks]) for ranks in counts]
        factor = float(np.exp(np.log(ratio).mean()))
        error = float(np.abs(np.log(ratio / factor)).max())
        if best is None or (error < best.error / 2 and best.error > MIN_ERROR):
            best = RegionLaw(basis, factor, error)
    assert best is not None
    return RegionLaw(best.basis, best.factor, max(best.error, MIN_ERROR))


def _factors(regions: Mapping[Region, _Sums]) -> dict[Region, np.ndarray]:
    """By region, single computations relative to the mean of their rank."""
    found = {}
    for region, each in regions.items():
        parts = [values / values.mean() for values in each.values if values.mean() > 0]
        if parts and min(len(values) for values in parts) >= MIN_ITERATIONS:
            found[region] = np.concatenate(parts)[:MAX_FACTORS]
    return found
