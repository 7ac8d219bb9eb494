# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results in the cell of a notebook: sentences and tables, as HTML or as text. All text is untrusted: it is
displayed, never interpreted."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from hockney.core.errors import join_sentences, one_line
from hockney.draw.page import Caveat, Table
from hockney.report.html_text import emphasise_results, to_sentence

RIGHT_ALIGNED = Markup(' style="text-align: right; white-space: nowrap"')
LEFT_ALIGNED = Markup(' style="text-align: left"')


def summary(
    leading_sentences: Sequence[str],
    caveats: Sequence[Caveat],
    tables: Sequence[Table] = (),
    trailing_sentences: Sequence[str] = (),
) -> str:
    """Return sentences, their caveats, tables (with titles if there are several), and sentences below
    them."""
    parts = [_paragraph(text) for text in leading_sentences]
    if caveats:
        parts.append(Markup("<ul>{}</ul>").format(Markup("").join(map(_caveat, caveats))))
    nonempty_tables = [table for table in tables if table.rows]
    for table in nonempty_tables:
        if len(nonempty_tables) > 1:
            parts.append(Markup("<p><strong>{}</strong></p>").format(one_line(table.title)))
        parts.append(_table(table))
    parts += [_paragraph(text) for text in trailing_sentences]
    return str(Markup("<div>{}</div>").format(Markup("\n").join(parts)))


def _paragraph(text: str) -> Markup:
    return Markup("<p>{}</p>").format(emphasise_results(text))


def _caveat(caveat: Caveat) -> Markup:
    sentence = join_sentences(caveat.text, f"affects {caveat.touches}", caveat.todo)
    return Markup("<li>{}</li>").format(one_line(to_sentence(sentence)))


def _table(table: Table) -> Markup:
    heading_row = _row("th", table.columns, table)
    rows = Markup("\n").join(_row("td", row, table) for row in table.rows)
    return Markup("<table><thead>{}</thead>\n<tbody>{}</tbody></table>").format(heading_row, rows)


def _row(tag: str, cells: Sequence[str], table: Table) -> Markup:
    alignments = [RIGHT_ALIGNED if k in table.numeric else LEFT_ALIGNED for k in range(len(cells))]
    return Markup("<tr>{}</tr>").format(
        Markup("").join(
            Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), alignments[k], escape(one_line(cell)))
            for k, cell in enumerate(cells)
        )
    )


def text_lines(table: Table) -> list[str]:
    """Return the rows of a table whose first column is a count, each as "2 ranks: time 5 us, efficiency
    98%"."""
    first_column, *other_columns = table.columns
    lines = []
    for count, *cells in table.rows:
        cell_texts = (f"{name} {cell}" for name, cell in zip(other_columns, cells, strict=True))
        lines.append(f"{count} {first_column}: {', '.join(cell_texts)}")
    return lines
