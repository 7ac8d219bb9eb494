# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The tables: the rules with faster algorithms, where MPI's own choice is kept, and the ratios of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.draw.page import Table
from hockney.models.tuning.rules import ChoiceRule, State, bracketed
from hockney.pages.columns import COUNT_FORMAT, SIZE_FORMAT, Column, Format, columns_table, text_format
from hockney.pages.format import quantity
from hockney.studies.tuning.results import ComparedChoice, Tuning

RATIO = "time relative to MPI's choice [95%]"
RESULTS: Mapping[State, str] = {
    "faster": "faster",
    "undecided": "undecided",
    "unknown": "no interval",
    "not faster": "not faster",
}
COLUMNS: tuple[Column[ComparedChoice], ...] = (
    Column("operation", lambda each: each.point.operation),
    Column("ranks", lambda each: each.point.ranks, COUNT_FORMAT),
    Column("bytes", lambda each: each.point.size, SIZE_FORMAT),
    Column("algorithm", lambda each: each.name(each.closest.algorithm)),
    Column("closest algorithm", lambda each: f"{each.name(each.closest.algorithm)} ({each.whose})"),
    Column(RATIO, lambda each: each.closest.ratio, Format(bracketed)),
    Column("result", lambda each: each.state, text_format(RESULTS)),
)


RULES: tuple[Column[tuple[str, str, ChoiceRule]], ...] = (
    Column("operation", lambda row: row[2].operation),
    Column("ranks", lambda row: row[2].ranks, COUNT_FORMAT, parameter=True),
    Column("sizes", lambda row: _size_range(row[2].sizes)),
    Column("algorithm", lambda row: f"{row[1]} ({row[0]})"),
    Column("ratio at best", lambda row: row[2].best, Format(bracketed)),
    Column("at worst", lambda row: row[2].worst, Format(bracketed)),
)


def rules_table(tuning: Tuning) -> Table:
    return columns_table("rules", "", RULES, tuning.named())


def _size_range(sizes: Sequence[int]) -> str:
    ends = dict.fromkeys((sizes[0], sizes[-1]))
    return " to ".join(str(quantity(size, "B")) for size in ends)
