# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of pairs on simulated nodes of four cores, whose network cards have a known rate."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_mpi import simgrid_here

from hockney import api
from hockney.cli.start import guarded
from hockney.studies.pairs.columns import answer

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]
NIC, ONE = 10e9, 4e9
MACHINE = f"""
name = "nic"
title = "Nodes of four cores"
eager = "1MiB"

[network]
shape = "switch"
nodes = [{{count = 2, cores = 4}}]
nic = {NIC}

[[segments]]
first = 0
send_s = "200ns"
latency_s = "1us"
per_byte_s = "1/({ONE / 1e9}GB/s)"
receive_s = "200ns"

[[on_node]]
first = 0
latency_s = "200ns"
per_byte_s = "1/(8GB/s)"

[[origins]]
key = "segments"
status = "guess"
source = "made up"

[[origins]]
key = "on_node"
status = "guess"
source = "made up"

[[origins]]
key = "network"
status = "guess"
source = "made up"
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict:
    simgrid_here()
    folder = tmp_path_factory.mktemp("pairs")
    (folder / "nic.toml").write_text(MACHINE)
    words = ["run", "pairs", "pairs=1,2,4", "--ranks", "8", "--machine", f"sim:{folder / 'nic.toml'}"]
    assert guarded([*words, "--assume-network", "--out", str(folder / "r"), "-q"]) == 0
    return answer(api.load(Path(folder / "r")).evidence)


def test_the_streams_find_the_rate_of_the_network_card(found: dict):
    """A window of messages fills it with one pair already: what is per byte elsewhere overlaps."""
    [way] = [way for way in found["ways"] if way["workload"] == "pairs_stream"]
    assert way["model"]["parameters"]["R_N"].value == pytest.approx(NIC, rel=0.03)
    assert way["model"]["verdict"] == "good"
    [largest] = [each for each in way["saturation"] if each["bytes"] == 1 << 20]
    assert largest == {"bytes": 1 << 20, "reached": True, "pairs": 1}


def test_a_ping_pong_alone_does_not_reach_it_and_slows_beside_others(found: dict):
    cases = [c for c in found["cases"] if c["workload"] == "pairs_pingpong" and c["bytes"] == 1 << 20]
    alone, _, four = sorted(cases, key=lambda case: case["pairs"])
    assert alone["bandwidth_bytes_per_s"].value == pytest.approx(ONE, rel=0.03)
    assert four["bandwidth_bytes_per_s"].value < NIC
    assert four["slowed"] == "slower" and four["slowdown"].value > 4 * ONE / NIC
