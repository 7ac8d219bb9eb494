# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The results of a run: the time of each algorithm for each operation, buffer and number of ranks, and MPI's
time over that of the best user-level algorithm."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from hockney import reference
from hockney.core.case import MPI
from hockney.core.errors import HockneyError
from hockney.core.fit import Estimate, ExactValue
from hockney.core.machine import Machine
from hockney.models import collective_costs
from hockney.models.significance import widen
from hockney.models.statistics import (
    InterleavedSettings,
    Observation,
    Verdict,
    interval_stretch,
    ratio,
    time_to_decide,
    verdict,
)
from hockney.pages.evidence import Evidence, MeasuredCase, StudyResults
from hockney.pages.format import rate_from_time
from hockney.reference.aggregated_bandwidth import DEFINITIONS, AggregatedBandwidth
from hockney.studies.sizes import DOUBLE

PAPER = reference.published("t3e")
NAMED = "M. Resch, H. Berger, R. Rabenseifner and T. Boenisch (1998)"
PRINTED_SIZES = {"8 B": ("8", 8), "1 KB": ("1KB", 1 << 10), "1 MB": ("1MB", 1 << 20)}
"""The paper's tables: the word in the keys of its rows, and the size of the buffer."""
FORMULA = PAPER.formula("t3e/formula/pingpong")


def is_t3e(machine: Machine) -> bool:
    """Whether it is the simulated T3E, or a variant."""
    platform = machine.platform
    return platform is not None and platform.name.partition("+")[0] == PAPER.name


def printed_times(operation: str, ranks: int) -> dict[int, float]:
    """Seconds by buffer size; empty if the paper has none for this operation and number of processes."""
    keys = {f"t3e/table/{operation}/{word}/{ranks}": size for word, size in PRINTED_SIZES.values()}
    return {keys[row.key]: row.si for row in PAPER.rows if row.key in keys}


EAGER_PREFIX = "eager-"
OWN_LIMIT = f"{EAGER_PREFIX}own"
"""The launches with MPI's own limit."""


def limit_setting(limit: int) -> str:
    """ "eager-4096"."""
    return f"{EAGER_PREFIX}{limit}"


def limit_of(setting: str) -> int | None:
    """The inverse (bytes); None for another setting."""
    limit = setting.removeprefix(EAGER_PREFIX)
    return int(limit) if limit != setting and limit.isdecimal() else None


LIKE = {
    "allgather": (
        "alltoall",
        AggregatedBandwidth("allgather", "the whole array that each process receives", shared_out=True),
    ),
    "reduce_scatter_block": (
        "reduce",
        AggregatedBandwidth("reduce_scatter_block", "the vector that is summed", shared_out=True),
    ),
    "scan": ("reduce", AggregatedBandwidth("scan", "the vector that is summed")),
}
"""Each with the paper's operation that it is defined like."""


def definition(operation: str) -> AggregatedBandwidth:
    """The definition for an operation; for one in neither table, every rank has the whole buffer."""
    if operation in DEFINITIONS:
        return DEFINITIONS[operation]
    if operation in LIKE:
        return LIKE[operation][1]
    return AggregatedBandwidth(operation, "a process's block or vector")


def source(operation: str) -> str:
    if operation in DEFINITIONS:
        return "the paper"
    return f"like {LIKE[operation][0]}" if operation in LIKE else ""


