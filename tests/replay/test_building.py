# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""From traces to graphs: messages, groups, times and what has no partner."""

from __future__ import annotations

import numpy as np
import pytest
from replay.made_traces import Written, job_of_written, part, random_program, written

from hockney.core.errors import EnvironmentProblem
from hockney.profiles import trace as t
from hockney.replay import graph as g
from hockney.replay.building import TraceGraph, build


def built(ranks: list[Written], *args: object, **options: object) -> TraceGraph:
    return build([each.trace for each in ranks], job_of_written(ranks, *args, **options))  # type: ignore[arg-type]


def ops_of(graph: g.Graph, rank: int) -> np.ndarray:
    return graph.ops[graph.first[rank] : graph.first[rank + 1]]


@pytest.mark.parametrize("seed", range(6))
def test_each_message_of_a_random_program_is_matched_once(seed):
    ranks, communicators, receives = random_program(seed, 5, 400)
    found = built(ranks, communicators)
    graph = found.graph
    assert found.unmatched == ()
    assert found.wildcards > 20
    assert sorted(graph.messages["size"].tolist()) == list(range(400))
    for rank in range(5):
        ops = ops_of(graph, rank)
        got = graph.messages[ops["slot"][ops["kind"] == g.RECEIVE]]
        assert got["size"].tolist() == receives[rank], rank
        assert (got["target"] == rank).all()
        assert (graph.messages["source"][ops["slot"][ops["kind"] == g.SEND]] == rank).all()
    for kind in (g.SEND, g.RECEIVE, g.RECEIVED, g.SENT):
        assert sorted(graph.ops["slot"][graph.ops["kind"] == kind].tolist()) == list(range(400)), kind
    for number, group in enumerate(graph.groups):
        entered = [
            r
            for r in range(5)
            if ((ops_of(graph, r)["kind"] == g.ENTER) & (ops_of(graph, r)["slot"] == number)).any()
        ]
        assert entered == sorted(communicators[group["communicator"]])
        assert group["root"] == communicators[group["communicator"]][0]
    assert len(graph.groups) > 5
    assert graph.operations == ("bcast",)


def test_computation_is_what_lies_between_the_calls():
    ranks = written(2)
    ranks[0].start, ranks[1].start = 0.0, 0.5
    ranks[0].call("Send", part("send", 1, 8), after=1.0, took=0.25)
    ranks[0].call("Comm_rank", after=1.0, took=0.125)
    ranks[0].call("Barrier", part("collective"), after=1.0, took=0.5)
    ranks[1].call("Recv", part("receive", 0, 8), after=2.0, took=0.5)
    ranks[1].call("Barrier", part("collective"), after=0.25, took=0.5)
    found = built(ranks, end=10.0)
    assert ops_of(found.graph, 0)["computed_s"].tolist() == [1.0, 0.0, 2.125, 0.0]
    assert ops_of(found.graph, 1)["computed_s"].tolist() == [2.5, 0.0, 0.25, 0.0]
    assert found.graph.tail_s.tolist() == [10 - 3.875, 10 - 3.75]
    assert found.end_s.tolist() == [10.0, 10.0]
    by_place = dict(zip(found.graph.places, found.calls_s.tolist(), strict=True))
    assert by_place == {"Send at line 1": 0.25, "Barrier at line 1": 1.0, "Recv at line 1": 0.5}
    kinds = ops_of(found.graph, 0)["kind"].tolist()
    assert kinds == [g.SEND, g.SENT, g.ENTER, g.LEAVE]
    assert ops_of(found.graph, 0)["flags"].tolist() == [g.BLOCKING, g.TOGETHER, g.BLOCKING, g.TOGETHER]


