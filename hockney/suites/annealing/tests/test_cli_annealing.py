# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run annealing, end to end on the fake machine."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

FAKE = ("--machine", "fake", "--launches", "3", "--budget", "10m", "--seed", "1", "-q")
RUN = ("run", "annealing", "setups=original,estimated,decoupled", "--ranks", "2", *FAKE)


def test_the_answer_is_printed(hockney, golden):
    said = hockney(*RUN, "--out", "runs/a")
    assert said.code == 0, said.err
    golden("run_annealing.txt", said.out)


@pytest.mark.page
def test_the_document_and_the_page(hockney):
    said = hockney(*RUN, "--json", "--out", "runs/a")
    assert said.code == 0, said.err
    document = json.loads(said.out)["answer"]
    assert set(document) == {
        "reference", "choices", "setups", "quality", "balancing", "median_prediction_error",
        "largest_sum_error",
    }  # fmt: skip
    assert [each["setup"] for each in document["quality"]] == ["original", "decoupled", "estimated"]
    assert document["quality"][1]["loss"]["low"] > 0 and document["setups"][0]["case"]
    text = Path("runs/a/report.html").read_text()
    assert "annealing-steps-2" in text and "Computation and communication" in text


def test_metrics_are_exported(hockney):
    hockney(*RUN, "predict=no", "--out", "runs/a")
    said = hockney("export", "runs/a", "--csv", "a.csv")
    assert said.code == 0, said.err
    rows = list(csv.DictReader(Path("a.csv").read_text().splitlines()))
    assert {"metric_waiting_s", "metric_best_energy", "metric_total_steps"} <= set(rows[0])


def test_mistakes_are_refused(hockney):
    said = hockney("run", "annealing", "setups=orignal", *FAKE, "--out", "runs/a")
    assert said.code == 2 and "original" in said.err
    said = hockney("run", "annealing", "walkers=1", "--ranks", "2", *FAKE, "--out", "runs/a")
    assert said.code == 2 and "1 walker" in said.err
