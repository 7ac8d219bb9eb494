# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run FILE: the skeleton of a described program on the fake machine, next to its prediction."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made_up_programs import EXAMPLES

from hockney import api
from hockney.core.case import parse_canonical
from hockney.core.errors import UsageError
from hockney.models.programs.description import parse_description
from hockney.store import RunFolder
from hockney.studies.program.plan import iterations_per_repetition
from hockney.studies.program.results import ProgramResults

JACOBI = next(file for file in EXAMPLES if file.stem == "jacobi")


@pytest.fixture
def in_folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_measured_and_predicted_stand_side_by_side_and_runs_are_compared(hockney, in_folder):
    words = ("n=512", "--ranks", "2,4", "--out", "a", "--budget", "20s", "-q", "--json")
    done = hockney("run", str(JACOBI), *words)
    assert done.code == 0, done.err
    rows = json.loads(done.out)["answer"]["programs"]
    assert [(row["program"], row["ranks"]) for row in rows] == [("jacobi", 1), ("jacobi", 2), ("jacobi", 4)]
    for row in rows:
        work_s = 512**2 / row["ranks"] * 1.2e-9
        assert row["predicted_computation_s"] == pytest.approx(work_s)
        parts = row["predicted_computation_s"] + row["predicted_communication_s"]
        assert parts == pytest.approx(row["predicted_s"])
        assert row["computation_s"] == pytest.approx(work_s, rel=0.2)
        error = row["predicted_s"] / row["iteration_s"]["value"] - 1
        assert row["error"] == pytest.approx(error)
        assert (row["disagreement"] is None) == (abs(error) <= 0.05)
    words = ("n=512", "--ranks", "2", "--check", "a", "--out", "b", "-q", "--budget", "20s")
    checked = hockney("run", str(JACOBI), *words)
    assert checked.code in (0, 4), checked.err
    compared = json.loads(hockney("compare", "a", "b", "--json").out)
    assert "program" in {parse_canonical(case["case"]).workload for case in compared["cases"]}


def test_a_run_has_the_description_and_is_resumed_without_the_file(hockney, in_folder):
    file = in_folder / "mine.toml"
    file.write_text(JACOBI.read_text("utf-8"), encoding="utf-8")
    assert hockney("run", "mine.toml", "--ranks", "2", "--out", "run", "--budget", "20s", "-q").code == 0
    file.unlink()
    folder = RunFolder.open(in_folder / "run")
    (line,) = folder.plan().settings.programs
    assert line.startswith("mine-") and json.loads(line.partition(" ")[2])["sizes"]["n"] == 4096
    assert hockney("resume", "run", "-q").code == 0
    evidence = api.load("run").evidence
    assert [point.name for point in ProgramResults.of(evidence).points] == ["mine", "mine"]


def test_sizes_make_another_program(hockney, in_folder):
    planned = [json.loads(hockney("plan", str(JACOBI), f"n={n}", "--json").out)["cases"] for n in (8, 9)]
    assert planned[0][0].startswith("program ") and planned[0][0] != planned[1][0]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("m=3",), "unknown-problem-size"),
        (("n=x",), "bad-problem-size"),
        (("predict=maybe",), "unknown-value"),
    ],
)
def test_words_after_the_file_are_sizes_or_parameters(words, code):
    with pytest.raises(UsageError) as raised:
        api.parse_question((str(JACOBI), *words)).values()
    assert raised.value.code == code


@pytest.mark.parametrize(
    ("question", "options", "code"),
    [((str(JACOBI),), {"sizes": (8,)}, "program-has-sizes"), (("program",), {}, "no-program")],
)
def test_what_cannot_be_run_is_an_error(question, options, code):
    with pytest.raises(UsageError) as raised:
        api.plan(question, api.RunOptions(machine="fake", **options))
    assert raised.value.code == code


@pytest.mark.parametrize(
    ("phase", "expected"),
    [
        ({"work": "1us"}, 20),  # short
        ({"work": "50ms"}, 2),
        ({"work": "10s"}, 1),
        ({"work": "10s", "every": 7}, 7),  # all parts once
        ({"work": "1us", "every": 7}, 21),
    ],
)
def test_a_repetition_has_enough_iterations(phase, expected):
    assert (
        iterations_per_repetition(parse_description({"phase": [phase, {"barrier": True}]}, "p").iteration(2))
        == expected
    )
