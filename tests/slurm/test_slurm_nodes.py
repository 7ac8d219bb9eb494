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
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "studies" / "nodes.md"
SLOW = "n2"
SHAPED = "tc qdisc add dev eth0 root tbf rate 10mbit burst 16kb latency 200ms"
"""All that leaves the node, so its messages are slow to send."""


@pytest.fixture(scope="module")
def nodes_rig() -> Iterator[Rig]:
    with rig_of(6, 2, switches=2) as rig:
        yield rig


@pytest.fixture
def nodes_front(nodes_rig: Rig, tmp_path: Path) -> Front:
    mpi = mpi_named("openmpi")
    with locked(f"engine-{mpi.family}"):
        build.engine(mpi)
        build.engine(mpi, group="hockney-nodes")
    return Front(nodes_rig, tmp_path, {"HOCKNEY_MPI": mpi.prefix, "COLUMNS": "100"})


def test_the_example_of_the_documentation(nodes_front: Front) -> None:
    """On fewer nodes, for a shorter time."""
    lines = DOCUMENTATION.read_text().splitlines()
    (example,) = (line.split() for line in lines if line.startswith("    hockney") and "--submit" in line)
    replaced = {"256": "6", "10m": "40s"}
    words = [replaced.get(word, word) for word in example[1:]]
    assert "6" in words and "40s" in words
    nodes_front(*words, "--out", "r")
    done = nodes_front("resume", "r", "--wait", "--json", code=None)
    assert done.code in (0, 1, 4), done
    answer = json.loads(done.out)["answer"]
    assert {row["nodes"][0] for row in answer["nodes"]} == set(nodes_front.rig.names)
    assert set(answer["typical_s"]) >= {"latency", "bandwidth", "bidirectional", "compute", "memory"}


def test_the_node_with_a_slow_network_is_named(nodes_front: Front, tmp_path: Path) -> None:
    nodes_front.rig.on(SLOW, SHAPED)
    words = ("measure=bandwidth", "long=64KiB", "--nodes", "6", "--ranks-per-node", "1", "--launches", "4")
    done = nodes_front(
        "run", "nodes", *words, "--budget", "60s", "--submit", "--wait", "--out", "r", "--json", code=1
    )
    answer = json.loads(done.out)["answer"]
    assert answer["slow_nodes"] == [SLOW], answer["nodes"]
    slow = {node["measure"]: node for node in answer["nodes"] if node["nodes"] == [SLOW]}
    assert slow["sending"]["verdict"] == "slow" and slow["sending"]["ratio"]["value"] > 1.5
    assert slow["receiving"]["verdict"] != "slow", "only what it sends is slow"
    machine = json.loads((tmp_path / "r" / "machine.json").read_text())
    switches = {switch["name"]: switch["nodes"] for switch in machine["topology"]}
    assert switches["leaf1"] == ["n4", "n5", "n6"], "as Slurm describes them"
    assert set(machine["hosts"]) == set(nodes_front.rig.names)
    records = nodes_front.reading("r").run.records
    assert {record.case.split()[0] for record in records} == {STREAM}
    assert all(record.nodes == 6 for record in records)
