# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of a case over its launches: the centre of the launches' medians with its 95% interval, as for
times.

A metric per repetition gives each launch a median with an interval; one per record gives a value. Launches
are combined by their logarithms if every value is positive, as for times, otherwise directly (an error of 0
has no logarithm).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Estimate, MetricSummary
from hockney.core.record import MetricSeries, Record
from hockney.models.statistics.estimates import WIDEST, estimate
from hockney.models.statistics.interval import median_interval
from hockney.models.statistics.location import center, half_width, of_mean


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
            middle - half_width(median, of_mean(median - low)),
            middle + half_width(median, of_mean(high - median)),
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
