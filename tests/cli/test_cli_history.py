# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney history, from command line to exit code, on runs of the fake machine on different days."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as xml

import pytest
from resealed import reseal

from hockney import api
from hockney.api.judgements.history import History

QUESTION = ("pingpong bytes=8", "barrier")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs, 40 days apart, and an archive of the first two."""
    place = tmp_path_factory.mktemp("measured")
    for k, label in enumerate(("old stack", "old stack", "new stack")):
        machine = f"fake:seed={k + 1};day={40 * k}"
        options = api.RunOptions(machine=machine, launches=2, budget=3.0, seed=1, label=label)
        api.run(QUESTION, options, out=place / f"run-{k}")
    return place


@pytest.fixture
def runs(hockney, kept: Path) -> None:
    """Those runs in runs/, and the first two in the archive history/."""
    shutil.copytree(kept, "runs")
    assert hockney("history", "add", "runs/run-0", "runs/run-1", "-q").code == 0


def listed(said) -> list[str]:
    assert said.code == 0, said.err
    return [run["label"] for run in json.loads(said.out)["runs"]]


def test_added_runs_are_listed(hockney, runs):
    said = hockney("history", "add", "runs", "--json")
    added = json.loads(said.out)["added"]
    assert said.code == 0 and [each["new"] for each in added] == [False, False, True]
    assert listed(hockney("history", "list", "--json")) == ["old stack", "old stack", "new stack"]
    table = hockney("history", "list").out
    assert all(each["run"] in table for each in added) and "2023-11-14" in table


def test_lists_are_filtered(hockney, runs):
    hockney("history", "add", "runs/run-2")
    every = ["old stack", "old stack", "new stack"]
    for words, expected in (
        (("--label", "old*"), every[:2]),
        (("--label", "new stack"), every[2:]),
        (("--machine", "FAKE*"), every),
        (("--machine", "node7"), []),
        (("--study", "cases"), every),
        (("--study", "survey"), []),
        (("--since", "2023-12-01"), every[1:]),
        (("--since", "2023-12-24T22:00+00:00", "--label", "old stack"), every[1:2]),
        (("--since", "1d"), []),
    ):
        assert listed(hockney("history", "list", "--json", *words)) == expected, words


def test_another_archive(hockney, runs, monkeypatch):
    hockney("history", "add", "runs/run-2", "--archive", "elsewhere")
    assert listed(hockney("history", "list", "--json", "--archive", "elsewhere")) == ["new stack"]
    monkeypatch.setenv("HOCKNEY_ARCHIVE", "elsewhere")
    assert listed(hockney("history", "list", "--json")) == ["new stack"]


@pytest.mark.parametrize("at_s", [2.2e9, 1e300])
def test_a_run_from_the_future_is_reported_and_left_out(hockney, runs, at_s):
    """Otherwise it would stay the newest one, and be kept in place of real ones."""
    before = listed(hockney("history", "list", "--json"))
    records = Path("runs/run-2/records.jsonl")
    records.write_text(re.sub(r'"started_s":[\d.e+]+', f'"started_s":{at_s}', records.read_text()))
    reseal(Path("runs/run-2"))
    hockney("history", "add", "runs/run-2")
    said = hockney("history", "list", "--json")
    document = json.loads(said.out)
    assert listed(said) == before and [each["label"] for each in document["future"]] == ["new stack"]
    (future,) = (each["name"] for each in document["future"])
    assert future in said.err and Path("history", future).is_dir()
    removed = json.loads(hockney("history", "prune", "--keep-last", "1", "--json").out)
    assert future not in str(removed["removed"]) and Path("history", future).is_dir()
    assert len(listed(hockney("history", "list", "--json"))) == 1
    assert hockney("history", "check", future).error is None


@pytest.fixture(scope="module")
def kept_series(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of 18 daily runs; from the tenth on pingpong takes 1.2 times as long. Three later runs: a
    usual one, a slow one, and one in which a case fails."""
    place = tmp_path_factory.mktemp("series")
    cases = ("pingpong bytes=8,64", "barrier")
    machines = [f"fake:seed={k};day={k}{';slow=pingpong:1.2' if k >= 10 else ''}" for k in range(18)]
    machines += [
        "fake:seed=30;day=30;slow=pingpong:1.2",
        "fake:seed=31;day=31;slow=pingpong:1.2;slow=barrier:1.3",
        "fake:seed=32;day=32;slow=pingpong:1.2;refuse=barrier",
    ]
    names = [f"run-{k:02}" for k in range(18)] + ["usual", "slow", "failing"]
    for name, machine in zip(names, machines, strict=True):
        options = api.RunOptions(machine=machine, launches=3, budget=3.0, seed=1)
        api.run(cases, options, out=place / name)
    History(place / "history").add(*(place / name for name in names[:18]))
    return place


@pytest.fixture
def series(hockney, kept_series: Path, monkeypatch) -> None:
    """That archive as history/, and the later runs as runs/usual, runs/slow and runs/failing."""
    shutil.copytree(kept_series / "history", "history")
    for name in ("usual", "slow", "failing"):
        shutil.copytree(kept_series / name, f"runs/{name}")


