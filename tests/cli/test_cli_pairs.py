# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run pairs, end to end on the fake machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FAKE = ("--machine", "fake", "--launches", "3", "--budget", "10m", "--seed", "1", "-q")
RUN = ("run", "pairs", "pairs=1,2", "--sizes", "8,4KiB,64KiB,1MiB", *FAKE)


@pytest.mark.page
def test_a_run_has_its_answer_document_page_and_model(hockney, golden):
    said = hockney(*RUN, "--out", "runs/p")
    assert said.code == 0, said.err
    golden("run_pairs.txt", said.out)
    document = json.loads(hockney("resume", "runs/p", "--json").out)["answer"]
    assert len(document["ways"]) == 2 and len(document["cases"]) == 2 * 2 * 4
    for case in document["cases"]:
        assert case["slowdown"]["value"] >= 0.9 and case["bandwidth_bytes_per_s"]["value"] > 0
    assert "bandwidth of all pairs" in Path("runs/p/report.html").read_text()
    assert "R_N" in hockney("models", "runs/p").out


def test_each_place_of_the_ranks_is_answered_by_itself(hockney):
    """On 4 nodes of 4 ranks: within a node 2 pairs, between two nodes 4, with each rank on its own node 2."""
    words = ("--machine", "fake:nodes=4", "--launches", "3", "--budget", "10m", "--seed", "1", "-q")
    said = hockney(
        "run", "pairs", "pairs=1,2,4", "--sizes", "8,64KiB,1MiB", *words, "--json", "--out", "runs/l"
    )
    assert said.code in (0, 4), said.err
    document = json.loads(said.out)["answer"]
    pairs = {}
    for case in document["cases"]:
        pairs.setdefault((case["workload"], case["place"]), set()).add(case["pairs"])
    assert pairs == {
        (workload, place): counts
        for workload in ("pairs_stream", "pairs_pingpong")
        for place, counts in (("node", {1, 2}), ("network", {1, 2, 4}), ("apart", {1, 2}))
    }
    streams = {w["place"]: w for w in document["ways"] if w["workload"] == "pairs_stream"}
    known = {place: way["model"]["parameters"]["R_N"] for place, way in streams.items()}
    assert known["network"]["value"] == pytest.approx(4e9, rel=0.03)
    assert known["node"]["high"] is None and known["apart"]["high"] is None


def test_predictions_from_such_a_run_use_what_messages_of_a_node_share(hockney):
    words = ("--machine", "fake:nodes=2", "--launches", "3", "--budget", "10m", "--seed", "1", "-q")
    sizes = "8,1KiB,16KiB,64KiB,256KiB,1MiB"
    assert hockney("run", "pairs", "pairs=1,4", "--sizes", sizes, *words, "--out", "runs/p").code in (0, 4)
    work = ("--run", "runs/p", "--work", "10ms", "--message", "1MiB", "--ranks", "8")
    said = hockney("predict", *work, "--json")
    assert said.code == 0, said.err
    rates = {each["place"]: each for each in json.loads(said.out)["machine"]["shared_rates"]}
    assert rates["network"]["bytes_per_s"]["value"] == pytest.approx(4e9, rel=0.03)
    assert rates["network"]["pairs"] == 4
    assert "share" in hockney("predict", *work).out
