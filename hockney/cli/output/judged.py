# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Output of a judgement on stdout in the selected format, and its exit code. The judged run may be measured
first and compared with a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hockney import api
from hockney.cli.output.answer import AnswerForm, named_run_hint
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import print_document, print_summary
from hockney.cli.output.tables import print_json, print_labelled, print_line, print_table, print_unwrapped
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode, UsageError, attach_run_to_interrupt, join_sentences
from hockney.core.paths import is_in_runs
from hockney.core.wording import plural
from hockney.judgements.judgement import Judgement
from hockney.system.files import check_user_file, write_user_file

if TYPE_CHECKING:
    from hockney.api import Comparison, Question, RunOptions
    from hockney.api.judgements.history_check import Check
    from hockney.cli.arguments.checking import CheckOptions

MAX_CHANGES, MAX_OPEN = 20, 5


@dataclass(frozen=True)
class JudgementForm:
    """Output format of a judgement: a table (of all cases), JSON, JUnit or Markdown. `page` is the file of
    its page, if any."""

    as_json: bool = False
    style: str = "table"
    all_cases: bool = False
    page: Path | None = None

    def check(self) -> None:
        """Raise UsageError for options that exclude each other."""
        if self.as_json and self.style != "table":
            raise UsageError(
                f"--format {self.style} and --json exclude each other",
                "both are printed on stdout",
                "give one",
                code="format-and-json",
            )


def print_judgement(result: Comparison | Check, reporter: ProgressReporter, form: JudgementForm) -> int:
    """Print a judgement and return the exit code."""
    if form.as_json:
        print_json(result.document)
    elif form.style == "table":
        print_judgement_text(result.judgement, all_cases=form.all_cases)
    else:
        echo((result.junit if form.style == "junit" else result.markdown).rstrip("\n"))
    if form.page is not None:
        with reporter.show_step("writing the report"):
            page_path = result.report(form.page)
        if form.style == "table" and not form.as_json:
            echo()
            print_unwrapped(f"report: {page_path}")
    return exit_code(result.judgement)


def exit_code(judgement: Judgement[Any]) -> int:
    if judgement.is_failure:
        return ExitCode.ANSWER_IS_NO
    return ExitCode.INCONCLUSIVE if judgement.is_undecided else ExitCode.SUCCESS


def print_judgement_text(judgement: Judgement[Any], *, all_cases: bool = False) -> None:
    """Print the result, then the sides and their differences, then operations and cases."""
    print_line(judgement.overall_sentence)
    echo()
    _print_lines(judgement.side_lines)
    if judgement.effect_sentences:
        echo()
        _print_lines(judgement.effect_sentences)
    if judgement.differences_table.rows:
        echo()
        print_table(judgement.differences_table)
    for caveat in judgement.caveats:
        print_labelled("warning", join_sentences(caveat.text, f"affects {caveat.touches}", caveat.todo))
    echo()
    print_table(judgement.operations_table, keys=judgement.key_column_count)
    if judgement.detail_sentences:
        echo()
        _print_lines(judgement.detail_sentences)
    if all_cases:
        _print_cases(judgement, judgement.ordered_cases, len(judgement.ordered_cases))
    else:
        _print_cases(judgement, judgement.changed_cases, MAX_CHANGES)
        _print_cases(judgement, judgement.undecided_cases, MAX_OPEN)
    if judgement.notes:
        echo()
        _print_lines(judgement.notes)


def _print_lines(texts: Sequence[str]) -> None:
    for text in texts:
        print_line(text, hang="  ")


def _print_cases(judgement: Judgement[Any], cases: Sequence[Any], limit: int) -> None:
    if not cases:
        return
    table = judgement.cases_table(cases[:limit], "cases", "")
    echo()
    print_table(table)
    if table.caption:
        print_line(table.caption)
    if len(cases) > limit:
        print_line(f"... and {plural(len(cases) - limit, 'more case')}; --all lists all.")


def check_and_print(
    question: Question | None,
    options: RunOptions,
    check_options: CheckOptions,
    out: Path | None,
    quiet: bool,
    form: AnswerForm,
) -> int:
    """Measure a question, by default the cases of the baseline, and print the comparison. Returns the exit
    code."""
    for path in filter(None, (check_options.junit, check_options.markdown, check_options.page)):
        check_user_file(path)
    with ProgressReporter(quiet) as reporter:
        baseline_check = api.check(
            check_options.baselines,
            options,
            question,
            tolerance=check_options.tolerance,
            cost=check_options.cost,
            force=check_options.force,
            out=out,
            listen=reporter,
        )
        run, comparison = baseline_check.run, baseline_check.comparison
        missing_count = 0 if run.outcome is None else run.outcome.missing_count
        with attach_run_to_interrupt(run.path, complete=not missing_count):
            with reporter.show_step("writing the report"):
                run.report()
                _write(comparison, check_options)
            if form.as_json:
                print_document(run, reporter.notices, {"comparison": comparison.document})
            else:
                print_summary(run, form.columns)
                echo()
                print_line("Compared with the baseline (A), this run (B):")
                print_judgement_text(comparison.judgement)
                if check_options.page is not None:
                    echo()
                    print_unwrapped(f"comparison: {check_options.page}")
        if not form.as_json and not is_in_runs(run.path):
            reporter.say(named_run_hint(run.path))
    if run.wrong:
        return ExitCode.ANSWER_IS_NO
    code = exit_code(comparison.judgement)
    return ExitCode.INCONCLUSIVE if missing_count and code == ExitCode.SUCCESS else code


def _write(comparison: Comparison, check_options: CheckOptions) -> None:
    if check_options.junit is not None:
        write_user_file(check_options.junit, comparison.junit.encode())
    if check_options.markdown is not None:
        write_user_file(check_options.markdown, comparison.markdown.encode())
    if check_options.page is not None:
        comparison.report(check_options.page)
