# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Batch jobs on the command line, with stand-ins for the programs of Slurm and PBS: they note the script
and report the state that the test chooses. The tests run the scripts themselves."""

from __future__ import annotations

import errno
import json
import re
from pathlib import Path

import pytest
from scheduler_programs import ENDED, RUN, Scheduler

from hockney import api, measurement
from hockney.api import RunOptions, job_resumption
from hockney.cli.arguments.batch import TIME
from hockney.core.errors import HockneyError
from hockney.launch.fake import FakeLauncher
from hockney.measurement import ignore_event, prepare
from hockney.measurement.bench import UNKNOWN_SCHEDULER
from hockney.measurement.events import Status
from hockney.store import LaunchShare, PartFolder, RunFolder


def records(path: str) -> int:
    return len(RunFolder(Path(path)).read().run.records)


def test_a_dry_run_only_prints_the_script(hockney, scheduler):
    done = hockney(*RUN, "--dry-run", "--partition", "fast", "--time", "01:00:00", "--out", "r")
    assert done.code == 0, done.err
    assert "fast" in done.out and "01:00:00" in done.out and str(Path("r").absolute()) in done.out
    assert not Path("r").exists() and not Path("runs").exists()
    assert scheduler.jobs == 0


def test_the_script_is_the_one_of_the_dry_run(hockney, scheduler):
    told = hockney(*RUN, "--dry-run", "--out", "r").out
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    assert Path("r/job.sh").read_text() == told


def test_a_job_measures_the_run_and_resume_prints_it(hockney, scheduler):
    done = hockney(*RUN, "--submit", "--out", "r", "--json")
    told = json.loads(done.out)
    assert (done.code, told["job"], told["scheduler"]) == (0, "1", scheduler.name)
    assert json.loads(Path("r/job.json").read_text())["number"] == "1"
    assert RunFolder(Path("r")).plan().items and not records("r")

    waiting = hockney("resume", "r", "-q")
    assert (waiting.code, waiting.error.code) == (4, "job-not-ended")
    assert not records("r"), "nothing is measured where jobs are submitted"

    ran = scheduler.run("r")
    assert ran.returncode == 0, ran.stderr
    assert records("r") == 8
    scheduler.state(ENDED[scheduler.name])
    done = hockney("resume", "r", "--json", "-q")
    assert done.code == 0, done.err
    assert json.loads(done.out)["outcome"]["left"] == 0
    assert all(f["verdict"] == "good" or f["code"] == "derived-files" for f in verified(hockney))


def verified(hockney) -> list[dict[str, str]]:
    return json.loads(hockney("verify", "r", "--json").out)["findings"]


def test_the_job_plans_again_on_its_own_hosts(slurm):
    """Where the job is submitted, its hosts and their levels are only assumed."""
    options = RunOptions(machine="fake", nodes=2, ranks_per_node=2, seed=1, launches=2, budget=5.0)
    api.submit("pingpong bytes=0,8", options, api.BatchOptions(), out="r")
    before = RunFolder(Path("r"))
    assert before.machine().levels == ["node", "network"]
    assert before.machine().scheduler == UNKNOWN_SCHEDULER
    ran = slurm.run("r")
    assert ran.returncode == 0, ran.stderr
    after = RunFolder(Path("r"))
    assert after.machine().scheduler != UNKNOWN_SCHEDULER
    assert after.plan().settings == before.plan().settings
    assert records("r") == 4


def test_a_job_without_records_names_its_output(hockney, scheduler):
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    log = scheduler.log("r")
    log.write_text("no module\n")
    scheduler.state(ENDED[scheduler.name])
    done = hockney("resume", "r")
    assert (done.code, done.error.code) == (4, "job-without-records")
    assert Path(done.error.fields["log"]).absolute() == log


@pytest.mark.slow
def test_jobs_of_an_array_share_the_launches(hockney, slurm):
    done = hockney(*RUN, "--submit", "--array", "3", "--out", "r")
    assert done.code == 0, done.err
    assert RunFolder(Path("r")).plan().settings.budget_s == 15
    for task in ("2", "0", "1"):
        ran = slurm.run("r", SLURM_ARRAY_JOB_ID="1", SLURM_ARRAY_TASK_ID=task)
        assert ran.returncode == 0, ran.stderr
    assert records("r") == 8
    assert RunFolder(Path("r")).fits_path.exists()


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on some network file systems."""

    def refuse(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "")

    monkeypatch.setattr("hockney.store.appender.fcntl.flock", refuse)


