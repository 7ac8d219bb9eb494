# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The points of a run at which collective algorithms can be compared with MPI's own choice."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from hockney.core.case import ALGORITHM, MPI, SETTING, Case
from hockney.core.catalog import Workload
from hockney.core.fit import Estimate
from hockney.models.statistics import MIN_PAIRS, InterleavedSettings, Observation, ratio
from hockney.models.tuning.rules import PLAIN, AlgorithmRatio, Point

CALL_S = 60e-9
"""Seconds that the library adds to a call that it replaces (benchmarks/preload_cost.py)."""
BARRIER = "barrier"
TABLED = (
    BARRIER, "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce",
    "reduce_scatter_block", "scan",
)  # fmt: skip
"""The operations that a table can have; a barrier has no size, and counts as 0 B."""


Named = Mapping[str, Sequence[Observation]]
"""One or more observations of equivalent settings, by name of the algorithm."""


def comparable(workload: Workload) -> bool:
    """Whether it measures an operation of `TABLED` as such, not overlapped or with a late rank."""
    return workload.operation in TABLED and workload.role in ("collective", BARRIER)


def points_of_algorithms(observations: Sequence[Observation]) -> list[Point]:
    """hockney's algorithms compared with MPI's own choice, in ordinary launches; with the time that the
    library adds to a call, so that no rule gains less than that."""

    def ratios(named: Named) -> dict[str, Estimate]:
        (own,) = named[MPI]
        added = CALL_S / math.exp(float(np.median(own.log_typical)))
        return {
            name: _later(_compared(observation, own), added)
            for name, (observation,) in named.items()
            if name != MPI
        }

    ordinary = [observation for observation in observations if not observation.case.setting]
    return _points(ordinary, lambda case: str(case.get(ALGORITHM, "")), MPI, ratios)


def points_of_settings(observations: Sequence[Observation], settings: Sequence[str]) -> list[Point]:
    """MPI's own choice in launches with these settings, which stand for algorithms, compared with it in
    launches without variables: ordinary ones and those of the setting `PLAIN`."""

    def ratios(named: Named) -> dict[str, Estimate]:
        turns = InterleavedSettings.from_observations(named)
        return {name: turns.ratio(name, PLAIN) for name in named if name != PLAIN}

    own = [observation for observation in observations if observation.case.get(ALGORITHM) == MPI]
    used = [observation for observation in own if observation.case.setting in ("", PLAIN, *settings)]
    return _points(used, lambda case: case.setting or PLAIN, PLAIN, ratios)


def _points(
    observations: Sequence[Observation],
    name_of: Callable[[Case], str],
    default: str,
    ratios: Callable[[Named], Mapping[str, Estimate]],
) -> list[Point]:
    """`name_of` a case gives its algorithm, `default` is the one that all are compared with in `ratios`."""
    ways: dict[tuple[str, int, int], dict[Case, dict[str, list[Observation]]]] = {}
    for observation in observations:
        operation, size = observation.workload.operation, int(observation.size)
        if (
            comparable(observation.workload)
            and ALGORITHM in observation.case
            and (size > 0 or operation == BARRIER)
        ):
            rest = {k: v for k, v in observation.case.parameters if k not in (ALGORITHM, SETTING)}
            way = Case.of(observation.case.workload, observation.case.ranks, **rest)
            by_way = ways.setdefault((operation, observation.case.ranks, size), {})
            by_way.setdefault(way, {}).setdefault(name_of(observation.case), []).append(observation)
    points = []
    for (operation, ranks, size), by_way in ways.items():
        measured = [ratios(named) for named in by_way.values() if default in named]
        names = dict.fromkeys(name for named in measured for name in named)
        candidates = tuple(
            AlgorithmRatio(name, _largest([named[name] for named in measured]))
            for name in names
            if all(name in named for named in measured)
        )
        if measured:
            points.append(Point(operation, ranks, size, candidates))
    return points


def _compared(observation: Observation, own: Observation) -> Estimate:
    """The ratio to `own`, without an interval if too few launches measured both, which may all have been in
    one state of the machine. Simulated times, which are exact, keep theirs."""
    found = ratio(observation, own)
    enough = len({*observation.launches} & {*own.launches}) >= MIN_PAIRS or found.low == found.high
    return found if enough else Estimate(found.value, None, None)


def _later(ratio: Estimate, added: float) -> Estimate:
    low, high = (None if end is None else end + added for end in (ratio.low, ratio.high))
    return Estimate(ratio.value + added, low, high)


def _largest(ratios: Sequence[Estimate]) -> Estimate:
    """The one with the highest upper end; an unknown end is the highest."""
    return max(ratios, key=lambda each: (each.high is None, each.high or 0.0, each.value))
