# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts that stand in for the programs of Slurm and PBS. $STAND_IN is the folder in which they note jobs,
and find the state to report. The tests run the scripts of jobs themselves."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from tiers import slow

NOTE = """
echo x >> "$STAND_IN/jobs"
number=$(wc -l < "$STAND_IN/jobs" | tr -d " ")
export -p > "$STAND_IN/environment"
for script; do :; done
while read -r line; do
    case "$line" in
        "#SBATCH --job-name="*) echo "$number" > "$STAND_IN/named-${line#*=}" ;;
        "#PBS -N "*) echo "$number.server" > "$STAND_IN/named-${line##* }" ;;
    esac
done < "$script"
test ! -e "$STAND_IN/mute" || exit 0
"""
"""Its last argument is the script. In the folder, `mute` keeps the number back, and `refuse` refuses jobs."""
REFUSE = 'test ! -e "$STAND_IN/refuse" || { echo "sbatch: error: no such account" >&2; exit 1; }'
PROGRAMS = {
    "slurm": {
        "sbatch": REFUSE + NOTE + 'echo "$number"',
        "squeue": '''
for word; do
    case "$word" in
        --name=*)
            test ! -e "$STAND_IN/named-${word#*=}" || cat "$STAND_IN/named-${word#*=}"
            exit 0 ;;
    esac
done
cat "$STAND_IN/state"''',
    },
    "pbs": {
        "qsub": REFUSE + NOTE + 'echo "$number.server"',
        "qselect": 'test ! -e "$STAND_IN/named-$2" || cat "$STAND_IN/named-$2"',
        "qstat": 'printf "Job Id: 1\\n    job_state = %s\\n" "$(cat "$STAND_IN/state")"',
    },
}
WAITING = {"slurm": "PENDING Priority", "pbs": "Q"}
ENDED = {"slurm": "COMPLETED None", "pbs": "F"}
VARIABLES = {"slurm": {"SLURM_JOB_ID": "1"}, "pbs": {"PBS_JOBID": "1.server"}}


RUN = ("run", "pingpong bytes=0,8", "--budget", "5s", "--launches", "4", "--seed", "1", "-q")
RUN += ("--ranks-per-node", "2")
"""A run of the fake machine with eight measurements."""


@dataclass
class Scheduler:
    name: str
    folder: Path

    def state(self, text: str) -> None:
        """That of every job. Only jobs that have not ended are found by their names."""
        (self.folder / "state").write_text(text + "\n")
        if text == ENDED[self.name]:
            for job in self.folder.glob("named-*"):
                job.unlink()

    @property
    def jobs(self) -> int:
        jobs = self.folder / "jobs"
        return len(jobs.read_text().splitlines()) if jobs.exists() else 0

    def run(self, path: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """What the scheduler does with the script of the run in `path`."""
        inside = os.environ | VARIABLES[self.name] | variables
        done = subprocess.run(["/bin/bash", f"{path}/job.sh"], env=inside, capture_output=True, text=True)
        self.log(path).write_text(done.stdout + done.stderr)
        return done

    def log(self, path: str) -> Path:
        """Where the scheduler writes the output of the job 1."""
        script = Path(path, "job.sh").read_text()
        found = re.search(r'^#(?:SBATCH --output=|PBS -o )"(.*)"$', script, re.MULTILINE)
        assert found, script
        return Path(found[1].replace("%j", "1").replace("%A", "1").replace("%a", "0"))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for PATH in which no scheduler is installed."""
    folder = tmp_path_factory.mktemp("tools")
    for name in ("sh", "bash", "cat", "wc", "tr"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


@pytest.fixture
def stand_in(tmp_path_factory, tools, monkeypatch, hockney) -> Callable[[str], Scheduler]:
    def make(name: str) -> Scheduler:
        folder = tmp_path_factory.mktemp("stand-in")
        for program, body in PROGRAMS[name].items():
            (folder / program).write_text(f"#!/bin/sh\n{body}\n")
            (folder / program).chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{tools}")
        monkeypatch.setenv("STAND_IN", str(folder))
        for variable in ("SLURM_JOB_ID", "PBS_JOBID"):
            monkeypatch.delenv(variable, raising=False)
        made = Scheduler(name, folder)
        made.state(WAITING[name])
        return made

    return make


@pytest.fixture(params=["slurm", *slow("pbs")])
def scheduler(request: pytest.FixtureRequest, stand_in) -> Scheduler:
    return stand_in(request.param)


@pytest.fixture
def slurm(stand_in) -> Scheduler:
    """For what is the same with all schedulers."""
    return stand_in("slurm")
