# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What computing hides of a communication that was started before it, and what that costs the computing.

A case's launch gives three times: the communication by itself, t_pure (started and completed at once), the
computation by itself, t_work, and both at once, t_total. Without overlap, the last is the sum of the others.

- ratio: t_total / (t_pure + t_work). Starting the communication early pays where this is below 1.
- hidden: (t_pure + t_work - t_total) / min(t_pure, t_work), the hidden share of the shorter of the two; cut
  off at 0 and 1, this is the overlap of the Intel MPI Benchmarks (User Guide, IMB-NBC). Negative if both at
  once take longer than one after the other.
- availability: t_work / t_total, the share of the time in which the processor computes for the program: the
  CPU availability of W. Lawry, C. Wilson, A. B. Maccabe and R. Brightwell, 'COMB: A Portable Benchmark Suite
  for Assessing MPI Overlap', CLUSTER 2002, in their post-work-wait method.
- slowdown: the time of the computation between the calls over t_work.

Each is computed in every launch, whose times share what the launch does to them; the launches give the
interval."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate, ExactValue
from hockney.core.record import Record
from hockney.models.statistics import Observation, center, estimate, half_width

ROLE = "overlap"
PURE, WORK = "pure", "work"
"""Metrics: the time of the communication by itself, and that of the computation by itself."""
REPORTED = "overlap"
"""The engine's own overlap of each repetition, in percent."""
COMPUTING = "computing"
PHASES = ("posting", COMPUTING, "testing", "waiting")
"""Metrics: the parts of t_total."""


@dataclass(frozen=True)
class OverlapTimes:
    """One case: its times in each launch (s). `within` is the half width of the 95% interval of the centre of
    log t_total that the spread within launches implies (nan if unknown). `exact` times do not vary."""

    total: np.ndarray
    pure: np.ndarray
    work: np.ndarray
    computing: np.ndarray | None
    within: float = float("nan")
    exact: bool = False

    @classmethod
    def of(cls, seen: Observation, *, exact: bool = False) -> OverlapTimes | None:
        """None if a launch does not report the times of both parts by themselves."""
        pure, work, computing = (_each(seen.records, name) for name in (PURE, WORK, COMPUTING))
        if pure is None or work is None or not len(pure):
            return None
        within = seen.within
        return cls(np.exp(seen.log_typical), pure, work, computing, within, exact)

    @property
    def launches(self) -> int:
        return len(self.total)

    @property
    def apart(self) -> np.ndarray:
        """One after the other: t_pure + t_work."""
        return np.asarray(self.pure + self.work)

    @cached_property
    def ratio(self) -> Estimate:
        return self._factor(self.total / self.apart)

    @cached_property
    def hidden(self) -> Estimate:
        """As a share of 1, not cut off; 0 without an interval if nothing was communicated or computed."""
        shorter = np.minimum(self.pure, self.work)
        if not (shorter > 0).all():
            return Estimate(0.0, None, None)
        within = self.within * float(np.mean(self.total / shorter))
        return self._share((self.apart - self.total) / shorter, within)

    @property
    def imb(self) -> Estimate:
        """The overlap of IMB-NBC, as a share of 1."""
        return cut_off(self.hidden)

    @cached_property
    def availability(self) -> Estimate:
        return self._factor(self.work / self.total)

    @cached_property
    def slowdown(self) -> Estimate | None:
        """None without the time of the computation, or if nothing was computed."""
        if self.computing is None or not (self.work > 0).all() or not (self.computing > 0).all():
            return None
        return self._factor(self.computing / self.work)

    @cached_property
    def pure_s(self) -> Estimate:
        return self._factor(self.pure)

    @cached_property
    def work_s(self) -> Estimate:
        return self._factor(self.work)

    def ratio_to(self, plain: OverlapTimes) -> Estimate:
        """The ratio if the communication by itself takes as long as in launches with other settings, which
        take turns with these: t_total / (t_pure of `plain` + t_work)."""
        count = min(self.launches, plain.launches)
        return self._factor(self.total[:count] / (plain.pure[:count] + self.work[:count]))

    def pure_ratio(self, plain: OverlapTimes) -> Estimate:
        """t_pure over that of launches with other settings."""
        count = min(self.launches, plain.launches)
        return self._factor(self.pure[:count] / plain.pure[:count])

    def _factor(self, values: np.ndarray) -> Estimate:
        """Of a positive quantity, by its logarithms."""
        if not (values > 0).all():
            return Estimate(float(center(values)), None, None)
        logs = np.log(values)
        middle = float(center(logs))
        if self.exact:
            return ExactValue.of(float(np.exp(middle)))
        half = float(half_width(logs, self.within))
        return estimate(float(np.exp(middle)), float(np.exp(middle - half)), float(np.exp(middle + half)))

    def _share(self, values: np.ndarray, within: float) -> Estimate:
        """Of a quantity that may be 0 or negative."""
        middle = float(center(values))
        if self.exact:
            return ExactValue.of(middle)
        half = float(half_width(values, within))
        return estimate(middle, middle - half, middle + half)


def cut_off(share: Estimate) -> Estimate:
    """A share with its interval, between 0 and 1."""

    def inside(value: float) -> float:
        return min(1.0, max(0.0, value))

    if isinstance(share, ExactValue):
        return ExactValue.of(inside(share.value))
    low, high = (None if end is None else inside(end) for end in (share.low, share.high))
    return Estimate(inside(share.value), low, high)


def _each(records: Iterable[Record], name: str) -> np.ndarray | None:
    """The median of a metric in each record; None if one lacks it."""
    series = [record.metrics.get(name) for record in records]
    known = [each.values for each in series if each is not None and each.values]
    return np.array([float(np.median(values)) for values in known]) if len(known) == len(series) else None
