# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney compare: what is slower in B than in A."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hockney import api
from hockney.api import Question, RunOptions, parse_question
from hockney.cli.arguments.commands import SEPARATOR, typed_options
from hockney.cli.output.judged import JudgementForm, print_judgement
from hockney.cli.output.progress import ProgressReporter
from hockney.cli.output.results import print_caveats
from hockney.cli.output.tables import print_json, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.core.errors import ExitCode, UsageError
from hockney.core.fit import Cost
from hockney.core.paths import to_path
from hockney.profiles.manifest import is_profile
from hockney.store import pair_in


def action(
    sides: tuple[str, ...],
    interleaved: tuple[str, str] | None,
    tolerance: float | None,
    all_cases: bool,
    style: str,
    page: Path | None,
    cost: Cost,
    quiet: bool,
    as_json: bool,
    out: Path | None,
    **measuring: Any,
) -> int:
    form = JudgementForm(as_json, style, all_cases, page)
    form.check()
    with ProgressReporter(quiet) as reporter:
        if interleaved is not None:
            question = interleaved_question(sides)
            options = RunOptions(**measuring)
            comparison = api.run_interleaved_comparison(
                *interleaved, question, options, tolerance=tolerance, cost=cost, out=out, listen=reporter
            )
            return print_judgement(comparison, reporter, form)
        typed_names = typed_options(click.get_current_context())
        for name in ("out", *measuring):
            if name in typed_names:
                raise UsageError(
                    f"{typed_names[name]} is an option of measuring",
                    "without --interleaved, existing runs are compared",
                    f"leave {typed_names[name]} out, or measure both sides with --interleaved",
                    code="option-only-interleaved",
                    option=typed_names[name],
                )
        a, b = _sides(sides)
        if any(is_profile(to_path(name)) for name in (*a, *b)):
            return _compare_profiles(a, b, tolerance, form, reporter)
        with reporter.show_step("comparing the runs"):
            comparison = api.compare(a, b, tolerance=tolerance, cost=cost, listen=reporter)
        return print_judgement(comparison, reporter, form)


def _compare_profiles(
    a: Sequence[str],
    b: Sequence[str],
    tolerance: float | None,
    form: JudgementForm,
    reporter: ProgressReporter,
) -> int:
    from hockney.api.profile import compare_profiles

    if len(a) != 1 or len(b) != 1:
        raise UsageError(
            "several profiles are on one side",
            "a profile has all launches of its side",
            "profile each side once, with --repeat",
            code="several-profiles",
            a=list(a),
            b=list(b),
        )
    if form.style != "table" or form.page is not None:
        name = "--report" if form.page is not None else f"--format {form.style}"
        raise UsageError(
            f"{name} does not apply to profiles",
            "their comparison is a table, or JSON",
            f"leave out {name}",
            code="option-of-runs",
            option=name,
        )
    with reporter.show_step("comparing the profiles"):
        comparison = compare_profiles(a[0], b[0], tolerance)
    if form.as_json:
        print_json(comparison.document)
    else:
        for sentence in comparison.answer:
            print_line(sentence)
        echo()
        print_table(comparison.table, keys=2)
        if comparison.table.caption:
            print_line(comparison.table.caption)
        print_caveats(comparison.caveats, apart=True)
    if comparison.fails:
        return ExitCode.ANSWER_IS_NO
    return ExitCode.INCONCLUSIVE if comparison.is_open else ExitCode.SUCCESS


def interleaved_question(words: tuple[str, ...]) -> Question:
    """Question of an interleaved comparison, by default the survey."""
    if SEPARATOR in words:
        raise _not_two_sides(len(words))
    return parse_question(words or ("survey",))


def _sides(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split the arguments into two sides: at --, as two words, or from the folder of an interleaved
    comparison."""
    if SEPARATOR in words:
        separator_index = words.index(SEPARATOR)
        a, b = list(words[:separator_index]), list(words[separator_index + 1 :])
        if SEPARATOR in b or not a or not b:
            raise _not_two_sides(len(words))
        return a, b
    if len(words) == 1 and (pair := pair_in(to_path(words[0]))):
        return [str(pair[0].path)], [str(pair[1].path)]
    if len(words) != 2:
        raise _not_two_sides(len(words))
    return [words[0]], [words[1]]


def _not_two_sides(count: int) -> UsageError:
    return UsageError(
        "compare needs two sides" if count < 2 else "it is not clear which runs are A and which are B",
        "A is compared with B",
        "give two runs, or put -- between the runs of A and the runs of B: hockney compare OLD... -- NEW...",
        code="not-two-sides",
        count=count,
    )
