# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Regions of computation, and how long each rank of a traced run computes in them.

A region is what precedes a call of one kind after a call of another. The first iteration of a loop whose
number of iterations varies has a region of its own, and so has each turn if such computations repeat in
turns, as in an exchange with several neighbors at one call site, and the roots of collectives if they compute
another time than other ranks, as in an elimination.

The time between calls is computation if ranks had a core each; of runs whose ranks shared cores, the
processor time between calls is used, or the instructions, which take as long as in the other runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.extrapolation.observations import ObservedRun

END = -1
"""In place of a kind of call: the begin or the end of the program."""
LATER = -1
"""In place of the number of a turn: not in the first iteration of a loop whose number of iterations
varies."""
AT_ROOT = 1 << 20
"""Added to a kind of call of which the rank is the root."""
COLD_S = 5e-6
"""Seconds by which the processor time between two calls of ranks that share cores may be too long, because
other ranks used the caches. Measured between 2 and 5 us on an EPYC processor: docs/replay.md."""
MIN_BUSY = 0.01
"""With a smaller share of processor time between calls, ranks sleep there, and wait for devices: their
computation does not follow from processor time."""
MAX_FACTORS = 4096
RARE = 0.01
"""Share of the iterations that vary more than the others."""
MAX_TURNS, MAX_PLACES = 64, 1024
"""Maximum lengths of a repeating cycle of computations, and of a sequence that every rank of every run
executes exactly once."""
MIN_ROUNDS = 8
"""Fewer may repeat by chance."""
MIN_EXPLAINED = 0.5
"""Turns, or a trend, explain at least this share of the variance of the computations of a region."""
MIN_DIFFERENCE = 0.02
"""Smaller relative differences have no reason."""
SIGNIFICANT = 4.0
"""Standard errors by which the computations of roots differ from others."""
BINS = 16
"""Parts of a program in which the mean computation of a region may differ."""
MIN_PER_BIN = 4

Region = tuple[int, int, int]
"""The kinds of the call before and after, and which of the computations between them this is: a turn, or
LATER."""


@dataclass(frozen=True)
class Distinctions:
    """Where computations between the same two kinds of calls differ. `turns` has the number of turns by pair
    of kinds. `by_root` has the pairs between which roots compute for another time than other ranks (None: all
    pairs)."""

    turns: Mapping[tuple[int, int], int] = field(default_factory=dict)
    by_root: frozenset[tuple[int, int]] | None = frozenset()


@dataclass(frozen=True)
class Calls:
    """The kinds of the calls of a rank, whether the rank is the root of each, and whether each is in a later
    iteration than the first one of the innermost loop whose number of iterations depends on the number of
    ranks or on the rank (empty: none is)."""

    kinds: np.ndarray
    is_root: np.ndarray
    is_later: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def regions(self, distinctions: Distinctions) -> tuple[list[Region], np.ndarray]:
        """The distinct regions, and the one before each call and after the last one."""
        kinds = np.concatenate([[END], self.kinds, [END]]).astype(np.int64)
        before, after = kinds[:-1].copy(), kinds[1:].copy()
        at_root = AT_ROOT * np.concatenate([[False], self.is_root, [False]]).astype(np.int64)
        if distinctions.by_root is None:
            before, after = before + at_root[:-1], after + at_root[1:]
        else:
            for pair in distinctions.by_root:
                chosen = (kinds[:-1] == pair[0]) & (kinds[1:] == pair[1])
                before[chosen] += at_root[:-1][chosen]
                after[chosen] += at_root[1:][chosen]
        number = np.zeros(len(before), dtype=np.int64)
        if len(self.is_later):
            number[:-1][self.is_later] = LATER
        for pair, count in distinctions.turns.items():
            chosen = np.flatnonzero((before == pair[0]) & (after == pair[1]) & (number != LATER))
            number[chosen] = np.arange(len(chosen)) % count
        rows = np.stack([before, after, number], axis=1)
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        return [(row[0], row[1], row[2]) for row in distinct.tolist()], inverse.reshape(-1)


def positions(count: int) -> np.ndarray:
    """The relative positions of computations in a rank's program, from 0 to 1."""
    return (np.arange(count) + 0.5) / count


