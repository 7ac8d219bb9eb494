# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The run time of a traced program as the costs of a machine have it, and how well that agrees with the
traced run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hockney.replay.building import TraceGraph
from hockney.replay.collectives import PricedGraph, price_graph
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import Graph, computed_by_rank
from hockney.replay.pricing import Machine


@dataclass(frozen=True)
class Replayed:
    """`end_s` is the time (s) at which each rank ends."""

    priced: PricedGraph
    evaluator: Evaluator
    end_s: np.ndarray

    @property
    def run_s(self) -> float:
        return float(self.end_s.max(initial=0.0))


@dataclass(frozen=True)
class Agreement:
    """Seconds of a traced run and of its replay on the machine of the run, of all ranks and of each; the
    traced ones without what recording added. `in_mpi_s` are those of all ranks together that are not
    computation."""

    traced_s: float
    replayed_s: float
    traced_by_rank_s: np.ndarray
    replayed_by_rank_s: np.ndarray
    traced_in_mpi_s: float
    replayed_in_mpi_s: float

    @property
    def error(self) -> float:
        """Of the run time, relative."""
        return self.replayed_s / self.traced_s - 1 if self.traced_s > 0 else 0.0

    @property
    def error_by_rank(self) -> np.ndarray:
        traced = self.traced_by_rank_s
        return np.divide(self.replayed_by_rank_s, traced, out=np.ones(len(traced)), where=traced > 0) - 1

    @property
    def in_mpi_error(self) -> float:
        """Of the time in MPI, as a share of the run time of all ranks."""
        total = float(self.traced_by_rank_s.sum())
        return (self.replayed_in_mpi_s - self.traced_in_mpi_s) / total if total > 0 else 0.0


def replayed(graph: Graph, machine: Machine, algorithms: Mapping[str, str] | None = None) -> Replayed:
    """The graph on a machine, with its collectives as `priced` has them. Raises HockneyError."""
    found = price_graph(graph, machine, algorithms)
    evaluator = Evaluator(found.graph, found.costs)
    return Replayed(found, evaluator, evaluator.run().ends)


def agreement(built: TraceGraph, replay: Replayed) -> Agreement:
    """Between a traced run and its replay."""
    traced = np.maximum(built.end_s - built.recording_s, 0.0)
    computed = computed_by_rank(built.graph)
    return Agreement(
        float(traced.max(initial=0.0)),
        replay.run_s,
        traced,
        replay.end_s,
        float((traced - computed).sum()),
        float((replay.end_s - computed).sum()),
    )
