# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measurements that a run has lost: they are missed, and a resumed run measures them and nothing else."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from measured_runs import begin
from msgspec.structs import replace as replace_fields
from tiers import slow

from hockney import api, measurement
from hockney.core.record import Record, RunRecords
from hockney.launch.fake import FakeLauncher
from hockney.store import RunFolder, expected_items, missing_items, salvage, unmeasured_items

SIZES = [0, *(1 << k for k in range(23))]
LINES = [*(f"pingpong bytes={size}" for size in SIZES), "bcast ranks=4", "bcast ranks=4 bytes=64"]


@dataclass(frozen=True)
class Made:
    """A run measured by `bench`, and the launches it had."""

    folder: RunFolder
    bench: measurement.Bench
    launches: list[measurement.LaunchBegan]


def made(path: Path, extend: bool = True, budget: float = 300.0) -> Made:
    """A complete run to which sizes were added after its second, fourth and sixth of ten rounds."""
    settings = {"budget_s": budget, "launches": 10, "extend": extend, "refine": True}
    folder, bench = begin(path, LINES, study="survey", **settings)
    events: list = []
    measurement.measure(folder, bench, events.append)
    return Made(folder, bench, launches_of(events))


def launches_of(events: list) -> list[measurement.LaunchBegan]:
    return [event for event in events if isinstance(event, measurement.LaunchBegan)]


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Made:
    return made(tmp_path_factory.mktemp("runs") / "kept")


@pytest.fixture
def complete(kept: Made, tmp_path: Path) -> Made:
    """That run, copied."""
    return replace(kept, folder=RunFolder.open(shutil.copytree(kept.folder.path, tmp_path / "r")))


def index_of(run: RunRecords) -> dict[str, int]:
    return {launch.launch: launch.index for launch in run.launches}


def without(run: RunRecords, lost: Record) -> RunRecords:
    return replace(run, records=tuple(record for record in run.records if record is not lost))


def salvaged(folder: RunFolder, lost: Record, into: Path) -> RunFolder:
    """What is left of the run without the line of `lost`."""
    lines = folder.records_path.read_bytes().splitlines(keepends=True)
    number = folder.read().lines[folder.read().run.records.index(lost)]
    del lines[number - 1]
    folder.records_path.write_bytes(b"".join(lines))
    return salvage(folder, into).folder


def records_of(run: RunRecords, added: bool, planned: set[str]) -> list[Record]:
    return [record for record in run.records if (record.case not in planned) == added]


@pytest.mark.parametrize("extend", [True, *slow(False)])
def test_every_single_loss_is_missed(request, tmp_path, extend):
    folder = (request.getfixturevalue("kept") if extend else made(tmp_path / "r", extend)).folder
    plan, run = folder.plan(), folder.read().run
    assert not missing_items(plan, run) and not unmeasured_items(plan, run)
    planned, index = {case.line for case in plan.cases}, index_of(run)
    first: dict[str, int] = {}
    for record in records_of(run, True, planned):
        first.setdefault(record.case, index[record.launch])
    assert {4, 8} <= set(first.values()) <= {4, 8, 12}, "launches of 2 ranks after 2, 4 and 6 of 10 rounds"
    for record in run.records:
        if index[record.launch] in {item.launch for item in plan.items}:
            lost = missing_items(plan, without(run, record))
            assert [(i.launch, i.case.line) for i in lost] == [(index[record.launch], record.case)]
    assert len(expected_items(plan, run)) == len(plan.items) + sum(10 - n // 2 for n in first.values())


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("nth", [0, 17])
def test_a_resumed_run_measures_what_was_lost_and_nothing_else(complete, tmp_path, added, nth):
    folder = complete.folder
    run = folder.read().run
    planned = {case.line for case in folder.plan().cases}
    lost = records_of(run, added, planned)[nth]
    whole = salvaged(folder, lost, tmp_path / "s")
    codes = {finding.code: finding.numbers for finding in api.verify(whole.path)}
    assert codes["measurements-missing"] == {"left": 1, "planned": len(expected_items(folder.plan(), run))}
    events = []
    outcome = measurement.measure(whole, complete.bench, events.append)
    assert (outcome.measured_count, outcome.missing_count) == (1, 0)
    began = next(event for event in events if isinstance(event, measurement.MeasuringBegan))
    (launch,) = launches_of(events)
    assert (began.measurements, launch.cases) == (1, 1)
    usual = [x.budget_s / x.cases for x in complete.launches]
    assert min(usual) / 2 < launch.budget_s < 2 * max(usual), "as long as in the whole run"
    after = whole.read().run
    assert [r.case for r in after.records].count(lost.case) == [r.case for r in run.records].count(lost.case)
    assert len(after.records[-1].times_s) >= 0.5 * len(lost.times_s)
    assert "measurements-missing" not in {finding.code for finding in api.verify(whole.path)}


def test_a_single_measurement_has_more_time_than_its_share(tmp_path):
    """In a whole launch, a long case uses the time that others leave."""
    short = made(tmp_path / "r", budget=20.0)
    whole = salvaged(short.folder, short.folder.read().run.records[3], tmp_path / "s")
    events: list = []
    measurement.measure(whole, short.bench, events.append)
    (launch,) = launches_of(events)
    assert (launch.launch, launch.cases) == ("0.1", 1) and 0.15 < launch.budget_s < 0.25


def test_a_run_that_lost_lines_of_two_launches_gets_no_new_sizes(complete, tmp_path):
    folder = complete.folder
    run, index = folder.read().run, index_of(folder.read().run)
    lost = [next(r for r in run.records if index[r.launch] == n) for n in (0, 4)]
    once = salvaged(folder, lost[0], tmp_path / "s")
    twice = salvaged(once, next(r for r in once.read().run.records if r == lost[1]), tmp_path / "t")
    assert measurement.measure(twice, complete.bench, lambda event: None).measured_count == 2
    assert {r.case for r in twice.read().run.records} == {r.case for r in run.records}


def test_a_launch_that_ran_out_of_time_has_lost_nothing(tmp_path):
    """Its cases are left, and 'resume' measures them, but the number of launches is only a target."""
    slow = FakeLauncher(case_s=0.05)
    folder, bench = begin(tmp_path / "r", LINES, slow, budget_s=12.0, launches=10, extend=True)
    outcome = measurement.measure(folder, bench, lambda event: None)
    plan, run = folder.plan(), folder.read().run
    assert outcome.missing_count == 0 and unmeasured_items(plan, run)
    last = run.launches[-1].index
    assert any(item.launch == last for item in unmeasured_items(plan, run)), "the last launch was cut off"
    assert run.closes[-1].reason == "time" and not missing_items(plan, run)
    whole = (*run.closes[:-1], replace_fields(run.closes[-1], reason=""))
    assert {item.launch for item in missing_items(plan, replace(run, closes=whole))} == {last}
