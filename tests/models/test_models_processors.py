# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that take the time of processors, in the models of described machines, worked out by hand."""

from __future__ import annotations

import pytest

from hockney.core.platform import Network, NodeGroup, Platform, Segment
from hockney.models.applications.point_to_point_costs import costs_from_platform
from hockney.models.collective_costs import simulated_time
from hockney.models.loggp_sim import LogGPSimulator
from hockney.models.network_sim import NetworkSimulator
from hockney.models.schedules import NotModelled
from hockney.models.schedules.schedule import step

SEGMENT = Segment(
    send_s=1e-6,
    latency_s=10e-6,
    per_byte_s=1e-9,
    receive_s=2e-6,
    processor_s=50e-6,
    processor_s_per_byte=3e-9,
)
MACHINE = Platform(
    name="m", title="M", network=Network(nodes=(NodeGroup(count=4),)), segments=(SEGMENT,), eager=1 << 20
)
SIZE = 1000.0
WORK = 53e-6
ONE_WAY = 14e-6 + WORK


def test_one_message_waits_for_the_receivers_processor():
    assert SEGMENT.one_way(SIZE) == pytest.approx(ONE_WAY)
    assert costs_from_platform(MACHINE, source="").one_way(SIZE) == pytest.approx(ONE_WAY)
    assert SEGMENT.handling(SIZE) == pytest.approx((1e-6 + WORK, 2e-6 + WORK))
    times = NetworkSimulator(MACHINE, 2).run([step([0], [1], SIZE)])
    assert times == pytest.approx([1e-6, ONE_WAY])


def test_messages_to_one_node_are_served_one_after_the_other():
    steps = [step([1, 2, 3], [0, 0, 0], SIZE)]
    assert simulated_time(MACHINE, steps, 4) == pytest.approx(1e-6 + 11e-6 + 3 * (WORK + 2e-6))


def test_the_simulation_of_clocks_alone_refuses_such_machines():
    with pytest.raises(NotModelled):
        LogGPSimulator(MACHINE, 2)
