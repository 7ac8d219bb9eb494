# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The study of the NAS benchmarks on a simulated machine: exact, the same each time, and verified."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from real_mpi import simgrid_here

from hockney import api
from hockney.cli.start import guarded
from hockney.core.case import MPI
from hockney.core.fit import ExactValue
from hockney.suites.npb.studies.npb.results import NpbResults

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]
RATE = 1e8
RUN = (
    *("run", "npb", "kernels=is,mg", f"rate={RATE:.0e}", "barrier=mpi,dissemination,tournament"),
    *("--machine", "sim:switched-ethernet", "--ranks", "2", "-q"),
)


def measured(folder: Path, *more: str) -> NpbResults:
    simgrid_here()
    assert guarded([*RUN, *more, "--out", str(folder)]) == 0
    return NpbResults.of(api.load(folder).evidence)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("npb")


@pytest.fixture(scope="module")
def results(folder: Path) -> NpbResults:
    return measured(folder / "r")


def test_everything_is_exact_and_verified(results: NpbResults):
    assert [p.verified for p in results.points] == [True] * 10
    for p in results.barrier_free_points:
        assert isinstance(results.speedup(p), ExactValue)
        if p.ranks == 1:
            assert p.rate.value == pytest.approx(RATE, rel=0.01), "one rank computes at the machine's rate"
            assert p.share("computation") == pytest.approx(1, abs=0.01)
        operations = p.parts["computation"].value * p.ranks * RATE
        assert operations == pytest.approx(p.rate.value * p.time.value, rel=1e-3)


def test_a_barrier_of_more_messages_costs_more(results: NpbResults):
    """Each message takes 1.2 ms, one at a time: on two ranks, dissemination and MPI's barrier exchange two at
    the same time, and a tournament sends one after the other."""
    for kernel in results.kernels:
        of = {e.point.barrier: e for e in results.effects if e.point.kernel == kernel}
        assert of["tournament"].cost.value > of["dissemination"].cost.value
        assert of["dissemination"].gain.value == pytest.approx(1, abs=0.02)
        assert all(e.point.share("barriers") > 0 for e in of.values())
    assert {e.barrier for e in results.mean_effects} == {MPI, "dissemination", "tournament"}


def test_the_same_run_gives_the_same_records(results: NpbResults, folder: Path):
    measured(folder / "again")
    first, second = ((folder / name / "records.jsonl").read_bytes() for name in ("r", "again"))
    assert first == second


def test_without_arithmetic_the_times_are_the_same_and_nothing_is_verified(results: NpbResults, folder: Path):
    without = measured(folder / "none", "arithmetic=none")
    assert {p.verified for p in without.points} == {None}
    for p, q in zip(results.points, without.points, strict=True):
        assert q.time.value == pytest.approx(p.time.value, rel=1e-9)


def test_a_wrong_answer_ends_with_exit_code_1(folder: Path, capsys: pytest.CaptureFixture):
    simgrid_here()
    capsys.readouterr()
    words = ("barrier_at=none", "fault=bit", "--json", "--out", str(folder / "wrong"))
    assert guarded([*RUN, *words]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["answer"]["verified"] is False
    assert [b["verified"] for b in document["answer"]["benchmarks"]] == [False] * 4
    assert any(all(kernel in text for kernel in ("is", "mg")) for text in document["headline"])
