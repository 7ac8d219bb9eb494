# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Submit batch jobs that measure a run. The run folder is complete before its job is submitted; the job
resumes the run."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

import msgspec

from hockney import batch, measurement
from hockney.api import measure
from hockney.api.job_resumption import refuse_active_job, with_job_number
from hockney.api.questions import Question, parse_question
from hockney.api.run_options import RunOptions
from hockney.api.trusted_settings import mark_programs
from hockney.batch import BatchJob, JobRequest, Scheduler
from hockney.batch.request import EARLY_S, NOTICE_S
from hockney.core.errors import EnvironmentProblem, UsageError, attach_run_to_interrupt, printable
from hockney.core.layout import HostOptions
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.core.settings import Settings
from hockney.core.units import format_seconds, format_time_option
from hockney.core.wording import plural
from hockney.measurement import Listener, ignore_event
from hockney.store import RunFolder, default_path, expected_items, lockable, missing_items
from hockney.system import trust

OVERHEAD_S = 60.0
"""Time that a job needs besides measuring: to start Python, find the MPI, fit models and write the report."""
LIMIT_FACTOR = 1.1
"""Margin for schedulers that are slow to start processes on the nodes."""


@dataclass(frozen=True)
class BatchOptions:
    """Options of the batch system.

    `account` and `partition` (a queue of PBS) are names of the scheduler. `time` is the job's limit in
    seconds (0: as long as the run needs). `lines` are additional lines for the scheduler. With `tasks`, the
    job is an array of this number of tasks, each of which measures a share of the launches. The run's folder
    must then support file locks (flock) between hosts."""

    account: str = ""
    partition: str = ""
    time: float = 0.0
    lines: tuple[str, ...] = ()
    tasks: int = 0

    def limit_s(self, budget_s: float) -> float:
        """Time limit of a job that measures for `budget_s`. Raises UsageError if no time is left for
        measuring."""
        overhead_s = NOTICE_S + OVERHEAD_S
        if self.time and self.time <= overhead_s:
            raise UsageError(
                f"a job of {format_time_option(self.time)} leaves no time to measure",
                f"starting, fitting and ending take {format_time_option(overhead_s)}",
                "use a longer --time",
                code="job-too-short",
                seconds=self.time,
                besides_s=overhead_s,
            )
        return self.time or LIMIT_FACTOR * budget_s + overhead_s + EARLY_S + OVERHEAD_S


def measurement_time_s(settings: Settings) -> float:
    """Time from the first launch to the end."""
    rounds_s = settings.every_s * settings.launches if settings.every_s else 0.0
    return max(settings.total_s, settings.through_s, rounds_s)


STORED_OPTIONS = {"account": "--account", "partition": "--partition", "lines": "--batch-line"}


def store_options(job: BatchJob, options: BatchOptions) -> BatchJob:
    """Copy of the job with the options that were just typed."""
    typed = {name: getattr(options, name) for name in STORED_OPTIONS}
    mark = trust.mark(_marked_text(options), os.environ) if any(typed.values()) else ""
    return msgspec.structs.replace(job, **typed, lines_mark=mark)


def fill_in_stored_options(options: BatchOptions, job: BatchJob, path: Path) -> BatchOptions:
    """Fill in unset `options` from the earlier `job` of the run in `path`. Raises UsageError if this user has
    not typed them."""
    stored_options = {
        name: getattr(job, name)
        for name in STORED_OPTIONS
        if getattr(job, name) and not getattr(options, name)
    }
    if stored_options and not trust.is_marked(_marked_text(job), job.lines_mark, os.environ):
        words = [
            f"{STORED_OPTIONS[name]}={value}"
            for name, values in stored_options.items()
            for value in ((values,) if isinstance(values, str) else values)
        ]
        command = shlex.join([str(path), "--submit", *words])
        raise UsageError(
            f"'{printable(str(path))}' has options for the batch system that you have not typed",
            "with them, a run folder from somebody else could start any program",
            f"if you trust it, type them: hockney resume {printable(command)}",
            code="batch-options-of-a-folder",
            options=sorted(STORED_OPTIONS[name] for name in stored_options),
        )
    return replace(options, **stored_options)


def _marked_text(options: BatchJob | BatchOptions) -> str:
    return json.dumps([options.account, options.partition, list(options.lines)])


@dataclass(frozen=True)
class SubmittedJob:
    """`path` is the run's folder. `cancel` is the command that ends the job."""

    path: Path
    job: str
    scheduler: str
    cancel: str