def block_bytes(operation: str, buffer: int, ranks: int) -> int:
    """A rank's block of a buffer of this size, in whole doubles, as in the paper: nothing if the buffer has
    fewer doubles than there are ranks."""
    if definition(operation).shared_out:
        return buffer // ranks // DOUBLE * DOUBLE
    return -(-buffer // DOUBLE) * DOUBLE


def mpi_name(operation: str) -> str:
    """ "MPI_Reduce_scatter_block"."""
    return f"MPI_{operation.capitalize()}"


@dataclass(frozen=True)
class CollectivePoint:
    """One operation on `ranks` ranks with blocks of `block` bytes. `times` are those of its algorithms (s),
    `best` is the fastest user-level one ("" if none was measured), and `ratio` MPI's time over its time, with
    the interval that the verdict uses."""

    operation: str
    ranks: int
    block: int
    times: Mapping[str, MeasuredCase]
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
        """The number of nodes over which the ranks were spread, the same for all algorithms; 0 if the launch
        decided."""
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
        return rate_from_time(definition(self.operation).total_bytes(self.buffer, self.ranks), time)

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
        """The smaller number of launches, of MPI's own algorithm and the best user-level one."""
        return min(self.times[name].summary.launches for name in (MPI, self.best) if name in self.times)


@dataclass(frozen=True)
class CollectiveResults(StudyResults):
    """All collectives of a run."""

    @cached_property
    def points(self) -> tuple[CollectivePoint, ...]:
        """The points by operation, ranks and size."""
        groups: dict[tuple[str, int, int], dict[str, MeasuredCase]] = {}
        for m in self.evidence.of_role("collective"):
            key = m.workload.operation, m.case.ranks, int(m.size)
            groups.setdefault(key, {})[str(m.case.get("algorithm", MPI))] = m
        return tuple(self._point(*key, groups[key]) for key in sorted(groups))

    def _point(
        self, operation: str, ranks: int, block: int, times: dict[str, MeasuredCase]
    ) -> CollectivePoint:
        users = {name: m.summary.typical.value for name, m in times.items() if name != MPI}
        best = min(users, key=lambda name: (users[name], name)) if users else ""
        mpi_ratio = self._ratio(times[MPI], times[best]) if best and MPI in times else None
        mpi_ratio = None if mpi_ratio is None else widen(mpi_ratio, self.stricter)
        return CollectivePoint(operation, ranks, block, times, best, mpi_ratio)

    @cached_property
    def stricter(self) -> float:
        """The factor by which `widened` widens intervals, for as many comparisons as there are user-level
        cases: this also covers that the best of several algorithms is chosen by the same measurements."""
        users = [m for m in self.evidence.of_role("collective") if m.case.get("algorithm", MPI) != MPI]
        return interval_stretch(len(users))

    def _ratio(self, mpi: MeasuredCase, best: MeasuredCase) -> Estimate | None:
        if self.evidence.machine.is_exact:
            return ExactValue.of(mpi.summary.typical.value / best.summary.typical.value)
        numerator, denominator = self._observed.get(mpi.case.line), self._observed.get(best.case.line)
        return None if numerator is None or denominator is None else ratio(numerator, denominator)

    @cached_property
    def _observed(self) -> dict[str, Observation]:
        cases = (m.case for m in self.evidence.of_role("collective"))
        return {o.case.line: o for o in self.evidence.observations(cases)}

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.operation for p in self.points))

    @property
    def ranks(self) -> tuple[int, ...]:
        return tuple(sorted({p.ranks for p in self.points}))

    @property
    def shown_first(self) -> int:
        """The number of ranks on the first screen: the largest with a core for each rank."""
        return self.evidence.max_count_with_cores(self.ranks)

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
        by_operation: dict[str, CollectivePoint] = {}
        for p in self.of_ranks(ranks):
            if p.verdict == "slower" and _value(p) > _value(by_operation.get(p.operation)):
                by_operation[p.operation] = p
        return dict(sorted(by_operation.items(), key=lambda item: -_value(item[1])))


def _value(point: CollectivePoint | None) -> float:
    return -math.inf if point is None or point.ratio is None else point.ratio.value


Predictions = Mapping[tuple[str, str, int, int], float]
"""Seconds by operation, algorithm, ranks and block."""


def predictions(evidence: Evidence) -> Predictions:
    """Predictions for every user-level algorithm that was measured and has a cost model; computed once for
    each run."""
    return evidence.cached(_compute_predictions)


def _compute_predictions(evidence: Evidence) -> Predictions:
    cases: dict[tuple[str, str, int, int], list[int]] = {}
    for p in CollectiveResults.of(evidence).points:
        for name in p.times:
            if name != MPI:
                cases.setdefault((p.operation, name, p.ranks, p.nodes), []).append(p.block)
    predicted_s: dict[tuple[str, str, int, int], float] = {}
    hosts = evidence.run.max_hosts()
    for (operation, name, ranks, nodes), blocks in cases.items():
        try:
            times = collective_costs.predict(
                evidence.fits, evidence.machine, operation, name, ranks, blocks,
                where="this run", hosts=hosts, nodes=nodes,
            )  # fmt: skip
        except HockneyError:  # no model of messages, or none of this algorithm on so many ranks
            continue
        predicted_s |= {(operation, name, ranks, each.size): each.time.value for each in times}
    return predicted_s


