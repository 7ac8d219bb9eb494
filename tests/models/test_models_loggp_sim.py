# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The LogGP simulator: properties on every machine, for every schedule.
tests/machines/simulated/test_oracle.py compares its times with SimGrid's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models import schedules
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import SCHEDULES, Mode, NotModelled, Step, relation
from hockney.models.schedules.schedule import step

KEYS = sorted(SCHEDULES)
BARRIERS = schedules.algorithm_names("barrier")
RANKS = st.integers(1, 17)
TICKS = st.integers(0, 40)


def platform(**parts: float) -> Platform:
    return Platform(
        name="p", title="", network=Network(nodes=(NodeGroup(count=64),)), eager=100, sum_s_per_byte=0.25,
        segments=(Segment(**{"latency_s": 10.0, "per_byte_s": 0.5, **parts}),),
    )  # fmt: skip


@st.composite
def machines(draw) -> dict[str, float]:
    """LogGP's parameters in whole seconds, so that sums are exact. Crossing costs nothing: whether messages
    cross depends on the order of arrivals, which alone must not end a schedule later."""
    parts = ("send_s", "isend_s", "latency_s", "receive_s", "gap_s")
    return {part: float(draw(TICKS)) for part in parts}


def leaving(machine: Platform, steps: list[Step], entered: np.ndarray) -> np.ndarray:
    simulator = LogGPSimulator(machine, len(entered))
    simulator.now[:] = entered
    return simulator.run(steps)


def steps_of(key: tuple[str, str], ranks: int, size: int) -> list[Step]:
    try:
        return list(SCHEDULES[key](ranks, size))
    except NotModelled:
        return []


@given(st.sampled_from(BARRIERS), st.lists(TICKS, min_size=1, max_size=17), machines())
def test_nobody_leaves_a_barrier_before_the_last_has_entered(name, entered, parts):
    steps = steps_of(("barrier", name), len(entered), 0)
    assert leaving(platform(**parts), steps, np.array(entered)).min() >= max(entered)


@settings(max_examples=200)
@given(st.sampled_from(KEYS), RANKS, st.sampled_from([0, 1, 8]), machines(), st.data())
def test_slower_machines_and_later_ranks_end_no_earlier(key, ranks, size, parts, data):
    steps = steps_of(key, ranks, size)
    entered = np.array(data.draw(st.lists(TICKS, min_size=ranks, max_size=ranks)), dtype=float)
    before = leaving(platform(**parts), steps, entered)
    assert (before >= entered).all()
    slower = data.draw(st.sampled_from(sorted(parts)))
    assert (leaving(platform(**{**parts, slower: parts[slower] + 3}), steps, entered) >= before).all()
    late = entered.copy()
    late[data.draw(st.integers(0, ranks - 1))] += 5
    assert (leaving(platform(**parts), steps, late) >= before).all()


@given(st.sampled_from(KEYS), st.integers(2, 17), st.sampled_from([0, 8]), machines())
def test_costs_that_are_equal_by_place_are_those_of_one_switch(key, ranks, size, parts):
    """The arrays of costs and the one cost of all messages give the same times."""
    steps = steps_of(key, ranks, size)
    flat = platform(**parts, exchange_s=1.5)
    nodes = Platform(
        name="n", title="", network=Network(nodes=(NodeGroup(count=9, cores=2),)), segments=flat.segments,
        on_node=flat.segments, eager=flat.eager, sum_s_per_byte=flat.sum_s_per_byte,
    )  # fmt: skip
    entered = np.zeros(ranks)
    assert (leaving(nodes, steps, entered) == leaving(flat, steps, entered)).all()


def test_several_messages_are_received_as_they_arrive():
    """Rank 3's message arrives first though it was listed last; each costs its receiver 3 s."""
    machine = platform(send_s=2.0, receive_s=3.0)
    gather = relation(np.array([1, 2, 3]), np.array([0, 0, 0]), mode=Mode.BLOCKING)
    left = leaving(machine, [gather], np.array([0.0, 20.0, 13.0, 0.0]))
    assert left.tolist() == [20 + 2 + 10 + 3, 22, 15, 2]
    assert leaving(machine, [gather], np.zeros(4)).tolist() == [12 + 3 * 3, 2, 2, 2]


def test_small_and_large_messages_of_a_step():
    machine = platform(send_s=2.0, receive_s=3.0)
    both = step([0, 2], [1, 3], np.array([100, 200]))
    assert leaving(machine, [both], np.zeros(4)).tolist() == [2, 65, 115, 115]


def test_a_supersteps_relation_pays_every_overhead():
    """Rank 0 sends to all, and rank 1 to rank 0: three sends, then a receive; h = 3."""
    machine = platform(isend_s=2.0, receive_s=3.0)
    superstep = relation(np.array([0, 0, 0, 1]), np.array([1, 2, 3, 0]), 4)
    assert leaving(machine, [superstep], np.zeros(4)).tolist() == [14 + 3, 17, 19, 21]


def test_a_chain_of_large_messages_is_not_modelled():
    """Each rank sends before it receives, so that none can begin before the next one has ended."""
    chain = [step([0, 1], [1, 2], 101)]
    with pytest.raises(NotModelled):
        LogGPSimulator(platform(), 3).run(chain)


@pytest.mark.parametrize(("latency", "expected"), [(10.0, 2 + 10 + 3 + 7), (0.0, 2 + 3 + 7)])
def test_messages_that_cross_cost_more(latency, expected):
    """Even if messages take no time between the ranks."""
    machine = platform(send_s=2.0, receive_s=3.0, exchange_s=7.0, latency_s=latency)
    swap = step([0, 1], [1, 0], mode=Mode.EXCHANGE)
    assert leaving(machine, [swap], np.zeros(2)).tolist() == [expected] * 2
    assert leaving(machine, [swap], np.array([0.0, 30.0]))[0] == 30 + 2 + latency + 3, "an answer, later"
