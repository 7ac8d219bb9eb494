# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted performance of an algorithm on a machine: the model of `granularity` with intervals, for several
numbers of ranks.

The intervals follow from those of the messages' time. Every result is monotonic in Tcom, so the bounds of
Tcom's interval yield the bounds of the result's. They do not cover errors of the model's assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hockney.core.fit import Estimate
from hockney.core.layout import Layout
from hockney.models.applications.granularity import (
    DENSE_COUNT_LIMIT,
    OVERLAP,
    Algorithm,
    Lever,
    best_ranks,
    ceiling,
    efficiency,
    find_levers,
    overlapped_efficiency,
    ranks_reaching,
    required_work,
    times,
    with_shared_cores,
)
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.models.applications.ring_exchange import exchange_bounds

REPORTED_EFFICIENCIES = (0.5, 0.8, 0.9)
"""Efficiencies for which the required work is reported."""

MIN_EFFICIENCY = 0.5


@dataclass(frozen=True)
class RanksRow:
    """Performance on `ranks` ranks: time (s) of the work T, speed-up, efficiency, and the fraction of the
    time spent in communication. `shared_by` is the number of ranks that share a core (1: each has its
    own)."""

    ranks: int
    time: Estimate
    speed_up: Estimate
    efficiency: Estimate
    communication: Estimate
    shared_by: float = 1.0


@dataclass(frozen=True)
class RequiredWork:
    """The work (s) from which `ranks` ranks reach `efficiency`. It is None if no amount of work suffices,
    because the efficiency never exceeds `ceiling`."""

    ranks: int
    efficiency: float
    work: Estimate | None
    ceiling: float


@dataclass(frozen=True)
class BestRanks:
    """The best numbers of ranks from 1 to `max_ranks`. `fastest` has the largest speed-up; `fastest_bounds`
    are the numbers of ranks with the largest speed-up at the bounds of Tcom's interval. `most_efficient` is
    the largest number of ranks with an efficiency of at least 50%."""

    max_ranks: int
    fastest_bounds: tuple[int, int]
    fastest: RanksRow
    most_efficient: RanksRow


@dataclass(frozen=True)
class EfficiencyChange:
    """A lever and the resulting efficiency with its interval."""

    lever: Lever
    efficiency: Estimate


@dataclass(frozen=True)
class Prediction:
    """`one_way` is the time of a message, within a node if messages between nodes (`between_nodes`) have
    another cost. With `on_larger_machine`, ranks beyond the machine's cores run on a larger machine of the
    same kind. `changes` apply to `changed_ranks` ranks, the most effective first; `changed_ranks` is 0 if all
    requested numbers of ranks share cores. With `has_layout`, the user or the run defines the number of
    nodes."""

    algorithm: Algorithm
    messages: PointToPointCosts
    one_way: Estimate
    between_nodes: Estimate | None
    rows: tuple[RanksRow, ...]
    break_even: tuple[RequiredWork, ...]
    needed: tuple[RequiredWork, ...]
    best: BestRanks
    changed_ranks: int
    changes: tuple[EfficiencyChange, ...]
    on_larger_machine: bool = False
    has_layout: bool = False

    def layout(self, ranks: int) -> Layout | None:
        """The distribution of this many ranks over nodes. None if it makes no difference, or if only a
        machine description defines it."""
        if self.messages.within_node is None or not self.has_layout:
            return None
        return Layout(self.messages.node_count(ranks), min(ranks, self.messages.per_node(ranks)))


def predict(
    algorithm: Algorithm,
    messages: PointToPointCosts,
    ranks: Sequence[int],
    *,
    allow_larger_machine: bool = False,
    has_layout: bool = False,
) -> Prediction:
    """Predict the performance for each of `ranks`, each at least 1. Ranks beyond the machine's cores share
    cores, unless the machine may be replaced by a larger one of its kind (`larger`)."""
    original, max_ranks = messages, messages.max_ranks
    if allow_larger_machine:
        messages = replace(messages, max_ranks=None)
    own_core_ranks = [
        rank_count for rank_count in ranks if rank_count > 1 and _shared_by(messages, rank_count) == 1
    ]
    changed = max(own_core_ranks, default=0)
    multiple_ranks = [rank_count for rank_count in ranks if rank_count > 1]
    return Prediction(
        algorithm=algorithm,
        messages=original,
        one_way=_one_way(messages.within_node or messages, algorithm.bytes),
        between_nodes=_one_way(messages.between_nodes, algorithm.bytes) if messages.within_node else None,
        rows=tuple(predict_row(algorithm, messages, rank_count) for rank_count in ranks),
        break_even=tuple(
            _required_work(1 / rank_count, algorithm, messages, rank_count) for rank_count in multiple_ranks
        ),
        needed=tuple(
            _required_work(target, algorithm, messages, rank_count)
            for rank_count in multiple_ranks
            for target in REPORTED_EFFICIENCIES
        ),
        best=_find_best_ranks(
            algorithm,
            messages,
            max(max_ranks, *ranks)
            if allow_larger_machine and max_ranks
            else max_ranks or max(DENSE_COUNT_LIMIT, *ranks),
        ),
        changed_ranks=changed,
        changes=_find_changes(algorithm, messages, changed) if changed else (),
        on_larger_machine=allow_larger_machine and max_ranks is not None and max(ranks) > max_ranks,
        has_layout=has_layout or messages.nodes > 0,
    )


