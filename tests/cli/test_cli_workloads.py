# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Workloads that only exist in the catalog, and those of groups: planned, measured, shown and exported."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from hockney import api, build, measurement
from hockney.core.catalog import Metric, Parameter, Workload
from hockney.core.program_cases import REPLAY
from hockney.launch.fake_world import World
from hockney.measurement.kinds import fake
from hockney.store import RunFolder
from hockney.system.bundled import bundled_catalog

SIZE = Parameter("length", "integer", "B", "8", 0, 1e9, [], "bytes of the grid")
SYNC = Parameter("sync", "choice", "", "barrier", 0, 0, ["barrier", "window"], "how ranks start together")
THING = Workload(
    name="thing",
    help="a kernel that nobody has heard of",
    time="the maximum over the ranks",
    min_ranks=1,
    max_ranks=0,
    parameters=[SIZE, SYNC],
    role="kernel",
    operation="relax",
    size="length",
    group="thing-engine",
    metrics=[
        Metric("sweeps", "", "max", "record", False, "until the residual was small"),
        Metric("traffic", "B", "sum", "repetition", False, "bytes sent"),
        Metric("waiting", "s", "each", "repetition", False, "time in MPI_Wait"),
        Metric("computing", "s", "max", "repetition", True, "updating the grid"),
        Metric("exchanging", "s", "max", "repetition", True, "halo exchange"),
    ],
)
TREE = msgspec.structs.replace(
    THING, name="tree", role="collective", operation="bcast", metrics=[], min_ranks=2
)
ODD = msgspec.structs.replace(THING, name="odd", role="unheard-of", operation="", size="", metrics=[])


def extend_catalog(patch: pytest.MonkeyPatch) -> None:
    bundled = bundled_catalog()
    made = msgspec.structs.replace(bundled, workloads=[*bundled.workloads, THING, TREE, ODD])
    patch.setattr(fake, "bundled_catalog", lambda: made)


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    lines = [f"thing length={n} ranks=4" for n in (64, 1024)]
    lines += [f"tree length={n} ranks={p}" for n in (8, 4096) for p in (2, 4)]
    folder = tmp_path_factory.mktemp("new") / "kept"
    with pytest.MonkeyPatch.context() as patch:
        extend_catalog(patch)
        api.run((*lines, "odd ranks=2"), api.RunOptions(machine="fake", seed=1), out=folder)
    return folder


@pytest.fixture
def folder(hockney, kept: Path) -> RunFolder:
    """The run in r."""
    return RunFolder.open(Path(shutil.copytree(kept, "r")))


def test_the_run_keeps_what_the_catalog_says_of_its_workloads(folder):
    kept = folder.catalog()
    assert kept is not None and kept.workloads == [THING, TREE, ODD]


def test_metrics_are_summarised_with_their_intervals(folder, hockney):
    document = json.loads(hockney("models", "r", "--json").out)
    assert {w["name"]: w["role"] for w in document["workloads"]} == {
        w.name: w.role for w in (THING, TREE, ODD)
    }
    summary = next(s for s in document["summaries"] if s["case"].startswith("thing length=64 "))
    metrics = summary["metrics"]
    assert list(metrics) == [metric.name for metric in THING.metrics]
    assert metrics["sweeps"]["typical"]["value"] == pytest.approx(World.made_up_value("sweeps"))
    assert metrics["traffic"]["unit"] == "B" and metrics["traffic"]["over_ranks"] == "sum"
    wait = World.made_up_value("waiting")
    assert metrics["waiting"]["typical"]["value"] == pytest.approx(wait)
    assert metrics["waiting"]["by_rank"] == pytest.approx([wait / 4, wait / 2, 3 * wait / 4, wait])
    parts = [metrics[name]["typical"] for name in ("computing", "exchanging")]
    assert sum(part["value"] for part in parts) == pytest.approx(summary["typical"]["value"], rel=0.01)
    assert all(part["low"] < part["value"] < part["high"] for part in parts)


def test_metrics_are_listed_in_the_terminal_and_in_the_document(hockney, monkeypatch):
    extend_catalog(monkeypatch)
    done = hockney(
        "run", "thing length=64 ranks=4", "tree length=8 ranks=2", "--seed", "1", "-q", "--out", "r"
    )
    lines = [re.split(" {2,}", line.strip()) for line in done.out.splitlines()]
    first = lines.index(["metric", "typical", "95% interval"]) + 1
    assert lines[first] == ["thing length=64 ranks=4 sync=barrier"]
    listed = lines[first + 1 : first + 1 + len(THING.metrics)]
    names = [metric.name for metric in THING.metrics]
    assert [name.split()[0] for name, _, _ in listed] == names
    assert all(" to " in interval for _, _, interval in listed)
    assert lines[first + 1 + len(THING.metrics)] == [""]
    summaries = json.loads(hockney("resume", "r", "-q", "--json").out)["summaries"]
    (summary,) = (each for each in summaries if each["case"].startswith("thing "))
    assert list(summary["metrics"]) == names


