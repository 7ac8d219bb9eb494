# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches that a case missed, inferred from similar cases.

A size added during a run misses the first launches, and a case may lose launches to a failure. If the machine
changed in between, the remaining launches show neither the case's typical time over the run nor its
variation. Each missed launch is therefore inferred from the nearest smaller and the nearest larger size of
the same workload in that launch. The time of each is multiplied by the ratio of both cases in the launches
that measured both (the centre of the log ratios). The mean of the two results is used, and half their
difference is its uncertainty. If there is no smaller or no larger size, the case's own centre is used
instead, as if nothing had changed. An inferred launch takes its visits from the nearer size, shifted to the
inferred time.

A case that is precise enough is not measured in later launches, which only measure cases with a larger
scatter. If nothing changed, launches inferred from those would only widen the interval. Launches after a
case's last one therefore count as missed only if the similar cases changed by clearly more than their scatter
explains, and by enough to move the centre out of the interval. Without another size, the case of any workload
with the nearest time counts as similar. Launches with a high load from other programs are not inferred.

If no similar case was measured in a launch before the last one, the change is unknown. It matters if the
median change of all cases measured in the same launches would move the centre out of the interval."""

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
from hockney.models.statistics.observations import ImputedLaunches, Observation

MIN_SHARED = 0.5
"""Minimum share of a case's launches that also measured a similar case."""

MIN_CHANGE_FACTOR = 2.0
"""A change in later launches must exceed the half width of the 95% interval implied by scatter by this
factor."""

Round = int | str


@dataclass(frozen=True, eq=False)
class _MeasuredCase:
    """A case's observation and the index of its launch in each round. A round consists of all launches with
    the same planned number: after a failure, the remaining cases get a new launch."""

    observation: Observation
    index_by_round: dict[Round, int]

    @cached_property
    def curve_key(self) -> Subject:
        """Key shared by all sizes of the case."""
        return Subject.of(self.observation.case, (self.observation.workload.size,))

    @cached_property
    def size(self) -> float:
        return self.observation.size

    @cached_property
    def measured_center(self) -> float:
        """Centre (log) of the measured launches."""
        return self.observation.log_center

    @property
    def launch_key(self) -> tuple[int, str, str]:
        """Key shared by the cases of one launch."""
        return (
            self.observation.case.launched_ranks,
            self.observation.workload.group,
            self.observation.case.setting,
        )

    def log_times(self, rounds: Sequence[Round]) -> np.ndarray:
        return self.observation.log_typical[[self.index_by_round[round_number] for round_number in rounds]]

    def half_widths(self, rounds: Sequence[Round]) -> np.ndarray:
        below, above = self.observation.half_widths(
            np.array([self.index_by_round[round_number] for round_number in rounds])
        )
        return np.asarray((below + above) / 2)

    def launch(self, number: Round) -> str:
        return self.observation.launches[self.index_by_round[number]]

    def common_rounds(self, *others: _MeasuredCase) -> list[Round]:
        return [
            round_number
            for round_number in self.index_by_round
            if all(round_number in other.index_by_round for other in others)
        ]


def with_missed_launches(
    observations: Sequence[Observation], run: RunRecords, loaded: Collection[str]
) -> list[Observation]:
    """Observations of `run`; cases that missed launches contain them as inferred ones. `loaded` contains the
    launches with a high load."""
    round_of_launch: dict[str, Round] = {launch.launch: launch.index for launch in run.launches}
    rounds = {record.launch: round_of_launch.get(record.launch, record.launch) for record in run.records}
    position_of_round = {number: position for position, number in enumerate(dict.fromkeys(rounds.values()))}
    cases = [
        _MeasuredCase(observation, {rounds[name]: index for index, name in enumerate(observation.launches)})
        for observation in observations
    ]
    groups: dict[tuple[int, str, str], list[_MeasuredCase]] = {}
    for case in cases:
        groups.setdefault(case.launch_key, []).append(case)
    quiet = {
        key: {
            round_number
            for case in group
            for round_number, index in case.index_by_round.items()
            if case.observation.launches[index] not in loaded
        }
        for key, group in groups.items()
    }
    results = []
    for case in cases:
        missed = sorted(
            quiet[case.launch_key] - case.index_by_round.keys(),
            key=lambda round_number: position_of_round[round_number],
        )
        last = max(position_of_round[round_number] for round_number in case.index_by_round)
        before = [round_number for round_number in missed if position_of_round[round_number] < last]
        after = missed[len(before) :]
        results.append(
            _infer_missed_launches(case, before, after, groups[case.launch_key], loaded)
            if missed
            else case.observation
        )
    return results


SimilarCases = tuple[_MeasuredCase, ...]
"""One or two similar cases, the nearer first; empty if no similar case was measured."""


