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

A case that is precise enough is not measured in later launches, which improve the precision of others. These
scatter more: if nothing changed, launches inferred from them would only make the interval wider. The launches
after the last one of a case therefore count as missed only if the similar cases changed there by clearly more
than their scatter explains, and so much that the centre would be outside the interval. Without another size,
the case of any workload with the nearest time is the similar one. Launches with a high load from other
programs are not inferred.

If nothing similar was measured in a launch before the last one, the change is unknown; it matters if, in the
median of all cases measured in the same launches, it would shift the centre beyond the interval."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

import numpy as np

from hockney.core.fit import Subject
from hockney.core.record import RunRecords
from hockney.models.statistics.location import (
    center,
    half_width,
    half_width_of_mean,
    student,
    variance_of_center,
)
from hockney.models.statistics.observations import Inferred, Observation

LEAST_SHARED = 0.5
"""Minimum share of a case's launches that a similar one must share."""

CLEAR = 2.0
"""A change in later launches is more than this many half widths of the 95% interval that scatter implies."""

Round = int | str


@dataclass(frozen=True, eq=False)
class _MeasuredCase:
    """One case: its observation, and the index of its launch in each round. A round is all launches with the
    same planned number: after a failure, the remaining cases get a new one."""

    observation: Observation
    places: dict[Round, int]

    @cached_property
    def curve(self) -> Subject:
        """What all sizes of the case have in common."""
        return Subject.of(self.observation.case, (self.observation.workload.size,))

    @cached_property
    def size(self) -> float:
        return self.observation.size

    @cached_property
    def measured_center(self) -> float:
        """The centre (log) of its measured launches."""
        return self.observation.log_center

    @property
    def planned_with(self) -> tuple[int, str, str]:
        """What the cases of one launch have in common."""
        return (
            self.observation.case.launched_ranks,
            self.observation.workload.group,
            self.observation.case.setting,
        )

    def log_times(self, rounds: Sequence[Round]) -> np.ndarray:
        return self.observation.log_typical[[self.places[r] for r in rounds]]

    def half_widths(self, rounds: Sequence[Round]) -> np.ndarray:
        below, above = self.observation.half_widths(np.array([self.places[r] for r in rounds]))
        return np.asarray((below + above) / 2)

    def launch(self, number: Round) -> str:
        return self.observation.launches[self.places[number]]

    def common_rounds(self, *others: _MeasuredCase) -> list[Round]:
        return [r for r in self.places if all(r in other.places for other in others)]


def with_missed_launches(
    observations: Sequence[Observation], run: RunRecords, loaded: Collection[str]
) -> list[Observation]:
    """The observations of `run`; those of cases that missed launches contain them as inferred. `loaded` are
    the launches with a high load."""
    numbers: dict[str, Round] = {launch.launch: launch.index for launch in run.launches}
    rounds = {record.launch: numbers.get(record.launch, record.launch) for record in run.records}
    order = {number: place for place, number in enumerate(dict.fromkeys(rounds.values()))}
    cases = [
        _MeasuredCase(observation, {rounds[name]: k for k, name in enumerate(observation.launches)})
        for observation in observations
    ]
    groups: dict[tuple[int, str, str], list[_MeasuredCase]] = {}
    for case in cases:
        groups.setdefault(case.planned_with, []).append(case)
    quiet = {
        key: {
            r for case in group for r, k in case.places.items() if case.observation.launches[k] not in loaded
        }
        for key, group in groups.items()
    }
    observed = []
    for case in cases:
        missed = sorted(quiet[case.planned_with] - case.places.keys(), key=lambda r: order[r])
        last = max(order[r] for r in case.places)
        before = [r for r in missed if order[r] < last]
        after = missed[len(before) :]
        observed.append(
            _infer_missed(case, before, after, groups[case.planned_with], loaded)
            if missed
            else case.observation
        )
    return observed


Similar = tuple[_MeasuredCase, ...]
"""One or two similar cases, the nearer first; none if nothing similar was measured."""


