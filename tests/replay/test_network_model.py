# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The event-driven model takes the times of `NetworkSimulator` where messages share a network, and those of
the evaluator where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_graphs import Writer, graph_of
from made_programs import program_steps, programs

from hockney.core.errors import HockneyError, UsageError
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.network_sim import ENVELOPE, NetworkSimulator
from hockney.models.schedules import CLOSED_FORMS, SCHEDULES, NotModelled
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import BLOCKING, BUFFERED, ONE_SIDED, RECEIVE, RECEIVED, SEND, SENT, TOGETHER
from hockney.replay.network_model import NetworkModel

pytestmark = pytest.mark.needs("compiler")

LOGGP = Segment(
    send_s=1e-6, isend_s=2e-6, send_s_per_byte=1e-10, latency_s=5e-6, per_byte_s=1e-9, receive_s=3e-6,
    gap_s=4e-6,
)  # fmt: skip
MEGABYTE = 1_000_000


def machine(count: int = 8, segment: Segment = LOGGP, **more) -> Platform:
    own = {key: more.pop(key) for key in list(more) if key in Platform.__struct_fields__}
    network = Network(**({"nodes": (NodeGroup(count=count),)} | more))
    return Platform(name="m", title="M", network=network, segments=(segment,), **own)


MACHINES = {
    "a switch": machine(9, eager=4096, sum_s_per_byte=2.0**-33),
    "full duplex": machine(9, nic=1e8, eager=4096, sum_s_per_byte=2.0**-33),
    "half duplex": machine(9, nic=3e8, duplex="half", eager=1 << 30),
    "a bus": machine(9, shape="bus", link=2e8, hop_s=1e-6, eager=4096),
    "a torus": machine(shape="torus", dims=(3, 3), nodes=(), link=1e8, hop_s=1e-6, eager=4096),
    "a mesh with NICs": machine(shape="mesh", dims=(9,), nodes=(), link=1e8, nic=3e8, hop_s=1e-6),
    "cores": machine(
        nic=1e8, nodes=(NodeGroup(count=2, cores=3), NodeGroup(count=2, cores=2)), eager=4096,
        on_node=(Segment(latency_s=1e-6, per_byte_s=1e-10, receive_s=1e-7),),
    ),
    "a medium": machine(9, medium_message_s=1e-5, medium_s_per_byte=1e-9, eager=4096),
    "processors": machine(
        9, Segment(latency_s=5e-6, receive_s=3e-6, processor_s=4e-6, processor_s_per_byte=1e-9), nic=1e8
    ),
    "exchanges": machine(9, Segment(send_s=1e-6, latency_s=5e-6, receive_s=3e-6, exchange_s=2e-6), nic=1e8),
}  # fmt: skip
EXISTING = sorted(CLOSED_FORMS) + [("barrier", name) for name in ("dissemination", "central", "mcs_tree")]


def compare(platform: Platform, ranks: int, steps) -> None:
    graph, costs = graph_of(steps, platform, ranks)
    try:
        expected = NetworkSimulator(platform, ranks).run(steps)
    except NotModelled:
        with pytest.raises(HockneyError) as caught:
            NetworkModel(graph, platform, costs).run()
        assert caught.value.code == "replay-deadlock"
        return
    assert NetworkModel(graph, platform, costs).run().ends == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("name", MACHINES)
@settings(deadline=None, max_examples=15)
@given(st.sampled_from(EXISTING), st.integers(1, 8), st.sampled_from([0, 8, 6000, 40_000]))
def test_schedules_take_the_same_time_as_on_the_simulator(name, key, ranks, size):
    compare(MACHINES[name], ranks, list(SCHEDULES[key](ranks, size)))


@pytest.mark.parametrize("name", MACHINES)
@settings(deadline=None, max_examples=15)
@given(program_steps())
def test_programs_take_the_same_time_as_on_the_simulator(name, program):
    ranks, steps = program
    compare(MACHINES[name], ranks, steps)


@settings(deadline=None, max_examples=100)
@given(programs(gaps=False))
def test_where_nothing_is_shared_the_time_is_the_evaluators(program):
    """No gaps: those of large messages only last as long as these, here."""
    graph, costs = program
    model = NetworkModel(graph, machine(), costs)
    try:
        expected = Evaluator(graph, costs).run().ends
    except HockneyError as error:
        with pytest.raises(HockneyError) as caught:
            model.run()
        assert caught.value.code == error.code == "replay-deadlock"
        return
    assert model.run().ends == pytest.approx(expected, rel=1e-9, abs=1e-15)


