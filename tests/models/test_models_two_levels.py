# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message costs within a node and between nodes, from a run that measured both."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_data import CATALOG, record
from models_data import HERE as ONE_NODE

from hockney.core.case import Case
from hockney.core.errors import Inconclusive, UsageError
from hockney.core.fit import Fits, Summary
from hockney.core.layout import farthest_level_in_node
from hockney.core.record import RunRecords
from hockney.models import fit_all
from hockney.models.applications.grain_prediction import predict
from hockney.models.applications.granularity import Algorithm
from hockney.models.applications.layouts import NodeLimits, RequestedLayout, apply_layout
from hockney.models.applications.message_costs import messages_for
from hockney.models.applications.node_sharing import NodeSharing
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts, RelativeBounds
from hockney.models.applications.ring_exchange import exchange_bounds, exchange_time

SIZES = [0, *(1 << k for k in range(21))]
HERE = msgspec.structs.replace(
    ONE_NODE, hosts=["n0", "n1"], nodes=2, ranks_per_node=4, levels=["node", "network"]
)
NODE, NETWORK = (0.5e-6, 1e-10), (30e-6, 8e-9)
"""Latency and time per byte."""


def world(levels: dict[str, tuple[float, float]], noise: float = 0.0, **fixed: str | int) -> Fits:
    """The fits of a run in which a ping-pong was measured at each of these levels; "" leaves the place to the
    launch."""
    random = np.random.default_rng(3)
    records = []
    for launch in range(5):
        for place, (latency, per_byte) in levels.items():
            for size in SIZES:
                placed = {"place": place} if place else {}
                case = Case.of("pingpong", 2, buffers="hot", bytes=size, **placed, **fixed)
                times = (latency + per_byte * size) * np.exp(noise * random.standard_normal(20))
                records.append(record(case, f"{launch}.0", list(times)))
    return fit_all(RunRecords(records=tuple(records)), CATALOG, cores=8)


BOTH = world({"node": NODE, "network": NETWORK}, 0.01)


def costs() -> PointToPointCosts:
    return messages_for(BOTH, HERE, "the run", hosts=2)


@settings(max_examples=5, deadline=None)
@given(
    st.floats(1e-7, 2e-6), st.floats(1e-11, 1e-9), st.floats(2e-6, 1e-3), st.floats(1e-9, 1e-6),
    st.floats(0, 0.03),
)  # fmt: skip
def test_a_fit_finds_the_parameters_of_both_levels(within_s, per_byte, between_s, far_byte, noise):
    made = messages_for(
        world({"node": (within_s, per_byte), "network": (between_s, far_byte)}, noise), HERE, "the run"
    )
    for level, (latency, byte) in (
        (made.within_node, (within_s, per_byte)),
        (made.between_nodes, (between_s, far_byte)),
    ):
        for size in SIZES:
            time = latency + byte * size
            assert level.one_way(size) == pytest.approx(time, rel=0.02 + 2 * noise)
            low, high = level.bounds(size)
            slack = 0.02 * noise + 1e-6
            assert (low - slack) * level.one_way(size) <= time <= (high + slack) * level.one_way(size)


def test_each_level_has_the_verdict_and_the_interval_of_its_own_fit():
    fits = BOTH.fits
    (inside,) = [f for f in fits if f.subject.get("place") == "node" and f.model == "hockney"]
    poor = msgspec.structs.replace(inside, verdict="poor", why="noisy")
    found = messages_for(
        msgspec.structs.replace(BOTH, fits=[poor if f is inside else f for f in fits]), HERE, "the run"
    )
    assert (found.within_node.verdict, found.within_node.doubt) == ("poor", "noisy")
    assert found.verdict == "good" and found.between_nodes.verdict == "good"
    assert found.within_node.band != found.between_nodes.band
    assert (found.place, found.within_node.place) == ("network", "node")


