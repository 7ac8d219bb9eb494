# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run overlap, end to end on the fake machine; and the workload of the same name."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

FAKE = ("--machine", "fake", "--launches", "3", "--budget", "10m", "--seed", "1", "-q")
RUN = ("run", "overlap", "operations=message", "--sizes", "8,1MiB", "--ranks", "2", *FAKE)


@pytest.mark.page
def test_a_run_has_its_answer_document_page_and_export(hockney, golden):
    said = hockney(*RUN, "--out", "runs/o")
    assert said.code == 0, said.err
    golden("run_overlap.txt", said.out)
    assert "setting=progress-thread" in Path("runs/o/plan.txt").read_text()
    again = hockney("resume", "runs/o", "--json")
    document = json.loads(again.out)["answer"]
    assert again.code == 0 and set(document) == {"pays", "operations", "cases", "progress_thread"}
    assert document["pays"] is True and len(document["cases"]) == 2 * (3 + 1)
    assert {case["progress"] for case in document["cases"]} == {"own", "thread"}
    for case in document["cases"]:
        assert case["overlap_imb"]["value"] == pytest.approx(case["overlap_reported"], rel=0.05, abs=0.005)
    assert "what computing hides" in Path("runs/o/report.html").read_text().casefold()
    assert hockney("export", "runs/o", "--csv", "o.csv").code == 0
    rows = list(csv.DictReader(Path("o.csv").read_text().splitlines()))
    assert {"metric_ratio", "metric_pure_s", "metric_waiting_s"} <= set(rows[0])


def test_a_parameter_that_only_the_workload_has_means_a_case(hockney):
    said = hockney("run", "overlap", "bytes=1KiB", "tests=4", *FAKE, "--json", "--out", "runs/c")
    assert said.code == 0, said.err
    plan = Path("runs/c/plan.txt").read_text()
    assert {"overlap", "bytes=1024", "tests=4"} <= set(plan.split())


def test_undecided_is_exit_4(hockney):
    """A single launch has no interval."""
    said = hockney(*RUN, "progress=own", "--launches", "1", "--out", "runs/one", "--json")
    answer = json.loads(said.out)["answer"]
    assert (said.code == 4) == (answer["pays"] is None)
