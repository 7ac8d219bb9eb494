# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The program on each number of ranks: its measured and predicted time, and the parts of these times.

Parts of a time are means over the ranks, in one iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from hockney.core.case import HOT
from hockney.core.fit import Estimate
from hockney.core.program_cases import PROGRAM, program_name
from hockney.models.programs.communication import Communication
from hockney.models.programs.description import ProgramDescription, read_stored_descriptions
from hockney.models.programs.timing import IterationTime, iteration_time
from hockney.pages.evidence import Evidence, MeasuredCase, StudyResults
from hockney.studies.program_costs import find_communication_costs

MAX_AGREEING_ERROR = 0.05
"""A prediction with at most this relative error agrees with the measurement."""
MIN_TIME_S = 1e-9
"""The engine's times are never 0; shorter times mean that a program does nothing."""
PartKind = Literal["computation", "communication"]
METRICS_BY_PART: dict[PartKind, tuple[str, ...]] = {
    "computation": ("computation",),
    "communication": ("messages", "collectives"),
}
"""The metrics of each part."""


@dataclass(frozen=True)
class ProgramPoint:
    """The program `name` on a number of ranks. `predicted` is None if the costs are unknown."""

    name: str
    measured: MeasuredCase
    predicted: IterationTime | None

    @property
    def ranks(self) -> int:
        return self.measured.case.ranks

    @property
    def time(self) -> Estimate:
        """Measured seconds of an iteration."""
        return self.measured.summary.typical

    @property
    def predicted_s(self) -> float | None:
        return None if self.predicted is None else self.predicted.seconds

    @property
    def error(self) -> float | None:
        """(predicted - measured) / measured."""
        if self.predicted is None or max(self.predicted.seconds, self.time.value) < MIN_TIME_S:
            return None
        return self.predicted.seconds / self.time.value - 1

    @property
    def agrees(self) -> bool | None:
        return None if self.error is None else abs(self.error) <= MAX_AGREEING_ERROR

    def measured_part(self, kind: PartKind) -> float:
        """Measured seconds of the part; communication includes waiting."""
        metrics = self.measured.summary.metrics
        return sum(metrics[name].typical.value for name in METRICS_BY_PART[kind] if name in metrics)

    def predicted_part(self, kind: PartKind) -> float | None:
        if self.predicted is None:
            return None
        computation = self.predicted.total("computation")
        return computation if kind == "computation" else self.predicted.seconds - computation

    @property
    def disagreement(self) -> PartKind | None:
        """The part with the largest difference; None if the times agree."""
        if self.error is None or self.agrees:
            return None
        return max(
            METRICS_BY_PART,
            key=lambda kind: abs(self.measured_part(kind) - (self.predicted_part(kind) or 0.0)),
        )


@dataclass(frozen=True)
class ProgramResults(StudyResults):
    @cached_property
    def points(self) -> tuple[ProgramPoint, ...]:
        """The measured points, sorted by program and ranks."""
        programs = self._programs
        measured = sorted(
            self.evidence.of_role(PROGRAM), key=lambda result: (program_name(result.case), result.case.ranks)
        )
        return tuple(
            ProgramPoint(programs[name].name, result, self._predict(programs[name], result.case.ranks))
            for result in measured
            for name in (program_name(result.case),)
            if name in programs
        )

    @cached_property
    def _programs(self) -> dict[str, ProgramDescription]:
        """The descriptions by the names in their cases."""
        return read_stored_descriptions(self.evidence.settings.programs)

    @property
    def programs(self) -> tuple[ProgramDescription, ...]:
        """The measured programs."""
        names = dict.fromkeys(program_name(result.case) for result in self.evidence.of_role(PROGRAM))
        return tuple(self._programs[name] for name in names if name in self._programs)

    @cached_property
    def costs(self) -> Communication | None:
        return find_communication_costs(self.evidence, HOT)

    def _predict(self, program: ProgramDescription, ranks: int) -> IterationTime | None:
        costs = self.costs
        if costs is None:
            return None
        slowed_iteration = program.iteration(ranks).with_computation(max(1.0, ranks / self.evidence.cores))
        return iteration_time(slowed_iteration, costs)

    @property
    def method(self) -> str:
        """How the times were obtained."""
        return "simulated" if self.evidence.machine.traits.simulated else "measured"

    @property
    def headline_points(self) -> tuple[ProgramPoint, ...]:
        """The point of each program on the most ranks with a core each, or on the fewest ranks."""
        points_by_name: dict[str, ProgramPoint] = {}
        for point in self.points:
            if point.name not in points_by_name or point.ranks <= self.evidence.cores:
                points_by_name[point.name] = point
        return tuple(points_by_name.values())


def is_conclusive(evidence: Evidence) -> bool:
    return bool(ProgramResults.of(evidence).points)
