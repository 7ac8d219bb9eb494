# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney run guidelines and hockney guidelines, from command line to exit code, on the fake machine.

In its world an allreduce takes twice as many rounds as a reduce, so it violates the guideline of
reduce_scatter_block and allgather with half of its bytes, and no other."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from resealed import reseal

from hockney import api
from hockney.api import judge_guidelines
from hockney.studies.guidelines.columns import violations_table

QUICK = ("--ranks", "2", "--sizes", "4KiB,64KiB", "--seed", "1", "-q")


@pytest.fixture
def judged(copied_run) -> str:
    """A run of the study in runs/g."""
    return copied_run("runs/g", "guidelines", ranks=(2,), sizes=(4096, 65536), launches=6)


def violating(document: dict) -> set[tuple[str, int, str]]:
    return {(each["case"].split()[0], each["bytes"], each["guideline"]) for each in document["violations"]}


def test_it_finds_the_worlds_violation_and_no_other(hockney, judged, golden):
    said = hockney("guidelines", "--json")
    assert said.code == 1 and "runs/g" in said.err
    document = json.loads(said.out)
    assert violating(document) == {
        ("allreduce", size, "allreduce-reduce_scatter_block-allgather") for size in (4096, 65536)
    }
    largest = document["violations"][0]
    assert largest["bytes"] == 65536 and largest["ratio"] == pytest.approx(1.9, abs=0.1)
    assert 1.05 < largest["ratio_low"] < largest["ratio"] < largest["ratio_high"]
    assert largest["p"] <= 0.05 and largest["state"] == "violated"
    assert [part["case"].split()[0] for part in largest["parts"]] == ["reduce_scatter_block", "allgather"]
    assert all("bytes=32768" in part["case"] for part in largest["parts"])
    assert document["not_judged"] == [] and len(document["guidelines"]) == 22
    assert sum(each["violated"] for each in document["guidelines"]) == 2
    golden("guidelines.txt", hockney("guidelines", "runs/g").out)


def test_the_factor_decides_the_exit_code(hockney, judged):
    codes = [hockney("guidelines", judged, "--factor", factor).code for factor in ("1.05", "1.6", "2.5")]
    assert codes == [1, 1, 0]
    assert len(json.loads(hockney("guidelines", "--factor", "1.6", "--json").out)["violations"]) == 1
    for wrong in ("0.9", "x", "nan", "inf"):
        refused = hockney("guidelines", judged, "--factor", wrong)
        assert (refused.code, refused.error.code, refused.out) == (2, "number-out-of-range", ""), wrong


def test_a_loaded_machine_is_mentioned(hockney, judged):
    quiet = json.loads(hockney("guidelines", "--json").out)
    assert quiet["loaded_launches"] == 0 < quiet["launches"]
    assert "warning" not in hockney("guidelines", "-q").out
    records = Path(judged, "records.jsonl")
    records.write_text(records.read_text().replace('"outside_cores":null', '"outside_cores":1.5'))
    reseal(Path(judged))
    loaded = json.loads(hockney("guidelines", "--json").out)
    assert loaded["loaded_launches"] == loaded["launches"] == quiet["launches"]
    assert "warning" in hockney("guidelines", "-q").out


def test_one_launch_is_inconclusive(hockney):
    assert hockney("run", "guidelines", *QUICK, "--launches", "1", "--out", "runs/one").code == 0
    said = hockney("guidelines")
    assert said.code == 4 and said.error is None
    document = json.loads(hockney("guidelines", "--json").out)
    assert {each["state"] for each in document["comparisons"]} == {"unknown"}


@pytest.mark.slow
def test_other_runs_do_if_they_have_the_cases(hockney, surveyed):
    """A survey measures all collectives at the same sizes, of blocks and vectors alike."""
    said = hockney("guidelines", "--json")
    document = json.loads(said.out)
    violations = {(name, guideline) for name, _, guideline in violating(document)}
    # Two messages of 2 KiB are faster than one of 4 KiB. So few launches need not show the other two among
    # hundreds of comparisons.
    assert ("pingpong", "split") in violations
    assert violations <= {
        ("allreduce", "allreduce-reduce_scatter_block-allgather"),
        ("bcast", "bcast-scatter-allgather"),
        ("pingpong", "split"),
    }
    assert said.code == 1
    assert document["run"] == "runs/first"
    names = {each["name"] for each in document["guidelines"]}
    assert {"gather-allgather", "reduce-allreduce", "allreduce-reduce-bcast", "monotony", "split"} <= names
    assert {"scan-exscan-reduce_local", "gather-gatherv"} <= set(document["not_judged"])


def test_the_newest_run_of_the_study_comes_before_newer_ones_of_other_kinds(hockney, surveyed, judged):
    """Its name is reported. Another kind of run is used only if the study has no complete one."""
    os.utime("runs/g/records.jsonl", (1, 1))
    shutil.copytree("runs/g", "runs/older")
    os.utime("runs/older/records.jsonl", (0, 0))
    said = hockney("guidelines", "--json")
    assert json.loads(said.out)["run"] == "runs/g" and "runs/g" in said.err
    for run in ("runs/g", "runs/older"):
        Path(run, "records.jsonl").write_bytes(b"")
    assert json.loads(hockney("guidelines", "--json").out)["run"] == "runs/first"


def test_synchronisations_are_shown_if_there_are_several(hockney):
    words = ("gather bytes=64 algorithm=mpi,linear sync=barrier,window", "--launches", "5", "-q")
    assert hockney("run", *words, "--out", "runs/two").code == 0
    page = judge_guidelines(api.load("runs/two"))
    assert {each.left["sync"] for each in page.judged} == {"barrier", "window"} and len(page.judged) == 2
    assert "sync" in violations_table(page).columns
    assert hockney("run", words[0].replace(",window", ""), *words[1:], "--out", "runs/one").code == 0
    assert "sync" not in violations_table(judge_guidelines(api.load("runs/one"))).columns


def test_without_the_cases_it_tells_what_measures_them(hockney, mine):
    newest = hockney("guidelines")
    assert (newest.code, newest.error.code, newest.out) == (4, "no-run-with-guidelines", "")
    named = hockney("guidelines", mine)
    assert (named.code, named.error.code, named.out) == (4, "no-guideline-to-judge", "")
    assert "hockney run guidelines" in newest.err and "hockney run guidelines" in named.err
    assert hockney("guidelines", "runs/none").code == 2


def test_ranks_and_sizes_of_the_study(hockney):
    plan = hockney("plan", "guidelines", "--ranks", "1,3", "--sizes", "100", "--json")
    assert plan.code == 0
    cases = [each["case"] if isinstance(each, dict) else each for each in json.loads(plan.out)["cases"]]
    assert cases and all("ranks=3" in case for case in cases)
    assert {case.split()[0] for case in cases} >= {"bcast", "exscan", "reduce_local", "gatherv"}


@pytest.mark.page
def test_the_studys_page(hockney, golden):
    done = hockney("run", "guidelines", *QUICK, "--launches", "5", "--out", "runs/p")
    assert done.code == 0, done.err
    page = api.load(Path("runs/p")).page
    assert page.lead is not None and page.lead.name == "guidelines"
    assert "allreduce 64 KiB on 2 ranks" in page.headline[1]
    assert [s.title for s in page.sections if not s.closed] == ["Violations"]
    (row, *_) = page.sections[0].tables[0].rows
    assert row[0] == "allreduce 64 KiB" and "reduce_scatter_block 32 KiB" in row[2]
    assert "Performance guidelines" in Path("runs/p/report.html").read_text()
