# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""LogGP's closed forms, worked out by hand; test_oracle.py of simulated machines runs the same cases."""

from __future__ import annotations

import pytest

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.collective_algorithms import predict
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.schedules import SCHEDULES

O_S, L, G, O_R, C = 2.0, 10.0, 0.5, 3.0, 0.25
"""In seconds, for simple numbers."""
SEGMENT = Segment(send_s=O_S, latency_s=L, per_byte_s=G, receive_s=O_R)


def machine(**collectives: str) -> Platform:
    return Platform(
        name="m", title="M", network=Network(nodes=(NodeGroup(count=20000),)), segments=(SEGMENT,),
        collectives=collectives, sum_s_per_byte=C, eager=1 << 30,
    )  # fmt: skip


def m(size: int) -> float:
    return O_S + L + G * size + O_R


@pytest.mark.parametrize(
    ("operation", "algorithm", "ranks", "size", "expected"),
    [
        ("barrier", "ompi_bruck", 8, 0, 3 * m(0)),
        ("barrier", "ompi_bruck", 9, 0, 4 * m(0)),
        ("barrier", "ompi_recursivedoubling", 8, 0, 3 * m(0)),
        ("barrier", "ompi_basic_linear", 5, 0, O_S + L + 4 * O_R + 4 * O_S + L + O_R),
        ("bcast", "binomial_tree", 8, 4, 3 * m(4)),
        ("bcast", "binomial_tree", 2, 4, m(4)),
        # The root serves 4, then 2, then 1; 2, one turn later than 4, serves 3.
        ("bcast", "binomial_tree", 6, 4, O_S + 2 * m(4)),
        ("reduce", "binomial", 8, 4, 3 * (m(4) + 4 * C)),
        ("reduce", "binomial", 8, 0, 0),
        ("allreduce", "rdb", 8, 4, 3 * (m(4) + 4 * C)),
        # 0 folds into 1, which finds 2's message waiting when it has sent its own, and signals to 0.
        ("allreduce", "rdb", 3, 4, m(4) + 4 * C + O_S + O_R + 4 * C + m(4)),
        ("gather", "ompi_basic_linear", 9, 4, O_S + L + 4 * G + 8 * O_R),
        ("scatter", "ompi_basic_linear", 9, 4, 8 * O_S + L + 4 * G + O_R),
        ("gather", "ompi_binomial", 8, 4, m(4) + m(8) + m(16)),
        # 0 serves 1, 2 and 4 in turn; 4, with four blocks, serves 5, then 6, which serves 7.
        ("scatter", "ompi_binomial", 8, 4, 2 * O_S + m(16) + O_S + m(8) + m(4)),
        ("alltoall", "ring", 5, 4, 4 * m(4)),
        ("alltoall", "pair", 8, 4, 7 * m(4)),
        ("alltoall", "bruck", 8, 4, 3 * m(16)),
        # All overheads of sending, then of receiving: the last message has arrived long before.
        ("alltoall", "basic_linear", 9, 4, 8 * O_S + 8 * O_R),
        ("allgather", "ring", 5, 4, 4 * m(4)),
        ("allgather", "bruck", 6, 4, m(4) + m(8) + m(8)),
        ("allgather", "rdb", 8, 4, m(4) + m(8) + m(16)),
    ],
)
def test_closed_forms(operation: str, algorithm: str, ranks: int, size: int, expected: float) -> None:
    assert predict(machine(**{operation: algorithm}), operation, ranks, size) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("operation", "algorithm", "ranks", "size", "expected"),
    [
        ("bcast", "linear", 5, 4, 4 * O_S + L + 4 * G + O_R),
        # Two places of a chain: the receiver is busier than the sender.
        ("bcast", "chain", 2, 4 * 8192, O_S + L + 8192 * G + 4 * O_R),
        ("bcast", "chain", 5, 4, 4 * m(4)),
        # 0 sends to 1, then to 2; 2 to 5, then to 6.
        ("bcast", "binary_tree", 7, 4, 2 * (O_S + m(4))),
        # The last rank has its part when all three messages have come, and it goes round the whole ring.
        ("bcast", "scatter_allgather", 8, 8000, m(4000) + m(2000) + m(1000) + 7 * m(1000)),
        ("scatter", "binomial", 8, 4, m(16) + m(8) + m(4)),
        ("allgather", "ring", 5, 4, 4 * m(4)),
        ("allgather", "neighbor_exchange", 8, 4, m(4) + 3 * m(8)),
        ("allgather", "neighbor_exchange", 7, 4, 6 * m(4)),
        # 0 folds into 1, which finds 4's message waiting when it has sent its own, and sends 0 all blocks.
        ("allgather", "recursive_doubling", 6, 4, m(4) + m(8) + O_S + O_R + m(24)),
        ("alltoall", "pairwise_exchange", 8, 4, 7 * m(4)),
        ("alltoall", "pairwise_exchange", 5, 4, 4 * m(4)),
        ("reduce", "linear", 5, 8, O_S + L + 8 * G + 4 * (O_R + 8 * C)),
        ("reduce", "rabenseifner", 8, 8000, 2 * (m(4000) + m(2000) + m(1000)) + 7000 * C),
        ("allreduce", "rabenseifner", 8, 8000, 2 * (m(4000) + m(2000) + m(1000)) + 7000 * C),
        ("allreduce", "ring", 8, 8000, 14 * m(1000) + 7 * 1000 * C),
        ("allreduce", "reduce_broadcast", 8, 8, 6 * m(8) + 3 * 8 * C),
        ("reduce_scatter_block", "pairwise", 5, 8, 4 * (m(8) + 8 * C)),
        ("reduce_scatter_block", "recursive_halving", 8, 8, m(32) + m(16) + m(8) + 56 * C),
        ("scan", "linear", 8, 8, 7 * (m(8) + 8 * C)),
        ("scan", "recursive_doubling", 8, 8, 3 * (m(8) + 8 * C)),
    ],
)
def test_closed_forms_of_the_engines_algorithms(
    operation: str, algorithm: str, ranks: int, size: int, expected: float
) -> None:
    simulator = LogGPSimulator(machine(), ranks)
    assert simulator.run(SCHEDULES[operation, algorithm](ranks, size)).max() == pytest.approx(expected)


