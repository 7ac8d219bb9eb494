# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The functions of the command line, from Python."""

from __future__ import annotations

import copy
import csv
import pickle
from pathlib import Path

import pytest
from msgspec.structs import replace

from hockney import api, build, measurement, models
from hockney.api.questions import parse_question
from hockney.core.errors import UsageError
from hockney.measurement import CaseEnded, MeasuringBegan
from hockney.measurement.kinds import fake
from hockney.pages import point_to_point
from hockney.system.bundled import bundled_catalog

FAKE = api.RunOptions(machine="fake", seed=1, budget=5.0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("api") / "r"
    events: list[object] = []
    run = api.run("pingpong bytes=0:1MiB", FAKE, out=path, listen=events.append)
    assert run.outcome is not None and run.outcome.missing_count == 0 and not run.wrong
    began = next(event for event in events if isinstance(event, MeasuringBegan))
    assert sum(isinstance(event, CaseEnded) for event in events) == began.measurements
    return path


def test_a_run_is_read(folder):
    run = api.load(folder)
    assert run.outcome is None and run.settings.study == "cases" and run.machine.kind == "fake"
    assert len(run.records) == 3 * len(run.summaries) == run.evidence.planned_count
    assert run.fits.select("hockney", "pingpong") and run.page.sections
    assert run.fits.select_by_role("hockney", "point-to-point", "send") == run.fits.select(
        "hockney", "pingpong"
    )
    assert not run.fits.select_by_role("hockney", "stream")
    assert {caveat.code for caveat in run.caveats} - {"precision"} == {"fake"}
    assert run.fits == measurement.load_results(run.folder).fits


def test_a_run_in_another_process_is_read_there(folder, monkeypatch):
    """It is a reference to its folder, also for a process that started elsewhere."""
    monkeypatch.chdir(folder.parent)
    run = api.load(folder.name)
    assert run.page and run.fits
    sent = pickle.dumps(run)
    assert len(sent) < 2000
    monkeypatch.chdir("/")
    received = pickle.loads(sent)
    assert received.summaries == run.summaries and received.path == folder
    assert copy.deepcopy(api.load(folder, "undisturbed")).cost == "undisturbed"


def test_a_second_workload_of_a_kind_has_its_own_series(tmp_path, monkeypatch):
    catalog = bundled_catalog()
    again = replace(catalog.workload("isend_recv"), name="other_isend")
    more = replace(catalog, workloads=[*catalog.workloads, again])
    monkeypatch.setattr(fake, "bundled_catalog", lambda: more)
    run = api.run(["isend_recv bytes=8:64", "other_isend bytes=8:64"], FAKE, out=tmp_path / "r")
    section = point_to_point.section(run.evidence)
    assert section is not None
    assert [s.name for s in section.figures[0].series] == [
        "nonblocking send, blocking receive",
        "other_isend, hot",
    ]


def test_repetitions_are_exported_without_any_fit(folder, tmp_path, monkeypatch):
    def fit_all(*args: object, **more: object) -> None:
        raise AssertionError("nothing needs a model")

    monkeypatch.setattr(models, "fit_all", fit_all)
    run = api.load(folder)
    with open(run.export(tmp_path / "t.csv"), newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == sum(len(record.times_s) for record in run.records)
    with pytest.raises(UsageError):
        run.export(tmp_path / "t.xls")
    monkeypatch.setenv("HOCKNEY_CACHE", str(tmp_path / "cache"))  # stored fits have another user's key
    with pytest.raises(AssertionError):
        run.export(tmp_path / "t.csv", "summaries")


@pytest.mark.parametrize(
    ("folder", "executable"), [("patterns", "hockney-engine"), ("kernels", "hockney-kernels")]
)
def test_a_workload_that_only_the_sources_have(tmp_path, monkeypatch, folder, executable):
    """The fake machine knows the golden catalogs, which have to be written again."""
    (tmp_path / folder).mkdir()
    if executable != build.MAIN:
        (tmp_path / folder / "group.cmake").touch()
    (tmp_path / folder / "fresh.cpp").write_text("extern constinit const WorkloadInfo fresh{\n")
    monkeypatch.setattr(build, "source_folder", lambda: tmp_path)
    with pytest.raises(UsageError) as caught:
        api.run("fresh bytes=8", FAKE, out=tmp_path / "r")
    assert (caught.value.code, caught.value.suggestion) == ("workload-not-in-catalog", "")
    assert caught.value.fields == {"name": "fresh", "executable": executable}


def test_files_in_cases_get_their_whole_path(tmp_path, monkeypatch):
    """Ranks may be started in another folder."""
    monkeypatch.chdir(tmp_path)
    asked = parse_question(["annealing instance=file:a.tsp,file:/b/c.tsp,gr17 size=9"])
    assert asked.cases == (f"annealing instance=file:{tmp_path}/a.tsp,file:/b/c.tsp,gr17 size=9",)
    (tmp_path / "with space").mkdir()
    monkeypatch.chdir(tmp_path / "with space")
    assert parse_question(["annealing instance=file:a.tsp"]).cases == ("annealing instance=file:a.tsp",)
