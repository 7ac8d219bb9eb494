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
    """One repetition: its seed, its time (s), the lowest energy that it found, and how long it took until a
    target was reached (s; None if there was none or if it was not reached). `sum_error`: how far the parts of
    a rank's time are from the whole, relative to it, on the worst rank."""

    seed: float
    seconds: float
    best: float
    target_s: float | None
    sum_error: float = 0.0


@dataclass(frozen=True)
class Course:
    """The course of a run with this `seed`, as the master sees it: for each round its end (s), the lowest
    energy so far and the steps of all ranks so far."""

    seed: float
    ends: tuple[float, ...]
    best: tuple[float, ...]
    steps: tuple[float, ...]

    @property
    def seconds(self) -> float:
        return self.ends[-1]

    def with_duration(self, seconds: float) -> Course:
        """This course, stretched or compressed in time so that the run takes `seconds`."""
        factor = seconds / self.seconds if self.seconds > 0 else 1.0
        return replace(self, ends=tuple(end * factor for end in self.ends))

    def best_at(self, seconds: float) -> float | None:
        """The lowest energy at this moment; None before the first round has ended."""
        limit_s = seconds * (1 + ROUNDING)
        energies = [best for end, best in zip(self.ends, self.best, strict=True) if end <= limit_s]
        return energies[-1] if energies else None

    def time_to_reach(self, target: float) -> float | None:
        """Seconds until the end of the round in which the target was reached."""
        return next((end for end, best in zip(self.ends, self.best, strict=True) if best <= target), None)


def runs_of(record: Record) -> Iterator[AnnealingRun]:
    """The run of each repetition; none unless every repetition has a seed and an energy."""
    seeds, best = (_series(record, name) for name in ("run_seed", "best_energy"))
    if not len(record.times_s) == len(seeds) == len(best):
        return
    target = _series(record, "target_time") or [-1.0] * len(seeds)
    errors = _sum_errors(record)
    for k, seconds in enumerate(record.times_s):
        target_s = target[k] if target[k] >= 0 else None
        yield AnnealingRun(seeds[k], seconds, best[k], target_s, float(errors[k]) if len(errors) else 0.0)


def course_of(record: Record) -> Course | None:
    """The course of the last run; None if it was not reported."""
    ends, best, steps = (tuple(_series(record, f"round_{name}")) for name in ("end", "best", "steps"))
    seeds = _series(record, "run_seed")
    if not ends or not seeds or not len(ends) == len(best) == len(steps):
        return None
    return Course(seeds[-1], ends, best, steps)


def _series(record: Record, name: str) -> list[float]:
    metric = record.metrics.get(name)
    return metric.values if metric is not None else []


def _sum_errors(record: Record) -> np.ndarray:
    """The relative error of the sum of the parts against the elapsed time, on the worst rank of each
    repetition; empty if the parts were not reported."""
    elapsed = np.array(_series(record, "rank_elapsed"))
    parts = [np.array(_series(record, f"rank_{name}")) for name in RANK_PARTS]
    parts = [part for part in parts if len(part) == len(elapsed)]
    count = len(record.times_s)
    if not len(elapsed) or not parts or len(elapsed) % count:
        return np.array([])
    difference = np.abs(np.sum(parts, axis=0) - elapsed) / np.maximum(elapsed, 1e-12)
    return np.asarray(difference.reshape(count, -1).max(axis=1))