def test_ranks_fill_the_nodes_of_the_run_before_they_share_them_evenly():
    found = costs()
    assert (found.cores, found.nodes, found.max_ranks) == (4, 2, 16)
    assert [found.per_node(ranks) for ranks in (1, 2, 4, 5, 8, 10, 16)] == [4, 4, 4, 4, 4, 5, 8]
    assert [found.node_count(ranks) for ranks in (2, 4, 5, 8, 16)] == [1, 1, 2, 2, 2]
    assert [found.spread_over(4).per_node(ranks) for ranks in (2, 4, 8, 16)] == [1, 1, 2, 4]


def test_one_message_costs_what_its_level_costs():
    found = costs()
    for size in (0, 1000, 100_000):
        for ranks, (latency, per_byte) in ((2, NODE), (4, NODE), (5, NETWORK), (16, NETWORK)):
            assert found.one_way(size, ranks) == pytest.approx(latency + per_byte * size, rel=0.02)
    assert found.spread_over(2).one_way(0, 2) == pytest.approx(NETWORK[0], rel=0.02)


def test_an_exchange_has_a_step_within_nodes_and_one_between_them():
    """Ranks 0 and 1 of 2 x 2 exchange on a node while 2 and 3 do, then 1 with 2 and 3 with 0 between them."""
    found = costs().spread_over(2)
    near, far = (latency + per_byte * 4000 for latency, per_byte in (NODE, NETWORK))
    assert exchange_time(found, 4000, 4) == pytest.approx(near + far, rel=0.02)
    assert exchange_time(found.spread_over(1), 4000, 4) == pytest.approx(2 * near, rel=0.02)
    assert exchange_time(found.spread_over(4), 4000, 4) == pytest.approx(2 * far, rel=0.02)


FLAT = PointToPointCosts("m", "M", (CostPiece(0, 1e-6, 0),), False, "", band=(RelativeBounds(0, 0.9, 1.2),))
TWO = replace(
    FLAT, pieces=(CostPiece(0, 3e-6, 0),), band=(RelativeBounds(0, 0.5, 2.0),), within_node=FLAT, cores=2
)


def test_the_interval_of_an_exchange_contains_its_time_whatever_the_pieces():
    """Messages that share a node's memory have the latency of the first piece, also if their size is in
    another one."""
    pieces = (CostPiece(0, 1e-6, 0), CostPiece(1000, 5e-6, 1e-10))
    shares = NodeSharing(1e9, 1e-7, 4, (0.9e9, 1.1e9))
    costs = replace(
        FLAT, pieces=pieces, place="node", node_sharing=shares, band=(RelativeBounds(0, 0.99, 1.02),)
    )
    limits = [2 * (f * 1e-6 + 1e-7 + 2 * 4000 / rate) for f, rate in ((0.99, 1.1e9), (1, 1e9), (1.02, 0.9e9))]
    assert exchange_time(costs, 4000, 4) == pytest.approx(limits[1])
    low, high = exchange_bounds(costs, 4000, 4)
    assert low == pytest.approx(limits[0] / limits[1]) and high == pytest.approx(limits[2] / limits[1])
    for size in (0, 500, 999, 1000, 20_000):
        low, high = exchange_bounds(costs, size, 4)
        assert low < 1 < high


def test_the_interval_of_an_exchange_has_both_levels():
    assert exchange_bounds(TWO, 8, 2) == pytest.approx((0.9, 1.2))
    assert exchange_bounds(TWO, 8, 4) == pytest.approx((2.4 / 4, 7.2 / 4))
    assert exchange_bounds(TWO.spread_over(8), 8, 4) == pytest.approx((0.5, 2.0))
    assert exchange_bounds(replace(TWO, band=()), 8, 4) is None
    assert exchange_bounds(replace(TWO, within_node=replace(FLAT, band=())), 8, 4) is None
    assert exchange_bounds(replace(TWO, band=()), 8, 2) is not None


