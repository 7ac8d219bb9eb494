# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The observations of a run: one per case, of the records that count, with the launches that it missed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from hockney.core.catalog import Catalog
from hockney.core.fit import Cost
from hockney.core.record import Record, RunRecords
from hockney.models.loaded_launches import kept, loaded_launches
from hockney.models.statistics.missed_launches import with_missed_launches
from hockney.models.statistics.observations import Observation, by_launch
from hockney.models.statistics.visits import LaunchTimes, launch_times

Times = Callable[[Record], LaunchTimes]
"""`launch_times`, or a `LaunchTimesOnce` if a run is observed repeatedly."""


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
    made = (observe_case(kept(records, loaded), catalog, times) for records in run.by_case().values())
    observations = [observation for observation in made if observation is not None]
    if any(launch.origin == "imported" for launch in run.launches):  # each may have run another benchmark
        return costing(observations, cost)
    return costing(with_missed_launches(observations, run, loaded), cost)


def costing(observations: Sequence[Observation], cost: Cost) -> list[Observation]:
    """Observations of the typical cost, turned into those of `cost`."""
    return [(seen.undisturbed or seen) if cost == "undisturbed" else seen for seen in observations]


def precision_of(seen: Observation) -> float | None:
    """Half width of the 95% interval of the typical time relative to that time; None if it has no
    interval."""
    value, low, high = seen.interval()
    return float((high - low) / 2 / value) if np.isfinite(high - low) and value > 0 else None


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
        **by_launch([times(record) for record in used]),
    )
