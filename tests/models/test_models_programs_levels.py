# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Messages and collectives of a program on several nodes, from a run that measured both levels."""

from __future__ import annotations

from dataclasses import replace

import pytest
from test_models_level_costs import CROSSING, HERE, SIZE, far, measured, near, summary

from hockney.models.applications.message_costs import messages_for
from hockney.models.applications.point_to_point_costs import CostPiece
from hockney.models.programs.communication import Communication, communication_from_fits
from hockney.models.programs.description import parse_description
from hockney.models.programs.timing import iteration_time


def known(nodes: int = 0, *summaries) -> Communication:
    fits = measured(CROSSING, list(summaries))
    return communication_from_fits(fits, messages_for(fits, HERE, "the run", hosts=2).spread_over(nodes))


def test_the_slowest_message_is_that_of_the_farthest_ranks():
    for ranks, nodes, expected in ((4, 1, near), (4, 2, far), (8, 0, far), (4, 0, near)):
        assert known(nodes).one_way(SIZE, ranks) == pytest.approx(expected(SIZE))


def test_collectives_on_as_many_nodes_count():
    times = {1: 5e-6, 2: 70e-6}
    cases = [
        summary(f"allgather bytes={n} nodes={k} ranks=4", t * n / SIZE)
        for k, t in times.items()
        for n in (SIZE, 2 * SIZE)
    ]
    for nodes, time in times.items():
        found = known(nodes, *cases).measured_collective("allgather", 4, SIZE)
        assert found == pytest.approx(time)


RELATION = {
    "phase": [{"messages": [["rank", "(rank + 1) % ranks", SIZE], ["rank", "(rank + 2) % ranks", SIZE]]}]
}


@pytest.mark.parametrize("place", ["node", "network"])
def test_a_gap_holds_its_sender_within_a_node_and_delays_the_message_between_nodes(place):
    """Of two messages, the second arrives a gap later; a processor that copies receives after both gaps."""
    gap = 5e-6
    costs = known(1 if place == "node" else 3)
    stream = replace(costs.message, pieces=(CostPiece(0, gap, 0.0),))
    measured = {
        "node": replace(costs, measured_within_node=replace(costs.measured_within_node, stream=stream)),
        "network": replace(costs, measured=replace(costs.measured, stream=stream)),
    }[place]
    alone = near(SIZE) if place == "node" else far(SIZE)
    busy = min(gap, alone)
    time = iteration_time(parse_description(RELATION, "p").iteration(3), measured).seconds
    assert time == pytest.approx({"node": 3 * busy, "network": alone + busy}[place], rel=1e-6)


def test_large_messages_of_a_pipeline_in_two_directions_have_a_time():
    """The ranks send them before they receive others, which the simulator cannot follow as MPI_Send."""
    costs = known(4)
    large = replace(
        costs, measured=replace(costs.measured, message=replace(costs.measured.message, eager_limit=0))
    )
    raw = {"grid": "2d", "phase": [{"pipeline": "xy", "chunks": 4, "work": 4e-3, "bytes": SIZE}]}
    time = iteration_time(parse_description(raw, "p").iteration(4), large).seconds
    assert time > 4e-3
