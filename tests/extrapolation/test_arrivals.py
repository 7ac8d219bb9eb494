# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Receives from any rank get messages in the order of their arrival."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from extrapolation.made_programs import observed
from replay.made_traces import Written, job_of_written, part, written

from hockney.api.replays import other_machine
from hockney.extrapolation.arrivals import in_order_of_arrival, sites_with_tasks
from hockney.extrapolation.observations import CallKinds
from hockney.extrapolation.scaling import unknown_sites
from hockney.extrapolation.search import find_structure
from hockney.replay import graph as g
from hockney.replay.building import TraceGraph, build
from hockney.replay.scenarios import TracedProgram

RANKS, ROUNDS = 6, 5
ANY = 1
"""The flag of receives from any rank."""
pytestmark = pytest.mark.needs("compiler")


def price(built: TraceGraph):
    return other_machine("sim:t3e", "typical", lambda event: None, (RANKS,))(built)


def made(program: Callable[[Written], None]) -> TraceGraph:
    ranks = written(RANKS)
    for rank in ranks:
        program(rank)
    return build([each.trace for each in ranks], job_of_written(ranks))


def partners(program: TracedProgram, kind: int) -> list[int]:
    """Of the first rank's operations of a kind."""
    graph = program.trace_graph.graph
    ops = graph.ops[: graph.first[1]]
    messages = graph.messages[ops["slot"][ops["kind"] == kind]]
    return messages["source" if kind == g.RECEIVE else "target"].tolist()


def test_answers_are_received_in_the_order_of_their_arrival():
    """Higher ranks compute less, and the first rank takes long for each answer."""

    def program(rank: Written) -> None:
        for _ in range(ROUNDS):
            if rank.rank:
                rank.call("Recv", part("receive", 0, 8), site=1)
                rank.call("Send", part("send", 0, 8), site=2, after=1e-2 * (RANKS - rank.rank))
            else:
                for worker in range(1, RANKS):
                    rank.call("Send", part("send", worker, 8), site=3)
                for worker in range(1, RANKS):
                    rank.call("Recv", part("receive", worker, 8, flags=ANY), site=4, after=5e-3)

    built = made(program)
    before = TracedProgram(built, price(built)).costs_only_program.value_s
    found = in_order_of_arrival(built, price)
    assert partners(found, g.RECEIVE) == [*range(RANKS - 1, 0, -1)] * ROUNDS
    assert found.costs_only_program.value_s < 0.9 * before
    assert np.array_equal(found.trace_graph.graph.ops["computed_s"], built.graph.ops["computed_s"])


def test_what_follows_a_receive_moves_with_its_sender():
    """Workers get the next task for a result. In each round another one is slow."""

    def program(rank: Written) -> None:
        for number in range(ROUNDS):
            if rank.rank:
                after = 1e-1 if rank.rank == 1 + number else 1e-3
                rank.call("Send", part("send", 0, 8), site=1, after=after)
                rank.call("Recv", part("receive", 0, 8), site=2)
            else:
                for worker in range(1, RANKS):
                    rank.call("Recv", part("receive", worker, 8, flags=ANY), site=3)
                    rank.call("Send", part("send", worker, 8), site=4)

    built = made(program)
    before = TracedProgram(built, price(built)).costs_only_program.value_s
    found = in_order_of_arrival(built, price)
    assert before > 0.4 and found.costs_only_program.value_s < 0.15
    assert partners(found, g.RECEIVE) == partners(found, g.SEND)
    for worker in range(1, RANKS):
        assert partners(found, g.RECEIVE).count(worker) == ROUNDS


def test_receives_from_certain_ranks_keep_their_order():
    def program(rank: Written) -> None:
        if rank.rank:
            rank.call("Send", part("send", 0, 8), site=2, after=1e-2 * (RANKS - rank.rank))
        else:
            for worker in range(1, RANKS):
                rank.call("Recv", part("receive", worker, 8), site=4)

    built = made(program)
    assert in_order_of_arrival(built, price).trace_graph is built


def test_tasks_for_the_next_worker_that_is_ready_are_refused():
    """How many tasks a worker gets depends on time, and follows no pattern."""

    def program(rank: Written, ranks: int) -> None:
        tasks = np.random.default_rng(ranks).multinomial(60, [1 / (ranks - 1)] * (ranks - 1))
        order = np.random.default_rng(ranks + 1).permutation(np.repeat(np.arange(ranks - 1), tasks)) + 1
        for worker in order.tolist() if rank.rank == 0 else ():
            rank.call("Recv", part("receive", worker, 8, flags=ANY), site=3)
            rank.call("Send", part("send", worker, 8), site=4)
        for _ in range(int(tasks[rank.rank - 1]) if rank.rank else 0):
            rank.call("Send", part("send", 0, 8), site=1, after=1e-3)
            rank.call("Recv", part("receive", 0, 8), site=2)

    kinds = CallKinds()
    structure = find_structure(observed(program, (2, 4, 8, 16), kinds), kinds)
    sites = unknown_sites(structure)
    assert sum(each.calls for each in sites) > 0.5
    assert {"Send at line 1", "Recv at line 2"} <= set(sites_with_tasks(structure))
    assert {each.reason for each in sites} >= set(sites_with_tasks(structure).values())
