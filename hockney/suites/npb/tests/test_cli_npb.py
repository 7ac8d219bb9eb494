# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run npb, and the benchmarks as cases, end to end on the fake machine."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

FAKE = ("--machine", "fake", "--launches", "3", "--budget", "10m", "--seed", "1", "-q")
RUN = ("run", "npb", "kernels=cg,ep", "--ranks", "2", *FAKE)


def test_the_answer_is_printed(hockney, golden):
    said = hockney(*RUN, "barrier_at=iteration,step", "--out", "runs/n")
    assert said.code == 0, said.err
    golden("run_npb.txt", said.out)


@pytest.mark.page
def test_the_document_and_the_page(hockney):
    said = hockney(*RUN, "--json", "--out", "runs/n")
    assert said.code == 0, said.err
    document = json.loads(said.out)["answer"]
    assert set(document) == {"verified", "benchmarks", "barriers", "predictions", "median_error"}
    assert document["verified"] is True and len(document["predictions"]) == 2
    assert {b["benchmark"] for b in document["benchmarks"]} == {"cg", "ep"}
    text = Path("runs/n/report.html").read_text()
    assert "Where the time goes" in text and "Speed-up on 2 ranks" in text


def test_wrong_answers_are_in_the_headline_and_exit_1(hockney, golden):
    said = hockney(*RUN, "fault=bit", "predict=no", "--out", "runs/wrong")
    assert said.code == 1
    golden("run_npb_wrong.txt", said.out)
    said = hockney(*RUN, "fault=bit", "predict=no", "--out", "runs/again", "--json")
    answer = json.loads(said.out)["answer"]
    assert said.code == 1 and answer["verified"] is False
    assert {b["verified"] for b in answer["benchmarks"]} == {False}
    assert hockney("verify", "runs/wrong").code == 1


def test_phases_are_exported(hockney):
    hockney(*RUN, "barrier_at=none", "predict=no", "--out", "runs/n")
    said = hockney("export", "runs/n", "--csv", "n.csv")
    assert said.code == 0, said.err
    rows = list(csv.DictReader(Path("n.csv").read_text().splitlines()))
    for kind in ("computation", "communication", "waiting"):
        assert all(float(row[f"metric_phase_{kind}_s_sweeps"]) >= 0 for row in rows)
    assert {"metric_waiting_s", "metric_messages_s", "metric_operations"} <= set(rows[0])


@pytest.mark.page
def test_a_case_has_its_rate_in_the_terminal_and_on_the_page(hockney):
    said = hockney("run", "cg class=A ranks=1,2", *FAKE, "--out", "runs/c")
    assert said.code == 0, said.err
    rates = [re.split(" {2,}", line.strip()) for line in said.out.splitlines() if line.startswith("  rate ")]
    assert len(rates) == 2
    for _, value, interval in rates:
        low, high = map(float, re.findall(r"[\d.]+", interval))
        assert value.endswith("Mop/s") and low < float(value.split()[0]) < high
    document = json.loads(hockney("models", "runs/c", "--json").out)
    one = next(s for s in document["summaries"] if " ranks=1 " in s["case"])
    operations = one["metrics"]["operations"]["typical"]["value"]
    expected = operations / one["typical"]["value"] / 1e6
    assert float(rates[0][1].split()[0]) == pytest.approx(expected, rel=0.005)
    text = Path("runs/c/report.html").read_text()
    assert "Mop/s" in text


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("unknown-nas-benchmark", ("kernels=dg",)),
        ("unknown-value", ("class=Z",)),
        ("unknown-value", ("barrier_at=everywhere",)),
        ("benchmarks-have-no-sizes", ("--sizes", "8")),
    ],
)
def test_mistakes(hockney, code, words):
    refused = hockney("run", "npb", *words)
    assert refused.code == 2 and refused.error.code == code
