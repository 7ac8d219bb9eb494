# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of nodes on the fake machine: slow nodes and slow links, with known factors."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hockney.core.case import Case
from hockney.core.catalog import Metric, Workload
from hockney.launch.fakes import FakeWorkloads

NODES = "nodes"
"""Role of the workloads."""


@dataclass(frozen=True)
class FakeNodeTimes(FakeWorkloads):
    """The true values, for cases with ranks on `rank_nodes` (empty: one rank on each node). `slow_nodes` and
    `slow_links` have the factors of the times of nodes and of pairs of nodes. `noise` is the relative
    standard deviation of the time of a pair in a repetition."""

    slow_nodes: Mapping[int, float] = field(default_factory=dict)
    slow_links: Mapping[tuple[int, ...], float] = field(default_factory=dict)
    noise: float = 0.02
    latency_s: float = 2e-6
    per_byte_s: float = 1e-10
    operation_s: float = 1e-10
    seed: int = 0
    launch: int = 0
    rank_nodes: tuple[int, ...] = ()

    def takes(self, workload: Workload) -> bool:
        return workload.role == NODES

    def in_launch(self, launch: int) -> FakeNodeTimes:
        return replace(self, launch=launch)

    def on_nodes(self, nodes: Sequence[int]) -> FakeNodeTimes:
        return replace(self, rank_nodes=tuple(nodes))

    def time(self, workload: Workload, case: Case, shares: np.ndarray) -> float:
        """Return the seconds of one operation on nodes that are not slow."""
        if "operations" in case:
            return case.number("operations") * self.operation_s
        return self.latency_s + case.bytes * self.per_byte_s

    def values(self, metric: Metric, case: Case, times: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the values of a metric for all ranks, repetition by repetition."""
        ranks = case.ranks
        random = np.random.default_rng(zlib.crc32(f"{self.seed} {self.launch} {case.line}".encode()))
        noise = times[:, None] * np.exp(self.noise * random.standard_normal((len(times), ranks)))
        node = np.array(self.rank_nodes or range(ranks))
        factor = np.array([self.slow_nodes.get(int(number), 1.0) for number in node])
        if metric.name == "rank_time":
            return np.asarray(noise * factor).ravel()
        partners = fake_partners(ranks, len(times), meets_all=case["partners"] == "all")
        if metric.name == "partner":
            return partners.astype(float).ravel()
        link = np.array(
            [
                [
                    self.slow_links.get((int(min(a, b)), int(max(a, b))), 1.0)
                    for a, b in zip(node, node[row], strict=True)
                ]
                for row in partners
            ]
        )
        pauses = partners == np.arange(ranks)
        partner_factor = np.where(node[partners] == node, 1.0, factor[partners])
        return np.where(pauses, 0.0, noise * factor * partner_factor * link).ravel()


def fake_partners(ranks: int, rounds: int, *, meets_all: bool) -> np.ndarray:
    """Return the partner of each rank in each round: by the circle method, or the neighbor."""
    own = np.arange(ranks)
    if not meets_all:
        return np.tile(own ^ 1, (rounds, 1))
    circle = ranks + ranks % 2 - 1
    table = np.empty((rounds, circle + 1), dtype=int)
    for number in range(rounds):
        shift = number % circle
        seats = (2 * shift - np.arange(circle)) % circle
        seats[shift] = circle
        table[number] = [*seats, shift]
    partners = table[:, :ranks]
    return np.where(partners < ranks, partners, own)


FAKE = FakeNodeTimes()
