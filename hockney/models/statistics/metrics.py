# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a case: what its records measure besides times, and the metrics of other benchmarks.

A metric is summarised over launches like a time: the centre of the launches' medians with its 95% interval. A
metric per repetition gives each launch a median with an interval; one per record gives a value. Launches are
combined by their logarithms if every value is positive, as for times, otherwise directly (an error of 0 has
no logarithm).

Algorithm and bus bandwidth are defined as in nccl-tests, the message rate as in OSU's osu_mbw_mr;
docs/columns.md explains the definitions. nccl-tests, doc/PERFORMANCE.md: algbw = S / t, busbw = algbw times a
factor of the operation, which makes it comparable with the bandwidth of a link whatever the number of ranks n
is. S is the whole array: for an operation with a block for each rank (allgather, alltoall, gather, scatter,
reduce_scatter) all n blocks (src/*.cu, GetBw)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.core.fit import Estimate, MetricSummary
from hockney.core.record import MetricSeries, Record
from hockney.models.statistics.interval import median_interval
from hockney.models.statistics.location import WIDEST, center, estimate, half_width, half_width_of_mean

Factor = Callable[[int], float]


def metric_summaries(records: Sequence[Record]) -> dict[str, MetricSummary]:
    """Summaries of all metrics in these records of one case, in order of first appearance, except those of
    supersteps, of which there is not a single typical value."""
    names = dict.fromkeys(
        name
        for r in records
        for name, series in r.metrics.items()
        if series.values and series.per != "superstep"
    )
    return {name: _summary(name, records) for name in names}


def _summary(name: str, records: Sequence[Record]) -> MetricSummary:
    used = [r for r in records if name in r.metrics and r.metrics[name].values]
    first = used[0].metrics[name]
    tables = [_repetitions_by_rank(r.metrics[name], len(r.times_s)) for r in used]
    by_rank: list[float] = []
    if first.over_ranks == "each":
        ranks = min(table.shape[1] for table in tables)
        by_rank = [over_launches([table[:, rank] for table in tables]).value for rank in range(ranks)]
    return MetricSummary(
        unit=first.unit,
        over_ranks=first.over_ranks,
        phase=first.phase,
        typical=over_launches([table.max(axis=1) for table in tables]),
        by_rank=by_rank,
    )


def _repetitions_by_rank(series: MetricSeries, repetitions: int) -> np.ndarray:
    """One row per repetition (a single one if the metric is per record), one column per rank (a single one if
    ranks are combined)."""
    values = np.asarray(series.values, dtype=float)
    if series.over_ranks != "each":
        return values.reshape(-1, 1)
    rows = repetitions if series.per == "repetition" and len(values) % repetitions == 0 else 1
    return values.reshape(rows, -1)


def over_launches(launches: Sequence[np.ndarray]) -> Estimate:
    """The centre over the launches with its interval, from the values of each launch: one, or one for each
    repetition."""
    ends = np.array([_ends(values) for values in launches])
    positive = bool((ends[:, 0] > 0).all() and not (ends[:, 1] <= 0).any())
    median, low, high = (np.log(ends) if positive else ends).T
    middle = float(center(median))
    bounds = np.array(
        [
            middle - half_width(median, half_width_of_mean(median - low)),
            middle + half_width(median, half_width_of_mean(high - median)),
        ]
    )
    if not positive:
        return estimate(middle, *bounds)
    lowest, highest = np.exp(bounds)
    if highest > WIDEST * lowest:
        lowest = highest = np.nan
    alike = bool((ends[:, 0] == ends[0, 0]).all())  # a count stays an integer
    return estimate(float(ends[0, 0] if alike else np.exp(middle)), lowest, highest)


def _ends(values: np.ndarray) -> tuple[float, ...]:
    return tuple(np.nan if end is None else end for end in median_interval(values.tolist()))


def _all_but_one(ranks: int) -> float:
    return (ranks - 1) / ranks


def _whole(ranks: int) -> float:
    return 1.0


FACTORS: dict[str, Factor] = {
    "allreduce": lambda ranks: 2 * (ranks - 1) / ranks,
    "reduce_scatter_block": _all_but_one,
    "allgather": _all_but_one,
    "alltoall": _all_but_one,
    "gather": _all_but_one,
    "scatter": _all_but_one,
    "bcast": _whole,
    "reduce": _whole,
}
"""Bus over algorithm bandwidth of the collectives in nccl-tests, which do not include scan and barrier."""

BLOCK_FOR_EACH = {"reduce_scatter_block", "allgather", "alltoall", "gather", "scatter"}
"""Operations whose `bytes` are one rank's block."""

PAIRS = ("point-to-point", "stream")
OF_ALL = ("isend", "many_to_one")
"""Operations of role "messages" whose time is divided by the messages of all ranks."""
SENDRECV = (*PAIRS, "exchange")
"""Roles of workloads measured like nccl-tests' sendrecv: each rank sends, or receives, its bytes."""


def factor_of(workload: Workload) -> Factor | None:
    """The factor of the workload's operation; None for operations without bandwidth."""
    if workload.role == "collective":
        return FACTORS.get(workload.operation)
    return _whole if workload.role in SENDRECV and workload.operation != "bisection" else None


def algorithm_bandwidth(case: Case, workload: Workload, seconds: float) -> float | None:
    """S / t (B/s); None if nothing is moved, or if nccl-tests have no such operation."""
    blocks = case.ranks if workload.role == "collective" and workload.operation in BLOCK_FOR_EACH else 1
    size = case.bytes * blocks
    return size / seconds if size and seconds > 0 and factor_of(workload) is not None else None


def bus_bandwidth(case: Case, workload: Workload, seconds: float) -> float | None:
    """Algorithm bandwidth times the operation's factor (B/s)."""
    speed, factor = algorithm_bandwidth(case, workload, seconds), factor_of(workload)
    return None if speed is None or factor is None else speed * factor(case.ranks)


def message_rate(workload: Workload, seconds: float) -> float | None:
    """Messages per second between two ranks, in both directions if both send, or of all pairs if the time is
    divided by them; None for other workloads."""
    if workload.role == "messages" and workload.operation in OF_ALL and seconds > 0:
        return 1 / seconds
    if workload.role not in PAIRS or seconds <= 0:
        return None
    return (2 if workload.bidirectional else 1) / seconds
