# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The undisturbed cost next to the typical one, if the two differ."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hockney.core.fit import Summary, UndisturbedCost
from hockney.draw.page import Table
from hockney.pages.columns import COUNT_FORMAT, SECONDS_FORMAT, Column, Row, columns_table
from hockney.pages.evidence import MeasuredCase
from hockney.pages.format import format_share, label, quantity, size_of, typical_cost, with_interval

MIN_COST_RATIO = 1.1
"""The undisturbed cost is shown if the typical cost is larger by more than this factor."""
COLUMN_NAME = "undisturbed"
CAPTION = (
    "'Undisturbed' is the cost while nothing slows the machine down: the fastest mode of the times. It is "
    f"shown if the typical cost is more than {MIN_COST_RATIO - 1:.0%} higher. 'Disturbed' is the share of "
    "visits "
    "that took longer."
)


def differing_undisturbed(summary: Summary) -> UndisturbedCost | None:
    """Return the undisturbed cost if it differs from the typical one, otherwise None."""
    undisturbed = summary.undisturbed
    return (
        undisturbed
        if undisturbed is not None and summary.typical.value > MIN_COST_RATIO * undisturbed.cost.value
        else None
    )


def undisturbed_cell(summary: Summary) -> str:
    """Return text such as "210 ns (disturbed: 60%)", or "" if the cost does not differ."""
    undisturbed = differing_undisturbed(summary)
    return (
        ""
        if undisturbed is None
        else f"{quantity(undisturbed.cost.value, 's')} (disturbed: {format_share(undisturbed.disturbed)})"
    )


def cost_text(summary: Summary) -> str:
    """Return text for a sentence, such as "252 ns (95%: 229 ns to 281 ns), undisturbed 210 ns (95%: 205 ns to
    215 ns)"."""
    undisturbed, typical = differing_undisturbed(summary), typical_cost(summary)
    return (
        typical if undisturbed is None else f"{typical}, undisturbed {with_interval(undisturbed.cost, 's')}"
    )


def undisturbed_column(
    rows: Iterable[Row], summary_of: Callable[[Row], Summary], *, always: bool = False
) -> Column[Row]:
    """Return a column of undisturbed costs. It is omitted from tables if no cost differs, unless `always` is
    set."""
    is_shown = always or any(differing_undisturbed(summary_of(row)) for row in rows)
    return Column(
        COLUMN_NAME if is_shown else "", lambda row: undisturbed_cell(summary_of(row)), COUNT_FORMAT
    )


def summary_of(measured_case: MeasuredCase) -> Summary:
    return measured_case.summary


def undisturbed_table(measured: Sequence[MeasuredCase]) -> Table | None:
    """Return a table of the cases whose costs differ, for a section without a table of all its cases."""
    differing_cases = [
        measured_case
        for measured_case in measured
        if differing_undisturbed(measured_case.summary) is not None
    ]
    if not differing_cases:
        return None
    columns: tuple[Column[MeasuredCase], ...] = (
        Column("case", lambda measured_case: label(measured_case, measured_case.workload.size)),
        Column("size", size_of, COUNT_FORMAT),
        Column("typical", lambda measured_case: measured_case.summary.typical, SECONDS_FORMAT),
        undisturbed_column(differing_cases, summary_of),
    )
    return columns_table(COLUMN_NAME, "Typical and undisturbed costs", columns, differing_cases, CAPTION)
