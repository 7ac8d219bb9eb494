# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Congestion on simulated networks, whose ratios follow from max-min sharing.

Two switches of four nodes; every second node is a victim. On the grid of the four victims, two send across
the cable between the switches, two messages each; the two pairs of congestors also cross it."""

from __future__ import annotations

from pathlib import Path

import pytest
from real_mpi import simgrid_here

from hockney import api
from hockney.cli.start import guarded
from hockney.studies.congestion.columns import answer

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]
VICTIM_MESSAGES, CONGESTOR_PAIRS = 4, 2
"""Messages of one halo exchange in one direction over the cable, and pairs of congestors across it."""


def machine(cables: int) -> str:
    return f"""
name = "switches"
title = "Two switches of four nodes"
eager = "0B"

[network]
shape = "fat-tree"
down = [4, 2]
up = [1, {cables}]
cables = [1, 1]
nic = "1GB/s"
link = "1GB/s"

[[segments]]
first = 0
latency_s = "1us"
per_byte_s = "1/(1GB/s)"

[[origins]]
key = "segments"
status = "guess"
source = "made up"

[[origins]]
key = "network"
status = "guess"
source = "made up"
"""


def ratios(
    folder: Path, cables: int, window: int, *words: str, victim: str = "halo", size: str = "1MiB"
) -> dict[str, float]:
    """The ratio of the medians next to each load."""
    simgrid_here()
    (folder / "m.toml").write_text(machine(cables))
    run = [
        "run", "congestion", f"victims={victim}", "share=50%", "allocation=interleaved", "load=1MiB",
        f"window={window}", *words, "--sizes", size, "--ranks", "8", "--assume-network",
        "--machine", f"sim:{folder / 'm.toml'}", "--out", str(folder / "r"), "-q",
    ]  # fmt: skip
    assert guarded(run) == 0
    document = answer(api.load(folder / "r").evidence)
    medians = [row for row in document["quantiles"] if row["quantile"] == 0.5]
    assert all(row["ratio"] is None for row in document["quantiles"] if row["quantile"] != 0.5)
    assert document["is_slowed"] == any(row["verdict"] == "slower" for row in medians)
    return {row["congestor"]: row["ratio"].value for row in medians}


@pytest.mark.parametrize("window", [1, 4])
def test_messages_over_one_cable_share_it(tmp_path: Path, window: int):
    found = ratios(tmp_path, 1, window, "congestors=pairs")
    shared = (VICTIM_MESSAGES + CONGESTOR_PAIRS * window) / VICTIM_MESSAGES
    assert found["pairs"] == pytest.approx(shared, rel=0.05)


def test_an_incast_fills_the_cable_too(tmp_path: Path):
    """Two of its three senders are behind the cable; the network card of their root is as fast as the cable,
    and admits as much of their messages as of the third sender's."""
    found = ratios(tmp_path, 1, 4, "congestors=incast")
    assert found["incast"] == pytest.approx((VICTIM_MESSAGES + 2 * 4) / VICTIM_MESSAGES, rel=0.05)


@pytest.mark.parametrize(("victim", "size"), [("halo", "1MiB"), ("ring", "8B"), ("allreduce", "8B")])
def test_full_bisection_bandwidth_has_no_congestion(tmp_path: Path, victim: str, size: str):
    """Also if the load delays a victim at the start: on a ring, such a skew would never decay."""
    congestors = "congestors=incast,pairs,alltoall,broadcast"
    found = ratios(tmp_path, 4, 4, congestors, victim=victim, size=size)
    assert set(found) == {"incast", "pairs", "alltoall", "broadcast"}
    for ratio in found.values():
        assert ratio == pytest.approx(1.0, abs=0.02)
