# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Victims next to congestors: every operation and load verifies its data, and loads the network only where it
should. Whether anything is slower depends on a network, which the ranks here do not have."""

from __future__ import annotations

from itertools import product

import pytest
from engine_lines import launcher_for, lines_of, verified
from real_mpi import group_for
from tiers import slow

pytestmark = pytest.mark.mpi
GROUP = "hockney-congestion"
VICTIMS = ("ring", "allreduce", "halo")
CONGESTORS = ("none", "incast", "broadcast", "alltoall", "pairs")


@pytest.mark.parametrize("ranks", [4, *slow(5, 7, 9)])
def test_victims_and_congestors_verify(mpi, mpi_name, ranks):
    if mpi_name == "mpich" and ranks > 4:
        pytest.skip("MPICH polls: more ranks than cores wait a scheduler's turn for every message")
    built = group_for(mpi, GROUP)
    combinations = [*product(VICTIMS, CONGESTORS)]
    if ranks == 4:  # each value once
        diagonal = combinations[:: len(CONGESTORS) + 1]
        combinations = [*diagonal, ("ring", "pairs"), ("halo", "alltoall")]
    cases = [
        built.catalog.case(
            f"congestion victim={v} congestor={c} bytes=4096 load_bytes=20000 victims=40", ranks
        )
        for v, c in combinations
    ]
    victims = max(2, min(round(0.4 * ranks), ranks - 2))
    for record in verified(lines_of(launcher_for(mpi, built), cases, ranks), cases, ranks):
        case = record.parse_case()
        assert record.batch == 1, "each operation is timed separately"
        assert record.metric("victim_ranks") == victims
        assert (record.metric("load") > 0) == (case["congestor"] != "none")
        assert record.bytes_moved == 4096 * (4 if case["victim"] == "halo" else 1)


def test_a_victim_needs_congestors(mpi):
    """Also with less than a rank's share of victims, and without random roles."""
    built = group_for(mpi, GROUP)
    cases = [
        built.catalog.case(f"congestion congestor=pairs victims={share} allocation={allocation}", 4)
        for share, allocation in ((1, "blocked"), (99, "interleaved"))
    ]
    for record in verified(lines_of(launcher_for(mpi, built), cases, 4), cases, 4):
        assert record.metric("victim_ranks") == 2
