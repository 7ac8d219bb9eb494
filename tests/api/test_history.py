# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney.History for programs and notebooks, also with runs that are empty, wrong, or there twice."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import msgspec
import pytest
from resealed import reseal

import hockney
from hockney.store import RunFolder


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> hockney.History:
    place = tmp_path_factory.mktemp("kept")
    kept = hockney.History(place / "history")
    for day in range(6):
        machine = f"fake:seed={day};day={day}"
        out = place / f"run-{day}"
        kept.add(hockney.run("barrier", machine=machine, launches=2, budget=2, seed=1, out=out))
    return kept


def test_runs_are_entries_and_open(history):
    entries = history.runs(machine="fake*")
    assert len(entries) == 6 and history.runs(label="new") == []
    run = history.open(entries[-1])
    assert run.path.parent == history.path and len(run.records) == entries[-1].records


def test_series_as_frame_figure_and_html(history):
    shown = history.show("barrier")
    frame = shown.frame("pandas")
    assert (
        set(frame["run"]) == {entry.name for entry in history.runs()} and (frame["low"] < frame["high"]).all()
    )
    assert shown.figure(shown.figure_names[0]).data and "<table" in shown._repr_html_()
    with pytest.raises(hockney.UsageError):
        shown.figure("nothing")


def test_a_check(history):
    check = history.check()
    assert check.verdict == "usual" and check.checked.earlier_count == 5 and "<table" in check._repr_html_()
    again = history.check(history.open(history.runs()[-1]))
    assert again.document == check.document
    assert history.check(history.runs()[2]).verdict == "unknown"


def measured(place: Path, day: int, more: str = "", question: str | tuple[str, ...] = "barrier") -> Path:
    hockney.run(
        question, machine=f"fake:seed={day};day={day};{more}", launches=2, budget=2, seed=1, out=place
    )
    return place


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, one without measurements, and one in which data arrived corrupted."""
    place = tmp_path_factory.mktemp("edges")
    for day in range(2):
        measured(place / f"run-{day}", day)
    first = RunFolder(place / "run-0")
    RunFolder.create(place / "empty", first.plan(), first.machine(), catalog=first.catalog())
    measured(place / "wrong", 3, "corrupt=pingpong", "pingpong bytes=64")
    return place


@pytest.fixture
def new_history(tmp_path: Path) -> hockney.History:
    return hockney.History(tmp_path / "history", listen=lambda _: None)


def test_runs_without_measurements(new_history, kept, tmp_path):
    heard = []
    folder = tmp_path / "runs"
    for name in ("empty", "run-0", "run-1"):
        shutil.copytree(kept / name, folder / name)
    added = hockney.History(new_history.path, listen=heard.append).add(folder)
    assert len(added) == 2 and "run-not-added" in [getattr(each, "code", "") for each in heard]
    with pytest.raises(hockney.Inconclusive):
        new_history.add(kept / "empty")
    with pytest.raises(hockney.Inconclusive) as refused:
        new_history.check(kept / "empty")
    assert refused.value.code == "checked-run-empty"
    shutil.rmtree(new_history.path)
    shutil.copytree(kept / "empty", new_history.path / "empty")
    with pytest.raises(hockney.Inconclusive) as refused:
        new_history.show()
    assert refused.value.code == "shown-runs-empty"


def test_the_first_run_is_checked_with_an_empty_archive(new_history, kept):
    new_history.path.mkdir()
    check = new_history.check(kept / "run-0")
    assert check.verdict == "unknown" and check.checked.earlier_count == 0
    with pytest.raises(hockney.Inconclusive):
        new_history.check()


@pytest.mark.parametrize("study", ["survey", "cases"])
def test_an_operation_that_the_run_lacks(new_history, tmp_path, study):
    """Cases that the user typed are a choice, which is listed; what a study lacks is not."""
    cases = ("barrier ranks=2", "bcast bytes=64 ranks=2", "pingpong bytes=64")
    for day in range(2):
        run = measured(tmp_path / f"run-{day}", day, question=cases[: 3 - day])
        plan = run / "plan.txt"
        plan.write_text(plan.read_text().replace('study = "cases"', f'study = "{study}"'))
        reseal(run)
        new_history.add(run)
    check, expected = new_history.check(), study == "survey"
    assert [each.workload for each in check.operations] == ["barrier", "bcast"]
    assert check.document["absent_operations"] == ["pingpong"]
    assert [case.split()[0] for case in check.document["missing"]] == ["pingpong"] * expected
    assert ("should have measured" in check.junit) == expected
    assert "no result of 1 operation of the run before: pingpong" in check.markdown
    assert "no result of 1 operation" in str(check.page)
    assert ("lacks 1 case" in check.checked.overall_sentence) == expected


def test_a_planned_case_without_a_result_is_not_usual(new_history, tmp_path):
    """As in a run that was interrupted early, in which all that was measured is usual."""
    cases = ("barrier ranks=2", "pingpong bytes=64")
    for day in range(7):
        run = measured(tmp_path / f"run-{day}", day, question=cases)
        if day < 6:
            new_history.add(run)
    assert new_history.check(run).verdict == "usual"
    records = run / "records.jsonl"
    rows = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(row for row in rows if b'"case":"pingpong' not in row))
    reseal(run)
    check = new_history.check(run)
    assert check.verdict == "undecided" and not check.checked.is_failure
    assert [case.split()[0] for case in check.checked.missing_cases] == ["pingpong"]


def test_prune_does_not_ask_for_labels(new_history, kept):
    """CI labels each run with its commit."""
    for day in range(4):
        place = new_history.path.parent / f"labeled-{day}"
        hockney.run(
            "barrier", machine=f"fake:seed={day};day={day}", launches=2, budget=2, out=place, label=f"c{day}"
        )
        new_history.add(place)
    assert len(new_history.prune(keep_last=1)) == 3 and [run.label for run in new_history.runs()] == ["c3"]


def test_machines_of_two_origins_are_two_series(new_history, kept, monkeypatch):
    new_history.add(kept / "run-0", kept / "run-1")
    entries = new_history.runs()
    other = msgspec.structs.replace(entries[1], origin="measured")
    monkeypatch.setattr(hockney.History, "_select", lambda *_, **__: (entries[0], other))
    shown = new_history.show("barrier").shown
    assert len(shown.machines) == 2 and len({name for name, _ in shown.machines}) == 2


@pytest.mark.parametrize("text", ["999999y", "3000y", "0000-01-01"])
def test_dates_outside_of_the_calendar_are_refused(new_history, kept, text):
    new_history.add(kept / "run-0")
    for ask in (
        lambda: new_history.runs(since=text),
        lambda: new_history.prune(older_than=text, dry_run=True),
    ):
        with pytest.raises(hockney.UsageError) as refused:
            ask()
        assert refused.value.code == "not-a-date"


def test_dates_of_python(new_history, kept):
    new_history.add(kept / "run-0")
    assert (
        len(new_history.runs(since=date(2000, 1, 1))) == 1 and new_history.runs(until=date(2000, 1, 1)) == []
    )


@pytest.mark.parametrize("tolerance", [-1, float("nan"), "x", None])
def test_tolerances_are_shares(new_history, kept, tolerance):
    new_history.add(kept / "run-0")
    with pytest.raises(hockney.UsageError):
        new_history.check(tolerance=tolerance)


@pytest.mark.parametrize("ranks", ["4", 2.5, 0])
def test_ranks_of_logs_are_a_count(ranks):
    with pytest.raises(hockney.UsageError):
        hockney.import_logs("nowhere.log", ranks=ranks)
