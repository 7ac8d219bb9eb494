# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Computation between calls over numbers of ranks: its mean by region, and how it varies between ranks and
iterations. Variations are resampled, as those of different ranks add up in every wait."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.errors import Inconclusive
from hockney.extrapolation.grids import Dims
from hockney.extrapolation.observations import ObservedRun
from hockney.extrapolation.placements import Place, Role, roles
from hockney.extrapolation.region_laws import (
    MIN_ERROR,
    LawFitter,
    LawsByPlace,
    RegionLaw,
    Scaling,
    likely_laws,
)
from hockney.extrapolation.regions import (
    END,
    Calls,
    Distinctions,
    Later,
    MeasuredRun,
    Region,
    RegionTimes,
    Slowdown,
    Variation,
    elapsed,
    find_distinctions,
    find_variation,
    measured_runs,
    positions,
    rank_factors,
)

MIN_ITERATIONS = 4
"""Fewer do not show how iterations vary."""
MIN_LAUNCHES = 3
"""Fewer do not show how launches differ."""
MIN_SHARE = 0.02
"""Ranks with a smaller share of the computation of the busiest one show no variation of the others."""
HOST_S = 1e-4
"""Seconds of what ranks compute once, such as before their first call, that another host may not need: they
access memory for the first time there, and load libraries."""
MIN_REGION_SHARE = 0.002
"""Regions with a smaller share of a rank's computation follow the law of the whole."""
MAX_EXCESS = 1.2
"""The computation of a rank with these calls, relative to the busiest rank by the law of all computation."""


@dataclass(frozen=True)
class ComputationModel:
    """Laws by region, and of all computation of a rank; how ranks (as factors) and the iterations of a region
    differ from the mean. `runs` are the numbers of ranks that were used, `counted` those of them that
    counted processor time or instructions. `unseen` has the seconds, relative to each other, of regions that
    only other runs have. `launches` is the relative difference of launches, `busy_cores` the largest number
    of cores of a host that ranks used."""

    scaling: Scaling
    totals_by_place: LawsByPlace
    regions: Mapping[Region, LawsByPlace]
    rank_factors: np.ndarray
    imbalance: float
    """The computation of the busiest rank, relative to the mean of those with its role."""
    variations: Mapping[Region, Variation]
    runs: tuple[int, ...]
    unseen: Mapping[Region, float]
    counted: tuple[int, ...] = ()
    launches: float = MIN_ERROR
    busy_cores: int = 0
    totals: Mapping[int, float] = field(default_factory=dict)
    """The mean computation (s) of a rank of each run."""
    distinctions: Distinctions = field(default_factory=Distinctions)

    @property
    def total(self) -> RegionLaw:
        return self.totals_by_place.law

    def error_at(self, ranks: int) -> float:
        """The relative error of the computation of a rank: of its law, and between launches."""
        return math.hypot(self.totals_by_place.error_at(ranks), self.launches)

    @property
    def has_doubts(self) -> bool:
        laws = (law for each in self.regions.values() for law in (each.law, *each.by_role.values()))
        return any(law.doubt_s for law in laws)

    def with_doubts(self, sign: int) -> ComputationModel:
        """With longer (1) or shorter (-1) regions, as far as the effect of cold caches or the time on
        another host is unknown."""
        regions = {
            region: laws.map(lambda law: law.with_doubt(sign)) for region, laws in self.regions.items()
        }
        return replace(self, regions=regions)

    def means_of_ranks(
        self, calls: Sequence[Calls], calls_of: Sequence[int], place: Place
    ) -> list[ComputationMeans]:
        """The mean computation of each rank, which makes those of these calls that `calls_of` tells."""
        features = sorted({each.features for each in (self.totals_by_place, *self.regions.values())})
        columns = [roles(place, each) for each in features]
        made: dict[tuple[int, tuple[Role, ...]], ComputationMeans] = {}
        found = []
        for own, *by_features in zip(calls_of, *columns, strict=True):
            key = (own, tuple(by_features))
            if key not in made:
                made[key] = self.means(calls[own], place, dict(zip(features, by_features, strict=True)))
            found.append(made[key])
        return found

    def means(
        self, calls: Calls, place: Place, role_by: Mapping[tuple[str, ...], Role] | None = None
    ) -> ComputationMeans:
        """The mean computation of a rank that makes these calls, with these roles by features. Regions that
        only crowded runs have share what the others lack of all computation, which no rank exceeds by
        far."""
        regions, inverse = calls.regions(self.distinctions)
        counts = np.bincount(inverse)
        seconds = np.zeros(len(regions))
        weights = np.zeros(len(regions))

        def law_of(laws: LawsByPlace) -> RegionLaw:
            return laws.of((role_by or {}).get(laws.features, ()))

        is_assumed = False
        for k, region in enumerate(regions):
            if region in self.regions:
                law = law_of(self.regions[region])
                seconds[k] = law.at(place.ranks, place.dims)
                is_assumed |= law.runs == 1
            else:
                weights[k] = self.unseen.get(region, 0.0)
        total = law_of(self.totals_by_place).at(place.ranks, place.dims)
        known = float(seconds @ counts)
        if is_assumed and known > total * MAX_EXCESS * self.imbalance:
            # A loop has more iterations than in the only run that shows its computation.
            seconds *= total / known
        elif known < total and weights.any():
            seconds += weights * (total - known) / float(weights @ counts)
        unchanging = Variation()
        return ComputationMeans(seconds, inverse, [self.variations.get(each, unchanging) for each in regions])

    def rank_factor(self, random: np.random.Generator) -> float:
        return float(random.choice(self.rank_factors))


