# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Making a job's script, submitting it, and asking what has become of it."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path

from hockney import process
from hockney.batch.job import job_not_writable
from hockney.batch.request import JobRequest, State
from hockney.batch.schedulers import Scheduler
from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.system.files import write_atomically

PATIENCE_S = 120.0
"""A scheduler under load takes its time."""
SCRIPT = "job.sh"


def script_of(scheduler: Scheduler, request: JobRequest) -> str:
    """The shell is replaced by the command, so that signals to it arrive there."""
    command = shlex.join(request.command)
    if request.tasks:
        command += f' --share "$(({scheduler.TASK_VARIABLE} + 1))/{request.tasks}"'
    lines = [
        "#!/bin/bash",
        *scheduler.directives(request),
        *(_directive(scheduler, line) for line in request.lines),
        "",
        f"cd {shlex.quote(str(request.cwd))} || exit 3",
        f"exec {command}",
    ]
    return "\n".join(lines) + "\n"


def _directive(scheduler: Scheduler, line: str) -> str:
    """The line as given, or after the scheduler's directive prefix: "--constraint=fast" is enough. Raises
    UsageError."""
    text = line.strip()
    if not text or not text.isprintable():
        raise _batch_line_not_usable(line, scheduler.DIRECTIVE)
    if text.startswith("#") and not text.startswith(scheduler.DIRECTIVE + " "):
        raise _batch_line_not_usable(line, scheduler.DIRECTIVE)
    return text if text.startswith("#") else f"{scheduler.DIRECTIVE} {text}"


def submit(scheduler: Scheduler, folder: Path, name: str, script: str) -> str:
    """Write the script into the run's folder and submit it as a job with this `name`; returns its number.
    Raises EnvironmentProblem; if the scheduler may have the job nevertheless, with the code
    job-perhaps-submitted."""
    path = folder / SCRIPT
    try:
        write_atomically(path, script.encode())
    except OSError as error:
        raise job_not_writable(path, error) from error
    words = scheduler.submit_words(str(path))
    try:
        done = process.capture(words, scheduler.environment(script), timeout=PATIENCE_S)
    except process.TookTooLong as problem:
        number, text = "", problem.what
    else:
        text = done.err.strip() or done.out.strip()
        if done.code:
            raise EnvironmentProblem(
                f"{words[0]} did not accept the job",
                printable(text) if text else f"exit code {done.code}",
                "correct the options, and submit it again: hockney resume "
                f"{printable(shlex.quote(str(path.parent)))} --submit",
                code="job-not-submitted",
                program=words[0],
                exit_code=done.code,
                script=str(path),
            )
        number = scheduler.submitted(done.out)
    if not number:
        number = _named_if_asked(scheduler, name)
    if not number:
        raise EnvironmentProblem(
            f"{words[0]} did not report the number of the job, which may have been submitted",
            printable(text),
            f"'hockney resume {printable(shlex.quote(str(folder)))}' looks for it by its name, {name}",
            code="job-perhaps-submitted",
            program=words[0],
            name=name,
        )
    return number


def _named_if_asked(scheduler: Scheduler, name: str) -> str:
    """ "" also if the scheduler does not answer this either."""
    with contextlib.suppress(EnvironmentProblem):
        return named(scheduler, name)
    return ""


def named(scheduler: Scheduler, name: str) -> str:
    """The number of this user's job with this name that waits or runs; "" if there is none. Raises
    EnvironmentProblem if the scheduler cannot be asked."""
    done = process.capture(scheduler.named_words(name), timeout=PATIENCE_S)
    if done.code:
        raise EnvironmentProblem(
            f"{scheduler.TITLE} does not report whether there is a job {name}",
            printable(done.err.strip()),
            "try again later; without job.json in its folder the run is an ordinary one",
            code="jobs-not-listed",
            scheduler=scheduler.TITLE,
            name=name,
        )
    return scheduler.submitted(done.out)


def state_of(scheduler: Scheduler, job: str) -> State:
    """Raises EnvironmentProblem if the scheduler cannot be asked."""
    done = process.capture(scheduler.state_words(job), timeout=PATIENCE_S)
    return scheduler.state(done.code, done.out, done.err)


def _batch_line_not_usable(line: str, directive: str) -> UsageError:
    return UsageError(
        f"'{printable(line)}' is not a line for the batch system",
        f"its lines begin with {directive}",
        f"write for example --batch-line '{directive} --constraint=fast'",
        code="batch-line-not-usable",
        line=line,
    )
