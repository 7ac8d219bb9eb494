# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""New lossy nodes and links are named in clusters with known losses, and none that did not change."""

from __future__ import annotations

import tracemalloc
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from lossy_clusters import counts

from hockney.models.node_delay_changes import DelayChanges, delay_changes
from hockney.models.node_delays import DelayCounts
from hockney.models.node_effects import Kind, adjusted_p_values

RUNS = 20
CLUSTERS = [6, pytest.param(16, marks=pytest.mark.slow)]
"""Numbers of nodes."""
OTHERS: Mapping[Kind, int] = {"machine": 3, "node": 4, "link": 3}
"""The measures of each kind besides the delays, which show nothing."""
Names = set[tuple[str, int, bool]]
"""The kind, number and direction of the parts that changed."""


def changes(before: DelayCounts, after: DelayCounts) -> dict[Kind, DelayChanges]:
    tests: dict[Kind, int] = {kind: len(OTHERS) * (count + 1) for kind, count in OTHERS.items()}
    return delay_changes(before, after, 0.05, tests)


def named(found: Mapping[Kind, DelayChanges]) -> Names:
    """The changes that are significant among all measures: the kind, number and whether delays grew."""
    families = {
        kind: np.concatenate([np.ones(OTHERS[kind] * len(delays.p_values)), delays.p_values])
        for kind, delays in found.items()
    }
    adjusted = adjusted_p_values(families)
    return {
        (kind, int(k), bool(delays.grew[k]))
        for kind, delays in found.items()
        for k in np.flatnonzero(adjusted[kind][-len(delays.p_values) :] <= 0.05)
    }


def compare(nodes: int, before: dict[str, Any], after: dict[str, Any], runs: int = RUNS) -> list[Names]:
    random = np.random.default_rng(nodes)
    return [
        named(changes(counts(random, nodes, **before), counts(random, nodes, **after))) for _ in range(runs)
    ]


def link_number(nodes: int) -> int:
    """The number of the link 1 - 3."""
    first, second = np.triu_indices(nodes, 1)
    return int(np.flatnonzero((first == 1) & (second == 3))[0])


LINK, NODE = {"link_loss": 0.02}, {"node_loss": 0.02}
BACKGROUND, BURSTS = {"background": 0.01}, {"background": 0.005, "has_bursts": True}


@pytest.mark.parametrize("nodes", CLUSTERS)
@pytest.mark.parametrize("noise", [{}, BACKGROUND, BURSTS], ids=["clean", "background", "bursts"])
def test_what_did_not_change_is_not_named(nodes: int, noise: dict[str, Any]):
    """Neither noise nor faults that both sides have are changes."""
    for faults in ({}, LINK, NODE, LINK | NODE):
        both = noise | faults
        assert sum(bool(names) for names in compare(nodes, both, both)) <= 0.05 * RUNS


def test_memory_is_proportional_to_the_number_of_links():
    """Clusters of hundreds of nodes have tens of thousands of links."""
    random = np.random.default_rng(1)
    sides = [counts(random, 64), counts(random, 64, **LINK)]
    changes(*sides)  # imports
    tracemalloc.start()
    found = changes(*sides)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert named(found) == {("link", link_number(64), True)}
    assert peak <= 5 * sum(table.nbytes for side in sides for table in side.tables)


@pytest.mark.parametrize("nodes", CLUSTERS)
def test_a_new_link_and_a_new_node_are_named_exactly(nodes: int):
    link, node = ("link", link_number(nodes), True), ("node", 2, True)
    for faults, expected in ((LINK, {link}), (NODE, {node}), (LINK | NODE, {link, node})):
        assert sum(names == expected for names in compare(nodes, {}, faults)) >= 0.95 * RUNS
        repaired = {(kind, number, False) for kind, number, _ in expected}
        assert sum(names == repaired for names in compare(nodes, faults, {})) >= 0.95 * RUNS


def test_a_network_that_delays_everything_more_is_one_change():
    """Not even a lossy node has changed, although it delays more, like all nodes."""
    for faults in ({}, NODE):
        before, after = {"background": 0.002, **faults}, {"background": 0.03, **faults}
        names = compare(8, before, after)
        assert sum(each == {("machine", 0, True)} for each in names) >= 0.95 * RUNS


def test_few_more_delays_are_no_change_of_the_machine():
    """Half a percent of 1.6 times the usual time is less than the tolerance."""
    random = np.random.default_rng(1)
    before, after = (counts(random, 10, background=share) for share in (0.001, 0.006))
    for side in (before, after):
        side.delayed[1:] = 0
    assert named(changes(before, after)) == set()


def test_a_burst_in_one_launch_of_a_lossy_node_is_no_change():
    random = np.random.default_rng(2)
    before, after = (counts(random, 10, node_loss=0.01) for _ in range(2))
    after.delayed[:, 3, 2, :2] = after.delayed[:, 3, :2, 2] = 30
    assert named(changes(before, after)) == set()


def test_other_numbers_of_launches_and_repetitions_are_no_change():
    random = np.random.default_rng(3)
    before, after = (counts(random, 10, launches, **LINK, **NODE) for launches in (12, 4))
    fewer = DelayCounts(after.delayed * 2, after.repetitions * 2, after.messages * 2)
    assert named(changes(before, fewer)) == set()
    two = counts(random, 10, 2, **LINK, **NODE)
    assert all(np.isnan(delays.p_values).all() for delays in changes(before, two).values())


@pytest.mark.slow
@pytest.mark.parametrize("noise", [{}, BACKGROUND], ids=["clean", "background"])
@pytest.mark.parametrize(("nodes", "launches"), [(6, 6), (16, 6), (16, 4)])
def test_what_is_detectable_is_named_in_95_percent(nodes: int, launches: int, noise: dict[str, Any]):
    random, runs = np.random.default_rng(4), 100

    def measured(**faults: float) -> DelayCounts:
        return counts(random, nodes, launches, **noise, **faults)

    clean = [changes(measured(), measured()) for _ in range(10)]
    for kind, fault, number in (("node", "node_loss", 2), ("link", "link_loss", link_number(nodes))):
        loss = float(np.median([found[kind].detectable for found in clean]))
        assert 0 < loss < 0.06
        names = [named(changes(measured(), measured(**{fault: loss}))) for _ in range(runs)]
        assert sum((kind, number, True) in each for each in names) >= 0.94 * runs, "the error of 100 runs"


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [4, 8, 16])
def test_few_clean_comparisons_name_anything(nodes: int):
    for noise in ({}, {"background": 0.02}, BURSTS, BURSTS | LINK | NODE):
        assert sum(bool(names) for names in compare(nodes, noise, noise, 100)) <= 5
