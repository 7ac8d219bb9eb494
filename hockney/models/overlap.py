# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a communication hidden by a computation that runs at the same time, and its cost for the
computation.

Each repetition of a case measures three times: t_pure of the communication alone (started and completed at
once), t_cpu of the computation alone, and t_total of both together. Without overlap, t_total is the sum of
the others.

- ratio: t_total / (t_pure + t_cpu). Starting the communication early pays where this is below 1.
- hidden: (t_pure + t_cpu - t_total) / min(t_pure, t_cpu), the hidden share of the shorter of the two. Cut off
  at 0 and 1, this is the overlap of the Intel MPI Benchmarks (User Guide, IMB-NBC). It is negative if both at
  once take longer than one after the other.
- availability: t_cpu / t_total, the CPU availability of W. Lawry, C. Wilson, A. B. Maccabe and R. Brightwell,
  'COMB: A Portable Benchmark Suite for Assessing MPI Overlap', CLUSTER 2002.
- slowdown: the time of the computation between the calls of MPI, over that without communication.

Each value is computed for every repetition and summarised like a metric. The engine reports the same values
as metrics, but limits the hidden share to the range from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate, ExactValue
from hockney.core.record import Record
from hockney.models.statistics import Observation, summarise_launches

PURE = "pure"
CPU = ("cpu", "work")
"""The time of the computation without communication; records of hockney 0.1 have only the preset one."""
PHASES = ("posting", "computing", "testing", "waiting")
"""The parts of t_total. Their sum lacks the readings of the clock at both ends, which t_cpu and t_pure lack
too: a few percent of a microsecond's operation."""
COMPUTING, ALONE, STEP = "computing", "alone", "step"
"""The computation between the calls, the same without communication, and one step of the latter."""


@dataclass(frozen=True)
class RecordTimes:
    """Times of each repetition of a launch (s)."""

    total: np.ndarray
    pure: np.ndarray
    cpu: np.ndarray
    slowdown: np.ndarray | None
    step: np.ndarray | None

    @classmethod
    def of(cls, record: Record) -> RecordTimes | None:
        """Times in a record; None if it does not report communication and computation separately."""
        pure = _each(record, PURE)
        cpu = next((known for name in CPU if (known := _each(record, name)) is not None), None)
        if pure is None or cpu is None:
            return None
        computing, alone = _each(record, COMPUTING), _each(record, ALONE)
        slower = None
        if computing is not None and alone is not None and (alone > 0).all():
            slower = computing / alone
        phases = [known for name in PHASES if (known := _each(record, name)) is not None]
        total = np.sum(phases, axis=0) if len(phases) == len(PHASES) else np.asarray(record.times_s)
        return cls(total, pure, cpu, slower, _each(record, STEP))

    @property
    def ratio(self) -> np.ndarray:
        return np.asarray(self.total / (self.pure + self.cpu))

    @property
    def hidden(self) -> np.ndarray:
        """0 where nothing was communicated or computed."""
        shorter = np.minimum(self.pure, self.cpu)
        saved = self.pure + self.cpu - self.total
        return np.divide(saved, shorter, out=np.zeros_like(saved), where=shorter > 0)

    @property
    def imb(self) -> np.ndarray:
        return np.clip(self.hidden, 0.0, 1.0)

    @property
    def availability(self) -> np.ndarray:
        return np.asarray(self.cpu / self.total)

    def step_ratio(self, other: RecordTimes) -> float:
        """Ratio of the times of a step of the computation; 1 if unknown."""
        if self.step is None or other.step is None:
            return 1.0
        one, another = float(np.median(self.step)), float(np.median(other.step))
        return one / another if one > 0 and another > 0 else 1.0


@dataclass(frozen=True)
class OverlapTimes:
    """Times of a case, one entry per launch. `exact` times do not vary."""

    launches: tuple[RecordTimes, ...]
    exact: bool = False

    @classmethod
    def of(cls, seen: Observation, *, exact: bool = False) -> OverlapTimes:
        """Times of the launches that report communication and computation separately."""
        each = (RecordTimes.of(record) for record in seen.records)
        return cls(tuple(times for times in each if times is not None), exact)

    @cached_property
    def ratio(self) -> Estimate:
        return self._typical(lambda launch: launch.ratio)

    @cached_property
    def hidden(self) -> Estimate:
        return self._typical(lambda launch: launch.hidden)

    @cached_property
    def imb(self) -> Estimate:
        return self._share(self._typical(lambda launch: launch.imb))

    @cached_property
    def availability(self) -> Estimate:
        """Available share of the processor, limited to 1 despite noise."""
        return self._share(self._typical(lambda launch: launch.availability))

    def _share(self, found: Estimate) -> Estimate:
        low, high = (None if end is None else min(1.0, max(0.0, end)) for end in (found.low, found.high))
        return found if self.exact else Estimate(min(1.0, max(0.0, found.value)), low, high)

    @cached_property
    def slowdown(self) -> Estimate | None:
        """Slowdown of the computation between the calls; None if that was not timed."""
        each = [launch.slowdown for launch in self.launches]
        known = [values for values in each if values is not None]
        return self._over(known) if len(known) == len(each) else None

    @cached_property
    def pure(self) -> Estimate:
        return self._typical(lambda launch: launch.pure)

    @cached_property
    def cpu(self) -> Estimate:
        return self._typical(lambda launch: launch.cpu)

    def ratio_to(self, plain: OverlapTimes) -> Estimate:
        """t_total over the time of communication followed by the same computation with other, interleaved
        launch settings."""
        return self._over(
            [
                one.total / (np.median(other.pure) + one.cpu / one.step_ratio(other))
                for one, other in self._turns(plain)
            ]
        )

    def pure_ratio(self, plain: OverlapTimes) -> Estimate:
        """Ratio of t_pure to that with other launch settings."""
        return self._over([one.pure / np.median(other.pure) for one, other in self._turns(plain)])

    def step_ratio(self, plain: OverlapTimes) -> Estimate:
        """Ratio of the time of the same computation without communication to that with other launch
        settings."""
        return self._over([np.array([one.step_ratio(other)]) for one, other in self._turns(plain)])

    def _turns(self, plain: OverlapTimes) -> Iterator[tuple[RecordTimes, RecordTimes]]:
        return zip(self.launches, plain.launches, strict=False)

    def _typical(self, value: Callable[[RecordTimes], np.ndarray]) -> Estimate:
        return self._over([value(launch) for launch in self.launches])

    def _over(self, launches: list[np.ndarray]) -> Estimate:
        found = summarise_launches(launches)
        return ExactValue.of(found.value) if self.exact else found


def _each(record: Record, name: str) -> np.ndarray | None:
    """Values of a metric for each repetition, repeated if the record has a single value. None without
    values."""
    series = record.metrics.get(name)
    if series is None or series.over_ranks == "each" or not series.values:
        return None
    values = np.asarray(series.values, dtype=float)
    count = len(record.times_s)
    if len(values) == count:
        return values
    return np.full(count, values[0]) if len(values) == 1 else None
