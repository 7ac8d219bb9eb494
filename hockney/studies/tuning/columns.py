# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

"""The tables: the rules with faster algorithms, where MPI's own choice is kept, and the ratios of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hockney.draw.page import Table
from hockney.models.tuning.rules import State, bracketed
from hockney.pages.columns import COUNT, SIZE, Column, Format, words
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
    Column("ranks", lambda each: each.point.ranks, COUNT),
    Column("bytes", lambda each: each.point.size, SIZE),
    Column("algorithm", lambda each: each.name(each.closest.algorithm)),
    Column("closest algorithm", lambda each: f"{each.name(each.closest.algorithm)} ({each.whose})"),
    Column(RATIO, lambda each: each.closest.ratio, Format(bracketed)),
    Column("result", lambda each: each.state, words(RESULTS)),
)


def rules_table(tuning: Tuning) -> Table:
    rows = tuple(
        (
            rule.operation,
            str(rule.ranks),
            _size_range(rule.sizes),
            f"{name} ({whose})",
            bracketed(rule.best),
            bracketed(rule.worst),
        )
        for whose, name, rule in tuning.named()
    )
    columns = ("operation", "ranks", "sizes", "algorithm", "ratio at best", "at worst")
    return Table("rules", "", columns, rows, numeric=(1, 4, 5), parameters=(1,))


def _size_range(sizes: Sequence[int]) -> str:
    ends = dict.fromkeys((sizes[0], sizes[-1]))
    return " to ".join(str(quantity(size, "B")) for size in ends)
