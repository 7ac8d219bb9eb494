# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Message-based barriers: their counts, and their costs in known cases."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.models.barriers import (
    MessageCosts,
    Traffic,
    hierarchical_time,
    is_predictable,
    sequential_time,
    structural_time,
    traffic,
)
from hockney.models.schedules import algorithm_names

COSTS = MessageCosts(
    one_way_s=10.0, exchange_s=13.0, broadcast_s=11.0, base_s=9.0, send_s=2.0, receive_s=3.0, gap_s=2.5
)


@pytest.mark.parametrize(
    ("algorithm", "counted"),
    [
        ("dissemination_mcs", Traffic(64, 4, 8)),
        ("mcs_tree", Traffic(30, 6, 8)),
        ("central", Traffic(30, 2, 30)),
        ("total_exchange", Traffic(240, 1, 30)),
        ("tournament_mcs", Traffic(30, 8, 8)),
        ("recursive_doubling", Traffic(64, 4, 8)),
        ("butterfly", Traffic(64, 4, 8)),
    ],
)
def test_what_sixteen_ranks_send(algorithm, counted):
    assert traffic(algorithm, 16) == counted
    assert sequential_time(algorithm, 16, COSTS) == pytest.approx(9.0 * counted.messages)


def test_what_is_counted_on_other_numbers_of_ranks():
    assert traffic("dissemination", 1) == Traffic(0, 0, 0)
    assert traffic("dissemination", 5) == Traffic(15, 3, 6)
    assert traffic("recursive_doubling", 6) == Traffic(12, 3, 6), "no path has both ends and both rounds"
    assert traffic("recursive_doubling", 7) == Traffic(14, 4, 6)
    assert traffic("binomial", 3) == Traffic(4, 2, 4), "both leaves send at once"
    assert traffic("butterfly", 3) == Traffic(6, 2, 4), "a rank that plays two sends itself nothing"


@pytest.mark.parametrize("start", ["loop", "single"])
@pytest.mark.parametrize(
    ("algorithm", "seconds"),
    [(name, 13.0) for name in ("dissemination", "dissemination_mcs", "butterfly", "recursive_doubling")]
    + [(name, 13.0) for name in ("total_exchange", "total_exchange_sendrecv", "persistent")]
    + [(name, 13.0) for name in ("dissemination_nway",)]
    + [(name, 20.0) for name in ("central", "mcs_tree", "binomial", "tournament_mcs")]
    + [("tournament", 21.0), ("mcs_tree_bcast", 21.0), ("total_exchange_bcast", 22.0)],
)
def test_two_ranks(algorithm, seconds, start):
    """An exchange costs E, a request and its answer T twice, a broadcast's byte its own message."""
    assert structural_time(algorithm, 2, COSTS, start) == pytest.approx(seconds)


def test_a_loop_overlaps_where_a_rank_leaves_early():
    """The root of the central barrier is free again before its last answer has arrived."""
    assert structural_time("central", 9, COSTS, "loop") < structural_time("central", 9, COSTS, "single")
    assert structural_time("dissemination", 9, COSTS, "loop") == pytest.approx(4 * 13.0)


def test_messages_cross_also_where_overheads_are_all_they_take():
    busy = MessageCosts(
        one_way_s=1.0, exchange_s=1.5, broadcast_s=0.2, base_s=1.0, send_s=1.0, receive_s=1.0, gap_s=0.1
    )
    assert structural_time("dissemination", 2, busy) == pytest.approx(1.5)
    assert structural_time("dissemination", 8, busy) == pytest.approx(4.5)
    assert structural_time("tournament", 2, busy) == pytest.approx(2.0), "a broadcast is a message at least"


def test_only_messages_are_predicted():
    assert is_predictable("mcs_tree") and not is_predictable("mpi") and not is_predictable("shm_tree")


# On several nodes

NEAR, FAR = (
    MessageCosts(one_way_s=t, exchange_s=1.5 * t, broadcast_s=t, base_s=0.9 * t) for t in (1.0, 100.0)
)
TWO = replace(FAR, near=NEAR)


@pytest.mark.parametrize(
    ("algorithm", "nodes", "seconds"),
    [
        # 1 and 2 apart mostly on a node, 4 apart between them; some ranks wait for the other node twice
        ("dissemination", 2, 1.5 + 2 * 150),
        ("dissemination", 1, 3 * 1.5),
        ("dissemination", 8, 3 * 150),
        # partners 1, 2 and 4 apart: two rounds on a node, or one
        ("recursive_doubling", 2, 2 * 1.5 + 150),
        ("recursive_doubling", 4, 1.5 + 2 * 150),
        # 7 to 6, 6 to 4, 4 to 0, and back
        ("binomial", 2, 2 * (1 + 1 + 100)),
        ("binomial", 4, 2 * (1 + 100 + 100)),
        # every rank to rank 0, and back
        ("central", 2, 2 * 100),
        ("central", 1, 2 * 1),
    ],
)
def test_eight_ranks_on_nodes(algorithm, nodes, seconds):
    assert structural_time(algorithm, 8, TWO.spread(8, nodes), "single") == pytest.approx(seconds)


def test_messages_are_counted_by_level():
    assert sequential_time("central", 8, TWO.spread(8, 2)) == pytest.approx(2 * (3 * 0.9 + 4 * 90))
    assert sequential_time("dissemination", 8, TWO.spread(8, 8)) == pytest.approx(24 * 90)
    assert sequential_time("dissemination", 8, TWO.spread(8, 1)) == pytest.approx(24 * 0.9)


def test_the_hierarchical_barrier_is_that_of_a_node_and_one_among_nodes():
    assert hierarchical_time(7.0, 4, TWO.spread(16, 4)) == pytest.approx(7.0 + 2 * 150)
    assert hierarchical_time(7.0, 1, TWO) == pytest.approx(7.0)


@given(
    st.sampled_from(sorted(filter(is_predictable, algorithm_names("barrier")))),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_equal_levels_make_no_difference(algorithm, nodes, each):
    ranks = nodes * each
    same = replace(COSTS, near=COSTS).spread(ranks, nodes)
    for how in (sequential_time, structural_time):
        assert how(algorithm, ranks, same) == pytest.approx(how(algorithm, ranks, COSTS))
