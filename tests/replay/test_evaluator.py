# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The evaluator: known times, the simulator of schedules, and the definition of the costs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_graphs import Writer, graph_of
from made_programs import TICK, program_steps, programs
from reference import Reference

from hockney.core.errors import HockneyError
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import CLOSED_FORMS, SCHEDULES, Mode, NotModelled, Step, relation
from hockney.replay.evaluator import (
    LATE_RECEIVER,
    LATE_SENDER,
    LATE_TO_COLLECTIVE,
    PARTS,
    Evaluator,
    Parameter,
)
from hockney.replay.graph import (
    BLOCKING,
    BUFFERED,
    ENTER,
    LEAVE,
    RECEIVE,
    RECEIVED,
    ROOTED_FROM,
    SEND,
    SENT,
    SYNCHRONOUS,
    TOGETHER,
)

pytestmark = pytest.mark.needs("compiler")

EXISTING = sorted(CLOSED_FORMS) + [("barrier", name) for name in ("dissemination", "central", "mcs_tree")]


def platform(**more) -> Platform:
    own = {key: more.pop(key) for key in list(more) if key in Platform.__struct_fields__}
    segment = Segment(**({"send_s": 1e-6, "isend_s": 2e-6, "latency_s": 5e-6, "per_byte_s": 1e-9,
                          "receive_s": 3e-6} | more))  # fmt: skip
    network = Network(nodes=(NodeGroup(count=9),))
    return Platform(name="m", title="M", network=network, segments=(segment,), **own)


@settings(deadline=None, max_examples=50)
@given(st.sampled_from(EXISTING), st.integers(1, 9), st.sampled_from([0, 8, 6000, 40_000]), st.booleans())
def test_schedules_take_the_same_time_as_on_the_simulator(key, ranks, size, waiting):
    machine = platform(eager=4096 if waiting else 1 << 30, sum_s_per_byte=2.0**-33)
    steps = list(SCHEDULES[key](ranks, size))
    try:
        expected = LogGPSimulator(machine, ranks).run(steps)
    except NotModelled:
        assert waiting
        return
    graph, costs = graph_of(steps, machine, ranks)
    assert Evaluator(graph, costs).run().ends == pytest.approx(expected, rel=1e-9)


@settings(deadline=None, max_examples=50)
@given(program_steps(), st.sampled_from([0.0, 4e-6]))
def test_programs_take_the_same_time_as_on_the_simulator(program, gap_s):
    ranks, steps = program
    machine = platform(gap_s=gap_s, eager=4096)
    graph, costs = graph_of(steps, machine, ranks)
    expected = LogGPSimulator(machine, ranks).run(steps)
    assert Evaluator(graph, costs).run().ends == pytest.approx(expected, rel=1e-9)


@settings(deadline=None, max_examples=40)
@given(program_steps())
def test_messages_that_cross_cost_the_same_as_on_the_simulator(program):
    ranks, steps = program
    machine = platform(exchange_s=7e-6, eager=1 << 20)
    graph, costs = graph_of(steps, machine, ranks)
    expected = LogGPSimulator(machine, ranks).run(steps)
    assert Evaluator(graph, costs).run().ends == pytest.approx(expected, rel=1e-9)


def test_many_messages_are_received_as_they_arrive():
    ranks = 40
    machine = Platform(
        name="m", title="M", network=Network(nodes=(NodeGroup(count=ranks),)), eager=1 << 20,
        segments=(Segment(latency_s=5e-6, receive_s=3e-6),),
    )  # fmt: skip
    late = 2.0**-20 * np.array([0, 0, 0, *(100 + np.random.default_rng(1).permutation(ranks - 3))])
    others = np.arange(1, ranks)
    steps = [Step((), computed=late), relation(others, np.zeros(ranks - 1, dtype=int), 8, Mode.POSTED)]
    graph, costs = graph_of(steps, machine, ranks)
    expected = LogGPSimulator(machine, ranks).run(steps)
    evaluator = Evaluator(graph, costs)
    assert evaluator.run().ends == pytest.approx(expected, rel=1e-12)
    path = evaluator.critical_path()
    assert path.by_place.sum() == pytest.approx(expected.max(), rel=1e-12)
    assert path.parts["receive"] == pytest.approx((ranks - 3) * 3e-6), "those of ranks 1 and 2 were early"


