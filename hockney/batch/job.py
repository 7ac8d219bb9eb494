# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""job.json in a run folder: the batch job that measures the run."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec

from hockney.core.errors import EnvironmentProblem, printable
from hockney.system.files import read_regular, write_atomically

NAME = "job.json"
SCHEMA = 1
NUMBER = re.compile(r"(\d+(\[\])?)?")


class BatchJob(msgspec.Struct, frozen=True, omit_defaults=True):
    """`number` is the scheduler's, "" until the job is submitted. `question` and `options` are those of the
    command, from which the job makes its plan, on the nodes that it gets, before it measures.
    `provisional` is the checksum of the plan made before submitting.
    `mark` proves that this user typed the options that name programs (`system.trust`). With `tasks` it is an
    array. `account`, `partition` and `lines` are what the user typed for the scheduler, and `lines_mark`
    proves that: a line can name a program, or a file to be written."""

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
    """The name of the jobs of a run, by which a job is found whose number was not stored. PBS takes 15
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
        "use a folder in which you can write, on a disk with free space",
        code="job-not-writable",
        path=str(path),
        errno=error.errno,
    )