SizeObservations = dict[int, Observation]
"""The observations of one setting, by size."""


@dataclass(frozen=True)
class EagerLimit:
    """A limit (bytes), and the pingpong's time with it relative to its time with MPI's own limit: `by_size`,
    and the geometric mean over all sizes, `over_all`, with the intervals that the verdicts use: among the
    sizes of all limits, and among the limits."""

    limit: int
    setting: str
    by_size: dict[int, Estimate]
    over_all: Estimate


@dataclass(frozen=True)
class EagerEffect(StudyResults):
    @cached_property
    def measured(self) -> dict[str, list[MeasuredCase]]:
        """The pingpongs with each setting."""
        by_setting: dict[str, list[MeasuredCase]] = {}
        for m in self.evidence.measured:
            if m.case.workload == "pingpong" and m.case.setting.startswith("eager-"):
                by_setting.setdefault(m.case.setting, []).append(m)
        return by_setting

    @cached_property
    def limits(self) -> tuple[EagerLimit, ...]:
        """Ascending; empty without times of MPI's own limit."""
        named = {name: [self._observed(each)] for name, each in self.measured.items()}
        if OWN_LIMIT not in named:
            return ()
        own = named[OWN_LIMIT][0]
        nearest = self.evidence.levels[0]
        if ordinary := self._observed(nearest.of("pingpong", buffers="hot", ranks=2)):
            named[OWN_LIMIT].append(ordinary)
        sizes_by_limit = {
            (limit, setting): sizes
            for setting, (observations, *_) in named.items()
            if (sizes := sorted(own.keys() & observations.keys()))
            and (limit := limit_of(setting)) is not None
        }
        limits_stretch = interval_stretch(len(sizes_by_limit))
        limits = []
        for (limit, setting), sizes in sorted(sizes_by_limit.items()):
            sizes_stretch = interval_stretch(len(sizes_by_limit) * len(sizes))
            by_size = {
                size: widen(_turns(named, size).ratio(setting, OWN_LIMIT), sizes_stretch) for size in sizes
            }
            mean = widen(
                InterleavedSettings.from_geometric_means(_with_sizes(named, sizes), sizes).ratio(
                    setting, OWN_LIMIT
                ),
                limits_stretch,
            )
            limits.append(EagerLimit(limit, setting, by_size, mean))
        return tuple(limits)

    def _observed(self, measured: Iterable[MeasuredCase]) -> SizeObservations:
        return {int(o.size): o for o in self.evidence.observations(m.case for m in measured)}

    @property
    def best(self) -> EagerLimit | None:
        """The limit with the smallest mean; None if that is not significantly below 1."""
        faster_limits = [each for each in self.limits if self.verdict(each) == "faster"]
        return min(faster_limits, key=lambda each: each.over_all.value, default=None)

    def verdict(self, each: EagerLimit, size: int | None = None) -> Verdict:
        """Whether messages with one of the limits are faster or slower than with MPI's own: of this size,
        or on average over all sizes."""
        return verdict(each.over_all if size is None else each.by_size[size])

    def sizes(self, each: EagerLimit, verdict: Verdict) -> list[int]:
        """The sizes at which the limit has this verdict."""
        return [size for size in each.by_size if self.verdict(each, size) == verdict]


def _with_sizes(
    named: Mapping[str, Sequence[SizeObservations]], sizes: Iterable[int]
) -> dict[str, list[SizeObservations]]:
    """The settings, and those of their observations, that have all of these sizes."""
    by_setting = {name: [each for each in same if each.keys() >= set(sizes)] for name, same in named.items()}
    return {name: same for name, same in by_setting.items() if same}


def _turns(named: Mapping[str, Sequence[SizeObservations]], size: int) -> InterleavedSettings:
    return InterleavedSettings.from_observations(
        {name: [by_size[size] for by_size in same] for name, same in _with_sizes(named, [size]).items()}
    )
