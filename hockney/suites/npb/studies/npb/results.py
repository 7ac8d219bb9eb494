# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Each benchmark on each number of ranks: its speed-up, where its time goes, and the effect of barriers. Its
time is also predicted from one rank and the costs of messages, with the assumption that fails.

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
from hockney.pages.caveats import load_premise
from hockney.pages.evidence import Evidence, MeasuredCase
from hockney.pages.format import rate_from_time
from hockney.pages.metrics import operation_rate
from hockney.studies.program_costs import find_communication_costs
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
    """A benchmark on `ranks` ranks, with a barrier after each iteration or step, or without one. `parts`
    are the seconds of each part of a run. `records` are those of its launches."""

    measurement: MeasuredCase
    observation: Observation
    records: tuple[Record, ...]

    @property
    def kernel(self) -> str:
        return self.measurement.case.workload

    @property
    def size(self) -> str:
        """The class of the benchmark."""
        return str(self.measurement.case["class"])

    @property
    def ranks(self) -> int:
        return self.measurement.case.ranks

    @property
    def barrier_at(self) -> str:
        """The place of the barrier: none, iteration or step."""
        return str(self.measurement.case["barrier_at"])

    @property
    def barrier(self) -> str:
        """The name of the barrier; empty without one."""
        return "" if self.barrier_at == NO_BARRIER else str(self.measurement.case["barrier"])

    @property
    def time(self) -> Estimate:
        """The time of a run (s)."""
        return self.measurement.summary.typical

    @property
    def rate(self) -> Estimate | None:
        """Operations per second by the official count; None if it was not reported."""
        return operation_rate(self.measurement.summary)

    @cached_property
    def parts(self) -> dict[Part, Estimate]:
        metrics = self.measurement.summary.metrics
        return {part: metrics[part].typical for part in PARTS if part in metrics}

    def share(self, *parts: Part) -> float:
        """Returns the combined share of these parts, from 0 to 1."""
        total = sum(part_seconds.value for part_seconds in self.parts.values())
        return sum(self.parts[part].value for part in parts if part in self.parts) / total if total else 0.0

    @property
    def verified(self) -> bool | None:
        """Whether all results of all runs were correct; None if nothing was verified."""
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
            [record.metrics[f"phase_{kind}"].values for kind in PHASE_PARTS]
            for record in self.records
            if _has_phases(record)
        ]
        if not launches or not all(len(values) == len(names) for launch in launches for values in launch):
            return ()
        means = np.mean(np.array(launches), axis=0)
        return tuple(PhaseTime(name, *map(float, means[:, k])) for k, name in enumerate(names))

    def _label(self, name: str) -> str:
        return next((record.labels[name] for record in self.records if name in record.labels), "")


def _has_phases(record: Record) -> bool:
    return all(f"phase_{kind}" in record.metrics for kind in PHASE_PARTS)


@dataclass(frozen=True)
class BarrierEffect:
    """The effect of a barrier in a benchmark. `cost` is the time with it over the time without it. `gain`
    is the time with MPI's barrier over the time with this one, so it is above 1 if this one is better.
    Each is None if one of its times was not measured."""

    point: NpbPoint
    cost: Estimate | None
    gain: Estimate | None

    @property
    def saving(self) -> Estimate | None:
        return relative_saving(self.gain)