@dataclass
class RegionTimes:
    """Of a region in one run: the number of times and the seconds by rank (0: never), and the single values
    of each rank that has it, with their positions in its program. `cold_s` seconds of all of them were
    taken for the effect of cold caches."""

    count: np.ndarray
    seconds: np.ndarray
    values: list[np.ndarray] = field(default_factory=list)
    positions: list[np.ndarray] = field(default_factory=list)
    cold_s: float = 0.0

    @property
    def mean(self) -> float:
        return float(self.seconds.sum() / max(self.count.sum(), 1))

    @property
    def error_s(self) -> float:
        """Seconds by which the mean may be too long or too short."""
        return self.cold_s / max(float(self.count.sum()), 1.0)

    @property
    def means(self) -> np.ndarray:
        """Those of each rank; NaN for ranks without the region."""
        return np.where(self.count > 0, self.seconds / np.maximum(self.count, 1), np.nan)


Slowdown = Callable[[ObservedRun], float]
"""How much longer the computation of a run took because several cores shared the memory of a node."""
Later = Mapping[tuple[int, int], np.ndarray]
"""`is_later` of the calls of each rank, by number of ranks and rank."""


@dataclass(frozen=True)
class MeasuredRun:
    """The computation in a run: seconds before each call of each rank, and after the last one. `cold` seconds
    (empty: none) were subtracted from these for the effect of cold caches, which may be none, or twice as
    large."""

    run: ObservedRun
    calls: tuple[Calls, ...]
    seconds: tuple[np.ndarray, ...]
    cold: tuple[np.ndarray, ...] = ()
    is_counted: bool = False
    """Whether the seconds are processor time, or follow from instructions."""

    @classmethod
    def of(
        cls, run: ObservedRun, later: Later, seconds: Sequence[np.ndarray], *, is_counted: bool = False
    ) -> MeasuredRun:
        empty = np.zeros(0, dtype=bool)
        calls = (
            Calls(each.kinds, each.is_root, later.get((run.ranks, each.rank), empty))
            for each in run.sequences
        )
        return cls(run, tuple(calls), tuple(seconds), is_counted=is_counted)

    def without_cold_caches(self) -> MeasuredRun:
        cold = tuple(np.minimum(each, COLD_S / 2) for each in self.seconds)
        seconds = tuple(each - own for each, own in zip(self.seconds, cold, strict=True))
        return replace(self, seconds=seconds, cold=cold)

    @property
    def ranks(self) -> int:
        return self.run.ranks

    @property
    def totals(self) -> np.ndarray:
        """By rank."""
        return np.array([each.sum() for each in self.seconds])

    @property
    def total_error_s(self) -> float:
        """Seconds by which the computation of a rank may be too long or too short."""
        return float(np.mean([each.sum() for each in self.cold])) if self.cold else 0.0

    def regions(self, distinctions: Distinctions) -> dict[Region, RegionTimes]:
        found: dict[Region, RegionTimes] = {}
        for rank, (calls, own) in enumerate(zip(self.calls, self.seconds, strict=True)):
            distinct, inverse = calls.regions(distinctions)
            order = np.argsort(inverse, kind="stable")
            bounds = np.cumsum(np.bincount(inverse))[:-1]
            groups = (np.split(each[order], bounds) for each in (own, positions(len(own))))
            cold = np.bincount(inverse, self.cold[rank]) if self.cold else np.zeros(len(distinct))
            for region, values, places, cold_s in zip(distinct, *groups, cold.tolist(), strict=True):
                if region not in found:
                    found[region] = RegionTimes(np.zeros(self.ranks), np.zeros(self.ranks))
                each = found[region]
                each.count[rank], each.seconds[rank] = len(values), values.sum()
                each.values.append(values)
                each.positions.append(places)
                each.cold_s += cold_s
        return found


def measured_runs(
    runs: Sequence[ObservedRun], later: Later, slowdown: Slowdown = lambda run: 1.0
) -> list[MeasuredRun]:
    """The runs that show computation, in the order of their ranks, without this slowdown. Processor time is
    only recorded if ranks share cores, or on request because other programs do."""
    found = []
    for run in runs:
        is_counted = run.counter == "cpu time" and _is_busy(run)
        if is_counted:
            seconds = tuple(each.counts for each in run.sequences)
        elif not run.crowded:
            seconds = elapsed(run)
        else:
            continue
        own = [each / slowdown(run) for each in seconds]
        measured = MeasuredRun.of(run, later, own, is_counted=is_counted)
        found.append(measured.without_cold_caches() if run.crowded else measured)
    rates = _seconds_per_instruction(found)
    for run in runs:
        if run.crowded and run.counter == "instructions" and rates:
            counts = tuple(each.counts for each in run.sequences)
            counted = MeasuredRun.of(run, later, counts, is_counted=True)
            found.append(replace(counted, seconds=tuple(_timed(counted, rates))))
    return sorted(found, key=lambda each: each.ranks)


