# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney.History for programs and notebooks."""

from __future__ import annotations

import pytest

import hockney


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
    assert check.verdict == "usual" and check.checked.earlier == 5 and "<table" in check._repr_html_()
    again = history.check(history.open(history.runs()[-1]))
    assert again.document == check.document
    assert history.check(history.runs()[2]).verdict == "unknown"
