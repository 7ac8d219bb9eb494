# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney compare: what is slower in B than in A."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hockney import api
from hockney.api import Comparison
from hockney.cli import messages
from hockney.cli.arguments import messages as of_arguments
from hockney.cli.arguments.two_sides import SEPARATOR
from hockney.cli.output import messages as of_output
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.tables import print_json, print_labelled, print_line, print_table, print_whole
from hockney.cli.output.terminal import echo
from hockney.comparison import ComparedSides, tables, wording
from hockney.core.errors import Exit, sentences
from hockney.core.fit import Cost
from hockney.models.comparison import CaseVerdict

MOST_CHANGES, MOST_UNDECIDED = 20, 5


def action(
    sides: Sequence[str],
    tolerance: float,
    all_cases: bool,
    style: str,
    page: Path | None,
    cost: Cost,
    quiet: bool,
    as_json: bool,
) -> int:
    a, b = _sides(sides)
    if as_json and style != "table":
        raise of_arguments.format_and_json(style)
    reporter = ProgressReporter(quiet)
    with reporter.doing(of_output.comparing_runs()):
        comparison = api.compare(a, b, tolerance=tolerance, cost=cost, listen=reporter)
    if as_json:
        print_json(comparison.document)
    elif style == "table":
        _print(comparison.compared, all_cases=all_cases)
    else:
        echo((comparison.junit if style == "junit" else comparison.markdown).rstrip("\n"))
    if page is not None:
        _write(comparison, page, reporter, to_stdout=style == "table" and not as_json)
    return exit_code(comparison)


def exit_code(comparison: Comparison) -> int:
    if comparison.verdict == "slower":
        return Exit.ANSWER_IS_NO
    return Exit.INCONCLUSIVE if comparison.verdict == "undecided" else Exit.FINE


def _sides(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separated by --, or two words."""
    if SEPARATOR in words:
        middle = words.index(SEPARATOR)
        a, b = list(words[:middle]), list(words[middle + 1 :])
        if SEPARATOR in b or not a or not b:
            raise of_arguments.not_two_sides(len(words))
        return a, b
    if len(words) != 2:
        raise of_arguments.not_two_sides(len(words))
    return [words[0]], [words[1]]


def _write(comparison: Comparison, path: Path, reporter: ProgressReporter, *, to_stdout: bool) -> None:
    with reporter.doing(messages.writing_report()):
        written = comparison.report(path)
    if to_stdout:
        echo()
        print_whole(f"report: {written}")


def _print(compared: ComparedSides, *, all_cases: bool) -> None:
    """The result first, then what differs, then operations and cases."""
    print_line(wording.overall(compared))
    echo()
    for side in (compared.a, compared.b):
        print_line(wording.side(side), hang="  ")
    if compared.differences:
        echo()
        print_table(tables.environment(compared))
    for caveat in compared.caveats:
        print_labelled("warning", sentences(caveat.text, f"affects {caveat.touches}", caveat.todo))
    echo()
    print_table(tables.operations(compared))
    if all_cases:
        _cases(compared, compared.judged.biggest_first, len(compared.cases))
    else:
        _cases(compared, compared.of("slower", "faster"), MOST_CHANGES)
        _cases(compared, compared.of("undecided", "unknown"), MOST_UNDECIDED)
    rest = wording.without_comparison(compared)
    if rest:
        echo()
    for sentence in rest:
        print_line(sentence, hang="  ")


def _cases(compared: ComparedSides, cases: Sequence[CaseVerdict], most: int) -> None:
    if not cases:
        return
    table = tables.cases(compared, cases[:most], "cases", "")
    echo()
    print_table(table)
    if table.caption:
        print_line(table.caption)
    if len(cases) > most:
        print_line(of_output.more_cases(len(cases) - most))
