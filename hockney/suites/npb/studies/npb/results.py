# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Each benchmark on each number of ranks: its speed-up, where its time goes, what barriers in it change, and
the time that was predicted from one rank and the costs of messages, with the assumption that fails.

The parts of a time are means over the ranks. A part's share is relative to the sum of the parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Literal, get_args

import numpy as np

from hockney.core.case import MPI
from hockney.core.fit import DefinedValue, Estimate, ExactValue
from hockney.core.record import Record
from hockney.models.programs.communication import Communication
from hockney.models.programs.timing import IterationTime, iteration_time
from hockney.models.statistics import Observation, mean_ratio, ratio
from hockney.pages.caveats import under_load
from hockney.pages.evidence import Evidence, Measured
from hockney.pages.format import rate_of
from hockney.pages.metrics import rate
from hockney.studies.program_costs import communication
from hockney.suites.npb.programs import program_of
from hockney.suites.npb.programs.assumptions import KernelDiagnosis, PhaseTime, diagnose
from hockney.suites.npb.programs.program import NpbProgram, Rates, measured_rates

ROLE = "npb"
NO_BARRIER = "none"
Part = Literal["computation", "messages", "collectives", "barriers", "waiting"]
PARTS: tuple[Part, ...] = get_args(Part)
PHASE_PARTS = ("computation", "communication", "waiting")


@dataclass(frozen=True)
class NpbPoint:
    """A benchmark on `ranks` ranks, with a barrier at each iteration or step, or without one. `parts` are the
    seconds of each part of a run. `records` are its launches."""

    measured: Measured
    observation: Observation
    records: tuple[Record, ...]

    @property
    def kernel(self) -> str:
        return self.measured.case.workload

    @property
    def size(self) -> str:
        """The class."""
        return str(self.measured.case["class"])

    @property
    def ranks(self) -> int:
        return self.measured.case.ranks

    @property
    def barrier_at(self) -> str:
        """The place of the barrier: none, iteration or step."""
        return str(self.measured.case["barrier_at"])

    @property
    def barrier(self) -> str:
        """Empty without one."""
        return "" if self.barrier_at == NO_BARRIER else str(self.measured.case["barrier"])

    @property
    def time(self) -> Estimate:
        """The time of a run (s)."""
        return self.measured.summary.typical

    @property
    def rate(self) -> Estimate | None:
        """Operations per second by the official count; None if it was not reported."""
        return rate(self.measured.summary)

    @cached_property
    def parts(self) -> dict[Part, Estimate]:
        metrics = self.measured.summary.metrics
        return {part: metrics[part].typical for part in PARTS if part in metrics}

    def share(self, *parts: Part) -> float:
        """The share of these parts together, from 0 to 1."""
        total = sum(each.value for each in self.parts.values())
        return sum(self.parts[part].value for part in parts if part in self.parts) / total if total else 0.0

    @property
    def verified(self) -> bool | None:
        """Whether all answers of all runs were right; None if nothing was verified."""
        if any(record.verified.errors for record in self.records):
            return False
        return True if any(record.verified.bytes for record in self.records) else None

    @property
    def decomposition(self) -> str:
        return self._label("decomposition")

    @cached_property
    def phases(self) -> tuple[PhaseTime, ...]:
        """The mean over the launches, in the order of an iteration."""
        names = [name for name in self._label("phases").split(",") if name]
        launches = [
            [r.metrics[f"phase_{kind}"].values for kind in PHASE_PARTS]
            for r in self.records
            if _has_phases(r)
        ]
        if not launches or not all(len(values) == len(names) for launch in launches for values in launch):
            return ()
        means = np.mean(np.array(launches), axis=0)
        return tuple(PhaseTime(name, *map(float, means[:, k])) for k, name in enumerate(names))

    def _label(self, name: str) -> str:
        return next((r.labels[name] for r in self.records if name in r.labels), "")


def _has_phases(record: Record) -> bool:
    return all(f"phase_{kind}" in record.metrics for kind in PHASE_PARTS)


@dataclass(frozen=True)
class BarrierEffect:
    """The effect of a barrier in a benchmark. `cost` is the time with it over the time without, `gain` the
    time with MPI's barrier over the time with this one: above 1 if this one is better. None if one of the two
    was not measured."""

    point: NpbPoint
    cost: Estimate | None
    gain: Estimate | None

    @property
    def win(self) -> Estimate | None:
        return won_back(self.gain)


@dataclass(frozen=True)
class MeanEffect:
    """The effect of a barrier as the geometric mean over benchmarks on one number of ranks. `barriers` and
    `waiting` are the mean shares of their times with this barrier."""

    ranks: int
    barrier: str
    barrier_at: str
    kernels: tuple[str, ...]
    cost: Estimate
    gain: Estimate | None
    barriers: float
    waiting: float

    @property
    def win(self) -> Estimate | None:
        return won_back(self.gain)


