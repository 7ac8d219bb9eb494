# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A run's results: the time of each algorithm for each operation, buffer and number of ranks, and MPI's time
divided by that of the best user-level algorithm."""

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
from hockney.studies.sizes import DOUBLE_BYTES

PAPER = reference.published("t3e")
AUTHORS = "M. Resch, H. Berger, R. Rabenseifner and T. Boenisch (1998)"
PRINTED_SIZES = {"8 B": ("8", 8), "1 KB": ("1KB", 1 << 10), "1 MB": ("1MB", 1 << 20)}
"""The paper's tables: the word in the keys of its rows, and the size of the buffer."""
MESSAGE_FORMULA = PAPER.formula("t3e/formula/pingpong")


def is_t3e(machine: Machine) -> bool:
    """Whether the machine is the simulated T3E or a variant of it."""
    platform = machine.platform
    return platform is not None and platform.name.partition("+")[0] == PAPER.name


def printed_times(operation: str, ranks: int) -> dict[int, float]:
    """Seconds by buffer size; empty if the paper has none for this operation and number of processes."""
    keys = {f"t3e/table/{operation}/{word}/{ranks}": size for word, size in PRINTED_SIZES.values()}
    return {keys[row.key]: row.si for row in PAPER.rows if row.key in keys}


EAGER_PREFIX = "eager-"
OWN_LIMIT = f"{EAGER_PREFIX}own"
"""The setting of launches with MPI's own limit."""


def limit_setting_name(limit: int) -> str:
    """The name, such as "eager-4096"."""
    return f"{EAGER_PREFIX}{limit}"


def limit_of(setting: str) -> int | None:
    """The limit (bytes) of a setting; None for other settings."""
    value = setting.removeprefix(EAGER_PREFIX)
    return int(value) if value != setting and value.isdecimal() else None


