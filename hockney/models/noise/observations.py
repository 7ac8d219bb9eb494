# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a run observed on each core: intervals during which the core did not run the program (detours).

A core is observed by equal portions of work (fixed work quanta) or by the work done in equal windows of time
(fixed time quanta): Sottile and Minnich, "Analysis of Microbenchmarks for Performance Tuning of Clusters",
Cluster 2004."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from hockney.core.fit import Estimate
from hockney.core.platform import Detours
from hockney.core.record import Launch, Record
from hockney.models.scipy_functions import student_quantile

OBSERVED, UNDISTURBED, LOST, START, DETOUR = "observed", "undisturbed", "lost", "start", "detour"
"""Metrics of the workloads with the role ROLE."""
ROLE = "noise"
FIXED_WORK = "fwq"
"""Operation of the workload that times equal portions of work."""
DIGIT_S = 1e-9
"""Resolution of the times in a trace."""
MIN_UNITS = 3
"""An interval of a mean requires this many launches, or observations of fewer launches."""


@dataclass(frozen=True)
class Observation:
    """One observation of a core, for `observed_s`. `lost_s` is the time lost in all detours; `start_s` and
    `length_s` contain the longest ones, in order."""

    launch: int
    began_s: float
    observed_s: float
    lost_s: float
    undisturbed_s: float
    start_s: np.ndarray = field(repr=False)
    length_s: np.ndarray = field(repr=False)

    @property
    def share(self) -> float:
        return self.lost_s / self.observed_s


@dataclass(frozen=True)
class Core:
    """A core, or a rank that may run on several, and its observations in the order of time."""

    name: str
    observations: tuple[Observation, ...]

    @cached_property
    def shares(self) -> np.ndarray:
        return np.array([observation.share for observation in self.observations])

    @cached_property
    def lengths_s(self) -> np.ndarray:
        return np.concatenate([observation.length_s for observation in self.observations])

    @property
    def observed_s(self) -> float:
        return sum(observation.observed_s for observation in self.observations)

    @property
    def rate(self) -> float:
        """Detours per second."""
        return len(self.lengths_s) / self.observed_s

    @cached_property
    def quanta_hz(self) -> float:
        """Quanta of work per second, at whose ends detours are seen; 0 if unknown."""
        quanta_s = [o.undisturbed_s for o in self.observations if o.undisturbed_s > 0]
        # one detour more or less in an observation changes its share, so the mean counts
        return (1 - float(np.mean(self.shares))) / float(np.median(quanta_s)) if quanta_s else 0.0

    @cached_property
    def share(self) -> Estimate:
        """The fraction of the time that is lost, with the 95% interval of the mean over the launches."""
        return mean_over_launches(
            [[o.share for o in self.observations if o.launch == launch] for launch in self.launches]
        )

    @property
    def launches(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(observation.launch for observation in self.observations))

    def in_launches(self, launches: Collection[int]) -> Core:
        return Core(self.name, tuple(o for o in self.observations if o.launch in launches))


def mean_over_launches(launches: Sequence[Sequence[float]], least: float = 0.0) -> Estimate:
    """Mean of values from `least` on with its 95% interval by Student's t: over the means of launches, or
    over the single values if there are fewer than MIN_UNITS launches. No interval with fewer values."""
    means = np.array([np.mean(values) for values in launches])
    units = means if len(means) >= MIN_UNITS else np.array([x for values in launches for x in values])
    mean = float(np.mean(units))
    if len(units) < MIN_UNITS:
        return Estimate(mean, None, None)
    half = student_quantile(len(units) - 1, 0.975) * float(np.std(units, ddof=1)) / np.sqrt(len(units))
    return Estimate(mean, min(mean, max(least, mean - float(half))), mean + float(half))


def cores_of(records: Iterable[Record], launches: Sequence[Launch]) -> tuple[Core, ...]:
    """The cores that these records observed, by name in the order of ranks."""
    launch_of = {launch.launch: launch for launch in launches}
    found: dict[str, list[Observation]] = {}
    for record in records:
        launch = launch_of[record.launch]
        members = record.members or range(len(launch.ranks))
        for name, observations in zip(
            (core_name(launch, rank) for rank in members), _observations(record, launch.index), strict=True
        ):
            found.setdefault(name, []).extend(observations)
    return tuple(
        Core(name, tuple(sorted(observations, key=lambda o: o.began_s)))
        for name, observations in found.items()
        if observations
    )


def core_name(launch: Launch, rank: int) -> str:
    """The node and the processor of a rank, or its number if it may use several processors."""
    where = launch.ranks[rank]
    return f"{where.node} cpu {where.cpus}" if where.cpus.isdecimal() else f"{where.node} rank {rank}"


def _observations(record: Record, launch: int) -> list[list[Observation]]:
    """The observations of each rank."""
    repetitions = len(record.times_s)
    tables = {
        name: np.reshape(record.metrics[name].values, (repetitions, -1))
        for name in (OBSERVED, UNDISTURBED, LOST)
    }
    counts = np.reshape(record.metrics[START].counts, (repetitions, -1)).astype(int)
    ends = np.cumsum(counts.ravel())[:-1]
    starts = np.split(np.array(record.metrics[START].values), ends)
    lengths = np.split(np.array(record.metrics[DETOUR].values), ends)
    began = np.repeat(record.visit_starts_s, record.visits.repetitions or [repetitions])
    ranks = counts.shape[1]
    return [
        [
            Observation(
                launch,
                float(began[k]) + 1e-6 * k,
                float(tables[OBSERVED][k, rank]),
                float(tables[LOST][k, rank]),
                float(tables[UNDISTURBED][k, rank]),
                starts[k * ranks + rank],
                lengths[k * ranks + rank],
            )
            for k in range(repetitions)
            if tables[OBSERVED][k, rank] > 0
        ]
        for rank in range(ranks)
    ]


def trace_of(core: Core, *, first_rank: int = 0, rank_step: int = 1) -> Detours | None:
    """The observations of a core, one after the other, as detours that a simulated machine repeats. None if
    there are none."""
    begins = np.cumsum([0.0, *(observation.observed_s for observation in core.observations)])
    start_s = np.round(
        np.concatenate([b + o.start_s for b, o in zip(begins, core.observations, strict=False)]), 9
    )
    if not len(start_s):
        return None
    room_s = np.append(start_s[1:], begins[-1]) - start_s - DIGIT_S
    length_s = np.clip(np.round(core.lengths_s, 9), 0.0, np.maximum(0.0, room_s))
    return Detours(
        period_s=float(begins[-1]),
        start_s=tuple(start_s.tolist()),
        length_s=tuple(np.round(length_s, 9).tolist()),
        first_rank=first_rank,
        rank_step=rank_step,
    )