def _one_way(level: PointToPointCosts, size: float) -> Estimate:
    """The time of a message at this level."""
    time, factors = level.one_way(size), level.bounds(size)
    if factors is None:
        return Estimate(time, None, None)
    bounds = [time, *(factor * time for factor in factors)]
    return Estimate(time, min(bounds), max(bounds))


def predict_row(algorithm: Algorithm, messages: PointToPointCosts, ranks: int) -> RanksRow:
    placed_algorithm = with_shared_cores(algorithm, ranks, messages.max_ranks)

    def of(name: str) -> Estimate:
        return _estimate(
            lambda f: getattr(times(placed_algorithm, messages, ranks, f), name),
            messages,
            placed_algorithm,
            ranks,
        )

    return RanksRow(
        ranks=ranks,
        time=of("total"),
        speed_up=of("speed_up"),
        efficiency=of("efficiency"),
        communication=of("communication_share"),
        shared_by=_shared_by(messages, ranks),
    )


def _shared_by(messages: PointToPointCosts, ranks: int) -> float:
    return max(1.0, ranks / messages.max_ranks) if messages.max_ranks else 1.0


def _required_work(
    target: float, algorithm: Algorithm, messages: PointToPointCosts, ranks: int
) -> RequiredWork:
    placed_algorithm = with_shared_cores(algorithm, ranks, messages.max_ranks)

    def least(factor: float) -> float | None:
        return required_work(target, placed_algorithm, messages, ranks, factor)

    work = None
    if least(1.0) is not None:  # then there is one at the ends of the interval too
        work = _estimate(lambda factor: least(factor) or 0.0, messages, placed_algorithm, ranks)
    return RequiredWork(ranks, target, work, ceiling(placed_algorithm, ranks))


def _find_best_ranks(algorithm: Algorithm, messages: PointToPointCosts, max_ranks: int) -> BestRanks:
    most_efficient = ranks_reaching(MIN_EFFICIENCY, algorithm, messages, max_ranks)
    factors = (1.0, *(exchange_bounds(messages, algorithm.bytes, max_ranks) or ()))
    fastest, *ends = (best_ranks(algorithm, messages, max_ranks, factor) for factor in factors)
    return BestRanks(
        max_ranks,
        (min([fastest, *ends]), max([fastest, *ends])),
        predict_row(algorithm, messages, fastest),
        predict_row(algorithm, messages, most_efficient),
    )


def _find_changes(
    algorithm: Algorithm, messages: PointToPointCosts, ranks: int
) -> tuple[EfficiencyChange, ...]:
    return tuple(
        EfficiencyChange(
            lever,
            _estimate(
                _efficiency_function(lever, algorithm, messages, ranks),
                messages,
                lever.algorithm or algorithm,
                ranks,
            ),
        )
        for lever in find_levers(algorithm, messages, ranks)
    )


def _efficiency_function(
    lever: Lever, algorithm: Algorithm, messages: PointToPointCosts, ranks: int
) -> Callable[[float], float]:
    changed_algorithm = lever.algorithm
    if changed_algorithm is None:
        assert lever.name == OVERLAP
        return lambda factor: overlapped_efficiency(times(algorithm, messages, ranks, factor))
    return lambda factor: efficiency(changed_algorithm, messages, ranks, factor)


def _estimate(
    value: Callable[[float], float], messages: PointToPointCosts, algorithm: Algorithm, ranks: int
) -> Estimate:
    """The estimate of `value`, a function of the factor of Tcom: at 1 and at the bounds of the factor's
    interval."""
    typical, bounds = value(1.0), exchange_bounds(messages, algorithm.bytes, ranks)
    if bounds is None:
        return Estimate(typical, None, None)
    values = [typical, *map(value, bounds)]
    return Estimate(typical, min(values), max(values))
