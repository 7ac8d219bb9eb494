# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison as Markdown, for a comment on a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hockney.comparison import effect_wording, tables
from hockney.comparison.result import ComparedSides
from hockney.comparison.wording import answer, overall, side, without_comparison
from hockney.core.errors import one_line, sentences
from hockney.draw.page import Table

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&@])")
MOST_CHANGES, MOST_CASES = 30, 500
"""A comment may have 65536 characters."""


def markdown(compared: ComparedSides) -> str:
    return "\n".join(_lines(compared))


def _lines(compared: ComparedSides) -> Iterator[str]:
    yield f"**{escaped(overall(compared))}**"
    yield ""
    for of in (compared.a, compared.b):
        yield f"- {escaped(side(of))}"
    for caveat in compared.caveats:
        yield f"- warning: {escaped(sentences(caveat.text, caveat.todo))}"
    for sentence in effect_wording.sentences(compared):
        yield f"- {escaped(sentence)}"
    if compared.differences:
        yield from table_lines(tables.environment(compared), heading="What differs")
    yield from table_lines(tables.operations(compared), heading="Operations")
    changes = compared.of("slower", "faster")
    if changes:
        chosen = changes[:MOST_CHANGES]
        yield from table_lines(
            tables.cases(compared, chosen, "changes", "Biggest changes"), heading="Biggest changes"
        )
        if len(changes) > MOST_CHANGES:
            yield f"\n{len(changes) - MOST_CHANGES} more cases have changed."
    yield "\n<details><summary>All operations and cases</summary>\n"
    for sentence in (*answer(compared)[1:], *without_comparison(compared)):
        yield f"- {escaped(sentence)}"
    yield from table_lines(
        tables.cases(compared, compared.judged.biggest_first[:MOST_CASES], "cases", "Cases")
    )
    yield "\n</details>\n"


def table_lines(table: Table, heading: str = "") -> Iterator[str]:
    """A table below a heading."""
    yield ""
    if heading:
        yield f"### {heading}\n"
    yield _row(table.columns)
    yield _row(["---:" if k in table.numeric else "---" for k in range(len(table.columns))], plain=True)
    for row in table.rows:
        yield _row(row)
    if table.caption:
        yield f"\n{escaped(table.caption)}"


def _row(cells: tuple[str, ...] | list[str], *, plain: bool = False) -> str:
    return f"| {' | '.join(cell if plain else escaped(cell) for cell in cells)} |"


def escaped(text: str) -> str:
    """Displayed, never interpreted."""
    return SPECIAL.sub(r"\\\1", one_line(text))
