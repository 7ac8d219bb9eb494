# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Computation between calls over numbers of ranks: its mean by region, and how it varies between ranks and
iterations.

A region is what precedes a call of one kind after a call of another. The first iteration of a loop whose
number of iterations varies has a region of its own, and so has each turn if such computations repeat in
turns, as in an exchange with several neighbors at one call site. If ranks at certain places compute another
time there, such as the first one, these have a law of their own.

The time between calls is computation if ranks had a core each; of runs whose ranks shared cores, the
processor time between calls is used, or the instructions, which take as long as in the other runs. Means
follow a law with one coefficient; four runs may show a constant part as well. Variations are resampled, as
those of different ranks add up in every wait."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from hockney.core.errors import Inconclusive
from hockney.extrapolation.grids import Dims
from hockney.extrapolation.laws import CONSTANT, Basis
from hockney.extrapolation.observations import ObservedRun
from hockney.extrapolation.placements import COMBINATIONS, Place, Role, roles
from hockney.models.scipy_functions import nonnegative_least_squares

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
MAX_TURNS, MAX_PLACES = 64, 1024
"""Maximum lengths of a repeating cycle of computations, and of a sequence that every rank of every run
executes exactly once."""
MIN_EXPLAINED = 0.5
"""Turns explain at least this share of the variance of the computations of a region."""
MIN_DIFFERENCE = 0.02
"""Places explain a smaller relative deviation between ranks by chance."""
MIN_ROLES_RATIO = 4
"""Places of ranks, or a constant part, have to make the variance or the error smaller by this factor."""


def _laws(scaling: Scaling, dimensions: int) -> tuple[Basis, ...]:
    """The most likely one first."""
    if scaling == "weak":
        return (CONSTANT, Basis("* P", 1))
    surfaces = [Basis(f"/ P^({size - 1}/{size})", (1 - size) / size) for size in (2, 3) if dimensions >= size]
    workers = Basis("/ (P - 1)", -1, shift=-1)
    return (Basis("/ P", -1), CONSTANT, workers, *surfaces, Basis("/ P^2", -2))


@dataclass(frozen=True)
class RegionLaw:
    """Mean seconds of a region: `factor` x basis + `offset`. `error` is the largest relative error of a run
    that the others predict. `runs` runs, on up to `largest` ranks, deviate by the number of ranks to the
    power `trend`."""

    basis: Basis
    factor: float
    error: float
    trend: float = 0.0
    largest: int = 1
    offset: float = 0.0
    runs: int = 1

    def at(self, ranks: int, dims: Dims) -> float:
        return self.factor * self.basis.at(ranks, dims) + self.offset

    def error_at(self, ranks: int) -> float:
        """The relative error on more ranks, on which deviations are assumed to continue."""
        return self.error + self.trend * math.log(max(ranks / self.largest, 1.0))

    @property
    def text(self) -> str:
        return f"{self.basis.text} + constant" if self.offset else self.basis.text


Region = tuple[int, int, int]
"""The kinds of the call before and after, and which of the computations between them this is: a turn, or
LATER if it is not in the first iteration of a loop whose number of iterations varies."""
LATER = -1


@dataclass(frozen=True)
class Calls:
    """The kinds of the calls of a rank, and whether each is in a later iteration than the first one of the
    innermost loop whose number of iterations depends on the number of ranks or on the rank (empty: none
    is)."""

    kinds: np.ndarray
    is_later: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def regions(self, turns: Mapping[tuple[int, int], int]) -> tuple[list[Region], np.ndarray]:
        """The distinct regions, and the one before each call and after the last one. `turns` are the numbers
        of turns in which computations of regions repeat."""
        around = np.concatenate([[END], self.kinds, [END]]).astype(np.int64)
        number = np.zeros(len(self.kinds) + 1, dtype=np.int64)
        if len(self.is_later):
            number[:-1][self.is_later] = LATER
        for (before, after), count in turns.items():
            chosen = np.flatnonzero((around[:-1] == before) & (around[1:] == after) & (number != LATER))
            number[chosen] = np.arange(len(chosen)) % count
        rows = np.stack([around[:-1], around[1:], number], axis=1)
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        return [(row[0], row[1], row[2]) for row in distinct.tolist()], inverse.reshape(-1)


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

    def error_at(self, ranks: int) -> float:
        """The relative error of the sum over all ranks. The numbers of ranks with each role change, so that
        their mean may follow no law."""
        if not self.by_role:
            return self.law.error_at(ranks)
        of_roles = sum(self.shares[role] * law.error_at(ranks) for role, law in self.by_role.items())
        return min(self.law.error_at(ranks), of_roles / sum(self.shares.values()))


