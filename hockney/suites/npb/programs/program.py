# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A benchmark as a parallel program: what each rank does in an iteration, with computation in operations, and
the rates that turn these into seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.record import Record
from hockney.models.programs.parts import CollectivePart, Iteration, Part, StepsPart, join
from hockney.models.schedules.schedule import Step, relation

DOUBLE = 8
"""Bytes."""


class Indivisible(ValueError):
    """A benchmark cannot be divided among these ranks; `most` is the largest smaller number that works."""

    def __init__(self, ranks: int, most: int) -> None:
        super().__init__(f"{ranks} ranks; {most} work")
        self.ranks, self.most = ranks, most


@dataclass(frozen=True)
class Activity:
    """A part of an iteration, named after its phase in the engine, executed in the fraction `share` of the
    iterations. Its computation is in operations at the rate of its phase on one rank, or of the phase `like`;
    operations that every rank repeats (`repeated`) are in the official count once. `bytes` are those that
    all ranks give to a collective call."""

    part: Part
    share: float = 1.0
    like: str = ""
    repeated: bool = False
    bytes: int = 0


@dataclass(frozen=True)
class NpbProgram:
    """A benchmark of class `size` on `ranks` ranks: `operations` is the official count of a run of this many
    `iterations`, whose `phases` have the engine's names and order."""

    kernel: str
    size: str
    ranks: int
    iterations: int
    operations: float
    phases: tuple[str, ...]
    activities: tuple[Activity, ...]

    def iteration(self, rates: Rates) -> Iteration:
        """An iteration in seconds."""
        return join(
            (
                (
                    each.part.with_computation(rates.of(each.like or each.part.name))
                    if isinstance(each.part, StepsPart)
                    else each.part,
                    each.share,
                )
                for each in self.activities
            ),
            self.ranks,
        )

    def operations_in(self, phase: str) -> np.ndarray:
        """Operations of each rank in a phase of a run."""
        total = np.zeros(self.ranks)
        for each in self.activities:
            if isinstance(each.part, StepsPart) and each.part.name == phase:
                total += self.iterations * each.share * each.part.computation(self.ranks)
        return total


def work(
    phase: str,
    operations: Iterable[float],
    *,
    like: str = "",
    share: float = 1.0,
    repeated: bool = False,
) -> Activity:
    """Operations of each rank."""
    computed = np.array(list(operations), dtype=float)
    return Activity(StepsPart(phase, (Step((), computed=computed),)), share, like, repeated)


def exchange(
    phase: str, messages: Iterable[tuple[int, int, int]], *, share: float = 1.0
) -> Iterator[Activity]:
    """Messages that are posted at once, by source, target and bytes; nothing if there are none."""
    rows = np.array(list(messages), dtype=int).reshape(-1, 3)
    step = relation(rows[:, 0], rows[:, 1], rows[:, 2])
    if step.layers:
        yield Activity(StepsPart(phase, (step,)), share)


def sums(phase: str, numbers: int, ranks: int, *, share: float = 1.0) -> Activity:
    """A sum over all ranks of `numbers` numbers of 8 bytes."""
    size = DOUBLE * numbers
    return Activity(CollectivePart(phase, "allreduce", size), share, bytes=ranks * size)


def part_of(n: int, parts: int, part: int) -> tuple[int, int]:
    """Begin and end of one of `parts` parts of 0 to n - 1, as even as possible."""
    return n * part // parts, n * (part + 1) // parts


def length_of(n: int, parts: int, part: int) -> int:
    begin, end = part_of(n, parts, part)
    return end - begin


@dataclass(frozen=True)
class Rates:
    """Seconds of an operation in each phase, and in `others` (those without operations on one rank). `low`
    and `high` are the ends of the interval of the run's time, relative to it. `size` is the class that was
    measured, "" if the rate was given."""

    by_phase: Mapping[str, float] = field(default_factory=dict)
    others: float = 0.0
    low: float = 1.0
    high: float = 1.0
    size: str = ""

    def of(self, phase: str) -> float:
        return self.by_phase.get(phase, self.others)


def uniform(operations_per_second: float) -> Rates:
    """Rates that are the same in all phases."""
    return Rates(others=1 / operations_per_second)


def measured_rates(program: NpbProgram, records: Iterable[Record], time: Estimate) -> Rates | None:
    """The rates from the launches of a program on one rank, which took `time`: one for each phase that they
    report. None without launches."""
    launches = [seconds for record in records if (seconds := _by_phase(record))]
    if not launches:
        return None
    typical = {name: median(launch.get(name, 0.0) for launch in launches) for name in launches[0]}
    operations = {phase: float(program.operations_in(phase).sum()) for phase in program.phases}
    rates = {
        phase: typical[phase] / count for phase, count in operations.items() if count and phase in typical
    }
    whole = sum(typical.values()) / program.operations
    low = 1.0 if time.low is None or not time.value else time.low / time.value
    high = 1.0 if time.high is None or not time.value else time.high / time.value
    return Rates(rates, whole, low=low, high=high, size=program.size)


def _by_phase(record: Record) -> dict[str, float]:
    """Seconds of a run that one rank computes in each phase."""
    series = record.metrics.get("phase_computation")
    names = record.labels.get("phases", "").split(",")
    return dict(zip(names, series.values, strict=False)) if series is not None else {}
