# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Slurm: sbatch(1), squeue(1), scancel(1). Tested with version 22.05."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hockney.batch.request import NOTICE_S, JobRequest, Phase, State, clock_time

NAME = "slurm"
TITLE = "Slurm"
SUBMIT = "sbatch"
DIRECTIVE = "#SBATCH"
TASK_VARIABLE = "SLURM_ARRAY_TASK_ID"
COUNTS_PROCESSORS = False
RANK = 0

WAITING = ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD")
RUNNING = (
    "RUNNING",
    "CONFIGURING",
    "COMPLETING",
    "SUSPENDED",
    "STOPPED",
    "SIGNALING",
    "STAGE_OUT",
    "RESIZING",
)
"""States of squeue's manual, JOB STATE CODES; every other one is of a job that has ended."""
PHASES: dict[Phase, tuple[str, ...]] = {"running": RUNNING, "waiting": WAITING}
FORGOTTEN = "Invalid job id"
"""squeue's error for a job that ended long ago has this text."""
SHORT = {
    "A": "account", "a": "array", "C": "constraint", "e": "error", "G": "gpus", "i": "input",
    "J": "job-name", "k": "no-kill", "m": "distribution", "O": "overcommit", "o": "output",
    "p": "partition", "q": "qos", "t": "time",
}  # fmt: skip
"""Letters of options of sbatch that have a variable."""
VARIABLES = {
    "array": ("SBATCH_ARRAY_INX",),
    "mem": ("SBATCH_MEM_PER_NODE",),
    "oversubscribe": ("SBATCH_EXCLUSIVE",),
    "no-requeue": ("SBATCH_REQUEUE", "SBATCH_NO_REQUEUE"),
    "requeue": ("SBATCH_REQUEUE", "SBATCH_NO_REQUEUE"),
    "time": ("SBATCH_TIMELIMIT",),
}
"""Variables that are not named like their option: sbatch's manual, INPUT ENVIRONMENT VARIABLES."""


def directives(request: JobRequest) -> list[str]:
    """`--exclusive`: other jobs on the nodes would be measured too. `--signal=B:` reaches the shell of the
    script, which hockney has replaced by then. A requeued job starts the script again, which continues."""
    log = f"{request.folder}/job-".replace("%", "%%") + ("%A_%a.log" if request.tasks else "%j.log")
    options = {
        "job-name": request.name,
        "nodes": str(request.nodes),
        "ntasks-per-node": str(request.ranks_per_node or ""),
        "time": clock_time(request.seconds) if request.seconds else "",
        "account": request.account,
        "partition": request.partition,
        "array": f"0-{request.tasks - 1}" if request.tasks else "",
        "output": f'"{log}"',
        "open-mode": "append",
        "signal": f"B:TERM@{NOTICE_S}",
        "export": "ALL",
    }
    given = [f"{DIRECTIVE} --{name}={value}" for name, value in options.items() if value]
    return [*given, f"{DIRECTIVE} --exclusive", f"{DIRECTIVE} --requeue"]


def submit_words(script: str) -> list[str]:
    return [SUBMIT, "--parsable", script]


def environment(script: str) -> dict[str, None]:
    """To sbatch, variables come before the lines of a script. Those for what the script leaves open are the
    user's defaults, and stay; only SBATCH_WAIT goes always, with which sbatch prints the number at the end of
    the job."""
    removed = {"SBATCH_WAIT": None}
    for option in _options(script):
        regular = "SBATCH_" + option.upper().replace("-", "_")
        removed |= dict.fromkeys(VARIABLES.get(option, (regular,)))
    return removed


def _options(script: str) -> Iterator[str]:
    """The long names of the options in the lines of a script."""
    for line in script.splitlines():
        if line.startswith(DIRECTIVE + " "):
            for word in line.removeprefix(DIRECTIVE).split():
                if word.startswith("--"):
                    yield word[2:].partition("=")[0]
                elif word.startswith("-") and word[1:2] in SHORT:
                    yield SHORT[word[1]]


def named_words(name: str) -> list[str]:
    return ["squeue", "--noheader", "--me", f"--name={name}", "--format=%F"]


def submitted(output: str) -> str:
    """--parsable prints the number, and a semicolon and the cluster if there are several."""
    match = re.search(r"^(\d+)(;\S+)?$", output, re.MULTILINE)
    return match[1] if match else ""


def state_words(job: str) -> list[str]:
    """Prints one line per job of an array. Slurm forgets jobs minutes after their end (MinJobAge)."""
    return ["squeue", "--noheader", "--states=all", f"--jobs={job}", "--format=%T %r"]


def state(code: int, output: str, errors: str) -> State:
    """One line for each job of an array. Slurm forgets jobs minutes after their end (MinJobAge)."""
    rows = [line.split(maxsplit=1) for line in output.splitlines() if line.strip()]
    if code and FORGOTTEN not in errors:
        return State("unknown", errors.strip())
    if not rows:
        return State("ended", "")
    for phase, names in PHASES.items():
        for name, *reason in rows:
            if name in names:
                why = f" ({reason[0].strip()})" if reason and reason[0].strip() != "None" else ""
                return State(phase, name + why)
    return State("ended", ", ".join(dict.fromkeys(name for name, *_ in rows)))


def cancel_words(job: str) -> list[str]:
    return ["scancel", job]


def current(environ: Mapping[str, str]) -> str:
    return environ.get("SLURM_ARRAY_JOB_ID") or environ.get("SLURM_JOB_ID", "")
