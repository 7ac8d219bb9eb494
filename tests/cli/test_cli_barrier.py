# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run barriers and hockney barrier --best, from command line to answer, on the fake machine."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

from hockney import api


@pytest.fixture
def measured(copied_run) -> None:
    """A run of the study on 2 and 4 ranks, as the newest in runs/."""
    copied_run("runs/b", "barriers")


def loops(folder: str, ranks: int) -> dict[str, float]:
    """Medians of barriers back to back, by algorithm, from the file of fits."""
    summaries = json.loads((Path(folder) / "fits.json").read_text())["summaries"]
    found = {}
    for summary in summaries:
        words = summary["case"].split()
        if words[0] == "barrier" and {"sync=loop", f"ranks={ranks}"} <= set(words):
            (name,) = (w.removeprefix("algorithm=") for w in words if w.startswith("algorithm="))
            found[name] = summary["typical"]["value"]
    return found


@pytest.mark.page
def test_the_study_tells_the_fastest(hockney, golden):
    done = hockney("run", "barriers", "--out", "runs/b", "--seed", "1", "-q")
    assert done.code == 0, done.err
    golden("run_barriers.txt", done.out)
    titles = [section.title for section in api.load(Path("runs/b")).page.sections]
    golden("run_barriers_sections.txt", "\n".join(titles))
    page = unescape(Path("runs/b/report.html").read_text()).replace("\u00a0", " ")
    assert all(title in page for title in titles)


def test_best_is_the_smallest_of_the_records(hockney, measured):
    document = json.loads(hockney("barrier", "--best", "--json").out)
    assert document["run"] == "runs/b"
    assert [choice["ranks"] for choice in document["choices"]] == [2, 4]
    for choice in document["choices"]:
        medians = loops("runs/b", choice["ranks"])
        assert choice["measured"] and choice["best"]["algorithm"] == min(
            medians, key=lambda name: medians[name]
        )
        assert choice["best"]["time_s"] == min(medians.values())
        assert "candidates" not in choice and choice["best"]["by"] == "measured"


def test_all_are_shown_with_how_much_slower_they_are(hockney, measured, monkeypatch, golden):
    monkeypatch.delenv("COLUMNS")  # one line each
    said = hockney("barrier", "--ranks", "4", "runs/b")
    assert said.code == 0 and said.err == ""
    golden("barrier_all.txt", said.out)


def test_ratios_have_intervals(hockney, measured):
    (choice,) = json.loads(hockney("barrier", "--ranks", "4", "--json", "runs/b").out)["choices"]
    medians = loops("runs/b", 4)
    best, *others = choice["candidates"]
    assert best["ratio"] == 1 and best["ratio_low"] is None
    for each in others:
        assert each["ratio"] == pytest.approx(medians[each["algorithm"]] / min(medians.values()))
        assert each["ratio_low"] <= each["ratio"] <= each["ratio_high"]
        assert (each["ratio_low"] <= 1.005) == (each["algorithm"] in choice["alike"])
    assert choice["next"] == others[0]
    assert choice["mpi"] == next(each for each in others if each["algorithm"] == "mpi")
    sentence = hockney("barrier", "--best", "--ranks", "4", "runs/b").out
    mpi = choice["mpi"]
    assert f"{mpi['ratio']:.2f} " in sentence
    assert f"{mpi['ratio_low']:.2f} to {mpi['ratio_high']:.2f}" in sentence


def test_what_was_not_measured_is_said_to_be_a_models(hockney, measured, golden):
    said = hockney("barrier", "--best", "--ranks", "2,3")
    assert said.code == 0 and "runs/b" in said.err
    golden("barrier_best.txt", said.out)
    document = json.loads(hockney("barrier", "--ranks", "3", "--json").out)
    (choice,) = document["choices"]
    assert not choice["measured"] and len(choice["candidates"]) > 10
    assert all(each["ratio_low"] is None for each in choice["candidates"]), "a model's error is no interval"


def test_what_is_known_is_told_before_what_is_not(hockney, measured):
    said = hockney("barrier", "--best", "--ranks", "2,9")
    assert (said.code, said.error.code, said.error.fields["ranks"]) == (4, "ranks-beyond-models", 9)
    assert said.out == hockney("barrier", "--best", "--ranks", "2").out != ""
    document = json.loads(hockney("barrier", "--best", "--ranks", "2,9", "--json").out)
    assert [choice["ranks"] for choice in document["choices"]] == [2]


def test_what_cannot_be_answered_is_said(hockney, measured):
    for words, exit_code, code in (
        (("--ranks", "9"), 4, "ranks-beyond-models"),
        (("--ranks", "1"), 2, "one-rank-needs-no-barrier"),
        (("--ranks", "two"), 2, "not-a-count"),
    ):
        done = hockney("barrier", "--best", *words)
        assert (done.code, done.error.code, done.out) == (exit_code, code, ""), words
    missing = hockney("barrier", "--best", "--ranks", "2", "runs/none")
    assert missing.code == 2 and "runs/none" in missing.err and not missing.out


def test_without_a_run_of_barriers_there_is_no_choice(hockney, mine):
    newest = hockney("barrier", "--best", "--ranks", "2")
    assert (newest.code, newest.error.code) == (4, "no-run-of-study")
    assert hockney("barrier", "--best", "--ranks", "2", mine).code == 4


def test_typed_barriers_can_be_chosen_from(hockney):
    words = ("barrier algorithm=mpi sync=loop", "barrier algorithm=central sync=loop")
    done = hockney("run", *words, "--out", "r", "-q")
    assert done.code == 0, done.err
    document = json.loads(hockney("barrier", "--ranks", "2", "--json", "r").out)
    assert {c["algorithm"] for c in document["choices"][0]["candidates"]} == {"mpi", "central"}


@pytest.mark.slow
def test_the_command_names_the_nodes(hockney):
    done = hockney("run", "barriers", "--machine", "fake:nodes=2", "--out", "runs/b", "--seed", "1", "-q")
    assert done.code == 0, done.err

    def layouts(*words: str) -> list[tuple[int, int, bool]]:
        document = json.loads(hockney("barrier", "--best", "--json", *words).out)
        return [(c["ranks"], c["nodes"], c["measured"]) for c in document["choices"]]

    assert layouts() == [(2, 1, True), (2, 2, True), (4, 1, True), (4, 2, True), (8, 2, True)]
    assert layouts("--nodes", "2") == [(2, 2, True), (4, 2, True), (8, 2, True)]
    assert layouts("--ranks-per-node", "4") == [(4, 1, True), (8, 2, True)]
    assert layouts("--ranks", "4") == [(4, 1, True), (4, 2, True)]
    assert layouts("--ranks", "16", "--nodes", "4") == [(16, 4, False)]
    assert layouts("--nodes", "4", "--ranks-per-node", "4") == [(16, 4, False)]
    wrong = hockney("barrier", "--ranks", "6", "--ranks-per-node", "4")
    assert (wrong.code, wrong.error.code) == (2, "ranks-do-not-fill")
    table = hockney("barrier", "--ranks", "8")
    assert "ranks = 8, nodes = 2" in table.out