@given(st.integers(2, 40), st.integers(1, 9), st.integers(0, 9), st.floats(0, 1e5))
def test_an_exchange_is_never_below_that_on_a_node_nor_above_that_between_nodes(ranks, cores, nodes, size):
    two = replace(
        TWO, pieces=(CostPiece(0, 3e-6, 1e-9),),
        within_node=replace(FLAT, pieces=(CostPiece(0, 1e-6, 1e-10),)), cores=cores, nodes=nodes,
    )  # fmt: skip
    time = exchange_time(two, size, ranks)
    assert exchange_time(two.within_node, size, 2) <= time * (1 + 1e-12)
    assert time <= exchange_time(two.between_nodes, size, ranks) * (1 + 1e-12)
    low, high = exchange_bounds(two, size, ranks)
    assert 0.5 <= low <= 1 <= high <= 2.0
    assert two.per_node(ranks) * two.node_count(ranks) >= ranks


def test_a_prediction_states_the_time_of_a_message_at_both_levels():
    found = predict(Algorithm(1e-3, 1000), TWO, [2, 4])
    assert (found.one_way.value, found.one_way.low, found.one_way.high) == pytest.approx(
        (1e-6, 0.9e-6, 1.2e-6)
    )
    assert (found.between_nodes.value, found.between_nodes.low, found.between_nodes.high) == pytest.approx(
        (3e-6, 1.5e-6, 6e-6)
    )
    row = found.rows[1]
    assert row.time.value == pytest.approx(1e-3 / 4 + 4e-6)
    assert (row.time.low, row.time.high) == pytest.approx((1e-3 / 4 + 2.4e-6, 1e-3 / 4 + 7.2e-6))
    assert predict(Algorithm(1.0), FLAT, [2]).between_nodes is None


# On the layout that the user chooses


def laid(nodes: int, per_node: int, *ranks: int, cores: int = 8, count: int = 0) -> PointToPointCosts:
    return apply_layout(
        FLAT if not count else TWO, RequestedLayout(nodes, per_node), NodeLimits(cores, count), ranks
    )


def test_a_layout_spreads_the_ranks():
    assert apply_layout(TWO, RequestedLayout(), NodeLimits(8), [4]) is TWO
    found = apply_layout(TWO, RequestedLayout(nodes=4), NodeLimits(8), [16])
    assert [found.per_node(ranks) for ranks in (2, 4, 8, 16, 32)] == [1, 1, 2, 4, 8]
    assert found.max_ranks == 32
    found = apply_layout(TWO, RequestedLayout(ranks_per_node=4), NodeLimits(8), [16])
    assert [found.per_node(ranks) for ranks in (2, 4, 8, 1000)] == [4, 4, 4, 4] and found.max_ranks is None
    found = apply_layout(TWO, RequestedLayout(4, 4), NodeLimits(8), [16])
    assert found.node_count(16) == 4 and found.max_ranks == 16
    shown = predict(Algorithm(1.0), found, [2, 16], has_layout=True)
    assert [shown.layout(ranks).text for ranks in (2, 8, 16)] == ["1x2", "2x4", "4x4"]


@pytest.mark.parametrize("apart", [False, True])
def test_a_level_that_was_not_measured_has_no_interval(apart):
    known = replace(FLAT, band=(RelativeBounds(0, 0.9, 1.1),), verdict="good")
    found = apply_layout(known, RequestedLayout(nodes=2), NodeLimits(4), [4], ranks_on_separate_nodes=apart)
    near, between = found.within_node, found.between_nodes
    measured, assumed = (between, near) if apart else (near, between)
    assert measured.bounds(8) == (0.9, 1.1) and measured.verdict == "good"
    assert assumed.bounds(8) is None and not assumed.verdict
    assert predict(Algorithm(1.0), found, [4]).rows[0].time.low is None


def test_with_one_level_measured_the_other_is_taken_to_cost_the_same():
    found = laid(2, 0, 4)
    assert found.within_node is not None and found.within_node.pieces == found.pieces == FLAT.pieces
    assert exchange_time(found, 8, 4) == exchange_time(FLAT, 8, 4)


