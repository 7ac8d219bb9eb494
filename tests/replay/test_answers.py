# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What a trace tells, for programs whose run time with and without changes is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from made_graphs import Writer
from made_traces import job_of_written, part, written

from hockney.core.errors import UsageError
from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.machines import simulated
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.programs.communication import Communication
from hockney.models.routes import UNLIMITED
from hockney.replay.answers import MIN_ERROR, Candidate, EvaluatedProgram, ExplainedRun
from hockney.replay.building import build
from hockney.replay.collectives import PricedGraph
from hockney.replay.graph import RECEIVE, RECEIVED, SEND
from hockney.replay.predictions import Change, Choice
from hockney.replay.pricing import make_machine
from hockney.replay.scenarios import RequestedChanges, TracedProgram
from hockney.replay.tables import Answer, highest_latency

pytestmark = pytest.mark.needs("compiler")
T3E = simulated.platform("t3e")
RUN_S = 37.0
"""10 s of computation, a message of 1 + (2 + 3) + 1 s, and 20 s of computation."""


def costed(**other: float) -> EvaluatedProgram:
    """One message from rank 0 to rank 1, which expects it after 4 s; `other` are the low ends of costs."""
    cost = {"overhead": 1.0, "latency": 2.0, "transfer": 3.0, "receive": 1.0}
    made = Writer(2)
    row, slot = made.row(**cost), made.message(0, 1)
    made.add(0, SEND, slot, row, computed=10.0, place="Send at a.c:1")
    made.add(1, RECEIVE, slot, row, computed=4.0, place="Irecv at a.c:2")
    made.add(1, RECEIVED, slot, row, place="Wait at a.c:3")
    graph, costs = made.graph([0.0, 20.0]), made.costs()
    priced = {"value": PricedGraph(graph, costs, np.ones(1))}
    if other:
        low = costs.copy()
        for name, value in other.items():
            low[name] = value
        priced["low"] = PricedGraph(graph, low, np.ones(1))
    return EvaluatedProgram(priced)  # type: ignore[arg-type]


def explained(recorded_s: float = 36.0, *launches: float, **low: float) -> ExplainedRun:
    program = costed(**low)
    return ExplainedRun(program, recorded_s, launches or (recorded_s,), program)


def test_the_run_time_and_its_critical_path():
    one = explained()
    assert one.program.value_s == RUN_S and one.error == pytest.approx(1 / 36) and one.reliable
    assert not explained(35.0).reliable and not explained(40.0).reliable
    rows = {row.place: row for row in one.path_rows()}
    assert [*rows] == ["after the last call", "Send at a.c:1", "Wait at a.c:3"]
    send, wait = rows["Send at a.c:1"], rows["Wait at a.c:3"]
    assert send.parts["computed"] + wait.parts["computed"] == 10
    assert sum(row.seconds for row in rows.values()) == 37
    assert send.software_s + wait.software_s == 2 and rows["after the last call"].seconds == 20
    assert send.parts["latency"] + wait.parts["latency"] == 2
    (delay,) = one.delays()
    assert (delay.kind, delay.place, delay.by_rank, delay.by_place) == (
        "late sender", "Wait at a.c:3", 0, "Send at a.c:1",
    )  # fmt: skip
    zero, first = one.ranks()
    assert (zero.slack_s, first.slack_s) == (26.0, 0.0) and zero.delays_s > 0 == first.delays_s


def test_tolerances_and_efficiencies():
    small, large = explained().tolerances()
    assert small.latency_s == pytest.approx(0.37) and large.latency_s == pytest.approx(1.85)
    assert small.bandwidth == pytest.approx(3 / 3.37) and large.bandwidth == pytest.approx(3 / 4.85)
    pop = explained().pop(30.0)
    assert (pop.load_balance, pop.serialisation, pop.transfer) == (17 / 24, 24 / 30, 30 / 37)
    assert pop.parallel == pytest.approx(17 / 37)
    curve = explained().curve(0.0, 2.0)
    assert curve.run_s.tolist() == [37.0, 39.0] and not len(curve.breakpoints)


def candidate(program: EvaluatedProgram, without: ExplainedRun) -> Candidate:
    return Candidate((Change(kind="latency", text="x"),), lambda: [(program, without.program)])


