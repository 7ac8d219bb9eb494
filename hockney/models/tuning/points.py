# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Points of a run at which collective algorithms can be compared with MPI's default choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hockney.core.case import ALGORITHM, MPI, SETTING, Case
from hockney.core.catalog import Workload
from hockney.core.fit import Estimate
from hockney.models.statistics import MIN_PAIRS, InterleavedSettings, Observation, ratio
from hockney.models.tuning.rules import PLAIN, AlgorithmRatio, Point

CALL_OVERHEAD_S = 60e-9
"""Seconds that the library adds to a call that it replaces (benchmarks/preload_cost.py)."""
BARRIER = "barrier"
TABLE_OPERATIONS = (
    BARRIER, "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce",
    "reduce_scatter_block", "scan",
)  # fmt: skip
"""Operations that a table can contain; a barrier has no size, and counts as 0 B."""


ObservationsByName = Mapping[str, Sequence[Observation]]
"""One or more observations of equivalent settings, by name of the algorithm."""


def is_comparable(workload: Workload) -> bool:
    """Whether the workload measures an operation of `TABLE_OPERATIONS` without overlap or a late rank."""
    return workload.operation in TABLE_OPERATIONS and workload.role in ("collective", BARRIER)


def points_of_algorithms(observations: Sequence[Observation]) -> list[Point]:
    """Compare hockney's algorithms with MPI's default choice in ordinary launches, including the time that
    the library adds to a call, so that no rule gains less than that."""

    def ratios(named: ObservationsByName) -> dict[str, Estimate]:
        (default,) = named[MPI]
        added_share = CALL_OVERHEAD_S / math.exp(float(np.median(default.log_typical)))
        return {
            name: _add_overhead(_ratio_to_default(observation, default), added_share)
            for name, (observation,) in named.items()
            if name != MPI
        }

    ordinary_observations = [observation for observation in observations if not observation.case.setting]
    return _points(ordinary_observations, lambda case: str(case.get(ALGORITHM, "")), MPI, ratios)


def points_of_settings(observations: Sequence[Observation], settings: Sequence[str]) -> list[Point]:
    """Compare MPI's default choice in launches with these settings, which select algorithms, with launches
    without variables: ordinary ones and those with the setting `PLAIN`."""

    def ratios(named: ObservationsByName) -> dict[str, Estimate]:
        interleaved = InterleavedSettings.from_observations(named)
        return {name: interleaved.ratio(name, PLAIN) for name in named if name != PLAIN}

    default_observations = [
        observation for observation in observations if observation.case.get(ALGORITHM) == MPI
    ]
    selected = [
        observation
        for observation in default_observations
        if observation.case.setting in ("", PLAIN, *settings)
    ]
    return _points(selected, lambda case: case.setting or PLAIN, PLAIN, ratios)


def _points(
    observations: Sequence[Observation],
    name_of: Callable[[Case], str],
    default: str,
    ratios: Callable[[ObservationsByName], Mapping[str, Estimate]],
) -> list[Point]:
    """Create the points. `name_of` returns the algorithm of a case; `ratios` compares all algorithms with
    `default`."""
    groups: dict[tuple[str, int, int], dict[Case, dict[str, list[Observation]]]] = {}
    for observation in observations:
        operation, size = observation.workload.operation, int(observation.size)
        if (
            is_comparable(observation.workload)
            and ALGORITHM in observation.case
            and (size > 0 or operation == BARRIER)
        ):
            other_parameters = {
                name_of_parameter: value
                for name_of_parameter, value in observation.case.parameters
                if name_of_parameter not in (ALGORITHM, SETTING)
            }
            variant = Case.of(observation.case.workload, observation.case.ranks, **other_parameters)
            by_variant = groups.setdefault((operation, observation.case.ranks, size), {})
            by_variant.setdefault(variant, {}).setdefault(name_of(observation.case), []).append(observation)
    points = []
    for (operation, ranks, size), by_variant in groups.items():
        measured = [ratios(named) for named in by_variant.values() if default in named]
        names = dict.fromkeys(name for named in measured for name in named)
        candidates = tuple(
            AlgorithmRatio(name, _largest_ratio([named[name] for named in measured]))
            for name in names
            if all(name in named for named in measured)
        )
        if measured:
            points.append(Point(operation, ranks, size, candidates))
    return points


def _ratio_to_default(observation: Observation, default: Observation) -> Estimate:
    """Ratio to `default`, without an interval if too few launches measured both, which may all have been in
    one state of the machine. Simulated times, which are exact, keep their interval."""
    estimate = ratio(observation, default)
    has_interval = (
        len({*observation.launches} & {*default.launches}) >= MIN_PAIRS or estimate.low == estimate.high
    )
    return estimate if has_interval else Estimate(estimate.value, None, None)


def _add_overhead(ratio: Estimate, added_share: float) -> Estimate:
    low, high = (None if bound is None else bound + added_share for bound in (ratio.low, ratio.high))
    return Estimate(ratio.value + added_share, low, high)


def _largest_ratio(ratios: Sequence[Estimate]) -> Estimate:
    """The ratio with the highest upper bound; an unknown bound is the highest."""
    return max(ratios, key=lambda candidate: (candidate.high is None, candidate.high or 0.0, candidate.value))
