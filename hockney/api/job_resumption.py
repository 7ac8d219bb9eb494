# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Resume runs that batch jobs measure, from within the job and from outside."""

from __future__ import annotations

import contextlib
import os
import shlex
import time
from dataclasses import replace
from pathlib import Path

import msgspec

from hockney import batch, measurement
from hockney.api import measure
from hockney.api.measure import PlannedRun
from hockney.api.questions import Question
from hockney.api.run_contents import Run
from hockney.api.run_options import NO_REPLACEMENTS, Replacements, RunOptions
from hockney.api.trusted_settings import mark_programs, refuse_foreign
from hockney.batch import BatchJob, State
from hockney.batch.job import job_not_readable
from hockney.core.errors import EnvironmentProblem, Inconclusive, UsageError, printable
from hockney.core.notice import Notice
from hockney.core.paths import AnyPath, to_path
from hockney.core.wording import plural
from hockney.measurement import Listener, Outcome, Status, ignore_event
from hockney.process import CannotStart
from hockney.store import (
    LaunchShare,
    RunFolder,
    absorb_shares,
    lock_records,
    missing_items,
    pair_in,
    pair_with,
    unabsorbed_shares,
)

POLL_INTERVAL_S = 5.0
"""Schedulers ask users not to poll more often. In the first 20 s, the state is polled sooner: after a second,
then after a quarter of the time waited."""
SILENCE_LIMIT_S = 600.0
"""A scheduler that is restarting or overloaded does not answer for minutes."""
PLANNING_LIMIT_S = 900.0
"""One job of an array makes the plan, which may include compiling the engine. The other jobs wait this
long."""


def resume(
    path: AnyPath,
    *,
    budget: float | None = None,
    share: LaunchShare | None = None,
    wait: bool = False,
    replacements: Replacements = NO_REPLACEMENTS,
    listen: Listener = ignore_event,
) -> Run:
    """Measure the remaining cases of the run in `path` (`measure.resume`).

    A run with a batch job is measured only within the job. Elsewhere, the results are returned once the job
    has ended; with `wait`, this function waits for that. Raises Inconclusive if the job has not ended or has
    measured nothing, UsageError for one side of an interleaved comparison."""
    path = to_path(path)
    _refuse_pair(path)
    folder = RunFolder.open(path)
    job = batch.read_job(folder.path)
    current_job = batch.current_job(os.environ)
    if job is not None and current_job:
        with contextlib.suppress(EnvironmentProblem):  # another writer would be noticed by its lock as well
            job = with_job_number(folder.path, job)
        if job.number not in ("", current_job):
            refuse_active_job(folder.path, job)
        new_plan = _plan_on_job_hosts(folder, job, replacements, share, listen)
        if new_plan is not None:
            return measure.measure_rest(folder, new_plan.bench, listen, requested=new_plan.cases, share=share)
    elif job is not None:
        job = with_job_number(folder.path, job)
        if _has_ended(folder, job, wait, listen):
            return _job_results(folder, job, listen)
    return measure.resume(folder.path, budget=budget, replacements=replacements, share=share, listen=listen)


def refuse_active_job(path: Path, job: BatchJob) -> None:
    """Raise Inconclusive if the job is waiting or running."""
    state = job_state(path, job)
    if state is not None and state.phase in ("waiting", "running"):
        raise _active_job_error(path, job, state)


def with_job_number(path: Path, job: BatchJob) -> BatchJob:
    """Copy of the job with its number.

    If the submission was interrupted before the number was stored, a waiting or running job is found by its
    name. Raises EnvironmentProblem if the scheduler does not answer."""
    scheduler = batch.scheduler_named(job.scheduler)
    if job.number or scheduler is None:
        return job
    try:
        number = batch.find_job_number(scheduler, batch.job_name(path))
    except CannotStart:
        return job
    if number:
        job = msgspec.structs.replace(job, number=number)
        batch.write_job(path, job)
    return job


def job_state(path: Path, job: BatchJob) -> State | None:
    """State of the job; None if its scheduler is not installed here. Raises EnvironmentProblem if the
    scheduler does not answer."""
    scheduler = batch.scheduler_named(job.scheduler)
    if scheduler is None:
        return None
    if not job.number:
        return State("ended", "")
    try:
        state = batch.state_of(scheduler, job.number)
    except CannotStart:
        return None
    if state.phase == "unknown":
        raise _silent_scheduler_error(scheduler.TITLE, job.number, state.text)
    return state


def _has_ended(folder: RunFolder, job: BatchJob, wait: bool, listen: Listener) -> bool:
    """Whether the job has ended; False if there is no scheduler. A silent scheduler is tolerated for
    SILENCE_LIMIT_S if `wait` is set."""
    last_text = ""
    start_s = last_answer_s = time.monotonic()
    while True:
        try:
            state = job_state(folder.path, job)
            if state is None and last_text:  # its program was there before
                raise _silent_scheduler_error(job.scheduler, job.number, "")
        except EnvironmentProblem as problem:
            if not wait or time.monotonic() >= last_answer_s + SILENCE_LIMIT_S:
                raise
            text = f"{problem.what}; retrying"
        else:
            if state is None:
                return False
            if state.phase == "ended":
                return True
            if not wait:
                raise _active_job_error(folder.path, job, state)
            last_answer_s = time.monotonic()
            text = f"job {job.number}: {printable(state.text)}"
        if text != last_text:
            last_text = text
            listen(Status(text))
        time.sleep(min(POLL_INTERVAL_S, max(1.0, (time.monotonic() - start_s) / 4)))


