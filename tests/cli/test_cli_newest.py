# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Which run verbs use by default."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from resealed import reseal

from hockney import api
from hockney.api import newest_run
from hockney.cli.output.answer import named_run_hint
from hockney.core.errors import Inconclusive
from hockney.store import Reading, RunFolder

RUNS = ("old", "newest", "cut")


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("kept") / "runs"
    for age, name in enumerate(RUNS):
        api.run("barrier", api.RunOptions(machine="fake", launches=3), out=folder / name)
        records = folder / name / "records.jsonl"
        if name == "cut":
            _cut_last_launch(records.parent)
        os.utime(records, (10**9 + age, 10**9 + age))
    return folder


@pytest.fixture
def runs(hockney, kept: Path) -> Path:
    """Two complete runs and, written last, one with a missing launch."""
    return Path(shutil.copytree(kept, "runs"))


def _cut_last_launch(run: Path) -> None:
    records = run / "records.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    last = max(k for k, line in enumerate(lines) if json.loads(line)["kind"] == "launch")
    records.write_text("".join(lines[:last]))
    reseal(run)


def test_the_newest_complete_one_is_read(hockney, runs):
    (runs / "latest").symlink_to("cut")
    for words in (("report", "--json"), ("models", "--json"), ("export", "--csv", "-")):
        done = hockney(*words)
        assert "runs/newest" in done.err and done.err.count("\n") == 1, (words, done.err)
        assert done.out == hockney(words[0], "runs/newest", *words[1:]).out


def test_records_are_read_once(hockney, runs, monkeypatch):
    read: list[Path] = []
    reading = RunFolder.read

    def counted(folder: RunFolder) -> Reading:
        read.append(folder.path)
        return reading(folder)

    monkeypatch.setattr(RunFolder, "read", counted)
    for words in (("report",), ("models", "--cost", "undisturbed"), ("export", "--csv", "-")):
        read.clear()
        assert hockney(*words).code == 0
        assert read == [Path("runs/cut"), Path("runs/newest")], words


def test_the_newest_one_is_verified_whatever_it_is_worth(hockney, runs):
    done = hockney("verify", "--json")
    assert done.code == 4 and "runs/cut" in done.err
    written = Path("runs/cut/records.jsonl").stat().st_mtime
    assert time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(written)) in done.err


def test_of_runs_written_at_the_same_time_the_last_name_is_the_newest(hockney, runs):
    for name in RUNS:
        os.utime(runs / name / "records.jsonl", (10**9, 10**9))
    assert "runs/old" in hockney("verify", "--json").err
    (runs / "old" / "records.jsonl").unlink()
    assert "runs/old" in hockney("verify", "--json").err, "its plan was written later"
    os.utime(runs / "old" / "plan.txt", (1, 1))
    assert "runs/newest" in hockney("verify", "--json").err
    os.utime(runs / "old" / "plan.txt", (2.2e9, 2.2e9))
    assert "runs/newest" in hockney("verify", "--json").err, "a clock was wrong"


def test_the_only_unfinished_one_is_resumed(hockney, runs):
    done = hockney("resume", "--json")
    assert done.code == 0 and "runs/cut" in done.err
    assert hockney("verify", "runs/cut", "--json").code == 0
    again = hockney("resume")
    assert (again.code, again.error.code, again.error.fields["runs"]) == (2, "not-one-unfinished-run", [])


def test_a_complete_run_that_lacks_launches_is_resumed(hockney):
    """It has as many launches as each case needs, and fewer than hockney planned."""
    assert hockney("run", "barrier", "--launches", "4", "--out", "runs/short", "-q").code == 0
    plan = Path("runs/short/plan.txt")
    plan.write_text(plan.read_text().replace("launches = 4\n", "launches = 4\nextend = true\n"))
    _cut_last_launch(Path("runs/short"))
    assert hockney("verify", "runs/short", "--json").code == 0
    done = hockney("resume", "--json")
    assert done.code == 0 and "runs/short" in done.err
    assert hockney("resume").error.code == "not-one-unfinished-run"


def test_a_run_of_which_nothing_can_be_measured_is_not_resumed(hockney, runs):
    words = ("run", "barrier", "bcast", "--launches", "3", "-q", "--machine")
    done = hockney(*words[:2], *words[3:], "fake:refuse=barrier", "--out", "runs/refused")
    assert done.code == 4
    resumed = hockney("resume", "--json")
    assert resumed.code == 0 and "runs/cut" in resumed.err
    assert hockney("resume").error.fields["runs"] == []
    assert hockney(*words, "fake:refuse=barrier", "--out", "runs/half").code == 4
    assert hockney("resume", "--machine", "fake:refuse=barrier").error is None, "bcast was measured"


