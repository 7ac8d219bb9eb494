# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The launches that a case missed, inferred from similar cases.

A size that is added during a run misses its first launches, and a failure may cost a case some. If the
machine changed in between, the case's own launches show neither its typical time over the run nor how much
that varies. So each missed launch is inferred from the nearest smaller and the nearest larger size of the
same workload that it measured: from each, its time multiplied by the ratio of both cases in the launches that
measured both (the centre of their logarithms). The mean of both is used, half their difference is the
uncertainty of that launch; without a smaller or a larger size, the case's own centre takes its place, as if
nothing had changed. The visits of an inferred launch are those of the size that is nearer, with this centre.

Only launches before the last one of a case count as missed: later ones improve the precision of other cases.
Launches with a high load from other programs are not inferred.

If nothing similar was measured, the change is unknown; it matters if, in the median of all cases measured in
the same launches, it would shift the centre beyond the interval."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

import numpy as np

from hockney.core.fit import Subject
from hockney.core.record import RunRecords
from hockney.models.statistics.location import center, half_width, of_mean
from hockney.models.statistics.observations import Inferred, Observation

LEAST_SHARED = 0.5
"""Minimum share of a case's launches that a similar one must share."""

Round = int | str


@dataclass(frozen=True)
class _Measured:
    """One case: its observation, and the index of its launch in each round. A round is all launches with the
    same planned number: after a failure, the remaining cases get a new one."""

    seen: Observation
    places: dict[Round, int]

    @cached_property
    def curve(self) -> Subject:
        """What all sizes of the case have in common."""
        return Subject.of(self.seen.case, (self.seen.workload.size,))

    @property
    def planned_with(self) -> tuple[int, str, str]:
        """What the cases of one launch have in common."""
        return self.seen.case.ranks, self.seen.workload.group, self.seen.case.setting

    def log_times(self, rounds: Sequence[Round]) -> np.ndarray:
        return self.seen.log_typical[[self.places[r] for r in rounds]]

    def half_widths(self, rounds: Sequence[Round]) -> np.ndarray:
        below, above = self.seen.half_widths(np.array([self.places[r] for r in rounds]))
        return np.asarray((below + above) / 2)

    def launch(self, number: Round) -> str:
        return self.seen.launches[self.places[number]]

    def shared(self, *others: _Measured) -> list[Round]:
        return [r for r in self.places if all(r in other.places for other in others)]


def with_missed_launches(
    observations: Sequence[Observation], run: RunRecords, loaded: Collection[str]
) -> list[Observation]:
    """The observations of `run`; those of cases that missed launches contain them as inferred. `loaded` are
    the launches with a high load."""
    numbers: dict[str, Round] = {launch.launch: launch.index for launch in run.launches}
    rounds = {record.launch: numbers.get(record.launch, record.launch) for record in run.records}
    order = {number: place for place, number in enumerate(dict.fromkeys(rounds.values()))}
    every = [
        _Measured(seen, {rounds[name]: k for k, name in enumerate(seen.launches)}) for seen in observations
    ]
    groups: dict[tuple[int, str, str], list[_Measured]] = {}
    for one in every:
        groups.setdefault(one.planned_with, []).append(one)
    quiet = {
        key: {r for one in group for r, k in one.places.items() if one.seen.launches[k] not in loaded}
        for key, group in groups.items()
    }
    found = []
    for one in every:
        last = max(order[r] for r in one.places)
        missed = [r for r in quiet[one.planned_with] - one.places.keys() if order[r] < last]
        missed.sort(key=lambda r: order[r])
        found.append(_with(one, missed, groups[one.planned_with], loaded) if missed else one.seen)
    return found


def _with(
    one: _Measured, missed: Sequence[Round], group: Sequence[_Measured], loaded: Collection[str]
) -> Observation:
    """The observation of a case that missed these rounds, which other cases of its `group` measured."""
    alike = [other for other in group if one.seen.workload.size and other.curve == one.curve]
    launches = []
    unknown = []
    for number in missed:
        measured = [o for o in alike if number in o.places and o.launch(number) not in loaded]
        nearest = _nearest(one, measured)
        if nearest:
            launches.append(_infer(one, number, nearest))
        else:
            unknown.append(number)
    seen = _joined(one.seen, launches) if launches else one.seen
    return replace(seen, unknown_change=bool(unknown) and _changed(seen, one, unknown, group))


