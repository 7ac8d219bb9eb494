# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the computation in a region over numbers of ranks.

Means follow a law with one coefficient; four runs may show a constant part as well. If ranks at certain
places compute another time there, such as the first one, these have a law of their own."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from hockney.extrapolation.grids import Dims
from hockney.extrapolation.laws import CONSTANT, Basis
from hockney.extrapolation.placements import COMBINATIONS, Place, Role, roles
from hockney.extrapolation.regions import MIN_DIFFERENCE, Region, RegionTimes
from hockney.models.scipy_functions import nonnegative_least_squares

Scaling = Literal["strong", "weak"]
"""Whether the problem stays the same on more ranks, or each rank's part of it."""
MIN_ERROR = 0.02
"""Relative error of a computation time that no number of runs makes smaller: programs differ by that between
launches, unless several launches show how much."""
ASSUMED_ERROR = 0.1
"""Relative error of a law that only one run supports."""
SHORTEST_S = 1e-8
"""Seconds between two calls that compute nothing."""
MIN_ROLES_RATIO = 4
"""Places of ranks, or a constant part, have to make the variance or the error smaller by this factor."""
MIN_FREE = 4
"""Fewer ranks that are like others with their role show no features."""
MIN_RUNS_FOR_CONSTANT = 4
MIN_TREND = 3
"""Two runs deviate from any law in one direction."""


def likely_laws(scaling: Scaling, dimensions: int) -> tuple[Basis, ...]:
    """The most likely one first."""
    if scaling == "weak":
        return (CONSTANT, Basis("* P", 1))
    surfaces = [Basis(f"/ P^({size - 1}/{size})", (1 - size) / size) for size in (2, 3) if dimensions >= size]
    workers = Basis("/ (P - 1)", -1, shift=-1)
    # Rows of a grid compute in as many steps as it has columns.
    steps = [Basis(f"/ P^({size + 1}/{size})", -(size + 1) / size) for size in (2, 3)]
    return (Basis("/ P", -1), CONSTANT, workers, *surfaces, Basis("/ P^2", -2), *steps)


@dataclass(frozen=True)
class RegionLaw:
    """Mean seconds of a region: `factor` x basis + `offset`. `error` is the largest relative error of a run
    that the others predict. `runs` runs, on up to `largest` ranks, deviate by the number of ranks to the
    power `trend`. It is `doubt_s` longer by the largest run, whose ranks shared cores, or may be without any
    other run."""

    basis: Basis
    factor: float
    error: float
    trend: float = 0.0
    largest: int = 1
    offset: float = 0.0
    runs: int = 1
    doubt_s: float = 0.0

    def at(self, ranks: int, dims: Dims) -> float:
        return max(0.0, self.factor * self.basis.at(ranks, dims) + self.offset)

    def error_at(self, ranks: int) -> float:
        """The relative error on more ranks, on which deviations are assumed to continue."""
        return self.error + self.trend * math.log(max(ranks / self.largest, 1.0))

    def with_doubt_up_to(self, seconds: float) -> RegionLaw:
        """With at least as much doubt as the region takes in the largest run, but not more than this."""
        own_s = self.at(self.largest, (self.largest,))
        return replace(self, doubt_s=max(abs(self.doubt_s), min(own_s, seconds)))

    def with_doubt(self, sign: int) -> RegionLaw:
        return replace(self, offset=self.offset + sign * self.doubt_s)

    @property
    def text(self) -> str:
        return f"{self.basis.text} + constant" if self.offset else self.basis.text


@dataclass(frozen=True)
class LawsByPlace:
    """The law of all ranks, and those of ranks at certain places, which their roles by `features` tell
    apart. `shares` are those of the values of each role in the largest run that shows it."""

    law: RegionLaw
    features: tuple[str, ...] = ()
    by_role: Mapping[Role, RegionLaw] = field(default_factory=dict)
    shares: Mapping[Role, float] = field(default_factory=dict)

    def of(self, role: Role) -> RegionLaw:
        return self.by_role.get(role, self.law)

    def map(self, change: Callable[[RegionLaw], RegionLaw]) -> LawsByPlace:
        by_role = {role: change(law) for role, law in self.by_role.items()}
        return replace(self, law=change(self.law), by_role=by_role)

    def error_at(self, ranks: int) -> float:
        """The relative error of the sum over all ranks. The numbers of ranks with each role change, so that
        their mean may follow no law."""
        if not self.by_role:
            return self.law.error_at(ranks)
        of_roles = sum(self.shares[role] * law.error_at(ranks) for role, law in self.by_role.items())
        return min(self.law.error_at(ranks), of_roles / sum(self.shares.values()))


