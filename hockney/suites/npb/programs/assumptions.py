# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which assumption of a prediction fails: the one whose term, replaced by the measured one, corrects most of
the error; and in which phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from hockney.models.programs.timing import IterationTime, Kind

Assumption = Literal["rates", "balance", "messages", "collectives"]
ASSUMPTIONS: dict[Assumption, str] = {
    "rates": "every rank computes as fast as one rank alone",
    "balance": "ranks wait only for computation and messages of other ranks",
    "messages": "messages take as long as between ranks that do nothing else",
    "collectives": "collectives take as long as between ranks that do nothing else",
}
PARTS: dict[Assumption, Kind] = {
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
    """`error` is (predicted - measured) / measured. `failing` is the assumption whose measured term corrects
    most of it (None if the error is small, or if no term corrects enough), `corrected` the error with that
    term, and `phase` the phase in which it is most wrong ("" if phases were not measured)."""

    error: float
    failing: Assumption | None = None
    corrected: float | None = None
    phase: str = ""


def diagnose(
    predicted: IterationTime,
    measured_s: float,
    parts: Mapping[str, float],
    phases: tuple[PhaseTime, ...] = (),
) -> KernelDiagnosis:
    """`parts` are the measured seconds of computation, messages, collectives and waiting: means over the
    ranks."""
    error = predicted.seconds / measured_s - 1
    errors = {
        name: (predicted.seconds - predicted.total(part) + parts[part]) / measured_s - 1
        for name, part in PARTS.items()
        if part in parts
    }
    best = min(errors, key=lambda name: abs(errors[name]), default=None)
    if best is None or abs(error) <= CLOSE_ERROR or abs(errors[best]) > (1 - MIN_CORRECTION) * abs(error):
        return KernelDiagnosis(error)
    return KernelDiagnosis(error, best, errors[best], _worst_phase(best, error, predicted, phases))


def _worst_phase(
    assumption: Assumption, error: float, predicted: IterationTime, phases: tuple[PhaseTime, ...]
) -> str:
    """The phase with the largest difference in the direction of the error."""
    sign = 1 if error > 0 else -1
    kinds: tuple[Kind, ...] = (PARTS[assumption],)
    if assumption in ("messages", "collectives"):
        kinds = ("messages", "collectives")

    def gap(phase: PhaseTime) -> float:
        measured = {"rates": phase.computation, "balance": phase.waiting}.get(assumption, phase.communication)
        return sign * (predicted.of_part(phase.name, *kinds) - measured)

    return max(phases, key=gap).name if phases else ""
