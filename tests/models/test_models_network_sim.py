# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedules on networks that messages share, worked out by hand; tests/engine/test_engine_simulated.py
compares with SimGrid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.network_sim import ENVELOPE, NetworkSimulator, max_min_rates
from hockney.models.routes import Routes
from hockney.models.schedules import CLOSED_FORMS, SCHEDULES, Mode, NotModelled, relation
from hockney.models.schedules.schedule import Step, step

EVEN = Segment(latency_s=10e-6, per_byte_s=1e-9)
LOGGP = Segment(
    send_s=1e-6, isend_s=2e-6, send_s_per_byte=1e-10, latency_s=5e-6, per_byte_s=1e-9, receive_s=3e-6,
    gap_s=4e-6, exchange_s=1e-6,
)  # fmt: skip
MEGABYTE = 1_000_000
FAT_TREE = {"shape": "fat-tree", "nodes": (), "link": 1e9, "down": (4, 2)}


def machine(count: int = 8, segment: Segment = EVEN, **more) -> Platform:
    own = {key: more.pop(key) for key in list(more) if key in Platform.__struct_fields__}
    network = Network(**({"nodes": (NodeGroup(count=count),)} | more))
    return Platform(name="m", title="M", network=network, segments=(segment,), **own)


def run(platform: Platform, ranks: int, steps) -> float:
    return float(NetworkSimulator(platform, ranks).run(steps).max())


EXISTING = sorted(CLOSED_FORMS) + [("barrier", name) for name in ("dissemination", "central", "mcs_tree")]


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(EXISTING), st.integers(1, 9), st.sampled_from([0, 8, 6000, 40_000]), st.booleans())
def test_without_shared_links_the_time_is_that_of_the_clocks(key, ranks, size, waiting):
    """LogGPSimulator computes the same from the recurrences. No exchange cost: it is defined by what a rank
    last sent, which the two know at different moments."""
    segment = Segment(send_s=1e-6, isend_s=2e-6, latency_s=5e-6, per_byte_s=1e-9, receive_s=3e-6)
    platform = machine(9, segment, eager=4096 if waiting else 1 << 30, sum_s_per_byte=1e-10)
    steps = list(SCHEDULES[key](ranks, size))
    try:
        expected = LogGPSimulator(platform, ranks).run(steps)
    except NotModelled:
        assert waiting
        return
    assert NetworkSimulator(platform, ranks).run(steps) == pytest.approx(expected, rel=1e-9)


@st.composite
def program_steps(draw):
    """Computation, and messages that are posted before computation, some of them large, on 2 to 6 ranks."""
    ranks = draw(st.integers(2, 6))
    seconds = st.lists(st.integers(0, 50), min_size=ranks, max_size=ranks).map(lambda s: 1e-6 * np.array(s))
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    steps = []
    for _ in range(draw(st.integers(1, 3))):
        steps.append(Step((), computed=draw(seconds)))
        chosen = draw(st.lists(st.sampled_from(pairs), min_size=1, unique=True))
        sizes = np.array(
            draw(st.lists(st.sampled_from([100, 6000]), min_size=len(chosen), max_size=len(chosen)))
        )
        source, target = map(np.array, zip(*chosen, strict=True))
        posted = relation(source, target, sizes, Mode.POSTED)
        steps.append(Step(posted.layers, posted.mode, computed=draw(st.none() | seconds)))
        steps += [Step((), joins=True)] if draw(st.booleans()) else []
    return ranks, steps


@settings(deadline=None, max_examples=60)
@given(program_steps(), st.sampled_from([0.0, 4e-6]))
def test_programs_with_posted_messages_take_the_same_time_on_both_simulators(program, gap_s):
    ranks, steps = program
    segment = Segment(send_s=1e-6, isend_s=2e-6, latency_s=5e-6, per_byte_s=1e-9, receive_s=3e-6, gap_s=gap_s)
    platform = machine(9, segment, eager=4096)
    expected = LogGPSimulator(platform, ranks).run(steps)
    simulator = NetworkSimulator(platform, ranks)
    assert simulator.run(steps) == pytest.approx(expected, rel=1e-9)
    assert simulator.ends[-1] == pytest.approx(expected, rel=1e-9)


def test_an_exchange_costs_more_and_a_gap_keeps_messages_apart():
    both = [step([0, 1], [1, 0], 100, mode=Mode.EXCHANGE)]
    assert run(machine(2, LOGGP), 2, both) == pytest.approx(2.01e-6 + 5.1e-6 + 3e-6 + 1e-6)
    ten = [step([0], [1], 0) for _ in range(10)]
    assert run(machine(2, LOGGP), 2, ten) == pytest.approx(1e-6 + 9 * 4e-6 + 8e-6)