def submit(
    question: Question | str | Sequence[str],
    options: RunOptions,
    batch_options: BatchOptions,
    *,
    out: AnyPath | None = None,
    listen: Listener = ignore_event,
) -> SubmittedJob:
    """Create the run's folder and submit a job that measures it. The plan is made here, and again in the job,
    on the hosts to be measured, before its first launch.

    Raises UsageError before anything is written, and EnvironmentProblem if there is no scheduler or if an
    array could not lock files in the run's folder. If the scheduler rejects the job, the folder remains, and
    `submit_again` retries."""
    _refuse_within_job("--submit")
    scheduler = batch.find_scheduler(os.environ)
    job = _prepare_job(scheduler, parse_question(question), options, batch_options, listen)
    plan, settings = job.plan, job.plan.affordable_settings
    path = None if out is None else to_path(out)
    run_path = path or default_path(job.question.study)
    _refuse_unlockable(run_path, batch_options)
    batch.make_script(job.scheduler, job.request(run_path, batch_options))  # refused before there is a folder
    folder = measurement.create_run(path, plan.cases, mark_programs(settings), plan.bench, plan.surveyed)
    new_job = BatchJob(
        job.scheduler.NAME,
        tasks=batch_options.tasks,
        mark=mark_programs(job.options.settings(job.question.study)).mark,
        provisional=folder.sums.checksum,
        question=msgspec.to_builtins(job.question),
        options=asdict(job.options),
    )
    request = job.request(folder.path, batch_options)
    return _submit(job.scheduler, folder, store_options(new_job, batch_options), request)


def make_job_script(
    question: Question | str | Sequence[str],
    options: RunOptions,
    batch_options: BatchOptions,
    *,
    out: AnyPath | None = None,
    listen: Listener = ignore_event,
) -> str:
    """Return the script that `submit` would submit. Nothing is written."""
    _refuse_within_job("--dry-run")
    scheduler = _script_scheduler(listen)
    job = _prepare_job(scheduler, parse_question(question), options, batch_options, listen)
    path = default_path(job.question.study) if out is None else to_path(out)
    return batch.make_script(job.scheduler, job.request(path, batch_options))


def submit_again(
    path: AnyPath, batch_options: BatchOptions, *, listen: Listener = ignore_event, only_script: bool = False
) -> SubmittedJob | str:
    """Submit a job for the missing measurements of the run in `path`, or return its script with
    `only_script`. The number of nodes and of ranks per node is that of the original run. Raises UsageError if
    nothing is missing, Inconclusive if an earlier job has not ended."""
    _refuse_within_job("--dry-run" if only_script else "--submit")
    folder = RunFolder.open(to_path(path))
    job = batch.read_job(folder.path)
    if job is not None and not only_script:
        job = with_job_number(folder.path, job)
        refuse_active_job(folder.path, job)
    plan, run = folder.plan(), folder.read().run
    missing_count = len(missing_items(plan, run))
    if not missing_count:
        raise UsageError(
            f"{folder.path} is complete",
            "all planned measurements are there",
            f"'hockney report {folder.path}' shows them",
            code="nothing-missing",
            path=str(folder.path),
        )
    settings = plan.settings
    if settings.hosts:
        raise UsageError(
            f"{folder.path} was begun with --hosts {printable(','.join(settings.hosts))}",
            "the batch system chooses the hosts of a job",
            f"use 'hockney resume {folder.path}', without --submit, where these hosts can be reached",
            code="hosts-of-the-run",
            path=str(folder.path),
            hosts=tuple(settings.hosts),
        )
    remaining_s = measurement_time_s(settings) * missing_count / max(1, len(expected_items(plan, run)))
    scheduler = _script_scheduler(listen) if only_script else batch.find_scheduler(os.environ)
    earlier_job = job if job is not None and job.scheduler == scheduler.NAME else BatchJob(scheduler.NAME)
    batch_options = fill_in_stored_options(batch_options, earlier_job, folder.path)
    request = _request(folder.path, _host_options(scheduler, folder, settings), batch_options, remaining_s)
    _warn_if_too_short(batch_options, remaining_s, listen)
    if only_script:
        return batch.make_script(scheduler, request)
    _refuse_unlockable(folder.path, batch_options)
    new_job = msgspec.structs.replace(
        job or earlier_job, scheduler=scheduler.NAME, number="", submitted="", tasks=batch_options.tasks
    )
    return _submit(scheduler, folder, store_options(new_job, batch_options), request)


def _script_scheduler(listen: Listener) -> Scheduler:
    """Return the installed scheduler, or the first supported one: a script can be written anywhere."""
    installed_scheduler = batch.installed_scheduler(os.environ)
    if installed_scheduler is not None:
        return installed_scheduler
    default_scheduler = next(iter(batch.all_schedulers().values()))
    listen(
        Notice(
            f"no batch system is here; the script is for {default_scheduler.TITLE}",
            "script-without-scheduler",
        )
    )
    return default_scheduler


def _host_options(scheduler: Scheduler, folder: RunFolder, settings: Settings) -> HostOptions:
    """Host options for the original number of nodes. Raises UsageError if the ranks per node are unknown."""
    machine = folder.machine()
    hosts = measure.original_host_options(settings, machine)
    if scheduler.COUNTS_PROCESSORS and not hosts.ranks_per_node:
        if not machine.traits.chosen_by_default or not machine.ranks_per_node:
            raise _missing_ranks_per_node_error(hosts.nodes or 1)
        hosts = replace(hosts, ranks_per_node=machine.ranks_per_node)
    return hosts


