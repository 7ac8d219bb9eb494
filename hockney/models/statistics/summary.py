# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""One line of statistics for each case, over all its launches.

The median stated is that of the typical launch, the geometric mean of the launches' medians; its interval
covers the median over all launches one could make, not only those made (`combine`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hockney.core.fit import Estimate, Summary
from hockney.core.record import Run
from hockney.models.statistics.observations import Observation, observe


def summarise(run: Run) -> list[Summary]:
    """A summary for each case that has repetitions, in the order first written."""
    return summaries(observe(run))


def summaries(observations: Sequence[Observation]) -> list[Summary]:
    return [_summary(seen) for seen in observations]


WIDEST = 100.0
"""An interval whose ends are further apart, as a factor, is none: two or three launches that disagree by tens
of percent make one from nanoseconds to minutes, and what is known then is that they disagree (`between`)."""


def estimate(value: float, low: float, high: float) -> Estimate:
    """An estimate whose unknown ends (nan, infinite) are None and that lies within its interval."""
    return Estimate(
        float(value),
        float(min(low, value)) if np.isfinite(low) else None,
        float(max(high, value)) if np.isfinite(high) else None,
    )


def _summary(seen: Observation) -> Summary:
    launches = [np.asarray(record.times_s) for record in seen.records]
    medians = np.exp(seen.log_median)
    iqr = [np.subtract(*np.percentile(times, (75, 25))) for times in launches]
    p5, p25, p75, p95 = map(float, np.percentile(np.concatenate(launches), (5, 25, 75, 95)))
    median, low, high = seen.interval()
    if high > WIDEST * low:
        low = high = np.nan
    return Summary(
        case=seen.records[0].case,
        median=estimate(median, low, high),
        quartiles=(p5, p25, p75, p95),
        within=float(np.mean(iqr / medians)),
        between=float(medians.std(ddof=1) / medians.mean()) if len(launches) > 1 else None,
        repetitions=sum(map(len, launches)),
        launches=len(set(seen.launches)),
        bytes_moved=seen.records[0].bytes_moved,
        verified_bytes=sum(record.verified.bytes for record in seen.records),
        errors=seen.errors,
    )
