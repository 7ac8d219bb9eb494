# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs on a simulated machine that changes between a fast and a slow mode, also during a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np
from models_data import CATALOG, record

from hockney.core.case import Case
from hockney.core.record import Record, RunRecords, Visits
from hockney.models.statistics import Observation, observe

SIZES = [64, 512, 4096, 32768]
ADDED = [1024, 9728]
LAUNCHES, VISITS, REPETITIONS = 10, 30, 4
EVERY_S = 5.0 / VISITS
SLOW = 3.0


def ping_pong(size: int) -> Case:
    return Case.of("pingpong", 2, buffers="hot", bytes=size)


def undisturbed(case: Case) -> float:
    return 1e-7 + case.bytes / 10e9


def slowed(case: Case) -> float:
    """The log of the factor of the slow mode, which is smaller for large messages."""
    return np.log(SLOW) * (1 - np.log2(1 + case.bytes) / 20)


@dataclass(frozen=True)
class World:
    """`slow` is whether the machine is in the slow mode, by launch and visit; `launch`, `visit` and
    `repetition` are the standard deviations of the logarithms of their factors; in `noisy`, that of launches
    for some sizes."""

    slow: np.ndarray
    launch: float = 0.01
    visit: float = 0.01
    repetition: float = 0.02
    noisy: Mapping[int, float] = field(default_factory=dict)

    def measured(self, case: Case, launch: int, random: np.random.Generator, effect=slowed) -> Record:
        scatter = self.noisy.get(case.bytes, self.launch)
        logs = scatter * random.standard_normal() + effect(case) * self.slow[launch]
        logs = logs + self.visit * random.standard_normal(VISITS)
        times = logs[:, None] + self.repetition * random.standard_normal((VISITS, REPETITIONS))
        after_s = [k * EVERY_S for k in range(VISITS)]
        return msgspec.structs.replace(
            record(case, f"{launch}.0", (undisturbed(case) * np.exp(times)).ravel().tolist()),
            started_s=launch * 6.0,
            visits=Visits(after_s=after_s, repetitions=[REPETITIONS] * VISITS, preempted=[0] * VISITS),
        )


def switching(share: float, dwell_s: float, random: np.random.Generator) -> World:
    """Modes with exponential durations that continue from launch to launch."""
    slow = bool(random.random() < share)
    ends, states = [0.0], []
    at_s = (np.arange(LAUNCHES) * 6.0)[:, None] + np.arange(VISITS) * EVERY_S
    while ends[-1] <= at_s[-1, -1]:
        ends.append(ends[-1] + random.exponential(2 * dwell_s * (share if slow else 1 - share)))
        states.append(slow)
        slow = not slow
    return World(np.array(states)[np.searchsorted(ends, at_s, side="right") - 1])


def slow_from(first: int) -> World:
    """The slow mode begins with the launch `first`."""
    return World(np.repeat(np.arange(LAUNCHES) >= first, VISITS).reshape(LAUNCHES, VISITS))


Measures = Callable[[Case, int], bool]


def added_from(first: int) -> Measures:
    return lambda case, launch: launch >= first or case.bytes not in ADDED


def survey(
    world: World,
    measures: Measures,
    random: np.random.Generator,
    cases: Sequence[Case] = tuple(map(ping_pong, SIZES + ADDED)),
    effect=slowed,
) -> RunRecords:
    """Launch after launch, with the cases that each `measures`."""
    return RunRecords(
        records=tuple(
            world.measured(case, launch, random, effect)
            for launch in range(len(world.slow))
            for case in cases
            if measures(case, launch)
        )
    )


def by_size(run: RunRecords) -> dict[int, Observation]:
    return {seen.case.bytes: seen for seen in observe(run, CATALOG)}


def covers(seen: Observation, truth: float) -> bool:
    _, low, high = seen.interval()
    return bool(low <= truth <= high)


def width(seen: Observation) -> float:
    _, low, high = seen.interval()
    return float(np.log(high / low))
