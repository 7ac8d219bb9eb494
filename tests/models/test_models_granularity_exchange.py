# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The time of one exchange: equation 3, and the simulator's times on the described machines."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.errors import UsageError
from hockney.core.fit import CurvePoint, Estimate, Fit, FittedSegment
from hockney.core.platform import Network, NodeGroup, Platform
from hockney.core.platform import Segment as Described
from hockney.machines import simulated
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.applications.point_to_point_costs import (
    CostPiece,
    PointToPointCosts,
    RelativeBounds,
    costs_from_fit,
)
from hockney.models.applications.ring_exchange import exchange_time

WORD = 4
SIMULATED_US = {
    # machine, ranks, bytes: microseconds of a round_robin with sync=window in SimGrid 3.32
    ("sun-ethernet", 2, 4000): 13000.0,
    ("sun-ethernet", 3, 400): 4520.0,
    ("sun-ethernet", 3, 400000): 1504500.0,
    ("sun-ethernet", 8, 40000): 403120.0,
    ("ppro-ethernet", 4, 4000): 19150.0,
    ("switched-ethernet", 2, 400): 3040.0,
    ("switched-ethernet", 3, 0): 3600.0,
    ("switched-ethernet", 4, 4000): 10000.0,
    ("switched-ethernet", 8, 0): 9600.0,
    ("switched-ethernet", 8, 4000): 12800.0,
    ("switched-ethernet", 8, 400000): 647800.0,
    ("paragon", 3, 40000): 1656.089,
    ("paragon", 8, 4000): 384.24,
    ("t3d", 3, 4000): 308.611,
    ("t3d", 3, 40000): 3548.651,
    ("t3e", 3, 4000): 207.019,
    ("t3e", 8, 400000): 2709.403,
    ("ibm-sp", 8, 40000): 2375.714,
}
"""The time of the 16-byte envelope on a cable that several messages share, and hops beyond the first, are not
in the model: hence a hundredth."""

CROWDED_US = {
    # cores per node, shape, ranks, bytes
    (2, "switch", 5, 4000): 64.8,
    (3, "switch", 4, 0): 44.0,
    (3, "switch", 8, 40000): 432.0,
    (3, "switch", 5, 40000): 442.0,
    (4, "switch", 2, 4000): 5.6,
    (4, "bus", 7, 4000): 102.16,
    (3, "bus", 8, 4000): 142.32,
}


def on(name: str) -> PointToPointCosts:
    return costs_of_description(simulated.platform(name))


@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
@pytest.mark.parametrize("words", [0, 1, 10, 1000, 10000])
def test_the_suns_take_equation_3(ranks, words):
    assert exchange_time(on("sun-ethernet"), WORD * words, ranks) == pytest.approx(
        2 * (1500e-6 + 5e-6 * (ranks / 2) * words), rel=1e-14
    )


@pytest.mark.parametrize(("machine", "ranks", "size"), SIMULATED_US)
def test_described_machines_take_what_the_simulator_does(machine, ranks, size):
    took = SIMULATED_US[machine, ranks, size] * 1e-6
    assert exchange_time(on(machine), size, ranks) == pytest.approx(took, rel=0.01)


@pytest.mark.parametrize(("cores", "shape", "ranks", "size"), CROWDED_US)
def test_nodes_of_several_cores(cores, shape, ranks, size):
    """4 nodes; 22 us and 100 MB/s between them, 2 us and 5 GB/s on one."""
    network = Network(shape=shape, nodes=(NodeGroup(count=4, cores=cores),), link=1e8, nic=1e9)
    between = Described(send_s=1e-6, latency_s=20e-6, receive_s=1e-6, per_byte_s=1e-8)
    within = Described(send_s=0.5e-6, latency_s=1e-6, receive_s=0.5e-6, per_byte_s=2e-10)
    platform = Platform(
        name="m", title="M", network=network, eager=4096, segments=(between,), on_node=(within,)
    )
    took = CROWDED_US[cores, shape, ranks, size] * 1e-6
    assert exchange_time(costs_of_description(platform), size, ranks) == pytest.approx(took, rel=0.03)


def test_an_odd_number_takes_a_third_step_where_sends_wait():
    messages = PointToPointCosts("m", "M", (CostPiece(0, 1e-6, 1e-9),), False, "", eager_limit=1000)
    assert exchange_time(messages, 1000, 5) == pytest.approx(2 * messages.one_way(1000))
    assert exchange_time(messages, 1001, 5) == pytest.approx(3 * messages.one_way(1001))
    assert exchange_time(messages, 1001, 6) == pytest.approx(2 * messages.one_way(1001))