def _infer_missed(
    case: _MeasuredCase,
    before: Sequence[Round],
    after: Sequence[Round],
    group: Sequence[_MeasuredCase],
    loaded: Collection[str],
) -> Observation:
    """The observation of a case that missed rounds `before` and `after` its last launch, which other cases of
    its `group` measured."""
    least = LEAST_SHARED * len(case.places)
    comparable = [other for other in group if len(case.places.keys() & other.places.keys()) >= least]
    alike = [other for other in comparable if case.observation.workload.size and other.curve == case.curve]

    def of_near_size(number: Round) -> Similar:
        return _nearest_sizes(case, _cases_measured_in(number, alike, loaded))

    def of_near_size_or_time(number: Round) -> Similar:
        nearest = _nearest_sizes(case, _cases_measured_in(number, alike, loaded))
        return nearest or _nearest_in_time(case, _cases_measured_in(number, comparable, loaded))

    missed, unknown = _by_similar(before, of_near_size)
    later, _ = _by_similar(after, of_near_size_or_time)
    if later and _exceeds_interval(_change(case, later), case.observation, sum(map(len, later.values()))):
        for similar, rounds in later.items():
            missed.setdefault(similar, []).extend(rounds)
    launches = [
        launch for similar, rounds in missed.items() for launch in _infer_launches(case, rounds, similar)
    ]
    observation = _add_launches(case.observation, launches) if launches else case.observation
    return replace(
        observation, unknown_change=bool(unknown) and _other_cases_changed(observation, case, unknown, group)
    )


def _by_similar(
    rounds: Sequence[Round], similar_in: Callable[[Round], Similar]
) -> tuple[dict[Similar, list[Round]], list[Round]]:
    """The rounds by the cases that are similar in them, and the rounds in which none is."""
    groups: dict[Similar, list[Round]] = {}
    for number in rounds:
        groups.setdefault(similar_in(number), []).append(number)
    without = groups.pop((), [])
    return groups, without


def _cases_measured_in(
    number: Round, cases: Sequence[_MeasuredCase], loaded: Collection[str]
) -> list[_MeasuredCase]:
    return [other for other in cases if number in other.places and other.launch(number) not in loaded]


def _nearest_sizes(case: _MeasuredCase, measured: Sequence[_MeasuredCase]) -> Similar:
    """The nearest smaller and the nearest larger size among the `measured` ones."""
    size = case.size
    smaller = [other for other in measured if other.size < size]
    larger = [other for other in measured if other.size > size]
    both = [max(smaller, key=lambda o: o.size)] if smaller else []
    both += [min(larger, key=lambda o: o.size)] if larger else []
    ratios = {other: max(other.size, size) / max(1.0, min(other.size, size)) for other in both}
    return tuple(sorted(both, key=lambda other: ratios[other]))


def _nearest_in_time(case: _MeasuredCase, measured: Sequence[_MeasuredCase]) -> Similar:
    """The case with the nearest typical time."""
    return tuple(sorted(measured, key=lambda o: abs(o.measured_center - case.measured_center))[:1])


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


def _infer_launches(case: _MeasuredCase, rounds: Sequence[Round], similar: Similar) -> list[_Launch]:
    """The launches of a case in these rounds, all of which the `similar` ones measured."""
    first, *others = (_log_times(case, rounds, other) for other in similar)
    second = others[0] if others else np.full(len(rounds), case.measured_center)
    nearer, paired = similar[0], _ratio_half_width(case, similar)
    return [
        _Launch(nearer.observation, nearer.places[number], (float(a), float(b)), paired)
        for number, a, b in zip(rounds, first, second, strict=True)
    ]


def _log_times(case: _MeasuredCase, rounds: Sequence[Round], similar: _MeasuredCase) -> np.ndarray:
    """The log times of a case in rounds that it missed, from its ratio to a similar case that did not miss
    them."""
    common_rounds = case.common_rounds(similar)
    log_ratio = center(case.log_times(common_rounds) - similar.log_times(common_rounds))
    return np.asarray(similar.log_times(rounds) + log_ratio)


def _rounds_in_common(case: _MeasuredCase, similar: Similar) -> tuple[list[Round], list[_MeasuredCase]]:
    """The rounds that measured a case and all of the `similar` ones, or only the nearer; and these similar
    ones."""
    common_rounds = case.common_rounds(*similar) or case.common_rounds(similar[0])
    return common_rounds, [other for other in similar if all(r in other.places for r in common_rounds)]


