# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring with a baseline: the run's results, their comparison, and the exit code."""

from __future__ import annotations

from pathlib import Path

from hockney import api
from hockney.api import Comparison, Question, RunOptions
from hockney.cli import messages
from hockney.cli.arguments.checking import CheckOptions
from hockney.cli.messages import run_to_be_named
from hockney.cli.output.answer import Form
from hockney.cli.output.judged import exit_code, print_judged
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.summary import print_document, print_summary
from hockney.cli.output.tables import print_line, print_whole
from hockney.cli.output.terminal import echo
from hockney.core.errors import Exit, keeping
from hockney.core.paths import in_runs
from hockney.system.files import refuse_early, replace


def check_and_print(
    question: Question | None,
    options: RunOptions,
    wanted: CheckOptions,
    out: Path | None,
    quiet: bool,
    form: Form,
) -> int:
    """Measure what is asked, by default the cases of the baseline; returns the exit code."""
    for path in filter(None, (wanted.junit, wanted.markdown, wanted.page)):
        refuse_early(path)
    with ProgressReporter(quiet) as reporter:
        checked = api.check(
            wanted.baselines,
            options,
            question,
            tolerance=wanted.tolerance,
            cost=wanted.cost,
            force=wanted.force,
            out=out,
            listen=reporter,
        )
        run, comparison = checked.run, checked.comparison
        left = 0 if run.outcome is None else run.outcome.left
        with keeping(run.path, complete=not left):
            with reporter.doing(messages.writing_report()):
                run.report()
                _write(comparison, wanted)
            if form.as_json:
                print_document(run, reporter.notices, {"comparison": comparison.document})
            else:
                print_summary(run, form.columns)
                echo()
                print_line("Compared with the baseline (A), this run (B):")
                print_judged(comparison.judgement)
                if wanted.page is not None:
                    echo()
                    print_whole(f"comparison: {wanted.page}")
        if not form.as_json and not in_runs(run.path):
            reporter.say(run_to_be_named(run.path))
    if run.wrong:
        return Exit.ANSWER_IS_NO
    code = exit_code(comparison.judgement)
    return Exit.INCONCLUSIVE if left and code == Exit.FINE else code


def _write(comparison: Comparison, wanted: CheckOptions) -> None:
    if wanted.junit is not None:
        replace(wanted.junit, comparison.junit.encode())
    if wanted.markdown is not None:
        replace(wanted.markdown, comparison.markdown.encode())
    if wanted.page is not None:
        comparison.report(wanted.page)
