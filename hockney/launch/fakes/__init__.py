# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Workloads in the fake world whose costs are not those of messages and collectives. Every module of this
plug-in folder defines FAKE; most are in suites."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Metric, Workload
from hockney.core.plugins import plugins


class FakeWorkloads(ABC):
    """Known costs and results of some workloads. `shares` are the ranks' shares of the work, with mean 1."""

    @abstractmethod
    def takes(self, workload: Workload) -> bool:
        """Return whether this is one of these workloads."""

    @abstractmethod
    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Return the seconds of one operation."""

    def constants(self, workload: Workload, case: Case) -> dict[str, float]:
        """Return the metrics that are the same in all repetitions."""
        return {}

    def values(self, metric: Metric, case: Case, times: np.ndarray, shares: np.ndarray) -> np.ndarray | None:
        """Return the values of a metric, for repetitions that took `times`; None to use the world's
        values."""
        return None

    def counts(self, metric: Metric, case: Case, times: np.ndarray) -> list[int]:
        """Return the number of values in each repetition and rank of a metric per event."""
        return []

    def labels(self, case: Case) -> dict[str, str]:
        return {}

    def checked_bytes(self, case: Case) -> int | None:
        """Return the bytes checked in each repetition; None for the payload."""
        return None

    def in_launch(self, launch: int) -> FakeWorkloads:
        """Return the same workloads in this launch."""
        return self

    def on_nodes(self, nodes: Sequence[int]) -> FakeWorkloads:
        """Return the same workloads for a case whose ranks are on these nodes."""
        return self


@cache
def fakes() -> tuple[FakeWorkloads, ...]:
    """Return the fake workloads of this folder and of every suite."""
    return tuple(module.FAKE for module in plugins(__name__, "FAKE"))
