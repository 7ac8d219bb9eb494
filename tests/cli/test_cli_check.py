# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney survey --check and hockney run --check: measure, compare with a baseline, exit code."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as xml

import msgspec
import pytest
from resealed import reseal

from hockney.core.machine import Machine
from hockney.store import RunFolder

CASES = ("pingpong bytes=0,64,4KiB", "allreduce bytes=64,1KiB,16KiB ranks=2,4", "barrier")
SLOWER = "slow=allreduce bytes=1024 ranks=4:1.3;slow=allreduce bytes=16384 ranks=4:1.3"
BUDGET = ("--budget", "5s", "-q")


@pytest.fixture
def base(copied_run) -> str:
    """A baseline of ad-hoc cases with 8 launches."""
    return copied_run("base", *CASES, machine="fake:seed=1", launches=8, budget=20.0)


def lines(folder: str) -> set[str]:
    return {case.line for case in RunFolder.open(Path(folder)).plan().cases}


def test_the_cases_of_the_baseline_are_measured(hockney, base):
    said = hockney("survey", "--check", base, "--machine", "fake:seed=2", "--out", "new", *BUDGET, "--json")
    document = json.loads(said.out)
    assert said.code == 0 and document["comparison"]["verdict"] == "same"
    assert lines("new") == lines("base")
    assert document["comparison"]["only_a"] == document["comparison"]["only_b"] == []
    assert (document["run"], document["comparison"]["a"]["runs"]) == ("new", ["base"])


def test_a_slowdown_fails_in_every_form_and_is_measured_in_more_launches(hockney, base, golden):
    words = ("survey", "--check", base, "--machine", f"fake:seed=3;{SLOWER}", "--out", "new", "--seed", "1")
    files = ("--junit", "junit.xml", "--markdown", "comment.md", "--report", "page.html")
    said = hockney(*words, *BUDGET, *files)
    assert said.code == 1
    golden("check.txt", said.out[said.out.index("Compared") :])
    assert xml.parse("junit.xml").getroot().get("failures") == "2" and Path("page.html").exists()
    compared = hockney("compare", base, "new", "--format", "markdown")
    assert compared.out.rstrip() == Path("comment.md").read_text().rstrip()
    document = json.loads(hockney("compare", base, "new", "--json").out)
    slower = {each["case"]: each for each in document["cases"] if each["verdict"] == "slower"}
    assert len(slower) == 2 and all("allreduce" in case and "ranks=4" in case for case in slower)
    same = [each["b_launches"] for each in document["cases"] if each["verdict"] == "same"]
    assert min(each["b_launches"] for each in slower.values()) > min(same)


def test_the_tolerance_decides(hockney, base):
    words = ("survey", "--check", base, "--machine", f"fake:seed=3;{SLOWER}", *BUDGET)
    assert hockney(*words, "--tolerance", "50%").code == 0
    assert hockney("survey", "--check", base, *BUDGET, "--tolerance", "0.01%").code == 4


def test_a_part_of_the_baseline(hockney, base):
    words = ("survey", "--check", base, "--ranks", "4", "--sizes", "64,1KiB", "--out", "new")
    assert hockney(*words, *BUDGET).code in (0, 4)
    assert {line.split()[0] for line in lines("new")} == {"allreduce"} and len(lines("new")) == 2


def test_an_archive(hockney, base, monkeypatch):
    """Its newest runs count."""
    monkeypatch.setattr("hockney.api.judgements.baseline.MAX_RUNS_PER_MACHINE", 2)
    for k in (1, 2, 3):
        words = ("--launches", "5", "--machine", f"fake:seed={k};day={10 * k}", "--label", f"r{k}", *BUDGET)
        hockney("run", "allreduce bytes=64 ranks=2", *words, "--out", f"r{k}")
        assert hockney("history", "add", f"r{k}", "--archive", "kept").code == 0
    document = json.loads(hockney("survey", "--check", "kept", *BUDGET, "--json").out)["comparison"]
    assert document["a"]["labels"] == ["r2", "r3"] and document["a"]["launches"] == 10
    Path("kept/index.sqlite").unlink()
    document = json.loads(hockney("survey", "--check", "kept", *BUDGET, "--json").out)["comparison"]
    assert document["a"]["labels"] == ["r2", "r3"], "the index is only a cache"
    for place, run in enumerate(sorted(Path("kept").glob("cases-*"))):
        run.rename(Path("kept", str(place)))
    Path("kept/index.sqlite").unlink()
    document = json.loads(hockney("survey", "--check", "kept", *BUDGET, "--json").out)["comparison"]
    assert document["a"]["launches"] == 15, "a folder of runs"


def test_a_published_machine(hockney):
    said = hockney("survey", "--check", "t3e", "--sizes", "0,64,1KiB", "--out", "new", *BUDGET, "--json")
    document = json.loads(said.out)["comparison"]
    assert said.code == 0 and document["verdict"] == "faster"
    assert {line.split()[0] for line in lines("new")} == {"pingpong"}


