# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Overview of the statistics: from the records of a run to the printed time of each case.

`typical_time` is the printed time, with an interval that covers all possible launches, not only the measured
ones. It is computed in these steps (docs/method.md contains the formulas):

- select the records that count: `observe`, `hockney.models.loaded_launches`
- a visit is the median of its repetitions: `interval.median_interval`
- a launch is the robust mean of the logarithms of its visits, with its interval: `visits.times_of_visits`
- launches that the case missed are inferred from similar cases: `missed_launches.with_missed_launches`
- the typical time is the robust mean of the launches' logarithms: `location.center`
- its half width over launches, blended with the spread within them: `location.half_width`
- at least as large as drift, two modes observed for few cycles, or the rounding of
  printed numbers: `observations.Observation.half_widths_of_center`

`summarise` adds the other statistics of a case, such as its undisturbed cost in the fastest mode
(`modes`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

import numpy as np

from hockney.core.catalog import Catalog
from hockney.core.fit import Cost, Estimate, Summary, UndisturbedCost
from hockney.core.record import Record, RunRecords
from hockney.models.loaded_launches import loaded_launches, select_records
from hockney.models.statistics.location import MAX_INTERVAL_FACTOR, estimate, robust_deviation
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
ComputeTimes = Callable[[Record], LaunchTimes]
"""`launch_times`, or a `LaunchTimesCache` for a run that is observed repeatedly."""


def typical_time(observation: Observation) -> Estimate:
    """Printed time of a case in seconds with its 95% interval. Without an interval if it is unknown or wider
    than MAX_INTERVAL_FACTOR. docs/method.md explains the formulas."""
    value, low, high = observation.interval()
    if high > MAX_INTERVAL_FACTOR * low:
        low = high = np.nan
    return estimate(value, low, high)


def summarise(run: RunRecords, catalog: Catalog) -> list[Summary]:
    """Summarise each case with repetitions, in order of first appearance."""
    return summarise_observations(observe(run, catalog))


def summarise_observations(observations: Sequence[Observation]) -> list[Summary]:
    return [_summary(observation) for observation in observations]


def _summary(observation: Observation) -> Summary:
    launches = [np.asarray(record.times_s) for record in observation.records]
    medians = np.exp(observation.log_typical)
    iqr = [
        third_quartile - first_quartile
        for first_quartile, third_quartile in (
            percentiles(np.sort(repetitions), (25, 75)) for repetitions in launches
        )
    ]
    pooled = np.sort(np.concatenate(launches))
    p5, p25, p50, p75, p95, p99 = percentiles(pooled, (5, 25, 50, 75, 95, 99))
    operations = [record.batch * len(record.times_s) for record in observation.records]
    typical = typical_time(observation)
    launch_spread, expected_spread = observation.with_imputed_launches.launch_spread
    return Summary(
        case=observation.records[0].case,
        typical=typical,
        undisturbed=_undisturbed(observation),
        modes=observation.with_imputed_launches.modes,
        visits=sum(map(len, observation.visits)),
        preempted=sum(
            len(counts) - counts.count(0)
            for counts in (record.visits.preempted for record in observation.records)
        ),
        quartiles=(p5, p25, p75, p95),
        within=float(np.mean(iqr / medians)),
        between=robust_deviation(observation.with_imputed_launches.log_typical)
        if len(observation.with_imputed_launches.launches) > 1
        else None,
        launch_spread=launch_spread,
        launch_spread_expected=expected_spread,
        repetitions=sum(map(len, launches)),
        launches=len(set(observation.launches)),
        inferred_launches=len(observation.with_imputed_launches.launches) - len(observation.launches),
        unknown_change=observation.unknown_change,
        bytes_moved=observation.records[0].bytes_moved,
        verified_bytes=sum(record.verified.bytes for record in observation.records),
        errors=observation.errors,
        operations=sum(operations),
        min_s=float(pooled[0]),
        mean_s=float(np.average([repetitions.mean() for repetitions in launches], weights=operations)),
        p50_s=p50,
        p95_s=p95,
        p99_s=p99,
        max_s=float(pooled[-1]),
        algbw_bytes_per_s=algorithm_bandwidth(observation.case, observation.workload, typical.value),
        busbw_bytes_per_s=bus_bandwidth(observation.case, observation.workload, typical.value),
        rate_per_s=message_rate(observation.workload, typical.value),
        metrics=metric_summaries(observation.records),
        place=_common_value([record.place for record in observation.records], ""),
        nodes=_common_value([record.nodes for record in observation.records], 0),
    )


def _undisturbed(observation: Observation) -> UndisturbedCost | None:
    fastest = observation.fastest_mode
    if fastest is None:
        return None
    return UndisturbedCost(
        cost=typical_time(fastest),
        disturbed=disturbed_share(observation.with_imputed_launches.visits, fastest.log_center),
    )


def _common_value(values: Sequence[Placement], default: Placement) -> Placement:
    return values[0] if len(set(values)) == 1 else default


def percentiles(sorted_values: np.ndarray, shares: Sequence[float]) -> list[float]:
    """Percentiles of values in ascending order, as in `np.percentile` but much faster for a few hundred
    values."""
    values = []
    for share in shares:
        position = share / 100 * (len(sorted_values) - 1)
        index = int(position)
        fraction = position - index
        low, high = float(sorted_values[index]), float(sorted_values[min(index + 1, len(sorted_values) - 1)])
        step = high - low
        values.append(high - step * (1 - fraction) if fraction >= 0.5 else low + step * fraction)
    return values


def observe(
    run: RunRecords,
    catalog: Catalog,
    cost: Cost = "typical",
    compute_times: ComputeTimes = launch_times,
    loaded: Collection[str] | None = None,
) -> list[Observation]:
    """One observation per case, in order of first appearance, of its typical or its undisturbed cost (the
    typical one if modes cannot be detected). Records without times are skipped. Interrupted records and those
    of `loaded` launches (by default launches with a high load) are skipped if enough others remain. Launches
    that a case missed are inferred."""
    loaded = loaded_launches(run) if loaded is None else loaded
    candidates = (
        observe_case(select_records(records, loaded), catalog, compute_times)
        for records in run.by_case().values()
    )
    observations = [observation for observation in candidates if observation is not None]
    is_imported = any(
        launch.origin == "imported" for launch in run.launches
    )  # each launch may come from another benchmark
    has_same_launches = (
        len({observation.launches for observation in observations}) <= 1
    )  # no launch was missed
    if not is_imported and not has_same_launches:
        observations = with_missed_launches(observations, run, loaded)
    return select_cost(observations, cost)


def observe_case(
    records: Iterable[Record], catalog: Catalog, compute_times: ComputeTimes = launch_times
) -> Observation | None:
    timed_records = tuple(r for r in records if r.times_s)
    if not timed_records:
        return None
    case = timed_records[0].parse_case()
    return Observation(
        case=case,
        workload=catalog.entry(case.workload),
        launches=tuple(r.launch for r in timed_records),
        errors=sum(r.verified.errors for r in timed_records),
        records=timed_records,
        **launch_fields([compute_times(record) for record in timed_records]),
    )


def select_cost(observations: Sequence[Observation], cost: Cost) -> list[Observation]:
    """Convert observations of the typical cost to those of `cost`."""
    return [
        (observation.fastest_mode or observation) if cost == "undisturbed" else observation
        for observation in observations
    ]


def relative_precision(observation: Observation) -> float | None:
    """Half width of the 95% interval of the typical time relative to that time; None without an interval."""
    value, low, high = observation.interval()
    return float((high - low) / 2 / value) if np.isfinite(high - low) and value > 0 else None
