# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The undisturbed cost next to the typical one, if the two differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hockney.core.fit import Summary, Undisturbed
from hockney.draw.page import Table
from hockney.pages.columns import COUNT, SECONDS, Column, Row, columns_table
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


def column(rows: Iterable[Row], summary_of: Callable[[Row], Summary], *, always: bool = False) -> Column[Row]:
    """Undisturbed costs: a column of no table if the cost of none of `rows` differs, unless it is required
    `always`."""
    shown = always or any(differing(summary_of(row)) for row in rows)
    return Column(COLUMN if shown else "", lambda row: cell(summary_of(row)), COUNT)


def summary_of(m: Measured) -> Summary:
    return m.summary


def table(measured: Sequence[Measured]) -> Table | None:
    """The cases whose costs differ, for a section without a table of all its cases."""
    differ = [m for m in measured if differing(m.summary) is not None]
    if not differ:
        return None
    columns: tuple[Column[Measured], ...] = (
        Column("case", lambda m: label(m, m.workload.size)),
        Column("size", size_of, COUNT),
        Column("typical", lambda m: m.summary.typical, SECONDS),
        column(differ, summary_of),
    )
    return columns_table(COLUMN, "Typical and undisturbed costs", columns, differ, CAPTION)
