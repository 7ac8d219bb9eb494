# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What each benchmark was predicted to take on several ranks, from its time on one rank and the costs of
messages; and which assumption of the prediction fails."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from hockney.core.fit import Estimate, ExactValue
from hockney.models.programs.prediction import KernelTime, predict
from hockney.models.programs.rates import Rates, measured_rates
from hockney.pages.caveats import under_load
from hockney.pages.evidence import Evidence
from hockney.studies.program_costs import communication
from hockney.suites.npb.programs.assumptions import KernelDiagnosis, diagnose
from hockney.suites.npb.programs.kernels import of_case
from hockney.suites.npb.studies.npb.results import NpbPoint, NpbResults


@dataclass(frozen=True)
class NpbPrediction:
    """A benchmark without barriers on several ranks, as predicted, and the diagnosis of the error."""

    point: NpbPoint
    predicted: KernelTime
    diagnosis: KernelDiagnosis

    @property
    def ratio(self) -> Estimate:
        """The predicted time over the measured one, with the interval of the latter."""
        time, total = self.point.time, self.predicted.total
        if isinstance(time, ExactValue):
            return ExactValue.of(total / time.value)
        high = total / time.low if time.low else None
        return Estimate(total / time.value, total / time.high if time.high else None, high)


@dataclass(frozen=True)
class NpbPredictions:
    of: tuple[NpbPrediction, ...]

    @property
    def median_error(self) -> float | None:
        """Absolute and relative; None if nothing was predicted."""
        errors = [abs(each.diagnosis.error) for each in self.of]
        return median(errors) if errors else None

    @property
    def worst(self) -> NpbPrediction | None:
        return max(self.of, key=lambda each: abs(each.diagnosis.error), default=None)


def predictions(run: NpbResults) -> NpbPredictions:
    return run.evidence.cached(_of)


def _of(evidence: Evidence) -> NpbPredictions:
    """The predictions for all benchmarks without barriers that were also measured on one rank, if the costs
    of messages are known, on several nodes those of messages between nodes. On a busy machine no assumption
    can be named: the errors are those of its load."""
    run = NpbResults.of(evidence)
    costs = communication(evidence)
    if costs is None:
        return NpbPredictions(())
    rates = {(p.kernel, p.size): _rates(p) for p in run.plain if p.ranks == 1}
    cores = evidence.run.cores(evidence.machine)
    busy = bool(under_load(evidence))
    found = []
    for p in run.plain:
        known = rates.get((p.kernel, p.size))
        if p.ranks == 1 or known is None or p.time.value <= 0:
            continue
        if not costs.message.reaches(p.measured.case.nodes):
            continue
        slower = max(1.0, p.ranks / cores)
        predicted = predict(of_case(p.measured.case), known, costs, slower=slower)
        parts: dict[str, float] = {} if busy else {str(name): each.value for name, each in p.parts.items()}
        found.append(NpbPrediction(p, predicted, diagnose(predicted, p.time.value, parts, p.phases)))
    return NpbPredictions(tuple(found))


def _rates(p: NpbPoint) -> Rates | None:
    return measured_rates(of_case(p.measured.case), p.records, p.time)