def fit_totals(
    totals: Mapping[int, tuple[float, float]], dims: Mapping[int, Dims], scaling: Scaling, *, any_law: bool
) -> RegionLaw:
    """The law of these seconds, with their errors (s), by number of ranks: the usual one, or `any_law`."""
    laws = likely_laws(scaling, len(next(iter(dims.values()))))
    seconds, errors = ({ranks: each[k] for ranks, each in totals.items()} for k in (0, 1))
    return _fit(seconds, errors, dims, laws if any_law else laws[:1])


@dataclass(frozen=True)
class LawFitter:
    """Fits the laws of a region: of all ranks, and of those at certain places."""

    places: Mapping[int, Place]
    dims: Mapping[int, Dims]
    laws: Sequence[Basis]

    def fit(
        self,
        values: Mapping[int, np.ndarray],
        errors: Mapping[int, float],
        weights: Mapping[int, np.ndarray] | None = None,
        assumed: Basis | None = None,
        *,
        is_small: bool = False,
        features: tuple[str, ...] = (),
    ) -> LawsByPlace:
        """`values` are those of each rank (NaN: none) by number of ranks, with `weights`. Their means may be
        too long or too short by `errors` (s). Small regions follow the law `assumed` of all computation.
        Ranks differ by `features`, by default by those that explain their differences."""
        weights = weights or {ranks: np.ones(len(each)) for ranks, each in values.items()}
        laws = (assumed,) if is_small and assumed is not None else self.laws
        everyone = _fit(_means(values, weights, {}), errors, self.dims, laws, assumed)
        features = features or (() if is_small else self._features(values))
        if not features:
            return LawsByPlace(everyone)
        role_of = {ranks: roles(self.places[ranks], features) for ranks in values}
        by_role, shares = {}, {}
        for role in sorted({role for each in role_of.values() for role in each}):
            chosen = {
                ranks: np.array([own == role for own in each]) & ~np.isnan(values[ranks])
                for ranks, each in role_of.items()
            }
            means = _means(values, weights, chosen)
            if means:
                by_role[role] = _fit(means, errors, self.dims, laws, assumed)
                largest = max(means)
                shares[role] = float(np.nansum(values[largest][chosen[largest]])) + 1e-300
        return LawsByPlace(everyone, features, by_role, shares)

    def _features(self, values: Mapping[int, np.ndarray]) -> tuple[str, ...]:
        """The simplest features that explain how ranks differ; none if no features do."""
        variances: dict[tuple[str, ...], float] = {}
        for features in (*COMBINATIONS, ("last",), ("half",)):
            squares, free = 0.0, 0
            for ranks, each in values.items():
                known = np.flatnonzero(~np.isnan(each))
                mean = float(each[known].mean()) if len(known) else 0.0
                if mean <= 0:
                    continue
                by_role: dict[Role, list[float]] = defaultdict(list)
                own = roles(self.places[ranks], features)
                for rank in known.tolist():
                    by_role[own[rank]].append(float(each[rank]) / mean)
                squares += sum(len(group) * float(np.var(group)) for group in by_role.values())
                free += len(known) - len(by_role)
            observed = sum(int(np.count_nonzero(~np.isnan(each))) for each in values.values())
            if free >= max(MIN_FREE, observed // 3):
                variances[features] = squares / free
        best: tuple[str, ...] = ()
        variance = variances.get(best, 0.0)
        if variance <= MIN_DIFFERENCE**2:
            return ()
        for features, own_variance in variances.items():
            if own_variance < variance / MIN_ROLES_RATIO:
                best, variance = features, own_variance
        return best

    def halves(
        self, ranks: int, sums: Mapping[Region, RegionTimes], regions: Mapping[Region, LawsByPlace]
    ) -> tuple[np.ndarray, np.ndarray]:
        """The computation of each rank in one and the other half of its calls (shape 2 x ranks), and how much
        it would be if all its regions took the mean of those with its role: other calls, or another place,
        are no variation."""
        found, expected = np.zeros((2, ranks)), np.zeros((2, ranks))
        first = np.zeros(ranks, dtype=np.int64)
        for region, each in sums.items():
            own = roles(self.places[ranks], regions[region].features)
            means = {}
            for role in set(own):
                chosen = np.array([other == role for other in own])
                means[role] = float(each.seconds[chosen].sum()) / max(float(each.count[chosen].sum()), 1.0)
            for rank, values in zip(np.flatnonzero(each.count).tolist(), each.values, strict=True):
                for half in (0, 1):
                    part = values[(half + first[rank]) % 2 :: 2]
                    found[half, rank] += part.sum()
                    expected[half, rank] += means[own[rank]] * len(part)
                first[rank] += len(values)
        return found, expected

    def spread(self, totals: np.ndarray, ranks: int, features: tuple[str, ...]) -> float:
        """The largest value relative to the mean of those with the same role."""
        own = roles(self.places[ranks], features)
        largest = 1.0
        for role in set(own):
            group = totals[[other == role for other in own]]
            if group.mean() > 0:
                largest = max(largest, float(group.max() / group.mean()))
        return largest


def _means(
    values: Mapping[int, np.ndarray], weights: Mapping[int, np.ndarray], chosen: Mapping[int, np.ndarray]
) -> dict[int, float]:
    """The weighted means by run; of the chosen ranks."""
    found = {}
    for ranks, each in values.items():
        use = chosen.get(ranks, ~np.isnan(each))
        if use.any() and weights[ranks][use].sum() > 0:
            found[ranks] = float(np.average(each[use], weights=weights[ranks][use]))
    return found


def _fit(
    values: Mapping[int, float],
    errors: Mapping[int, float],
    dims: Mapping[int, Dims],
    laws: Sequence[Basis],
    assumed: Basis | None = None,
) -> RegionLaw:
    """The law by which the others predict each run best; the first one if no other is clearly better, or only
    one run has the region. `errors` are those of the values (s), up to which nothing deviates."""
    counts = sorted(values)
    observed = np.maximum([values[ranks] for ranks in counts], SHORTEST_S)
    errors_s = np.array([errors[ranks] for ranks in counts])
    own = np.minimum(errors_s / observed, 1.0)
    if len(counts) == 1:
        basis = assumed or laws[0]
        factor = float(observed[0]) / basis.at(counts[0], dims[counts[0]])
        return RegionLaw(basis, factor, ASSUMED_ERROR, 0.0, counts[0], doubt_s=float(errors_s[0]))
    weight = 1 / (MIN_ERROR**2 + own**2)
    best: RegionLaw | None = None
    for basis in laws:
        if basis.at(counts[0], dims[counts[0]]) <= 0:
            continue  # There are no workers on one rank.
        bases = np.array([basis.at(ranks, dims[ranks]) for ranks in counts])
        ratio = np.log(observed / bases)
        factor = float(np.average(ratio, weights=weight))
        others = [
            float(np.average(np.delete(ratio, k), weights=np.delete(weight, k))) for k in range(len(counts))
        ]
        predicted = bases * np.exp(others)
        possible = np.clip(predicted, np.maximum(observed - errors_s, SHORTEST_S), observed + errors_s)
        deviation = np.abs(np.log(predicted / possible))
        trend = 0.0
        if len(counts) >= MIN_TREND:
            place = np.log(counts) - np.average(np.log(counts), weights=weight)
            trend = abs(float((weight * place * (ratio - factor)).sum() / (weight * place**2).sum()))
        error = float(deviation.max())
        if best is None or (error < best.error / 2 and best.error > MIN_ERROR):
            best = RegionLaw(basis, math.exp(factor), error, trend, counts[-1], runs=len(counts))
    assert best is not None
    both = _fit_with_constant(observed, own, counts, dims, laws)
    if both is not None and best.error > MIN_ERROR and both.error < best.error / MIN_ROLES_RATIO:
        best = both
    doubt = errors_s[-1]
    if not errors_s.all():
        # By the other runs, cold caches explain the difference.
        excess = observed[-1] - best.at(counts[-1], dims[counts[-1]])
        unexplained = max(abs(excess) - MIN_ERROR * observed[-1], 0.0)
        doubt = math.copysign(min(unexplained, doubt), excess)
    inaccuracy = MIN_ERROR / math.sqrt(len(counts))
    return replace(best, error=math.hypot(best.error, inaccuracy), doubt_s=float(doubt))


def _fit_with_constant(
    observed: np.ndarray,
    own: np.ndarray,
    counts: Sequence[int],
    dims: Mapping[int, Dims],
    laws: Sequence[Basis],
) -> RegionLaw | None:
    """The first law with a constant part, which each rank computes as well; None for fewer than four
    runs."""
    if len(counts) < MIN_RUNS_FOR_CONSTANT or CONSTANT not in laws or len(laws) == 1:
        return None
    basis = next(each for each in laws if each is not CONSTANT)
    columns = np.stack([[basis.at(ranks, dims[ranks]) for ranks in counts], np.ones(len(counts))], axis=1)
    columns /= observed[:, None]

    def coefficients(chosen: np.ndarray) -> np.ndarray:
        return nonnegative_least_squares(columns[chosen], np.ones(len(chosen)))[0]

    every = np.arange(len(counts))
    others = [float(columns[k] @ coefficients(np.delete(every, k))) for k in every.tolist()]
    error = float(np.maximum(np.abs(np.array(others) - 1) - own, 0.0).max())
    factor, offset = coefficients(every).tolist()
    return RegionLaw(basis, factor, error, 0.0, counts[-1], offset, len(counts))
