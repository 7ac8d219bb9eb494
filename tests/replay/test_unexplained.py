# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What costs do not explain of recorded calls: with it, the graph takes as long as the run did."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from replay.made_traces import Written, job_of_written, part, random_program, written

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.applications.message_costs import costs_of_description
from hockney.models.programs.communication import Communication
from hockney.models.routes import UNLIMITED
from hockney.replay.answers import MAX_ERRATIC_SHARE, ExplainedRun
from hockney.replay.building import build
from hockney.replay.pricing import make_machine
from hockney.replay.scenarios import RequestedChanges, TracedProgram

pytestmark = pytest.mark.needs("compiler")
MACHINE = Platform(
    name="plain",
    title="Plain",
    network=Network(nodes=(NodeGroup(count=6),), nic=UNLIMITED),
    segments=(Segment(latency_s=5e-6, per_byte_s=1e-9, send_s=1e-6, receive_s=1e-6),),
)
"""Messages share no links."""


def situation(ranks: list[Written], *args: object, **options: object) -> TracedProgram:
    trace_graph = build([each.trace for each in ranks], job_of_written(ranks, *args, **options))  # type: ignore[arg-type]
    communication = Communication(costs_of_description(MACHINE), platform=MACHINE)
    return TracedProgram(trace_graph, {"value": make_machine(communication, trace_graph.placement)})


def explained(program: TracedProgram) -> ExplainedRun:
    recorded_s = float(program.trace_graph.end_s.max())
    return ExplainedRun(program.unchanged_program, recorded_s, (recorded_s,), program.costs_only_program)


@pytest.mark.parametrize("seed", range(5))
def test_any_program_takes_as_long_as_it_did(seed):
    """Whatever the costs are, with messages and collectives on several communicators."""
    ranks, communicators, _ = random_program(seed, 6, 300)
    program = situation(ranks, communicators)
    assert program.costs_only_program.ends != pytest.approx(program.trace_graph.end_s, rel=0.01)
    assert program.unchanged_program.ends == pytest.approx(program.trace_graph.end_s, rel=1e-5)
    path = program.unchanged_program.path
    assert sum(path.parts.values()) == pytest.approx(path.run_s, rel=1e-5)
    assert path.parts["unexplained"] != 0
    # Messages that cost more are as much later as by the costs alone, if they decide when the run ends.
    slower = (
        program.with_changes(RequestedChanges(latency_s=1.0)),
        program._evaluate_costs_only(RequestedChanges(latency_s=1.0)),
    )
    assert slower[0].value_s > program.unchanged_program.value_s
    assert slower[0].value_s == pytest.approx(slower[1].value_s, rel=0.01)


def test_groups_of_one_rank_calls_without_partners_and_what_recording_adds():
    ranks = written(3)
    communicators = [[0, 1, 2], [0], [1], [2]]
    for each in ranks:
        own = each.rank + 2
        each.call("Allreduce", part("collective", size=8, communicator=own), after=1e-3, took=2e-3)
        each.call("Win_create", part("synchronize"), after=1e-3, took=1e-3 * (1 + each.rank))
        each.call("Send", part("send", -2, 8), after=5e-3, took=1e-3)
        each.call("Barrier", part("collective"), after=1e-3 * (3 - each.rank), took=1e-3)
        each.call("Allreduce", part("collective", size=8, communicator=own), after=1e-3, took=2e-3)
    program = situation(ranks, communicators, end=0.1)
    assert program.unchanged_program.ends == pytest.approx(program.trace_graph.end_s, rel=1e-5)
    recording = {"blocking": 1e-4, "local": 1e-4, "nonblocking": 1e-4}
    recorded = situation(ranks, communicators, end=0.1, recording_s=recording)
    assert recorded.trace_graph.recording_s.tolist() == pytest.approx([5e-4] * 3)
    assert recorded.unchanged_program.ends == pytest.approx(program.trace_graph.end_s - 5e-4, rel=1e-3)


