# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The batch job that measures a run: job.json in the run folder, the script, its submission and its state."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shlex
from pathlib import Path
from typing import Any

import msgspec

from hockney import process
from hockney.batch.request import JobRequest, State
from hockney.batch.schedulers import Scheduler
from hockney.core.errors import EnvironmentProblem, UsageError, printable
from hockney.system.files import read_regular, write_atomically

NAME = "job.json"
SCHEMA = 1
NUMBER = re.compile(r"(\d+(\[\])?)?")


class BatchJob(msgspec.Struct, frozen=True, omit_defaults=True):
    """A batch job. `number` is the scheduler's, "" until the job is submitted. `question` and `options` are
    those of the command. From them the job makes its plan, on the nodes that it gets, before it measures.
    `provisional` is the checksum of the plan made before submission. `mark` proves that this user typed the
    options that name programs (`system.trust`). With `tasks` the job is an array. `account`, `partition` and
    `lines` are the user's values for the scheduler. `lines_mark` proves that the user typed them, as a line
    can name a program or an output file."""

    scheduler: str
    number: str = ""
    submitted: str = ""
    tasks: int = 0
    provisional: str = ""
    mark: str = ""
    question: dict[str, Any] = {}
    options: dict[str, Any] = {}
    account: str = ""
    partition: str = ""
    lines: tuple[str, ...] = ()
    lines_mark: str = ""
    schema: int = SCHEMA


def job_name(folder: Path) -> str:
    """Return the name of a run's jobs, by which a job without a stored number is found. PBS accepts 15
    characters."""
    return f"hockney-{hashlib.sha256(bytes(folder.resolve())).hexdigest()[:7]}"


def read_job(folder: Path) -> BatchJob | None:
    """The job of a run; None if it has none. Raises EnvironmentProblem."""
    path = folder / NAME
    try:
        job = msgspec.json.decode(read_regular(path), type=BatchJob)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise job_not_readable(path, error) from error
    if job.schema > SCHEMA or not NUMBER.fullmatch(job.number):
        raise job_not_readable(path, ValueError("it does not describe a job that this version can use"))
    return job


def write_job(folder: Path, job: BatchJob) -> None:
    """Raises EnvironmentProblem."""
    path = folder / NAME
    try:
        write_atomically(path, msgspec.json.format(msgspec.json.encode(job), indent=2) + b"\n")
    except OSError as error:
        raise job_not_writable(path, error) from error


def job_not_readable(path: Path, error: Exception) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot read {path}",
        printable(str(error)),
        "without this file the run is an ordinary one: remove it, then resume the run",
        code="job-not-readable",
        path=str(path),
    )


def job_not_writable(path: Path, error: OSError) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"cannot write {path}",
        (error.strerror or str(error)).lower(),
        "use a writable folder on a disk with free space",
        code="job-not-writable",
        path=str(path),
        errno=error.errno,
    )


PATIENCE_S = 120.0
"""A scheduler under load takes its time."""
SCRIPT = "job.sh"


def make_script(scheduler: Scheduler, request: JobRequest) -> str:
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
    other = text.startswith("#") and not text.startswith(scheduler.DIRECTIVE + " ")
    if not text or not text.isprintable() or other:
        raise UsageError(
            f"'{printable(line)}' is not a line for the batch system",
            f"its lines begin with {scheduler.DIRECTIVE}",
            f"write for example --batch-line '{scheduler.DIRECTIVE} --constraint=fast'",
            code="batch-line-not-usable",
            line=line,
        )
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
    except process.ProgramTimeout as problem:
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
        with contextlib.suppress(EnvironmentProblem):  # it may not answer this either
            number = find_job_number(scheduler, name)
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


def find_job_number(scheduler: Scheduler, name: str) -> str:
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
