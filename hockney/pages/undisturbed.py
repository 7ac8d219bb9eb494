# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The undisturbed cost next to the typical one, if the two differ."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.fit import Summary, Undisturbed
from hockney.draw.page import Table
from hockney.pages.evidence import Measured
from hockney.pages.format import label, percent, quantity, size_of, typical_cost, with_interval

DIFFERS = 1.1
"""A typical cost larger by more than this factor is not that of the undisturbed machine."""
COLUMN = "undisturbed"
CAPTION = (
    "'Undisturbed' is the cost while nothing slows the machine down: the fastest mode of the times. It is "
    f"shown if the typical cost is more than {DIFFERS - 1:.0%} higher. 'Disturbed' is the share of visits "
    "that took longer."
)


def differing(summary: Summary) -> Undisturbed | None:
    """The undisturbed cost, if the typical one differs from it."""
    undisturbed = summary.undisturbed
    return (
        undisturbed
        if undisturbed is not None and summary.typical.value > DIFFERS * undisturbed.cost.value
        else None
    )


def cell(summary: Summary) -> str:
    """ "210 ns (disturbed: 60%)", or empty."""
    undisturbed = differing(summary)
    return (
        ""
        if undisturbed is None
        else f"{quantity(undisturbed.cost.value, 's')} (disturbed: {percent(undisturbed.disturbed)})"
    )


def cost(summary: Summary) -> str:
    """ "252 ns (95%: 229 ns to 281 ns), undisturbed 210 ns (95%: 205 ns to 215 ns)", for a sentence."""
    undisturbed, typical = differing(summary), typical_cost(summary)
    return (
        typical if undisturbed is None else f"{typical}, undisturbed {with_interval(undisturbed.cost, 's')}"
    )


def with_column(table: Table, summaries: Sequence[Summary], heading: str, *, always: bool = False) -> Table:
    """The table, which has a row for each of `summaries`, with a column of undisturbed costs after the column
    `heading`; unchanged if no cost differs, unless the column is required `always`."""
    cells = [cell(summary) for summary in summaries]
    if not any(cells) and not always:
        return table
    place = table.columns.index(heading) + 1
    rows = zip(table.rows, cells, strict=True)
    return Table(
        table.name,
        table.title,
        (*table.columns[:place], COLUMN, *table.columns[place:]),
        tuple((*row[:place], text, *row[place:]) for row, text in rows),
        numeric=(*(k + (k >= place) for k in table.numeric), place),
        caption=" ".join(filter(None, (table.caption, CAPTION))),
    )


def table(measured: Sequence[Measured]) -> Table | None:
    """The cases whose costs differ, for a section without a table of all its cases."""
    differ = [m for m in measured if differing(m.summary) is not None]
    if not differ:
        return None
    rows = tuple(
        (label(m, m.workload.size), size_of(m), quantity(m.summary.typical.value, "s")) for m in differ
    )
    plain = Table(COLUMN, "Typical and undisturbed costs", ("case", "size", "typical"), rows, numeric=(1, 2))
    return with_column(plain, [m.summary for m in differ], "typical")
