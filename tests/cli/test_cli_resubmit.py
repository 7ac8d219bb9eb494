# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Another job for the rest of a run: what it is given, and that no two jobs measure a run at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from scheduler_programs import ENDED, RUN, Scheduler

from hockney import api, measurement, process
from hockney.api import RunOptions, measure
from hockney.core.layout import HostOptions, Layout
from hockney.core.machine import Traits
from hockney.core.settings import Settings
from hockney.measurement import ignore_event
from hockney.process import ProgramTimeout
from hockney.store import RunFolder


def records(path: str) -> int:
    return len(RunFolder(Path(path)).read().run.records)


def test_a_job_that_ended_early_is_continued_by_another(hockney, scheduler):
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    text = Path("r/job.sh").read_text()
    Path("r/job.sh").write_text(text.rstrip("\n") + " --share 1/2\n")
    scheduler.run("r")
    scheduler.state(ENDED[scheduler.name])
    told = hockney("resume", "r", "--json", "-q")
    assert (told.code, json.loads(told.out)["outcome"]["left"]) == (4, 4)
    assert records("r") == 4
    again = hockney("resume", "r", "--submit", "-q")
    assert again.code == 0, again.err
    assert scheduler.jobs == 2
    scheduler.run("r")
    assert records("r") == 8
    full = hockney("resume", "r", "--submit")
    assert (full.code, full.error.code) == (2, "nothing-missing")


def test_pbs_is_asked_for_processors_when_a_run_is_continued(hockney, stand_in):
    pbs = stand_in("pbs")
    folder = begun(Path("r"))
    done = hockney("resume", str(folder.path), "--submit")
    assert (done.code, done.error.code, pbs.jobs) == (2, "ranks-per-node-missing", 0)


def begun(path: Path) -> RunFolder:
    """A run without records that was begun on this host."""
    made = api.plan("pingpong bytes=0,8", RunOptions(machine="fake", seed=1, budget=5.0, launches=2))
    return measurement.create_run(path, made.cases, made.settings, made.bench)


def test_another_job_has_the_options_of_the_run(hockney, slurm):
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    done = hockney("resume", "r", "--submit", "--nodes", "3")
    assert (done.code, done.error.code, slurm.jobs) == (2, "resubmitted-with-options", 1)


def test_a_job_is_submitted_once(hockney, slurm):
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    again = hockney("resume", "r", "--submit")
    assert (again.code, again.error.code, slurm.jobs) == (4, "job-not-ended", 1)


def test_a_refused_job_leaves_a_run_that_can_be_submitted(hockney, slurm):
    (slurm.folder / "refuse").touch()
    done = hockney(*RUN, "--submit", "--out", "r")
    assert (done.code, done.error.code) == (3, "job-not-submitted")
    assert "no such account" in done.error.why
    (slurm.folder / "refuse").unlink()
    assert hockney("resume", "r", "--submit").code == 0
    assert slurm.run("r").returncode == 0
    assert records("r") == 8


def test_another_job_does_not_measure_beside_the_first(hockney, slurm, monkeypatch):
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    done = hockney("resume", "r")
    assert (done.code, done.error.code) == (4, "job-not-ended")
    slurm.state(ENDED["slurm"])
    assert hockney("resume", "r", "-q").code == 0
    assert records("r") == 8


def test_a_copy_of_the_run_elsewhere_is_an_ordinary_one(hockney, slurm):
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    (slurm.folder / "squeue").unlink()
    done = hockney("resume", "r", "-q")
    assert done.code == 0, done.err
    assert records("r") == 8


def in_an_allocation(path: str, nodes: int = 2) -> RunFolder:
    """A run without records that was begun in a job of this many nodes, without an option for them."""
    options = RunOptions(machine="fake", nodes=nodes, ranks_per_node=2, seed=1, budget=5.0, launches=2)
    made = api.plan("pingpong bytes=0,8", options)
    settings = replace(made.settings, nodes=0, ranks_per_node=0)
    return measurement.create_run(Path(path), made.cases, settings, made.bench)


def test_another_job_has_the_shape_of_the_allocation(hockney, scheduler):
    in_an_allocation("r")
    done = hockney("resume", "r", "--submit")
    assert done.code == 0, done.err
    script = Path("r/job.sh").read_text()
    wanted = {
        "slurm": ("--nodes=2\n", "--ntasks-per-node=2\n"),
        "pbs": ("select=2:ncpus=2:mpiprocs=2\n",),
    }
    assert all(text in script for text in wanted[scheduler.name]), script


def test_a_run_continues_with_the_shape_in_which_it_began(hockney):
    """Elsewhere than in a job of this shape, choosing hosts would fail."""
    folder = in_an_allocation("r")
    settings = folder.plan().settings
    assert measure.resumed_bench(folder, settings, ignore_event).layout == Layout(2, 2)
    assert measure.resumed_bench(folder, replace(settings, nodes=1), ignore_event).layout == Layout(1, 2)
    assert measure.resumed_bench(in_an_allocation("one", 1), settings, ignore_event).layout is None


@pytest.mark.parametrize(
    ("machine", "nodes"),
    [
        ({}, 1),
        ({"nodes": 1, "ranks_per_node": 4}, 1),
        ({"nodes": 2, "ranks_per_node": 4, "traits": Traits(origin="emulated")}, 0),
    ],
)
def test_a_run_of_one_node_continues_on_one(machine, nodes):
    """Also in a job of several. The hosts of an emulated machine are in its description."""
    before = msgspec.structs.replace(
        measurement.fake_bench("fake").machine, **{"traits": Traits(), **machine}
    )
    assert measure.original_host_options(Settings("survey"), before) == HostOptions(nodes=nodes)