def test_a_change_is_shown_with_its_date(hockney, series):
    document = json.loads(hockney("history", "show", "--json").out)
    changes = {each["operation"]: each["changes"] for each in document["series"]}
    assert changes["barrier"] == [] and document["runs"] == 18
    (change,) = changes["pingpong"]
    runs = {run["name"]: run for run in json.loads(hockney("history", "list", "--json").out)["runs"]}
    assert list(runs).index(change["run"]) == 10
    assert (
        change["ratio_low"] < 1.2 < change["ratio_high"]
        and change["at_s"] == runs[change["run"]]["started_s"]
    )
    said = hockney("history", "show", "pingpong")
    assert said.code == 0 and "2023-11-24" in said.out and said.out.count("pingpong bytes=") >= 2
    one = json.loads(hockney("history", "show", "pingpong", "bytes=64B", "ranks=2", "--json").out)
    assert [each["case"].split()[0] for each in one["series"]] == ["pingpong"]
    assert all(p["value_low_s"] < p["value_s"] < p["value_high_s"] for p in one["series"][0]["points"])


def test_a_usual_run_passes(hockney, series):
    said = hockney("history", "check", "runs/usual", "--json")
    document = json.loads(said.out)
    assert said.code == 0 and document["verdict"] == "usual" and document["earlier_runs"] == 18
    (pingpong,) = (each for each in document["operations"] if each["operation"] == "pingpong")
    assert pingpong["runs"] == 8 and pingpong["since_s"] is not None
    hockney("history", "add", "runs/usual")
    again = json.loads(hockney("history", "check", "--json").out)
    assert again["operations"] == document["operations"]


def test_a_slow_run_fails_at_its_operation(hockney, series):
    said = hockney("history", "check", "runs/slow", "--json")
    document = json.loads(said.out)
    assert said.code == 1 and document["verdict"] == "slower"
    assert {e["operation"]: e["verdict"] for e in document["operations"]} == {
        "barrier": "slower",
        "pingpong": "usual",
    }
    xml_ = hockney("history", "check", "runs/slow", "--format", "junit").out
    assert xml.fromstring(xml_).get("failures") == "1"
    markdown = hockney("history", "check", "runs/slow", "--format", "markdown").out
    assert markdown.startswith("**") and "| barrier" in markdown
    assert hockney("history", "check", "runs/slow", "--tolerance", "40%", "-q").code == 0
    table = hockney("history", "check", "runs/slow")
    assert table.code == 1 and "slower" in table.out


def test_a_failed_case_is_inconclusive(hockney, series):
    said = hockney("history", "check", "runs/failing", "--json")
    failed = json.loads(said.out)["failed"]
    assert said.code == 4 and {each["case"].split()[0] for each in failed} == {"barrier"}


def test_wrong_data_is_an_answer_no(hockney, series):
    hockney("run", "barrier", "pingpong", "bytes=8,64", "--machine", "fake:corrupt=pingpong;day=40", "-q",
            "--launches", "3", "--budget", "3", "--out", "runs/wrong")  # fmt: skip
    said = hockney("history", "check", "runs/wrong", "--json")
    assert said.code == 1 and json.loads(said.out)["wrong_records"] > 0
    assert hockney("compare", "runs/usual", "runs/wrong", "-q").code == 1


@pytest.mark.page
def test_pages(hockney, series):
    hockney("history", "show", "pingpong", "--report", "show.html", "-q")
    hockney("history", "check", "runs/slow", "--report", "check.html", "-q")
    for name in ("show.html", "check.html"):
        assert "<html" in Path(name).read_text("utf-8")


def test_runs_are_pruned_by_rule(hockney, series):
    names = [run["name"] for run in json.loads(hockney("history", "list", "--json").out)["runs"]]
    for words, kept in (
        (("--keep-last", "3"), names[-3:]),
        (("--keep-daily", "2", "--keep-last", "1"), names[-2:]),
        (("--older-than", "2023-11-20"), names[6:]),
        (("--older-than", "2023-11-20", "--keep-monthly", "1"), names[6:]),
        (("--older-than", "2023-11-20", "--keep-last", "17"), names[1:]),
        (("--keep-last", "1", "--machine", "node7"), names),
    ):
        said = json.loads(hockney("history", "prune", *words, "--dry-run", "--json").out)
        assert said["removed"] == [name for name in names if name not in kept], words
    assert len(json.loads(hockney("history", "list", "--json").out)["runs"]) == 18, "dry runs remove nothing"
    assert hockney("history", "prune", "--keep-weekly", "2").code == 0
    left = [run["name"] for run in json.loads(hockney("history", "list", "--json").out)["runs"]]
    assert left == [names[12], names[17]], "Sunday the 26th, and the last"
    assert sorted(p.name for p in Path("history").iterdir()) == sorted([*left, "index.sqlite"])


@pytest.mark.parametrize(
    ("words", "code", "exit_code"),
    [
        (("list", "--archive", "none"), "no-archive", 2),
        (("list", "--since", "yesterday"), "not-a-date", 2),
        (("add", "none"), "no-run-folder", 2),
        (("add",), "missing-argument", 2),
        (("lst",), "unknown-command", 2),
        (("list", "--lable", "x"), "unknown-option", 2),
        (("prune",), "prune-without-rule", 2),
        (("prune", "--keep-last", "0"), "integer-out-of-range", 2),
        (("show", "brodcast"), "unknown-archived-operation", 2),
        (("show", "barrier", "ranks=7"), "unknown-archived-case", 2),
        (("show", "--label", "nobody"), "no-run-selected", 4),
        (("check", "nothing"), "run-not-in-archive", 2),
        (("check", "--json", "--format", "junit"), "format-and-json", 2),
    ],
)
def test_wrong_questions(hockney, runs, words, code, exit_code):
    said = hockney("history", *words)
    assert (said.error.code, said.code, said.out) == (code, exit_code, "")