def computed_totals(runs: Sequence[ObservedRun]) -> dict[int, tuple[float, float]]:
    """The mean computation of a rank and its error (s), by the number of ranks of each run that shows
    computation."""
    return {each.ranks: (float(each.totals.mean()), each.total_error_s) for each in measured_runs(runs, {})}


def elapsed(run: ObservedRun) -> tuple[np.ndarray, ...]:
    """Seconds between the calls of each rank."""
    return tuple(np.append(each.computed_s, each.tail_s) for each in run.sequences)


def _is_busy(run: ObservedRun) -> bool:
    between = sum(float(each.computed_s.sum()) + each.tail_s for each in run.sequences)
    return sum(float(each.counts.sum()) for each in run.sequences) > MIN_BUSY * between


_ALL: Region = (END - 1, END - 1, 0)
"""In place of a region: all of them."""


def _seconds_per_instruction(alone: Sequence[MeasuredRun]) -> dict[Region, float]:
    """By region, and of all, from runs that counted instructions as well."""
    seconds: dict[Region, float] = defaultdict(float)
    counts: dict[Region, float] = defaultdict(float)
    for each in alone:
        if each.run.counter != "instructions":
            continue
        counted = replace(each, seconds=tuple(sequence.counts for sequence in each.run.sequences))
        for into, measured in ((seconds, each), (counts, counted)):
            for region, times in measured.regions(Distinctions()).items():
                into[region] += float(times.seconds.sum())
                into[_ALL] += float(times.seconds.sum())
    return {region: seconds[region] / count for region, count in counts.items() if count > 0}


def _timed(counted: MeasuredRun, rates: Mapping[Region, float]) -> Iterator[np.ndarray]:
    """The seconds in which each rank executes its instructions."""
    for calls, counts in zip(counted.calls, counted.seconds, strict=True):
        regions, inverse = calls.regions(Distinctions())
        yield counts * np.array([rates.get(region, rates[_ALL]) for region in regions])[inverse]


# Which computations differ


def find_distinctions(measured: Sequence[MeasuredRun]) -> Distinctions:
    by_root = Distinctions(by_root=_find_roots(measured))
    return replace(by_root, turns=_find_turns(measured, by_root))


def _find_roots(measured: Sequence[MeasuredRun]) -> frozenset[tuple[int, int]]:
    """The pairs of kinds of calls between which roots compute for another time than others in some run."""
    found = set()
    for each in measured:
        groups: dict[tuple[int, int], list[RegionTimes]] = defaultdict(list)
        for (before, after, _), times in each.regions(Distinctions(by_root=None)).items():
            groups[_without_root(before), _without_root(after)].append(times)
        for pair, own in groups.items():
            if len(own) < 2:
                continue
            values = [np.concatenate(group.values) for group in own]
            places = [np.concatenate(group.positions) for group in own]
            trend = _mean_by_bin(np.concatenate(places), np.concatenate(values))
            rest = [value - at_positions(trend, place) for value, place in zip(values, places, strict=True)]
            mean = float(np.concatenate(values).mean())
            several = [group for group in rest if len(group) > 1]
            means = np.array([group.mean() for group in several])
            errors = np.array([group.std(ddof=1) / np.sqrt(len(group)) for group in several])
            if len(several) > 1:
                low, high = int(means.argmin()), int(means.argmax())
                enough = max(MIN_DIFFERENCE * mean, COLD_S if each.cold else 0.0)
                enough = max(enough, SIGNIFICANT * float(np.hypot(errors[low], errors[high])))
                if means[high] - means[low] > enough:
                    found.add(pair)
    return frozenset(found)


def _without_root(kind: int) -> int:
    return kind - AT_ROOT if kind >= AT_ROOT else kind


def _find_turns(measured: Sequence[MeasuredRun], distinctions: Distinctions) -> dict[tuple[int, int], int]:
    """The numbers of turns in which the computations between two kinds of calls repeat, in all runs."""
    found: dict[tuple[int, int], int] = {}
    values: dict[tuple[int, int], list[np.ndarray]] = defaultdict(list)
    for each in measured:
        for (before, after, number), times in each.regions(distinctions).items():
            if number != LATER:
                # Runs on more ranks compute less in each turn.
                values[before, after] += [own / max(times.mean, 1e-300) for own in times.values]
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