@dataclass(frozen=True)
class ComputationMeans:
    """Seconds by region, the region before each call and after the last one, and how computations of the
    regions vary."""

    seconds: np.ndarray
    region: np.ndarray
    variations: list[Variation]

    def steady(self) -> np.ndarray:
        """Seconds before each call and after the last one, with trends only."""
        return self._multiplied(Variation.expected)

    def vary(self, random: np.random.Generator) -> np.ndarray:
        """Seconds before each call and after the last one, with variations."""
        return self._multiplied(lambda variation, places: variation.sampled(places, random))

    def _multiplied(self, factors: Callable[[Variation, np.ndarray], np.ndarray]) -> np.ndarray:
        """The seconds with the factors of each region at its positions."""
        found, places = self.seconds[self.region], positions(len(self.region))
        for k, variation in enumerate(self.variations):
            if len(variation.trend) or len(variation.factors):
                chosen = np.flatnonzero(self.region == k)
                found[chosen] *= factors(variation, places[chosen])
        return found


def fit_computation(
    runs: Sequence[ObservedRun],
    dims: Mapping[int, Dims],
    scaling: Scaling,
    later: Later | None = None,
    features: tuple[str, ...] = (),
    slowdown: Slowdown = lambda run: 1.0,
) -> ComputationModel:
    """Ranks that differ by `features` make other calls. The model lacks the `slowdown` of the runs. Raises
    Inconclusive if no run shows computation."""
    later = later or {}
    measured = measured_runs(runs, later, slowdown)
    if not measured:
        raise Inconclusive(
            "the time of computation is not known",
            "in all runs ranks shared cores, so that computation took longer than it does alone, and their "
            "processor time was not counted",
            "trace the program on at most as many ranks as there are cores as well, or with "
            "HOCKNEY_PROFILE_COUNTER=cpu-time",
            code="only-crowded-runs",
        )
    laws = likely_laws(scaling, len(next(iter(dims.values()))))
    places = {each.ranks: Place(each.ranks, dims[each.ranks], each.run.nodes) for each in measured}
    totals = {each.ranks: each.totals for each in measured}
    fitter = LawFitter(places, dims, laws)
    total_errors = {each.ranks: each.total_error_s for each in measured}
    total = fitter.fit(totals, total_errors, features=features)
    distinctions = find_distinctions(measured)
    times = {each.ranks: each.regions(distinctions) for each in measured}
    regions: dict[Region, LawsByPlace] = {}
    variations: dict[Region, Variation] = {}
    for region in sorted({region for by_region in times.values() for region in by_region}):
        own = {ranks: by_region[region] for ranks, by_region in times.items() if region in by_region}
        share = max(float(np.max(each.seconds / _positive(totals[ranks]))) for ranks, each in own.items())
        errors = {ranks: each.error_s for ranks, each in own.items()}
        means = {ranks: each.means for ranks, each in own.items()}
        weights = {ranks: each.count for ranks, each in own.items()}
        regions[region] = fitter.fit(
            means, errors, weights, total.law.basis, is_small=share < MIN_REGION_SHARE
        )
        if all(each.count.max() <= 1 for each in own.values()):
            regions[region] = regions[region].map(lambda law: law.with_doubt_up_to(HOST_S))
        # Cold caches add to the variation of iterations.
        several = [ranks for ranks, each in own.items() if _is_repeated(each)]
        alone = [ranks for ranks in several if not own[ranks].cold_s]
        variations[region] = find_variation(own, max(alone or several, default=None))
    unseen: dict[Region, float] = {}
    for run in sorted(runs, key=lambda run: run.ranks):
        if run.ranks not in times:
            medians = {
                region: float(np.median(np.concatenate(each.values)))
                for region, each in MeasuredRun.of(run, later, elapsed(run)).regions(distinctions).items()
            }
            # Programs begin late on cores that ranks share.
            excess = [
                seconds - regions[region].law.at(run.ranks, dims[run.ranks])
                for region, seconds in medians.items()
                if region in regions and region[0] == END
            ]
            for region, seconds in medians.items():
                if region not in regions:
                    late_s = min(excess, default=0.0) if region[0] == END else 0.0
                    unseen[region] = max(seconds - max(late_s, 0.0), 0.0)
    largest = measured[-1]
    busiest = fitter.spread(totals[largest.ranks], largest.ranks, total.features)
    return ComputationModel(
        scaling,
        total,
        regions,
        rank_factors(*fitter.halves(largest.ranks, times[largest.ranks], regions), MIN_SHARE),
        busiest,
        variations,
        tuple(sorted(totals)),
        unseen,
        tuple(each.ranks for each in measured if each.is_counted),
        difference_of_launches(runs),
        max(each.run.busy_cores for each in measured),
        {ranks: float(each.mean()) for ranks, each in totals.items()},
        distinctions,
    )


def _is_repeated(times: RegionTimes) -> bool:
    return times.mean > 0 and min(len(values) for values in times.values) >= MIN_ITERATIONS


def _positive(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 1e-300)


def difference_of_launches(runs: Sequence[ObservedRun]) -> float:
    """The relative error of one launch, at 95%, from the runs with the most launches."""
    several = [run.launches_s for run in runs if len(run.launches_s) >= MIN_LAUNCHES and not run.crowded]
    if not several:
        return MIN_ERROR
    return max(2 * float(np.std(np.log(each), ddof=1)) for each in several)