@dataclass(frozen=True)
class MeanEffect:
    """The effect of a barrier as the geometric mean over benchmarks on one number of ranks.
    `barrier_share` and `waiting_share` are the mean shares of the time with this barrier."""

    ranks: int
    barrier: str
    barrier_at: str
    kernels: tuple[str, ...]
    cost: Estimate
    gain: Estimate | None
    barrier_share: float
    waiting_share: float

    @property
    def saving(self) -> Estimate | None:
        return relative_saving(self.gain)


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
        measured_by_line = {measurement.case.line: measurement for measurement in self.evidence.of_role(ROLE)}
        points = [
            NpbPoint(
                measured_by_line[observation.case.line],
                observation,
                tuple(records.get(observation.case.line, ())),
            )
            for observation in self.evidence.observations(
                measurement.case for measurement in measured_by_line.values()
            )
        ]
        return tuple(
            sorted(points, key=lambda p: (p.kernel, p.ranks, p.barrier_at, p.barrier != MPI, p.barrier))
        )

    @cached_property
    def barrier_free_points(self) -> tuple[NpbPoint, ...]:
        """The points without barriers."""
        return tuple(p for p in self.points if p.barrier_at == NO_BARRIER)

    @cached_property
    def _barrier_free_by_key(self) -> dict[tuple[str, int], NpbPoint]:
        return {(p.kernel, p.ranks): p for p in self.barrier_free_points}

    @property
    def kernels(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.kernel for p in self.points))

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(p.size for p in self.points))

    @property
    def rank_counts(self) -> tuple[int, ...]:
        return tuple(sorted({p.ranks for p in self.points}))

    @cached_property
    def headline_ranks(self) -> int:
        """The number of ranks in the headline: the largest with one core each, otherwise the smallest
        above 1; 1 if only one rank was measured."""
        parallel_counts = [p for p in self.rank_counts if p > 1]
        counts_within_cores = [
            p for p in parallel_counts if p <= self.evidence.run.cores(self.evidence.machine)
        ]
        return (
            counts_within_cores[-1] if counts_within_cores else parallel_counts[0] if parallel_counts else 1
        )

    @property
    def wrong_points(self) -> tuple[NpbPoint, ...]:
        return tuple(p for p in self.points if p.verified is False)

    def speedup(self, point: NpbPoint) -> Estimate | None:
        """Returns T(1) / T(p) of a benchmark without barriers; None if one rank was not measured."""
        one_rank_point = self._barrier_free_by_key.get((point.kernel, 1))
        if one_rank_point is None:
            return None
        return DefinedValue.of(1.0) if point.ranks == 1 else self._ratio(one_rank_point, point)

    def efficiency(self, point: NpbPoint) -> Estimate | None:
        """Returns the speed-up divided by the number of ranks."""
        speedup = self.speedup(point)
        return None if speedup is None else scale(speedup, 1 / point.ranks)

    @cached_property
    def effects(self) -> tuple[BarrierEffect, ...]:
        """The effect of the barrier at each point that has one."""
        return tuple(
            BarrierEffect(
                p,
                cost=None
                if (barrier_free_point := self._barrier_free_point(p)) is None
                else self._ratio(p, barrier_free_point),
                gain=None if (mpi_point := self._mpi_point(p)) is None else self._ratio(mpi_point, p),
            )
            for p in self.points
            if p.barrier_at != NO_BARRIER
        )

    @cached_property
    def mean_effects(self) -> tuple[MeanEffect, ...]:
        """The mean effects over the benchmarks measured with and without the barrier, by ranks, place and
        cost."""
        groups: dict[tuple[int, str, str], list[NpbPoint]] = {}
        for p in self.points:
            if p.barrier_at != NO_BARRIER and self._barrier_free_point(p) is not None:
                groups.setdefault((p.ranks, p.barrier_at, p.barrier), []).append(p)
        unsorted_effects = [self._average_effect(points) for points in groups.values()]
        return tuple(
            sorted(unsorted_effects, key=lambda effect: (effect.ranks, effect.barrier_at, effect.cost.value))
        )

    def mean_effect(self, ranks: int, barrier_at: str, barrier: str) -> MeanEffect | None:
        return next(
            (
                effect
                for effect in self.mean_effects
                if (effect.ranks, effect.barrier_at, effect.barrier) == (ranks, barrier_at, barrier)
            ),
            None,
        )

    def best_effect(self, ranks: int, barrier_at: str) -> MeanEffect | None:
        """Returns the effect of the barrier other than MPI's with the lowest mean cost."""
        effects = (
            effect
            for effect in self.mean_effects
            if (effect.ranks, effect.barrier_at) == (ranks, barrier_at) and effect.barrier != MPI
        )
        return next(effects, None)

    def _average_effect(self, points: Sequence[NpbPoint]) -> MeanEffect:
        barrier_free_pairs = [
            (p, partner) for p in points if (partner := self._barrier_free_point(p)) is not None
        ]
        mpi_pairs = [(partner, p) for p in points if (partner := self._mpi_point(p)) is not None]
        first_point = points[0]
        return MeanEffect(
            ranks=first_point.ranks,
            barrier=first_point.barrier,
            barrier_at=first_point.barrier_at,
            kernels=tuple(p.kernel for p in points),
            cost=self._mean_ratio(barrier_free_pairs),
            gain=self._mean_ratio(mpi_pairs)
            if len(mpi_pairs) == len(barrier_free_pairs) and first_point.barrier != MPI
            else None,
            barrier_share=_mean_of(p.share("barriers") for p in points),
            waiting_share=_mean_of(p.share("waiting") for p in points),
        )

    def _barrier_free_point(self, point: NpbPoint) -> NpbPoint | None:
        return self._barrier_free_by_key.get((point.kernel, point.ranks))

    def _mpi_point(self, point: NpbPoint) -> NpbPoint | None:
        """Returns the same point with MPI's barrier; None if the point itself has it."""
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