@pytest.mark.parametrize(("duplex", "times"), [("full", 1), ("half", 2)])
def test_a_nic_in_both_directions(duplex, times):
    platform = machine(2, nic=1e9, duplex=duplex)
    took = run(platform, 2, [step([0, 1], [1, 0], MEGABYTE, mode=Mode.EXCHANGE)])
    assert took == pytest.approx(10e-6 + times * 1e-3, rel=1e-3)


@pytest.mark.parametrize(
    ("network", "flows"),
    [
        ({"shape": "bus", "link": 1e9}, 8),
        ({"shape": "mesh", "dims": (8,), "nodes": (), "link": 1e9}, 4),
        ({"shape": "torus", "dims": (8,), "nodes": (), "link": 1e9}, 2),
        ({"shape": "switch", "link": 1e9}, 1),
        *((FAT_TREE | {"up": (1, up), "cables": (1, cables)}, 4 // (up * cables))
          for up, cables in ((1, 1), (2, 1), (1, 2), (4, 1))),
        ({"shape": "dragonfly", "nodes": (), "link": 1e9, "dragonfly": (2, 1, 2, 2)}, 4),
        ({"shape": "dragonfly", "nodes": (), "link": 1e9, "dragonfly": (1, 2, 2, 2)}, 2),
    ],
)  # fmt: skip
def test_halves_that_exchange_share_cables(network, flows):
    halves = [step(np.arange(8), (np.arange(8) + 4) % 8, MEGABYTE, mode=Mode.EXCHANGE)]
    assert run(machine(**network), 8, halves) == pytest.approx(10e-6 + flows * 1e-3, rel=1e-3)


def test_a_medium_serves_one_message_after_the_other():
    platform = machine(medium_message_s=1e-3, medium_s_per_byte=1e-6)
    halves = [step(np.arange(4), np.arange(4, 8), 100)]
    assert run(platform, 8, halves) == pytest.approx(4 * 1.1e-3 + 10e-6 + 1e-7)


def test_cores_of_a_node_use_no_link():
    platform = machine(nic=1e9, nodes=(NodeGroup(count=2, cores=2),), on_node=(Segment(latency_s=1e-6),))
    assert run(platform, 4, [step([0, 2], [1, 3], MEGABYTE)]) == pytest.approx(1e-6)
    across = run(platform, 4, [step([0, 1], [2, 3], MEGABYTE)])
    assert across == pytest.approx(10e-6 + 2e-3, rel=1e-3)


def test_ranks_that_wait_for_each_other_are_not_modelled():
    """Both send first, and large messages wait for their receivers."""
    there, back = step([0], [1], MEGABYTE), step([1], [0], MEGABYTE)
    in_turn = run(machine(2, eager=100), 2, [there, back])
    assert in_turn == pytest.approx(2 * (10e-6 + 1e-3), rel=1e-3)
    at_once = Step((there.layers[0], back.layers[0]))
    with pytest.raises(NotModelled):
        run(machine(2, eager=100), 2, [at_once])


def test_routes():
    mesh = Routes(machine(shape="mesh", dims=(3, 2), nodes=(), link=1e9))
    assert (mesh.hops(0, 5), mesh.hops(2, 2), len(mesh.links(0, 5))) == (3, 0, 3)
    torus = Routes(machine(shape="torus", dims=(5,), nodes=(), link=1e9, nic=1e8))
    assert (torus.hops(0, 4), torus.hops(0, 2), torus.rate) == (1, 2, 1e8)
    there, back = set(torus.links(0, 2)), set(torus.links(2, 0))
    assert len(there) == 4 and not there & back, "cables and NICs have two directions"
    half = Routes(machine(nic=1e8, duplex="half"))
    assert set(half.links(0, 1)) == set(half.links(1, 0)) == {0, 1}


ROUTE = st.sets(st.integers(0, 5), min_size=1).map(lambda links: np.array(sorted(links)))
LINKS = st.lists(ROUTE, min_size=1, max_size=8)


@given(LINKS, st.lists(st.floats(1.0, 100.0), min_size=6, max_size=6))
def test_shares_are_fair(links, capacity):
    """No link carries more than it can, and each transfer has a full link on which none is faster."""
    rates, capacity = max_min_rates(links, np.array(capacity)), np.array(capacity)
    load = np.zeros(6)
    for each, rate in zip(links, rates, strict=True):
        load[each] += rate
    assert (load <= capacity * (1 + 1e-6)).all()
    for each, rate in zip(links, rates, strict=True):
        full = [link for link in each if load[link] >= capacity[link] * (1 - 1e-6)]
        fastest = [
            max(other for route, other in zip(links, rates, strict=True) if link in route) for link in full
        ]
        assert any(rate >= top * (1 - 1e-6) for top in fastest)


def test_the_envelope_is_on_the_link():
    took = run(machine(2, Segment(latency_s=0.0), nic=1e6), 2, [step([0], [1], 84)])
    assert took == pytest.approx((84 + ENVELOPE) * 1e-6)
