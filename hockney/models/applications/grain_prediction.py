# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted performance of an algorithm on a machine: `granularity` with intervals, for numbers of
ranks.

The intervals are those of the messages' time: every result is monotonic in Tcom, so that the ends of Tcom's
interval map to the ends of the result's. They do not cover errors of the model's assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hockney.core.fit import Estimate
from hockney.core.layout import Layout
from hockney.models.applications.granularity import (
    FINE,
    OVERLAP,
    Algorithm,
    Lever,
    best_ranks,
    ceiling,
    efficiency,
    levers,
    on_cores,
    overlapped,
    ranks_reaching,
    times,
    work_needed,
)
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_bounds

WANTED = (0.5, 0.8, 0.9)
"""Efficiencies for which the required work is reported."""

LEAST_EFFICIENCY = 0.5


@dataclass(frozen=True)
class RanksRow:
    """Performance on `ranks` ranks: time (s) of the work T, speed-up, efficiency, and the fraction of the
    time spent in communication. `shared_by` is the number of ranks that share a core, 1 if each has its
    own."""

    ranks: int
    time: Estimate
    speed_up: Estimate
    efficiency: Estimate
    communication: Estimate
    shared_by: float = 1.0


@dataclass(frozen=True)
class Needed:
    """The work (s) from which `ranks` ranks reach `efficiency`; None if no work suffices, because the
    efficiency never exceeds `ceiling`."""

    ranks: int
    efficiency: float
    work: Estimate | None
    ceiling: float


@dataclass(frozen=True)
class Best:
    """The best numbers of ranks from 1 to `most`: `fastest` has the largest speed-up, and `ends` those at the
    ends of the interval of Tcom. Also the largest number of ranks with an efficiency of 50%."""

    most: int
    ends: tuple[int, int]
    fastest: RanksRow
    thrifty: RanksRow


@dataclass(frozen=True)
class Change:
    """A lever with the interval of the resulting efficiency."""

    lever: Lever
    efficiency: Estimate


@dataclass(frozen=True)
class Prediction:
    """`one_way` is the time of a message, within a node if messages `between` nodes cost something else. With
    `larger`, more ranks than the machine has cores were put on a larger one of its kind. `changes`
    are for `changed` ranks, what helps most first; 0 ranks where all asked for share cores. `laid_out`: the
    user or the run decides on how many nodes ranks are."""

    algorithm: Algorithm
    messages: PointToPointCosts
    one_way: Estimate
    between: Estimate | None
    rows: tuple[RanksRow, ...]
    break_even: tuple[Needed, ...]
    needed: tuple[Needed, ...]
    best: Best
    changed: int
    changes: tuple[Change, ...]
    larger: bool = False
    laid_out: bool = False

    def layout(self, ranks: int) -> Layout | None:
        """How this many ranks are spread over nodes; None if that makes no difference, or if a description
        alone decides."""
        if self.messages.near is None or not self.laid_out:
            return None
        return Layout(self.messages.count_of_nodes(ranks), min(ranks, self.messages.per_node(ranks)))


def predict(
    algorithm: Algorithm,
    messages: PointToPointCosts,
    ranks: Sequence[int],
    *,
    larger: bool = False,
    laid_out: bool = False,
) -> Prediction:
    """The predicted performance for each of `ranks`, each at least 1. More ranks than the machine has cores
    share them, or are on a `larger` machine of its kind, on which each rank has a core."""
    here, cores = messages, messages.most_ranks
    if larger:
        messages = replace(messages, most_ranks=None)
    own = [n for n in ranks if n > 1 and _shared_by(messages, n) == 1]
    changed = max(own, default=0)
    several = [n for n in ranks if n > 1]
    return Prediction(
        algorithm=algorithm,
        messages=here,
        one_way=_one_way(messages.near or messages, algorithm.bytes),
        between=_one_way(messages.between, algorithm.bytes) if messages.near else None,
        rows=tuple(row(algorithm, messages, n) for n in ranks),
        break_even=tuple(_needed(1 / n, algorithm, messages, n) for n in several),
        needed=tuple(_needed(wanted, algorithm, messages, n) for n in several for wanted in WANTED),
        best=_best(
            algorithm, messages, max(cores, *ranks) if larger and cores else cores or max(FINE, *ranks)
        ),
        changed=changed,
        changes=_changes(algorithm, messages, changed) if changed else (),
        larger=larger and cores is not None and max(ranks) > cores,
        laid_out=laid_out or messages.nodes > 0,
    )


