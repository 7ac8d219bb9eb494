# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Submits batch jobs that measure a run. The run folder is complete before its job is submitted, and the job
resumes the run."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

import msgspec

from hockney import batch, measurement
from hockney.api import measure
from hockney.api.job_resumption import numbered, refuse_not_ended
from hockney.api.questions import Question, question
from hockney.api.run_options import RunOptions
from hockney.api.trusted_settings import marked
from hockney.batch import BatchJob, JobRequest, Scheduler
from hockney.batch.request import EARLY_S, NOTICE_S
from hockney.core.errors import EnvironmentProblem, UsageError, keeping, printable
from hockney.core.layout import HostOptions
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.core.settings import Settings
from hockney.core.units import format_seconds, typed_seconds
from hockney.core.wording import plural
from hockney.measurement import Listener, silent
from hockney.store import RunFolder, default_path, expected, lockable, missing
from hockney.system import trust

BESIDES_S = 60.0
"""What a job does besides measuring: it starts Python, finds the MPI, fits, and writes the report."""
RESERVE = 1.1
"""A scheduler may be slow to start processes on the nodes."""


@dataclass(frozen=True)
class BatchOptions:
    """`account` and `partition` (a queue of PBS) as the scheduler calls them, `time` the job's limit in
    seconds (0: as long as the run needs), `lines` further ones for the scheduler. With `tasks` the job is an
    array of so many, each of which measures a share of the launches; the run's folder then needs locks
    (flock) that hold between hosts."""

    account: str = ""
    partition: str = ""
    time: float = 0.0
    lines: tuple[str, ...] = ()
    tasks: int = 0

    def limit_s(self, budget_s: float) -> float:
        """The time limit of a job that measures for `budget_s`. Raises UsageError for one that leaves no time
        to measure."""
        besides_s = NOTICE_S + BESIDES_S
        if self.time and self.time <= besides_s:
            raise UsageError(
                f"a job of {typed_seconds(self.time)} leaves no time to measure",
                f"starting, fitting and ending take {typed_seconds(besides_s)}",
                "use a longer --time",
                code="job-too-short",
                seconds=self.time,
                besides_s=besides_s,
            )
        return self.time or RESERVE * budget_s + besides_s + EARLY_S + BESIDES_S

    def warning(self, budget_s: float) -> Notice | None:
        """A warning if the job may end before its budget is used."""
        needed_s = budget_s + NOTICE_S + EARLY_S + BESIDES_S
        return (
            Notice(
                f"the job's limit of {format_seconds(self.time)} may end the job before the budget of "
                f"{format_seconds(budget_s)} is used: --time {typed_seconds(round(needed_s))} would be "
                "enough, or 'hockney resume RUN --submit' measures what is left",
                "job-shorter-than-budget",
            )
            if 0 < self.time < needed_s
            else None
        )


def total_s(settings: Settings) -> float:
    """The time from the first launch to the end."""
    waiting = settings.every_s * settings.launches if settings.every_s else 0.0
    return max(settings.total_s, settings.through_s, waiting)


KEPT = {"account": "--account", "partition": "--partition", "lines": "--batch-line"}


def keeping_options(job: BatchJob, wanted: BatchOptions) -> BatchJob:
    """The job with the options that were just typed."""
    typed = {name: getattr(wanted, name) for name in KEPT}
    mark = trust.mark(_text(wanted), os.environ) if any(typed.values()) else ""
    return msgspec.structs.replace(job, **typed, lines_mark=mark)


def with_kept_options(wanted: BatchOptions, job: BatchJob, path: Path) -> BatchOptions:
    """`wanted`, with what it leaves open as it was for the earlier `job` of the run in `path`. Raises
    UsageError if this user has not typed that."""
    kept = {name: getattr(job, name) for name in KEPT if getattr(job, name) and not getattr(wanted, name)}
    if kept and not trust.is_marked(_text(job), job.lines_mark, os.environ):
        foreign = {KEPT[name]: (value,) if isinstance(value, str) else value for name, value in kept.items()}
        raise _batch_options_of_a_folder(path, foreign)
    return replace(wanted, **kept)


def _text(options: BatchJob | BatchOptions) -> str:
    return json.dumps([options.account, options.partition, list(options.lines)])


def _batch_options_of_a_folder(path: Path, named: Mapping[str, Sequence[str]]) -> UsageError:
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


@dataclass(frozen=True)
class Submitted:
    """`path` is the run's folder, `cancel` what a user types to end the job."""

    path: Path
    job: str
    scheduler: str
    cancel: str


