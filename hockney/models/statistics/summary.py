# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The front page of the statistics: from the records of a run to the printed time of each case.

`typical_time` is the time that is printed, with an interval that covers all possible launches, not only those
made. It comes about in these steps (docs/method.md has the formulas):

- the records that count: `observe`, `hockney.models.loaded_launches`
- a visit is the median of its repetitions: `interval.median_interval`
- a launch is the robust mean of the logarithms of its visits, with its interval: `visits.times_of_visits`
- launches that the case missed are inferred from similar cases: `missed_launches.with_missed_launches`
- the typical time is the robust mean of the launches' logarithms: `location.center`
- its half width over launches, blended with the spread within them: `location.half_width`
- at least that of all visits as a series in time, of two modes seen for few cycles, and of the rounding of
  printed numbers: `observations.Observation.half_widths_of_center`

`summarise` puts the other statistics of a case next to it, such as the undisturbed cost, which is that of the
fastest mode (`modes`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np

from hockney.core.catalog import Catalog
from hockney.core.fit import Cost, Estimate, Summary, Undisturbed
from hockney.core.record import Record, RunRecords
from hockney.models.loaded_launches import loaded_launches, select_records
from hockney.models.statistics.location import WIDEST, estimate, robust_deviation
from hockney.models.statistics.metrics import (
    algorithm_bandwidth,
    bus_bandwidth,
    message_rate,
    metric_summaries,
)
from hockney.models.statistics.missed_launches import with_missed_launches
from hockney.models.statistics.modes import disturbed_share
from hockney.models.statistics.observations import Observation, launch_fields
from hockney.models.statistics.visits import LaunchTimes, launch_times

Placement = TypeVar("Placement", str, int)
Times = Callable[[Record], LaunchTimes]
"""`launch_times`, or a `LaunchTimesCache` if a run is observed repeatedly."""


def typical_time(observation: Observation) -> Estimate:
    """The time of a case that is printed, in seconds, with its 95% interval. It has none if nothing is known
    of it, or if its ends are more than a factor of WIDEST apart. docs/method.md leads from here to the
    formulas."""
    value, low, high = observation.interval()
    if high > WIDEST * low:
        low = high = np.nan
    return estimate(value, low, high)


def summarise(run: RunRecords, catalog: Catalog) -> list[Summary]:
    """A summary for each case that has repetitions, in order of first appearance."""
    return summaries(observe(run, catalog))


def summaries(observations: Sequence[Observation]) -> list[Summary]:
    return [_summary(observation) for observation in observations]


def _summary(observation: Observation) -> Summary:
    launches = [np.asarray(record.times_s) for record in observation.records]
    medians = np.exp(observation.log_typical)
    iqr = [third - first for first, third in (percentiles(np.sort(times), (25, 75)) for times in launches)]
    pooled = np.sort(np.concatenate(launches))
    p5, p25, p50, p75, p95, p99 = percentiles(pooled, (5, 25, 50, 75, 95, 99))
    operations = [record.batch * len(record.times_s) for record in observation.records]
    typical = typical_time(observation)
    spread, expected = observation.all_launches.launch_spread
    return Summary(
        case=observation.records[0].case,
        typical=typical,
        undisturbed=_undisturbed(observation),
        modes=observation.all_launches.modes,
        visits=sum(map(len, observation.visits)),
        preempted=sum(
            len(counts) - counts.count(0)
            for counts in (record.visits.preempted for record in observation.records)
        ),
        quartiles=(p5, p25, p75, p95),
        within=float(np.mean(iqr / medians)),
        between=robust_deviation(observation.all_launches.log_typical)
        if len(observation.all_launches.launches) > 1
        else None,
        launch_spread=spread,
        launch_spread_expected=expected,
        repetitions=sum(map(len, launches)),
        launches=len(set(observation.launches)),
        inferred_launches=len(observation.all_launches.launches) - len(observation.launches),
        unknown_change=observation.unknown_change,
        bytes_moved=observation.records[0].bytes_moved,
        verified_bytes=sum(record.verified.bytes for record in observation.records),
        errors=observation.errors,
        operations=sum(operations),
        min_s=float(pooled[0]),
        mean_s=float(np.average([times.mean() for times in launches], weights=operations)),
        p50_s=p50,
        p95_s=p95,
        p99_s=p99,
        max_s=float(pooled[-1]),
        algbw_bytes_per_s=algorithm_bandwidth(observation.case, observation.workload, typical.value),
        busbw_bytes_per_s=bus_bandwidth(observation.case, observation.workload, typical.value),
        rate_per_s=message_rate(observation.workload, typical.value),
        metrics=metric_summaries(observation.records),
        place=_same_in_all([record.place for record in observation.records], ""),
        nodes=_same_in_all([record.nodes for record in observation.records], 0),
    )


def _undisturbed(observation: Observation) -> Undisturbed | None:
    fast = observation.undisturbed
    if fast is None:
        return None
    return Undisturbed(
        cost=typical_time(fast), disturbed=disturbed_share(observation.all_launches.visits, fast.log_center)
    )


def _same_in_all(values: Sequence[Placement], otherwise: Placement) -> Placement:
    return values[0] if len(set(values)) == 1 else otherwise


def percentiles(ordered: np.ndarray, shares: Sequence[float]) -> list[float]:
    """The percentiles of values in ascending order, as `np.percentile` computes them, but much faster for a
    few hundred values."""
    values = []
    for share in shares:
        position = share / 100 * (len(ordered) - 1)
        index = int(position)
        fraction = position - index
        low, high = float(ordered[index]), float(ordered[min(index + 1, len(ordered) - 1)])
        step = high - low
        values.append(high - step * (1 - fraction) if fraction >= 0.5 else low + step * fraction)
    return values


def observe(
    run: RunRecords,
    catalog: Catalog,
    cost: Cost = "typical",
    times: Times = launch_times,
    loaded: Collection[str] | None = None,
) -> list[Observation]:
    """One observation per case, in order of first appearance, of its typical or its undisturbed cost (the
    typical one if modes cannot be detected). Records without times are skipped; so are interrupted ones and
    those of `loaded` launches (by default those with a high load), if enough others are left. Launches that a
    case missed are inferred."""
    loaded = loaded_launches(run) if loaded is None else loaded
    made = (
        observe_case(select_records(records, loaded), catalog, times) for records in run.by_case().values()
    )
    observations = [observation for observation in made if observation is not None]
    imported = any(launch.origin == "imported" for launch in run.launches)  # each may be another benchmark's
    same_launches = len({observation.launches for observation in observations}) <= 1  # none is missed
    if not imported and not same_launches:
        observations = with_missed_launches(observations, run, loaded)
    return select_cost(observations, cost)


def observe_case(
    records: Iterable[Record], catalog: Catalog, times: Times = launch_times
) -> Observation | None:
    used = tuple(r for r in records if r.times_s)
    if not used:
        return None
    case = used[0].parse_case()
    return Observation(
        case=case,
        workload=catalog.entry(case.workload),
        launches=tuple(r.launch for r in used),
        errors=sum(r.verified.errors for r in used),
        records=used,
        **launch_fields([times(record) for record in used]),
    )


def select_cost(observations: Sequence[Observation], cost: Cost) -> list[Observation]:
    """Observations of the typical cost, turned into those of `cost`."""
    return [
        (observation.undisturbed or observation) if cost == "undisturbed" else observation
        for observation in observations
    ]


def relative_precision(observation: Observation) -> float | None:
    """Half width of the 95% interval of the typical time relative to that time; None if it has no
    interval."""
    value, low, high = observation.interval()
    return float((high - low) / 2 / value) if np.isfinite(high - low) and value > 0 else None
