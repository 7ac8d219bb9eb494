# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions of messages that set out from one node at once, from measured pairs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from models_data import exact
from msgspec.structs import replace as with_fields

from hockney.core.case import Case
from hockney.core.fit import Fits
from hockney.measurement import fake_bench
from hockney.models import fit_all
from hockney.models.applications.message_costs import messages_for
from hockney.models.applications.node_sharing import NodeSharing, measured_sharing
from hockney.models.applications.ring_exchange import exchange_bounds, exchange_time
from hockney.models.level_costs import CostsByLevel
from hockney.models.measured_costs import measured_costs
from hockney.models.schedules import Layer, Mode
from hockney.system.bundled import bundled_catalog, catalog_with

CATALOG = catalog_with(bundled_catalog(), ("pairs_stream", "pairs_pingpong"))
SIZES = (8, 1024, 16384, 65536, 262144, 1 << 20)
LATENCY = {"node": 0.4e-6, "network": 2e-6}
ONE = {"node": 8e9, "network": 4e9}
SHARED = {"node": 12e9, "network": 6e9}
MACHINE = with_fields(fake_bench("fake").machine, hosts=["a", "b"], nodes=2, ranks_per_node=4)


def alone(place: str, size: float) -> float:
    return LATENCY[place] + size / ONE[place]


def true(case: Case) -> float:
    pairs, place, size = case["pairs"], case.place, case.bytes
    if case.workload == "pairs_pingpong":
        return alone(place, size)
    return max((0.2e-6 + size / ONE[place]) / pairs, size / SHARED[place])


def fits(places=("node", "network"), pairs=(1, 2, 4)) -> Fits:
    stream = {"buffers": "hot", "direction": "one", "window": 32}
    ping_pong = {"buffers": "hot", "source": "named", "pairs": 1}
    cases = [
        *(Case.of("pairs_pingpong", 2, bytes=n, place=at, **ping_pong) for at in places for n in SIZES),
        *(
            Case.of("pairs_stream", 2 * k, bytes=n, place=at, pairs=k, **stream)
            for at in places
            for k in pairs
            for n in SIZES
        ),
    ]
    return fit_all(exact(true, cases), CATALOG, cores=None)


@pytest.fixture(scope="module")
def costs():
    return messages_for(fits(), MACHINE, "a run")


def test_a_run_of_pairs_has_the_costs_of_messages_and_what_they_share(costs):
    assert costs.place == "network" and costs.within_node.place == "node"
    for level, place in ((costs, "network"), (costs.within_node, "node")):
        assert level.node_sharing.rate == pytest.approx(SHARED[place], rel=0.01)
        assert level.concurrent_time(1 << 20, 1) == pytest.approx(alone(place, 1 << 20), rel=0.01)
        expected = LATENCY[place] + 4 * (1 << 20) / SHARED[place]
        assert level.concurrent_time(1 << 20, 4) == pytest.approx(expected, rel=0.01)


def test_pairs_that_saturate_nothing_change_no_prediction():
    free = messages_for(fits(pairs=(1,)), MACHINE, "a run")
    assert free.node_sharing is None and free.within_node.node_sharing is None
    unlimited = NodeSharing(math.inf, 0.0, 4, (1e9, math.inf))
    assert not unlimited.has_limit
    both = replace(
        free, node_sharing=unlimited, within_node=replace(free.within_node, node_sharing=unlimited)
    )
    assert exchange_time(both, 65536, 8) == exchange_time(free, 65536, 8)


def test_without_pairs_at_a_level_nothing_is_known_there():
    assert measured_sharing(fits(places=("node",)), ("network",)) is None
    assert measured_sharing(fits(places=("node",)), ("network", "node")) is not None


def test_an_exchange_within_a_node_shares_its_memory(costs):
    """Of 4 ranks, 2 send at once: 8 GB/s each, 12 GB/s in all."""
    size = 1 << 20
    step = LATENCY["node"] + 2 * size / SHARED["node"]
    assert exchange_time(costs, size, 4) == pytest.approx(2 * step, rel=0.01)
    low, high = exchange_bounds(costs, size, 4)
    assert low <= 1 <= high


def test_in_an_exchange_over_nodes_one_message_of_each_leaves_it(costs):
    """It takes the network alone, which is slower than the node's memory is for two."""
    size = 1 << 20
    within = LATENCY["node"] + 2 * size / SHARED["node"]
    step = alone("network", size)
    assert exchange_time(costs, size, 8) == pytest.approx(within + max(step, within), rel=0.01)


def test_messages_of_a_step_that_leave_a_node_together_share_its_connection(costs):
    measured = measured_costs(fits(), costs.between_nodes, "value")
    levels = CostsByLevel(measured_costs(fits(), costs.within_node, "value"), measured)
    size = 1 << 20
    layer = Layer(np.arange(4), np.arange(4) + 4, size)
    single = Layer(np.array([0]), np.array([4]), size)
    together = levels.on(8, 4).of(layer, Mode.POSTED).flight
    by_itself = levels.on(8, 4).of(single, Mode.POSTED).flight
    more = LATENCY["network"] + 4 * size / SHARED["network"] - alone("network", size)
    assert np.asarray(together) - np.asarray(by_itself) == pytest.approx([more] * 4, rel=0.02)
    apart = np.ravel(levels.on(8, 1).of(layer, Mode.POSTED).flight)
    assert apart == pytest.approx(np.ravel(by_itself), rel=1e-9), "one rank on each node"