def test_a_run_of_another_machine_is_named_but_not_taken(hockney):
    assert hockney("machines", "--export", "t3e", "--out", "runs/p").code == 0
    for study, elsewhere in (("published", "runs/p"), ("barriers", "")):
        with pytest.raises(Inconclusive) as caught:
            newest_run(study)
        assert caught.value.fields == {"study": study, "elsewhere": elsewhere}


def test_the_fastest_barrier_is_that_of_a_complete_run(hockney):
    for age, name in enumerate(("complete", "unfinished")):
        words = ("run", "barriers", "--ranks", "2", "--launches", "3", "--out", f"runs/{name}", "-q")
        assert hockney(*words).code == 0
        if name == "unfinished":
            _cut_last_launch(Path("runs") / name)
        os.utime(Path("runs") / name / "records.jsonl", (10**9 + age, 10**9 + age))
    done = hockney("barrier", "--best", "--json")
    assert done.code == 0 and "runs/complete" in done.err
    shutil.rmtree("runs/complete")
    alone = hockney("barrier", "--best")
    assert alone.code == 0 and "runs/unfinished" in alone.err
    found = [json.loads(hockney("barrier", "--best", "--json").out)["doubts"], json.loads(done.out)["doubts"]]
    unfinished, complete = ([caveat["code"] for caveat in each] for each in found)
    assert complete[0] == "fake" and set(unfinished) - set(complete) >= {"incomplete"}


def test_of_several_unfinished_ones_none_is_resumed(hockney, runs):
    (runs / "old" / "records.jsonl").unlink()
    (runs / "old" / "records.jsonl").touch()
    done = hockney("resume")
    assert (done.code, done.error.code) == (2, "not-one-unfinished-run")
    assert sorted(done.error.fields["runs"]) == ["runs/cut", "runs/old"]


def test_without_a_run_there_is_nothing_to_read(hockney):
    for words in (("report",), ("verify",)):
        done = hockney(*words)
        assert (done.code, done.error.code, done.out) == (2, "no-run-named", ""), words
    assert hockney("calibrate").error.code == "no-run-of-study"
    assert hockney("resume").error.code == "not-one-unfinished-run"


def test_without_a_complete_run_the_unfinished_one_is_named(hockney, runs):
    for name in ("old", "newest"):
        shutil.rmtree(runs / name)
    for words in (("report",), ("models",), ("export", "--csv", "-")):
        done = hockney(*words)
        assert (done.code, done.error.code, done.error.fields["unfinished"]) == (
            2,
            "no-run-named",
            "runs/cut",
        )
        assert "hockney resume runs/cut" in done.error.remedy
    (runs / "cut" / "records.jsonl").unlink()
    assert hockney("report").error.fields["unfinished"] == "", "a damaged run cannot be resumed"


def test_a_run_elsewhere_has_to_be_named(hockney):
    elsewhere = hockney("run", "barrier", "--out", "my run")
    assert named_run_hint(Path("my run")) in elsewhere.err and "'my run'" in elsewhere.err
    here = hockney("run", "barrier", "--out", "runs/b")
    assert here.code == 0 and named_run_hint(Path("runs/b")) not in here.err
    assert "runs/b" in hockney("report").err


@pytest.mark.slow
def test_surveys_are_calibrated_and_predicted_from_not_newer_runs(hockney, surveyed, small_survey):
    """Neither a newer run of another study nor a newer unfinished survey replaces it."""
    small_survey("runs/unfinished")
    records = Path("runs/unfinished/records.jsonl")
    lines = records.read_bytes().splitlines(keepends=True)
    last = max(k for k, line in enumerate(lines) if json.loads(line)["kind"] == "launch")
    records.write_bytes(b"".join(lines[:last]))
    assert hockney("run", "barrier", "--out", "runs/barrier", "-q").code == 0
    assert "runs/first" in hockney("calibrate", "--json").err
    predicting = ("predict", "--work", "1ms", "--message", "8")
    assert "runs/first" in hockney(*predicting).err
    shutil.rmtree("runs/first")
    for words in (predicting, (*predicting, "--run", "runs/unfinished")):
        doubts = json.loads(hockney(*words, "--json").out)["doubts"]
        assert {"fake", "incomplete"} <= {caveat["code"] for caveat in doubts}
