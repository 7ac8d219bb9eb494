# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Runs measured by jobs of a real Slurm, on nodes that are namespaces: whatever ends a job, no record that
reached hockney is lost, and the rest is measured later."""

from __future__ import annotations

import json
import random
import time
from collections import Counter

import pytest
from front import Front, Printed

from hockney.store.plan import INTERRUPTED

pytestmark = [pytest.mark.mpi, pytest.mark.slow(60), pytest.mark.needs("Slurm", "iproute2")]

TWO_BY_TWO = ("salloc", "--nodes=2", "--ntasks-per-node=2")
ON_TWO = ("--nodes", "2", "--ranks-per-node", "2")
CASES = ("run", "allreduce bytes=8,64,1024 ranks=4", "barrier ranks=4", "--seed", "1")
OF_A_LAUNCH = 4
LONG = (*CASES, "--budget", "9s", "--launches", "4")
"""Long enough to be interrupted."""
ALL = 4 * OF_A_LAUNCH
SHORT = (*CASES, "--budget", "4s", "--launches", "1")
REST = ("--budget", "8s")
"""What is missing needs no more time than that."""
MOST_ATTEMPTS = 20
"""A busy machine may measure only a part of what is missing, at worst one case."""


def finish(front: Front, total: int, *words: str, before: tuple[str, ...] = TWO_BY_TWO) -> None:
    """Measure what is missing, in an allocation, or with the `words` of a further job. The records so far are
    unchanged at the beginning of the file, nothing is measured twice, and the run can be trusted."""
    again = (*words, "--json") if words else (*REST, "--json")
    kept = complete_lines(front)
    left = total - len(front.keys("r"))
    for _ in range(MOST_ATTEMPTS):
        if not left:
            break
        done = front("resume", "r", *again, before=() if words else before, code=None)
        assert done.code in (0, 4), done
        reported = json.loads(done.out)["outcome"]["left"]
        assert reported == total - len(front.keys("r")) < left, done
        left = reported
    assert left == 0
    assert (front.folder / "r" / "records.jsonl").read_bytes().startswith(kept)
    findings = json.loads(front("verify", "r", "--json").out)["findings"]
    assert findings and {finding["verdict"] for finding in findings} <= {"good", "note"}, findings


JOB = ("--submit", "--wait")


def complete_lines(front: Front) -> bytes:
    text = (front.folder / "r" / "records.jsonl").read_bytes()
    return text[: text.rfind(b"\n") + 1]


def assert_on_two_nodes(front: Front) -> None:
    """Two ranks on each of two nodes, and none on the front end."""
    for launch in front.reading("r").run.launches:
        on = Counter(rank.host for rank in launch.ranks)
        assert sorted(on.values()) == [2, 2] and on.keys() <= set(front.rig.names)


def test_a_hand_written_script(front: Front) -> None:
    """The job's Slurm options are its own, and hockney is a program in it like any other."""
    script = front.folder / "job.sh"
    words = " ".join(f"'{word}'" for word in (*front.words, *SHORT, "--out", "r"))
    script.write_text(f"""\
#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=2 --time=00:05:00 --exclusive --signal=B:TERM@30
exec {words}
""")
    front.rig.run("sbatch", "--wait", str(script), cwd=front.folder, env=front.environ, check=False)
    finish(front, OF_A_LAUNCH)
    assert_on_two_nodes(front)


def test_a_step_of_an_allocation(front: Front) -> None:
    """hockney itself is started by srun, on one of the nodes whose ranks it starts."""
    step = (*TWO_BY_TWO, "srun", "--overlap", "--ntasks=1", "--nodes=1")
    done = front(*SHORT, *ON_TWO, "--out", "r", before=step, code=None)
    assert done.code in (0, 4), done
    finish(front, OF_A_LAUNCH, before=step)
    assert_on_two_nodes(front)


def test_a_job_is_submitted_waited_for_and_read(front: Front) -> None:
    done = front(*SHORT, *JOB, *ON_TWO, "--out", "r", "--json", code=None)
    assert json.loads(done.out)["outcome"]["left"] == OF_A_LAUNCH - len(front.keys("r"))
    finish(front, OF_A_LAUNCH, *JOB)
    assert_on_two_nodes(front)


def test_a_script_that_slurm_refuses(front: Front) -> None:
    done = front(*SHORT, "--submit", "--partition", "nowhere", "--out", "r", "--json", code=3)
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert error["code"] == "job-not-submitted"
    assert "partition" in error["why"].lower()


def test_a_waiting_job_and_a_running_one_are_named(front: Front) -> None:
    budget = ("--budget", "10m")  # it is cancelled at the end
    front(*LONG, *budget, "--submit", *ON_TWO, "--batch-line", "--begin=now+1hour", "--out", "r")
    done = front("resume", "r", "--json", code=4)
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert (error["code"], error["why"].split()[0]) == ("job-not-ended", "PENDING")
    front.rig.run("scontrol", "update", f"JobId={front.job('r')}", "StartTime=now")
    front.rig.wait_for(lambda: front.rig.state(front.job("r")) == "RUNNING", "the job runs")
    error = json.loads(front("resume", "r", "--json", code=4).err.splitlines()[-1])["error"]
    assert error["why"].split()[0] == "RUNNING"


