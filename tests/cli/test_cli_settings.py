# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of MPI in a run: those of the environment, those that are typed, and two compared in one run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from hockney import api
from hockney.api.find_runs import other_settings_text, skipped_survey_notice
from hockney.api.measure import bench_change_notice
from hockney.core.wording import name_options_as_flags
from hockney.measurement.machine_diff import UNSET_TEXT

UCX = "UCX_TLS"


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tuned") / "kept"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(UCX, "tcp")
        patch.setenv("PMIX_SECURITY_MODE", "munge")
        api.run("pingpong bytes=0:64KiB", api.RunOptions(machine="fake", budget=5, seed=1), out=folder)
    return folder


@pytest.fixture
def tuned(hockney, kept: Path) -> None:
    """A run with UCX_TLS=tcp in runs/tuned; the variable is not set afterwards."""
    shutil.copytree(kept, "runs/tuned")


@pytest.mark.page
def test_settings_are_in_the_run_the_document_and_the_page(hockney, tuned):
    machine = json.loads(hockney("resume", "runs/tuned", "--json").out)["machine"]
    assert machine["settings"][UCX] == "tcp" and "PMIX_SECURITY_MODE" not in machine["settings"]
    assert machine == json.loads(Path("runs/tuned/machine.json").read_text())
    assert UCX in Path("runs/tuned/report.html").read_text()


def test_resume_names_the_setting_that_changed(hockney, tuned):
    """If there is something to measure."""
    notice = bench_change_notice(UCX, "tcp", UNSET_TEXT)
    assert notice.text not in hockney("resume", "runs/tuned", "--machine", "fake").err
    records = Path("runs/tuned/records.jsonl")
    records.write_bytes(records.read_bytes()[:-2000])
    assert notice.text in hockney("resume", "runs/tuned", "--machine", "fake").err


def test_a_survey_with_other_settings_is_refused(hockney, tuned):
    words = ("run", "granularity", "work=1ms", "survey=runs/tuned", "--sizes", "8", "-q")
    refused = hockney(*words)
    assert refused.code == 2 and refused.error.code == "survey-of-other-machine"
    assert refused.error.fields["differences"] == (f"{UCX} tcp, here {UNSET_TEXT}",)


def test_a_prediction_passes_over_a_survey_with_other_settings(hockney, small_survey, monkeypatch):
    words = ("predict", "--work", "100us", "--message", "40kB")
    small_survey("runs/plain")
    monkeypatch.setenv(UCX, "tcp")
    small_survey("runs/tuned")
    monkeypatch.delenv(UCX)
    said = hockney(*words)
    difference = f"{UCX} tcp, here {UNSET_TEXT}"
    reason = other_settings_text("runs/tuned", [difference])
    with name_options_as_flags():
        note = skipped_survey_notice(reason).text
    assert said.code == 0 and note in said.err and "runs/plain" in said.err
    monkeypatch.setenv(UCX, "tcp")
    assert "runs/tuned" in hockney(*words).err


@pytest.mark.page
def test_a_label_is_stored_and_shown(hockney):
    done = hockney("run", "barrier", "--label", "before tuning <b>", "--out", "r", "--json", "-q")
    assert json.loads(done.out)["label"] == "before tuning <b>"
    assert 'label = "before tuning <b>"' in Path("r/plan.txt").read_text()
    assert "before tuning &lt;b&gt;" in Path("r/report.html").read_text()
    assert hockney("resume", "r", "-q").code == 0


def test_hosts_are_stored_so_that_resume_uses_them_again(hockney):
    options = ("--nodes", "2", "--ranks-per-node", "3", "--launcher", "mpiexec", "--hosts", "n1,n2:4")
    assert hockney("run", "barrier", "--ranks", "2", *options, "--out", "r", "-q").code == 0
    plan = Path("r/plan.txt").read_text()
    for line in ("nodes = 2", "ranks_per_node = 3", 'starter = "mpiexec"', 'hosts = ["n1", "n2:4"]'):
        assert line in plan.splitlines()
    assert hockney("resume", "r", "-q").code == 0
    assert hockney("run", "barrier", "--launcher", "auto", "--out", "auto", "-q").code == 0
    assert "starter" not in Path("auto/plan.txt").read_text()


EAGER = "eager64k FAKE_EAGER_LIMIT=65536"
RUN = ("run", "pingpong bytes=1KiB,16KiB setting=default,eager64k", "--budget", "5s", "--seed", "1", "-q")


def test_both_settings_are_measured_and_shown(hockney):
    done = hockney(*RUN, "--setting", EAGER, "--out", "runs/both", "--json")
    assert done.code == 0, done.err
    times = {s["case"]: s["typical"]["value"] for s in json.loads(done.out)["summaries"]}
    assert len(times) == 4
    long = "pingpong buffers=hot bytes=16384 ranks=2"
    assert times[f"{long} setting=eager64k"] < 0.7 * times[long]
    shown = hockney("report", "runs/both")
    assert shown.code == 0, shown.err
    table = hockney(*RUN, "--setting", EAGER, "--columns", "typical").out
    assert "eager64k" in table and "default" in table


def test_a_setting_survives_resume(hockney):
    hockney(*RUN, "--setting", EAGER, "--out", "runs/short", "--launches", "3")
    records = Path("runs/short/records.jsonl")
    records.write_text("")
    resumed = hockney("resume", "runs/short", "--machine", "fake", "-q", "--json")
    assert resumed.code == 0, resumed.err
    assert sum("setting=eager64k" in line for line in records.read_text().splitlines()) == 6
