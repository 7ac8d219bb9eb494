# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A judgement on stdout, in the form that the user chose, and its exit code. The judgement may be of a run
that is measured first, and compared with a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import api
from hockney.cli.output.answer import Form, run_to_be_named
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import print_document, print_summary
from hockney.cli.output.tables import print_json, print_labelled, print_line, print_table, print_whole
from hockney.cli.output.terminal import echo
from hockney.core.errors import Exit, UsageError, keeping, sentences
from hockney.core.paths import in_runs
from hockney.core.wording import plural
from hockney.judgements.judgement import Judgement
from hockney.system.files import refuse_early, replace

if TYPE_CHECKING:
    from hockney.api import Comparison, Question, RunOptions
    from hockney.api.judgements.history_check import Check
    from hockney.cli.arguments.checking import CheckOptions

MOST_CHANGES, MOST_OPEN = 20, 5


@dataclass(frozen=True)
class JudgementForm:
    """How a judgement is printed: as a table (of all cases), JSON, JUnit or Markdown; `page` is the file of
    its page, if any."""

    as_json: bool = False
    style: str = "table"
    all_cases: bool = False
    page: Path | None = None

    def check(self) -> None:
        """Raises UsageError for options that exclude each other."""
        if self.as_json and self.style != "table":
            raise UsageError(
                f"--format {self.style} and --json exclude each other",
                "both are printed on stdout",
                "give one of them",
                code="format-and-json",
            )


def print_judgement(judged: Comparison | Check, reporter: ProgressReporter, form: JudgementForm) -> int:
    """Returns the exit code."""
    if form.as_json:
        print_json(judged.document)
    elif form.style == "table":
        print_judged(judged.judgement, all_cases=form.all_cases)
    else:
        echo((judged.junit if form.style == "junit" else judged.markdown).rstrip("\n"))
    if form.page is not None:
        with reporter.doing("writing the report"):
            written = judged.report(form.page)
        if form.style == "table" and not form.as_json:
            echo()
            print_whole(f"report: {written}")
    return exit_code(judged.judgement)


def exit_code(of: Judgement[Any]) -> int:
    if of.fails:
        return Exit.ANSWER_IS_NO
    return Exit.INCONCLUSIVE if of.is_open else Exit.FINE


def print_judged(of: Judgement[Any], *, all_cases: bool = False) -> None:
    """The result first, then the sides and what differs, then operations and cases."""
    print_line(of.overall)
    echo()
    _print_lines(of.sides)
    if of.effect_sentences:
        echo()
        _print_lines(of.effect_sentences)
    if of.differences_table.rows:
        echo()
        print_table(of.differences_table)
    for caveat in of.caveats:
        print_labelled("warning", sentences(caveat.text, f"affects {caveat.touches}", caveat.todo))
    echo()
    print_table(of.operations_table, keys=of.keys)
    if of.details:
        echo()
        _print_lines(of.details)
    if all_cases:
        _print_cases(of, of.ordered, len(of.ordered))
    else:
        _print_cases(of, of.changed, MOST_CHANGES)
        _print_cases(of, of.open_cases, MOST_OPEN)
    if of.notes:
        echo()
        _print_lines(of.notes)


def _print_lines(texts: Sequence[str]) -> None:
    for text in texts:
        print_line(text, hang="  ")


def _print_cases(of: Judgement[Any], cases: Sequence[Any], most: int) -> None:
    if not cases:
        return
    table = of.cases_table(cases[:most], "cases", "")
    echo()
    print_table(table)
    if table.caption:
        print_line(table.caption)
    if len(cases) > most:
        print_line(f"... and {plural(len(cases) - most, 'more case')}; --all lists all.")


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
            with reporter.doing("writing the report"):
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
