# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A benchmark as a parallel program: what each rank does in an iteration, with computation in operations,
and the rates that convert these to seconds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.record import Record
from hockney.models.programs.parts import CollectivePart, Iteration, Part, StepsPart, join_parts
from hockney.models.schedules.schedule import Step, relation

DOUBLE_BYTES = 8


class Indivisible(ValueError):
    """Raised if a benchmark cannot be divided among these ranks. `max_ranks` is the largest smaller number
    that is possible."""

    def __init__(self, ranks: int, max_ranks: int) -> None:
        super().__init__(f"{ranks} ranks; {max_ranks} work")
        self.ranks, self.max_ranks = ranks, max_ranks


@dataclass(frozen=True)
class Activity:
    """A part of an iteration, named after its phase in the engine and executed in the fraction `share` of the
    iterations.

    Its computation is in operations at the rate of its phase on one rank, or of the phase `rate_phase`.
    `repeated` operations are executed by every rank but are in the official count once. `bytes` is the
    total that all ranks pass to a collective call."""

    part: Part
    share: float = 1.0
    rate_phase: str = ""
    repeated: bool = False
    bytes: int = 0


@dataclass(frozen=True)
class NpbProgram:
    """A benchmark of class `size` on `ranks` ranks. `operations` is the official count of a run of
    `iterations` iterations. `phases` have the engine's names and order."""

    kernel: str
    size: str
    ranks: int
    iterations: int
    operations: float
    phases: tuple[str, ...]
    activities: tuple[Activity, ...]

    def iteration(self, rates: Rates) -> Iteration:
        """Returns an iteration in seconds."""
        return join_parts(
            (
                (
                    activity.part.with_computation(rates.for_phase(activity.rate_phase or activity.part.name))
                    if isinstance(activity.part, StepsPart)
                    else activity.part,
                    activity.share,
                )
                for activity in self.activities
            ),
            self.ranks,
        )

    def operations_in(self, phase: str) -> np.ndarray:
        """Returns the operations of each rank in a phase of a run."""
        total = np.zeros(self.ranks)
        for activity in self.activities:
            if isinstance(activity.part, StepsPart) and activity.part.name == phase:
                total += self.iterations * activity.share * activity.part.computation(self.ranks)
        return total


def work(
    phase: str,
    operations: Iterable[float],
    *,
    rate_phase: str = "",
    share: float = 1.0,
    repeated: bool = False,
) -> Activity:
    """Returns an activity with these operations of each rank."""
    counts = np.array(list(operations), dtype=float)
    return Activity(StepsPart(phase, (Step((), computed=counts),)), share, rate_phase, repeated)


def exchange(
    phase: str, messages: Iterable[tuple[int, int, int]], *, share: float = 1.0
) -> Iterator[Activity]:
    """Yields messages, given by source, target and bytes, that are posted at the same time; nothing if
    there are none."""
    message_rows = np.array(list(messages), dtype=int).reshape(-1, 3)
    step = relation(message_rows[:, 0], message_rows[:, 1], message_rows[:, 2])
    if step.layers:
        yield Activity(StepsPart(phase, (step,)), share)


def global_sum(phase: str, count: int, ranks: int, *, share: float = 1.0) -> Activity:
    """Returns a sum over all ranks of `count` numbers of 8 bytes."""
    size = DOUBLE_BYTES * count
    return Activity(CollectivePart(phase, "allreduce", size), share, bytes=ranks * size)


def part_bounds(n: int, parts: int, part: int) -> tuple[int, int]:
    """Returns the begin and the end of one of `parts` parts of the range 0 to n - 1, divided as evenly as
    possible."""
    return n * part // parts, n * (part + 1) // parts


def part_length(n: int, parts: int, part: int) -> int:
    begin, end = part_bounds(n, parts, part)
    return end - begin


@dataclass(frozen=True)
class Rates:
    """Seconds of an operation in each phase, and in phases without operations on one rank (`default`).
    `low` and `high` are the ends of the interval of the run's time, relative to it. `size` is the measured
    class; "" if the rate was given."""

    seconds_by_phase: Mapping[str, float] = field(default_factory=dict)
    default: float = 0.0
    low: float = 1.0
    high: float = 1.0
    size: str = ""

    def for_phase(self, phase: str) -> float:
        return self.seconds_by_phase.get(phase, self.default)


def uniform_rates(operations_per_second: float) -> Rates:
    """Returns rates that are the same in all phases."""
    return Rates(default=1 / operations_per_second)


def measured_rates(program: NpbProgram, records: Iterable[Record], time: Estimate) -> Rates | None:
    """Returns the rates from the launches of a program on one rank, which took `time`, for each phase that
    they report. Returns None without launches."""
    launches = [seconds for record in records if (seconds := _phase_seconds(record))]
    if not launches:
        return None
    median_seconds = {name: median(launch.get(name, 0.0) for launch in launches) for name in launches[0]}
    operations = {phase: float(program.operations_in(phase).sum()) for phase in program.phases}
    rates = {
        phase: median_seconds[phase] / count
        for phase, count in operations.items()
        if count and phase in median_seconds
    }
    overall_rate = sum(median_seconds.values()) / program.operations
    low = 1.0 if time.low is None or not time.value else time.low / time.value
    high = 1.0 if time.high is None or not time.value else time.high / time.value
    return Rates(rates, overall_rate, low=low, high=high, size=program.size)


def _phase_seconds(record: Record) -> dict[str, float]:
    """Returns the seconds that one rank computes in each phase of a run."""
    series = record.metrics.get("phase_computation")
    names = record.labels.get("phases", "").split(",")
    return dict(zip(names, series.values, strict=False)) if series is not None else {}