@pytest.mark.slow
def test_sizes_added_to_the_baseline_are_measured_too(hockney):
    """They are in its records, not in its plan."""
    words = ("run", "pingpong bytes=0:4MiB", "--refine", "--launches", "10", "--out", "base")
    assert hockney(*words, *BUDGET).code == 0
    measured = {record.case for record in RunFolder.open(Path("base")).read().run.records}
    hockney("survey", "--check", "base", "--out", "new", *BUDGET)
    assert lines("new") == measured > lines("base")


def of_another_machine(folder: str, **changes: object) -> None:
    path = Path(folder, "machine.json")
    machine = msgspec.json.decode(path.read_bytes(), type=Machine)
    path.write_bytes(msgspec.json.encode(msgspec.structs.replace(machine, **changes)))
    reseal(Path(folder))


@pytest.mark.parametrize(
    ("changes", "accepted"),
    [({"cpu": "another"}, False), ({"cores": 2}, False), ({"kind": "real"}, False), ({"host": "n2"}, True)],
)
def test_a_baseline_of_another_machine_is_refused(hockney, base, changes, accepted):
    of_another_machine(base, **changes)
    words = ("survey", "--check", base, "--out", "new", *BUDGET)
    said = hockney(*words)
    if accepted:
        assert said.code in (0, 4)
        return
    assert (said.code, said.out, said.error.code) == (2, "", "baseline-of-another-machine")
    assert not Path("new").exists()
    assert hockney(*words, "--force").code in (0, 4)


def test_runs_of_other_machines_are_left_out(hockney, base):
    Path("results").mkdir()
    for k in (1, 2, 3):
        shutil.copytree(base, f"results/{k}")
    of_another_machine("results/2", cpu="another")
    said = hockney("survey", "--check", "results", "--budget", "5s", "--json")
    document = json.loads(said.out)
    assert document["comparison"]["a"]["runs"] == ["results/1", "results/3"]
    assert "baseline-runs-left-out" in {notice["code"] for notice in document["notices"]}


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("survey", "--check", "none"), 2, "no-run-folder"),
        (("survey", "--check", "empty"), 2, "no-runs-in-folder"),
        (("survey", "--check", "unmeasured"), 2, "baseline-without-measurements"),
        (("survey", "--check", "damaged"), 3, "line-changed"),
        (("survey", "--check", "unknown"), 2, "baseline-not-measurable"),
        (("survey", "--check", "base", "--ranks", "3"), 2, "nothing-of-baseline"),
        (("run", "gather", "--check", "base"), 2, "nothing-asked-in-baseline"),
        (("survey", "--check", "base", "--submit"), 2, "check-excludes-option"),
        (("run", "barrier", "--check", "base", "--format", "plain"), 2, "check-excludes-option"),
    ],
)
def test_what_is_refused_before_measuring(hockney, base, words, code, error):
    Path("empty").mkdir()
    for name in {"unmeasured", "damaged", "unknown"} & set(words):
        shutil.copytree(base, name)
        records = Path(name, "records.jsonl")
        text = records.read_text()
        if name == "damaged":
            records.write_text(text.replace('"batch":', '"batch": ', 1))
            continue
        if name == "unknown":
            plan = Path(name, "plan.txt")
            for old in ("pingpong", "allreduce", "barrier"):
                text = text.replace(f'"case":"{old} ', f'"case":"{old}_of_tomorrow ')
                plan.write_text(plan.read_text().replace(f" {old} ", f" {old}_of_tomorrow "))
        records.write_text(text if name == "unknown" else "")
        reseal(Path(name))
    said = hockney(*words, "--out", "new")
    assert (said.code, said.out) == (code, "") and said.error.code == error
    assert not Path("new").exists()


def test_a_case_that_fails_now_is_not_fine(hockney, base):
    machine = "fake:seed=4;refuse=allreduce bytes=1024 ranks=4"
    said = hockney("survey", "--check", base, "--machine", machine, *BUDGET, "--json")
    document = json.loads(said.out)["comparison"]
    assert said.code == 4 and [each["failure"] for each in document["only_a"]] == ["refused"]


def test_launch_settings_of_the_baseline(hockney):
    setting = ("--setting", "large FAKE_EAGER_LIMIT=65536")
    cases = ("pingpong bytes=64", "pingpong bytes=8KiB setting=large")
    hockney("run", *cases, *setting, "--launches", "6", "--out", "base", *BUDGET)
    assert hockney("survey", "--check", "base", "--out", "new", *BUDGET).code in (0, 4)
    assert lines("new") == lines("base")
    plan = Path("base/plan.txt")
    marked = plan.read_text()
    plan.write_text("\n".join(line for line in marked.splitlines() if not line.startswith("mark = ")) + "\n")
    reseal(Path("base"))
    assert hockney("survey", "--check", "base", *BUDGET).error.code == "foreign-setting-of-baseline"
    assert hockney("survey", "--check", "base", *setting, "--out", "typed", *BUDGET).code in (0, 4)
