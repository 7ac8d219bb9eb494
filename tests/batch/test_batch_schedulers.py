# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts of jobs, and what schedulers' programs print."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.batch import (
    LOGS,
    JobRequest,
    State,
    current_job,
    find_scheduler,
    job_name,
    make_script,
    scheduler_named,
)
from hockney.batch.request import clock_time
from hockney.batch.schedulers import all_schedulers, pbs, slurm
from hockney.core.errors import HockneyError
from hockney.store import RunFolder

REQUEST = JobRequest(
    name="hockney-1a2b3c4",
    nodes=2,
    ranks_per_node=4,
    seconds=250.0,
    folder=Path("/home/me/my runs/100%"),
    command=("/usr/bin/python3", "-m", "hockney", "resume", "/home/me/my runs/100%"),
    cwd=Path("/home/me/it's here"),
    account="physics",
    partition="fast",
    lines=("#SBATCH --constraint=a", "--mem=0"),
)


def test_a_script_asks_slurm_for_what_the_job_needs():
    lines = make_script(slurm, REQUEST).splitlines()
    options = [line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH ")]
    wanted = {"--nodes=2", "--ntasks-per-node=4", "--time=00:05:00", "--account=physics", "--partition=fast"}
    assert wanted <= set(options)
    assert '--output="/home/me/my runs/100%%/job-%j.log"' in options
    assert options[-2:] == ["--constraint=a", "--mem=0"], "the user's come last, where they replace others"
    assert lines[0] == "#!/bin/bash"


@pytest.mark.parametrize("scheduler", all_schedulers().values(), ids=lambda each: each.NAME)
def test_the_command_survives_the_shell(scheduler, tmp_path):
    """Folders with blanks and quotes; a signal to the script's process reaches the command."""
    there = tmp_path / "it's here"
    there.mkdir()
    command = ("/bin/sh", "-c", 'echo "$$ $PWD $0"', "a 'b'")
    text = make_script(scheduler, replace(REQUEST, cwd=there, command=command, lines=()))
    started = subprocess.Popen(["/bin/bash", "-c", text], stdout=subprocess.PIPE, text=True)
    out, _ = started.communicate()
    assert out == f"{started.pid} {there} a 'b'\n"


@pytest.mark.parametrize("scheduler", all_schedulers().values(), ids=lambda each: each.NAME)
def test_each_job_of_an_array_gets_its_share(scheduler, monkeypatch):
    text = make_script(scheduler, replace(REQUEST, tasks=4, cwd=Path("/"), command=("echo",), lines=()))
    monkeypatch.setenv(scheduler.TASK_VARIABLE, "2")
    out = subprocess.run(["/bin/bash", "-c", text], capture_output=True, text=True, check=True).stdout
    assert out == "--share 3/4\n"


@pytest.mark.parametrize("line", ["#PBS -l x", "# comment", "", "a\nrm -rf b"])
def test_only_lines_for_the_scheduler_are_added(line):
    with pytest.raises(HockneyError) as raised:
        make_script(slurm, replace(REQUEST, lines=(line,)))
    assert raised.value.code == "batch-line-not-usable"


TEXTS = st.text(st.sampled_from("ab -='\"\\\\\n\r\t\x1b\0$`;#%()&|é"), max_size=12)


@given(TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, TEXTS, st.sampled_from([0, 4]))
def test_no_text_gets_out_of_its_place_in_a_script(account, partition, folder, cwd, word, line, tasks):
    """A script has the lines that hockney writes, one for each of the user's, and its shell runs nothing but
    the command."""
    for scheduler in all_schedulers().values():
        try:
            request = replace(
                REQUEST,
                account=account,
                partition=partition,
                folder=Path("/" + folder),
                cwd=Path("/" + cwd),
                command=("echo", word),
                lines=(line,),
                tasks=tasks,
            )
            text = make_script(scheduler, request)
        except HockneyError as refused:
            assert refused.code in ("not-for-scripts", "batch-line-not-usable")
            continue
        lines = text.split("\n")
        *asked, _, going, starting, _ = lines
        plain = replace(request, account=account and "a", partition=partition and "b", folder=Path("/c"))
        assert len(lines) == len(make_script(scheduler, plain).split("\n"))
        assert all(each.startswith(scheduler.DIRECTIVE) for each in asked[1:])
        assert all(each.count('"') in (0, 2) for each in asked[1:-1]), "the last one is the user's"
        assert shlex.split(going) == ["cd", str(request.cwd), "||", "exit", "3"]
        assert shlex.split(starting)[:3] == ["exec", "echo", word]


def test_a_script_asks_pbs_for_what_the_job_needs():
    lines = make_script(pbs, replace(REQUEST, lines=("-m n",), tasks=3)).splitlines()
    wanted = {
        "#PBS -l select=2:ncpus=4:mpiprocs=4", "#PBS -l place=scatter:excl", "#PBS -l walltime=00:05:00",
        "#PBS -A physics", "#PBS -q fast", "#PBS -J 0-2", "#PBS -V", "#PBS -m n",
        "#PBS -N hockney-1a2b3c4", '#PBS -o "/home/me/my runs/100%/job-output-^array_index^.log"',
    }  # fmt: skip
    assert wanted <= set(lines)
    assert '#PBS -o "/home/me/my runs/100%/job-output.log"' in make_script(pbs, replace(REQUEST, lines=()))


@pytest.mark.parametrize("tasks", [0, 2])
@pytest.mark.parametrize("scheduler", all_schedulers().values(), ids=lambda each: each.NAME)
def test_the_output_of_a_job_is_found(scheduler, tasks, tmp_path):
    text = make_script(scheduler, replace(REQUEST, folder=tmp_path, tasks=tasks, lines=()))
    (name,) = re.findall(rf'"{re.escape(str(tmp_path))}/(.*)"', text)
    assert fnmatch(name, LOGS)
    (tmp_path / name).touch()
    assert tmp_path / name in RunFolder(tmp_path).job_files


def test_variables_of_options_in_any_form():
    script = "#!/bin/bash\n#SBATCH -A x --mem=0\n#SBATCH --oversubscribe -t5\n# SBATCH --qos=no\n--wckey=no\n"
    wanted = {"WAIT", "ACCOUNT", "MEM_PER_NODE", "EXCLUSIVE", "TIMELIMIT"}
    assert slurm.environment(script) == {f"SBATCH_{name}": None for name in wanted}
    assert pbs.environment(script) == {}


def test_runs_have_jobs_of_different_names(tmp_path):
    names = {job_name(tmp_path / "a"), job_name(tmp_path / "b"), job_name(tmp_path / "b" / ".." / "a")}
    assert len(names) == 2
    assert all(re.fullmatch(r"hockney-\w{7}", name) for name in names)


@pytest.mark.parametrize(
    ("seconds", "text"), [(60.0, "00:01:00"), (60.5, "00:02:00"), (3599.0, "01:00:00"), (90000.0, "25:00:00")]
)
def test_limits_are_whole_minutes(seconds, text):
    assert clock_time(seconds) == text


@pytest.mark.parametrize(
    ("code", "out", "errors", "state"),
    [
        (0, "PENDING Resources\n", "", State("waiting", "PENDING (Resources)")),
        (0, "RUNNING None\n", "", State("running", "RUNNING")),
        (0, "PENDING JobArrayTaskLimit\nRUNNING None\nCOMPLETED None\n", "", State("running", "RUNNING")),
        (0, "PENDING Dependency\nCOMPLETED None\n", "", State("waiting", "PENDING (Dependency)")),
        (0, "COMPLETED None\nTIMEOUT None\n", "", State("ended", "COMPLETED, TIMEOUT")),
        (0, "NODE_FAIL None\n", "", State("ended", "NODE_FAIL")),
        (1, "", "slurm_load_jobs error: Invalid job id specified", State("ended", "")),
        (1, "", "slurm_load_jobs error: Unable to contact slurm controller\n",
         State("unknown", "slurm_load_jobs error: Unable to contact slurm controller")),
    ],
)  # fmt: skip
def test_states_of_slurm(code, out, errors, state):
    assert slurm.state(code, out, errors) == state


@pytest.mark.parametrize(
    ("code", "out", "phase"),
    [
        (0, "Job Id: 12.pbs\n    Job_Name = hockney\n    job_state = Q\n", "waiting"),
        (0, "Job Id: 12[].pbs\n    job_state = B\n", "running"),
        (0, "Job Id: 12.pbs\n    job_state = F\n", "ended"),
        (35, "", "ended"),
        (153, "", "ended"),
        (255, "", "unknown"),
    ],
)
def test_states_of_pbs(code, out, phase):
    assert pbs.state(code, out, "some error").phase == phase


def test_numbers_of_jobs():
    assert slurm.submitted("123\n") == "123"
    assert slurm.submitted("warning: no account\n123;cluster2\n") == "123"
    assert slurm.submitted("Submitted nothing\n") == ""
    assert pbs.submitted("123.pbs-server\n") == "123"
    assert pbs.submitted("123[].pbs-server\n") == "123[]"
    assert pbs.submitted("qsub: no\n") == ""


def test_a_job_of_an_array_belongs_to_the_array():
    assert current_job({"SLURM_JOB_ID": "14", "SLURM_ARRAY_JOB_ID": "12"}) == "12"
    assert current_job({"SLURM_JOB_ID": "14"}) == "14"
    assert current_job({"PBS_JOBID": "123[4].server"}) == "123[]"
    assert current_job({}) == ""


def test_the_scheduler_is_the_one_whose_program_is_here(tmp_path):
    program = tmp_path / "qsub"
    with pytest.raises(HockneyError) as raised:
        find_scheduler({"PATH": str(tmp_path)})
    assert raised.value.code == "no-scheduler"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_scheduler({"PATH": str(tmp_path)}) is scheduler_named("pbs")
    program.rename(tmp_path / "sbatch").with_name("qsub").symlink_to("sbatch")
    assert find_scheduler({"PATH": str(tmp_path)}) is scheduler_named("slurm"), "with both, Slurm"
    assert scheduler_named("lsf") is None
