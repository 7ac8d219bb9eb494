# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney predict FILE: programs described in TOML, and the options that describe one without a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import one_error

import hockney as front_door

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "programs").glob("*.toml"))
PROGRAM = """\
iterations = 10
grid = "2d"

[sizes]
n = 1000

[[phase]]
work = "n^2 / ranks * 1ns"
neighbors = "grid"
bytes = "8 * n / px"

[[phase]]
allreduce = 8
"""


@pytest.fixture
def program(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mine.toml"
    file.write_text(PROGRAM, encoding="utf-8")
    return file


def predicted(hockney, *words: str) -> dict:
    result = hockney("predict", *words, "--json")
    assert result.code == 0, result.err
    return json.loads(result.out)


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_each_example_is_predicted(hockney, file):
    made = predicted(hockney, str(file), "--ranks", "1,8,27", "--machine", "t3e")
    assert [row["ranks"] for row in made["ranks"]] == [1, 8, 27]
    assert all(0 < row["efficiency"]["value"] <= 1 + 1e-9 for row in made["ranks"])
    assert made["ranks"][0]["efficiency"]["value"] == pytest.approx(1)
    assert made["scaling"] == ("weak" if file.stem == "halo26" else "strong")
    for row in made["ranks"]:
        parts = [row[f"{kind}_s"] for kind in ("computation", "messages", "collectives", "waiting")]
        assert sum(parts) == pytest.approx(row["time_s"]["value"])


@pytest.mark.parametrize("changed", ["t=2ns", "t=0.000000002", "t=2e-3us"])
def test_a_time_may_be_a_size(hockney, program, changed):
    program.write_text(PROGRAM.replace("1ns", "t").replace("n = 1000", 'n = 1000\nt = "1ns"'), "utf-8")
    first, second = (
        predicted(hockney, str(program), *more, "--ranks", "1", "--machine", "t3e")["ranks"][0]
        for more in ((), (changed,))
    )
    assert first["time_s"]["value"] == pytest.approx(10 * 1000**2 * 1e-9)
    assert second["time_s"]["value"] == pytest.approx(2 * first["time_s"]["value"])


def test_options_describe_the_same_as_a_file(hockney, tmp_path):
    file = tmp_path / "same.toml"
    file.write_text(
        'grid = "2d"\n[[phase]]\nname = "work"\nwork = "350us / ranks"\nserial = 0.01\nimbalance = 1.1\n'
        '[[phase]]\nneighbors = "grid"\nbytes = "8kB"\n[[phase]]\nallreduce = 8\ntimes = 2\n',
        encoding="utf-8",
    )
    options = ("--work", "350us", "--grid", "2d", "--halo", "8kB", "--allreduce", "8B*2", "--serial", "1%")
    where = ("--ranks", "1:64", "--machine", "t3e")
    by_options = predicted(hockney, *options, "--imbalance", "1.1", *where)
    by_file = predicted(hockney, str(file), *where)
    assert [row["time_s"] for row in by_options["ranks"]] == [row["time_s"] for row in by_file["ranks"]]


def test_a_surveyed_machine(hockney, program):
    """Times have intervals; collectives that were measured on these ranks count as they were measured."""
    assert hockney("survey", "--machine", "fake", "--ranks", "2,4", "--out", "s", "--quiet").code == 0
    made = predicted(hockney, str(program), "--ranks", "1,2,4,16", "--run", "s", "--larger-machine")
    basis = {each["ranks"]: each["basis"] for row in made["ranks"] for each in row["collectives"]}
    assert basis == {2: "measured", 4: "measured", 16: "assumed"}
    for row in made["ranks"][1:]:
        assert row["time_s"]["low"] < row["time_s"]["value"] < row["time_s"]["high"]
    summary = next(
        s
        for s in front_door.open("s").fits.summaries
        if s.case.startswith("allreduce ") and "buffers=hot bytes=8 ranks=4" in s.case
    )
    spent = next(part for part in made["ranks"][2]["parts"] if part["kind"] == "collectives")["iteration_s"]
    assert spent == pytest.approx(summary.typical.value)
    assert "extrapolated" not in {each["code"] for each in made["doubts"]}
    far = predicted(hockney, str(program), "n=4000000", "--ranks", "2", "--run", "s")
    assert "extrapolated" in {each["code"] for each in far["doubts"]}
    shared = predicted(hockney, str(program), "--ranks", "64", "--run", "s")["ranks"][0]
    assert shared["ranks_a_core"] > 1 and shared["time_s"]["value"] > made["ranks"][3]["time_s"]["value"]


@pytest.mark.parametrize(
    ("before", "after", "code", "line"),
    [
        ('bytes = "8 * n / px"', 'bytes = "8 * m / px"', "unknown-name", 10),
        ("n = 1000", 'n = "log2(ranks - 1)"', "bad-formula", 5),
        ("allreduce = 8", "", "bad-program-value", 12),
        ("iterations = 10", 'iterations = "rank"', "program-number-out-of-range", 1),
        ('bytes = "8 * n / px"', "", "program-key-missing", 7),
        (PROGRAM, "iterations = 3", "bad-program-value", 1),
    ],
)
def test_errors_name_the_line(hockney, program, before, after, code, line):
    program.write_text(PROGRAM.replace(before, after), encoding="utf-8")
    done = hockney("predict", str(program), "--ranks", "4", "--machine", "t3e")
    one_error(done, 2)
    assert done.error.code == code
    assert done.error.fields["line"] == line and f"mine.toml, line {line}: " in done.error.what


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("mine.toml", "--work", "1s"), "option-without-effect"),
        (("mine.toml", "--nodes", "2"), "option-without-effect"),
        (("mine.toml", "m=3"), "unknown-problem-size"),
        (("mine.toml", "n"), "bad-problem-size"),
        (("mine.toml", "n=3m"), "bad-problem-size"),
        (("mine.toml", "--ranks", "100000"), "too-many-ranks"),
        (("mine.toml", "--run", "r"), "run-with-machine"),
    ],
)
def test_wrong_questions(hockney, program, words, code):
    done = hockney("predict", *words, "--machine", "t3e")
    one_error(done, 2)
    assert done.error.code == code


def test_a_larger_machine_of_a_described_kind(hockney):
    words = ("--work", "1s", "--grid", "2d", "--halo", "1kB", "--machine", "t3e")
    refused = hockney("predict", *words, "--ranks", "1024")
    assert refused.code == 2 and refused.error.code == "too-many-ranks"
    found = hockney("predict", *words, "--ranks", "16,1024", "--larger-machine", "--json")
    assert found.code == 0, found.err
    assert [row["ranks"] for row in json.loads(found.out)["ranks"]] == [16, 1024]


def test_measured_times_come_from_a_file_next_to_the_description(hockney):
    Path("here").mkdir()
    Path("here/p.toml").write_text('[[phase]]\nwork = "1ms"\nnoise = "times.txt"\nallreduce = 8\n')
    missing = hockney("predict", "here/p.toml", "--machine", "t3e", "--ranks", "4")
    assert missing.code == 2 and "times.txt" in missing.err
    Path("here/times.txt").write_text("0.9ms\n1.1ms\n1ms 1.4ms\n")
    found = hockney("predict", "here/p.toml", "--machine", "t3e", "--ranks", "4", "--json")
    assert found.code == 0, found.err
    (row,) = json.loads(found.out)["ranks"]
    assert row["waiting_s"] > 1e-4 and row["time_s"]["low"] < row["time_s"]["value"]
