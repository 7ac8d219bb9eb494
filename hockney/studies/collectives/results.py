# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a run: the time of each algorithm for each operation, buffer and number of ranks, and MPI's
time over that of the best user-level algorithm."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from hockney.core.case import MPI
from hockney.core.fit import Estimate, ExactValue
from hockney.models.significance import widened
from hockney.models.statistics import Observation, Verdict, ratio, stricter, time_to_decide, verdict
from hockney.pages.evidence import Evidence, Measured
from hockney.studies.collectives.buffers import definition, mpi_name


@dataclass(frozen=True)
class CollectivePoint:
    """One operation on `ranks` ranks with blocks of `block` bytes. `times` are those of its algorithms (s),
    `best` is the fastest user-level one ("" if none was measured), and `ratio` MPI's time over its time, with
    the interval that the verdict uses."""

    operation: str
    ranks: int
    block: int
    times: Mapping[str, Measured]
    best: str = ""
    ratio: Estimate | None = None

    @property
    def name(self) -> str:
        return mpi_name(self.operation)

    @property
    def buffer(self) -> float:
        """The size of the buffer, as the paper defines it (bytes)."""
        return definition(self.operation).buffer_bytes(self.block, self.ranks)

    @property
    def nodes(self) -> int:
        """Over which the ranks were spread, 0 if the launch decided: the same for all algorithms."""
        return next(iter(self.times.values())).case.nodes

    def time(self, algorithm: str) -> Estimate | None:
        measured = self.times.get(algorithm)
        return None if measured is None else measured.summary.typical

    def bandwidth(self, algorithm: str) -> Estimate | None:
        """Aggregated bandwidth (B/s) by the paper's definition: the ends of the interval are swapped. None
        if no byte moves."""
        time = self.time(algorithm)
        if time is None or not self.block or time.value <= 0:
            return None
        rate = definition(self.operation).of_block
        value, low, high = (
            None if t is None or t <= 0 else rate(self.block, self.ranks, t)
            for t in (time.value, time.high, time.low)
        )
        if value is None:
            return None
        return ExactValue.of(value) if isinstance(time, ExactValue) else Estimate(value, low, high)

    @property
    def verdict(self) -> Verdict:
        """Whether MPI is slower or faster than the best user-level algorithm."""
        return verdict(self.ratio)

    @property
    def time_to_decide(self) -> float:
        """The multiple of the measuring time that an undecided comparison needs."""
        return math.inf if self.ratio is None else time_to_decide(self.ratio)

    @property
    def launches(self) -> int:
        """The fewest that measured MPI's own algorithm or the best user-level one."""
        return min(self.times[name].summary.launches for name in (MPI, self.best) if name in self.times)

    @property
    def fastest(self) -> str:
        """The algorithm to use: a user-level one only if MPI is slower."""
        return self.best if self.verdict == "slower" else MPI


@dataclass(frozen=True)
class CollectiveResults:
    """All collectives of a run."""

    evidence: Evidence

    @classmethod
    def of(cls, evidence: Evidence) -> CollectiveResults:
        """The same object for the same evidence, however often a page requests it."""
        return evidence.cached(cls)

    @cached_property
    def points(self) -> tuple[CollectivePoint, ...]:
        """The points by operation, ranks and size."""
        groups: dict[tuple[str, int, int], dict[str, Measured]] = {}
        for m in self.evidence.of_role("collective"):
            key = m.workload.operation, m.case.ranks, int(m.size)
            groups.setdefault(key, {})[str(m.case.get("algorithm", MPI))] = m
        return tuple(self._point(*key, groups[key]) for key in sorted(groups))

    def _point(self, operation: str, ranks: int, block: int, times: dict[str, Measured]) -> CollectivePoint:
        users = {name: m.summary.typical.value for name, m in times.items() if name != MPI}
        best = min(users, key=lambda name: (users[name], name)) if users else ""
        known = self._ratio(times[MPI], times[best]) if best and MPI in times else None
        known = None if known is None else widened(known, self.stricter)
        return CollectivePoint(operation, ranks, block, times, best, known)

    @cached_property
    def stricter(self) -> float:
        """The factor by which `widened` widens intervals, for as many comparisons as there are user-level
        cases: this also covers that the best of several algorithms is chosen by the same measurements."""
        users = [m for m in self.evidence.of_role("collective") if m.case.get("algorithm", MPI) != MPI]
        return stricter(len(users))

    def _ratio(self, mpi: Measured, best: Measured) -> Estimate | None:
        if self.evidence.machine.is_exact:
            return ExactValue.of(mpi.summary.typical.value / best.summary.typical.value)
        of, over = self._observed.get(mpi.case.line), self._observed.get(best.case.line)
        return None if of is None or over is None else ratio(of, over)

    @cached_property
    def _observed(self) -> dict[str, Observation]:
        cases = (m.case for m in self.evidence.of_role("collective"))
        return {o.case.line: o for o in self.evidence.observed(cases)}

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.operation for p in self.points))

    @property
    def ranks(self) -> tuple[int, ...]:
        return tuple(sorted({p.ranks for p in self.points}))

    @property
    def shown_first(self) -> int:
        """The number of ranks on the first screen: the largest with a core for each rank."""
        own = [count for count in self.ranks if count <= self.evidence.run.cores(self.evidence.machine)]
        return own[-1] if own else self.ranks[0] if self.ranks else 0

    def column(self, point: CollectivePoint) -> float:
        """The size under which a table shows a point: that of its buffer or, for empty blocks, which the
        smallest buffers have, the smallest one."""
        return point.buffer or self._smallest

    @cached_property
    def _smallest(self) -> float:
        return min((p.buffer for p in self.points if p.block), default=0.0)

    def of_ranks(self, ranks: int, operation: str = "") -> tuple[CollectivePoint, ...]:
        return tuple(p for p in self.points if p.ranks == ranks and operation in ("", p.operation))

    def compared(self, ranks: int) -> tuple[CollectivePoint, ...]:
        """The points with both MPI's own and a user-level algorithm."""
        return tuple(p for p in self.of_ranks(ranks) if p.ratio is not None)

    def worst(self, ranks: int) -> dict[str, CollectivePoint]:
        """The point where MPI is slower by the largest factor, for each operation with such points; the
        largest factor first."""
        found: dict[str, CollectivePoint] = {}
        for p in self.of_ranks(ranks):
            if p.verdict == "slower" and _value(p) > _value(found.get(p.operation)):
                found[p.operation] = p
        return dict(sorted(found.items(), key=lambda item: -_value(item[1])))


def _value(point: CollectivePoint | None) -> float:
    return -math.inf if point is None or point.ratio is None else point.ratio.value