def test_a_gain_has_the_replay_error_the_costs_and_the_launches_in_its_interval():
    without = explained(36.0, 36.0, latency=1.0)  # 37 s, low 36 s
    changed = without.predict_change(candidate(costed(latency=1.0, transfer=1.0), without))  # 37 s, low 34 s
    assert changed.ratio.value == 1.0 and changed.gain.value == 0.0 and not changed.decided
    of_costs = math.log(36 / 34)
    assert changed.ratio.high == pytest.approx(math.exp(of_costs))
    error = math.log(37 / 36)
    both = math.hypot(error, of_costs)
    assert changed.run_s.value == 36 and changed.run_s.high == pytest.approx(36 * math.exp(both))
    exact = explained(37.0)
    assert exact.run_s.high == pytest.approx(37 * math.exp(MIN_ERROR)), "no replay is that exact"
    scattered = explained(37.0, 30.0, 37.0, 44.0)
    assert scattered.run_s.high is not None and exact.run_s.high is not None
    assert scattered.run_s.high / scattered.run_s.value > 1.1 > exact.run_s.high / exact.run_s.value


def test_a_decided_gain():
    free = costed().priced_graphs["value"].costs.copy()
    for name in ("overhead", "latency", "transfer", "receive"):
        free[name] = 0.0
    faster = EvaluatedProgram({"value": PricedGraph(costed().graph, free, np.ones(1))})
    exact = explained(37.0)
    what_if = exact.predict_change(candidate(faster, exact))
    assert what_if.ratio.value == pytest.approx(30 / 37) and what_if.decided
    assert what_if.gain.value == pytest.approx(7 / 37)
    assert what_if.gain.low == pytest.approx(1 - 30 / 37 * math.exp(MIN_ERROR))


RANKS, ROUNDS, COMPUTED_S, SIZE = 4, 10, 1e-3, 1000


def situation(platform: Platform = T3E) -> TracedProgram:
    """A ring of messages, and a reduction of all ranks after each round, on the T3E."""
    made = written(RANKS)
    for each in made:
        for _ in range(ROUNDS):
            after, before = (each.rank + 1) % RANKS, (each.rank - 1) % RANKS
            receive = part("start receive", before, SIZE)
            request = each.start_request("Irecv", receive, after=COMPUTED_S)
            each.call("Send", part("send", after, SIZE))
            each.call("Wait", each.end(request, before, SIZE))
            each.call("Allreduce", part("collective", size=8), site=2)
            each.call("Gatherv", part("collective", size=8, root=0), site=3)
    communication = Communication(costs_of_description(platform), platform=platform)
    # The calls take no time in this trace.
    trace_graph = replace(build([each.trace for each in made], job_of_written(made)), recorded_times=None)
    return TracedProgram(trace_graph, {"value": make_machine(communication, trace_graph.placement)})


def gapped(rate: float, nic: float = UNLIMITED) -> TracedProgram:
    network = Network(nodes=(NodeGroup(count=RANKS),), nic=nic, duplex="half")
    segment = Segment(latency_s=1e-6, per_byte_s=1 / rate, gap_s=1e-3, gap_s_per_byte=1 / rate)
    return situation(Platform(name="gapped", title="Gapped", network=network, segments=(segment,)))


def test_another_bandwidth_is_that_of_shared_links_too():
    slow, fast = gapped(1e6, 1e6), gapped(2e6, 2e6)
    assert slow.with_changes(RequestedChanges(bandwidth=2.0)).value_s == pytest.approx(
        fast.unchanged_program.value_s, rel=1e-9
    )
    assert fast.unchanged_program.value_s < 0.9 * slow.unchanged_program.value_s
    assert slow.with_changes(RequestedChanges(ideal_network=True)).value_s == pytest.approx(
        ROUNDS * COMPUTED_S, rel=0.02
    )


def test_the_tolerated_bandwidth_is_the_one_that_can_be_asked_for():
    program = gapped(1e6)
    unchanged = program.unchanged_program
    slower = unchanged.evaluator.run(unchanged.transfer.at(4.0)).run_s
    assert slower == pytest.approx(program.with_changes(RequestedChanges(bandwidth=0.25)).value_s, rel=1e-8)


def test_what_is_asked_changes_the_run_time():
    program = situation()
    usual = program.unchanged_program.value_s
    computed = ROUNDS * COMPUTED_S

    def run_s(**asked: object) -> float:
        return program.with_changes(RequestedChanges(**asked)).value_s  # type: ignore[arg-type]

    assert usual > run_s(latency=0.5) > run_s(ideal_network=True) >= computed
    assert run_s(ideal_network=True) == pytest.approx(computed, rel=0.02)
    assert run_s(compute_scale=2.0) - usual == pytest.approx(computed, rel=0.02)
    assert run_s(bandwidth=0.5) > usual > run_s(bandwidth=2.0)
    assert run_s(latency_s=1e-4) - usual >= ROUNDS * 1e-4, "a message of every round is on the path"
    linear, best = run_s(algorithms={"allreduce": "ring"}), run_s(algorithms={"allreduce": "best"})
    assert best <= linear and best <= usual
    assert program.unchanged_program.value_s == usual == program.with_changes(RequestedChanges()).value_s


