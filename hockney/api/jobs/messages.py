# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The wording of runs that are measured by batch jobs."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from hockney.core.errors import EnvironmentProblem, HockneyError, Inconclusive, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.units import format_seconds, typed_seconds
from hockney.core.wording import plural


def submit_inside(job: str, option: str) -> UsageError:
    return UsageError(
        f"hockney runs in job {job}",
        "it can measure directly here",
        f"leave out {option}, or use it outside of the job",
        code="submit-inside-job",
        job=job,
    )


def hosts_with_submit() -> UsageError:
    return UsageError(
        "--hosts and --submit exclude each other",
        "the batch system chooses the hosts of a job",
        "choose them by --partition or --batch-line",
        code="hosts-with-submit",
    )


def hosts_of_the_run(path: Path, hosts: Sequence[str]) -> UsageError:
    return UsageError(
        f"{path} was begun with --hosts {printable(','.join(hosts))}",
        "the batch system chooses the hosts of a job",
        f"use 'hockney resume {path}', without --submit, where these hosts can be reached",
        code="hosts-of-the-run",
        path=str(path),
        hosts=tuple(hosts),
    )


def batch_options_of_a_folder(path: Path, named: Mapping[str, Sequence[str]]) -> UsageError:
    """`named` has the values of options for the scheduler that are in the folder's job.json."""
    words = [f"{option}={value}" for option, values in named.items() for value in values]
    command = shlex.join([str(path), "--submit", *words])
    return UsageError(
        f"'{printable(str(path))}' has options for the batch system that you have not typed",
        "with them, a run folder from somebody else could start any program",
        f"if you trust it, type them: hockney resume {printable(command)}",
        code="batch-options-of-a-folder",
        options=sorted(named),
    )


def ranks_per_node_missing(nodes: int) -> UsageError:
    each = " on each" if nodes > 1 else ""
    return UsageError(
        f"--submit on {plural(nodes, 'node')} needs the number of ranks{each}",
        "the processors of the nodes are not known here",
        "begin the run with for example --ranks-per-node 4",
        code="ranks-per-node-missing",
        nodes=nodes,
    )


def array_needs_locks(path: Path) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"jobs of an array cannot write to {path}",
        "files on this file system cannot be locked, so the records of several jobs would mix",
        "use a folder on another file system with --out, or leave out --array",
        code="array-needs-locks",
        path=str(path),
    )


def rounds_in_array() -> UsageError:
    return UsageError(
        "--array and rounds exclude each other",
        "jobs of an array run at any time, rounds at fixed ones",
        "leave out --array, or --repeat, --through and --every",
        code="rounds-in-array",
    )


def job_too_short(seconds: float, besides_s: float) -> UsageError:
    return UsageError(
        f"a job of {typed_seconds(seconds)} leaves no time to measure",
        f"starting, fitting and ending take {typed_seconds(besides_s)}",
        "use a longer --time",
        code="job-too-short",
        seconds=seconds,
        besides_s=besides_s,
    )


def job_shorter_than_budget(seconds: float, budget_s: float, needed_s: float) -> Notice:
    return Notice(
        f"the job's limit of {format_seconds(seconds)} may end the job before the budget of "
        f"{format_seconds(budget_s)} is used: --time {typed_seconds(round(needed_s))} would be enough, or "
        "'hockney resume RUN --submit' measures what is left",
        "job-shorter-than-budget",
    )


def script_without_scheduler(title: str) -> Notice:
    return Notice(f"no batch system is here; the script is for {title}", "script-without-scheduler")


def nothing_missing(path: Path) -> UsageError:
    return UsageError(
        f"{path} is complete",
        "all planned measurements are there",
        f"'hockney report {path}' shows them",
        code="nothing-missing",
        path=str(path),
    )


def job_not_ended(path: Path, job: str, state: str, cancel: str) -> Inconclusive:
    return Inconclusive(
        f"job {job}, which measures {path}, has not ended",
        printable(state),
        f"'hockney resume {path} --wait' waits for it, '{cancel}' ends it",
        code="job-not-ended",
        path=str(path),
        job=job,
        state=state,
    )


def job_without_records(path: Path, job: str, log: Path | None) -> Inconclusive:
    why = f"its output is in {log}" if log else "it has no output"
    return Inconclusive(
        f"job {job} has ended without a measurement" if job else "the job was never submitted",
        why if job else "hockney was interrupted before submitting it",
        f"'hockney resume {path} --submit' submits another one",
        code="job-without-records",
        path=str(path),
        job=job,
        log=str(log or ""),
    )


def job_incomplete(path: Path, job: str, lacking: int) -> Notice:
    return Notice(
        f"job {job} ended before {plural(lacking, 'planned measurement')}: 'hockney resume {path} --submit' "
        "submits another one for them",
        "job-incomplete",
    )


def scheduler_silent(scheduler: str, job: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{scheduler} does not report the state of job {job}",
        printable(reason) or "it prints nothing that hockney can read",
        "try again later; without job.json in its folder the run is an ordinary one",
        code="scheduler-silent",
        scheduler=scheduler,
        job=job,
    )


def job_state(job: str, state: str) -> str:
    return f"job {job}: {printable(state)}"


def asked_again(problem: HockneyError) -> str:
    """`problem`: the scheduler does not answer."""
    return f"{problem.what}; retrying"