@dataclass(frozen=True)
class _PreparedJob:
    """A provisional plan, made before the hosts are known, with the question and options from which the job
    makes the final plan."""

    scheduler: Scheduler
    question: Question
    options: RunOptions
    plan: measure.PlannedRun

    def request(self, path: Path, batch_options: BatchOptions) -> JobRequest:
        settings = self.plan.affordable_settings
        return _request(path, settings.host_options, batch_options, measurement_time_s(settings))


def _prepare_job(
    scheduler: Scheduler,
    question: Question,
    options: RunOptions,
    batch_options: BatchOptions,
    listen: Listener,
) -> _PreparedJob:
    if options.hosts:
        raise UsageError(
            "--hosts and --submit exclude each other",
            "the batch system chooses the hosts of a job",
            "choose them by --partition or --batch-line",
            code="hosts-with-submit",
        )
    if not options.ranks_per_node and (options.nodes > 1 or scheduler.COUNTS_PROCESSORS):
        raise _missing_ranks_per_node_error(options.nodes or 1)
    if batch_options.tasks:
        if options.in_rounds:
            raise UsageError(
                "--array and rounds exclude each other",
                "jobs of an array run at any time, rounds at fixed ones",
                "leave out --array, or --repeat, --through and --every",
                code="rounds-in-array",
            )
        options = replace(options, refine=False, budget=options.budget * batch_options.tasks)
    planned_run = measure.plan(question, options, listen=listen, for_job=True)
    if batch_options.tasks:
        # fixed now: each task finds its share without asking the others
        options = replace(options, launches=max(planned_run.settings.launches, batch_options.tasks))
        settings = replace(planned_run.settings, launches=options.launches or 0, extend=False)
        planned_run = replace(planned_run, settings=settings)
    if planned_run.warning is not None:
        listen(planned_run.warning)
    _warn_if_too_short(batch_options, measurement_time_s(planned_run.affordable_settings), listen)
    return _PreparedJob(scheduler, question, options, planned_run)


def _warn_if_too_short(batch_options: BatchOptions, total_s: float, listen: Listener) -> None:
    """Warn if the job may end before its budget is used."""
    budget_s = total_s / max(1, batch_options.tasks)
    needed_s = budget_s + NOTICE_S + EARLY_S + OVERHEAD_S
    if 0 < batch_options.time < needed_s:
        listen(
            Notice(
                f"the job's limit of {format_seconds(batch_options.time)} may end the job before the budget "
                f"of {format_seconds(budget_s)} is used: --time {format_time_option(round(needed_s))} would "
                "be enough, or 'hockney resume RUN --submit' measures what is left",
                "job-shorter-than-budget",
            )
        )


def _refuse_unlockable(path: Path, batch_options: BatchOptions) -> None:
    """Raise EnvironmentProblem if an array cannot lock files in the run's folder. Locks that hold only within
    a host are not detected."""
    if batch_options.tasks and not lockable(path):
        raise EnvironmentProblem(
            f"jobs of an array cannot write to {path}",
            "files on this file system cannot be locked, so the records of several jobs would mix",
            "use a folder on another file system with --out, or leave out --array",
            code="array-needs-locks",
            path=str(path),
        )


def _refuse_within_job(option: str) -> None:
    """Raise UsageError within a job, where hockney can measure directly."""
    job = batch.current_job(os.environ)
    if job:
        raise UsageError(
            f"hockney runs in job {job}",
            "it can measure directly here",
            f"leave out {option}, or use it outside of the job",
            code="submit-inside-job",
            job=job,
        )


def _request(path: Path, hosts: HostOptions, batch_options: BatchOptions, total_s: float) -> JobRequest:
    """Request for a job that resumes the run with this interpreter and environment."""
    absolute_path = path.absolute()
    return JobRequest(
        name=batch.job_name(absolute_path),
        nodes=hosts.nodes or 1,
        ranks_per_node=hosts.ranks_per_node,
        seconds=batch_options.limit_s(total_s / max(1, batch_options.tasks)),
        folder=absolute_path,
        command=(sys.executable, "-m", "hockney", "resume", str(absolute_path)),
        cwd=Path.cwd(),
        account=batch_options.account,
        partition=batch_options.partition,
        lines=batch_options.lines,
        tasks=batch_options.tasks,
    )


def _submit(scheduler: Scheduler, folder: RunFolder, job: BatchJob, request: JobRequest) -> SubmittedJob:
    script_text = batch.make_script(scheduler, request)
    batch.write_job(folder.path, job)
    with attach_run_to_interrupt(folder.path, complete=False):
        number = batch.submit(scheduler, folder.path, request.name, script_text)
    submitted_at = datetime.now(timezone.utc).isoformat(timespec="seconds")
    batch.write_job(folder.path, msgspec.structs.replace(job, number=number, submitted=submitted_at))
    return SubmittedJob(folder.path, number, scheduler.NAME, " ".join(scheduler.cancel_words(number)))


def _missing_ranks_per_node_error(nodes: int) -> UsageError:
    suffix = " on each" if nodes > 1 else ""
    return UsageError(
        f"--submit on {plural(nodes, 'node')} needs the number of ranks{suffix}",
        "the processors of the nodes are not known here",
        "begin the run with for example --ranks-per-node 4",
        code="ranks-per-node-missing",
        nodes=nodes,
    )
