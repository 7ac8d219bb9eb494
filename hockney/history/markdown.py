# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A checked run as Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from hockney.comparison.markdown import escaped, table_lines
from hockney.core.errors import sentences
from hockney.history import tables
from hockney.history.result import CheckedRun
from hockney.history.wording import answer, overall, without_result

MOST_CHANGES, MOST_CASES = 30, 500


def markdown(checked: CheckedRun) -> str:
    return "\n".join(_lines(checked))


def _lines(checked: CheckedRun) -> Iterator[str]:
    yield f"**{escaped(overall(checked))}**"
    yield ""
    yield f"- {escaped(checked.name)} on {escaped(checked.machine)}, {checked.earlier} earlier runs"
    for caveat in checked.caveats:
        yield f"- warning: {escaped(sentences(caveat.text, caveat.todo))}"
    if checked.changes:
        yield from table_lines(tables.facts(checked), heading="What changed")
    yield from table_lines(tables.operations(checked), heading="Operations")
    changed = [each for of in checked.operations for each in of.of("slower", "faster")]
    if changed:
        yield from table_lines(tables.cases(changed[:MOST_CHANGES], "changes", ""), heading="Cases")
    yield "\n<details><summary>All operations and cases</summary>\n"
    for sentence in (*answer(checked)[1:], *without_result(checked)):
        yield f"- {escaped(sentence)}"
    yield from table_lines(tables.cases(checked.cases[:MOST_CASES], "cases", "Cases"))
    yield "\n</details>\n"