def submit(
    asked: Question | str | Sequence[str],
    options: RunOptions,
    wanted: BatchOptions,
    *,
    out: AnyPath | None = None,
    listen: Listener = silent,
) -> Submitted:
    """Set up the run and submit a job that measures it. The plan is made here, with the engine compiled here,
    and again in the job, on the hosts to be measured, before its first launch.

    Raises UsageError before anything is written; EnvironmentProblem too if there is no scheduler, or if an
    array could not lock files in the run's folder. If the scheduler does not accept the job, the folder is
    there, and `submit_again` tries again."""
    _refuse_inside("--submit")
    job = _Job.planned(asked, options, wanted, listen)
    planned, settings = job.plan, job.plan.affordable
    path = None if out is None else to_path(out)
    place = path or default_path(job.asked.study)
    _refuse_unlockable(place, wanted)
    batch.script_of(job.scheduler, job.request(place, wanted))  # refused before there is a folder
    folder = measurement.begin(path, planned.cases, marked(settings), planned.bench, planned.surveyed)
    stored = BatchJob(
        job.scheduler.NAME,
        tasks=wanted.tasks,
        mark=marked(job.options.settings(job.asked.study)).mark,
        provisional=folder.sums.own,
        question=msgspec.to_builtins(job.asked),
        options=asdict(job.options),
    )
    request = job.request(folder.path, wanted)
    return _submitted(job.scheduler, folder, keeping_options(stored, wanted), request)


def script(
    asked: Question | str | Sequence[str],
    options: RunOptions,
    wanted: BatchOptions,
    *,
    out: AnyPath | None = None,
    listen: Listener = silent,
) -> str:
    """The script that `submit` would submit. Nothing is written."""
    _refuse_inside("--dry-run")
    job = _Job.planned(asked, options, wanted, listen, _for_a_script(listen))
    path = default_path(job.asked.study) if out is None else to_path(out)
    return batch.script_of(job.scheduler, job.request(path, wanted))


def submit_again(
    path: AnyPath, wanted: BatchOptions, *, listen: Listener = silent, only_script: bool = False
) -> Submitted | str:
    """Submit a job that measures what is missing in the run `path`, or with `only_script` return its script.
    The job has as many nodes, and ranks on each, as those on which the run began. Raises UsageError if
    nothing is missing, Inconclusive if an earlier job has not ended."""
    _refuse_inside("--dry-run" if only_script else "--submit")
    folder = RunFolder.open(to_path(path))
    job = batch.read_job(folder.path)
    if job is not None and not only_script:
        job = numbered(folder.path, job)
        refuse_not_ended(folder.path, job)
    plan, run = folder.plan(), folder.read().run
    lacking = len(missing(plan, run))
    if not lacking:
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
    seconds = total_s(settings) * lacking / max(1, len(expected(plan, run)))
    scheduler = _for_a_script(listen) if only_script else batch.scheduler_here(os.environ)
    before = job if job is not None and job.scheduler == scheduler.NAME else BatchJob(scheduler.NAME)
    wanted = with_kept_options(wanted, before, folder.path)
    request = _request(folder.path, _hosts_again(scheduler, folder, settings), wanted, seconds)
    _warn(wanted, seconds, listen)
    if only_script:
        return batch.script_of(scheduler, request)
    _refuse_unlockable(folder.path, wanted)
    new = msgspec.structs.replace(
        job or before, scheduler=scheduler.NAME, number="", submitted="", tasks=wanted.tasks
    )
    return _submitted(scheduler, folder, keeping_options(new, wanted), request)


def _for_a_script(listen: Listener) -> Scheduler:
    """The scheduler here, or else the first that hockney supports: a script can be written anywhere."""
    found = batch.installed_scheduler(os.environ)
    if found is not None:
        return found
    first = next(iter(batch.all_schedulers().values()))
    listen(Notice(f"no batch system is here; the script is for {first.TITLE}", "script-without-scheduler"))
    return first


def _hosts_again(scheduler: Scheduler, folder: RunFolder, settings: Settings) -> HostOptions:
    """The host options for as many nodes as before. Raises UsageError."""
    machine = folder.machine()
    hosts = measure.spread_as_begun(settings, machine)
    if scheduler.COUNTS_PROCESSORS and not hosts.ranks_per_node:
        if not machine.traits.chosen_by_default or not machine.ranks_per_node:
            raise _ranks_per_node_missing(hosts.nodes or 1)
        hosts = replace(hosts, ranks_per_node=machine.ranks_per_node)
    return hosts


