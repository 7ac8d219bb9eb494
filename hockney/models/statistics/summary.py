# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One line of statistics for each case, over all its launches.

The typical time is the robust centre of the launches' centres of their visits (`location`); its interval
covers all possible launches, not only those made. The undisturbed cost next to it is that of the fastest mode
(`modes`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.catalog import Catalog
from hockney.core.fit import Estimate, Summary, Undisturbed
from hockney.core.record import RunRecords
from hockney.models.statistics.estimates import WIDEST, estimate
from hockney.models.statistics.location import scatter
from hockney.models.statistics.metrics import metric_summaries
from hockney.models.statistics.modes import disturbed_share
from hockney.models.statistics.observations import Observation, observe
from hockney.models.statistics.peers import algorithm_bandwidth, bus_bandwidth, message_rate


def summarise(run: RunRecords, catalog: Catalog) -> list[Summary]:
    """A summary for each case that has repetitions, in order of first appearance."""
    return summaries(observe(run, catalog))


def summaries(observations: Sequence[Observation]) -> list[Summary]:
    return [_summary(seen) for seen in observations]


def _summary(seen: Observation) -> Summary:
    launches = [np.asarray(record.times_s) for record in seen.records]
    medians = np.exp(seen.log_typical)
    iqr = [np.subtract(*np.percentile(times, (75, 25))) for times in launches]
    pooled = np.concatenate(launches)
    p5, p25, p50, p75, p95, p99 = map(float, np.percentile(pooled, (5, 25, 50, 75, 95, 99)))
    operations = [record.batch * len(record.times_s) for record in seen.records]
    typical = _cost(seen)
    return Summary(
        case=seen.records[0].case,
        typical=typical,
        undisturbed=_undisturbed(seen),
        modes=seen.modes,
        visits=sum(map(len, seen.visits)),
        preempted=sum(count > 0 for record in seen.records for count in record.visits.preempted),
        quartiles=(p5, p25, p75, p95),
        within=float(np.mean(iqr / medians)),
        between=scatter(seen.log_typical) if len(launches) > 1 else None,
        repetitions=sum(map(len, launches)),
        launches=len(set(seen.launches)),
        bytes_moved=seen.records[0].bytes_moved,
        verified_bytes=sum(record.verified.bytes for record in seen.records),
        errors=seen.errors,
        operations=sum(operations),
        min_s=float(pooled.min()),
        mean_s=float(np.average([times.mean() for times in launches], weights=operations)),
        p50_s=p50,
        p95_s=p95,
        p99_s=p99,
        max_s=float(pooled.max()),
        algbw_bytes_per_s=algorithm_bandwidth(seen.case, seen.workload, typical.value),
        busbw_bytes_per_s=bus_bandwidth(seen.case, seen.workload, typical.value),
        rate_per_s=message_rate(seen.workload, typical.value),
        metrics=metric_summaries(seen.records),
    )


def _cost(seen: Observation) -> Estimate:
    value, low, high = seen.interval()
    if high > WIDEST * low:
        low = high = np.nan
    return estimate(value, low, high)


def _undisturbed(seen: Observation) -> Undisturbed | None:
    fast = seen.undisturbed
    if fast is None:
        return None
    return Undisturbed(cost=_cost(fast), disturbed=disturbed_share(seen.visits, fast.log_center))
