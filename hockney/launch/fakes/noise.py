# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Noise of the fake machine's cores: a timer on all cores, and a periodic program on the last one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Metric, Workload
from hockney.launch.fakes import FakeWorkloads

ROLE = "noise"


@dataclass(frozen=True)
class FakeNoise(FakeWorkloads):
    """The detours: on every core, `tick_s` at `tick_hz`; on the last one in addition `program_s` at
    `program_hz`. Phases depend on the launch, the rank and the repetition."""

    tick_hz: float = 250.0
    tick_s: float = 3e-6
    program_hz: float = 100.0
    program_s: float = 500e-6
    launch: int = 0

    def takes(self, workload: Workload) -> bool:
        return workload.role == ROLE

    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        return case.number("observe")

    def in_launch(self, launch: int) -> FakeNoise:
        return FakeNoise(self.tick_hz, self.tick_s, self.program_hz, self.program_s, launch)

    def values(self, metric: Metric, case: Case, times: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """The values of all repetitions and ranks, ranks varying fastest."""
        detours = self._detours(case, len(times))
        if metric.per == "event":
            column = 0 if metric.name == "start" else 1
            return np.concatenate([each[:, column] for each in detours])
        if metric.name == "lost":
            return np.array([each[:, 1].sum() for each in detours])
        constant = {"observed": case.number("observe"), "undisturbed": case.number("quantum", 0.5e-6)}
        return np.full(len(detours), constant[metric.name])

    def counts(self, metric: Metric, case: Case, times: np.ndarray) -> list[int]:
        """The number of events of each repetition and rank."""
        return [len(each) for each in self._detours(case, len(times))] if metric.per == "event" else []

    def _detours(self, case: Case, repetitions: int) -> list[np.ndarray]:
        """Start and length of each detour, for each repetition and rank."""
        return [
            self._core(case.number("observe"), rank == case.ranks - 1, (self.launch, repetition, rank))
            for repetition in range(repetitions)
            for rank in range(case.ranks)
        ]

    def _core(self, duration_s: float, is_last: bool, seed: tuple[int, ...]) -> np.ndarray:
        random = np.random.default_rng(seed)
        parts = [_train(self.tick_hz, self.tick_s, duration_s, random)]
        if is_last:
            parts.append(_train(self.program_hz, self.program_s, duration_s, random))
        detours = np.concatenate(parts)
        detours = detours[np.argsort(detours[:, 0])]
        # an interrupt during another detour does not add to it
        ends = np.maximum.accumulate(detours.sum(axis=1))
        return detours[np.append(True, detours[1:, 0] >= ends[:-1])]


def _train(frequency: float, length_s: float, duration_s: float, random: np.random.Generator) -> np.ndarray:
    starts = np.arange(random.random() / frequency, duration_s - length_s, 1 / frequency)
    return np.column_stack([starts, np.full(len(starts), length_s)])


FAKE = FakeNoise()