@dataclass(frozen=True)
class NpbResults:
    evidence: Evidence

    @classmethod
    def of(cls, evidence: Evidence) -> NpbResults:
        return evidence.cached(cls)

    @cached_property
    def points(self) -> tuple[NpbPoint, ...]:
        """The points by benchmark, ranks, place and barrier, MPI's first."""
        records = self.evidence.run.by_case()
        measured = {m.case.line: m for m in self.evidence.of_role(ROLE)}
        points = [
            NpbPoint(
                measured[observation.case.line], observation, tuple(records.get(observation.case.line, ()))
            )
            for observation in self.evidence.observed(m.case for m in measured.values())
        ]
        return tuple(
            sorted(points, key=lambda p: (p.kernel, p.ranks, p.barrier_at, p.barrier != MPI, p.barrier))
        )

    @cached_property
    def plain(self) -> tuple[NpbPoint, ...]:
        """The points without barriers."""
        return tuple(p for p in self.points if p.barrier_at == NO_BARRIER)

    @cached_property
    def _plain_at(self) -> dict[tuple[str, int], NpbPoint]:
        return {(p.kernel, p.ranks): p for p in self.plain}

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.kernel for p in self.points))

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.size for p in self.points))

    @property
    def rank_counts(self) -> tuple[int, ...]:
        """Numbers of ranks."""
        return tuple(sorted({p.ranks for p in self.points}))

    @cached_property
    def headline_ranks(self) -> int:
        """The number of ranks in the headline: the largest with a core for each, otherwise the smallest above
        1; 1 if there is no other."""
        parallel_counts = [p for p in self.rank_counts if p > 1]
        full_counts = [p for p in parallel_counts if p <= self.evidence.run.cores(self.evidence.machine)]
        return full_counts[-1] if full_counts else parallel_counts[0] if parallel_counts else 1

    @property
    def wrong_points(self) -> tuple[NpbPoint, ...]:
        return tuple(p for p in self.points if p.verified is False)

    def speedup(self, point: NpbPoint) -> Estimate | None:
        """T(1) / T(p) of a benchmark without barriers; None if one rank was not measured."""
        one = self._plain_at.get((point.kernel, 1))
        if one is None:
            return None
        return DefinedValue.of(1.0) if point.ranks == 1 else self._ratio(one, point)

    def efficiency(self, point: NpbPoint) -> Estimate | None:
        """Speed-up divided by the number of ranks."""
        speedup = self.speedup(point)
        return None if speedup is None else scale(speedup, 1 / point.ranks)

    @cached_property
    def effects(self) -> tuple[BarrierEffect, ...]:
        """The effect of the barrier at each point that has one."""
        return tuple(
            BarrierEffect(
                p,
                cost=None if (plain := self._without(p)) is None else self._ratio(p, plain),
                gain=None if (mpi := self._with_mpi(p)) is None else self._ratio(mpi, p),
            )
            for p in self.points
            if p.barrier_at != NO_BARRIER
        )

    @cached_property
    def means(self) -> tuple[MeanEffect, ...]:
        """Mean effects over the benchmarks that were measured with and without the barrier, by ranks, place
        and cost."""
        groups: dict[tuple[int, str, str], list[NpbPoint]] = {}
        for p in self.points:
            if p.barrier_at != NO_BARRIER and self._without(p) is not None:
                groups.setdefault((p.ranks, p.barrier_at, p.barrier), []).append(p)
        means = [self._mean(points) for points in groups.values()]
        return tuple(sorted(means, key=lambda each: (each.ranks, each.barrier_at, each.cost.value)))

    def mean(self, ranks: int, barrier_at: str, barrier: str) -> MeanEffect | None:
        return next(
            (e for e in self.means if (e.ranks, e.barrier_at, e.barrier) == (ranks, barrier_at, barrier)),
            None,
        )

    def best(self, ranks: int, barrier_at: str) -> MeanEffect | None:
        """The barrier other than MPI's with the smallest mean cost."""
        effects = (
            e for e in self.means if (e.ranks, e.barrier_at) == (ranks, barrier_at) and e.barrier != MPI
        )
        return next(effects, None)

    def _mean(self, points: Sequence[NpbPoint]) -> MeanEffect:
        plain = [(p, q) for p in points if (q := self._without(p)) is not None]
        mpi = [(q, p) for p in points if (q := self._with_mpi(p)) is not None]
        first = points[0]
        return MeanEffect(
            ranks=first.ranks,
            barrier=first.barrier,
            barrier_at=first.barrier_at,
            kernels=tuple(p.kernel for p in points),
            cost=self._mean_ratio(plain),
            gain=self._mean_ratio(mpi) if len(mpi) == len(plain) and first.barrier != MPI else None,
            barriers=_mean_of(p.share("barriers") for p in points),
            waiting=_mean_of(p.share("waiting") for p in points),
        )

    def _without(self, point: NpbPoint) -> NpbPoint | None:
        return self._plain_at.get((point.kernel, point.ranks))

    def _with_mpi(self, point: NpbPoint) -> NpbPoint | None:
        """The same point with MPI's barrier; None if the point itself has it."""
        if point.barrier == MPI:
            return None
        key = (point.kernel, point.ranks, point.barrier_at, MPI)
        return next((p for p in self.points if (p.kernel, p.ranks, p.barrier_at, p.barrier) == key), None)

    def _ratio(self, point: NpbPoint, reference: NpbPoint) -> Estimate:
        value = ratio(point.observation, reference.observation)
        return ExactValue.of(value.value) if self.evidence.machine.is_exact else value

    def _mean_ratio(self, pairs: Sequence[tuple[NpbPoint, NpbPoint]]) -> Estimate:
        value = mean_ratio([(point.observation, reference.observation) for point, reference in pairs])
        return ExactValue.of(value.value) if self.evidence.machine.is_exact else value


