# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Results in the cell of a notebook: a few sentences and tables, as HTML or as text. All text is treated
as untrusted: displayed, never interpreted."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from hockney.core.errors import one_line, sentences
from hockney.draw.page import Caveat, Table
from hockney.report.html_text import emphasise_results, to_sentence

RIGHT = Markup(' style="text-align: right; white-space: nowrap"')
LEFT = Markup(' style="text-align: left"')


def summary(
    before: Sequence[str], caveats: Sequence[Caveat], tables: Sequence[Table] = (), after: Sequence[str] = ()
) -> str:
    """Sentences, their caveats, tables (several with their titles), and sentences below them."""
    parts = [_paragraph(text) for text in before]
    if caveats:
        parts.append(Markup("<ul>{}</ul>").format(Markup("").join(map(_caveat, caveats))))
    filled = [table for table in tables if table.rows]
    for table in filled:
        if len(filled) > 1:
            parts.append(Markup("<p><strong>{}</strong></p>").format(one_line(table.title)))
        parts.append(_table(table))
    parts += [_paragraph(text) for text in after]
    return str(Markup("<div>{}</div>").format(Markup("\n").join(parts)))


def _paragraph(text: str) -> Markup:
    return Markup("<p>{}</p>").format(emphasise_results(text))


def _caveat(caveat: Caveat) -> Markup:
    words = sentences(caveat.text, f"affects {caveat.touches}", caveat.todo)
    return Markup("<li>{}</li>").format(one_line(to_sentence(words)))


def _table(table: Table) -> Markup:
    head = _row("th", table.columns, table)
    rows = Markup("\n").join(_row("td", row, table) for row in table.rows)
    return Markup("<table><thead>{}</thead>\n<tbody>{}</tbody></table>").format(head, rows)


def _row(tag: str, cells: Sequence[str], table: Table) -> Markup:
    side = [RIGHT if k in table.numeric else LEFT for k in range(len(cells))]
    return Markup("<tr>{}</tr>").format(
        Markup("").join(
            Markup("<{0}{1}>{2}</{0}>").format(Markup(tag), side[k], escape(one_line(cell)))
            for k, cell in enumerate(cells)
        )
    )


def text_lines(table: Table) -> list[str]:
    """The rows of a table whose first column is a count, each as "2 ranks: time 5 us, efficiency 98%"."""
    first, *others = table.columns
    lines = []
    for count, *cells in table.rows:
        cell_texts = (f"{name} {cell}" for name, cell in zip(others, cells, strict=True))
        lines.append(f"{count} {first}: {', '.join(cell_texts)}")
    return lines
