# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""On several nodes, every output names the level of its numbers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from hockney.launch.fake_world import World
from hockney.machines import simulated

LEVELS = ("node", "network")
WORDS = ("pingpong bytes=0:64KiB place=node,network", "bcast bytes=8 ranks=4 nodes=1,2")
TWO_NODES = ("--machine", "fake:nodes=2", "--seed", "1", "-q", "--out", "r")


def test_every_output_has_the_level_of_each_number(hockney, copied_run):
    copied_run("r", *WORDS, machine="fake:nodes=2")
    lines = [line.split() for line in hockney("resume", "r", "-q").out.splitlines()]
    assert {"place", "nodes"} <= set(next(line for line in lines if line[:1] == ["workload"]))
    rows = [line for line in lines if line[:1] == ["pingpong"]]
    assert {level for row in rows for level in LEVELS if level in row} == set(LEVELS)

    document = json.loads(hockney("resume", "r", "-q", "--json").out)
    found = {(s["place"], s["nodes"]) for s in document["summaries"] if s["case"].startswith("pingpong")}
    assert found == {("node", 1), ("network", 2)}
    assert {s["nodes"] for s in document["summaries"] if s["case"].startswith("bcast")} == {1, 2}
    assert {f["subject"] for f in document["fits"] if f["model"] == "hockney"} == {
        f"pingpong buffers=hot place={level} ranks=2" for level in LEVELS
    }
    machine = document["machine"]
    assert (machine["levels"], machine["ranks_per_node"]) == (list(LEVELS), 4)
    assert machine["hosts"] == ["fakehost0", "fakehost1"]

    for what in ("summaries", "repetitions"):
        text = hockney("export", "r", "--what", what, "--csv", "-").out
        exported = list(csv.DictReader(io.StringIO(text)))
        for row in exported:
            wanted = next((w for w in row["case"].split() if w.startswith(("place=", "nodes="))), "")
            name, _, value = wanted.partition("=")
            assert row[name] == value and row["nodes"] in ("1", "2")
        assert len({row["place"] for row in exported}) == 3, "none for collectives"


def test_cases_that_do_not_name_their_level_show_it_where_it_differs(hockney):
    words = ("pingpong bytes=8", "bcast bytes=8 ranks=8", "--machine", "fake:nodes=2", "-q", "--seed", "1")
    out = hockney("run", *words, "--columns", "typical,place,nodes").out
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.split()[-1:] in (["1"], ["2"])}
    assert rows["pingpong"][-2:] == ["node", "1"] and rows["bcast"][-2:] == ["-", "2"]
    usual = hockney("run", *words).out
    assert "nodes" in next(line for line in usual.splitlines() if line.split()[:1] == ["workload"])


def test_a_run_on_several_nodes_is_resumed_on_them(hockney):
    hockney("run", *WORDS, *TWO_NODES, "--launches", "2")
    path = Path("r/records.jsonl")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:9]))
    again = hockney("resume", "r", "-q", "--json", "--machine", "fake:nodes=2")
    document = json.loads(again.out)
    assert (document["outcome"]["measured"], document["outcome"]["left"]) == (68, 0)
    assert {(s["place"], s["nodes"]) for s in document["summaries"]} >= {("node", 1), ("network", 2)}
    assert all(s["launches"] == 2 for s in document["summaries"])


@pytest.fixture
def surveyed(hockney):
    """A survey of both levels."""
    assert hockney("survey", *TWO_NODES, "--budget", "20s").code == 0
    return "r"


@pytest.mark.slow
def test_a_prediction_depends_on_the_layout(hockney, surveyed):
    def row(*words: str) -> dict:
        asked = (
            "predict",
            "--work",
            "100us",
            "--message",
            "4kB",
            "--run",
            surveyed,
            "--json",
            "--ranks",
            "4",
        )
        document = json.loads(hockney(*asked, *words).out)
        assert "one-level" not in {caveat["code"] for caveat in document["doubts"]}
        (found,) = document["ranks"]
        return found

    one, two, four = row("--nodes", "1"), row("--nodes", "2"), row("--nodes", "4")
    assert one["time_s"]["value"] < two["time_s"]["value"] < four["time_s"]["value"]
    assert (two["nodes"], two["ranks_per_node"]) == (2, 2)
    assert row("--ranks-per-node", "2") == two and row("--ranks-per-node", "1") == four


@pytest.mark.parametrize(("place", "lacking"), [("node", "between"), ("network", "within")])
def test_a_prediction_from_one_level_has_a_caveat_where_it_needs_the_other(hockney, place, lacking):
    hockney("run", f"pingpong bytes=0:64KiB buffers=hot place={place}", *TWO_NODES)
    asked = ("predict", "--work", "100us", "--message", "4kB", "--run", "r", "--json", "--ranks", "4")
    for asked_nodes in (1, 2, 4):
        document = json.loads(hockney(*asked, "--nodes", str(asked_nodes)).out)
        found = [c["text"] for c in document["doubts"] if c["code"] == "one-level"]
        needed = asked_nodes > 1 if lacking == "between" else asked_nodes < 4
        assert bool(found) == needed and all(f"messages {lacking}" in text for text in found)


@pytest.mark.slow
def test_a_run_of_two_levels_is_calibrated_with_both(hockney, surveyed):
    done = hockney("calibrate", surveyed)
    assert done.code == 0, done.err
    machine = simulated.read(done.out)
    world = World()
    for on_node, of_level in ((True, world), (False, world.at_level("network"))):
        found = machine.segment(8, on_node=on_node).one_way(8)
        assert found == pytest.approx(of_level.message(8), rel=0.1)
    assert [(group.count, group.cores) for group in machine.nodes] == [(2, 4)]
