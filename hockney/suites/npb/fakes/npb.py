# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of the NAS benchmarks on the fake machine.

Computation is divided evenly among the ranks. Messages, collectives, waiting and barriers take fixed
shares of the time of one rank, on any number of ranks. The share of barriers depends on their algorithm
and place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Metric, Workload
from hockney.launch.fakes import FakeWorkloads

NPB = "npb"
"""Role of these benchmarks."""
PHASES = {"sweeps": 0.75, "sums": 0.25}
"""The phases of every benchmark, with their shares of each part of its time."""
CHECKED_BYTES = 8
"""Bytes verified in the answer of a run."""


@dataclass(frozen=True)
class FakeNpb(FakeWorkloads):
    """The true costs. `operations` are the operations of class S, `class_factors` the factors of other
    classes. The shares are relative to the time of one rank. `barrier_shares` has the share of MPI's
    barrier for each value of barrier_at, and `barrier_factors` the cost of other barriers relative to it."""

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
    message_shares: Mapping[str, float] = field(default_factory=lambda: {"cg": 0.08, "lu": 0.04})
    collective_shares: Mapping[str, float] = field(default_factory=lambda: {"ft": 0.1, "is": 0.2, "cg": 0.02})
    waiting_share: float = 0.05
    barrier_shares: Mapping[str, float] = field(default_factory=lambda: {"iteration": 0.02, "step": 0.1})
    barrier_factors: Mapping[str, float] = field(
        default_factory=lambda: {"dissemination": 0.5, "hierarchical": 0.25}
    )

    def takes(self, workload: Workload) -> bool:
        return workload.role == NPB

    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Returns the seconds of a run."""
        return sum(self.parts(case).values())

    def operation_count(self, case: Case) -> float:
        """Returns the operations of a run."""
        return self.operations[case.workload] * self.class_factors.get(str(case["class"]), 1.0)

    def parts(self, case: Case) -> dict[str, float]:
        """Returns the seconds of each part of a run."""
        one_rank_s = self.operation_count(case) / (case.number("rate") or self.rate)
        communication_s = one_rank_s if case.ranks > 1 else 0.0
        barrier_share = self.barrier_shares.get(str(case["barrier_at"]), 0.0)
        return {
            "computation": one_rank_s / case.ranks,
            "messages": communication_s * self.message_shares.get(case.workload, 0.01),
            "collectives": communication_s * self.collective_shares.get(case.workload, 0.0),
            "barriers": communication_s * barrier_share * self.barrier_factors.get(str(case["barrier"]), 1.0),
            "waiting": communication_s * self.waiting_share,
        }

    def values(self, metric: Metric, case: Case, times: np.ndarray, shares: np.ndarray) -> np.ndarray | None:
        """Returns the values of `metric`; None unless it is a time or an operation count."""
        parts = self.parts(case)
        if metric.name in parts:
            return times * (parts[metric.name] / sum(parts.values()))
        if metric.name == "operations":
            return np.array([self.operation_count(case)])
        communication_s = sum(parts[name] for name in ("messages", "collectives", "barriers"))
        phase_seconds = {f"phase_{name}": seconds for name, seconds in parts.items()}
        phase_seconds["phase_communication"] = communication_s
        if metric.name not in phase_seconds:
            return None
        return np.array([phase_seconds[metric.name] * share for share in PHASES.values()])

    def labels(self, case: Case) -> dict[str, str]:
        return {"phases": ",".join(PHASES), "decomposition": f"{case.ranks} blocks"}

    def checked_bytes(self, case: Case) -> int:
        return CHECKED_BYTES


FAKE = FakeNpb()
