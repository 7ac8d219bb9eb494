# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Work that is shared unevenly: the rank with most of it sets the pace."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.draw.page import Section, Table
from hockney.pages.format import quantity
from hockney.studies.granularity.text import bounds, change, length, share
from hockney.studies.granularity.validation import Checked


def section(checked: Sequence[Checked]) -> Section | None:
    """None where all work was shared evenly."""
    mine = [each for each in checked if not each.cell.even]
    if not mine:
        return None
    even = {_key(each): each.cell.efficiency.value for each in checked if each.cell.even}
    rows = tuple(
        (
            str(each.cell.ranks),
            each.cell.shares,
            f"{each.cell.imbalance:.3f}",
            quantity(each.cell.work_s, "s"),
            length(each.cell.bytes),
            share(each.cell.efficiency.value),
            bounds(each.cell.efficiency),
            share(each.predicted.value),
            change(each.error),
            share(even[_key(each)]) if _key(each) in even else "",
        )
        for each in mine
    )
    columns = (
        "ranks", "shares", "imbalance", "T", "message", "measured", "95% interval", "predicted", "error",
        "even",
    )  # fmt: skip
    return Section(
        "Uneven work",
        text=(
            "Imbalance is the parallel work of the rank that has most of it over the mean. All others wait "
            "for that rank, so the efficiency stays below one over the imbalance, however coarse the grain "
            "is. Where the messages to that rank are there before it asks for them, a part of the exchange "
            "is hidden, and the prediction is too low.",
        ),
        tables=(
            Table("uneven", "Efficiency of uneven work", columns, rows, numeric=(0, 2, 3, 5, 6, 7, 8, 9)),
        ),
    )


def _key(each: Checked) -> tuple[int, int, float, float]:
    return each.cell.ranks, each.cell.bytes, each.cell.serial, each.cell.work_s
