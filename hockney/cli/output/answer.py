# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The path from a question to its answer on stdout: measure, or submit a job, write the report, print the
results, and return the exit code."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hockney import api, studies
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import (
    AD_HOC_STUDY,
    cases_in_order,
    missing_measurements,
    print_document,
    print_summary,
    warning_text,
)
from hockney.cli.output.tables import print_json, print_line
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode, RunInterrupted, UsageError, attach_run_to_interrupt, printable
from hockney.core.paths import is_in_runs
from hockney.core.wording import list_names, plural
from hockney.measurement import Event, Listener
from hockney.pages.format import VAGUE_INTERVAL_FACTOR, is_vague
from hockney.system.bundled import bundled_workloads

if TYPE_CHECKING:
    from hockney.api import BatchOptions, Question, Run, RunOptions, SubmittedJob
    from hockney.cli.output.stream import Lines
    from hockney.pages.case_columns import CaseColumn


@dataclass(frozen=True)
class AnswerForm:
    """Output format of the answer: a table with the usual or selected `columns`, a JSON document, or lines
    during the measurement (`style` plain or osu; `full` for all columns of OSU)."""

    as_json: bool = False
    columns: tuple[CaseColumn, ...] = ()
    style: str = "table"
    full: bool = False

    def check(self, question: Question) -> None:
        """Raise UsageError for options that exclude each other, and for workloads that cannot be printed as
        lines."""
        if self.full and self.style != "osu":
            raise UsageError(
                "--full requires --format osu",
                "it adds OSU's columns for minimum, maximum and iterations",
                "use for example --columns typical,min,max",
                code="full-without-osu",
            )
        if self.style == "table":
            return
        if self.as_json:
            raise UsageError(
                "--format and --json exclude each other", "", "use only one", code="format-with-json"
            )
        if question.study != AD_HOC_STUDY:
            raise UsageError(
                f"--format does not apply to study '{question.study}'",
                "it applies only to ad-hoc cases",
                "use for example 'hockney run pingpong bytes=0:4MiB --format osu'",
                code="format-of-study",
                study=question.study,
            )
        if self.columns and self.style == "osu":
            raise UsageError(
                "--columns and --format osu exclude each other",
                "OSU's columns are fixed",
                "use --format plain",
                code="columns-with-osu",
            )
        lines = self.lines()
        workloads = bundled_workloads()
        for name in question.workloads & workloads.keys():  # before anything is compiled
            lines.check(workloads[name])

    def lines(self) -> Lines:
        if self.style == "osu":
            from hockney.cli.output.stream import OsuLines

            return OsuLines(self.full)
        from hockney.cli.output.stream import PlainLines
        from hockney.pages.case_columns import COLUMNS

        return PlainLines(self.columns or [COLUMNS["typical"], COLUMNS["bandwidth"]])


def measure_and_print(
    question: Question, options: RunOptions, out: Path | None, quiet: bool, form: AnswerForm
) -> int:
    """Measure a question and print the answer. Returns the exit code."""
    form.check(question)
    run: Run | None = None
    try:
        with ProgressReporter(quiet) as reporter:
            listen = reporter if form.style == "table" else _streaming_listener(reporter, form)
            run = api.run(question, options, out=out, listen=listen)
            code = print_answer(run, reporter, form)
            if not form.as_json and not is_in_runs(run.path):
                reporter.say(named_run_hint(run.path))
            return code
    except RunInterrupted:
        raise
    except KeyboardInterrupt as end:  # also while the reporter ends
        if run is None:
            raise
        raise RunInterrupted(
            run.folder.path, complete=run.outcome is None or not run.outcome.missing_count
        ) from end


def _streaming_listener(reporter: ProgressReporter, form: AnswerForm) -> Listener:
    from hockney.cli.output.stream import Stream

    def write(line: str) -> None:
        with reporter.make_room():
            echo(line)

    stream = Stream(form.lines(), write)

    def listen(event: Event) -> None:
        stream(event)
        reporter(event)

    return listen


