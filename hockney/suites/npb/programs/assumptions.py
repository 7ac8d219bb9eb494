# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which assumption of a prediction fails: the one whose term, replaced by the measured one, corrects most of
the error; and in which phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from hockney.models.programs.prediction import KernelTime, PhaseTerms, Terms

Assumption = Literal["rates", "balance", "messages", "collectives"]
ASSUMPTIONS: dict[Assumption, str] = {
    "rates": "every rank computes as fast as one rank alone",
    "balance": "ranks wait only for the busiest one and for pipelines to fill",
    "messages": "messages take as long as between ranks that do nothing else",
    "collectives": "collectives take as long as between ranks that do nothing else",
}
MEASURED_PARTS: dict[Assumption, str] = {
    "rates": "computation",
    "balance": "waiting",
    "messages": "messages",
    "collectives": "collectives",
}
"""The part of a run's time that shows whether an assumption holds."""

CLOSE_ERROR = 0.1
"""A prediction with a smaller relative error is right."""
MIN_CORRECTION = 1 / 3
"""An assumption is named if the measured term removes at least this part of the error."""


@dataclass(frozen=True)
class PhaseTime:
    """Measured seconds of a run in one phase of its iterations. `communication` has messages, collectives and
    barriers."""

    name: str
    computation: float
    communication: float
    waiting: float

    @property
    def total(self) -> float:
        return self.computation + self.communication + self.waiting


@dataclass(frozen=True)
class KernelDiagnosis:
    """`error` is (predicted - measured) / measured. `failing` is the assumption whose measured term corrects
    most of it (None if the error is small, or if no term corrects enough), `corrected` the error with that
    term, and `phase` the phase in which it is most wrong ("" if phases were not measured)."""

    error: float
    failing: Assumption | None = None
    corrected: float | None = None
    phase: str = ""


def diagnose(
    predicted: KernelTime,
    measured_s: float,
    parts: Mapping[str, float],
    phases: tuple[PhaseTime, ...] = (),
) -> KernelDiagnosis:
    """`parts` are the measured seconds of computation, messages, collectives and waiting: means over the
    ranks."""
    terms = predicted.terms
    error = terms.total / measured_s - 1
    errors = {
        name: (terms.total - assumed_seconds(terms, name) + parts[MEASURED_PARTS[name]]) / measured_s - 1
        for name in get_args(Assumption)
        if MEASURED_PARTS[name] in parts
    }
    best = min(errors, key=lambda name: abs(errors[name]), default=None)
    if best is None or abs(error) <= CLOSE_ERROR or abs(errors[best]) > (1 - MIN_CORRECTION) * abs(error):
        return KernelDiagnosis(error)
    return KernelDiagnosis(error, best, errors[best], _worst_phase(best, error, predicted, phases))


def assumed_seconds(terms: Terms, assumption: Assumption) -> float:
    """The seconds that rest on an assumption."""
    if assumption == "rates":
        return terms.computation
    return float(getattr(terms, MEASURED_PARTS[assumption]))


def _worst_phase(
    assumption: Assumption, error: float, predicted: KernelTime, phases: tuple[PhaseTime, ...]
) -> str:
    """The phase with the largest difference in the direction of the error."""
    sign = 1 if error > 0 else -1
    phase_times = {each.name: each for each in phases}
    gaps = {
        each.name: sign
        * (_predicted_seconds(each, assumption) - _measured_seconds(phase_times[each.name], assumption))
        for each in predicted.phases
        if each.name in phase_times
    }
    return max(gaps, key=lambda name: gaps[name], default="")


def _predicted_seconds(phase: PhaseTerms, assumption: Assumption) -> float:
    if assumption in ("messages", "collectives"):
        return phase.terms.communication
    return assumed_seconds(phase.terms, assumption)


def _measured_seconds(phase: PhaseTime, assumption: Assumption) -> float:
    if assumption == "rates":
        return phase.computation
    return phase.waiting if assumption == "balance" else phase.communication
