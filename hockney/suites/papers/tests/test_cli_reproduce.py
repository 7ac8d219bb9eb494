# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Reproducing a paper on the fake machine, which is none of its machines: the whole workflow, and a negative
answer."""

import json
from html import unescape
from pathlib import Path

import pytest
from command_line import one_error

from hockney import measurement, reproductions
from hockney.store import RunFolder
from hockney.suites.papers.reproductions import t3e_cases


@pytest.mark.page
def test_every_printed_number_is_on_the_table(hockney, golden):
    said = hockney("reproduce", "paragon", "--machine", "fake", "--out", "r")
    assert said.code == 1, said.err
    golden("reproduce.txt", said.out)
    said = hockney("reproduce", "paragon", "--machine", "fake", "--out", "r", "--json", "-q")
    (document,) = json.loads(said.out)["reproductions"]
    statuses = [row["status"] for row in document["compared"] if "/formula/" in row["key"]]
    assert len(statuses) == 30 and set(statuses) == {"fitted"}
    checks = document["checks"]
    assert not any(check["holds"] for check in checks[:3]) and {"figure 6", "figure 9"} <= {
        check["where"] for check in checks
    }
    page = unescape(Path("r/report.html").read_text()).replace("\u00a0", " ")
    assert all(row["what"] in page for row in document["compared"])


def test_the_figures_are_files_too(hockney):
    said = hockney("reproduce", "sun", "--machine", "fake", "--out", "r", "--figures", "f", "-q")
    names = {path.name for path in Path("f").iterdir()}
    assert {"sun-exchange.svg", "sun-exchange.png", "sun-figure-1-4.svg"} <= names
    assert said.out.count("figure: f/") == len(names)


def test_json_is_one_document(hockney):
    said = hockney("reproduce", "sun", "--machine", "fake", "--out", "r", "--json", "-q")
    (document,) = json.loads(said.out)["reproductions"]
    assert said.code == 1 and said.err == ""
    first = document["compared"][0]
    assert first["key"] == "granularity/formula/exchange/2/1" and first["published"] == pytest.approx(3.01e-3)
    assert first["error"] == pytest.approx(first["simulated"] / first["published"] - 1)
    assert {row["status"] for row in document["compared"]} == {"predicted", "fitted", "variant"}
    assert [tally["rows"] for tally in document["tallies"]] == [14, 17, 20] and document["left"] == 0


@pytest.mark.slow
def test_algorithms_have_one_table_and_a_row_each_in_json(hockney, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    said = hockney("reproduce", "t3e", "--machine", "fake", "--out", "r", "-q")
    assert said.code == 1 and "algorithm=" not in said.out
    header = next(k for k, line in enumerate(said.out.splitlines()) if line.startswith("operation "))
    table = said.out.splitlines()[header + 1 : header + 1 + 6 * 3]
    assert [line.split()[0] for line in table[::3]] == list(t3e_cases.OPERATIONS.values())
    (document,) = json.loads(hockney("reproduce", "t3e", "--out", "r", "--machine", "fake", "--json").out)[
        "reproductions"
    ]
    rows = [row for row in document["compared"] if row["mechanism"].startswith("algorithm=")]
    assert len(rows) == 72 * len({(row["key"].split("/")[2], row["mechanism"]) for row in rows}) / 6
    ends_of_ranges = 3  # they are bounds, no numbers that agree
    counted = sum(tally["rows"] for tally in document["tallies"])
    assert counted == len(document["compared"]) - len(rows) - ends_of_ranges
    assert document["left"] == 0


def test_finished_parts_are_not_run_again(hockney):
    hockney("reproduce", "paragon", "--machine", "fake", "--out", "r", "-q")
    records = {part: Path("r", part, "records.jsonl").read_bytes() for part in ("pairs", "bisection")}
    kept = records["pairs"].splitlines(keepends=True)
    Path("r/pairs/records.jsonl").write_bytes(b"".join(kept[:-5]))
    said = hockney("reproduce", "paragon", "--machine", "fake", "--out", "r")
    assert "4 of 30 measurements" in said.err and said.err.count("measuring:") == 1
    assert Path("r/bisection/records.jsonl").read_bytes() == records["bisection"]
    assert len(RunFolder(Path("r/pairs")).read().run.records) == 30


def test_a_folder_of_something_else_is_left_alone(hockney, mine):
    hockney("run", "barrier", "--out", "r/pairs", "-q")
    said = hockney("reproduce", "paragon", "--machine", "fake", "--out", "r")
    assert said.code == 2 and "r/pairs" in said.err.splitlines()[-1]


def test_a_run_is_no_folder_for_papers(hockney, mine):
    """Refused before anything is measured."""
    before = sorted(Path(mine).iterdir())
    for words in (("sun", "--out", mine), ("sun", "ibm-sp", "--out", mine), ("sun", "--figures", mine)):
        assert hockney("reproduce", *words).error.code == "folder-of-a-run"
    assert sorted(Path(mine).iterdir()) == before


def test_a_part_is_a_run_like_any_other(hockney):
    hockney("reproduce", "paragon", "--machine", "fake", "--out", "r", "-q")
    assert hockney("report", "r/pairs").code == 0


def test_all_is_every_one(hockney, monkeypatch):
    two = {
        name: reproductions.reproduction(name, measurement.bundled_catalog())
        for name in ("ethernet", "paragon")
    }
    monkeypatch.setattr(reproductions, "all_reproductions", lambda: two)
    said = hockney("reproduce", "all", "--machine", "fake", "--out", "r", "-q")
    assert {path.name for path in Path("r").iterdir()} == {*two, "report.html"}
    assert said.out.count("report: r/") == 3
    _, last = said.out.rsplit("\npaper ", 1)
    assert all(f"\n{name} " in last for name in two), "the last screen has a row for each"


def test_the_list(hockney):
    said = hockney("reproduce", "--list")
    assert said.code == 0 and all(name in said.out for name in reproductions.all_reproductions())
    listed = json.loads(hockney("reproduce", "--list", "--json").out)["reproductions"]
    assert [each["name"] for each in listed] == sorted(reproductions.all_reproductions())


@pytest.mark.parametrize(
    ("words", "code", "suggestion"),
    [
        (("paragn",), "unknown-reproduction", "paragon"),
        (("sun-ethernet",), "unknown-reproduction", "sun"),
        (("sim:t3e",), "unknown-reproduction", "t3e"),
        ((), "nothing-to-reproduce", ""),
        (("sun", "--machine", "sim:t3e"), "reproduction-with-machine", ""),
        (("sun", "paragn"), "unknown-reproduction", "paragon"),
        (("sun", "t3e", "--machine", "lan:sun-ethernet"), "reproduction-not-emulated", ""),
    ],
)
def test_what_cannot_be_asked_is_said_in_a_line(hockney, words, code, suggestion):
    done = hockney("reproduce", *words)
    assert one_error(done, 2)
    assert (done.error.code, done.error.suggestion) == (code, suggestion)


def test_without_simgrid_it_says_what_to_do(hockney, monkeypatch, tmp_path):
    monkeypatch.setenv("HOCKNEY_SIMGRID", str(tmp_path))
    said = hockney("reproduce", "sun", "--out", "r", "-q")
    assert said.code == 3 and said.error.code == "simgrid-wrapper-missing"
    assert "--simgrid" in said.error.remedy
