# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Rewritten graphs, with run times that are known."""

from __future__ import annotations

import numpy as np
import pytest
from replay.made_traces import job_of_written, part, random_program, written

from hockney.replay import graph as g
from hockney.replay.building import build
from hockney.replay.changes import (
    with_aggregated_messages,
    with_balanced_computation,
    with_overlap,
    without_disturbances,
)
from hockney.replay.evaluator import Evaluator
from hockney.replay.graph import COST, Graph, computed_by_rank

pytestmark = pytest.mark.needs("compiler")
COSTS = np.zeros(1, COST)
COSTS["overhead"], COSTS["latency"], COSTS["receive"], COSTS["eager"], COSTS["gap_holds"] = (
    1.0,
    10.0,
    2.0,
    1,
    1,
)


def run_s(graph: Graph) -> float:
    return Evaluator(graph, COSTS).run().run_s


def of(ranks, **options: object) -> Graph:
    return build([each.trace for each in ranks], job_of_written(ranks, **options)).graph  # type: ignore[arg-type]


def test_balanced_computation_is_the_mean_at_each_place():
    ranks = written(3)
    for each in ranks:
        for k in range(4):
            each.call("Barrier", part("collective"), after=float(each.rank * k), took=0.0, site=1)
            each.call("Allreduce", part("collective"), after=1.0, took=0.0, site=2)
    graph = of(ranks, end=40.0)
    before, after = computed_by_rank(graph), computed_by_rank(with_balanced_computation(graph))
    assert after == pytest.approx(np.full(3, before.mean()))
    place = with_balanced_computation(graph).places.index("Barrier at line 1")
    made = with_balanced_computation(graph)
    seconds = made.ops["computed_s"][(made.ops["place"] == place) & (made.ops["kind"] == g.ENTER)]
    # Rank 0, which computes nothing here, gets its share at each call; others keep their proportions.
    assert seconds[:8].tolist() == [1.5, 1.5, 1.5, 1.5, 0.0, 1.0, 2.0, 3.0]
    assert graph.ops["computed_s"][0] == 0.0


def test_undisturbed_computation_has_no_outliers_or_is_the_median():
    ranks = written(2)
    for each in ranks:
        for after in (1.0, 1.0, 9.0 + each.rank, 2.0, 1.0):
            each.call("Barrier", part("collective"), after=after, took=0.0)
    graph = of(ranks)
    assert without_disturbances(graph, outliers=False).ops["computed_s"].tolist() == 2 * 5 * [1.0, 0.0]
    # The quartiles are 1 and 2, so that the outer fence is at 5.
    assert without_disturbances(graph).ops["computed_s"].tolist() == 2 * [
        1.0,
        0.0,
        1.0,
        0.0,
        1.0,
        0.0,
        2.0,
        0.0,
        1.0,
        0.0,
    ]


def test_messages_without_a_wait_between_them_become_one():
    """Three messages of rank 0 to rank 1 become one, a fourth after a receive stays alone."""
    ranks = written(2)
    for size, tag in ((8, 1), (16, 2), (32, 3)):
        ranks[0].call("Send", part("send", 1, size, tag=tag), after=1.0, took=0.0)
    ranks[0].call("Recv", part("receive", 1, 4), after=1.0, took=0.0)
    ranks[0].call("Send", part("send", 1, 64, tag=4), after=1.0, took=0.0)
    for size, tag in ((8, 1), (16, 2), (32, 3)):
        ranks[1].call("Recv", part("receive", 0, size, tag=tag), after=1.0, took=0.0)
    ranks[1].call("Send", part("send", 0, 4), after=1.0, took=0.0)
    ranks[1].call("Recv", part("receive", 0, 64, tag=4), after=1.0, took=0.0)
    graph = of(ranks)
    made, fewer = with_aggregated_messages(graph, eager=100)
    assert fewer == 2
    assert sorted(made.messages["size"].tolist()) == [4, 56, 64]
    assert computed_by_rank(made) == pytest.approx(computed_by_rank(graph))
    # Rank 0 saves two overheads, and rank 1, which waits for the last of the three, two receives.
    assert run_s(graph) == pytest.approx((2 + 10 + 2) + (1 + 2) + (1 + 2) + 1 + 1 + 10 + 2 + 1 + 1 + 10 + 2)
    assert run_s(made) == pytest.approx((4 + 10 + 2) + 2 + 1 + 1 + 10 + 2 + 1 + 1 + 10 + 2)
    assert with_aggregated_messages(graph, eager=100, max_bytes=50)[1] == 0
    assert with_aggregated_messages(graph, eager=10)[1] == 1  # the send of 16 bytes waits for its receive


@pytest.mark.parametrize("seed", range(3))
def test_a_rewritten_random_program_still_runs(seed):
    ranks, communicators, _ = random_program(seed, 5, 300)
    graph = of(ranks, communicators=communicators)
    made, fewer = with_aggregated_messages(graph, eager=1e9)
    assert fewer > 20
    assert len(made.messages) == 300 - fewer
    assert made.messages["size"].sum() == graph.messages["size"].sum()
    for kind in (g.SEND, g.RECEIVE, g.RECEIVED):
        slots = made.ops["slot"][made.ops["kind"] == kind]
        assert sorted(slots.tolist()) == list(range(len(made.messages))), kind
    assert computed_by_rank(made) == pytest.approx(computed_by_rank(graph))
    for each in (made, with_balanced_computation(graph), without_disturbances(graph), with_overlap(graph)):
        assert 0 < run_s(each) < np.inf
    assert run_s(with_overlap(graph)) <= run_s(graph) + 1e-9


def test_overlap_hides_a_wait_behind_what_follows():
    ranks = written(2)
    ranks[0].call("Send", part("send", 1, 8), after=0.0, took=0.0)
    request = ranks[1].start_request("Irecv", part("start receive", 0, 8), after=0.0, took=0.0)
    ranks[1].call("Wait", ranks[1].end(request, 0, 8), after=0.0, took=0.0)
    ranks[1].call("Barrier", part("collective", communicator=2), after=20.0, took=0.0)
    graph = of(ranks, communicators=[[0, 1], [1]])
    assert run_s(graph) == pytest.approx(11 + 2 + 20 + 10)
    assert run_s(with_overlap(graph)) == pytest.approx(20 + 2 + 10)