@dataclass(frozen=True)
class ComputationModel:
    """Laws by region, and of all computation of a rank; how ranks and the iterations of a region differ from
    the mean (as factors). `runs` are the numbers of ranks that were used, `counted` those of them that
    counted processor time or instructions. `unseen` has the seconds, relative to each other, of regions that
    only other runs have. `launches` is the relative difference of launches, `busy_cores` the largest number
    of cores of a host that ranks used."""

    scaling: Scaling
    totals_by_place: LawsByPlace
    regions: Mapping[Region, LawsByPlace]
    rank_factors: np.ndarray
    imbalance: float
    """The computation of the busiest rank, relative to the mean of those with its role."""
    factors: Mapping[Region, np.ndarray]
    runs: tuple[int, ...]
    unseen: Mapping[Region, float]
    counted: tuple[int, ...] = ()
    launches: float = MIN_ERROR
    busy_cores: int = 0
    totals: Mapping[int, float] = field(default_factory=dict)
    """The mean computation (s) of a rank of each run."""
    turns: Mapping[tuple[int, int], int] = field(default_factory=dict)

    @property
    def total(self) -> RegionLaw:
        return self.totals_by_place.law

    def error_at(self, ranks: int) -> float:
        """The relative error of the computation of a rank: of its law, and between launches."""
        return math.hypot(self.totals_by_place.error_at(ranks), self.launches)

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
        regions, inverse = calls.regions(self.turns)
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
        return ComputationMeans(seconds, inverse, [self.factors.get(each) for each in regions])

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


@dataclass
class _Sums:
    """Of a region in one run: the number of times and the seconds by rank (0: never), and the single
    values."""

    count: np.ndarray
    seconds: np.ndarray
    values: list[np.ndarray] = field(default_factory=list)

    @property
    def mean(self) -> float:
        return float(self.seconds.sum() / max(self.count.sum(), 1))

    @property
    def means(self) -> np.ndarray:
        """Those of each rank; NaN for ranks without the region."""
        return np.where(self.count > 0, self.seconds / np.maximum(self.count, 1), np.nan)


Later = Mapping[tuple[int, int], np.ndarray]
"""`is_later` of the calls of each rank, by number of ranks and rank."""


@dataclass(frozen=True)
class _Measured:
    """The computation in a run: seconds before each call of each rank, and after the last one. Each may be
    `cold_s` too long."""

    run: ObservedRun
    calls: tuple[Calls, ...]
    seconds: tuple[np.ndarray, ...]
    cold_s: float = 0.0

    @classmethod
    def of(
        cls, run: ObservedRun, later: Later, seconds: Sequence[np.ndarray], cold_s: float = 0.0
    ) -> _Measured:
        empty = np.zeros(0, dtype=bool)
        calls = (Calls(each.kinds, later.get((run.ranks, each.rank), empty)) for each in run.sequences)
        return cls(run, tuple(calls), tuple(seconds), cold_s)

    @property
    def ranks(self) -> int:
        return self.run.ranks

    @property
    def totals(self) -> np.ndarray:
        """By rank."""
        return np.array([each.sum() for each in self.seconds])

    def regions(self, turns: Mapping[tuple[int, int], int]) -> dict[Region, _Sums]:
        found: dict[Region, _Sums] = {}
        for rank, (calls, own) in enumerate(zip(self.calls, self.seconds, strict=True)):
            distinct, inverse = calls.regions(turns)
            order = np.argsort(inverse, kind="stable")
            groups = np.split(own[order], np.cumsum(np.bincount(inverse))[:-1])
            for region, values in zip(distinct, groups, strict=True):
                if region not in found:
                    found[region] = _Sums(np.zeros(self.ranks), np.zeros(self.ranks))
                found[region].count[rank] = len(values)
                found[region].seconds[rank] = values.sum()
                found[region].values.append(values)
        return found

    def total_error(self) -> float:
        """The relative error of a rank's computation, because of cold caches."""
        times = np.mean([len(each) for each in self.seconds])
        return float(min(1.0, self.cold_s * times / max(float(self.totals.mean()), 1e-300)))


Slowdown = Callable[[ObservedRun], float]
"""How much longer the computation of a run took because several cores shared the memory of a node."""


def _measured(
    runs: Sequence[ObservedRun], later: Later, slowdown: Slowdown = lambda run: 1.0
) -> list[_Measured]:
    """The runs that show computation, in the order of their ranks, without this slowdown. Processor time is
    only recorded if ranks share cores, or on request because other programs do."""
    found = []
    for run in runs:
        if run.counter == "cpu time" and _is_busy(run):
            seconds, cold_s = tuple(each.counts for each in run.sequences), COLD_S
        elif not run.crowded:
            seconds, cold_s = _elapsed(run), 0.0
        else:
            continue
        found.append(_Measured.of(run, later, [each / slowdown(run) for each in seconds], cold_s))
    rates = _seconds_per_instruction(found)
    for run in runs:
        if run.crowded and run.counter == "instructions" and rates:
            counted = _Measured.of(run, later, tuple(each.counts for each in run.sequences))
            found.append(replace(counted, seconds=tuple(_timed(counted, rates))))
    return sorted(found, key=lambda each: each.ranks)