def test_a_notice_before_the_limit_keeps_the_records_of_the_running_launch(
    front: Front, printed: Printed
) -> None:
    front(*CASES, "--budget", "4m", "--launches", "2", "--submit", *ON_TWO, "--out", "r")
    front.rig.wait_for(lambda: any(visits(lines) for lines in printed.launches()), "the first visits")
    front.rig.run("scancel", "--batch", "--signal=TERM", front.job("r"))  # what --signal=B:TERM@30 sends
    front.until_ended("r")
    assert len(front.keys("r")) == OF_A_LAUNCH
    assert_ended_by_notice(front, printed)
    finish(front, 2 * OF_A_LAUNCH)


def visits(lines: list[dict]) -> bool:
    return any(line["kind"] == "visiting" for line in lines)


def assert_ended_by_notice(front: Front, printed: Printed) -> None:
    """Every launch printed all that it had measured, and hockney stored it."""
    assert all(lines[-1]["kind"] == "end" for lines in printed.launches()), printed.launches()
    assert front.keys("r") == printed.keys()
    closes = front.reading("r").run.closes
    assert len(closes) == len(front.reading("r").run.launches)
    assert closes[-1].exit_code in INTERRUPTED


def test_a_job_that_reaches_its_limit_is_continued(front: Front, printed: Printed) -> None:
    """Slurm looks every half minute which jobs get their notice, up to a minute before the time for it."""
    words = ("--launches", "3", "--budget", "5m", "--time", "2m", "--submit", *ON_TWO, "--out", "r")
    front(*CASES, *words)
    assert "#SBATCH --signal=B:TERM@30" in (front.folder / "r" / "job.sh").read_text().splitlines()
    front.until_ended("r")
    assert front.rig.state(front.job("r")) != "TIMEOUT", "hockney ended before"
    assert 0 < len(front.keys("r")) < 3 * OF_A_LAUNCH
    assert_ended_by_notice(front, printed)
    finish(front, 3 * OF_A_LAUNCH)


@pytest.mark.parametrize("number", range(20))
def test_a_cancelled_job_loses_no_record_that_was_printed(
    front: Front, printed: Printed, number: int
) -> None:
    """Whether it is already in the file, or still in hockney or in the pipe to it, at any moment of a
    launch."""
    chosen = random.Random(number)
    front(*LONG, "--submit", *ON_TWO, "--out", "r")
    front.until_records("r", chosen.randrange(1, ALL - OF_A_LAUNCH))
    time.sleep(chosen.uniform(0, 3))
    kept = complete_lines(front)
    front.rig.run("scancel", front.job("r"), check=False)  # it may have ended just now
    front.until_ended("r")
    assert (front.folder / "r" / "records.jsonl").read_bytes().startswith(kept)
    assert printed.keys() and printed.keys() <= front.keys("r")
    finish(front, ALL)


def test_a_requeued_job_continues(front: Front) -> None:
    front(*LONG, "--submit", *ON_TWO, "--out", "r")
    front.until_records("r", 4)
    kept = complete_lines(front)
    front.rig.run("scontrol", "requeue", front.job("r"))
    front("resume", "r", "--wait", "--json", code=None)
    assert front.records("r") > kept.count(b'"kind":"record"'), "the job has measured more after its restart"
    assert complete_lines(front).startswith(kept)
    finish(front, ALL)


def test_a_dying_node_takes_no_record_with_it(front: Front) -> None:
    """A node that only has ranks, not hockney: the job is requeued by Slurm, on the nodes that are left."""
    front(*LONG, "--submit", *ON_TWO, "--out", "r")
    front.until_records("r", 4)
    kept = complete_lines(front)
    (script,) = front.rig.shown(front.job("r"), "BatchHost")
    (other,) = front.hosts("r") - {script}
    front.rig.down(other)
    front("resume", "r", "--wait", "--json", code=None)
    assert front.hosts("r") == set(front.rig.names)
    assert complete_lines(front).startswith(kept)
    finish(front, ALL)


def test_a_dying_node_ends_an_allocation_and_is_named(front: Front) -> None:
    """No case is blamed for it, and all are measured later."""
    words = ("--budget", "4m", "--launches", "2", "--out", "r", "--json")
    running = front.begin(*CASES, *words, before=TWO_BY_TWO)
    front.rig.wait_for(lambda: front.lines("r", "launch"), "a launch has begun")
    dying = max(front.hosts("r"))
    front.rig.down(dying)
    out, err = running.communicate(timeout=300)
    assert running.returncode == 3, (out, err)
    error = json.loads(next(line for line in err.splitlines() if line.startswith('{"error"')))["error"]
    assert error["code"] in ("host-unreachable", "host-not-in-allocation"), err
    assert dying in error["what"].split(), err
    assert not front.reading("r").run.failures
    front.rig.up(dying)
    finish(front, 2 * OF_A_LAUNCH)


def test_jobs_of_an_array_measure_shares_on_their_own_nodes(front: Front) -> None:
    cases = ("run", "pingpong bytes=0,8", "--launches", "4", "--budget", "8s", "--seed", "1")
    done = front(*cases, *JOB, "--array", "2", "--out", "r", "--json", code=None)
    nodes = front.rig.shown(front.job("r"), "NodeList")
    assert len(nodes) == 2 and front.hosts("r") == set(nodes), front.log("r")
    assert json.loads(done.out)["outcome"]["left"] == 8 - len(front.keys("r"))
    finish(front, 8, *JOB)
