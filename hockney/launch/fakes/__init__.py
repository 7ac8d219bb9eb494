# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The workloads of suites in the fake world. Each module here (all are in suites) has FAKE."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Metric, Workload
from hockney.core.plugins import plugins


class FakeWorkloads(ABC):
    """The known costs and results of some workloads. `shares` has every rank's share of the work, with mean
    1."""

    @abstractmethod
    def takes(self, workload: Workload) -> bool:
        """Whether it is one of these workloads."""

    @abstractmethod
    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Seconds of one operation."""

    def constants(self, workload: Workload, case: Case) -> dict[str, float]:
        """The metrics that are the same in all repetitions."""
        return {}

    def values(self, metric: Metric, case: Case, times: np.ndarray, shares: np.ndarray) -> np.ndarray | None:
        """The values of a metric, for repetitions that took `times`; None if the world's own are to be
        taken."""
        return None

    def labels(self, case: Case) -> dict[str, str]:
        return {}

    def checked_bytes(self, case: Case) -> int | None:
        """The bytes checked in each repetition; None for the payload."""
        return None

    def in_launch(self, launch: int) -> FakeWorkloads:
        """The same workloads in this launch."""
        return self


@cache
def fakes() -> tuple[FakeWorkloads, ...]:
    """The fake workloads of every suite."""
    return tuple(module.FAKE for module in plugins(__name__, "FAKE"))
