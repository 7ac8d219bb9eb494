# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Real MPI on emulated hosts: congestion of the cable between two switches, and none without a shared cable.

One victim and one congestor are on each switch. In each direction, the victims have two messages on the way,
and a pair of congestors `WINDOW` messages, as long as those of the victims."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hosts import programs

from hockney.cli.start import guarded
from hockney.core.ethernet import Ethernet
from hockney.machines import emulated

pytestmark = [pytest.mark.mpi, pytest.mark.slow(120)]
HOSTS = Ethernet(name="hosts", title="4 hosts", hosts=4, rate=2.5e6, medium="switch", delay_s=5e-6)
VICTIM_MESSAGES, WINDOW = 2, 4


def median_ratio(ethernet: Ethernet, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[float, str]:
    """The ratio of halo exchanges next to pairs, and its verdict."""
    programs()
    path = folder / "hosts.toml"
    path.write_text(emulated.write(ethernet))
    words = [
        "run", "congestion", "victims=halo", "congestors=pairs", "share=50%", "allocation=interleaved",
        "load=8KiB", f"window={WINDOW}", "--sizes", "8KiB", "--machine", f"lan:{path}", "--budget", "60s",
        "--out", str(folder / "r"), "--json", "-q",
    ]  # fmt: skip
    assert guarded(words) in (0, 4)
    rows = json.loads(capsys.readouterr().out)["answer"]["quantiles"]
    (row,) = [row for row in rows if row["quantile"] == 0.5]
    assert row["repetitions"] >= row["needed_repetitions"]
    return row["ratio"]["value"], row["verdict"]


def test_two_switches_share_their_cable(engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    ratio, verdict = median_ratio(msgspec.structs.replace(HOSTS, trunk=0.625e6), tmp_path, capsys)
    shared = (VICTIM_MESSAGES + WINDOW) / VICTIM_MESSAGES
    assert verdict == "slower"
    assert ratio == pytest.approx(shared, rel=0.3)


def test_one_switch_is_not_congested(engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    ratio, verdict = median_ratio(HOSTS, tmp_path, capsys)
    assert verdict != "slower" or ratio < 1.3