def evaluator_of(program) -> Evaluator | None:
    """None in a deadlock."""
    graph, costs = program
    if Reference(graph, costs).ends() is None:
        with pytest.raises(HockneyError) as caught:
            Evaluator(graph, costs)
        assert caught.value.code == "replay-deadlock"
        stuck = caught.value.fields["ranks"]
        assert stuck and len(stuck) == len(caught.value.fields["places"])
        return None
    return Evaluator(graph, costs)


@settings(deadline=None, max_examples=150)
@given(programs())
def test_clocks_are_those_of_the_definition(program):
    evaluator = evaluator_of(program)
    if evaluator is not None:
        assert evaluator.run().ends == pytest.approx(Reference(*program).ends(), rel=1e-12)


@settings(deadline=None, max_examples=150)
@given(programs())
def test_the_parts_of_the_critical_path_add_up_to_the_run_time(program):
    evaluator = evaluator_of(program)
    if evaluator is None:
        return
    run_s = evaluator.run().run_s
    path = evaluator.critical_path()
    assert path.run_s == run_s
    assert path.by_place.sum() == pytest.approx(run_s, rel=1e-12, abs=1e-18)
    assert path.by_rank.sum(axis=0) == pytest.approx(path.by_place.sum(axis=0))
    # It is as long as the run with any costs that have the same path: those that are a little larger have.
    costs = evaluator.costs
    for parameter, part in (
        (Parameter.latency(costs), float(path.messages.sum())),
        (Parameter.overhead(costs), path.parts["overhead"] + path.parts["receive"]),
    ):
        exact = evaluator.slope(parameter, parameter.neutral)[1]
        assert part <= exact * (1 + 1e-9) + 1e-15 or not evaluator.is_convex(parameter)
    assert (path.slack_s >= 0).all() and path.slack_s[path.last_rank] == 0
    assert (path.waits["seconds"] > 0).all()


@settings(deadline=None, max_examples=100)
@given(programs(), st.sampled_from(["latency", "overhead", "transfer"]), st.data())
def test_curves_pass_through_the_run_times(program, name, data):
    evaluator = evaluator_of(program)
    if evaluator is None:
        return
    parameter = getattr(Parameter, name)(evaluator.costs)
    low, high = parameter.neutral, parameter.neutral + (64 * TICK if name == "latency" else 9.0)
    curve = evaluator.curve(parameter, low, high)
    for x in [*curve.x, low + (high - low) * data.draw(st.floats(0, 1))]:
        expected = evaluator.run(parameter.at(x)).run_s
        if curve.convex:
            assert np.interp(x, curve.x, curve.run_s) == pytest.approx(expected, rel=1e-8, abs=1e-15)
        elif x in curve.x:
            assert curve.run_s[list(curve.x).index(x)] == pytest.approx(expected, rel=1e-9, abs=1e-15)
    if curve.convex:
        assert curve.exact and (np.diff(curve.slope) > 0).all()
        run_s = evaluator.run().run_s
        if run_s > 0:
            x = evaluator.tolerance(parameter, 0.05)
            if math.isinf(x):
                assert evaluator.run(parameter.at(parameter.neutral + 1e6)).run_s < 1.05 * run_s
            else:
                assert evaluator.run(parameter.at(x)).run_s == pytest.approx(1.05 * run_s, rel=1e-9)


