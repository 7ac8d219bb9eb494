# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A judgement on stdout, in the form that the user chose, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hockney.api.judgements.comparison import Comparison
from hockney.api.judgements.history_check import Check
from hockney.cli import messages
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_labelled, print_line, print_table, print_whole
from hockney.cli.output.terminal import echo
from hockney.core.errors import Exit, UsageError, sentences
from hockney.judgements.judgement import Judgement

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
        with reporter.doing(messages.writing_report()):
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
        print_line(messages.more_cases(len(cases) - most))