def _infer_missed_launches(
    case: _MeasuredCase,
    before: Sequence[Round],
    after: Sequence[Round],
    group: Sequence[_MeasuredCase],
    loaded: Collection[str],
) -> Observation:
    """Observation of a case that missed rounds `before` and `after` its last launch which other cases of its
    `group` measured."""
    min_common = MIN_SHARED * len(case.index_by_round)
    comparable = [
        other
        for other in group
        if len(case.index_by_round.keys() & other.index_by_round.keys()) >= min_common
    ]
    same_curve = [
        other for other in comparable if case.observation.workload.size and other.curve_key == case.curve_key
    ]

    def of_near_size(number: Round) -> SimilarCases:
        return _nearest_sizes(case, _cases_measured_in(number, same_curve, loaded))

    def of_near_size_or_time(number: Round) -> SimilarCases:
        nearest = _nearest_sizes(case, _cases_measured_in(number, same_curve, loaded))
        return nearest or _nearest_in_time(case, _cases_measured_in(number, comparable, loaded))

    rounds_by_similar, unknown_rounds = _group_by_similar(before, of_near_size)
    later_by_similar, _ = _group_by_similar(after, of_near_size_or_time)
    if later_by_similar and _exceeds_interval(
        _change_of_similar(case, later_by_similar), case.observation, sum(map(len, later_by_similar.values()))
    ):
        for similar, rounds in later_by_similar.items():
            rounds_by_similar.setdefault(similar, []).extend(rounds)
    launches = [
        launch
        for similar, rounds in rounds_by_similar.items()
        for launch in _infer_launches(case, rounds, similar)
    ]
    observation = _add_launches(case.observation, launches) if launches else case.observation
    return replace(
        observation,
        unknown_change=bool(unknown_rounds)
        and _other_cases_changed(observation, case, unknown_rounds, group),
    )


def _group_by_similar(
    rounds: Sequence[Round], similar_in: Callable[[Round], SimilarCases]
) -> tuple[dict[SimilarCases, list[Round]], list[Round]]:
    """Group the rounds by the cases that are similar in them; also return the rounds without a similar
    case."""
    groups: dict[SimilarCases, list[Round]] = {}
    for number in rounds:
        groups.setdefault(similar_in(number), []).append(number)
    rounds_without_similar = groups.pop((), [])
    return groups, rounds_without_similar


def _cases_measured_in(
    number: Round, cases: Sequence[_MeasuredCase], loaded: Collection[str]
) -> list[_MeasuredCase]:
    return [other for other in cases if number in other.index_by_round and other.launch(number) not in loaded]


def _nearest_sizes(case: _MeasuredCase, measured: Sequence[_MeasuredCase]) -> SimilarCases:
    """The nearest smaller and the nearest larger size among the `measured` cases."""
    size = case.size
    smaller = [other for other in measured if other.size < size]
    larger = [other for other in measured if other.size > size]
    neighbors = [max(smaller, key=lambda o: o.size)] if smaller else []
    neighbors += [min(larger, key=lambda o: o.size)] if larger else []
    size_ratios = {other: max(other.size, size) / max(1.0, min(other.size, size)) for other in neighbors}
    return tuple(sorted(neighbors, key=lambda other: size_ratios[other]))


def _nearest_in_time(case: _MeasuredCase, measured: Sequence[_MeasuredCase]) -> SimilarCases:
    """The case with the nearest typical time."""
    return tuple(sorted(measured, key=lambda o: abs(o.measured_center - case.measured_center))[:1])


@dataclass(frozen=True)
class _InferredLaunch:
    """An inferred launch: the launch of the `nearer` similar case at `index`, with the log times that the two
    similar cases imply. `ratio_half_width` is the half width of the log ratio to them."""

    nearer: Observation
    index: int
    log_times: tuple[float, float]
    ratio_half_width: float

    @property
    def name(self) -> str:
        return self.nearer.launches[self.index]

    def visits(self, log_time: float) -> np.ndarray:
        return np.asarray(self.nearer.visits[self.index] + (log_time - self.nearer.log_typical[self.index]))


def _infer_launches(
    case: _MeasuredCase, rounds: Sequence[Round], similar: SimilarCases
) -> list[_InferredLaunch]:
    """Infer the launches of a case in these rounds, all of which measured the `similar` cases."""
    first_log_times, *more_log_times = (_inferred_log_times(case, rounds, other) for other in similar)
    second_log_times = more_log_times[0] if more_log_times else np.full(len(rounds), case.measured_center)
    nearer, ratio_half_width = similar[0], _ratio_half_width(case, similar)
    return [
        _InferredLaunch(
            nearer.observation,
            nearer.index_by_round[number],
            (float(first_log), float(second_log)),
            ratio_half_width,
        )
        for number, first_log, second_log in zip(rounds, first_log_times, second_log_times, strict=True)
    ]


def _inferred_log_times(case: _MeasuredCase, rounds: Sequence[Round], similar: _MeasuredCase) -> np.ndarray:
    """Log times of a case in rounds that it missed, from its ratio to a similar case that was measured in
    them."""
    common_rounds = case.common_rounds(similar)
    log_ratio = center(case.log_times(common_rounds) - similar.log_times(common_rounds))
    return np.asarray(similar.log_times(rounds) + log_ratio)


