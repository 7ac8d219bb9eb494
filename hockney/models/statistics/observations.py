# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the models see of the records: one observation a case.

What it is made of (each launch's visits, and how launches are combined) is known in this folder only. Times
are handled by their logarithms: errors of times are relative, launches differ by factors, and an interval of
a time must not reach below zero."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Cost, Modes
from hockney.core.record import Record, RunRecords
from hockney.models.statistics.location import Z, center, half_width, of_mean
from hockney.models.statistics.modes import fast_visits, margins, modes
from hockney.models.statistics.visits import (
    SHORTEST_S,
    LaunchTimes,
    half_width_in_time,
    launch_times,
    of_visits,
)

__all__ = [
    "FEWEST_UNDISTURBED",
    "SHORTEST_S",
    "Observation",
    "costing",
    "disturbed_launches",
    "kept",
    "observe",
    "observe_case",
    "precision_of",
]

DISTURBING_OUTSIDE_CORES, DISTURBING_STEAL = 0.25, 0.05
"""From so many cores used by other programs, or from this share of processor time taken by the hypervisor on,
a launch is disturbed."""
FEWEST_UNDISTURBED = 5
"""So many undisturbed launches of a case make it do without the others."""

WIDE = 0.7
"""The log of an interval whose ends are a factor of two apart."""


@dataclass(frozen=True)
class Observation:
    """One case, of a `workload` of the catalog. The arrays have one entry a launch: log of its typical time
    (the median of its only visit, the centre of many), how far the ends of its 95% interval are below and
    above it (log as well, nan where there is no interval), and the quantile that the interval used. `visits`
    are the logs of the medians of each launch's visits, in the order made, `visits_at_s` when they began."""

    case: Case
    workload: Workload
    launches: tuple[str, ...]
    log_typical: np.ndarray
    below: np.ndarray
    above: np.ndarray
    quantile: np.ndarray
    errors: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False, compare=False)
    visits: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)
    visits_at_s: tuple[np.ndarray, ...] = field(default=(), repr=False, compare=False)

    @property
    def role(self) -> str:
        return self.workload.role

    @property
    def size(self) -> float:
        """What the catalog says is the case's size; 0 for a workload without one, as a barrier."""
        return self.workload.size_of(self.case)

    @property
    def log_center(self) -> float:
        """Log of the typical time: the robust centre of the launches' logarithms."""
        return float(center(self.log_typical))

    @property
    def log_unbiased(self) -> np.ndarray:
        """Each launch's log time less its bias. The median of n times is the quantile function at a
        random place p around 1/2; where that function bends the mean of what it gives is off by half its
        curvature times the variance of p, which is how far the middle of the interval is off the median,
        divided by z**2. It matters where a model averages over many cases. Not for intervals so wide
        that they may show single outliers instead of curvature."""
        wide = ~(self.below + self.above < WIDE)
        return self.log_typical - np.where(wide, 0.0, (self.above - self.below) / 2 / Z**2)

    @property
    def within(self) -> float:
        """Standard error of `log_center` from the spread inside the launches alone, nan where unknown."""
        return of_mean((self.below + self.above) / 2 / self.quantile)

    def interval(self) -> tuple[float, float, float]:
        """(typical time, low, high) in seconds over all launches; nan for ends that are not known."""
        center = self.log_center
        # Launches together know the correlation better than each alone: t - 1.96 falls as the degrees of
        # freedom add up.
        shrink = (Z + np.mean(self.quantile - Z) / len(self.quantile)) / self.quantile
        least = half_width_in_time(self.visits, self.visits_at_s)
        below, above = margins(self.modes, self.visits, self.visits_at_s)
        low = center - max(float(half_width(self.log_typical, of_mean(self.below * shrink))), least, below)
        high = center + max(float(half_width(self.log_typical, of_mean(self.above * shrink))), least, above)
        return float(np.exp(center)), float(np.exp(low)), float(np.exp(high))

    @cached_property
    def modes(self) -> Modes | None:
        """The two modes that its visits have, where they are clearly separate."""
        return modes(self.visits, self.visits_at_s)

    @property
    def undisturbed(self) -> Observation | None:
        """The case in its fastest mode, from the launches that saw it; None where there are too few visits to
        tell modes, as in runs with one visit a launch."""
        fast = fast_visits(self.visits)
        if fast is None:
            return None
        used = [k for k, of in enumerate(fast) if of.any()]
        return replace(
            self,
            launches=tuple(self.launches[k] for k in used),
            records=tuple(self.records[k] for k in used),
            **_by_launch([of_visits(self.visits[k][fast[k]], self.visits_at_s[k][fast[k]]) for k in used]),
        )


Times = Callable[[Record], LaunchTimes]
"""`launch_times`, or a `LaunchTimesOnce` where a run is observed again and again."""


def observe(
    run: RunRecords, catalog: Catalog, cost: Cost = "typical", times: Times = launch_times
) -> list[Observation]:
    """One observation a case, in the order first written, of its typical or its undisturbed cost (the typical
    one where nothing tells modes). Records without times are passed over, and those of disturbed launches
    where enough others are left."""
    disturbed = disturbed_launches(run)
    made = (observe_case(kept(records, disturbed), catalog, times) for records in run.by_case().values())
    return costing([observation for observation in made if observation is not None], cost)


def costing(observations: Sequence[Observation], cost: Cost) -> list[Observation]:
    """Observations of the typical cost, as those of `cost`."""
    return [(seen.undisturbed or seen) if cost == "undisturbed" else seen for seen in observations]


def precision_of(seen: Observation) -> float | None:
    """Half width of the 95% interval of the typical time over that time; None where it has no interval."""
    value, low, high = seen.interval()
    return float((high - low) / 2 / value) if np.isfinite(high - low) and value > 0 else None


def disturbed_launches(run: RunRecords) -> set[str]:
    """Launches during which other programs or the hypervisor took much of the processors."""
    return {
        close.launch
        for close in run.closes
        if (close.outside_cores or 0.0) > DISTURBING_OUTSIDE_CORES or (close.steal or 0.0) > DISTURBING_STEAL
    }


def kept(records: Sequence[Record], disturbed: set[str]) -> Sequence[Record]:
    """Of one case's records those that count: without the `disturbed` launches, where enough others are."""
    quiet = [record for record in records if record.launch not in disturbed]
    return quiet if len(quiet) >= FEWEST_UNDISTURBED else records


def observe_case(
    records: Iterable[Record], catalog: Catalog, times: Times = launch_times
) -> Observation | None:
    used = tuple(r for r in records if r.times_s)
    if not used:
        return None
    case = used[0].parsed_case()
    return Observation(
        case=case,
        workload=catalog.entry(case.workload),
        launches=tuple(r.launch for r in used),
        errors=sum(r.verified.errors for r in used),
        records=used,
        **_by_launch([times(record) for record in used]),
    )


def _by_launch(made: Sequence[LaunchTimes]) -> dict[str, Any]:
    """The fields of an observation that are made of its launches' times."""
    return {
        "log_typical": np.array([launch.center for launch in made]),
        "below": np.array([launch.below for launch in made]),
        "above": np.array([launch.above for launch in made]),
        "quantile": np.array([launch.quantile for launch in made]),
        "visits": tuple(launch.visits for launch in made),
        "visits_at_s": tuple(launch.at_s for launch in made),
    }
