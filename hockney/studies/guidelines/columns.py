# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Violations, guidelines, and all comparisons, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.wording import join_words
from hockney.draw.page import Table
from hockney.models.guidelines import Guideline, Judged, State, Verdicts
from hockney.pages.cells import COUNT, RATIO
from hockney.pages.columns import INTERVAL, Column, columns_table
from hockney.studies.guidelines.wording import alternative, call, in_short, probability

MOST_ROWS = 200
"""A page has a limited size; `hockney guidelines --json` has all."""


def violations(verdicts: Verdicts) -> Table:
    """Each violating call once, next to the fastest other way to its result, and how many guidelines it
    violates."""
    violated = verdicts.violated
    count: Column[Judged] = Column(
        "guidelines", lambda each: sum(other.left == each.left for other in violated), COUNT
    )
    columns = (*_comparison(verdicts, "faster"), count)
    caption = f"p: adjusted for {len(verdicts.judged)} comparisons (Benjamini and Hochberg)."
    return columns_table("violations", "Violations", columns, verdicts.worst, caption)


def notable(verdicts: Verdicts) -> Table:
    """Every violation, and what is not decided; at most MOST_ROWS of them."""
    result: Column[Judged] = Column("result", lambda each: each.state)
    selected = [*verdicts.violated, *verdicts.of("undecided", "unknown")][:MOST_ROWS]
    columns = (*_comparison(verdicts, "other way"), result)
    return columns_table("comparisons", "Violated or undecided", columns, selected)


def _comparison(verdicts: Verdicts, other: str) -> Sequence[Column[Judged]]:
    """The columns of a comparison, with the synchronisation only if the run has several; `other` is the
    heading of the right side."""
    columns: tuple[Column[Judged], ...] = (
        Column("call", lambda each: call(each.left)),
        Column("ranks", lambda each: each.left.ranks, COUNT, parameter=True),
        Column("sync", lambda each: each.left.get("sync"), parameter=True),
        Column(other, lambda each: alternative(each.comparison)),
        Column("factor", lambda each: each.ratio, RATIO, interval=INTERVAL),
        Column("p", probability, COUNT),
    )
    several = len({each.left["sync"] for each in verdicts.judged if "sync" in each.left}) > 1
    return [column for column in columns if several or column.heading != "sync"]


def guidelines(verdicts: Verdicts) -> Table:
    """One row for each guideline of the literature that could be judged."""

    def count(rule: Guideline, *states: State) -> int:
        return sum(each.state in states for each in verdicts.judged if each.rule is rule)

    def largest(rule: Guideline) -> float:
        return max(each.ratio.value for each in verdicts.judged if each.rule is rule)

    columns: tuple[Column[Guideline], ...] = (
        Column("guideline", in_short),
        Column("comparisons", lambda rule: sum(each.rule is rule for each in verdicts.judged), COUNT),
        Column("violated", lambda rule: count(rule, "violated"), COUNT),
        Column("undecided", lambda rule: count(rule, "undecided", "unknown"), COUNT),
        Column("largest ratio", largest, RATIO),
        Column("source", lambda rule: join_words(f"[{number}]" for number in rule.sources)),
    )
    return columns_table("guidelines", "Guidelines", columns, verdicts.rules)
