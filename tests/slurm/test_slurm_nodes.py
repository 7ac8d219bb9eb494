# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison of the nodes of a submitted job, one of which has a slow network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from front import Front
from native import locked
from real_mpi import mpi_named
from slurm_rig import Rig, rig_of

from hockney import build
from hockney.studies.nodes.plan import STREAM

pytestmark = [pytest.mark.mpi, pytest.mark.needs("Slurm", "iproute2"), pytest.mark.slow(60)]
SLOW = "n2"
SHAPED = "tc qdisc add dev eth0 root tbf rate 40mbit burst 16kb latency 200ms"
"""All that leaves the node, so its messages are slow to send."""


@pytest.fixture(scope="module")
def nodes_rig() -> Iterator[Rig]:
    with rig_of(5, 2) as rig:
        yield rig


def test_the_node_with_a_slow_network_is_named(nodes_rig: Rig, tmp_path: Path) -> None:
    mpi = mpi_named("openmpi")
    with locked(f"engine-{mpi.family}"):
        build.engine(mpi)
        build.engine(mpi, group="hockney-nodes")
    front = Front(nodes_rig, tmp_path, {"HOCKNEY_MPI": mpi.prefix, "COLUMNS": "100"})
    nodes_rig.on(SLOW, SHAPED)
    words = ("measure=bandwidth", "long=64KiB", "--nodes", "5", "--ranks-per-node", "1", "--launches", "4")
    done = front(
        "run", "nodes", *words, "--budget", "60s", "--submit", "--wait", "--out", "r", "--json", code=1
    )
    answer = json.loads(done.out)["answer"]
    assert answer["slow_nodes"] == [SLOW], answer["nodes"]
    slow = {node["measure"]: node for node in answer["nodes"] if node["nodes"] == [SLOW]}
    assert slow["sending"]["verdict"] == "slow" and slow["sending"]["ratio"]["value"] > 2
    assert slow["receiving"]["verdict"] != "slow", "only what it sends is slow"
    records = front.reading("r").run.records
    assert {record.case.split()[0] for record in records} == {STREAM}
    assert all(record.nodes == 5 for record in records)
