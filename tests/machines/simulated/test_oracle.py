# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated collectives against LogGP's formulas."""

from __future__ import annotations

import math

import pytest
from oracle import EAGER, LARGE, SMALL, Simulator, machine
from tiers import slow

from hockney.core.platform import NodeGroup
from hockney.models.collective_algorithms import predict

pytestmark = pytest.mark.simgrid

WITHIN = 0.005
RANKS = (
    2,
    3,
    8,
    16,
    100,
    *slow(256),
    *slow(1024),
)
USUAL = {"alltoall": "bruck", "allgather": "bruck", "gather": "ompi_binomial", "scatter": "ompi_binomial"}
LINEAR = {
    "barrier": "ompi_basic_linear",
    "gather": "ompi_basic_linear",
    "scatter": "ompi_basic_linear",
    "alltoall": "basic_linear",
    "allgather": "ring",
    "allreduce": "redbcast",
}
OTHER = {"barrier": "ompi_recursivedoubling", "alltoall": "ring", "allgather": "ring"}
OPERATIONS = ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall")


def m(size: float) -> float:
    """One message of the small segment, MPI_Send to MPI_Recv."""
    return SMALL.one_way(size)


def exchange() -> float:
    return SMALL.isend_s + SMALL.latency_s + SMALL.receive_s


@pytest.mark.parametrize("ranks", RANKS)
def test_the_textbook_forms(simulator: Simulator, ranks: int) -> None:
    """Without hockney's recurrences: k = ceil(log2 P) rounds, or P - 1 turns of the root."""
    size, rounds = 1024, math.ceil(math.log2(ranks))
    linear = {"gather": "ompi_basic_linear", "scatter": "ompi_basic_linear"}
    words = ["barrier:0", f"bcast:{size}", f"gather:{size}", f"scatter:{size}"]
    took = simulator.times(machine(NodeGroup(count=ranks), collectives=linear), ranks, *words)
    flight = SMALL.latency_s + SMALL.per_byte_s * size
    sending = SMALL.send_s + SMALL.send_s_per_byte * size
    assert took["barrier:0"] == pytest.approx(rounds * exchange(), rel=WITHIN)
    if ranks & (ranks - 1) == 0:
        assert took[f"bcast:{size}"] == pytest.approx(rounds * m(size), rel=WITHIN)
    gather = sending + flight + (ranks - 1) * SMALL.receive_s
    assert took[f"gather:{size}"] == pytest.approx(gather, rel=WITHIN)
    scatter = (ranks - 1) * sending + flight + SMALL.receive_s
    assert took[f"scatter:{size}"] == pytest.approx(scatter, rel=WITHIN)


@pytest.mark.parametrize("named", [USUAL, LINEAR, OTHER], ids=["usual", "linear", "other"])
@pytest.mark.parametrize("ranks", RANKS)
def test_predictions_agree(simulator: Simulator, ranks: int, named: dict[str, str]) -> None:
    """The default trees, the linear algorithms and the doubling ones, small and large messages."""
    platform = machine(NodeGroup(count=ranks), collectives=named)
    of_each_pair = {"ring", "basic_linear"}
    operations = [o for o in OPERATIONS if ranks <= 100 or named.get(o) not in of_each_pair]
    sizes = (8, 1024, 8192) if ranks <= 16 else (8, 8192) if ranks <= 100 else (8,)
    points = [("barrier", 0), *((o, size) for o in operations for size in sizes)]
    expected = {f"{o}:{size}": predict(platform, o, ranks, size) for o, size in points}
    assert None not in expected.values()
    took = simulator.times(platform, ranks, *expected)
    for word, time in expected.items():
        assert took[word] == pytest.approx(time, rel=WITHIN), word


def test_ranks_of_a_node_are_nearer(simulator: Simulator) -> None:
    near = SMALL.__class__(latency_s=1e-6, send_s=2e-7, receive_s=3e-7, per_byte_s=1e-10)
    platform = machine(NodeGroup(count=2, cores=3), NodeGroup(count=3, cores=2), on_node=(near,))
    took = simulator.times(platform, 12, "barrier:0", "bcast:8", "allreduce:8", "gather:8")
    for word, time in took.items():
        operation, size = word.split(":")
        assert time == pytest.approx(predict(platform, operation, 12, int(size)), rel=WITHIN), word
    flat = predict(machine(NodeGroup(count=12)), "bcast", 12, 8)
    assert took["bcast:8"] < 0.9 * flat


@pytest.mark.parametrize("latency", [0.0, 10e-6])
def test_messages_that_cross_cost_more(simulator: Simulator, latency: float) -> None:
    """Also if overheads are the only costs of a message."""
    busy = SMALL.__class__(latency_s=latency, send_s=2e-6, receive_s=3e-6, exchange_s=4e-6)
    platform = machine(NodeGroup(count=8), segments=(busy,))
    took = simulator.times(platform, 8, "barrier:0", "allreduce:8")
    for word, time in took.items():
        operation, size = word.split(":")
        assert time == pytest.approx(predict(platform, operation, 8, int(size)), rel=WITHIN), word


def test_where_links_decide_nothing_is_predicted() -> None:
    shared = machine(NodeGroup(count=64), nic=1e8, collectives=LINEAR)
    assert predict(shared, "gather", 64, EAGER) is None
    assert predict(shared, "gather", 64, 8) is not None
    assert predict(machine(NodeGroup(count=64), medium_message_s=1e-3), "barrier", 64, 0) is None
    assert predict(machine(NodeGroup(count=64)), "barrier", 65, 0) is None
    assert predict(machine(NodeGroup(count=64), collectives={"bcast": "mpich"}), "bcast", 64, 8) is None
    assert LARGE.first < EAGER
