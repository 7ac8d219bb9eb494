# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One line of statistics for each case, over all its launches.

The typical time is the robust centre of the launches' centres of their visits (`location`); its interval
covers that of all launches one could make, not only those made. The undisturbed cost next to it is that of
the fastest mode (`modes`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.catalog import Catalog
from hockney.core.fit import Estimate, Summary, Undisturbed
from hockney.core.record import RunRecords
from hockney.models.statistics.estimates import WIDEST, estimate
from hockney.models.statistics.metrics import metric_summaries
from hockney.models.statistics.modes import disturbed_share
from hockney.models.statistics.observations import Observation, observe


def summarise(run: RunRecords, catalog: Catalog) -> list[Summary]:
    """A summary for each case that has repetitions, in the order first written."""
    return summaries(observe(run, catalog))


def summaries(observations: Sequence[Observation]) -> list[Summary]:
    return [_summary(seen) for seen in observations]


def _summary(seen: Observation) -> Summary:
    launches = [np.asarray(record.times_s) for record in seen.records]
    medians = np.exp(seen.log_typical)
    iqr = [np.subtract(*np.percentile(times, (75, 25))) for times in launches]
    p5, p25, p75, p95 = map(float, np.percentile(np.concatenate(launches), (5, 25, 75, 95)))
    return Summary(
        case=seen.records[0].case,
        typical=_cost(seen),
        undisturbed=_undisturbed(seen),
        modes=seen.modes,
        visits=sum(map(len, seen.visits)),
        preempted=sum(count > 0 for record in seen.records for count in record.visits.preempted),
        quartiles=(p5, p25, p75, p95),
        within=float(np.mean(iqr / medians)),
        between=float(medians.std(ddof=1) / medians.mean()) if len(launches) > 1 else None,
        repetitions=sum(map(len, launches)),
        launches=len(set(seen.launches)),
        bytes_moved=seen.records[0].bytes_moved,
        verified_bytes=sum(record.verified.bytes for record in seen.records),
        errors=seen.errors,
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
