# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney doctor measures the noise of a real machine; tests cannot know how much there is."""

from __future__ import annotations

import json

import pytest
from real_mpi import engine_for, mpi_named

from hockney.discovery.cpu import processors

SERIES = {
    "case",
    "cpus",
    "typical_s",
    "fast_s",
    "slow_s",
    "spread",
    "visits",
    "watched_s",
    "preempted",
    "correlation_s",
    "modes",
}


@pytest.mark.slow
@pytest.mark.mpi
def test_the_noise_of_this_machine(hockney, monkeypatch):
    """1 and 2 ranks. A machine too busy for more than a few visits reports that."""
    mpi = mpi_named("openmpi")
    engine_for(mpi)
    monkeypatch.delenv("HOCKNEY_MACHINE")
    said = hockney("doctor", "--mpi", mpi.prefix, "--noise", "1", "--json")
    assert said.code == 0, said.out
    findings = json.loads(said.out)
    found = [finding for finding in findings if finding["subject"] == "noise"]
    codes = [finding["code"] for finding in found]
    of_load = {"machine-quiet", "machine-busy", "load-low", "load-high", "load-unknown"}
    assert len([f for f in findings if f["code"] in of_load]) == 1, "the load is reported once"
    if processors().cores.usable < 2:
        assert codes == ["noise-not-measured"]
        return
    if codes == ["noise-too-few-visits"]:
        return
    times = [f["numbers"] for f in found if f["code"] in ("noise-low", "noise-high")]
    assert times and all(numbers.keys() == SERIES for numbers in times)
    assert all(0 < n["fast_s"] <= n["slow_s"] and n["visits"] >= 40 for n in times)
    assert {n["case"].split()[0] for n in times} <= {"compute", "pingpong"}
    (interference,) = (f["numbers"] for f in found if f["code"] in ("machine-quiet", "machine-busy"))
    assert interference.keys() == {"seconds", "preempted", "outside_cores", "steal"}
    assert 0 <= interference["preempted"] <= 1 and interference["seconds"] >= 1
    for finding in found:
        if finding["code"].startswith("precision-"):
            assert finding["numbers"]["precision"].keys() == {"30", "60", "300"}


def test_the_noise_can_be_left_out(hockney):
    codes = [finding["code"] for finding in json.loads(hockney("doctor", "--no-noise", "--json").out)]
    assert codes == ["fake-machine"]
    codes = [finding["code"] for finding in json.loads(hockney("doctor", "--json").out)]
    assert codes == ["fake-machine", "noise-not-measured"]