def _mean_of(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def won_back(gain: Estimate | None) -> Estimate | None:
    """The share of the time with MPI's barrier that another one saves: 1 - 1 / gain."""
    if gain is None:
        return None
    if isinstance(gain, ExactValue):
        return ExactValue.of(1 - 1 / gain.value)
    low, high = gain.low, gain.high
    return Estimate(1 - 1 / gain.value, 1 - 1 / low if low else None, 1 - 1 / high if high else None)


def possible_gain(won: Estimate, barrier_share: float) -> Estimate | None:
    """The part of a win that a better barrier can explain: at most `barrier_share`, the share of the time in
    barriers. None if the whole interval is beyond it, since the win then has other causes."""
    if won.low is None or won.high is None:
        return won
    return (
        None
        if won.low > barrier_share
        else Estimate(min(won.value, barrier_share), won.low, min(won.high, barrier_share))
    )


def scale(estimate: Estimate, factor: float) -> Estimate:
    """The value and its interval, multiplied by a positive factor."""
    if isinstance(estimate, ExactValue):
        return ExactValue.of(estimate.value * factor)
    low, high = estimate.low, estimate.high
    return Estimate(
        estimate.value * factor,
        None if low is None else low * factor,
        None if high is None else high * factor,
    )


@dataclass(frozen=True)
class NpbPrediction:
    """A benchmark without barriers on several ranks, as predicted (`predicted`: all iterations), and the
    diagnosis of the error."""

    point: NpbPoint
    predicted: IterationTime
    diagnosis: KernelDiagnosis

    @property
    def ratio(self) -> Estimate:
        """The predicted time over the measured one, with the interval of the latter."""
        return rate_of(self.predicted.seconds, self.point.time)


@dataclass(frozen=True)
class NpbPredictions:
    of: tuple[NpbPrediction, ...]

    @property
    def median_error(self) -> float | None:
        """The median absolute relative error; None if nothing was predicted."""
        errors = [abs(each.diagnosis.error) for each in self.of]
        return median(errors) if errors else None

    @property
    def worst(self) -> NpbPrediction | None:
        return max(self.of, key=lambda each: abs(each.diagnosis.error), default=None)


def predictions(run: NpbResults) -> NpbPredictions:
    return run.evidence.cached(_predictions)


def _predictions(evidence: Evidence) -> NpbPredictions:
    """The predictions for all benchmarks without barriers that were also measured on one rank, if the costs
    of messages are known (on several nodes, of messages between nodes). On a busy machine no assumption is
    named: its load causes the errors."""
    run = NpbResults.of(evidence)
    costs = communication(evidence)
    if costs is None:
        return NpbPredictions(())
    rates = {(p.kernel, p.size): _rates(p) for p in run.plain if p.ranks == 1}
    cores = evidence.run.cores(evidence.machine)
    is_busy = bool(under_load(evidence))
    predictions = []
    for p in run.plain:
        one_rank_rates = rates.get((p.kernel, p.size))
        if p.ranks == 1 or one_rank_rates is None or p.time.value <= 0:
            continue
        if not costs.message.reaches(p.measured.case.nodes):
            continue
        slower = max(1.0, p.ranks / cores)
        predicted = run_time(program_of(p.measured.case), one_rank_rates, costs, slower)
        parts: dict[str, float] = {} if is_busy else {str(name): each.value for name, each in p.parts.items()}
        predictions.append(NpbPrediction(p, predicted, diagnose(predicted, p.time.value, parts, p.phases)))
    return NpbPredictions(tuple(predictions))


def _rates(p: NpbPoint) -> Rates | None:
    return measured_rates(program_of(p.measured.case), p.records, p.time)


def run_time(program: NpbProgram, rates: Rates, costs: Communication, slower: float = 1.0) -> IterationTime:
    """The predicted time of a run. Every rank computes `slower` times as long as one rank alone."""
    iteration = program.iteration(rates).with_computation(slower)
    return iteration_time(iteration, costs) * program.iterations
