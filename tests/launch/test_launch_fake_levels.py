# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fake machine with several nodes chooses the ranks of a case as the engine does, and has a cost for each
level."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.errors import UsageError
from hockney.core.layout import LEVELS, HostOptions, Layout
from hockney.core.record import Failure, Launch, Record
from hockney.launch.fake import FakeNodes, parse_fake_launcher
from hockney.launch.fake_world import World
from hockney.launch.launcher import LaunchOptions
from hockney.system.bundled import bundled_catalog

CATALOG = bundled_catalog()


def measured(words, *lines, ranks=8, index=0):
    plan = [CATALOG.case(line) for line in lines]
    return list(parse_fake_launcher(words).run(plan, ranks, LaunchOptions("0.0", index, 1.0)))


@given(
    nodes=st.integers(1, 4),
    per_node=st.integers(1, 9),
    within=st.sets(st.sampled_from(LEVELS[:3])),
    place=st.sampled_from(LEVELS),
    pairs=st.integers(1, 3),
    index=st.integers(0, 5),
)
def test_pairs_meet_where_the_case_names(nodes, per_node, within, place, pairs, index):
    fake = FakeNodes(Layout(nodes, per_node), tuple(level for level in LEVELS if level in within))
    case = CATALOG.case(f"bcast place={place}", 2 * pairs)
    members = fake.members(case, nodes * per_node, index)
    if not members:
        exists = any(fake.level(0, rank) == place for rank in range(1, nodes * per_node))
        assert pairs > 1 or not exists
        return
    assert members[0] == 0 and len(set(members)) == 2 * pairs
    met = {fake.level(members[k], members[k + pairs]) for k in range(pairs)}
    assert met == {place} and fake.place_of(case, members) == place
    if place == "network":
        assert [len({fake.node_of(r) for r in half}) for half in (members[:pairs], members[pairs:])] == [1, 1]


@given(nodes=st.integers(1, 4), per_node=st.integers(1, 4), on=st.integers(1, 4), each=st.integers(1, 4))
def test_ranks_are_spread_evenly_over_nodes(nodes, per_node, on, each):
    fake = FakeNodes(Layout(nodes, per_node))
    members = fake.members(CATALOG.case(f"bcast nodes={on}", on * each), nodes * per_node, 0)
    assert bool(members) == (on <= nodes and each <= per_node)
    if members:
        assert members[0] == 0 and fake.count_nodes(members) == on
        counts = np.unique([fake.node_of(rank) for rank in members], return_counts=True)[1]
        assert set(counts) == {each}


def test_partners_change_with_the_launch():
    fake = FakeNodes(Layout(3, 2))
    case = CATALOG.case("pingpong place=network")
    assert {fake.members(case, 6, index)[1] for index in range(4)} == {2, 3, 4, 5}


def test_records_have_where_their_ranks_were():
    lines = (
        "pingpong place=node",
        "pingpong place=network",
        "bcast ranks=4 nodes=2",
        "bcast ranks=8 nodes=2",
    )
    output = measured("fake:nodes=2", *lines)
    found = [(r.place, r.nodes, r.members) for r in output if isinstance(r, Record)]
    assert found == [("node", 1, [0, 1]), ("network", 2, [0, 4]), ("", 2, [0, 1, 4, 5]), ("", 2, [])]
    (launch,) = [line for line in output if isinstance(line, Launch)]
    assert [rank.node for rank in launch.ranks] == ["fakehost0"] * 4 + ["fakehost1"] * 4


def test_a_level_that_the_machine_lacks_is_refused():
    *_, line, _ = measured("fake:nodes=2", "pingpong place=cache")
    assert isinstance(line, Failure) and line.reason == "refused"


def test_each_level_within_and_beyond_a_node_costs_more_than_the_one_before():
    lines = [f"pingpong bytes={size} place={level}" for level in LEVELS[1:] for size in (0, 1 << 20)]
    records = [r for r in measured("fake:nodes=2;levels=cache,socket", *lines) if isinstance(r, Record)]
    assert {r.place for r in records} == {"cache", "socket", "network"}, (
        "every rank of a node is in one socket"
    )
    world = World()
    for record in records:
        case = record.parse_case()
        assert np.median(record.times_s) == pytest.approx(
            world.at_level(case.place).message(case.bytes), rel=0.05
        )
    for size in (0, 1 << 20):
        assert all(a < b for a, b in pairwise(world.at_level(level).message(size) for level in LEVELS[1:]))


def test_a_collective_on_several_nodes_has_rounds_within_and_between():
    world = World()
    within, between = world.collective("bcast", 4, 8), world.at_level("network").collective("bcast", 2, 8)
    whole = world.spread("", 2).collective("bcast", 8, 8)
    assert whole == pytest.approx(within + between - world.call_s)


def test_words_and_hosts_give_the_layout():
    assert parse_fake_launcher("fake").nodes.layout is None
    assert parse_fake_launcher("fake:nodes=2").nodes.layout == Layout(2, 4)
    assert parse_fake_launcher("fake:nodes=3", HostOptions(nodes=2, ranks_per_node=1)).nodes.layout == Layout(
        2, 1
    )
    assert parse_fake_launcher("fake:levels=socket,cache,node").nodes == FakeNodes(
        Layout(1, 4), ("cache", "socket")
    )
    for bad in ("fake:nodes=0", "fake:nodes=x", "fake:levels=rack"):
        with pytest.raises(UsageError):
            parse_fake_launcher(bad)
    with pytest.raises(UsageError):
        parse_fake_launcher("fake:nodes=2", HostOptions(nodes=3))
