# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Messages and collectives of a program on several nodes, from a run that measured both levels."""

from __future__ import annotations

import pytest
from test_models_level_costs import CROSSING, HERE, SIZE, far, measured, near, summary

from hockney.models.applications.message_costs import messages_for
from hockney.models.programs.communication import Communication, of_fits


def known(nodes: int = 0, *summaries) -> Communication:
    fits = measured(CROSSING, list(summaries))
    return of_fits(fits, messages_for(fits, HERE, "the run", hosts=2).spread(nodes))


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