@dataclass(frozen=True)
class _Job:
    """The plan, made for hosts that are not there yet, and the question and options from which the job makes
    it again."""

    scheduler: Scheduler
    asked: Question
    options: RunOptions
    plan: measure.Planned

    @staticmethod
    def planned(
        asked: Question | str | Sequence[str],
        options: RunOptions,
        wanted: BatchOptions,
        listen: Listener,
        scheduler: Scheduler | None = None,
    ) -> _Job:
        scheduler = scheduler or batch.scheduler_here(os.environ)
        wished = asked if isinstance(asked, Question) else question(asked)
        if options.hosts:
            raise UsageError(
                "--hosts and --submit exclude each other",
                "the batch system chooses the hosts of a job",
                "choose them by --partition or --batch-line",
                code="hosts-with-submit",
            )
        if not options.ranks_per_node and (options.nodes > 1 or scheduler.COUNTS_PROCESSORS):
            raise _ranks_per_node_missing(options.nodes or 1)
        return _Job(scheduler, wished, *_planned(wished, options, wanted, listen))

    def request(self, path: Path, wanted: BatchOptions) -> JobRequest:
        settings = self.plan.affordable
        return _request(path, settings.host_options, wanted, total_s(settings))


def _planned(
    wished: Question, options: RunOptions, wanted: BatchOptions, listen: Listener
) -> tuple[RunOptions, measure.Planned]:
    if wanted.tasks:
        if options.in_rounds:
            raise UsageError(
                "--array and rounds exclude each other",
                "jobs of an array run at any time, rounds at fixed ones",
                "leave out --array, or --repeat, --through and --every",
                code="rounds-in-array",
            )
        options = replace(options, refine=False, budget=options.budget * wanted.tasks)
    planned = measure.plan(wished, options, listen=listen, for_a_job=True)
    if wanted.tasks:
        # fixed now: each task finds its share without asking the others
        options = replace(options, launches=max(planned.settings.launches, wanted.tasks))
        fixed = replace(planned.settings, launches=options.launches or 0, extend=False)
        planned = replace(planned, settings=fixed)
    if planned.warning is not None:
        listen(planned.warning)
    _warn(wanted, total_s(planned.affordable), listen)
    return options, planned


def _warn(wanted: BatchOptions, seconds: float, listen: Listener) -> None:
    warning = wanted.warning(seconds / max(1, wanted.tasks))
    if warning is not None:
        listen(warning)


def _refuse_unlockable(path: Path, wanted: BatchOptions) -> None:
    """Raises EnvironmentProblem if an array cannot lock files in the run's folder. A lock that holds only
    within a host looks like any other."""
    if wanted.tasks and not lockable(path):
        raise EnvironmentProblem(
            f"jobs of an array cannot write to {path}",
            "files on this file system cannot be locked, so the records of several jobs would mix",
            "use a folder on another file system with --out, or leave out --array",
            code="array-needs-locks",
            path=str(path),
        )


def _refuse_inside(option: str) -> None:
    """Raises UsageError within a job: what is measured there needs no other one."""
    job = batch.current_job(os.environ)
    if job:
        raise UsageError(
            f"hockney runs in job {job}",
            "it can measure directly here",
            f"leave out {option}, or use it outside of the job",
            code="submit-inside-job",
            job=job,
        )


def _request(path: Path, hosts: HostOptions, wanted: BatchOptions, seconds: float) -> JobRequest:
    """The job continues the run, with this interpreter and environment."""
    whole = path.absolute()
    return JobRequest(
        name=batch.job_name(whole),
        nodes=hosts.nodes or 1,
        ranks_per_node=hosts.ranks_per_node,
        seconds=wanted.limit_s(seconds / max(1, wanted.tasks)),
        folder=whole,
        command=(sys.executable, "-m", "hockney", "resume", str(whole)),
        cwd=Path.cwd(),
        account=wanted.account,
        partition=wanted.partition,
        lines=wanted.lines,
        tasks=wanted.tasks,
    )


def _submitted(scheduler: Scheduler, folder: RunFolder, job: BatchJob, request: JobRequest) -> Submitted:
    text = batch.script_of(scheduler, request)
    batch.write_job(folder.path, job)
    with keeping(folder.path, complete=False):
        number = batch.submit(scheduler, folder.path, request.name, text)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    batch.write_job(folder.path, msgspec.structs.replace(job, number=number, submitted=now))
    return Submitted(folder.path, number, scheduler.NAME, " ".join(scheduler.cancel_words(number)))


def _ranks_per_node_missing(nodes: int) -> UsageError:
    each = " on each" if nodes > 1 else ""
    return UsageError(
        f"--submit on {plural(nodes, 'node')} needs the number of ranks{each}",
        "the processors of the nodes are not known here",
        "begin the run with for example --ranks-per-node 4",
        code="ranks-per-node-missing",
        nodes=nodes,
    )
