# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison on the terminal, and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hockney.cli.messages import more_cases
from hockney.cli.output.tables import print_labelled, print_line, print_table
from hockney.cli.output.terminal import echo
from hockney.comparison import ComparedSides, effect_wording, tables, wording
from hockney.core.errors import Exit, sentences
from hockney.models.comparison import CaseVerdict

if TYPE_CHECKING:
    from hockney.api import Comparison

MOST_CHANGES, MOST_UNDECIDED = 20, 5


def exit_code(comparison: Comparison) -> int:
    """No if B is slower, or if data arrived wrong in it."""
    if comparison.verdict == "slower" or comparison.compared.b.wrong:
        return Exit.ANSWER_IS_NO
    return Exit.INCONCLUSIVE if comparison.verdict == "undecided" else Exit.FINE


def print_compared(compared: ComparedSides, *, all_cases: bool) -> None:
    """The result first, then what differs, then operations and cases."""
    print_line(wording.overall(compared))
    echo()
    for side in (compared.a, compared.b):
        print_line(wording.side(side), hang="  ")
    effect = effect_wording.sentences(compared)
    if effect:
        echo()
    for sentence in effect:
        print_line(sentence, hang="  ")
    if compared.differences:
        echo()
        print_table(tables.environment(compared))
    for caveat in compared.caveats:
        print_labelled("warning", sentences(caveat.text, f"affects {caveat.touches}", caveat.todo))
    echo()
    print_table(tables.operations(compared))
    echo()
    for sentence in wording.answer(compared)[1:]:
        print_line(sentence, hang="  ")
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
        print_line(more_cases(len(cases) - most))