def computed_totals(runs: Sequence[ObservedRun]) -> dict[int, tuple[float, float]]:
    """The mean computation of a rank (s) and its relative error, by the number of ranks of each run that
    shows computation."""
    return {each.ranks: (float(each.totals.mean()), each.total_error()) for each in _measured(runs, {})}


def fit_totals(
    totals: Mapping[int, tuple[float, float]], dims: Mapping[int, Dims], scaling: Scaling, *, any_law: bool
) -> RegionLaw:
    """The law of these seconds, with their errors, by number of ranks: the usual one, or `any_law`."""
    laws = _laws(scaling, len(next(iter(dims.values()))))
    seconds, errors = ({ranks: each[k] for ranks, each in totals.items()} for k in (0, 1))
    return _fit(seconds, errors, dims, laws if any_law else laws[:1])


def _elapsed(run: ObservedRun) -> tuple[np.ndarray, ...]:
    return tuple(np.append(each.computed_s, each.tail_s) for each in run.sequences)


def _is_busy(run: ObservedRun) -> bool:
    between = sum(float(each.computed_s.sum()) + each.tail_s for each in run.sequences)
    return sum(float(each.counts.sum()) for each in run.sequences) > MIN_BUSY * between


_ALL: Region = (END - 1, END - 1, 0)
"""In place of a region: all of them."""


def _seconds_per_instruction(alone: Sequence[_Measured]) -> dict[Region, float]:
    """By region, and of all, from runs that counted instructions as well."""
    seconds: dict[Region, float] = defaultdict(float)
    counts: dict[Region, float] = defaultdict(float)
    for each in alone:
        if each.run.counter != "instructions":
            continue
        counted = replace(each, seconds=tuple(sequence.counts for sequence in each.run.sequences))
        for into, regions in ((seconds, each.regions({})), (counts, counted.regions({}))):
            for region, sums in regions.items():
                into[region] += float(sums.seconds.sum())
                into[_ALL] += float(sums.seconds.sum())
    return {region: seconds[region] / count for region, count in counts.items() if count > 0}


