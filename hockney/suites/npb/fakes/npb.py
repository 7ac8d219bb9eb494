# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of the NAS benchmarks on the fake machine.

Computing is divided evenly among the ranks. Messages, collectives and waiting take fixed shares of the time
that one rank would take, on any number of ranks; so do barriers, by their algorithm and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Metric, Workload
from hockney.launch.fakes import FakeWorkloads

NPB = "npb"
"""The role of these benchmarks."""
PHASES = {"sweeps": 0.75, "sums": 0.25}
"""The phases of every benchmark, with their shares of each part of its time."""
CHECKED_BYTES = 8
"""Bytes verified in the answer of a run."""


@dataclass(frozen=True)
class FakeNpb(FakeWorkloads):
    """The true costs. `operations` are the operations of class S, `class_factors` the factors of other
    classes. `messages`, `collectives` and `waiting` are shares of the time of one rank; `barriers` is the
    share of MPI's barrier at each value of barrier_at, and `factors` the cost of others relative to it."""

    rate: float = 2e9
    operations: Mapping[str, float] = field(
        default_factory=lambda: {
            name: count * 1e6
            for name, count in {
                "ep": 34, "cg": 67, "mg": 8, "ft": 178, "is": 0.7, "lu": 103, "bt": 228, "sp": 102,
            }.items()
        }
    )  # fmt: skip
    class_factors: Mapping[str, float] = field(default_factory=lambda: {"W": 30.0, "A": 500.0})
    messages: Mapping[str, float] = field(default_factory=lambda: {"cg": 0.08, "lu": 0.04})
    collectives: Mapping[str, float] = field(default_factory=lambda: {"ft": 0.1, "is": 0.2, "cg": 0.02})
    waiting: float = 0.05
    barriers: Mapping[str, float] = field(default_factory=lambda: {"iteration": 0.02, "step": 0.1})
    factors: Mapping[str, float] = field(default_factory=lambda: {"dissemination": 0.5, "hierarchical": 0.25})

    def takes(self, workload: Workload) -> bool:
        return workload.role == NPB

    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Seconds of a run."""
        return sum(self.parts(case).values())

    def count(self, case: Case) -> float:
        """Operations of a run."""
        return self.operations[case.workload] * self.class_factors.get(str(case["class"]), 1.0)

    def parts(self, case: Case) -> dict[str, float]:
        """Seconds of each part of a run."""
        one_rank_s = self.count(case) / (case.number("rate") or self.rate)
        communication_s = one_rank_s if case.ranks > 1 else 0.0
        barrier = self.barriers.get(str(case["barrier_at"]), 0.0)
        return {
            "computation": one_rank_s / case.ranks,
            "messages": communication_s * self.messages.get(case.workload, 0.01),
            "collectives": communication_s * self.collectives.get(case.workload, 0.0),
            "barriers": communication_s * barrier * self.factors.get(str(case["barrier"]), 1.0),
            "waiting": communication_s * self.waiting,
        }

    def values(self, metric: Metric, case: Case, times: np.ndarray, shares: np.ndarray) -> np.ndarray | None:
        """The values of `metric`; None unless it is a time or an operation count."""
        parts = self.parts(case)
        if metric.name in parts:
            return times * (parts[metric.name] / sum(parts.values()))
        if metric.name == "operations":
            return np.array([self.count(case)])
        communication = sum(parts[name] for name in ("messages", "collectives", "barriers"))
        phase_seconds = {f"phase_{name}": seconds for name, seconds in parts.items()}
        phase_seconds["phase_communication"] = communication
        if metric.name not in phase_seconds:
            return None
        return np.array([phase_seconds[metric.name] * share for share in PHASES.values()])

    def labels(self, case: Case) -> dict[str, str]:
        return {"phases": ",".join(PHASES), "decomposition": f"{case.ranks} blocks"}

    def checked_bytes(self, case: Case) -> int:
        return CHECKED_BYTES


FAKE = FakeNpb()
