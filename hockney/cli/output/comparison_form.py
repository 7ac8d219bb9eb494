# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison on stdout, in the form that the user chose."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hockney.api import Comparison
from hockney.cli import messages
from hockney.cli.output.compared import exit_code, print_compared
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_whole
from hockney.cli.output.terminal import echo
from hockney.core.errors import UsageError


@dataclass(frozen=True)
class ComparisonForm:
    """How a comparison is printed: as a table (of all cases), JSON, JUnit or Markdown; `page` is the file of
    its page, if any."""

    as_json: bool = False
    style: str = "table"
    all_cases: bool = False
    page: Path | None = None

    def check(self) -> None:
        """Raises UsageError for options that exclude each other."""
        if self.as_json and self.style != "table":
            raise format_and_json(self.style)


def print_comparison(comparison: Comparison, reporter: ProgressReporter, form: ComparisonForm) -> int:
    """Returns the exit code."""
    if form.as_json:
        print_json(comparison.document)
    elif form.style == "table":
        print_compared(comparison.compared, all_cases=form.all_cases)
    else:
        echo((comparison.junit if form.style == "junit" else comparison.markdown).rstrip("\n"))
    if form.page is not None:
        to_stdout = form.style == "table" and not form.as_json
        _write(comparison, form.page, reporter, to_stdout=to_stdout)
    return exit_code(comparison)


def _write(comparison: Comparison, path: Path, reporter: ProgressReporter, *, to_stdout: bool) -> None:
    with reporter.doing(messages.writing_report()):
        written = comparison.report(path)
    if to_stdout:
        echo()
        print_whole(f"report: {written}")


def format_and_json(style: str) -> UsageError:
    return UsageError(
        f"--format {style} and --json exclude each other",
        "both are printed on stdout",
        "give one of them",
        code="format-and-json",
    )