@pytest.mark.parametrize(
    ("nodes", "per_node", "ranks", "count", "code"),
    [
        (0, 9, 2, 0, "ranks-per-node-beyond-cores"),
        (5, 0, 2, 4, "nodes-beyond-machine"),
        (2, 4, 9, 0, "ranks-beyond-layout"),
        (2, 0, 17, 4, "ranks-beyond-layout"),
    ],
)
def test_layouts_that_do_not_fit(nodes, per_node, ranks, count, code):
    with pytest.raises(UsageError) as refused:
        laid(nodes, per_node, ranks, count=count)
    assert refused.value.code == code


# Which fits are used


def test_one_level_is_used_for_all_messages():
    for place in ("", "cache", "node", "network"):
        found = messages_for(world({place: NETWORK}), HERE, "the run", hosts=2)
        assert found.within_node is None and found.place == place
        assert found.one_way(0, 2) == found.one_way(0, 16) == pytest.approx(NETWORK[0])


def test_of_several_levels_within_a_node_the_farthest_is_used():
    cache, socket = (1e-7, 1e-11), (2e-7, 2e-11)
    found = messages_for(world({"cache": cache, "socket": socket, "network": NETWORK}), HERE, "the run")
    assert found.within_node.place == "socket"
    assert found.within_node.one_way(0) == pytest.approx(socket[0])
    alone = messages_for(world({"cache": cache, "socket": socket, "": NODE}), HERE, "the run")
    assert alone.within_node is None and alone.one_way(0) == pytest.approx(socket[0])
    assert (
        farthest_level_in_node(["network", "cache", "core"]) == "cache"
        and farthest_level_in_node(["network"]) == ""
    )


def test_the_place_of_a_ping_pong_that_the_launch_placed_is_in_its_summaries():
    fits = world({"": NETWORK})
    there = [msgspec.structs.replace(s, place="network") for s in fits.summaries]
    found = messages_for(msgspec.structs.replace(fits, summaries=there), HERE, "the run")
    assert found.place == "network"
    there[3] = msgspec.structs.replace(there[3], place="node")
    found = messages_for(msgspec.structs.replace(fits, summaries=there), HERE, "the run")
    assert found.place == ""


def test_a_level_whose_fit_was_refused_is_not_used():
    fits = [
        msgspec.structs.replace(f, verdict="refused", segments=[]) if f.subject.get("place") == "node" else f
        for f in BOTH.fits
    ]
    found = messages_for(msgspec.structs.replace(BOTH, fits=fits), HERE, "the run")
    assert found.within_node is None and found.place == "network"
    with pytest.raises(Inconclusive):
        messages_for(msgspec.structs.replace(BOTH, fits=[]), HERE, "the run")


# Whether messages share the network


def summary(case: str, seconds: float, **more: int) -> Summary:
    return msgspec.structs.replace(BOTH.summaries[0], case=case, typical=_exactly(seconds), **more)


def _exactly(seconds: float):
    return msgspec.structs.replace(BOTH.summaries[0].typical, value=seconds, low=seconds, high=seconds)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("nodes", [2, 4])
def test_exchanges_over_nodes_decide_whether_messages_share_the_network(shared, nodes):
    flat = replace(costs(), shared=shared, sharing="", why="").spread_over(nodes)
    size = 1 << 18
    time = exchange_time(flat, size, 8)
    line = f"round_robin buffers=hot bytes={size} exchange=ordered nodes={nodes} ranks=8 sync=window"
    fits = msgspec.structs.replace(BOTH, summaries=[*BOTH.summaries, summary(line, time)])
    found = messages_for(fits, HERE, "the run", hosts=2)
    assert (found.shared, found.sharing) == (shared, "measured")
    unplaced = line.replace(f"nodes={nodes} ", "")
    fits = msgspec.structs.replace(BOTH, summaries=[*BOTH.summaries, summary(unplaced, time, nodes=nodes)])
    assert messages_for(fits, HERE, "the run", hosts=2).shared == shared