def test_what_may_be_replaced():
    writer = Writer(2)
    row = writer.row(overhead=1.0, latency=10.0, transfer=4.0, receive=2.0)
    slot = writer.message(0, 1, 64)
    writer.add(0, SEND, slot, row, BLOCKING, 3.0, "send")
    writer.add(0, SENT, slot, row, TOGETHER, place="send")
    writer.add(1, RECEIVE, slot, row, BLOCKING, 5.0, "receive")
    writer.add(1, RECEIVED, slot, row, TOGETHER, place="receive")
    evaluator = Evaluator(writer.graph(tail=(0.0, 7.0)), writer.costs())
    assert evaluator.run().ends.tolist() == [4.0, 20.0 + 7.0]
    other = evaluator.costs.copy()
    other["latency"], other["eager"] = 20.0, 0
    assert evaluator.run(other).ends.tolist() == [5.0 + 1 + 24 + 2, 32.0 + 7.0], "both wait from 5 on"
    assert evaluator.run(computed_s=np.array([1.0, 0, 30, 0])).ends.tolist() == [2.0, 32.0 + 7.0]
    assert evaluator.run(rank_factor=np.array([2.0, 3.0])).ends.tolist() == [7.0, 23.0 + 21.0]
    assert evaluator.run(place_factor=np.array([2.0, 1.0])).ends.tolist() == [7.0, 23.0 + 7.0]
    path = evaluator.critical_path()
    assert path.parts == dict(zip(PARTS, (3 + 7, 1, 10, 4, 2, 0, 0, 0, 0), strict=True))
    assert path.by_rank.sum(axis=1).tolist() == [4.0, 16.0 + 7.0]
    assert path.slack_s.tolist() == [23.0, 0.0]
    assert (path.messages.tolist(), path.size.tolist(), path.overheads) == (
        [1, 0, 0, 0, 0],
        [64, 0, 0, 0, 0],
        2,
    )
    assert evaluator.tolerance(Parameter.latency(evaluator.costs, 0), 1.0) == pytest.approx(27.0)
    assert math.isinf(evaluator.tolerance(Parameter.latency(evaluator.costs, 3), 1.0))


def test_who_waits_for_whom():
    writer = Writer(3)
    small, large = writer.row(latency=1.0), writer.row(latency=1.0, eager=0)
    late_sender, late_receiver, group = writer.message(0, 1), writer.message(1, 2), writer.group()
    writer.add(0, SEND, late_sender, small, computed=5.0, place="isend")
    writer.add(1, RECEIVE, late_sender, small, BLOCKING, 2.0, "recv")
    writer.add(1, RECEIVED, late_sender, small, TOGETHER, place="recv")
    writer.add(1, SEND, late_receiver, large, BLOCKING, place="send")
    writer.add(1, SENT, late_receiver, large, TOGETHER, place="send")
    writer.add(2, RECEIVE, late_receiver, large, BLOCKING, 10.0, "large")
    writer.add(2, RECEIVED, late_receiver, large, TOGETHER, place="large")
    for rank in range(3):
        writer.add(rank, ENTER, group, small, BLOCKING, 0.0, "barrier")
        writer.add(rank, LEAVE, group, small, TOGETHER, 0.0, "barrier")
    path = Evaluator(writer.graph(), writer.costs()).critical_path()
    place = {name: number for number, name in enumerate(writer.places)}
    found = {(int(w["kind"]), int(w["place"]), int(w["by_place"]), int(w["by_rank"])): w for w in path.waits}
    sender = found[LATE_SENDER, place["recv"], place["isend"], 0]
    receiver = found[LATE_RECEIVER, place["send"], place["large"], 2]
    # Ranks 1 and 2 come to the barrier at 11, the first of them is the one that is waited for.
    barrier = next(w for w in path.waits if w["kind"] == LATE_TO_COLLECTIVE)
    assert (sender["seconds"], receiver["seconds"], barrier["seconds"]) == (3.0, 4.0, 6.0)
    assert barrier["by_place"] == place["barrier"] and len(found) == 3
    assert path.ends.tolist() == [12.0] * 3
    assert path.by_place[place["large"]].sum() == pytest.approx(11.0), "10 of computation, 1 of latency"
    assert path.parts["collective"] == 1.0


def ring(ranks: int, flags: int, eager: int) -> tuple[Writer, int]:
    """Each rank sends to the next one, then receives."""
    writer = Writer(ranks)
    row = writer.row(latency=1.0, eager=eager)
    slots = [writer.message(rank, (rank + 1) % ranks) for rank in range(ranks)]
    for rank in range(ranks):
        writer.add(rank, SEND, slots[rank], row, BLOCKING | flags, 0.0, f"send {rank}")
        writer.add(rank, SENT, slots[rank], row, TOGETHER, place=f"send {rank}")
        writer.add(rank, RECEIVE, slots[rank - 1], row, BLOCKING, place="receive")
        writer.add(rank, RECEIVED, slots[rank - 1], row, TOGETHER, place="receive")
    return writer, row


