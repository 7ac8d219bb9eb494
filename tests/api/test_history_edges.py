# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney.History with runs that are empty, wrong, equal in date, or there twice, and with odd arguments."""

from __future__ import annotations

import shutil
from datetime import date
from pathlib import Path

import msgspec
import pytest
from resealed import reseal

import hockney
from hockney.store import RunFolder


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
def history(tmp_path: Path) -> hockney.History:
    return hockney.History(tmp_path / "history", listen=lambda _: None)


def test_runs_without_measurements(history, kept, tmp_path):
    heard = []
    folder = tmp_path / "runs"
    for name in ("empty", "run-0", "run-1"):
        shutil.copytree(kept / name, folder / name)
    added = hockney.History(history.path, listen=heard.append).add(folder)
    assert len(added) == 2 and "run-not-added" in [getattr(each, "code", "") for each in heard]
    with pytest.raises(hockney.Inconclusive):
        history.add(kept / "empty")
    with pytest.raises(hockney.Inconclusive) as refused:
        history.check(kept / "empty")
    assert refused.value.code == "checked-run-empty"
    shutil.rmtree(history.path)
    shutil.copytree(kept / "empty", history.path / "empty")
    with pytest.raises(hockney.Inconclusive) as refused:
        history.show()
    assert refused.value.code == "shown-runs-empty"


def test_the_first_run_is_checked_with_an_empty_archive(history, kept):
    history.path.mkdir()
    check = history.check(kept / "run-0")
    assert check.verdict == "unknown" and check.checked.earlier == 0
    with pytest.raises(hockney.Inconclusive):
        history.check()


@pytest.mark.parametrize("study", ["survey", "cases"])
def test_an_operation_that_the_run_lacks(history, tmp_path, study):
    """Cases that the user typed are a choice, which is listed; what a study lacks is not."""
    cases = ("barrier ranks=2", "bcast bytes=64 ranks=2", "pingpong bytes=64")
    for day in range(2):
        run = measured(tmp_path / f"run-{day}", day, question=cases[: 3 - day])
        plan = run / "plan.txt"
        plan.write_text(plan.read_text().replace('study = "cases"', f'study = "{study}"'))
        reseal(run)
        history.add(run)
    check, expected = history.check(), study == "survey"
    assert [each.workload for each in check.operations] == ["barrier", "bcast"]
    assert check.document["absent_operations"] == ["pingpong"]
    assert [case.split()[0] for case in check.document["missing"]] == ["pingpong"] * expected
    assert ("should have measured" in check.junit) == expected
    assert "no result of 1 operation of the run before: pingpong" in check.markdown
    assert "no result of 1 operation" in str(check.page)
    assert ("lacks 1 case" in check.checked.overall) == expected


def test_a_planned_case_without_a_result_is_not_usual(history, tmp_path):
    """As in a run that was interrupted early, in which all that was measured is usual."""
    cases = ("barrier ranks=2", "pingpong bytes=64")
    for day in range(7):
        run = measured(tmp_path / f"run-{day}", day, question=cases)
        if day < 6:
            history.add(run)
    assert history.check(run).verdict == "usual"
    records = run / "records.jsonl"
    rows = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(row for row in rows if b'"case":"pingpong' not in row))
    reseal(run)
    check = history.check(run)
    assert check.verdict == "undecided" and not check.checked.fails
    assert [case.split()[0] for case in check.checked.missing] == ["pingpong"]


def test_prune_does_not_ask_for_labels(history, kept):
    """CI labels each run with its commit."""
    for day in range(4):
        place = history.path.parent / f"labeled-{day}"
        hockney.run(
            "barrier", machine=f"fake:seed={day};day={day}", launches=2, budget=2, out=place, label=f"c{day}"
        )
        history.add(place)
    assert len(history.prune(keep_last=1)) == 3 and [run.label for run in history.runs()] == ["c3"]


def test_machines_of_two_origins_are_two_series(history, kept, monkeypatch):
    history.add(kept / "run-0", kept / "run-1")
    entries = history.runs()
    other = msgspec.structs.replace(entries[1], origin="measured")
    monkeypatch.setattr(hockney.History, "_select", lambda *_, **__: (entries[0], other))
    shown = history.show("barrier").shown
    assert len(shown.machines) == 2 and len({name for name, _ in shown.machines}) == 2


@pytest.mark.parametrize("text", ["999999y", "3000y", "0000-01-01"])
def test_dates_outside_of_the_calendar_are_refused(history, kept, text):
    history.add(kept / "run-0")
    for ask in (lambda: history.runs(since=text), lambda: history.prune(older_than=text, dry_run=True)):
        with pytest.raises(hockney.UsageError) as refused:
            ask()
        assert refused.value.code == "not-a-date"


def test_dates_of_python(history, kept):
    history.add(kept / "run-0")
    assert len(history.runs(since=date(2000, 1, 1))) == 1 and history.runs(until=date(2000, 1, 1)) == []


@pytest.mark.parametrize("tolerance", [-1, float("nan"), "x", None])
def test_tolerances_are_shares(history, kept, tolerance):
    history.add(kept / "run-0")
    with pytest.raises(hockney.UsageError):
        history.check(tolerance=tolerance)


@pytest.mark.parametrize("ranks", ["4", 2.5, 0])
def test_ranks_of_logs_are_a_count(ranks):
    with pytest.raises(hockney.UsageError):
        hockney.import_logs("nowhere.log", ranks=ranks)