def test_a_workload_is_fitted_by_its_role(folder, hockney):
    fits = json.loads(hockney("models", "r", "--json").out)["fits"]
    assert {(fit["model"], fit["subject"]) for fit in fits} == {
        ("logarithmic", "tree sync=barrier"),
        ("linear", "tree sync=barrier"),
    }
    assert sum(fit["preferred"] for fit in fits) == 1


def test_the_report_has_tables_of_metrics_and_phases(folder):
    page = page_of(folder)
    tables = {table.name: table for section in page.sections for table in section.tables if section.figures}
    assert len(tables["metrics"].rows) == len(tables["phases"].rows) == 2
    assert len(tables["metrics"].columns) == 1 + 3 and len(tables["phases"].columns) == 2 + 2
    figures = [figure for section in page.sections for figure in section.figures]
    against_size = [f for f in figures if f.x.unit == "B" and f.y.unit == "s"]
    assert {len(series.x) for f in against_size for series in f.series if series.kind == "points"} == {2}


def page_of(folder: RunFolder):
    return api.load(folder.path).page


def test_metrics_are_columns_of_both_exports(folder, hockney):
    assert hockney("export", "r", "--csv", "all.csv").code == 0
    rows = [
        row for row in csv.DictReader(io.StringIO(Path("all.csv").read_text())) if row["workload"] == "thing"
    ]
    for row in rows:
        phases = float(row["metric_computing_s"]) + float(row["metric_exchanging_s"])
        assert phases == pytest.approx(float(row["time_s"]))
        assert float(row["metric_sweeps"]) == pytest.approx(World.made_up_value("sweeps"))
        assert float(row["metric_waiting_s_rank3"]) == pytest.approx(World.made_up_value("waiting"))
    assert hockney("export", "r", "--what", "summaries", "--csv", "cases.csv").code == 0
    for row in csv.DictReader(io.StringIO(Path("cases.csv").read_text())):
        assert (row["metric_traffic_bytes"] != "") == (row["workload"] == "thing")


def test_an_unheard_of_role_is_measured_and_shown(folder):
    cases = [
        row
        for section in page_of(folder).sections
        for t in section.tables
        if t.name == "cases"
        for row in t.rows
    ]
    assert any(row[0].startswith("odd ") for row in cases)


def test_they_are_listed_with_their_parameters_before_they_are_compiled(hockney):
    listed = json.loads(hockney("run", "--list", "--json").out)
    described = {w["name"]: w for w in listed["workloads"]}
    for group, names in build.groups(build.source_folder()).items():
        assert listed["groups"][group] == list(names)
        assert {described[name]["group"] for name in names} == {group}
    first_words = {line.split(" ", 1)[0] for line in hockney("run", "--list").out.splitlines()}
    assert set(described) <= first_words


def test_no_two_workloads_have_one_name():
    names = [
        w.name
        for catalog in (measurement.bundled_catalog(), *measurement.bundled_groups())
        for w in catalog.workloads
    ]
    assert len(names) == len(set(names))


def test_a_survey_measures_none_of_them(hockney):
    cases = json.loads(hockney("plan", "survey", "--json").out)["cases"]
    listed = {name for names in build.groups(build.source_folder()).values() for name in names}
    assert not listed & {line.split()[0] for line in cases}


FAST = ("annealing", "npb", "onesided")
"""Groups whose pages the fast tier renders."""


def catalogs() -> list[object]:
    each = [catalog for catalog in measurement.bundled_groups() if catalog.workloads[0].name != REPLAY]
    names = [catalog.workloads[0].group.removeprefix("hockney-") for catalog in each]
    return [
        pytest.param(catalog, id=name, marks=() if name in FAST else pytest.mark.slow)
        for catalog, name in zip(each, names, strict=True)
    ]


@pytest.mark.page
@pytest.mark.parametrize("catalog", catalogs())
def test_every_one_of_them_is_on_the_page_with_its_metrics(hockney, catalog):
    done = hockney("run", *(w.name for w in catalog.workloads), "--ranks", "2", "--out", "r", "-q", "--json")
    summaries = {s["case"].split()[0]: s for s in json.loads(done.out)["summaries"]}
    page = Path("r/report.html").read_text()
    for workload in catalog.workloads:
        typical = {metric.name for metric in workload.metrics if metric.per != "superstep"}
        assert set(summaries[workload.name]["metrics"]) == typical
        assert workload.name in page
