# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The models' view of the records: one observation per case.

How it is computed (each launch's visits, and how launches are combined) is private to this folder. Times are
represented by their logarithms: errors of times are relative, launches differ by factors, and an interval of
a time must not reach below zero."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.fit import Cost, Modes
from hockney.core.record import Record, RunRecords
from hockney.models.loaded_launches import kept, loaded_launches
from hockney.models.statistics.jackknife import undisturbed_half_width
from hockney.models.statistics.location import (
    FEWEST_TO_WINSORISE,
    Z,
    center,
    half_width,
    of_mean,
    winsorised,
)
from hockney.models.statistics.modes import fast_visits, margins, modes
from hockney.models.statistics.visits import (
    SHORTEST_S,
    LaunchTimes,
    half_width_in_time,
    launch_times,
    of_visits,
)

__all__ = [
    "SHORTEST_S",
    "HalfWidths",
    "Observation",
    "costing",
    "observe",
    "observe_case",
    "precision_of",
]

HalfWidths = tuple[np.ndarray, np.ndarray]
"""How far the ends of each launch's interval are below and above its log time."""

WIDE = 0.7
"""The log of an interval whose ends are a factor of two apart."""


@dataclass(frozen=True)
class Observation:
    """One case of a `workload` of the catalog. The arrays have one entry per launch: log of its typical time
    (the median of its only visit, the centre of many), how far the ends of its 95% interval are below and
    above it (log as well, nan if there is no interval), and the quantile that the interval used. `visits` are
    the logs of the medians of each launch's visits, in order, `visits_at_s` their start times. `chosen_from`
    is the observation with all visits, if these are only those of the fastest mode."""

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
    chosen_from: Observation | None = field(default=None, repr=False, compare=False)

    @property
    def role(self) -> str:
        return self.workload.role

    @property
    def size(self) -> float:
        """The case's size as defined by the catalog; 0 for a workload without one, such as a barrier."""
        return self.workload.size_of(self.case)

    @property
    def log_center(self) -> float:
        """Log of the typical time: the robust centre of the launches' logarithms."""
        return float(center(self.log_typical))

    @property
    def log_unbiased(self) -> np.ndarray:
        """Each launch's log time minus its bias. The median of n times is the quantile function at a random
        position p around 1/2; if that function is curved, the mean of its value is off by half its curvature
        times the variance of p, which is the distance between the middle of the interval and the median,
        divided by z**2. It matters if a model averages over many cases. Not for intervals so wide that they
        may show single outliers instead of curvature."""
        wide = ~(self.below + self.above < WIDE)
        return self.log_typical - np.where(wide, 0.0, (self.above - self.below) / 2 / Z**2)

    def half_widths(self, at: np.ndarray | slice) -> HalfWidths:
        """`below` and `above` of some launches, rescaled to the normal quantile."""
        quantile = self.quantile[at]
        return self.below[at] / quantile * Z, self.above[at] / quantile * Z

    def places(self, launches: Iterable[str]) -> np.ndarray:
        """The indices of these launches."""
        place = {name: k for k, name in enumerate(self.launches)}
        return np.array([place[name] for name in launches], dtype=int)

    @property
    def within(self) -> float:
        """Standard error of `log_center` from the spread within launches alone, nan if unknown."""
        return of_mean((self.below + self.above) / 2 / self.quantile)

    @property
    def launch_spread(self) -> tuple[float | None, float | None]:
        """The standard deviation of the launches' log times, without outliers if there are enough to identify
        them, and that which the spread within launches predicts; None with one launch, or if unknown."""
        count = len(self.log_typical)
        if count < 2:
            return None, None
        levels = self.log_typical
        spread = float((winsorised(levels) if count >= FEWEST_TO_WINSORISE else levels).std(ddof=1))
        expected = self.within / Z * math.sqrt(count)
        return spread, expected if math.isfinite(expected) else None

    def interval(self) -> tuple[float, float, float]:
        """(typical time, low, high) in seconds over all launches; nan for unknown ends."""
        center = self.log_center
        # Several launches determine the correlation better than each alone: t - 1.96 falls as the degrees of
        # freedom add up.
        shrink = (Z + np.mean(self.quantile - Z) / len(self.quantile)) / self.quantile
        least = half_width_in_time(self.visits, self.visits_at_s)
        if self.chosen_from is not None:
            every = self.chosen_from
            least = max(least, undisturbed_half_width(every.visits, every.visits_at_s))
        below, above = margins(self.modes, self.visits, self.visits_at_s)
        low = center - max(float(half_width(self.log_typical, of_mean(self.below * shrink))), least, below)
        high = center + max(float(half_width(self.log_typical, of_mean(self.above * shrink))), least, above)
        return float(np.exp(center)), float(np.exp(low)), float(np.exp(high))

    @cached_property
    def modes(self) -> Modes | None:
        """The two modes of its visits, if they are clearly separate."""
        return modes(self.visits, self.visits_at_s)

    @property
    def undisturbed(self) -> Observation | None:
        """The case in its fastest mode, from the launches in which it occurred; None if there are too few
        visits to detect modes, as in runs with one visit per launch."""
        fast = fast_visits(self.visits)
        if fast is None:
            return None
        used = [k for k, of in enumerate(fast) if of.any()]
        return replace(
            self,
            launches=tuple(self.launches[k] for k in used),
            records=tuple(self.records[k] for k in used),
            chosen_from=self,
            **_by_launch([of_visits(self.visits[k][fast[k]], self.visits_at_s[k][fast[k]]) for k in used]),
        )


Times = Callable[[Record], LaunchTimes]
"""`launch_times`, or a `LaunchTimesOnce` if a run is observed repeatedly."""


def observe(
    run: RunRecords, catalog: Catalog, cost: Cost = "typical", times: Times = launch_times
) -> list[Observation]:
    """One observation per case, in order of first appearance, of its typical or its undisturbed cost (the
    typical one if modes cannot be detected). Records without times are skipped; so are interrupted ones and
    those of loaded launches, if enough others are left."""
    loaded = loaded_launches(run)
    made = (observe_case(kept(records, loaded), catalog, times) for records in run.by_case().values())
    return costing([observation for observation in made if observation is not None], cost)


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
    """The fields of an observation that are computed from its launches' times."""
    return {
        "log_typical": np.array([launch.center for launch in made]),
        "below": np.array([launch.below for launch in made]),
        "above": np.array([launch.above for launch in made]),
        "quantile": np.array([launch.quantile for launch in made]),
        "visits": tuple(launch.visits for launch in made),
        "visits_at_s": tuple(launch.at_s for launch in made),
    }