def incast(size: int) -> tuple[Writer, int]:
    """Ranks 1 to 3 send to rank 0."""
    writer = Writer(4)
    row = writer.row(latency=1e-5)
    slots = [writer.message(rank, 0, size) for rank in (1, 2, 3)]
    for rank, slot in enumerate(slots, start=1):
        writer.add(rank, SEND, slot, row, BLOCKING)
        writer.add(rank, SENT, slot, row, TOGETHER)
        writer.add(0, RECEIVE, slot, row)
    for number, slot in enumerate(slots):
        writer.add(0, RECEIVED, slot, row, TOGETHER if number else 0)
    return writer, row


def test_messages_to_one_node_share_its_nic():
    writer, _ = incast(MEGABYTE)
    graph, costs = writer.graph(), writer.costs()
    platform = machine(4, nic=1e9)
    took = NetworkModel(graph, platform, costs).run().run_s
    assert took == pytest.approx(1e-12 + 3 * (MEGABYTE + ENVELOPE) / 1e9, rel=1e-9), "the way has no 1e-3 s"
    late = NetworkModel(graph, platform, costs).run(computed_s=np.array([1.0, *[0.0] * (len(graph.ops) - 1)]))
    assert late.run_s == pytest.approx(1.0), "they have arrived before they are received"
    together = NetworkModel(graph, platform, costs, node=np.zeros(4, dtype=int)).run()
    assert together.run_s == pytest.approx(1e-5), "on one node nothing is shared"


def test_ranks_that_wait_for_each_other_are_named():
    writer = Writer(2)
    row = writer.row(eager=0)
    slots = [writer.message(0, 1), writer.message(1, 0)]
    for rank in range(2):
        writer.add(rank, SEND, slots[rank], row, BLOCKING, place="send")
        writer.add(rank, SENT, slots[rank], row, TOGETHER, place="send")
        writer.add(rank, RECEIVE, slots[1 - rank], row, BLOCKING, place="receive")
        writer.add(rank, RECEIVED, slots[1 - rank], row, TOGETHER, place="receive")
    with pytest.raises(HockneyError) as caught:
        NetworkModel(writer.graph(), machine(), writer.costs()).run()
    assert caught.value.code == "replay-deadlock"
    assert (caught.value.fields["ranks"], caught.value.fields["places"]) == ([0, 1], ["send"] * 2)


def test_machines_that_do_not_fit():
    writer, _ = incast(8)
    graph, costs = writer.graph(), writer.costs()
    for platform, node, code in (
        (machine(3), None, "replay-machine-too-small"),
        (machine(3), np.array([0, 1, 2, 3]), "replay-machine-too-small"),
        (machine(4), np.array([0, 1]), "replay-machine-too-small"),
    ):
        with pytest.raises(UsageError) as caught:
            NetworkModel(graph, platform, costs, node)
        assert caught.value.code == code


@pytest.mark.parametrize(("flags", "nic"), [(BUFFERED, "the target's"), (0, "the origin's")])
def test_one_sided_operations_share_links(flags, nic):
    """Two ranks put data into the memory of a third one, or one gets data from two others."""
    writer = Writer(3)
    for origin, other in ((0, 2), (1, 2)) if flags else ((0, 1), (0, 2)):
        slot = len(writer.messages)
        writer.messages.append((origin, origin, other, 0, MEGABYTE))
        row = writer.row(transfer=1e-3)
        for kind in (SEND, RECEIVE):
            writer.add(origin, kind, slot, row, ONE_SIDED | flags)
    for slot, (origin, *_) in enumerate(writer.messages):
        writer.add(origin, RECEIVED, slot, row, ONE_SIDED | flags)
    graph, costs = writer.graph(), writer.costs()
    assert NetworkModel(graph, machine(3, nic=1e9), costs).run().run_s == pytest.approx(2e-3, rel=1e-3), nic
    assert NetworkModel(graph, machine(3), costs).run().run_s == pytest.approx(1e-3)
