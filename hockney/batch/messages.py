# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of batch jobs and their files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, UsageError, printable


def no_scheduler(programs: Sequence[str]) -> EnvironmentProblem:
    return EnvironmentProblem(
        "no batch system is here",
        f"{' and '.join(programs)} are not in PATH",
        "submit where jobs are submitted, or name hosts with --hosts",
        code="no-scheduler",
        programs=list(programs),
    )


def not_submitted(program: str, exit_code: int, text: str, script: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{program} did not accept the job",
        printable(text) if text else f"exit code {exit_code}",
        "correct the options, and submit it again: hockney resume "
        f"{printable(shlex.quote(str(script.parent)))} --submit",
        code="job-not-submitted",
        program=program,
        exit_code=exit_code,
        script=str(script),
    )


def perhaps_submitted(program: str, text: str, folder: Path, name: str) -> EnvironmentProblem:
    """`program` has printed no number, or not ended in time."""
    return EnvironmentProblem(
        f"{program} did not report the number of the job, which may have been submitted",
        printable(text),
        f"'hockney resume {printable(shlex.quote(str(folder)))}' looks for it by its name, {name}",
        code="job-perhaps-submitted",
        program=program,
        name=name,
    )


def jobs_not_listed(scheduler: str, name: str, text: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{scheduler} does not report whether there is a job {name}",
        printable(text),
        "try again later; without job.json in its folder the run is an ordinary one",
        code="jobs-not-listed",
        scheduler=scheduler,
        name=name,
    )


def batch_line_not_usable(line: str, directive: str) -> UsageError:
    return UsageError(
        f"'{printable(line)}' is not a line for the batch system",
        f"its lines begin with {directive}",
        f"write for example --batch-line '{directive} --constraint=fast'",
        code="batch-line-not-usable",
        line=line,
    )


def not_for_scripts(text: str) -> UsageError:
    return UsageError(
        f"'{printable(text)}' cannot be written into the script of a job",
        "it has control characters, or quotes, backslashes or blanks that would end its value there",
        "use a folder or a name without them",
        code="not-for-scripts",
        text=text,
    )


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
        "use a folder in which you can write, on a disk with free space",
        code="job-not-writable",
        path=str(path),
        errno=error.errno,
    )


def not_a_job() -> str:
    return "it does not describe a job that this version can use"
