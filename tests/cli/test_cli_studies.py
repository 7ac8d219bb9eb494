# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run pairs, overlap, collectives and granularity, end to end on the fake machine."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from command_line import one_error
from golden_files import numbers, replaced
from resealed import reseal

from hockney import api
from hockney.store import RunFolder

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


OVERLAP_RUN = ("run", "overlap", "operations=message", "--sizes", "8,1MiB", "--ranks", "2", *FAKE)


@pytest.mark.page
def test_a_run_has_its_answer_document_page_and_export(hockney, golden):
    said = hockney(*OVERLAP_RUN, "--out", "runs/o")
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
    said = hockney(*OVERLAP_RUN, "progress=own", "--launches", "1", "--out", "runs/one", "--json")
    answer = json.loads(said.out)["answer"]
    assert (said.code == 4) == (answer["pays"] is None)


COLLECTIVES_RUN = (
    "run",
    "collectives",
    "operations=bcast,scan",
    "eager=64KiB",
    "--ranks",
    "2",
    "--sizes",
    "8,64KiB",
)
MORE = ("--budget", "5s", "--seed", "1", "-q")


@pytest.mark.page
def test_a_run_has_its_answer_document_and_page(hockney, golden):
    done = hockney(*COLLECTIVES_RUN, *MORE, "--out", "runs/collectives")
    assert done.code == 0, done.err
    headline = done.out.split("\n\nwarning")[0]
    golden("run_collectives.txt", headline, numbers, replaced(r" is best here|none of those tried", "N"))
    document = json.loads(hockney("resume", "runs/collectives", "--json").out)
    points = document["answer"]["collectives"]
    assert {(p["operation"], p["buffer_bytes"]) for p in points} == {
        (name, size) for name in ("bcast", "scan") for size in (8, 65536)
    }
    assert all(p["ratio_low"] <= p["ratio"] <= p["ratio_high"] for p in points)
    (limit,) = document["answer"]["eager_limits"]
    assert limit["limit_bytes"] == 65536 and limit["ratio_high"] < 1
    assert document["answer"]["best_eager_limit_bytes"] == 65536
    launched = [json.loads(line) for line in Path("runs/collectives/records.jsonl").read_text().splitlines()]
    settings = {x["setting"]: x["variables"] for x in launched if x["kind"] == "launch"}
    assert settings == {"": {}, "eager-own": {}, "eager-65536": {"FAKE_EAGER_LIMIT": "65536"}}
    text = Path("runs/collectives/report.html").read_text()
    assert "MPI_Bcast" in text and "FAKE_EAGER_LIMIT=65536" in text, "the page lists the settings"


def test_a_plan_can_be_seen_first(hockney):
    done = hockney("plan", *COLLECTIVES_RUN[1:], "--cases")
    assert done.code == 0, done.err
    assert sum("setting=eager-65536" in line for line in done.out.splitlines()) == 10


SMALL = (
    "work=30us,1ms",
    "--sizes",
    "1words",
    "serial=0,1%",
    "--ranks",
    "2",
    "--budget",
    "5s",
    "-q",
)


@pytest.fixture
def surveyed(copied_run) -> Path:
    """The required part of a survey, in runs/s."""
    return Path(copied_run("runs/s", "pingpong bytes=0:1MiB"))


def elsewhere(survey: Path) -> None:
    """Edited as if it had been made on another host with more cores."""
    path = survey / "machine.json"
    machine = json.loads(path.read_text()) | {"host": "otherhost", "cores": 64}
    path.write_text(json.dumps(machine))
    reseal(survey)


@pytest.mark.page
def test_a_study_keeps_the_survey_and_can_be_told_again_without_it(hockney, surveyed, golden):
    words = (f"survey={surveyed}", "--out", "g", "--seed", "1")
    said = hockney("run", "granularity", *SMALL, *words)
    assert said.code == 0, said.err
    golden("run_granularity.txt", said.out)
    folder = RunFolder(Path("g"))
    kept = folder.surveyed()
    assert (kept.where, kept.differences) == ("runs/s", ())
    assert {case.workload for case in folder.plan().cases} >= {"compute", "granularity"}
    assert not any(case.workload == "pingpong" for case in folder.plan().cases), "nothing is surveyed twice"
    before = Path("g/report.html").read_text()
    shutil.rmtree(surveyed)
    assert hockney("report", "g").code == 0
    assert Path("g/report.html").read_text() == before and "runs/s" in before
    assert hockney("export", "g", "--csv", "-").code == 0
    Path("g/survey.json").write_text("{}")
    assert "g/survey.json" in one_error(hockney("report", "g"), 3)


def test_another_machines_survey_is_refused_and_forced_with_a_doubt(hockney, surveyed):
    elsewhere(surveyed)
    words = ("granularity", *SMALL, f"survey={surveyed}")
    for verb in ("run", "plan"):
        line = one_error(hockney(verb, *(words if verb == "run" else (*words[:-2], words[-1]))), 2)
        assert all(word in line for word in ("otherhost", "fakehost", "64", "4", "--force"))
    assert not Path("g").exists()
    document = json.loads(hockney("run", *words, "--force", "--out", "g", "--json").out)
    (doubt,) = [doubt for doubt in document["doubts"] if doubt["code"] == "survey"]
    assert "runs/s" in doubt["text"] and "otherhost" in doubt["text"]
    shutil.rmtree(surveyed)
    kept = api.load(Path("g")).evidence
    assert "otherhost" in kept.survey.differences[0], "the doubt stays with the run"


def test_granularity_in_rounds(hockney):
    said = hockney("run", "granularity", *SMALL, "--repeat", "4", "--every", "10s", "--out", "g")
    assert said.code == 0, said.err
    run = RunFolder(Path("g")).read().run
    starts = sorted(launch.started_s for launch in run.launches if launch.index % 2 == 0)
    assert [round(t - starts[0]) for t in starts] == [0, 10, 20, 30]
    assert {len(found) for found in run.by_case().values()} == {4}


@pytest.mark.parametrize(("conclusive", "code"), [(True, 0), (False, 4)])
def test_the_exit_code_is_that_of_the_answer(hockney, monkeypatch, conclusive, code):
    monkeypatch.setattr("hockney.studies.granularity.is_conclusive", lambda evidence: conclusive)
    words = ("run", "granularity", "work=100us", "--sizes", "20kB", "--ranks", "2", "--budget", "20s")
    assert hockney(*words, "--seed", "1", "-q").code == code