def _nearest(one: _Measured, measured: Iterable[_Measured]) -> list[_Measured]:
    """The nearest smaller and the nearest larger size among the `measured` ones that share enough launches;
    the nearer one first."""
    size = one.seen.size
    shared = [other for other in measured if len(one.shared(other)) >= LEAST_SHARED * len(one.places)]
    smaller = [other for other in shared if other.seen.size < size]
    larger = [other for other in shared if other.seen.size > size]
    both = [max(smaller, key=lambda o: o.seen.size)] if smaller else []
    both += [min(larger, key=lambda o: o.seen.size)] if larger else []
    return sorted(both, key=lambda other: max(other.seen.size, size) / max(1.0, min(other.seen.size, size)))


@dataclass(frozen=True)
class _Launch:
    """An inferred launch: that of the `nearer` similar case at index `place`, at the time that it and the
    other one suggest (two logarithms)."""

    nearer: Observation
    place: int
    log_times: tuple[float, float]
    paired: float

    @property
    def name(self) -> str:
        return self.nearer.launches[self.place]

    def visits(self, log_time: float) -> np.ndarray:
        return np.asarray(self.nearer.visits[self.place] + (log_time - self.nearer.log_typical[self.place]))


def _infer(one: _Measured, number: Round, similar: Sequence[_Measured]) -> _Launch:
    """`similar` are one or two cases that measured the round, the nearer first."""
    first, *others = (_in_round(number, one, other) for other in similar)
    second = others[0] if others else one.seen.log_center
    nearer = similar[0]
    return _Launch(nearer.seen, nearer.places[number], (first, second), _paired(one, similar))


def _in_round(number: Round, one: _Measured, similar: _Measured) -> float:
    """The log time of a case in a round that it missed, from its ratio to a similar one that did not."""
    shared = one.shared(similar)
    log_ratio = center(one.log_times(shared) - similar.log_times(shared))
    return float(similar.log_times([number])[0] + log_ratio)


def _paired(one: _Measured, similar: Sequence[_Measured]) -> float:
    """Half width of the 95% interval of the centre of the log ratios of a case to the mean of the `similar`
    ones, in the rounds that measured all of them."""
    shared = one.shared(*similar) or one.shared(similar[0])
    similar = [other for other in similar if all(r in other.places for r in shared)]
    ratios = one.log_times(shared) - np.mean([other.log_times(shared) for other in similar], axis=0)
    squares = np.sum([other.half_widths(shared) ** 2 for other in similar], axis=0) / len(similar) ** 2
    within = np.sqrt(one.half_widths(shared) ** 2 + squares)
    return float(half_width(ratios, of_mean(within)))


def _joined(seen: Observation, inferred: Sequence[_Launch]) -> Observation:
    """The observation with these launches as inferred ones."""
    center = seen.log_center
    mean = [sum(launch.log_times) / 2 for launch in inferred]
    farthest = [max(launch.log_times, key=lambda time: abs(time - center)) for launch in inferred]
    return replace(
        seen,
        inferred=Inferred(
            whole=_with_launches(seen, inferred, mean),
            widest=_with_launches(seen, inferred, farthest),
            apart={each.name: abs(each.log_times[0] - each.log_times[1]) / 2 for each in inferred},
            paired=max(launch.paired for launch in inferred),
        ),
    )


def _with_launches(seen: Observation, inferred: Sequence[_Launch], log_times: Sequence[float]) -> Observation:
    """The inferred launches, at these times, after the measured ones."""
    return replace(
        seen,
        launches=(*seen.launches, *(each.name for each in inferred)),
        log_typical=np.append(seen.log_typical, log_times),
        below=np.append(seen.below, [each.nearer.below[each.place] for each in inferred]),
        above=np.append(seen.above, [each.nearer.above[each.place] for each in inferred]),
        quantile=np.append(seen.quantile, [each.nearer.quantile[each.place] for each in inferred]),
        visits=(*seen.visits, *(each.visits(at) for each, at in zip(inferred, log_times, strict=True))),
        visits_at_s=(*seen.visits_at_s, *(each.nearer.visits_at_s[each.place] for each in inferred)),
    )


def _changed(seen: Observation, one: _Measured, missed: Sequence[Round], group: Sequence[_Measured]) -> bool:
    """Whether other cases differed so much in the rounds that `one` missed that its centre would be outside
    the interval of `seen`."""
    changes = []
    for other in group:
        shared, there = one.shared(other), [r for r in missed if r in other.places]
        if other is not one and shared and there:
            changes.append(abs(float(center(other.log_times(there)) - center(other.log_times(shared)))))
    _, low, high = seen.interval()
    share = len(missed) / (len(seen.whole.launches) + len(missed))
    return bool(changes) and bool(share * median(changes) > np.log(high / low) / 2)
