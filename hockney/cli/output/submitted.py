# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Submitting a job that measures, and printing what was submitted, or the results once it has ended."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from hockney import api
from hockney.api import BatchOptions, Question, RunOptions, Submitted
from hockney.cli.output.answer import Form, print_answer
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_line
from hockney.cli.output.terminal import echo
from hockney.core.errors import Exit, printable
from hockney.measurement import Listener


def submit_and_print(
    question: Question,
    options: RunOptions,
    wanted: BatchOptions,
    out: Path | None,
    quiet: bool,
    form: Form,
    dry_run: bool,
    wait: bool,
) -> int:
    form.check(question)

    def act(listen: Listener) -> Submitted | str:
        if dry_run:
            return api.script(question, options, wanted, out=out, listen=listen)
        return api.submit(question, options, wanted, out=out, listen=listen)

    return _print(act, quiet, form, wait)


def submit_again_and_print(
    path: Path, wanted: BatchOptions, quiet: bool, form: Form, dry_run: bool, wait: bool
) -> int:
    def act(listen: Listener) -> Submitted | str:
        return api.submit_again(path, wanted, listen=listen, only_script=dry_run)

    return _print(act, quiet, form, wait)


def _print(act: Callable[[Listener], Submitted | str], quiet: bool, form: Form, wait: bool) -> int:
    with ProgressReporter(quiet) as reporter:
        done = act(reporter)
        if isinstance(done, str):
            echo(done.rstrip("\n"))
            return Exit.FINE
        if wait:
            reporter.say(_job_submitted(done.job, done.path))
            return print_answer(api.resume(done.path, wait=True, listen=reporter), reporter, form)
        if form.as_json:
            print_json({**asdict(done), "path": str(done.path), "notices": reporter.notices})
            return Exit.FINE
        print_line(_job_submitted(done.job, done.path))
        if not quiet:
            print_line(_job_to_be_picked_up(done.path, done.cancel))
    return Exit.FINE


def _job_submitted(job: str, folder: Path) -> str:
    return f"job {job} measures {printable(shlex.quote(str(folder)))}"


def _job_to_be_picked_up(folder: Path, cancel: str) -> str:
    where = printable(shlex.quote(str(folder)))
    return f"'hockney resume {where}' prints the results when it has ended, '{cancel}' ends it"