def _timed(counted: _Measured, rates: Mapping[Region, float]) -> Iterator[np.ndarray]:
    """The seconds in which each rank executes its instructions."""
    for calls, counts in zip(counted.calls, counted.seconds, strict=True):
        regions, inverse = calls.regions({})
        yield counts * np.array([rates.get(region, rates[_ALL]) for region in regions])[inverse]


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
    measured = _measured(runs, later, slowdown)
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
    places = {each.ranks: Place(each.ranks, dims[each.ranks], each.run.nodes) for each in measured}
    totals = {each.ranks: each.totals for each in measured}
    fitter = _Fitter(places, dims, laws)
    total_errors = {each.ranks: each.total_error() for each in measured}
    total = fitter.fit(totals, total_errors, features=features)
    turns = _find_turns(measured)
    sums = {each.ranks: each.regions(turns) for each in measured}
    regions: dict[Region, LawsByPlace] = {}
    for region in sorted({region for by_region in sums.values() for region in by_region}):
        own = {ranks: by_region[region] for ranks, by_region in sums.items() if region in by_region}
        share = max(float(np.max(each.seconds / _positive(totals[ranks]))) for ranks, each in own.items())
        errors = {
            each.ranks: min(1.0, each.cold_s / max(own[each.ranks].mean, 1e-12))
            for each in measured
            if each.ranks in own
        }
        means = {ranks: each.means for ranks, each in own.items()}
        weights = {ranks: each.count for ranks, each in own.items()}
        regions[region] = fitter.fit(means, errors, weights, total.law.basis, is_small=share < MIN_SHARE)
    unseen: dict[Region, float] = {}
    for run in sorted(runs, key=lambda run: run.ranks):
        if run.ranks not in sums:
            medians = {
                region: float(np.median(np.concatenate(each.values)))
                for region, each in _Measured.of(run, later, _elapsed(run)).regions(turns).items()
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
    # Ranks that make other calls, or are at another place, compute another amount, which is no variation.
    expected = fitter.expected(largest.ranks, sums[largest.ranks], regions)
    of_largest = totals[largest.ranks]
    # Those that hardly compute show no variation of the others.
    busy = (expected > 0) & (of_largest >= MIN_SHARE * of_largest.max())
    busiest = fitter.spread(totals[largest.ranks], largest.ranks, total.features)
    # Cold caches would add to the variation of iterations.
    undisturbed = max((each for each in measured if not each.cold_s), key=_ranks_of, default=largest)
    return ComputationModel(
        scaling,
        total,
        regions,
        of_largest[busy] / expected[busy] if busy.any() else np.ones(1),
        busiest,
        _factors(sums[undisturbed.ranks]),
        tuple(sorted(totals)),
        unseen,
        tuple(each.ranks for each in measured if each.run.crowded or each.cold_s),
        _difference_of_launches(runs),
        max(each.run.busy_cores for each in measured),
        {ranks: float(each.mean()) for ranks, each in totals.items()},
        turns,
    )


def _ranks_of(measured: _Measured) -> int:
    return measured.ranks


def _positive(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 1e-300)


def _difference_of_launches(runs: Sequence[ObservedRun]) -> float:
    """The relative error of one launch, at 95%, from the runs with the most launches."""
    several = [run.launches_s for run in runs if len(run.launches_s) >= MIN_LAUNCHES and not run.crowded]
    if not several:
        return MIN_ERROR
    return max(2 * float(np.std(np.log(each), ddof=1)) for each in several)


def _find_turns(measured: Sequence[_Measured]) -> dict[tuple[int, int], int]:
    """The numbers of turns in which the computations between two kinds of calls repeat, in all runs."""
    found: dict[tuple[int, int], int] = {}
    values: dict[tuple[int, int], list[np.ndarray]] = defaultdict(list)
    for each in measured:
        for (before, after, number), sums in each.regions({}).items():
            if number != LATER:
                # Runs on more ranks compute less in each turn.
                values[before, after] += [own / max(sums.mean, 1e-300) for own in sums.values]
    for region, own in values.items():
        pooled = np.concatenate(own)
        variance = float(pooled.var())
        if variance <= (MIN_DIFFERENCE * float(pooled.mean())) ** 2:
            continue
        lengths = {len(each) for each in own}
        once = lengths if len(lengths) == 1 and max(lengths) <= MAX_PLACES else set()
        unexplained = {}
        for count in sorted({*range(2, MAX_TURNS + 1), *once} - {1}):
            # One round shows no repetition, but that ranks compute alike.
            several = [each for each in own if count in once or len(each) >= 2 * count]
            if not several:
                continue
            rounds = np.concatenate(
                [each[: len(each) // count * count].reshape(-1, count) for each in several]
            )
            if len(rounds) < MIN_ROUNDS:
                break
            unexplained[count] = float(rounds.var(axis=0, ddof=1).mean())
        least = min(unexplained.values(), default=variance)
        if least < (1 - MIN_EXPLAINED) * variance:
            # The shortest sequence that explains about as much as the best one.
            enough = max(2 * least, (MIN_DIFFERENCE * float(pooled.mean())) ** 2)
            found[region] = next(count for count, each in unexplained.items() if each <= enough)
    return found


MIN_ROUNDS = 8
"""Fewer may repeat by chance."""


@dataclass(frozen=True)
class _Fitter:
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
        """`values` are those of each rank (NaN: none) by number of ranks, and count by their `weights`. Small
        regions follow the law `assumed` of all computation. Ranks differ by `features`, by default by those
        that explain their differences."""
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

    def expected(
        self, ranks: int, sums: Mapping[Region, _Sums], regions: Mapping[Region, LawsByPlace]
    ) -> np.ndarray:
        """The computation of each rank if all its regions take the mean of those with its role."""
        found = np.zeros(ranks)
        for region, each in sums.items():
            own = roles(self.places[ranks], regions[region].features)
            for role in set(own):
                chosen = np.array([other == role for other in own])
                count = float(each.count[chosen].sum())
                if count:
                    found += np.where(chosen, each.count * float(each.seconds[chosen].sum()) / count, 0.0)
        return found

    def spread(self, totals: np.ndarray, ranks: int, features: tuple[str, ...]) -> float:
        """The largest value relative to the mean of those with the same role."""
        own = roles(self.places[ranks], features)
        largest = 1.0
        for role in set(own):
            group = totals[[other == role for other in own]]
            if group.mean() > 0:
                largest = max(largest, float(group.max() / group.mean()))
        return largest


MIN_FREE = 4
"""Fewer ranks that are like others with their role show no features."""


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
        if basis.at(counts[0], dims[counts[0]]) <= 0:
            continue  # There are no workers on one rank.
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
            best = RegionLaw(basis, math.exp(factor), error, trend, counts[-1], runs=len(counts))
    assert best is not None
    both = _fit_with_constant(observed, own, counts, dims, laws)
    if both is not None and best.error > MIN_ERROR and both.error < best.error / MIN_ROLES_RATIO:
        best = both
    inaccuracy = float(1 / np.sqrt(weight.sum()))
    return replace(best, error=math.hypot(best.error, inaccuracy))


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


MIN_RUNS_FOR_CONSTANT = 4


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