@pytest.mark.parametrize("ranks", [3, 6, 12])
def test_algorithms_for_powers_of_two_only(ranks: int) -> None:
    assert predict(machine(alltoall="pair"), "alltoall", ranks, 8) is None


def test_hops_and_hardware() -> None:
    torus = Network(shape="torus", dims=(8,), hop_s=1.0)
    platform = Platform(name="t", title="T", network=torus, segments=(SEGMENT,))
    # Distances 1, 2 and 4 on a ring of 8.
    assert predict(platform, "barrier", 8, 0) == pytest.approx(3 * m(0) + 1 + 2 + 4)
    wired = Platform(name="t", title="T", network=torus, segments=(SEGMENT,), hardware_barrier_s=2.5)
    assert predict(wired, "barrier", 8, 0) == 2.5


def test_calls_of_their_own_cost() -> None:
    platform = Platform(
        name="c", title="C", network=Network(nodes=(NodeGroup(count=4),)), segments=(SEGMENT,),
        calls={"bcast": ((0, 1.0), (8, 2.0))},
    )  # fmt: skip
    assert predict(platform, "bcast", 4, 4) == pytest.approx(1.5 + 2 * m(4))
    assert predict(platform, "bcast", 4, 16) == pytest.approx(4.0 + 2 * m(16))
    assert predict(platform, "bcast", 1, 8) == 2.0
    assert predict(platform, "barrier", 4, 0) == pytest.approx(2 * m(0))


def test_half_duplex_makes_exchanges_share() -> None:
    def sharing(duplex: str, operation: str, algorithm: str) -> float | None:
        network = Network(nodes=(NodeGroup(count=8),), nic=1 / G, duplex=duplex)
        named = {operation: algorithm}
        platform = Platform(name="h", title="H", network=network, segments=(SEGMENT,), collectives=named)
        return predict(platform, operation, 8, 4096)

    assert sharing("full", "alltoall", "ring") == pytest.approx(7 * m(4096))
    assert sharing("half", "alltoall", "ring") is None
    assert sharing("half", "bcast", "binomial_tree") == pytest.approx(3 * m(4096))