# How computations vary


def _mean_by_bin(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mean of the values in each bin of places; between bins with values, in a straight line."""
    bins = np.minimum((places * BINS).astype(int), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    known = np.flatnonzero(counts)
    means = np.bincount(bins, values, BINS)[known] / counts[known]
    return np.asarray(np.interp(np.arange(BINS), known, means))


def at_positions(trend: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The trend between the middles of its bins, and on straight lines beyond the first and last ones."""
    middles = (np.arange(BINS) + 0.5) / BINS
    left = np.clip((places * BINS - 0.5).astype(int), 0, BINS - 2)
    slope = (trend[left + 1] - trend[left]) * BINS
    return np.asarray(trend[left] + slope * (places - middles[left]))


@dataclass(frozen=True)
class Variation:
    """How single computations of a region differ from their mean: a trend over the program by bins, and
    factors of single computations, which are resampled (empty: no trend, no factors)."""

    trend: np.ndarray = field(default_factory=lambda: np.zeros(0))
    factors: np.ndarray = field(default_factory=lambda: np.zeros(0))

    def expected(self, places: np.ndarray) -> np.ndarray:
        """The trend at these positions."""
        return np.maximum(at_positions(self.trend, places), 0.0) if len(self.trend) else np.ones(len(places))

    def sampled(self, places: np.ndarray, random: np.random.Generator) -> np.ndarray:
        expected = self.expected(places)
        return expected * random.choice(self.factors, len(places)) if len(self.factors) else expected


def find_trend(runs: Mapping[int, RegionTimes]) -> np.ndarray:
    """The trend in the largest run with enough computations to show one (empty: none)."""
    for _, times in sorted(runs.items(), reverse=True):
        places = np.concatenate(times.positions)
        occupied = len(np.unique((places * BINS).astype(int)))
        if occupied < 2 or len(places) < MIN_PER_BIN * occupied or times.mean <= 0:
            continue
        values = np.concatenate(times.values) / times.mean
        trend = _mean_by_bin(places, values)
        rest = float((values - at_positions(trend, places)).var())
        if max(rest / (1 - MIN_EXPLAINED), MIN_DIFFERENCE**2) < float(values.var()):
            return trend
        break
    return np.zeros(0)


def find_variation(runs: Mapping[int, RegionTimes], chosen: int | None) -> Variation:
    """The trend of a region, and the factors of its computations in the chosen run (None: no factors). Cold
    caches explain small deviations. The host causes rare ones, for example by interrupts."""
    variation = Variation(find_trend(runs))
    if chosen is None:
        return variation
    times = runs[chosen]
    cold_s = COLD_S if times.cold_s else 0.0
    relative = []
    for values, places in zip(times.values, times.positions, strict=True):
        expected = variation.expected(places)
        expected *= float(values.sum()) / max(float(expected.sum()), 1e-300)
        known = expected > 0
        deviation = (values - expected)[known]
        deviation = np.sign(deviation) * np.maximum(np.abs(deviation) - cold_s, 0.0)
        if values.sum() > 0:
            relative.append(1 + deviation / expected[known])
    factors = np.concatenate([*relative, np.zeros(0)])[:MAX_FACTORS]
    if len(factors) * RARE >= 1:
        factors = np.clip(factors, *np.quantile(factors, (RARE, 1 - RARE)))
    return replace(variation, factors=factors / factors.mean()) if len(factors) else variation


def rank_factors(found: np.ndarray, expected: np.ndarray, least: float) -> np.ndarray:
    """The computation of ranks relative to the expected one, in two halves (shape 2 x ranks). What differs
    between the halves is no property of a rank: the factors vary by as much less. Ranks that compute less
    than this share of the busiest one show no variation of the others."""
    total = found.sum(axis=0)
    busy = (expected > 0).all(axis=0) & (total >= least * total.max())
    if np.count_nonzero(busy) < 2:
        return np.ones(1)
    factors = total[busy] / expected[:, busy].sum(axis=0)
    differences = np.diff(found[:, busy] / expected[:, busy], axis=0)
    chance = float((differences**2).mean()) / 4
    share = max(0.0, 1 - chance / max(float(factors.var()), 1e-300))
    return np.asarray(factors.mean() + np.sqrt(share) * (factors - factors.mean()))
