# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Collectives predicted from messages between two ranks, compared with the measured times on each layout."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from hockney.core.case import MPI
from hockney.core.wording import plural
from hockney.draw.page import Section
from hockney.pages.columns import COUNT_FORMAT, Column, columns_table
from hockney.pages.evidence import Evidence

if TYPE_CHECKING:
    from hockney.models.collective_costs import LayoutErrors


def section(evidence: Evidence) -> Section | None:
    """Return the section, or None if no collective was measured on several nodes or messages have no
    model."""
    if not any(measured_case.case.nodes for measured_case in evidence.measured):
        return None
    from hockney.models.collective_costs import errors_by_layout  # needs numpy

    errors = errors_by_layout(evidence.fits, evidence.machine, hosts=evidence.run.max_hosts())
    if not errors:
        return None
    return Section(
        title="Collectives predicted from messages",
        text=(
            f"{_typical_errors_sentence(errors)} Every message costs what those between two ranks of its "
            "level do; ranks "
            "begin when they leave a barrier, as when they are measured (sync=barrier). The algorithm of "
            "MPI's own calls is unknown; the table states which one is predicted instead.",
        ),
        tables=(columns_table("predicted", "Errors of the predictions", COLUMNS, errors),),
        closed=True,
    )


def _typical_errors_sentence(layouts: list[LayoutErrors]) -> str:
    texts = []
    for nodes in sorted({layout.nodes for layout in layouts}):
        errors = [abs(error) for layout in layouts if layout.nodes == nodes for error in layout.errors]
        texts.append(f"{median(errors):.0%} on {plural(nodes, 'node')} ({plural(len(errors), 'case')})")
    return f"Typical errors: {', '.join(texts)}."


COLUMNS: tuple[Column[LayoutErrors], ...] = (
    Column("collective", lambda layout: layout.operation),
    Column("measured", lambda layout: "MPI" if layout.algorithm == MPI else layout.algorithm),
    Column("predicted", lambda layout: layout.predicted_as),
    Column("ranks", lambda layout: layout.ranks, COUNT_FORMAT),
    Column("nodes", lambda layout: layout.nodes, COUNT_FORMAT),
    Column("sizes", lambda layout: len(layout.errors), COUNT_FORMAT),
    Column("typical error", lambda layout: f"{layout.typical:.0%}", COUNT_FORMAT),
    Column("worst error", lambda layout: f"{layout.worst:+.0%}", COUNT_FORMAT),
)