def test_ranks_that_wait_for_each_other_are_named():
    writer, _ = ring(3, SYNCHRONOUS, eager=1)
    with pytest.raises(HockneyError) as caught:
        Evaluator(writer.graph(), writer.costs())
    assert caught.value.code == "replay-deadlock"
    assert caught.value.fields["ranks"] == [0, 1, 2]
    assert caught.value.fields["places"] == ["send 0", "send 1", "send 2"]


def test_a_program_that_needs_messages_to_leave_at_once():
    """Its order does not hold for other costs; if there is none, the ranks are named."""
    writer, _ = ring(3, 0, eager=1)
    evaluator = Evaluator(writer.graph(), writer.costs())
    assert evaluator.run().run_s == 1.0
    waiting = evaluator.costs.copy()
    waiting["eager"] = 0
    with pytest.raises(HockneyError) as caught:
        evaluator.run(waiting)
    assert caught.value.code == "replay-deadlock"
    assert evaluator.run().run_s == 1.0


def test_an_order_is_found_again_if_more_messages_wait():
    """Rank 1 must not be taken first although its small message lets it."""
    writer, row = ring(2, BUFFERED, eager=1)
    slot = writer.message(1, 0)
    other = writer.row(latency=2.0)
    writer.add(1, SEND, slot, other, BLOCKING, place="x")
    writer.add(1, SENT, slot, other, TOGETHER, place="x")
    writer.add(0, RECEIVE, slot, other, BLOCKING, 9.0, "y")
    writer.add(0, RECEIVED, slot, other, TOGETHER, place="y")
    stuck, need = writer.message(0, 0), writer.row(latency=3.0)
    writer.add(0, SEND, stuck, need, BLOCKING, place="self")
    writer.add(0, SENT, stuck, need, TOGETHER, place="self")
    writer.add(0, RECEIVE, stuck, need, BLOCKING, place="self")
    writer.add(0, RECEIVED, stuck, need, TOGETHER, place="self")
    evaluator = Evaluator(writer.graph(), writer.costs())
    assert evaluator.run().ends.tolist() == [10.0 + 3.0, 1.0]
    waits = evaluator.costs.copy()
    waits["eager"][other] = 0
    assert evaluator.run(waits).ends.tolist() == [12.0 + 3.0, 12.0]
    assert row != other


def test_a_rank_that_waits_for_one_that_has_ended():
    writer = Writer(2)
    row, slot = writer.row(), writer.group()
    writer.add(0, ENTER, slot, row, BLOCKING | ROOTED_FROM, place="bcast")
    writer.add(0, LEAVE, slot, row, TOGETHER | ROOTED_FROM, place="bcast")
    graph = writer.graph()
    evaluator = Evaluator(graph, writer.costs())
    assert evaluator.run().run_s == 0.0, "the root is not in the trace"
    message = writer.message(1, 0)
    writer.add(0, RECEIVE, message, row, BLOCKING, place="recv")
    writer.add(0, RECEIVED, message, row, TOGETHER, place="recv")
    with pytest.raises(HockneyError) as caught:
        Evaluator(writer.graph(), writer.costs())
    assert caught.value.fields["ranks"] == [0] and caught.value.fields["places"] == ["recv"]


@pytest.mark.parametrize(
    ("field", "value"), [("kind", 7), ("cost", 1), ("slot", 1), ("place", 2), ("kind", RECEIVED)]
)
def test_a_graph_that_refers_to_nothing(field, value):
    writer = Writer(2)
    row, slot = writer.row(), writer.message(0, 1)
    writer.add(0, SEND, slot, row)
    writer.add(1, RECEIVE, slot, row)
    graph = writer.graph()
    graph.ops[field][0] = value
    with pytest.raises(HockneyError) as caught:
        Evaluator(graph, writer.costs())
    assert caught.value.code == "replay-operation-invalid"
    assert (caught.value.fields["rank"], caught.value.fields["operation"]) == (0, 0)


def test_costs_without_sense():
    writer = Writer(1)
    graph = writer.graph()
    for value in (-1.0, math.nan, math.inf):
        costs = writer.costs()
        costs["latency"] = value
        with pytest.raises(HockneyError) as caught:
            Evaluator(graph, costs)
        assert caught.value.fields["field"] == "latency"
