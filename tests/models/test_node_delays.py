# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Lossy nodes and links are named in clusters with known losses, and none in clean or noisy ones."""

from __future__ import annotations

import numpy as np
import pytest
from lossy_clusters import counts

from hockney.models.node_delays import DelayCounts, count_delays, link_delays, node_delays
from hockney.models.node_effects import adjusted_p_values

RUNS = 40


def named(found: DelayCounts) -> tuple[set[int], set[tuple[int, int]]]:
    """The lossy nodes and links among these measures and three others that show nothing."""
    nodes = found.repetitions.shape[-1]
    first, second = np.triu_indices(nodes, 1)
    others = {"node": np.ones(3 * nodes), "link": np.ones(3 * len(first))}

    def is_named(kind: str, p_values: np.ndarray) -> np.ndarray:
        families = {**others, kind: np.concatenate([others[kind], p_values])}
        return adjusted_p_values(families)[kind][len(others[kind]) :] <= 0.05

    lossy = is_named("node", node_delays(found, 8 * nodes).p_values)
    links = is_named("link", link_delays(found, lossy, 8 * len(first)).p_values)
    pairs = zip(first[links].tolist(), second[links].tolist(), strict=True)
    return set(np.flatnonzero(lossy).tolist()), set(pairs)


@pytest.mark.parametrize("nodes", [4, 6, 16])
def test_a_lossy_link_is_named_and_not_its_nodes(nodes: int):
    random = np.random.default_rng(nodes)
    results = [named(counts(random, nodes, link_loss=0.015)) for _ in range(RUNS)]
    assert sum(links == {(1, 3)} for _, links in results) >= 0.9 * RUNS
    assert not any(lossy for lossy, _ in results)


@pytest.mark.parametrize("nodes", [4, 6, 16])
def test_a_node_that_loses_messages_is_named_and_not_its_links(nodes: int):
    random = np.random.default_rng(nodes)
    results = [named(counts(random, nodes, node_loss=0.03, background=0.01)) for _ in range(RUNS)]
    assert sum(result == ({2}, set()) for result in results) >= 0.95 * RUNS


@pytest.mark.parametrize("nodes", [4, 6, 16])
def test_delays_everywhere_and_bursts_name_nothing(nodes: int):
    random = np.random.default_rng(nodes)
    for options in ({"background": 0.02}, {"background": 0.005, "has_bursts": True}):
        results = [named(counts(random, nodes, **options)) for _ in range(RUNS)]
        assert sum(result != (set(), set()) for result in results) <= 0.05 * RUNS


def test_a_launch_with_many_delays_names_nothing():
    found = counts(np.random.default_rng(1), 8)
    found.delayed[:, 2, 3, :4] = found.delayed[:, 2, :4, 3] = 5
    assert named(found) == (set(), set())


def test_what_is_detectable_is_named_in_95_percent():
    random = np.random.default_rng(3)
    loss = np.median(link_delays(counts(random, 8), np.zeros(8, dtype=bool), 8 * 28).detectable)
    assert 0.005 < loss < 0.012
    results = [named(counts(random, 8, link_loss=float(loss))) for _ in range(RUNS)]
    assert sum(links == {(1, 3)} for _, links in results) >= 0.87 * RUNS


def test_few_launches_and_launches_without_a_case_are_unknown():
    found = counts(np.random.default_rng(4), 6, launches=2, link_loss=0.2)
    assert np.isnan(node_delays(found, 6).p_values).all()
    nothing = np.zeros(0, dtype=int), np.zeros(0)
    assert count_delays([nothing, nothing], 4).repetitions.sum() == 0