def late(rounds: int = 50, took: float = 2e-3, disturbed: float = 0.0) -> list[Written]:
    """Rank 0 computes for 1 ms, rank 1 for 3 ms before they exchange a message; each call takes far longer
    than on the machine, and a share of them 10 times as long."""
    ranks, random = written(2), np.random.default_rng(1)
    for _ in range(rounds):
        late_s = took * (10 if random.random() < disturbed else 1)
        for each in ranks:
            wait = late_s + (2e-3 if each.rank == 0 else 0.0)
            peer = 1 - each.rank
            receive = each.start_request("Irecv", part("start receive", peer, 8), after=0.0, took=0.0)
            send = each.start_request(
                "Isend", part("start send", peer, 8), after=1e-3 if each.rank == 0 else 3e-3, took=0.0
            )
            each.call("Waitall", each.end(receive, peer, 8), each.end(send), after=0.0, took=wait, site=2)
    return ranks


def test_it_stays_when_computation_or_the_network_changes():
    program = situation(late(took=1e-4))
    one = explained(program)
    assert one.error == pytest.approx(-0.03, abs=0.01)
    assert one.reliable
    (row,) = [row for row in one.unexplained if row.share > 0.01]
    assert row.place == "Waitall at line 2" and row.share == pytest.approx(0.03, abs=0.01)
    assert row.seconds == pytest.approx(2 * 50 * 1e-4, rel=0.3)
    balance = one.predict_change(program.candidate(RequestedChanges(balance=True)))
    assert balance.ratio.value == pytest.approx(2.1 / 3.1, rel=0.01), "2 ms instead of 3, and 0.1 ms"
    assert balance.ratio.low <= 2 / 3 <= balance.ratio.high, "the interval has that by the costs alone"
    latency = one.predict_change(program.candidate(RequestedChanges(latency_s=4e-3)))
    assert latency.ratio.value == pytest.approx(6.1 / 3.1, rel=0.01), "12 ms in two rounds, as both wait"
    ideal = one.predict_change(program.candidate(RequestedChanges(ideal_network=True)))
    assert ideal.ratio.value == pytest.approx(3 / 3.1, rel=0.01), "no call takes any time"
    assert program.ideal_s == pytest.approx(50 * 3e-3, rel=0.01)
    doubled = program.with_changes(RequestedChanges(compute_scale=2.0)).value_s
    assert doubled == pytest.approx(50 * 6.1e-3, rel=0.01), "calls take as long as before"
    quiet = one.predict_change(program.candidate(RequestedChanges(no_noise=True)))
    assert quiet.ratio.value == pytest.approx(1.0, abs=0.01), "every round takes the same time"


def test_gains_are_withheld_if_calls_take_any_time():
    steady = explained(situation(late(took=2e-3)))
    assert steady.erratic_share < 0.01 and steady.reliable, "an MPI that is always slow is no disturbance"
    one = explained(situation(late(took=2e-3, disturbed=0.3)))
    assert one.erratic_share > MAX_ERRATIC_SHARE and not one.reliable
    assert "Waitall at line 2" in one.withheld_reason


def test_ranks_with_different_clocks_have_the_costs_alone():
    ranks = late(took=1e-3)
    job = replace(job_of_written(ranks), clock=np.array([1, 2], dtype=np.uint64))
    trace_graph = build([each.trace for each in ranks], job)
    assert trace_graph.recorded_times is None
    communication = Communication(costs_of_description(MACHINE), platform=MACHINE)
    program = TracedProgram(trace_graph, {"value": make_machine(communication, trace_graph.placement)})
    assert program.unchanged_program is program.costs_only_program
    one = explained(program)
    assert one.unexplained == () and not one.reliable
    balance = one.predict_change(program.candidate(RequestedChanges(balance=True)))
    assert balance.ratio.high > balance.ratio.value * 1.2, "all of the replay error is in the interval"


@pytest.mark.parametrize("slow", [1.0, 0.1])
def test_a_slow_algorithm_takes_its_time_with_it_but_noise_stays(slow):
    """Calls of 20 us take 1 ms: all of them, or one of ten, which is noise."""
    ranks, random = written(4), np.random.default_rng(3)
    for _ in range(200):
        took = 1e-3 if random.random() < slow else 20e-6
        for each in ranks:
            each.call("Allreduce", part("collective", size=8), after=1e-3, took=took)
    program = situation(ranks)
    one = explained(program)
    what_if = one.predict_change(
        program.candidate(RequestedChanges(algorithms={"allreduce": "recursive_doubling"}))
    )
    if slow == 1:
        assert what_if.ratio.value == pytest.approx(1.015 / 2, rel=0.02) and what_if.decided
        assert what_if.ratio.high > 1.2 / 2
    else:
        assert what_if.ratio.value == pytest.approx(1, abs=0.01) and not what_if.decided
