# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the models see of the records: one observation a case.

What it is made of (each launch's median with its interval, and how launches are combined) is known in this
folder only. Times are handled by their logarithms: errors of times are relative, launches differ by factors,
and an interval of a time must not reach below zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Catalog, Workload
from hockney.core.record import Record, RunRecords
from hockney.models.statistics.interval import interval_and_quantile
from hockney.models.statistics.launch_variance import Z, half_width, of_mean

SHORTEST_S = 1e-12
"""Stands for a time of zero, which a coarse clock or a simulator may report."""

WIDE = 0.7
"""The log of an interval whose ends are a factor of two apart."""


@dataclass(frozen=True)
class Observation:
    """One case, of a `workload` of the catalog. The arrays have one entry a launch: log of the median, and
    how far the ends of its 95% interval are below and above it (log as well, nan where there is no interval),
    and the quantile that the interval used."""

    case: Case
    workload: Workload
    launches: tuple[str, ...]
    log_median: np.ndarray
    below: np.ndarray
    above: np.ndarray
    quantile: np.ndarray
    errors: int = 0
    records: tuple[Record, ...] = field(default=(), repr=False, compare=False)

    @property
    def role(self) -> str:
        return self.workload.role

    @property
    def size(self) -> float:
        """What the catalog says is the case's size; 0 for a workload without one, as a barrier."""
        return self.workload.size_of(self.case)

    @property
    def log_center(self) -> float:
        """Log of the median time of the typical launch: the mean over the launches' logarithms."""
        return float(self.log_median.mean())

    @property
    def log_unbiased(self) -> np.ndarray:
        """Each launch's log median less its bias. The median of n times is the quantile function at a
        random place p around 1/2; where that function bends the mean of what it gives is off by half its
        curvature times the variance of p, which is how far the middle of the interval is off the median,
        divided by z**2. It matters where a model averages over many cases. Not for intervals so wide
        that they may show single outliers instead of curvature."""
        wide = ~(self.below + self.above < WIDE)
        return self.log_median - np.where(wide, 0.0, (self.above - self.below) / 2 / Z**2)

    @property
    def within(self) -> float:
        """Standard error of `log_center` from the spread inside the launches alone, nan where unknown."""
        return of_mean((self.below + self.above) / 2 / self.quantile)

    def interval(self) -> tuple[float, float, float]:
        """(median, low, high) in seconds over all launches; nan for ends that are not known."""
        center = self.log_center
        # Launches together know the correlation better than each alone: t - 1.96 falls as the degrees of
        # freedom add up.
        shrink = (Z + np.mean(self.quantile - Z) / len(self.quantile)) / self.quantile
        low = center - float(half_width(self.log_median, of_mean(self.below * shrink)))
        high = center + float(half_width(self.log_median, of_mean(self.above * shrink)))
        return float(np.exp(center)), float(np.exp(low)), float(np.exp(high))


def observe(run: RunRecords, catalog: Catalog) -> list[Observation]:
    """One observation a case, in the order first written. Records without times are passed over."""
    made = (observe_case(records, catalog) for records in run.by_case().values())
    return [observation for observation in made if observation is not None]


def observe_case(records: Iterable[Record], catalog: Catalog) -> Observation | None:
    used = tuple(r for r in records if r.times_s)
    if not used:
        return None
    ends = np.array([_log_ends(r.times_s) for r in used])
    case = used[0].parsed_case()
    return Observation(
        case=case,
        workload=catalog.entry(case.workload),
        launches=tuple(r.launch for r in used),
        log_median=ends[:, 0],
        below=ends[:, 1],
        above=ends[:, 2],
        quantile=ends[:, 3],
        errors=sum(r.verified.errors for r in used),
        records=used,
    )


def _log_ends(times: Sequence[float]) -> tuple[float, float, float, float]:
    *ends, quantile = interval_and_quantile(times)
    median, low, high = (np.nan if t is None else t for t in ends)
    log, log_low, log_high = np.log(np.maximum((median, low, high), SHORTEST_S))
    return log, log - log_low, log_high - log, quantile
