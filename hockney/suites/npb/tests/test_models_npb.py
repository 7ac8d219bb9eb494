# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Predicted times of the NAS Parallel Benchmarks by hand: terms, costs of messages, changes, and which
assumption fails."""

from __future__ import annotations

import pytest

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.applications.point_to_point_costs import CostPiece, PointToPointCosts
from hockney.models.programs.communication import Communication
from hockney.models.programs.forecast import (
    KernelMachine,
    fewer_collectives,
    fewer_messages,
    finer_pipelines,
    forecast,
    shorter_messages,
)
from hockney.models.programs.prediction import Rates, predict, uniform
from hockney.models.programs.program import (
    Collective,
    Exchange,
    Indivisible,
    Messages,
    Phase,
    Pipeline,
    Program,
    Share,
    Work,
    sums,
)
from hockney.suites.npb.programs import CLASSES, PROGRAMS
from hockney.suites.npb.programs.assumptions import PhaseTime, diagnose

LATENCY, PER_BYTE = 1e-3, 1e-6


def costs(**more: object) -> PointToPointCosts:
    pieces = (CostPiece(0, LATENCY, PER_BYTE),)
    return PointToPointCosts("here", "here", pieces, False, "a test", **more)


def program(*phases: Phase, ranks: int = 2) -> Program:
    return Program("cg", "S", ranks, 1, 0.0, phases)


def shares(*operations: float, **more: object) -> tuple[Share, ...]:
    return tuple(Share((Work(each, "a"),), **more) for each in operations)


def terms(*phases: Phase, communication: Communication | None = None, rate: float = 1.0, ranks: int = 2):
    made = communication or Communication(costs())
    return predict(program(*phases, ranks=ranks), uniform(rate), made).terms


def test_the_busiest_rank_decides_and_the_others_wait():
    found = terms(Phase("a", shares(30, 10)), rate=10.0)
    assert (found.computation, found.waiting, found.total) == (2.0, 1.0, 3.0)


def test_rates_differ_between_phases_and_one_without_a_rate_has_the_mean():
    rates = Rates({"a": 2.0}, others=5.0)
    assert [rates.seconds(Work(3, like)) for like in ("a", "b")] == [6.0, 15.0]


def test_messages_of_an_exchange_follow_each_other():
    """If no stream was measured, another message adds half at each end, or at least its bytes."""
    communication = Communication(costs())
    assert communication.exchange(Exchange(1, (100,), (100,)), 2) == pytest.approx(LATENCY + 100 * PER_BYTE)
    two = communication.exchange(Exchange(1, (100, 100), (100, 100)), 2)
    assert two == pytest.approx(2 * (LATENCY + 100 * PER_BYTE))
    assert communication.exchange(Exchange(1, (), ()), 2) == 0


@pytest.mark.parametrize(("duplex", "directions"), [("full", 1), ("half", 2)])
def test_the_ranks_of_a_node_share_its_network_card(duplex, directions):
    """Two cores on a node; among the ranks of one node nothing passes the card."""
    network = Network(nodes=(NodeGroup(count=4, cores=2),), nic=1e4, duplex=duplex)
    segment = Segment(latency_s=LATENCY, per_byte_s=PER_BYTE)
    machine = Platform(name="narrow", title="narrow", network=network, segments=(segment,))
    communication = Communication(costs(cores=2), platform=machine)
    exchange = Exchange(1, (1000,), (1000,))
    assert communication.exchange(exchange, 4) == pytest.approx(directions * 2 * 1000 / 1e4)
    assert communication.exchange(exchange, 2) == pytest.approx(LATENCY + 1000 * PER_BYTE)


def test_messages_on_a_medium_wait_for_those_of_all_ranks():
    exchange = Exchange(1, (100, 50), (100, 50))
    shared = Communication(costs(medium=(LATENCY, PER_BYTE)))
    whole = 4 * 2 * LATENCY + 4 * 150 * PER_BYTE
    assert shared.exchange(exchange, 4) == pytest.approx(whole)


def test_a_pipeline_fills_while_the_first_chunk_passes_its_ranks():
    """Four ranks, ten chunks: three of them before the last rank begins."""
    pipeline = Pipeline(5, 3, 10, 1, (Messages(10, 0),), (Messages(10, 0),))
    phase = Phase("a", shares(100, 100, 100, 100, pipeline=pipeline))
    found = terms(phase, ranks=4)
    assert found.filling == pytest.approx(100 * 3 / 10)
    through, handling = 5 * 3 * LATENCY, 5 * 20 * LATENCY / 2
    assert found.messages == pytest.approx(through + handling)
    assert found.total == pytest.approx(100 + 30 + found.messages)


def test_a_pipeline_fills_while_others_wait_for_the_busiest_rank():
    pipeline = Pipeline(1, 1, 10, 1, (), ())
    found = terms(Phase("a", shares(90, 110, pipeline=pipeline)))
    assert found.filling == pytest.approx(11) and found.imbalance == pytest.approx(10)
    assert found.waiting == pytest.approx(11)


def test_measured_collectives_are_on_a_line_through_their_sizes():
    curve = ((8.0, 1.0), (16.0, 3.0))
    communication = Communication(costs(), collectives={("allreduce", 2): curve})
    for size, seconds in ((4, 1.0), (8, 1.0), (12, 2.0), (32, 6.0)):
        assert communication.collective(Collective("allreduce", 1, (size, size)), 2) == pytest.approx(seconds)
    assert communication.collective(sums(1, 1, 1), 1) == 0


def test_unmeasured_collectives_are_composed_of_messages():
    """The best algorithm for a short sum over 8 ranks has three steps."""
    communication = Communication(costs())
    found = communication.collective(sums(1, 1, 8), 8)
    assert found == pytest.approx(3 * (LATENCY + 8 * PER_BYTE))


def test_the_block_of_an_exchange_of_all_is_that_for_one_rank():
    curve = ((8.0, 1.0), (16.0, 2.0))
    communication = Communication(costs(), collectives={("alltoall", 4): curve})
    assert communication.collective(Collective("alltoall", 1, (64,) * 4), 4) == pytest.approx(2.0)


def test_changes_keep_the_bytes_or_halve_them():
    for kernel in ("bt", "cg", "ft", "lu", "mg"):
        made = PROGRAMS[kernel]("W", 8)
        halved = shorter_messages(made)
        assert halved.sent_bytes == pytest.approx(made.sent_bytes / 2, rel=1e-3)
        assert halved.collective_bytes == pytest.approx(made.collective_bytes / 2, rel=1e-3)
        assert fewer_messages(made).sent_bytes == pytest.approx(made.sent_bytes, rel=0.2)
        assert finer_pipelines(made).sent_bytes == pytest.approx(made.sent_bytes, rel=1e-3)
        assert halved.sent_messages == made.sent_messages
    cg = PROGRAMS["cg"]("W", 8)
    assert fewer_collectives(cg).collective_calls == pytest.approx(cg.collective_calls / 2, abs=1)
    assert fewer_messages(cg).sent_messages == cg.sent_messages / 2


def test_the_operations_of_all_ranks_are_the_official_ones():
    """The operations hold in every class and on every number of ranks, except for one rank of IS, which does
    not sort."""
    for kernel, sizes in CLASSES.items():
        for size in sizes:
            for ranks in (1, 2, 3, 16, 61):
                if kernel == "is" and ranks == 1 and size != "B" and size != "C":
                    continue
                try:
                    made = PROGRAMS[kernel](size, ranks)
                except Indivisible:
                    continue
                done = sum(
                    work.operations / (ranks if work.every else 1)
                    for phase in made.phases
                    for share in phase.shares
                    for work in share.work
                )
                assert done == pytest.approx(made.operations, rel=1e-9), (kernel, size, ranks)


@pytest.mark.parametrize(
    ("parts", "failing"),
    [
        ({"computation": 20.0, "messages": 0.0, "collectives": 0.0, "waiting": 0.0}, "rates"),
        ({"computation": 10.0, "messages": 0.0, "collectives": 0.0, "waiting": 10.0}, "balance"),
        ({"computation": 10.0, "messages": 9.0, "collectives": 1.0, "waiting": 0.0}, "messages"),
        ({"computation": 10.0, "messages": 1.0, "collectives": 9.0, "waiting": 0.0}, "collectives"),
        ({"computation": 13.0, "messages": 2.0, "collectives": 3.0, "waiting": 2.0}, None),
    ],
)
def test_the_term_that_corrects_most_fails(parts: dict, failing: str | None):
    predicted = predict(program(Phase("a", shares(10, 10))), uniform(1.0), Communication(costs()))
    found = diagnose(predicted, 20.0, parts)
    assert found.error == pytest.approx(-0.5)
    assert found.failing == failing


def test_the_phase_with_the_largest_difference_is_named():
    two = (Phase("a", shares(10, 10)), Phase("b", shares(10, 10)))
    predicted = predict(program(*two), uniform(1.0), Communication(costs()))
    phases = (PhaseTime("a", 12.0, 0.0, 0.0), PhaseTime("b", 20.0, 0.0, 0.0))
    parts = {"computation": 32.0, "messages": 0.0, "collectives": 0.0, "waiting": 0.0}
    found = diagnose(predicted, 32.0, parts, phases)
    assert (found.failing, found.phase) == ("rates", "b")
    assert found.corrected == pytest.approx(0)


def test_ranks_that_share_cores_compute_in_turn():
    machine = KernelMachine(uniform(1e9), {"value": Communication(costs())}, cores=2)
    found = forecast(lambda ranks, *_: PROGRAMS["ep"]("S", ranks), (1, 2, 4), machine)
    assert [row.shared_by for row in found.rows] == [1, 1, 2]
    assert found.rows[2].terms.computation == pytest.approx(found.rows[1].terms.computation)
    assert found.changed == 2 and found.fastest.ranks == 2