def _common_rounds(case: _MeasuredCase, similar: SimilarCases) -> tuple[list[Round], list[_MeasuredCase]]:
    """Rounds that measured a case and all of the `similar` cases, or at least the nearer one; and the similar
    cases measured in all these rounds."""
    common_rounds = case.common_rounds(*similar) or case.common_rounds(similar[0])
    return common_rounds, [
        other
        for other in similar
        if all(round_number in other.index_by_round for round_number in common_rounds)
    ]


def _ratio_half_width(case: _MeasuredCase, similar: SimilarCases) -> float:
    """Half width of the 95% interval of the centre of the log ratios of a case to the mean of the `similar`
    cases, in the rounds that measured all of them."""
    common_rounds, similar_cases = _common_rounds(case, similar)
    ratios = case.log_times(common_rounds) - _mean_log_times(similar_cases, common_rounds)
    mean_variance = (
        np.sum([other.half_widths(common_rounds) ** 2 for other in similar_cases], axis=0)
        / len(similar_cases) ** 2
    )
    within = np.sqrt(case.half_widths(common_rounds) ** 2 + mean_variance)
    return float(half_width(ratios, half_width_of_mean(within)))


def _mean_log_times(cases: Sequence[_MeasuredCase], rounds: Sequence[Round]) -> np.ndarray:
    return np.asarray(np.mean([case.log_times(rounds) for case in cases], axis=0))


def _add_launches(observation: Observation, inferred: Sequence[_InferredLaunch]) -> Observation:
    """Return the observation with these inferred launches."""
    center = observation.log_center
    mean = [sum(launch.log_times) / 2 for launch in inferred]
    farthest = [max(launch.log_times, key=lambda time: abs(time - center)) for launch in inferred]
    return replace(
        observation,
        imputed=ImputedLaunches(
            observation=_with_launches(observation, inferred, mean),
            widest=_with_launches(observation, inferred, farthest),
            half_width_by_launch={
                launch.name: abs(launch.log_times[0] - launch.log_times[1]) / 2 for launch in inferred
            },
            ratio_half_width=max(launch.ratio_half_width for launch in inferred),
        ),
    )


def _with_launches(
    observation: Observation, inferred: Sequence[_InferredLaunch], log_times: Sequence[float]
) -> Observation:
    """Return the observation with the inferred launches at these log times after the measured ones."""
    return replace(
        observation,
        launches=(*observation.launches, *(launch.name for launch in inferred)),
        log_typical=np.append(observation.log_typical, log_times),
        lower_widths=np.append(
            observation.lower_widths, [launch.nearer.lower_widths[launch.index] for launch in inferred]
        ),
        upper_widths=np.append(
            observation.upper_widths, [launch.nearer.upper_widths[launch.index] for launch in inferred]
        ),
        quantile=np.append(
            observation.quantile, [launch.nearer.quantile[launch.index] for launch in inferred]
        ),
        visits=(
            *observation.visits,
            *(launch.visits(log_time) for launch, log_time in zip(inferred, log_times, strict=True)),
        ),
        visits_at_s=(
            *observation.visits_at_s,
            *(launch.nearer.visits_at_s[launch.index] for launch in inferred),
        ),
    )


def _change_of_similar(case: _MeasuredCase, missed: Mapping[SimilarCases, Sequence[Round]]) -> float:
    """Log change of the similar cases between the rounds that `case` measured and those that it missed; 0 if
    scatter may explain it (`MIN_CHANGE_FACTOR`)."""
    change = chance_change = 0.0
    count = sum(map(len, missed.values()))
    for similar, rounds in missed.items():
        common_rounds, similar_cases = _common_rounds(case, similar)
        earlier_times, share = _mean_log_times(similar_cases, common_rounds), len(rounds) / count
        change += share * float(center(_mean_log_times(similar_cases, rounds)) - center(earlier_times))
        if len(common_rounds) > 1:
            variance, freedom = variance_of_center(earlier_times)
            chance_change += (
                share * student(freedom) * float(np.sqrt(variance * (1 + len(common_rounds) / len(rounds))))
            )
    return abs(change) if abs(change) > MIN_CHANGE_FACTOR * chance_change else 0.0


def _other_cases_changed(
    observation: Observation, case: _MeasuredCase, missed: Sequence[Round], group: Sequence[_MeasuredCase]
) -> bool:
    """Whether other cases changed so much in the rounds that `case` missed that its centre would leave the
    interval of `observation`."""
    changes = []
    for other in group:
        common_rounds, other_rounds = (
            case.common_rounds(other),
            [round_number for round_number in missed if round_number in other.index_by_round],
        )
        if other is not case and common_rounds and other_rounds:
            changes.append(
                abs(float(center(other.log_times(other_rounds)) - center(other.log_times(common_rounds))))
            )
    return bool(changes) and _exceeds_interval(median(changes), observation, len(missed))


def _exceeds_interval(change: float, observation: Observation, missed: int) -> bool:
    """Whether this change in `missed` launches would move the observation's centre out of its interval."""
    _, low, high = observation.interval()
    share = missed / (len(observation.with_imputed_launches.launches) + missed)
    return bool(share * change > np.log(high / low) / 2)