def test_what_recording_adds_is_not_computed():
    ranks = written(2)
    ranks[0].call("Send", part("send", 1, 8), after=1.0, took=0.25)
    ranks[0].call("Comm_rank", after=1.0, took=0.25)
    ranks[0].call("Isend", part("start send", 1, 8), after=1.0, took=0.25)
    ranks[1].call("Recv", part("receive", 0, 8), after=1.0)
    ranks[1].call("Recv", part("receive", 0, 8), after=1e-9)
    found = built(ranks, end=10.0, recording_s={"blocking": 0.125, "local": 0.25, "nonblocking": 0.5})
    computed = ops_of(found.graph, 0)["computed_s"].tolist()
    assert computed == [1.0, 0.0, 2.25 - 0.125 - 0.25]
    assert ops_of(found.graph, 1)["computed_s"].tolist()[2] == 0.0
    assert found.recording_s.tolist() == [0.875, 0.25]


def test_polling_for_a_message_is_waiting():
    ranks = written(2)
    ranks[0].call("Send", part("send", 1, 8), after=3.0)
    request = ranks[1].start_request("Irecv", part("start receive", 0, 8))
    ranks[1].call("Test", after=0.25, took=2.0, misses=True)
    ranks[1].call("Test", ranks[1].end(request, 0, 8), after=0.5)
    ranks[1].call("Test", after=0.25, took=2.0, misses=True)
    found = built(ranks, end=10.0)
    ops = ops_of(found.graph, 1)
    assert ops["kind"].tolist() == [g.RECEIVE, g.RECEIVED]
    assert ops["computed_s"].tolist()[1] == 0.75


def test_puts_and_gets_end_with_the_next_synchronisation():
    ranks = written(2)
    for each in ranks:
        each.call("Win_fence", part("synchronize"))
    ranks[0].call("Put", part("put", 1, 800))
    ranks[0].call("Get", part("get", 1, 80))
    for each in ranks:
        each.call("Win_fence", part("synchronize"))
    found = built(ranks)
    ops = ops_of(found.graph, 0)
    assert ops["kind"].tolist() == [
        g.ENTER, g.LEAVE, g.SEND, g.RECEIVE, g.SEND, g.RECEIVE, g.RECEIVED, g.RECEIVED, g.ENTER, g.LEAVE
    ]  # fmt: skip
    assert found.graph.messages[["source", "target", "tag", "size"]].tolist() == [
        (0, 0, 1, 800),
        (0, 0, 1, 80),
    ]
    assert ops["slot"].tolist() == [0, 0, 0, 0, 1, 1, 0, 1, 1, 1]
    assert [int(flags & (g.ONE_SIDED | g.BUFFERED)) for flags in ops["flags"][2:6]] == [36, 36, 32, 32]
    assert ops["computed_s"][7] == 0.0
    assert ops_of(found.graph, 1)["kind"].tolist() == [g.ENTER, g.LEAVE, g.ENTER, g.LEAVE]


def test_what_no_model_has_takes_as_long_as_on_the_last_rank():
    ranks = written(2)
    ranks[0].call("Comm_split", part("collective"), after=1.0, took=3.0)
    ranks[1].call("Comm_split", part("collective"), after=3.5, took=0.5)
    ranks[0].call("Neighbor_alltoall", part("collective"), after=1.0, took=3.0)
    ranks[1].call("Neighbor_alltoall", part("collective"), after=1.0, took=3.0)
    found = built(ranks, end=10.0)
    assert found.graph.operations == ("comm_split", "neighbor_alltoall")
    assert ops_of(found.graph, 0)["computed_s"].tolist() == [1.5, 0.0, 1.0, 0.0]
    assert ops_of(found.graph, 1)["computed_s"].tolist() == [4.0, 0.0, 1.0, 0.0]