@given(st.integers(2, 200), st.integers(0, 10**6), st.booleans(), st.floats(0, 1e-3), st.floats(0, 1e-3))
def test_a_network_that_is_shared_is_never_faster(ranks, size, waits, latency, per_byte):
    def took(**more) -> float:
        pieces = (CostPiece(0, latency, per_byte),)
        limit = 0 if waits else math.inf
        return exchange_time(
            PointToPointCosts("m", "M", pieces, more.pop("shared", False), "", eager_limit=limit, **more),
            size,
            ranks,
        )

    alone = took()
    assert took(shared=True) >= alone * (1 - 1e-12)
    assert took(medium=(latency, 0.0)) >= alone * (1 - 1e-12)
    if ranks == 2:
        assert took(shared=True) == pytest.approx(alone) == pytest.approx(took(medium=(latency, per_byte)))


def fitted(*pieces: tuple[int, float, float], verdict: str = "good") -> Fit:
    def sure(value: float) -> Estimate:
        return Estimate(value, value, value)

    ends = [*(first for first, _, _ in pieces[1:]), None]
    segments = [
        FittedSegment(first=first, beyond=beyond, latency=sure(latency), per_byte=sure(per_byte))
        for (first, latency, per_byte), beyond in zip(pieces, ends, strict=True)
    ]
    curve = [CurvePoint(8, 1e-6, 0.9e-6, 1.2e-6), CurvePoint(1024, 2e-6, 1e-6, 4e-6)]
    return Fit(
        model="hockney", line="pingpong buffers=hot ranks=2", parameters=[], verdict=verdict,
        why="few sizes", segments=segments, curve=curve,
    )  # fmt: skip


def test_a_fit_says_what_is_known_and_how_well():
    messages = costs_from_fit(
        fitted((8, 1e-6, 1e-9), (512, 1.2e-6, 2e-9)), name="m", title="M", source="here"
    )
    assert messages.pieces == (CostPiece(0, 1e-6, 1e-9), CostPiece(512, 1.2e-6, 2e-9))
    assert messages.one_way(511) == pytest.approx(1e-6 + 511e-9)
    assert messages.one_way(512) == pytest.approx(1.2e-6 + 1024e-9)
    assert messages.band == (RelativeBounds(8, 0.9, 1.2), RelativeBounds(1024, 0.5, 2.0))
    assert messages.bounds(0) == messages.bounds(8) == (0.9, 1.2)
    assert messages.bounds(516) == pytest.approx((0.7, 1.6))
    assert messages.bounds(10**9) == (0.5, 2.0)
    assert [messages.is_known(size) for size in (7, 8, 1024, 1025)] == [False, True, True, False]
    assert not messages.shared and messages.verdict == "good"


def test_between_two_sizes_a_change_may_be_anywhere():
    change = Estimate(512, 256, 1024)
    fit = msgspec.structs.replace(fitted((8, 1e-6, 0.0), (512, 4e-6, 0.0)), change_points=[change])
    messages = costs_from_fit(fit, name="m", title="M", source="here")
    assert messages.change_around(256) is None and messages.change_around(1024) is None
    low, high = messages.bounds(300)
    assert low <= 0.9 and high == pytest.approx(4 * 2.0), "the slower line, at its own end of the interval"
    low, high = messages.bounds(1000)
    assert low == pytest.approx(0.5 * 1 / 4) and high == pytest.approx(2.0)
    assert messages.bounds(1024) == (0.5, 2.0)


def test_sends_wait_from_where_the_latency_rises_most():
    def eager(*pieces: tuple[int, float, float]) -> float:
        return costs_from_fit(fitted(*pieces), name="m", title="M", source="").eager_limit

    assert eager((0, 0.40e-6, 0), (12, 0.47e-6, 1e-9), (4105, 2.1e-6, 6e-11), (741456, 0.0, 1e-10)) == 4104
    assert eager((0, 1e-6, 1e-9), (512, 1.2e-6, 2e-9)) == math.inf
    assert eager((0, 1e-6, 1e-9)) == math.inf
    assert eager((0, 0.0, 1e-9), (64, 1e-6, 0.0)) == math.inf
    assert eager((0, 235e-6, 1.6e-6), (725, 927e-6, 1e-6)) == math.inf, "a second packet"


def test_a_refused_fit_is_no_model():
    refused = Fit(model="hockney", line="pingpong", parameters=[], verdict="refused", why="only 1 size")
    with pytest.raises(UsageError) as caught:
        costs_from_fit(refused, name="m", title="M", source="here")
    assert caught.value.code == "refused-fit"