def test_a_run_on_named_hosts_is_not_submitted(hockney, slurm):
    made = api.plan("pingpong bytes=0,8", RunOptions(machine="fake", seed=1, budget=5.0, launches=2))
    measurement.create_run(Path("r"), made.cases, replace(made.settings, hosts=("n1", "n2")), made.bench)
    done = hockney("resume", "r", "--submit")
    assert (done.code, done.error.code, slurm.jobs) == (2, "hosts-of-the-run", 0)


TYPED = ("--account", "mine", "--partition", "slow", "--batch-line", "--mem=0")


def test_another_job_has_the_account_of_the_first(hockney, slurm):
    assert hockney(*RUN, "--submit", "--out", "r", *TYPED).code == 0
    slurm.state(ENDED["slurm"])
    assert hockney("resume", "r", "--submit", "--partition", "fast").code == 0
    for _ in range(2):  # the next one has those of the last
        script = Path("r/job.sh").read_text()
        wanted = ("--account=mine", "--partition=fast", "--mem=0")
        assert all(f"#SBATCH {option}\n" in script for option in wanted), script
        assert "slow" not in script
        slurm.state(ENDED["slurm"])
        assert hockney("resume", "r", "--submit").code == 0


@pytest.mark.parametrize(
    ("name", "value", "typed"),
    [
        ("account", "theirs", ("--account", "mine")),
        ("lines", ["--output=/home/me/.bashrc"], ("--batch-line", "--mem=0")),
        ("lines_mark", "", TYPED),
    ],
)
def test_options_that_a_foreign_job_has_are_not_used(hockney, slurm, name, value, typed):
    assert hockney(*RUN, "--submit", "--out", "r", "--account", "mine").code == 0
    slurm.state(ENDED["slurm"])
    change("r", **{name: value})
    for option in ("--submit", "--dry-run"):
        done = hockney("resume", "r", option)
        assert (done.code, done.error.code) == (2, "batch-options-of-a-folder")
    assert slurm.jobs == 1
    also = () if "--account" in typed else ("--account", "mine")
    assert hockney("resume", "r", "--submit", *typed, *also).code == 0


def change(path: str, **fields: object) -> None:
    file = Path(path, "job.json")
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))


def submitted_without_number(scheduler: Scheduler, monkeypatch, problem: BaseException) -> None:
    """The scheduler accepts jobs, and hockney does not learn their numbers."""
    capture = process.capture

    def late(words: Sequence[str], *args, **kwargs):
        done = capture(words, *args, **kwargs)
        if words[0] in ("sbatch", "qsub"):
            raise problem
        return done

    monkeypatch.setattr(process, "capture", late)


def test_a_job_whose_number_was_not_stored_is_found(hockney, scheduler, monkeypatch):
    with monkeypatch.context() as patch:
        submitted_without_number(scheduler, patch, KeyboardInterrupt())
        assert hockney(*RUN, "--submit", "--out", "r").code == 130
    assert "number" not in json.loads(Path("r/job.json").read_text())
    for words in ((), ("--submit",)):
        done = hockney("resume", "r", *words)
        assert (done.code, done.error.code, done.error.fields["job"]) == (4, "job-not-ended", "1")
    assert scheduler.jobs == 1
    assert json.loads(Path("r/job.json").read_text())["number"] == "1"


def test_a_job_whose_number_was_not_stored_is_not_joined(hockney, slurm, monkeypatch):
    """From another job, while it waits."""
    with monkeypatch.context() as patch:
        submitted_without_number(slurm, patch, KeyboardInterrupt())
        hockney(*RUN, "--submit", "--out", "r")
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    done = hockney("resume", "r")
    assert (done.code, done.error.code) == (4, "job-not-ended")
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    assert hockney("resume", "r", "-q").code == 0
    assert records("r") == 8


@pytest.mark.parametrize("late", [True, False])
def test_a_job_is_found_though_its_number_is_not_printed(hockney, scheduler, monkeypatch, late):
    if late:
        submitted_without_number(scheduler, monkeypatch, ProgramTimeout("late", code="program-took-too-long"))
    else:
        (scheduler.folder / "mute").touch()
    done = hockney(*RUN, "--submit", "--out", "r", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["job"] == "1"


def test_without_an_answer_a_job_is_not_submitted_twice(hockney, slurm):
    """Neither when it is submitted, nor when it is asked about."""
    (slurm.folder / "mute").touch()
    squeue = slurm.folder / "squeue"
    answering = squeue.read_text()
    squeue.write_text("#!/bin/sh\necho unreachable >&2; exit 1\n")
    done = hockney(*RUN, "--submit", "--out", "r")
    assert (done.code, done.error.code) == (3, "job-perhaps-submitted")
    for words in (("resume", "r", "--submit"), ("resume", "r")):
        done = hockney(*words)
        assert (done.code, done.error.code, slurm.jobs) == (3, "jobs-not-listed", 1)
    squeue.write_text(answering)
    assert hockney("resume", "r", "--submit").error.code == "job-not-ended"
    assert slurm.jobs == 1
