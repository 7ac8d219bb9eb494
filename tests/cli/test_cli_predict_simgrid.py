# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The predicted time of an exchange compared with the engine's on the simulated machine."""

from __future__ import annotations

import json

import pytest
from real_mpi import simgrid_here
from tiers import slow

from hockney.core.case import parse_canonical

pytestmark = pytest.mark.simgrid

MACHINES = {"sun-ethernet": 0.04, "switched-ethernet": 0.07, "paragon": 0.01, "t3e": 0.01}
"""The largest accepted error: see docs/models.md."""


def test_a_plan_for_a_simulated_machine_compiles_nothing(hockney, monkeypatch, tmp_path):
    simgrid_here()
    monkeypatch.delenv("HOCKNEY_MACHINE")
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))
    planned = json.loads(hockney("plan", "survey", "--machine", "sim:t3e", "--json").out)
    assert planned["cases"] and not (tmp_path / "cache" / "engine").exists()
    of_group = hockney("plan", "ibarrier ranks=4", "--machine", "sim:t3e")
    assert of_group.code == 0 and not (tmp_path / "cache" / "engine").exists()


@pytest.mark.parametrize("name", ["t3e", *slow("sun-ethernet", "switched-ethernet", "paragon")])
def test_the_exchange_takes_what_the_simulator_does(hockney, monkeypatch, name):
    simgrid_here()
    monkeypatch.delenv("HOCKNEY_MACHINE")
    words = ("round_robin bytes=0,4000,40000 sync=window", "--ranks", "2,3,4,8", "--machine", f"sim:{name}")
    run = json.loads(hockney("run", *words, "-q", "--json").out)
    assert len(run["summaries"]) == 12
    for summary in run["summaries"]:
        case = parse_canonical(summary["case"])
        asked = ("--message", str(case.bytes), "--ranks", str(case.ranks), "--machine", name)
        found = json.loads(hockney("predict", "--work", "1s", *asked, "--json").out)
        (row,) = found["ranks"]
        exchange = row["time_s"]["value"] - 1 / case.ranks
        assert exchange == pytest.approx(summary["typical"]["value"], rel=MACHINES[name]), summary["case"]


def test_a_simulated_run_predicts_as_its_description(hockney, monkeypatch):
    simgrid_here()
    monkeypatch.delenv("HOCKNEY_MACHINE")
    words = ("run", "pingpong bytes=0:64KiB", "--machine", "sim:switched-ethernet", "--out", "runs/sim", "-q")
    assert hockney(*words).code == 0
    asked = ("predict", "--work", "1s", "--message", "4kB", "--ranks", "2,4,8", "--json")
    measured = json.loads(hockney(*asked, "--run", "runs/sim").out)
    described = json.loads(hockney(*asked, "--machine", "switched-ethernet").out)
    for one, other in zip(measured["ranks"], described["ranks"], strict=True):
        assert one["time_s"]["value"] == pytest.approx(other["time_s"]["value"], rel=1e-6)
    assert measured["machine"]["network"] == "medium"
    assert [doubt["code"] for doubt in measured["doubts"]] == ["simulated"]
    assert hockney(*asked[:-1], "--run", "runs/sim", "--ranks", "17").code == 2
    assert hockney(*asked[:-1]).code == 4, "a simulated run is not this machine's newest survey"