def _ratio_half_width(case: _MeasuredCase, similar: Similar) -> float:
    """Half width of the 95% interval of the centre of the log ratios of a case to the mean of the `similar`
    ones, in the rounds that measured all of them."""
    common_rounds, others = _rounds_in_common(case, similar)
    ratios = case.log_times(common_rounds) - _mean_log_times(others, common_rounds)
    squares = np.sum([other.half_widths(common_rounds) ** 2 for other in others], axis=0) / len(others) ** 2
    within = np.sqrt(case.half_widths(common_rounds) ** 2 + squares)
    return float(half_width(ratios, half_width_of_mean(within)))


def _mean_log_times(cases: Sequence[_MeasuredCase], rounds: Sequence[Round]) -> np.ndarray:
    return np.asarray(np.mean([case.log_times(rounds) for case in cases], axis=0))


def _add_launches(observation: Observation, inferred: Sequence[_Launch]) -> Observation:
    """The observation with these launches as inferred ones."""
    center = observation.log_center
    mean = [sum(launch.log_times) / 2 for launch in inferred]
    farthest = [max(launch.log_times, key=lambda time: abs(time - center)) for launch in inferred]
    return replace(
        observation,
        inferred=Inferred(
            observation=_with_launches(observation, inferred, mean),
            widest=_with_launches(observation, inferred, farthest),
            apart={each.name: abs(each.log_times[0] - each.log_times[1]) / 2 for each in inferred},
            paired=max(launch.paired for launch in inferred),
        ),
    )


def _with_launches(
    observation: Observation, inferred: Sequence[_Launch], log_times: Sequence[float]
) -> Observation:
    """The inferred launches, at these times, after the measured ones."""
    return replace(
        observation,
        launches=(*observation.launches, *(each.name for each in inferred)),
        log_typical=np.append(observation.log_typical, log_times),
        below=np.append(observation.below, [each.nearer.below[each.place] for each in inferred]),
        above=np.append(observation.above, [each.nearer.above[each.place] for each in inferred]),
        quantile=np.append(observation.quantile, [each.nearer.quantile[each.place] for each in inferred]),
        visits=(
            *observation.visits,
            *(each.visits(at) for each, at in zip(inferred, log_times, strict=True)),
        ),
        visits_at_s=(*observation.visits_at_s, *(each.nearer.visits_at_s[each.place] for each in inferred)),
    )


def _change(case: _MeasuredCase, missed: Mapping[Similar, Sequence[Round]]) -> float:
    """How much (log) the similar cases differ in the rounds that `case` missed from those that it measured; 0
    if the scatter in the latter may explain it (`CLEAR`)."""
    change = by_chance = 0.0
    count = sum(map(len, missed.values()))
    for similar, rounds in missed.items():
        common_rounds, others = _rounds_in_common(case, similar)
        earlier_times, share = _mean_log_times(others, common_rounds), len(rounds) / count
        change += share * float(center(_mean_log_times(others, rounds)) - center(earlier_times))
        if len(common_rounds) > 1:
            variance, freedom = variance_of_center(earlier_times)
            by_chance += (
                share * student(freedom) * float(np.sqrt(variance * (1 + len(common_rounds) / len(rounds))))
            )
    return abs(change) if abs(change) > CLEAR * by_chance else 0.0


def _other_cases_changed(
    observation: Observation, case: _MeasuredCase, missed: Sequence[Round], group: Sequence[_MeasuredCase]
) -> bool:
    """Whether other cases differed so much in the rounds that `case` missed that its centre would be outside
    the interval of `observation`."""
    changes = []
    for other in group:
        common_rounds, other_rounds = case.common_rounds(other), [r for r in missed if r in other.places]
        if other is not case and common_rounds and other_rounds:
            changes.append(
                abs(float(center(other.log_times(other_rounds)) - center(other.log_times(common_rounds))))
            )
    return bool(changes) and _exceeds_interval(median(changes), observation, len(missed))


def _exceeds_interval(change: float, observation: Observation, missed: int) -> bool:
    """Whether this change in `missed` launches would shift the observation's centre beyond its interval."""
    _, low, high = observation.interval()
    share = missed / (len(observation.all_launches.launches) + missed)
    return bool(share * change > np.log(high / low) / 2)
