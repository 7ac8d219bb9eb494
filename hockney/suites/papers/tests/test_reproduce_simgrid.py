# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The fast reproductions through smpirun, 1 to 16 simulated ranks: their limits, and that they are reported.
The benchmarks of the switched Ethernet have their smallest size, except in the slow test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from paper_answers import documented
from real_mpi import simgrid_here

from hockney.store import RunFolder
from hockney.suites.npb.reproductions import ethernet_kernels
from hockney.suites.papers.reproductions import sun

pytestmark = pytest.mark.simgrid


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """reproduced("sun", capsys): computed once."""
    simgrid_here()
    folder = tmp_path_factory.mktemp("reproduced")
    made: dict[str, dict] = {}
    small = {name: replace(each, size="S") for name, each in ethernet_kernels.BENCHMARKS.items()}

    def once(name: str, capsys: pytest.CaptureFixture[str]) -> dict:
        if name not in made:
            with pytest.MonkeyPatch.context() as patch:  # not for tests that run in between
                patch.setattr(ethernet_kernels, "BENCHMARKS", small)
                made[name] = documented(name, folder, capsys)
        return made[name]

    return once


def test_every_limit_of_the_bus_holds(reproduced, capsys):
    document = reproduced("sun", capsys)
    assert [check["found"] for check in document["checks"] if not check["holds"]] == []
    assert document["code"] == 0 and document["left"] == 0


@pytest.mark.slow(30)
def test_the_barriers_of_the_switched_ethernet_are_as_printed_and_its_benchmarks_verify(reproduced, capsys):
    document = reproduced("ethernet", capsys)
    held = {check["code"]: check["holds"] for check in document["checks"]}
    assert held["message"] and held["barriers-of-messages"]
    assert held["tournament-one-message"] and not held["tournament-single-messages"]
    assert not held["tournament-wins-broadcast"] and not held["tournament-wins"], "a tree is as fast"
    assert document["left"] == 0
    kernels = RunFolder.open(Path(document["out"]) / ethernet_kernels.KERNELS).read().run
    assert len(kernels.records) == len(ethernet_kernels.BENCHMARKS) * len(ethernet_kernels.PROCESSES)
    for record in kernels.records:
        assert record.verified.bytes > 0 and record.verified.errors == 0
        assert record.verified.runs == record.verified.of_runs == record.parse_case().ranks
    skeleton = RunFolder.open(Path(document["out"]) / ethernet_kernels.SWITCH).read().run
    assert {record.verified.bytes for record in skeleton.records} == {0}


@pytest.mark.slow(60)
def test_of_five_speed_ups_one_is_as_the_paper_states(tmp_path, capsys):
    """Messages of 1.2 ms cost too much for the others, whichever way they pass."""
    simgrid_here()
    document = documented("ethernet", tmp_path, capsys)
    assert document["code"] == 1 and document["left"] == 0
    held = {check["code"]: check["holds"] for check in document["checks"]}
    assert [name for name in ethernet_kernels.BENCHMARKS if held[f"speed-up-{name}"]] == ["ep"]
    rows = [row for row in document["compared"] if row["key"].startswith("barriers/speedup/")]
    medium = {row["key"].split("/")[2]: row["simulated"] for row in rows if not row["mechanism"]}
    switch, four = (
        {row["key"].split("/")[2]: row["simulated"] for row in rows if row["mechanism"] == title}
        for _, title in (
            ethernet_kernels.NETWORKS[name] for name in (ethernet_kernels.SWITCH, ethernet_kernels.FOUR)
        )
    )
    assert medium["ep"] > 15 and switch["ep"] > 15 and four["ep"] > 15
    assert 3 < medium["bt"] < switch["bt"] < 9
    for name in ("cg", "mg", "lu"):
        assert medium[name] < switch[name] < 6.4, name


def errors(document: dict, status: str, start: str = "") -> dict[str, float]:
    rows = [row for row in document["compared"] if row["status"] == status and row["key"].startswith(start)]
    return {row["key"]: row["error"] for row in rows if not start or row["table"]}


def test_the_exchange_is_right_at_a_hundred_words_for_its_bus_alone(reproduced, capsys):
    """At L = 100, whole messages taking turns, and slipping apart, are visible; starting with a barrier is
    good enough."""
    document = reproduced("sun", capsys)
    key = "granularity/formula/exchange/4/100"
    found = {row["mechanism"]: row["error"] for row in document["compared"] if row["key"] == key}
    assert abs(found.pop("")) < 0.03
    assert abs(found.pop(sun.VARIANTS["barrier"][2])) < 0.03
    assert len(found) > 1 and all(error < -0.04 for error in found.values()), found


@pytest.mark.slow(30)
def test_a_switch_would_make_barriers_far_too_fast(reproduced, capsys):
    found = errors(reproduced("ethernet", capsys), "variant", "barriers/table/mpi/")
    several = [error for key, error in found.items() if not key.endswith("/1")]
    assert all(error < -0.8 for error in several) and len(several) == 7
