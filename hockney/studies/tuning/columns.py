# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The tables: rules with faster algorithms, combinations that keep MPI's own choice, and all ratios."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.draw.page import Table
from hockney.models.tuning.rules import ChoiceRule, State, format_ratio
from hockney.pages.columns import COUNT_FORMAT, SIZE_FORMAT, Column, Format, columns_table, text_format
from hockney.pages.format import quantity
from hockney.studies.tuning.results import ComparedChoice, Tuning

RATIO_HEADING = "time relative to MPI's choice [95%]"
RESULT_WORDS: Mapping[State, str] = {
    "faster": "faster",
    "undecided": "undecided",
    "unknown": "no interval",
    "not faster": "not faster",
}
CHOICE_COLUMNS: tuple[Column[ComparedChoice], ...] = (
    Column("operation", lambda each: each.point.operation),
    Column("ranks", lambda each: each.point.ranks, COUNT_FORMAT),
    Column("bytes", lambda each: each.point.size, SIZE_FORMAT),
    Column("algorithm", lambda each: each.algorithm_name(each.closest.algorithm)),
    Column("closest algorithm", lambda each: f"{each.algorithm_name(each.closest.algorithm)} ({each.owner})"),
    Column(RATIO_HEADING, lambda each: each.closest.ratio, Format(format_ratio)),
    Column("result", lambda each: each.state, text_format(RESULT_WORDS)),
)


RULE_COLUMNS: tuple[Column[tuple[str, str, ChoiceRule]], ...] = (
    Column("operation", lambda row: row[2].operation),
    Column("ranks", lambda row: row[2].ranks, COUNT_FORMAT, parameter=True),
    Column("sizes", lambda row: _size_range(row[2].sizes)),
    Column("algorithm", lambda row: f"{row[1]} ({row[0]})"),
    Column("ratio at best", lambda row: row[2].best, Format(format_ratio)),
    Column("at worst", lambda row: row[2].worst, Format(format_ratio)),
)


def rules_table(tuning: Tuning) -> Table:
    return columns_table("rules", "", RULE_COLUMNS, tuning.named_rules())


def _size_range(sizes: Sequence[int]) -> str:
    extremes = dict.fromkeys((sizes[0], sizes[-1]))
    return " to ".join(str(quantity(size, "B")) for size in extremes)
