# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Schedulers. Each module here with the constants and functions of `Scheduler` is one. None starts a program
itself."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Protocol

from hockney.batch.request import JobRequest, State
from hockney.core.errors import EnvironmentProblem
from hockney.core.plugins import plugins


class Scheduler(Protocol):
    """A scheduler. `NAME` is its name in job.json, `TITLE` its displayed name, `SUBMIT` the program that
    accepts a script, `DIRECTIVE` the prefix of its lines in a script. If more than one is installed, the one
    with the lowest `RANK` is used."""

    RANK: int

    NAME: str
    TITLE: str
    SUBMIT: str
    DIRECTIVE: str
    TASK_VARIABLE: str
    """The variable with the number, from 0, of a job in an array."""
    COUNTS_PROCESSORS: bool
    """Whether a job that does not ask for a number of processors gets one, even on nodes that it does not
    share."""

    def directives(self, request: JobRequest) -> list[str]:
        """Return the lines of a script that request resources, without the user's lines."""

    def submit_words(self, script: str) -> list[str]: ...

    def environment(self, script: str) -> dict[str, None]:
        """Return variables to remove from the environment of `SUBMIT`, since they would override the lines of
        the script (its text)."""

    def named_words(self, name: str) -> list[str]:
        """Return a command that prints the numbers of this user's waiting or running jobs with this name, one
        per line."""

    def submitted(self, output: str) -> str:
        """Return the job's number from the output of `SUBMIT`; "" if there is none."""

    def state_words(self, job: str) -> list[str]: ...

    def state(self, code: int, output: str, errors: str) -> State:
        """Return the job's state from the exit code and the output of `state_words`."""

    def cancel_words(self, job: str) -> list[str]:
        """Return the command with which a user ends the job."""

    def current(self, environ: Mapping[str, str]) -> str:
        """Return the number of the job in which hockney runs, or of its array; "" outside of a job."""


def all_schedulers() -> dict[str, Scheduler]:
    """Every scheduler, by name, in the order in which they are looked for."""
    modules = plugins(__name__, "NAME", "RANK", "SUBMIT", marks=(), name_of=lambda module: module.NAME)
    return {module.NAME: module for module in sorted(modules, key=lambda module: module.RANK)}


def installed_scheduler(environ: Mapping[str, str]) -> Scheduler | None:
    """The first whose program for submitting is installed."""
    schedulers = all_schedulers().values()
    return next((each for each in schedulers if shutil.which(each.SUBMIT, path=environ.get("PATH"))), None)


def find_scheduler(environ: Mapping[str, str]) -> Scheduler:
    """The installed scheduler. Raises EnvironmentProblem without one."""
    scheduler_found = installed_scheduler(environ)
    if scheduler_found is None:
        programs = [scheduler.SUBMIT for scheduler in all_schedulers().values()]
        raise EnvironmentProblem(
            "no batch system is here",
            f"{' and '.join(programs)} are not in PATH",
            "submit where jobs are submitted, or name hosts with --hosts",
            code="no-scheduler",
            programs=list(programs),
        )
    return scheduler_found


def scheduler_named(name: str) -> Scheduler | None:
    """Return the scheduler named in a job.json; None if this version has no such module."""
    return all_schedulers().get(name)


def current_job(environ: Mapping[str, str]) -> str:
    """The number of the job in which hockney runs; "" outside of one."""
    return next(filter(None, (each.current(environ) for each in all_schedulers().values())), "")
