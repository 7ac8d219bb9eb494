# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a case: quantities other than times in its records, and bandwidths and rates as other benchmarks
define them.

A metric is summarised over launches like a time: the centre of the launches' medians with its 95% interval. A
metric per repetition gives each launch a median with an interval; one per record gives a value. Launches are
combined on a log scale if every value is positive, as for times, otherwise directly (an error of 0 has no
logarithm).

Algorithm and bus bandwidth are defined as in nccl-tests, the message rate as in OSU's osu_mbw_mr;
docs/columns.md explains the definitions. nccl-tests, doc/PERFORMANCE.md: algbw = S / t, busbw = algbw times a
factor of the operation, which makes it comparable with the bandwidth of a link for any number of ranks n. S
is the size of the whole array: for an operation with a block per rank (allgather, alltoall, gather, scatter,
reduce_scatter) all n blocks (src/*.cu, GetBw)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.fit import Estimate, MetricSummary
from hockney.core.record import MetricSeries, Record
from hockney.models.statistics.interval import median_interval
from hockney.models.statistics.location import (
    MAX_INTERVAL_FACTOR,
    center,
    estimate,
    half_width,
    half_width_of_mean,
)

RankFactor = Callable[[int], float]


def metric_summaries(records: Sequence[Record]) -> dict[str, MetricSummary]:
    """Summaries of all metrics in the records of one case, in order of first appearance. Metrics per
    superstep or event are excluded because they have no single typical value."""
    names = dict.fromkeys(
        name
        for record in records
        for name, series in record.metrics.items()
        if series.values and series.per in ("record", "repetition")
    )
    return {name: _summary(name, records) for name in names}


def _summary(name: str, records: Sequence[Record]) -> MetricSummary:
    measured_records = [
        record for record in records if name in record.metrics and record.metrics[name].values
    ]
    first = measured_records[0].metrics[name]
    tables = [_repetitions_by_rank(record.metrics[name], len(record.times_s)) for record in measured_records]
    by_rank: list[float] = []
    if first.over_ranks == "each":
        ranks = min(table.shape[1] for table in tables)
        by_rank = [summarise_launches([table[:, rank] for table in tables]).value for rank in range(ranks)]
    return MetricSummary(
        unit=first.unit,
        over_ranks=first.over_ranks,
        phase=first.phase,
        typical=summarise_launches([table.max(axis=1) for table in tables]),
        by_rank=by_rank,
    )


def _repetitions_by_rank(series: MetricSeries, repetitions: int) -> np.ndarray:
    """Table with one row per repetition (or a single row for a metric per record) and one column per rank (or
    a single column if ranks are combined)."""
    values = np.asarray(series.values, dtype=float)
    if series.over_ranks != "each":
        return values.reshape(-1, 1)
    rows = repetitions if series.per == "repetition" and len(values) % repetitions == 0 else 1
    return values.reshape(rows, -1)


def summarise_launches(launches: Sequence[np.ndarray]) -> Estimate:
    """Centre over the launches with its interval. Each launch has one value, or one per repetition."""
    intervals = np.array([_median_interval(values) for values in launches])
    positive = bool((intervals[:, 0] > 0).all() and not (intervals[:, 1] <= 0).any())
    median, low, high = (np.log(intervals) if positive else intervals).T
    typical = float(center(median))
    bounds = np.array(
        [
            typical - half_width(median, half_width_of_mean(median - low)),
            typical + half_width(median, half_width_of_mean(high - median)),
        ]
    )
    if not positive:
        return estimate(typical, *bounds)
    lowest, highest = np.exp(bounds)
    if highest > MAX_INTERVAL_FACTOR * lowest:
        lowest = highest = np.nan
    all_equal = bool((intervals[:, 0] == intervals[0, 0]).all())  # a count stays an integer
    return estimate(float(intervals[0, 0] if all_equal else np.exp(typical)), lowest, highest)


def _median_interval(values: np.ndarray) -> tuple[float, ...]:
    return tuple(np.nan if bound is None else bound for bound in median_interval(values.tolist()))


def _share_of_others(ranks: int) -> float:
    return (ranks - 1) / ranks


def _unit_factor(ranks: int) -> float:
    return 1.0


BUS_FACTORS: dict[str, RankFactor] = {
    "allreduce": lambda ranks: 2 * (ranks - 1) / ranks,
    "reduce_scatter_block": _share_of_others,
    "allgather": _share_of_others,
    "alltoall": _share_of_others,
    "gather": _share_of_others,
    "scatter": _share_of_others,
    "bcast": _unit_factor,
    "reduce": _unit_factor,
}
"""Bus over algorithm bandwidth of the collectives in nccl-tests, which do not include scan and barrier."""

OPERATIONS_BY_BLOCK = {"reduce_scatter_block", "allgather", "alltoall", "gather", "scatter"}
"""Operations whose `bytes` are one rank's block."""

PAIR_ROLES = ("point-to-point", "stream")
OPERATIONS_OF_ALL_RANKS = ("isend", "many_to_one")
"""Operations of role "messages" whose time is divided by the number of messages of all ranks."""
SENDRECV_ROLES = (*PAIR_ROLES, "exchange")
"""Roles of workloads measured like nccl-tests' sendrecv: each rank sends, or receives, its bytes."""


def bus_factor(workload: Workload) -> RankFactor | None:
    """Ratio of bus to algorithm bandwidth of the workload's operation; None for operations without
    bandwidth."""
    if workload.role == "collective":
        return BUS_FACTORS.get(workload.operation)
    return _unit_factor if workload.role in SENDRECV_ROLES and workload.operation != "bisection" else None


def algorithm_bandwidth(case: Case, workload: Workload, seconds: float) -> float | None:
    """S / t (B/s); None if nothing is moved or nccl-tests does not include the operation."""
    blocks = case.ranks if workload.role == "collective" and workload.operation in OPERATIONS_BY_BLOCK else 1
    size = case.bytes * blocks
    return size / seconds if size and seconds > 0 and bus_factor(workload) is not None else None


def bus_bandwidth(case: Case, workload: Workload, seconds: float) -> float | None:
    """Algorithm bandwidth times the operation's factor (B/s)."""
    speed, factor = algorithm_bandwidth(case, workload, seconds), bus_factor(workload)
    return None if speed is None or factor is None else speed * factor(case.ranks)


def message_rate(workload: Workload, seconds: float) -> float | None:
    """Messages per second between two ranks, counting both directions if both send, or of all pairs if the
    time is divided by their number; None for other workloads."""
    if workload.role == "messages" and workload.operation in OPERATIONS_OF_ALL_RANKS and seconds > 0:
        return 1 / seconds
    if workload.role not in PAIR_ROLES or seconds <= 0:
        return None
    return (2 if workload.bidirectional else 1) / seconds
