# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A study that uses an earlier survey: stored with its run, rejected if it is from another machine."""

import json
import shutil
from pathlib import Path

import pytest
from command_line import one_error
from resealed import reseal

from hockney import api
from hockney.store import RunFolder

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
    assert "otherhost" in kept.surveyed.differences[0], "the doubt stays with the run"


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
