# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Single runs of an annealing in its records: seeds, energies, and the course of the last run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from hockney.core.record import Record

ROUNDING = 1e-9
RANK_PARTS = ("computation", "posting", "testing", "waiting", "balancing")


@dataclass(frozen=True)
class AnnealingRun:
    """One repetition: its seed, its time (s), its lowest energy, and the time to reach a target (s; None
    without a target or if it was not reached). `sum_error` is the relative difference between a rank's
    time and the sum of its parts, on the worst rank."""

    seed: float
    seconds: float
    best_energy: float
    target_s: float | None
    sum_error: float = 0.0


@dataclass(frozen=True)
class Course:
    """The course of a run with this `seed`, as seen by the master: for each round its end (s), the lowest
    energy so far and the steps of all ranks so far."""

    seed: float
    round_ends_s: tuple[float, ...]
    best_energies: tuple[float, ...]
    steps: tuple[float, ...]

    @property
    def seconds(self) -> float:
        return self.round_ends_s[-1]

    def with_duration(self, seconds: float) -> Course:
        """Returns this course, scaled in time so that the run takes `seconds`."""
        factor = seconds / self.seconds if self.seconds > 0 else 1.0
        return replace(self, round_ends_s=tuple(end * factor for end in self.round_ends_s))

    def best_at(self, seconds: float) -> float | None:
        """Returns the lowest energy at this time; None before the end of the first round."""
        limit_s = seconds * (1 + ROUNDING)
        energies = [
            best_energy
            for end, best_energy in zip(self.round_ends_s, self.best_energies, strict=True)
            if end <= limit_s
        ]
        return energies[-1] if energies else None

    def time_to_reach(self, target: float) -> float | None:
        """Returns the seconds until the end of the round in which the target was reached; None if it was
        not."""
        return next(
            (
                end
                for end, best_energy in zip(self.round_ends_s, self.best_energies, strict=True)
                if best_energy <= target
            ),
            None,
        )


def runs_of(record: Record) -> Iterator[AnnealingRun]:
    """Yields the run of each repetition; nothing unless every repetition has a seed and an energy."""
    seeds, best_energies = (_metric_values(record, name) for name in ("run_seed", "best_energy"))
    if not len(record.times_s) == len(seeds) == len(best_energies):
        return
    target = _metric_values(record, "target_time") or [-1.0] * len(seeds)
    errors = _sum_errors(record)
    for k, seconds in enumerate(record.times_s):
        target_s = target[k] if target[k] >= 0 else None
        yield AnnealingRun(
            seeds[k], seconds, best_energies[k], target_s, float(errors[k]) if len(errors) else 0.0
        )


def course_of(record: Record) -> Course | None:
    """Returns the course of the last run; None if it was not reported."""
    round_ends_s, best_energies, steps = (
        tuple(_metric_values(record, f"round_{name}")) for name in ("end", "best", "steps")
    )
    seeds = _metric_values(record, "run_seed")
    if not round_ends_s or not seeds or not len(round_ends_s) == len(best_energies) == len(steps):
        return None
    return Course(seeds[-1], round_ends_s, best_energies, steps)


def _metric_values(record: Record, name: str) -> list[float]:
    metric = record.metrics.get(name)
    return metric.values if metric is not None else []


def _sum_errors(record: Record) -> np.ndarray:
    """Returns the relative difference between the sum of the parts and the elapsed time, on the worst rank
    of each repetition; empty if the parts were not reported."""
    elapsed_s = np.array(_metric_values(record, "rank_elapsed"))
    part_seconds = [np.array(_metric_values(record, f"rank_{name}")) for name in RANK_PARTS]
    part_seconds = [seconds for seconds in part_seconds if len(seconds) == len(elapsed_s)]
    count = len(record.times_s)
    if not len(elapsed_s) or not part_seconds or len(elapsed_s) % count:
        return np.array([])
    difference = np.abs(np.sum(part_seconds, axis=0) - elapsed_s) / np.maximum(elapsed_s, 1e-12)
    return np.asarray(difference.reshape(count, -1).max(axis=1))