def print_answer(run: Run, reporter: ProgressReporter, form: AnswerForm) -> int:
    """Write the report of a run that was just measured and print its results. Returns the exit code."""
    missing_count = 0 if run.outcome is None else run.outcome.missing_count
    with attach_run_to_interrupt(run.folder.path, complete=not missing_count):
        with reporter.show_step("writing the report"):
            run.report()
        if form.as_json:
            print_document(run, reporter.notices)
        elif form.style == "table":
            print_summary(run, form.columns)
        else:
            _print_diagnostics(run, reporter)
        study = studies.find_study(run.settings.study)
        if run.wrong or study.has_fault(run.evidence):
            return ExitCode.ANSWER_IS_NO
        conclusive = not missing_count and study.is_conclusive(run.evidence)
        return ExitCode.SUCCESS if conclusive else ExitCode.INCONCLUSIVE


def _print_diagnostics(run: Run, reporter: ProgressReporter) -> None:
    """Print everything except results on stderr, so that scripts find only the expected lines on stdout."""
    if reporter.quiet:
        return
    vague_cases = [summary.case.line for summary in cases_in_order(run) if is_vague(summary.summary.typical)]
    if vague_cases:
        reporter.say(
            "warning: the 95% interval of the typical time is unknown or wider than a factor of "
            f"{VAGUE_INTERVAL_FACTOR:g} for {len(vague_cases)} of {plural(len(run.summaries), 'case')}, "
            f"whose lines do not show this: {list_names(vague_cases)}"
        )
    for caveat in run.caveats:
        reporter.say(f"warning: {warning_text(caveat)}")
    if run.outcome is not None and run.outcome.missing_count:
        reporter.say(missing_measurements(plural(run.outcome.missing_count, "planned measurement"), run.path))
    reporter.say(f"report: {run.folder.report_path}")


def submit_and_print(
    question: Question,
    options: RunOptions,
    batch_options: BatchOptions,
    out: Path | None,
    quiet: bool,
    form: AnswerForm,
    dry_run: bool,
    wait: bool,
) -> int:
    form.check(question)
    submit = api.make_job_script if dry_run else api.submit
    return print_submitted(partial(submit, question, options, batch_options, out=out), quiet, form, wait)


def print_submitted(
    submit: Callable[..., SubmittedJob | str], quiet: bool, form: AnswerForm, wait: bool
) -> int:
    """Submit with `submit` and print the job or its script. With `wait`, print the answer when the job has
    ended."""
    with ProgressReporter(quiet) as reporter:
        submitted_job = submit(listen=reporter)
        if isinstance(submitted_job, str):
            echo(submitted_job.rstrip("\n"))
            return ExitCode.SUCCESS
        if wait:
            reporter.say(_submitted_text(submitted_job.job, submitted_job.path))
            return print_answer(api.resume(submitted_job.path, wait=True, listen=reporter), reporter, form)
        if form.as_json:
            print_json(
                {**asdict(submitted_job), "path": str(submitted_job.path), "notices": reporter.notices}
            )
            return ExitCode.SUCCESS
        print_line(_submitted_text(submitted_job.job, submitted_job.path))
        if not quiet:
            location = printable(shlex.quote(str(submitted_job.path)))
            resume = f"'hockney resume {location}' prints the results when it has ended"
            print_line(f"{resume}, '{submitted_job.cancel}' ends it")
    return ExitCode.SUCCESS


def named_run_hint(folder: Path) -> str:
    """A hint for a run outside the default folder."""
    location = printable(shlex.quote(str(folder)))
    return f"commands without RUN only look in runs; for this run: hockney report {location}"


def _submitted_text(job: str, folder: Path) -> str:
    return f"job {job} measures {printable(shlex.quote(str(folder)))}"