def _one_way(level: PointToPointCosts, size: float) -> Estimate:
    """The time of a message of this level."""
    time, ends = level.one_way(size), level.bounds(size)
    if ends is None:
        return Estimate(time, None, None)
    bounded = [time, *(end * time for end in ends)]
    return Estimate(time, min(bounded), max(bounded))


def row(algorithm: Algorithm, messages: PointToPointCosts, ranks: int) -> RanksRow:
    there = on_cores(algorithm, ranks, messages.most_ranks)

    def of(name: str) -> Estimate:
        return _estimate(lambda f: getattr(times(there, messages, ranks, f), name), messages, there, ranks)

    return RanksRow(
        ranks=ranks,
        time=of("total"),
        speed_up=of("speed_up"),
        efficiency=of("efficiency"),
        communication=of("communication_share"),
        shared_by=_shared_by(messages, ranks),
    )


def _shared_by(messages: PointToPointCosts, ranks: int) -> float:
    return max(1.0, ranks / messages.most_ranks) if messages.most_ranks else 1.0


def _needed(wanted: float, algorithm: Algorithm, messages: PointToPointCosts, ranks: int) -> Needed:
    there = on_cores(algorithm, ranks, messages.most_ranks)

    def least(factor: float) -> float | None:
        return work_needed(wanted, there, messages, ranks, factor)

    work = None
    if least(1.0) is not None:  # then there is one at the ends of the interval too
        work = _estimate(lambda factor: least(factor) or 0.0, messages, there, ranks)
    return Needed(ranks, wanted, work, ceiling(there, ranks))


def _best(algorithm: Algorithm, messages: PointToPointCosts, most: int) -> Best:
    thrifty = ranks_reaching(LEAST_EFFICIENCY, algorithm, messages, most)
    factors = (1.0, *(exchange_bounds(messages, algorithm.bytes, most) or ()))
    fastest, *ends = (best_ranks(algorithm, messages, most, factor) for factor in factors)
    return Best(
        most,
        (min([fastest, *ends]), max([fastest, *ends])),
        row(algorithm, messages, fastest),
        row(algorithm, messages, thrifty),
    )


def _changes(algorithm: Algorithm, messages: PointToPointCosts, ranks: int) -> tuple[Change, ...]:
    return tuple(
        Change(
            lever,
            _estimate(
                _brought(lever, algorithm, messages, ranks), messages, lever.algorithm or algorithm, ranks
            ),
        )
        for lever in levers(algorithm, messages, ranks)
    )


def _brought(
    lever: Lever, algorithm: Algorithm, messages: PointToPointCosts, ranks: int
) -> Callable[[float], float]:
    changed = lever.algorithm
    if changed is None:
        assert lever.name == OVERLAP
        return lambda factor: overlapped(times(algorithm, messages, ranks, factor))
    return lambda factor: efficiency(changed, messages, ranks, factor)


def _estimate(
    value: Callable[[float], float], messages: PointToPointCosts, algorithm: Algorithm, ranks: int
) -> Estimate:
    """`value` as a function of the factor of Tcom, at 1 and at the ends of its interval."""
    middle, bounds = value(1.0), exchange_bounds(messages, algorithm.bytes, ranks)
    if bounds is None:
        return Estimate(middle, None, None)
    ends = [middle, *map(value, bounds)]
    return Estimate(middle, min(ends), max(ends))