def test_what_has_no_partner_is_named_and_lasts_as_long_as_it_did():
    ranks = written(3)
    ranks[0].call("Send", part("send", 1, 8), site=1)
    ranks[0].call("Send", part("send", 1, 8, tag=7), after=1.0, took=0.25, site=2)
    ranks[0].call("Send", part("send", -2, 8), after=0.5, took=0.125, site=3)
    ranks[0].call("Barrier", part("collective"), after=0.0, took=2.0, site=4)
    ranks[1].call("Recv", part("receive", 0, 8), site=5)
    ranks[1].call("Barrier", part("collective"), site=4)
    ranks[1].call("Irecv", part("start receive", -1, 8, flags=t.WILDCARD), site=6)
    ranks[2].call("Wait", part("end", 0, age=1), after=0.0, took=0.5, site=7)
    found = built(ranks, end=10.0)
    assert {(each.place, each.kind, each.count, each.ranks) for each in found.unmatched} == {
        ("Send at line 2", "send", 1, (0,)),
        ("Barrier at line 4", "collective", 2, (0, 1)),
        ("Irecv at line 6", "pending receive", 1, (1,)),
        ("Wait at line 7", "completion of an unknown request", 1, (2,)),
    }
    assert ops_of(found.graph, 0)["kind"].tolist() == [g.SEND, g.SENT]
    rest = 10.0 - 2e-6 - 0.125  # a message to nobody takes no time
    assert found.graph.tail_s[0] == pytest.approx(rest)
    assert found.graph.tail_s[2] == pytest.approx(10.0)


def test_a_receive_that_ignores_its_status_gets_the_message_that_is_left():
    """Receives from anyone that do not ask for the sender take the earliest message of two channels."""
    ranks = written(3)
    ranks[0].call("Send", part("send", 2, 10, tag=1), after=1.0)
    ranks[1].call("Send", part("send", 2, 20, tag=1), after=2.0)
    ranks[0].call("Send", part("send", 2, 11, tag=1), after=2.0)
    ranks[0].call("Send", part("send", 2, 12, tag=2), after=9.0)
    ranks[2].call("Recv", part("receive", -1, 64, tag=-1, flags=t.WILDCARD), after=4.0)
    request = ranks[2].start_request("Irecv", part("start receive", -1, 64, tag=1, flags=t.WILDCARD))
    ranks[2].call("Recv", part("receive", 0, 11, tag=1))
    ranks[2].call("Wait", ranks[2].end(request, -1, 64, tag=-1))
    ranks[2].call("Recv", part("receive", 0, 64, tag=-1, flags=t.WILDCARD), after=9.0)
    found = built(ranks)
    assert (found.unmatched, found.inferred_senders) == ((), 3)
    ops = ops_of(found.graph, 2)
    got = found.graph.messages["size"][ops["slot"][ops["kind"] == g.RECEIVED]]
    assert got.tolist() == [10, 11, 20, 12]


def test_cancelled_messages_are_left_out():
    ranks = written(2)
    request = ranks[0].start_request("Irecv", part("start receive", 1, 8))
    ranks[0].call("Wait", ranks[0].end(request, 1, 8, flags=t.CANCELLED))
    ranks[0].call("Recv", part("receive", 1, 5))
    ranks[1].call("Send", part("send", 0, 5))
    found = built(ranks)
    assert found.unmatched == ()
    assert ops_of(found.graph, 0)["kind"].tolist() == [g.RECEIVE, g.RECEIVED]


def test_an_incomplete_trace_is_used_up_to_where_all_is_matched():
    ranks = written(3)
    for step in range(10):
        for rank in (0, 1):
            if rank or step < 6:
                other = 1 - rank
                ranks[rank].call("Sendrecv", part("send", other, step), part("receive", other, step))
        ranks[2].call("Comm_rank")
    for each in ranks[1:]:
        each.call("Send", part("send", 0, 99, tag=9))
    ranks[0].complete = False
    found = built(ranks)
    assert found.unmatched == ()
    assert len(found.graph.messages) == 12
    assert ops_of(found.graph, 1)["kind"].tolist() == 6 * [g.SEND, g.RECEIVE, g.RECEIVED, g.SENT]
    assert found.cut_s == pytest.approx(12e-6)
    assert found.graph.tail_s[0] == 0.0


def test_traces_that_cannot_be_used_are_refused():
    ranks = written(2)
    ranks[0].call("Barrier", part("collective"))
    ranks[1].call("Allreduce", part("collective"))
    with pytest.raises(EnvironmentProblem) as error:
        built(ranks)
    assert error.value.code == "mismatched-collectives"
    with pytest.raises(EnvironmentProblem) as error:
        build([ranks[0].trace], job_of_written(ranks))
    assert error.value.code == "ranks-without-trace"