def _active_job_error(path: Path, job: BatchJob, state: State) -> Exception:
    scheduler = batch.scheduler_named(job.scheduler)
    cancel = " ".join(scheduler.cancel_words(job.number)) if scheduler else ""
    return Inconclusive(
        f"job {job.number}, which measures {path}, has not ended",
        printable(state.text),
        f"'hockney resume {path} --wait' waits for it, '{cancel}' ends it",
        code="job-not-ended",
        path=str(path),
        job=job.number,
        state=state.text,
    )


def _job_results(folder: RunFolder, job: BatchJob, listen: Listener) -> Run:
    """Return the run as measured by the job."""
    absorb_shares(folder, all_ended=True)
    reading = folder.read()
    if not reading.run.records:
        log_path = max(folder.path.glob(batch.LOGS), key=lambda path: path.stat().st_mtime, default=None)
        fact, reason = "the job was never submitted", "hockney was interrupted before submitting it"
        if job.number:
            fact = f"job {job.number} has ended without a measurement"
            reason = f"its output is in {log_path}" if log_path else "it has no output"
        raise Inconclusive(
            fact,
            reason,
            f"'hockney resume {folder.path} --submit' submits another one",
            code="job-without-records",
            path=str(folder.path),
            job=job.number,
            log=str(log_path or ""),
        )
    missing_count = len(missing_items(folder.plan(), reading.run))
    if missing_count:
        listen(
            Notice(
                f"job {job.number} ended before {plural(missing_count, 'planned measurement')}: 'hockney "
                f"resume {folder.path} --submit' submits another one for them",
                "job-incomplete",
            )
        )
    run = Run(folder, Outcome(0, missing_count, 0, 0.0))
    run.save_fits()
    return run


def _plan_on_job_hosts(
    folder: RunFolder, job: BatchJob, replacements: Replacements, share: LaunchShare | None, listen: Listener
) -> PlannedRun | None:
    """Replace the plan made at submission by one made on the job's hosts. Returns None if the plan is
    final."""
    if not _is_provisional(folder, job):
        return None
    with lock_records(folder, PLANNING_LIMIT_S):
        if not _is_provisional(folder, job):
            return None
        options, question = _stored_request(folder, job, replacements)
        planned_run = measure.plan_and_check(question, options, listen)
        measurement.replace_plan(
            folder,
            planned_run.cases,
            mark_programs(planned_run.settings),
            planned_run.bench,
            planned_run.surveyed,
        )
        if share is not None:  # so that no other job makes a plan any more
            (folder.path / share.file).touch()
    return planned_run


def _is_provisional(folder: RunFolder, job: BatchJob) -> bool:
    """Whether the plan is the one made at submission and nothing has been measured."""
    if not job.provisional or folder.sums.checksum != job.provisional or unabsorbed_shares(folder):
        return False
    return not folder.records_path.stat().st_size


def _stored_request(
    folder: RunFolder, job: BatchJob, replacements: Replacements
) -> tuple[RunOptions, Question]:
    """Options and question as submitted. Raises UsageError if they name programs that this user has not
    typed."""
    try:
        options = msgspec.convert(job.options, RunOptions)
        question = msgspec.convert(job.question, Question)
    except msgspec.ValidationError as error:
        raise job_not_readable(folder.path / batch.job.NAME, error) from error
    settings = replace(options.settings(question.study), mark=job.mark)
    refuse_foreign(settings, folder.path, replacements.given)
    return replace(options, seed=folder.plan().settings.seed, **replacements.given), question


def _silent_scheduler_error(scheduler: str, job: str, reason: str) -> EnvironmentProblem:
    return EnvironmentProblem(
        f"{scheduler} does not report the state of job {job}",
        printable(reason) or "it prints nothing that hockney can read",
        "try again later; without job.json in its folder the run is an ordinary one",
        code="scheduler-silent",
        scheduler=scheduler,
        job=job,
    )


def _refuse_pair(path: Path) -> None:
    """Raise UsageError for an interleaved comparison and for either of its sides, which can only be resumed
    together."""
    if pair_in(path) is not None:
        raise UsageError(
            f"'{printable(str(path))}' is an interleaved comparison",
            "it has two runs",
            "use hockney.resume_interleaved",
            code="pair-resumed-as-run",
            path=str(path),
        )
    comparison_path = pair_with(path)
    if comparison_path is not None:
        raise UsageError(
            f"'{printable(str(path))}' is one side of an interleaved comparison",
            "its launches alternate with the other side's",
            f"resume both: hockney resume {printable(shlex.quote(str(comparison_path)))}",
            code="interleaved-side",
            path=str(path),
            whole=str(comparison_path),
        )
