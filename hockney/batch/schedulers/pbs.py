# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""PBS Professional and OpenPBS: qsub(1B), qstat(1B), qdel(1B), after their reference guide (2022.1). Tested
only with programs that imitate these, not with a real PBS."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hockney.batch.request import JobRequest, Phase, State, clock_time

NAME = "pbs"
TITLE = "PBS"
SUBMIT = "qsub"
DIRECTIVE = "#PBS"
TASK_VARIABLE = "PBS_ARRAY_INDEX"
COUNTS_PROCESSORS = True
RANK = 1

LETTERS: dict[str, tuple[Phase, str]] = {
    "Q": ("waiting", "queued"),
    "H": ("waiting", "held"),
    "W": ("waiting", "waiting for its time"),
    "M": ("waiting", "moved to another server"),
    "T": ("waiting", "in transit"),
    "B": ("running", "array has begun"),
    "R": ("running", "running"),
    "S": ("running", "suspended"),
    "U": ("running", "suspended, its host is in use"),
    "E": ("running", "exiting"),
    "F": ("ended", "finished"),
    "X": ("ended", "finished"),
    "C": ("ended", "completed"),
}
"""`job_state` in qstat's manual; C is Torque's."""
ENDED = (35, 153)
"""Exit codes of qstat for a job that has finished, and for an unknown one."""


def directives(request: JobRequest) -> list[str]:
    """`scatter:excl`: each chunk on another host, which no other job shares. At its time limit a job gets
    SIGTERM, and SIGKILL after the queue's kill_delay (10 s), so it asks for no signal. In the name of the
    output only the index of an array is replaced."""
    each = request.ranks_per_node
    log = f"{request.folder}/job-output" + ("-^array_index^.log" if request.tasks else ".log")
    chunk = f"{request.nodes}:ncpus={each}:mpiprocs={each}" if each else str(request.nodes)
    options = {
        "-N": request.name,
        "-l select": chunk,
        "-l place": "scatter:excl",
        "-l walltime": clock_time(request.seconds) if request.seconds else "",
    }
    lines = [
        f"{DIRECTIVE} {name}{'=' if '-l' in name else ' '}{value}" for name, value in options.items() if value
    ]
    lines += [f"{DIRECTIVE} -A {request.account}"] if request.account else []
    lines += [f"{DIRECTIVE} -q {request.partition}"] if request.partition else []
    lines += [f"{DIRECTIVE} -J 0-{request.tasks - 1}"] if request.tasks else []
    return [
        *lines,
        f"{DIRECTIVE} -j oe",
        f'{DIRECTIVE} -o "{log}"',
        f"{DIRECTIVE} -V",
        f"{DIRECTIVE} -r y",
    ]


def submit_words(script: str) -> list[str]:
    return [SUBMIT, script]


def environment(script: str) -> dict[str, None]:
    """No variable of qsub overrides the lines of a script."""
    return {}


def named_words(name: str) -> list[str]:
    """qselect prints the numbers of jobs that have not ended, in the format of qsub."""
    return ["qselect", "-N", name]


def submitted(output: str) -> str:
    """qsub prints the number and the server: 123.server, of an array 123[].server."""
    match = re.search(r"^(\d+(\[\])?)(\.\S+)?$", output, re.MULTILINE)
    return match[1] if match else ""


def state_words(job: str) -> list[str]:
    """qstat shows ended jobs only with an option."""
    return ["qstat", "-f", job]


def state(code: int, output: str, errors: str) -> State:
    """qstat does not show jobs that have ended, unless asked."""
    if code in ENDED:
        return State("ended", "")
    match = re.search(r"^\s*job_state = (\w)", output, re.MULTILINE)
    if code or not match:
        return State("unknown", errors.strip())
    phase, text = LETTERS.get(match[1], ("unknown", match[1]))
    return State(phase, text)


def cancel_words(job: str) -> list[str]:
    return ["qdel", job]


def current(environ: Mapping[str, str]) -> str:
    """Return the number of this job. If it belongs to an array, as in 123[4].server, return that of the
    array, 123[]."""
    return re.sub(r"\[\d+\]", "[]", environ.get("PBS_JOBID", "").partition(".")[0])