ADDITIONAL_DEFINITIONS = {
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
"""Definitions for operations that the paper lacks, each with the paper's operation on which it is based."""


def definition(operation: str) -> AggregatedBandwidth:
    """The definition for an operation. For operations without one, every rank has the whole buffer."""
    if operation in DEFINITIONS:
        return DEFINITIONS[operation]
    if operation in ADDITIONAL_DEFINITIONS:
        return ADDITIONAL_DEFINITIONS[operation][1]
    return AggregatedBandwidth(operation, "a process's block or vector")


def definition_source(operation: str) -> str:
    if operation in DEFINITIONS:
        return "the paper"
    return f"like {ADDITIONAL_DEFINITIONS[operation][0]}" if operation in ADDITIONAL_DEFINITIONS else ""


def block_bytes(operation: str, buffer: int, ranks: int) -> int:
    """A rank's block of a buffer of this size in whole doubles, as in the paper. It is empty if the buffer
    has fewer doubles than there are ranks."""
    if definition(operation).shared_out:
        return buffer // ranks // DOUBLE_BYTES * DOUBLE_BYTES
    return -(-buffer // DOUBLE_BYTES) * DOUBLE_BYTES


def mpi_name(operation: str) -> str:
    """The function's name, such as "MPI_Reduce_scatter_block"."""
    return f"MPI_{operation.capitalize()}"


@dataclass(frozen=True)
class CollectivePoint:
    """One operation on `ranks` ranks with blocks of `block` bytes. `times` contains the times of its
    algorithms (s). `best` is the fastest user-level algorithm ("" if none was measured), and `ratio` is MPI's
    time divided by its time, with the interval that the verdict uses."""

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
        """The size of the buffer by the paper's definition (bytes)."""
        return definition(self.operation).buffer_bytes(self.block, self.ranks)

    @property
    def nodes(self) -> int:
        """The number of nodes on which the ranks ran, the same for all algorithms; 0 if the launch
        decided."""
        return next(iter(self.times.values())).case.nodes

    def time(self, algorithm: str) -> Estimate | None:
        measured = self.times.get(algorithm)
        return None if measured is None else measured.summary.typical

    def bandwidth(self, algorithm: str) -> Estimate | None:
        """Aggregated bandwidth (B/s) by the paper's definition, with the bounds of the interval swapped. None
        if no byte is moved."""
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
        """The number of launches of MPI's own algorithm or of the best user-level one, whichever is
        smaller."""
        return min(self.times[name].summary.launches for name in (MPI, self.best) if name in self.times)


@dataclass(frozen=True)
class CollectiveResults(StudyResults):
    """All collectives of a run."""

    @cached_property
    def points(self) -> tuple[CollectivePoint, ...]:
        """The points by operation, ranks and size."""
        groups: dict[tuple[str, int, int], dict[str, MeasuredCase]] = {}
        for result in self.evidence.of_role("collective"):
            key = result.workload.operation, result.case.ranks, int(result.size)
            groups.setdefault(key, {})[str(result.case.get("algorithm", MPI))] = result
        return tuple(self._point(*key, groups[key]) for key in sorted(groups))

    def _point(
        self, operation: str, ranks: int, block: int, times: dict[str, MeasuredCase]
    ) -> CollectivePoint:
        user_level_times = {
            name: result.summary.typical.value for name, result in times.items() if name != MPI
        }
        best = (
            min(user_level_times, key=lambda name: (user_level_times[name], name)) if user_level_times else ""
        )
        mpi_ratio = self._ratio(times[MPI], times[best]) if best and MPI in times else None
        mpi_ratio = None if mpi_ratio is None else widen(mpi_ratio, self.interval_factor)
        return CollectivePoint(operation, ranks, block, times, best, mpi_ratio)

    @cached_property
    def interval_factor(self) -> float:
        """The factor by which intervals are widened for the number of user-level cases. It also covers that
        the best of several algorithms is chosen from the same measurements."""
        user_level_results = [
            result
            for result in self.evidence.of_role("collective")
            if result.case.get("algorithm", MPI) != MPI
        ]
        return interval_stretch(len(user_level_results))

    def _ratio(self, mpi: MeasuredCase, best: MeasuredCase) -> Estimate | None:
        if self.evidence.machine.is_exact:
            return ExactValue.of(mpi.summary.typical.value / best.summary.typical.value)
        numerator, denominator = self._observations.get(mpi.case.line), self._observations.get(best.case.line)
        return None if numerator is None or denominator is None else ratio(numerator, denominator)

    @cached_property
    def _observations(self) -> dict[str, Observation]:
        cases = (result.case for result in self.evidence.of_role("collective"))
        return {observation.case.line: observation for observation in self.evidence.observations(cases)}

    @property
    def operations(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.operation for p in self.points))

    @property
    def ranks(self) -> tuple[int, ...]:
        return tuple(sorted({p.ranks for p in self.points}))

    @property
    def default_ranks(self) -> int:
        """The number of ranks on the first screen: the largest with a core for each rank."""
        return self.evidence.max_count_with_cores(self.ranks)

    def column_size(self, point: CollectivePoint) -> float:
        """The size under which a table shows a point: that of its buffer, or the smallest one for empty
        blocks, which the smallest buffers have."""
        return point.buffer or self._smallest_buffer

    @cached_property
    def _smallest_buffer(self) -> float:
        return min((p.buffer for p in self.points if p.block), default=0.0)

    def points_on_ranks(self, ranks: int, operation: str = "") -> tuple[CollectivePoint, ...]:
        return tuple(p for p in self.points if p.ranks == ranks and operation in ("", p.operation))

    def compared_points(self, ranks: int) -> tuple[CollectivePoint, ...]:
        """The points with both MPI's own and a user-level algorithm."""
        return tuple(p for p in self.points_on_ranks(ranks) if p.ratio is not None)

    def slowest_points(self, ranks: int) -> dict[str, CollectivePoint]:
        """For each operation for which MPI is slower, the point with the largest factor; the largest factor
        first."""
        slowest: dict[str, CollectivePoint] = {}
        for point in self.points_on_ranks(ranks):
            if point.verdict == "slower" and _ratio_value(point) > _ratio_value(slowest.get(point.operation)):
                slowest[point.operation] = point
        return dict(sorted(slowest.items(), key=lambda item: -_ratio_value(item[1])))


def _ratio_value(point: CollectivePoint | None) -> float:
    return -math.inf if point is None or point.ratio is None else point.ratio.value


Predictions = Mapping[tuple[str, str, int, int], float]
"""Seconds by operation, algorithm, ranks and block."""


def predicted_times(evidence: Evidence) -> Predictions:
    """Predictions for every measured user-level algorithm with a cost model, computed once for each run."""
    return evidence.cached(_compute_predictions)


def _compute_predictions(evidence: Evidence) -> Predictions:
    cases: dict[tuple[str, str, int, int], list[int]] = {}
    for point in CollectiveResults.of(evidence).points:
        for name in point.times:
            if name != MPI:
                cases.setdefault((point.operation, name, point.ranks, point.nodes), []).append(point.block)
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
        predicted_s |= {
            (operation, name, ranks, prediction.size): prediction.time.value for prediction in times
        }
    return predicted_s


SizeObservations = dict[int, Observation]
"""The observations of one setting, by size."""


@dataclass(frozen=True)
class EagerLimit:
    """A limit (bytes), and the ping-pong's time with it relative to its time with MPI's own limit: `by_size`,
    and the geometric `mean` over all sizes. The intervals are those that the verdicts use: among the sizes of
    all limits, and among the limits."""

    limit: int
    setting: str
    by_size: dict[int, Estimate]
    mean: Estimate


@dataclass(frozen=True)
class EagerEffect(StudyResults):
    @cached_property
    def measured(self) -> dict[str, list[MeasuredCase]]:
        """The ping-pongs by setting."""
        by_setting: dict[str, list[MeasuredCase]] = {}
        for result in self.evidence.measured:
            if result.case.workload == "pingpong" and result.case.setting.startswith("eager-"):
                by_setting.setdefault(result.case.setting, []).append(result)
        return by_setting

    @cached_property
    def limits(self) -> tuple[EagerLimit, ...]:
        """The limits in ascending order; empty without times of MPI's own limit."""
        observations_by_setting = {
            name: [self._observations_by_size(results)] for name, results in self.measured.items()
        }
        if OWN_LIMIT not in observations_by_setting:
            return ()
        own_observations = observations_by_setting[OWN_LIMIT][0]
        nearest_level = self.evidence.levels[0]
        if default_observations := self._observations_by_size(
            nearest_level.of("pingpong", buffers="hot", ranks=2)
        ):
            observations_by_setting[OWN_LIMIT].append(default_observations)
        sizes_by_limit = {
            (limit, setting): sizes
            for setting, (observations, *_) in observations_by_setting.items()
            if (sizes := sorted(own_observations.keys() & observations.keys()))
            and (limit := limit_of(setting)) is not None
        }
        limits_stretch = interval_stretch(len(sizes_by_limit))
        limits = []
        for (limit, setting), sizes in sorted(sizes_by_limit.items()):
            sizes_stretch = interval_stretch(len(sizes_by_limit) * len(sizes))
            by_size = {
                size: widen(
                    _interleaved(observations_by_setting, size).ratio(setting, OWN_LIMIT), sizes_stretch
                )
                for size in sizes
            }
            mean = widen(
                InterleavedSettings.from_geometric_means(
                    _observations_with_sizes(observations_by_setting, sizes), sizes
                ).ratio(setting, OWN_LIMIT),
                limits_stretch,
            )
            limits.append(EagerLimit(limit, setting, by_size, mean))
        return tuple(limits)

    def _observations_by_size(self, measured: Iterable[MeasuredCase]) -> SizeObservations:
        return {
            int(observation.size): observation
            for observation in self.evidence.observations(result.case for result in measured)
        }

    @property
    def best(self) -> EagerLimit | None:
        """The limit with the smallest mean; None if that is not significantly below 1."""
        faster_limits = [limit for limit in self.limits if self.verdict(limit) == "faster"]
        return min(faster_limits, key=lambda limit: limit.mean.value, default=None)

    def verdict(self, limit: EagerLimit, size: int | None = None) -> Verdict:
        """Whether messages of this size, or on average over all sizes, are faster or slower than with MPI's
        own limit."""
        return verdict(limit.mean if size is None else limit.by_size[size])

    def sizes_with_verdict(self, limit: EagerLimit, verdict: Verdict) -> list[int]:
        """The sizes at which the limit has this verdict."""
        return [size for size in limit.by_size if self.verdict(limit, size) == verdict]


def _observations_with_sizes(
    observations_by_setting: Mapping[str, Sequence[SizeObservations]], sizes: Iterable[int]
) -> dict[str, list[SizeObservations]]:
    """The settings with observations that contain all of these sizes."""
    by_setting = {
        name: [observations for observations in setting_observations if observations.keys() >= set(sizes)]
        for name, setting_observations in observations_by_setting.items()
    }
    return {
        name: setting_observations
        for name, setting_observations in by_setting.items()
        if setting_observations
    }


def _interleaved(
    observations_by_setting: Mapping[str, Sequence[SizeObservations]], size: int
) -> InterleavedSettings:
    return InterleavedSettings.from_observations(
        {
            name: [by_size[size] for by_size in setting_observations]
            for name, setting_observations in _observations_with_sizes(
                observations_by_setting, [size]
            ).items()
        }
    )