def test_an_array_needs_locks(hockney, slurm, no_locks):
    done = hockney(*RUN, "--submit", "--array", "2", "--out", "r")
    assert (done.code, done.error.code) == (3, "array-needs-locks")
    assert not Path("r").exists()
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    slurm.state(ENDED["slurm"])
    again = hockney("resume", "r", "--submit", "--array", "2")
    assert (again.error.code, slurm.jobs) == ("array-needs-locks", 1)
    assert hockney("resume", "r", "--submit").code == 0


def test_the_results_of_an_ended_job_have_all_shares(hockney, slurm, no_locks):
    """Nobody writes them any more, though no lock shows that."""
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    folder = RunFolder(Path("r"))
    for number in (1, 2):
        measurement.session._measure(
            PartFolder.of_share(folder, LaunchShare(number, 2)), prepare("fake"), ignore_event, 5.0
        )
    assert not records("r")
    slurm.state(ENDED["slurm"])
    done = hockney("resume", "r", "-q")
    assert done.code == 0, done.err
    assert records("r") == 8


SILENT = {
    "slurm": ("squeue", 'echo "slurm_load_jobs error: Unable to contact slurm controller" >&2; exit 1'),
    "pbs": ("qstat", "exit 1"),
}


@pytest.fixture
def silent_twice(hockney, scheduler, monkeypatch) -> Scheduler:
    """It does not answer the first two questions about the job, and it has ended then."""
    program, silence = SILENT[scheduler.name]
    path = scheduler.folder / program
    count = 'echo x >> "$STAND_IN/asked"; test "$(wc -l < "$STAND_IN/asked")" -gt 2'
    answer = path.read_text().removeprefix("#!/bin/sh\n")
    path.write_text(f"#!/bin/sh\n{count} || {{ {silence}; }}\n{answer}")
    monkeypatch.setattr(job_resumption, "POLL_INTERVAL_S", 0.0)
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    assert scheduler.run("r").returncode == 0
    scheduler.state(ENDED[scheduler.name])
    return scheduler


def test_waiting_goes_on_while_the_scheduler_is_silent(silent_twice):
    """It is reported once."""
    events: list[object] = []
    made = api.resume("r", wait=True, listen=events.append)
    assert len(made.folder.read().run.records) == 8
    assert sum(isinstance(event, Status) for event in events) == 1


@pytest.mark.slow
def test_waiting_ends_when_the_scheduler_stays_silent(hockney, silent_twice, monkeypatch):
    monkeypatch.setattr(job_resumption, "SILENCE_LIMIT_S", 0.0)
    done = hockney("resume", "r", "--wait")
    assert (done.code, done.error.code) == (3, "scheduler-silent")


def test_nothing_is_measured_when_the_scheduler_vanishes_during_a_wait(hockney, slurm, monkeypatch):
    monkeypatch.setattr(job_resumption, "POLL_INTERVAL_S", 0.0)
    monkeypatch.setattr(job_resumption, "SILENCE_LIMIT_S", 0.0)
    assert hockney(*RUN, "--submit", "--out", "r").code == 0

    def vanish(event: object) -> None:
        (slurm.folder / "squeue").unlink(missing_ok=True)

    with pytest.raises(HockneyError) as raised:
        api.resume("r", wait=True, listen=vanish)
    assert raised.value.code == "scheduler-silent"
    assert not records("r")


@pytest.mark.slow
def test_without_waiting_a_silent_scheduler_is_an_error(hockney, silent_twice):
    done = hockney("resume", "r")
    assert (done.code, done.error.code) == (3, "scheduler-silent")


def test_pbs_is_asked_for_processors(hockney, stand_in):
    """Without a number, a job would get one, on a node of its own."""
    pbs = stand_in("pbs")
    for word in ("--submit", "--dry-run"):
        done = hockney(*RUN[:-2], word, "--out", "r")
        assert (done.code, done.error.code) == (2, "ranks-per-node-missing")
    assert not Path("r").exists()
    assert hockney(*RUN, "--dry-run").code == 0
    assert pbs.jobs == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--submit", "--time", "80s"), "job-too-short"),
        (("--submit", "--batch-line", "# nothing"), "batch-line-not-usable"),
        (("--submit", "--array", "1"), "integer-out-of-range"),
    ],
)
def test_options_that_make_no_sense(hockney, slurm, words, code):
    done = hockney("run", "pingpong bytes=8", "--out", "r", *words)
    assert done.code == 2
    assert done.error.code == code
    assert slurm.jobs == 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20m", 1200),
        ("20:00", 1200),
        ("01:20:00", 4800),
        ("1-00", 86400),
        ("1-12:30", 36.5 * 3600),
        ("2-01:02:03", 49 * 3600 + 123),
    ],
)
def test_limits_mean_what_they_mean_to_slurm(text, seconds):
    assert TIME.convert(text, None, None) == seconds


