# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives predicted from messages between two ranks, compared with those measured on each layout."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from hockney.core.case import MPI
from hockney.core.wording import plural
from hockney.draw.page import Section
from hockney.pages.columns import COUNT, Column, columns_table
from hockney.pages.evidence import Evidence

if TYPE_CHECKING:
    from hockney.models.collective_costs import LayoutErrors


def section(evidence: Evidence) -> Section | None:
    """The section on collectives predicted from messages; None if no collective was measured on a number of
    nodes, or messages have no model."""
    if not any(m.case.nodes for m in evidence.measured):
        return None
    from hockney.models.collective_costs import errors_by_layout  # needs numpy

    errors = errors_by_layout(evidence.fits, evidence.machine, hosts=evidence.run.max_hosts())
    if not errors:
        return None
    return Section(
        title="Collectives predicted from messages",
        text=(
            f"{_typical(errors)} Every message costs what those between two ranks of its level do; ranks "
            "begin when they leave a barrier, as when they are measured (sync=barrier). The algorithm of "
            "MPI's own calls is unknown; the table states which one is predicted instead.",
        ),
        tables=(columns_table("predicted", "Errors of the predictions", COLUMNS, errors),),
        closed=True,
    )


def _typical(layouts: list[LayoutErrors]) -> str:
    parts = []
    for nodes in sorted({each.nodes for each in layouts}):
        errors = [abs(error) for each in layouts if each.nodes == nodes for error in each.errors]
        parts.append(f"{median(errors):.0%} on {plural(nodes, 'node')} ({plural(len(errors), 'case')})")
    return f"Typical errors: {', '.join(parts)}."


COLUMNS: tuple[Column[LayoutErrors], ...] = (
    Column("collective", lambda each: each.operation),
    Column("measured", lambda each: "MPI" if each.algorithm == MPI else each.algorithm),
    Column("predicted", lambda each: each.predicted_as),
    Column("ranks", lambda each: each.ranks, COUNT),
    Column("nodes", lambda each: each.nodes, COUNT),
    Column("sizes", lambda each: len(each.errors), COUNT),
    Column("typical error", lambda each: f"{each.typical:.0%}", COUNT),
    Column("worst error", lambda each: f"{each.worst:+.0%}", COUNT),
)