def test_messages_wait_for_their_receives_above_the_eager_limit():
    program = situation()
    costs = program.with_changes(RequestedChanges(eager_limit=SIZE - 1)).priced_graphs["value"]
    sends = costs.graph.ops[costs.graph.ops["kind"] == SEND]
    eager = costs.costs["eager"][sends["cost"]]
    size = costs.graph.messages["size"][sends["slot"]]
    assert (eager == (size < SIZE)).all() and 0 < eager.sum() < len(eager)


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_receivers_pay_what_computation_does_not_hide(share, monkeypatch):
    program = situation()
    machine = program.machine["value"]
    monkeypatch.setattr(type(machine), "hidden_share", lambda self, size: np.full(len(size), share))
    plain, hidden = (
        program.with_changes(RequestedChanges(overlap=overlap)).priced_graphs["value"]
        for overlap in (False, True)
    )
    ops = hidden.graph.ops[hidden.graph.ops["kind"] == SEND]
    own = np.unique(ops["cost"][ops["slot"] < RANKS * ROUNDS])
    others = np.setdiff1d(np.arange(len(plain.costs)), own)
    assert len(own) and len(others) and (hidden.costs[others] == plain.costs[others]).all()
    before, after = plain.costs[own], hidden.costs[own]
    flight = before["latency"] + before["transfer"]
    assert after["receive"] - before["receive"] == pytest.approx((1 - share) * flight)
    assert after["latency"] + after["transfer"] == pytest.approx(share * flight)


def test_how_launches_make_the_changes():
    program = situation()
    named = program.candidate(RequestedChanges(algorithms={"allreduce": "ring", "gather": "binomial"}))
    assert named.choices == (
        Choice(operation="allreduce", algorithm="ring"),
        Choice(operation="gather", algorithm="binomial"),
    )
    assert named.note == "launches keep MPI's algorithm of gatherv"
    best = program.candidate(RequestedChanges(algorithms={"allreduce": "best"}))
    assert best.choices == (), "the machine is assumed to use it anyway"
    slow = replace(program.machine["value"].communication, collectives={("allreduce", 4): ((8.0, 1.0),)})
    measured = TracedProgram(
        program.trace_graph, {"value": make_machine(slow, program.trace_graph.placement)}
    )
    (choice,) = measured.candidate(RequestedChanges(algorithms={"allreduce": "best"})).choices
    assert choice.line == "allreduce ranks=4:4 bytes=8:8 algorithm=recursive_doubling"
    both = program.candidate(RequestedChanges(algorithms={"allreduce": "ring"}, compute_scale=0.5))
    assert both.choices == () and [change.kind for change in both.changes] == ["algorithm", "computation"]
    limit = program.candidate(RequestedChanges(eager_limit=65536), {"LIMIT": "65536"})
    assert limit.variables == {"LIMIT": "65536"}
    for algorithms in ({"allreduce": "none"}, {"allsum": "best"}):
        with pytest.raises(UsageError):
            program.candidate(RequestedChanges(algorithms=algorithms))


def test_the_table_and_the_page(golden):
    """Every change that is known, the largest gain first."""
    program = situation()
    run_s = program.unchanged_program.value_s
    one = ExplainedRun(program.unchanged_program, run_s, (run_s,), program.costs_only_program)
    found = [one.predict_change(program.candidate(each)) for each in program.standard_changes()]
    rows = tuple(sorted(found, key=lambda each: -each.gain.value))
    assert rows[0].text == "ideal network" and rows[0].gain.value > 0
    answer = Answer("app", RANKS, "t3e", one, rows, one.pop(rows[0].run_s.value))
    texts = [*answer.sentences]
    for table in answer.tables:
        texts += ["", table.title, "  ".join(table.columns), *("  ".join(row).rstrip() for row in table.rows)]
    golden("answer.txt", "\n".join(texts))
    page = answer.page(one.curve(0.0, highest_latency(one)))
    assert [figure.name for figure in page.figures] == ["replay-gains", "replay-latency"]
    assert answer.document["changes"][0]["kinds"] == ["ideal network"]