@pytest.mark.parametrize("text", ["1-", "1-12:30:00:00", "-12", "12", "0:00:0"])
def test_not_a_limit(hockney, slurm, text):
    assert hockney("run", "pingpong bytes=8", "--submit", f"--time={text}").code == 2
    assert slurm.jobs == 0


def test_a_limit_shorter_than_the_budget_is_a_warning(hockney, slurm):
    done = hockney(
        "run", "pingpong bytes=8", "--submit", "--time", "2m", "--budget", "2m", "--json", "--out", "r"
    )
    assert done.code == 0, done.err
    assert [notice["code"] for notice in json.loads(done.out)["notices"]] == ["job-shorter-than-budget"]


def test_without_a_scheduler(hockney, tools, monkeypatch):
    monkeypatch.setenv("PATH", str(tools))
    done = hockney("run", "pingpong bytes=8", "--submit", "--out", "r")
    assert (done.code, done.error.code) == (3, "no-scheduler")
    script = hockney("run", "pingpong bytes=8", "--submit", "--dry-run", "--out", "r")
    assert script.code == 0 and "#SBATCH" in script.out and not Path("r").exists()
    assert not Path("r").exists()


def test_within_a_job_nothing_is_submitted(hockney, slurm, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "5")
    for option in ("--submit", "--dry-run"):
        done = hockney("run", "pingpong bytes=8", option, "--out", "r")
        assert (done.code, done.error.code) == (2, "submit-inside-job")
        assert option in done.error.remedy


def test_programs_that_a_foreign_job_names_are_not_started(hockney, slurm, monkeypatch):
    """job.json could come from somebody else, as the run folder."""
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    job = json.loads(Path("r/job.json").read_text())
    job["options"]["mpi"] = "/tmp/evil"
    Path("r/job.json").write_text(json.dumps(job))
    monkeypatch.setenv("SLURM_JOB_ID", "1")
    done = hockney("resume", "r")
    assert (done.code, done.error.code) == (2, "programs-of-a-folder")


@pytest.mark.parametrize("words", [(), ("--launcher", "srun"), ("--nodes", "1")])
def test_no_rank_starts_where_a_job_is_submitted(hockney, slurm, monkeypatch, words):
    """How many ranks there will be is not known then."""

    def refuse(self: FakeLauncher, ranks: int) -> None:
        raise AssertionError("ranks were started")

    monkeypatch.setattr(FakeLauncher, "check", refuse)
    monkeypatch.setenv("HOCKNEY_MACHINE", "fake:nodes=2")
    for option in ("--dry-run", "--submit"):
        done = hockney(*RUN[:-2], *words, option, "--out", "r")
        assert done.code == 0, done.err
    assert RunFolder(Path("r")).machine().scheduler == UNKNOWN_SCHEDULER


def test_variables_do_not_win_against_the_script(hockney, slurm, monkeypatch):
    """To sbatch they come before its lines."""
    beaten = "ACCOUNT CONSTRAINT EXCLUSIVE EXPORT NO_REQUEUE OPEN_MODE OUTPUT SIGNAL TIMELIMIT WAIT"
    left_open = ["ARRAY_INX", "PARTITION", "QOS"]
    for name in (*beaten.split(), *left_open):
        monkeypatch.setenv(f"SBATCH_{name}", "other")
    typed = ("--account", "mine", "--batch-line", "-C fast")
    assert hockney(*RUN, "--submit", "--out", "r", *typed).code == 0
    seen = (slurm.folder / "environment").read_text()
    assert re.findall(r"SBATCH_(\w+)", seen) == left_open, "defaults for what the script does not set"


@pytest.mark.parametrize("text", ["{}", "[1]", '{"scheduler":"slurm","number":"1; rm"}', "\xff"])
def test_a_damaged_job_is_named(hockney, slurm, text):
    assert hockney(*RUN, "--submit", "--out", "r").code == 0
    Path("r/job.json").write_text(text, encoding="latin-1")
    done = hockney("resume", "r")
    assert (done.code, done.error.code) == (3, "job-not-readable")