def relative_saving(gain: Estimate | None) -> Estimate | None:
    """Returns the share of the time with MPI's barrier that another barrier saves: 1 - 1 / gain."""
    if gain is None:
        return None
    if isinstance(gain, ExactValue):
        return ExactValue.of(1 - 1 / gain.value)
    low, high = gain.low, gain.high
    return Estimate(1 - 1 / gain.value, 1 - 1 / low if low else None, 1 - 1 / high if high else None)


def possible_saving(saving: Estimate, barrier_share: float) -> Estimate | None:
    """Returns the part of a saving that a better barrier can explain: at most `barrier_share`, the share
    of the time in barriers. None if the whole interval is above it, since the saving then has other
    causes."""
    if saving.low is None or saving.high is None:
        return saving
    return (
        None
        if saving.low > barrier_share
        else Estimate(min(saving.value, barrier_share), saving.low, min(saving.high, barrier_share))
    )


def scale(estimate: Estimate, factor: float) -> Estimate:
    """Multiplies the value and its interval by a positive factor."""
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
    """The predicted time of all iterations of a benchmark without barriers on several ranks, and the
    diagnosis of its error."""

    point: NpbPoint
    predicted_time: IterationTime
    diagnosis: KernelDiagnosis

    @property
    def ratio(self) -> Estimate:
        """The predicted time over the measured one, with the interval of the latter."""
        return rate_from_time(self.predicted_time.seconds, self.point.time)


@dataclass(frozen=True)
class NpbPredictions:
    predictions: tuple[NpbPrediction, ...]

    @property
    def median_error(self) -> float | None:
        """The median absolute relative error; None if nothing was predicted."""
        errors = [abs(prediction.diagnosis.error) for prediction in self.predictions]
        return median(errors) if errors else None

    @property
    def worst_prediction(self) -> NpbPrediction | None:
        return max(self.predictions, key=lambda prediction: abs(prediction.diagnosis.error), default=None)


def predictions(run: NpbResults) -> NpbPredictions:
    return run.evidence.cached(_compute_predictions)


def _compute_predictions(evidence: Evidence) -> NpbPredictions:
    """Predicts all benchmarks without barriers that were also measured on one rank, if the costs of
    messages are known (on several nodes, of messages between nodes). On a busy machine no assumption is
    named, since the load causes the errors."""
    run = NpbResults.of(evidence)
    costs = find_communication_costs(evidence)
    if costs is None:
        return NpbPredictions(())
    rates = {(p.kernel, p.size): _rates(p) for p in run.barrier_free_points if p.ranks == 1}
    cores = evidence.run.cores(evidence.machine)
    is_busy = bool(load_premise(evidence))
    predictions = []
    for p in run.barrier_free_points:
        one_rank_rates = rates.get((p.kernel, p.size))
        if p.ranks == 1 or one_rank_rates is None or p.time.value <= 0:
            continue
        if not costs.message.covers_node_count(p.measurement.case.nodes):
            continue
        slowdown = max(1.0, p.ranks / cores)
        predicted_time = predicted_run_time(program_of(p.measurement.case), one_rank_rates, costs, slowdown)
        parts: dict[str, float] = (
            {} if is_busy else {str(name): part_estimate.value for name, part_estimate in p.parts.items()}
        )
        predictions.append(
            NpbPrediction(p, predicted_time, diagnose(predicted_time, p.time.value, parts, p.phases))
        )
    return NpbPredictions(tuple(predictions))


def _rates(p: NpbPoint) -> Rates | None:
    return measured_rates(program_of(p.measurement.case), p.records, p.time)


def predicted_run_time(
    program: NpbProgram, rates: Rates, costs: Communication, slowdown: float = 1.0
) -> IterationTime:
    """Predicts the time of a run. Every rank computes `slowdown` times as long as a single rank."""
    iteration = program.iteration(rates).with_computation(slowdown)
    return iteration_time(iteration, costs) * program.iterations
