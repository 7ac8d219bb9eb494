# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of predictions: the assumption whose term, replaced by the measured one, corrects most of the
error, and the phase in which it fails."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hockney.models.programs.timing import IterationTime, TimeKind

Assumption = Literal["rates", "balance", "messages", "collectives"]
ASSUMPTIONS: dict[Assumption, str] = {
    "rates": "every rank computes as fast as one rank alone",
    "balance": "ranks wait only for computation and messages of other ranks",
    "messages": "messages take as long as between ranks that do nothing else",
    "collectives": "collectives take as long as between ranks that do nothing else",
}
PART_BY_ASSUMPTION: dict[Assumption, TimeKind] = {
    "rates": "computation",
    "balance": "waiting",
    "messages": "messages",
    "collectives": "collectives",
}
"""The part of a run's time that shows whether an assumption holds."""

ACCEPTED_ERROR = 0.1
"""A prediction with a smaller relative error counts as correct."""
MIN_CORRECTION = 1 / 3
"""An assumption is named if the measured term removes at least this share of the error."""


@dataclass(frozen=True)
class PhaseTime:
    """Measured seconds of a run in one phase of its iterations. `communication` includes messages,
    collectives and barriers."""

    name: str
    computation: float
    communication: float
    waiting: float

    @property
    def total(self) -> float:
        return self.computation + self.communication + self.waiting


@dataclass(frozen=True)
class KernelDiagnosis:
    """The relative error of a prediction, (predicted - measured) / measured, and its cause.

    `failed_assumption` is the assumption whose measured term corrects most of the error; None if the error
    is small, or if no term corrects enough. `corrected_error` is the error with that term. `phase` is the
    phase with the largest difference; "" if phases were not measured."""

    error: float
    failed_assumption: Assumption | None = None
    corrected_error: float | None = None
    phase: str = ""


def diagnose(
    prediction: IterationTime,
    measured_s: float,
    parts: Mapping[str, float],
    phases: tuple[PhaseTime, ...] = (),
) -> KernelDiagnosis:
    """Determines the error of a prediction and its cause. `parts` are the measured seconds of computation,
    messages, collectives and waiting, as means over the ranks."""
    error = prediction.seconds / measured_s - 1
    errors = {
        name: (prediction.seconds - prediction.total(part) + parts[part]) / measured_s - 1
        for name, part in PART_BY_ASSUMPTION.items()
        if part in parts
    }
    best_assumption = min(errors, key=lambda name: abs(errors[name]), default=None)
    if (
        best_assumption is None
        or abs(error) <= ACCEPTED_ERROR
        or abs(errors[best_assumption]) > (1 - MIN_CORRECTION) * abs(error)
    ):
        return KernelDiagnosis(error)
    return KernelDiagnosis(
        error,
        best_assumption,
        errors[best_assumption],
        _worst_phase(best_assumption, error, prediction, phases),
    )


def _worst_phase(
    assumption: Assumption, error: float, prediction: IterationTime, phases: tuple[PhaseTime, ...]
) -> str:
    """Returns the phase with the largest difference in the direction of the error."""
    sign = 1 if error > 0 else -1
    kinds: tuple[TimeKind, ...] = (PART_BY_ASSUMPTION[assumption],)
    if assumption in ("messages", "collectives"):
        kinds = ("messages", "collectives")

    def gap(phase: PhaseTime) -> float:
        measured_s = {"rates": phase.computation, "balance": phase.waiting}.get(
            assumption, phase.communication
        )
        return sign * (prediction.part_seconds(phase.name, *kinds) - measured_s)

    return max(phases, key=gap).name if phases else ""
