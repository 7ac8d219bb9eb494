# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The engine's collective algorithms in SimGrid's SMPI take what their schedules predict."""

from __future__ import annotations

import statistics

import pytest
from engine_lines import records
from test_engine_simulated import LATENCY_S, PER_BYTE_S, described, engine, median, simulate
from tiers import slow

from hockney.core.case import Case
from hockney.core.platform import Network, NodeGroup, Segment
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.network_sim import NetworkSimulator
from hockney.models.schedules import SCHEDULES

__all__ = ["engine", "simulate"]

pytestmark = pytest.mark.simgrid


@pytest.mark.parametrize("ranks", [5, *slow(8)])
def test_the_engines_collective_algorithms_take_what_their_schedules_predict(engine, simulate, ranks):
    """Messages whose order, sizes or waiting are different end at another time; so do sums."""
    keys, cases = collective_algorithms(engine, ranks)
    costs = {"sum_s_per_byte": 0.3 * PER_BYTE_S}
    found = records(simulate(cases, ranks, **costs))
    for (workload, name, size), record in zip(keys, found, strict=True):
        simulator = LogGPSimulator(described(**costs), ranks)
        expected = simulator.run(SCHEDULES[workload, name](ranks, size)).max()
        assert median(record) == pytest.approx(expected, rel=0.005), record.case


def collective_algorithms(engine, ranks: int) -> tuple[list[tuple[str, str, int]], list[Case]]:
    """Every algorithm at three sizes."""
    keys = [
        (workload.name, name, size)
        for workload in engine.catalog.with_role("collective")
        for parameter in workload.parameters
        if parameter.name == "algorithm"
        for name in parameter.choices
        for size in (8, 6000, 80_000)
        if name != "mpi"
    ]
    words = [f"{workload} algorithm={name} bytes={size} sync=window" for workload, name, size in keys]
    return keys, [engine.catalog.case(text, ranks) for text in words]


SHARED = {
    "torus": Network(shape="torus", dims=(3, 3), nic=8e7, duplex="half", link=9e7, hop_s=1e-7),
    "bus": Network(shape="bus", nodes=(NodeGroup(count=3, cores=2),), link=1e8),
    "medium": Network(nodes=(NodeGroup(count=9),), medium_message_s=1e-4, medium_s_per_byte=1e-8),
    "processors": Network(nodes=(NodeGroup(count=9),), nic=8e7),
}


@pytest.mark.parametrize("shape", SHARED)
def test_the_engines_collective_algorithms_on_shared_links_take_what_is_predicted(engine, simulate, shape):
    """NICs in both directions, cables, nodes of several cores, a medium, processors that work for messages;
    overheads that differ by call. On a medium the order of messages that set out at the same moment decides,
    in which SimGrid's repetitions differ too."""
    ranks = 6
    keys, cases = collective_algorithms(engine, ranks)
    segment = Segment(
        send_s=2e-6, isend_s=3e-6, latency_s=LATENCY_S, per_byte_s=1.3 * PER_BYTE_S, receive_s=1e-6,
        processor_s=7e-6 if shape == "processors" else 0.0,
    )  # fmt: skip
    costs = {
        "network": SHARED[shape], "sum_s_per_byte": 0.3 * PER_BYTE_S, "segments": (segment,), "eager": 20_000
    }  # fmt: skip
    found = records(simulate(cases, ranks, **costs))
    errors = []
    for (workload, name, size), record in zip(keys, found, strict=True):
        run = NetworkSimulator(described(**costs), ranks).run(SCHEDULES[workload, name](ranks, size))
        errors.append((abs(float(run.max()) / median(record) - 1), record.case))
    assert max(errors)[0] < (0.3 if shape == "medium" else 0.02), max(errors)
    assert statistics.median(error for error, _ in errors) < 0.001
