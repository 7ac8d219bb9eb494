# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The costs of operations next to load on the fake machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Workload
from hockney.launch.fakes import FakeWorkloads

CONGESTION = "congestion"
"""Role of the workload."""


@dataclass(frozen=True)
class FakeCongestion(FakeWorkloads):
    """The true values: the times of a victim's message, and its factor next to each load; 1 in the quiet
    state. `load` is that of a congestor (B/s)."""

    message_s: float = 2e-6
    per_byte_s: float = 0.1e-9
    factors: Mapping[str, float] = field(
        default_factory=lambda: {"incast": 3.2, "alltoall": 1.5, "pairs": 1.0, "broadcast": 1.0}
    )
    load: float = 5e9

    def takes(self, workload: Workload) -> bool:
        return workload.role == CONGESTION

    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Returns the seconds of an operation of the victims."""
        return (self.message_s + self.per_byte_s * case.bytes) * self.factors.get(str(case["congestor"]), 1.0)

    def constants(self, workload: Workload, case: Case) -> dict[str, float]:
        victims = min(max(2, round(case.number("victims") / 100 * case.ranks)), case.ranks - 2)
        is_quiet = case["congestor"] == "none"
        return {"victim_ranks": victims, "load": 0.0 if is_quiet else self.load * (case.ranks - victims)}


FAKE = FakeCongestion()
