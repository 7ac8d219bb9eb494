# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The points of a run at which collective algorithms can be compared with MPI's own choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.core.case import ALGORITHM, MPI, SETTING, Case
from hockney.core.fit import Estimate
from hockney.models.statistics import Observation, ratio, ratio_in_turns
from hockney.models.tuning.rules import AlgorithmRatio, Point

PLAIN = "plain"
"""The launch setting without variables, whose cases have the same company as those of other settings."""
TABLED = (
    "bcast", "gather", "scatter", "allgather", "alltoall", "reduce", "allreduce", "reduce_scatter_block",
    "scan",
)  # fmt: skip
"""The operations that a table can have."""


Ratio = Callable[[Observation, Observation], Estimate]


def points_of_algorithms(observations: Sequence[Observation]) -> list[Point]:
    """hockney's algorithms compared with MPI's own choice, in ordinary launches."""
    ordinary = [seen for seen in observations if not seen.case.setting]
    return _points(ordinary, lambda case: str(case.get(ALGORITHM, "")), MPI, ratio)


def points_of_settings(observations: Sequence[Observation], settings: Sequence[str]) -> list[Point]:
    """MPI's own choice in launches with these settings, which stand for algorithms, compared with it in
    launches without variables: those of the setting `PLAIN`, or ordinary ones."""
    own = [seen for seen in observations if seen.case.get(ALGORITHM) == MPI]
    default = PLAIN if any(seen.case.setting == PLAIN for seen in own) else ""
    used = [seen for seen in own if seen.case.setting in (default, *settings)]
    return _points(used, lambda case: case.setting or default, default, ratio_in_turns)


def _points(
    observations: Sequence[Observation], name_of: Callable[[Case], str], default: str, divided: Ratio
) -> list[Point]:
    """`name_of` a case gives its algorithm, `default` is the one that all are compared with, by `divided`."""
    ways: dict[tuple[str, int, int], dict[Case, dict[str, Observation]]] = {}
    for seen in observations:
        operation, size = seen.workload.operation, int(seen.size)
        if operation in TABLED and seen.workload.role == "collective" and ALGORITHM in seen.case and size > 0:
            rest = {k: v for k, v in seen.case.parameters if k not in (ALGORITHM, SETTING)}
            way = Case.of(seen.case.workload, seen.case.ranks, **rest)
            by_way = ways.setdefault((operation, seen.case.ranks, size), {})
            by_way.setdefault(way, {})[name_of(seen.case)] = seen
    points = []
    for (operation, ranks, size), by_way in ways.items():
        measured = [named for named in by_way.values() if default in named]
        names = dict.fromkeys(name for named in measured for name in named if name != default)
        candidates = tuple(
            AlgorithmRatio(name, _largest([divided(named[name], named[default]) for named in measured]))
            for name in names
            if all(name in named for named in measured)
        )
        if measured:
            points.append(Point(operation, ranks, size, candidates))
    return points


def _largest(ratios: Sequence[Estimate]) -> Estimate:
    """The one with the highest upper end; an unknown end is the highest."""
    return max(ratios, key=lambda each: (each.high is None, each.high or 0.0, each.value))
