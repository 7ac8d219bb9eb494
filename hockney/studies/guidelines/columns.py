# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Violations, guidelines, and all comparisons, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import USUAL_VALUES, Case
from hockney.core.fit import ExactValue
from hockney.core.wording import join_words
from hockney.draw.page import Table
from hockney.models.guidelines import (
    Guideline,
    GuidelineComparison,
    GuidelineVerdicts,
    JudgedComparison,
    MeasuredTerm,
    State,
)
from hockney.pages.columns import COUNT_FORMAT, INTERVAL_HEADING, RATIO_FORMAT, Column, columns_table
from hockney.pages.format import quantity

SEPARATE_PARAMETERS = ("bytes", "sync")
"""Parameters that are shown separately. The second one is the same on both sides."""


def call_text(case: Case) -> str:
    """The text, such as "bcast 64 KiB", with parameters that differ from the usual ones."""
    unusual_parameters = ((name, value) for name, value in case.parameters if value != USUAL_VALUES.get(name))
    unusual_texts = [
        f"{name}={value}" for name, value in unusual_parameters if name not in SEPARATE_PARAMETERS
    ]
    return " ".join([case.workload, quantity(case.bytes, "B"), *unusual_texts])


def alternative_text(comparison: GuidelineComparison) -> str:
    """The text, such as "scatter 32 KiB + allgather 32 KiB", "4 x bcast 16 KiB" or "bcast
    algorithm=chain"."""
    if comparison.rule.kind == "algorithm":
        case = comparison.parts[0].case
        return f"{case.workload} algorithm={case['algorithm']}"
    return " + ".join(map(_part_text, comparison.parts))


def _part_text(part: MeasuredTerm) -> str:
    if part.copies:
        return "local copies"
    return call_text(part.case) if part.count == 1 else f"{part.count} x {call_text(part.case)}"


def rule_text(rule: Guideline) -> str:
    """The text, such as "gather <= reduce", without sizes."""
    if rule.kind != "emulation":
        return {"algorithm": "user-level algorithms", "monotony": "monotony", "split": "split"}[rule.kind]
    return f"{rule.operation} <= {' + '.join(term.workload for term in rule.terms if not term.copies)}"


def probability_text(judged_comparison: JudgedComparison) -> str:
    """The adjusted probability; empty for exact times and if unknown."""
    if judged_comparison.p is None or isinstance(judged_comparison.ratio, ExactValue):
        return ""
    return "<0.001" if judged_comparison.p < 0.001 else f"{judged_comparison.p:.3f}"


MAX_ROWS = 200
"""The limit for a page; `hockney guidelines --json` prints all comparisons."""


def violations_table(verdicts: GuidelineVerdicts) -> Table:
    """Each violating call once, next to the fastest other way to its result, with the number of violated
    guidelines."""
    violated = verdicts.violated
    count: Column[JudgedComparison] = Column(
        "guidelines", lambda entry: sum(violation.left == entry.left for violation in violated), COUNT_FORMAT
    )
    columns = (*_comparison_columns(verdicts, "faster"), count)
    caption = f"p: adjusted for {len(verdicts.judged)} comparisons (Benjamini and Hochberg)."
    return columns_table("violations", "Violations", columns, verdicts.worst, caption)


def notable_table(verdicts: GuidelineVerdicts) -> Table:
    """At most MAX_ROWS comparisons: every violation, then undecided comparisons."""
    result: Column[JudgedComparison] = Column("result", lambda entry: entry.state)
    rows = [*verdicts.violated, *verdicts.of("undecided", "unknown")][:MAX_ROWS]
    columns = (*_comparison_columns(verdicts, "other way"), result)
    return columns_table("comparisons", "Violated or undecided", columns, rows)


def _comparison_columns(verdicts: GuidelineVerdicts, other: str) -> Sequence[Column[JudgedComparison]]:
    """The columns of a comparison, with the synchronization only if the run has several. `other` is the
    heading of the right side."""
    columns: tuple[Column[JudgedComparison], ...] = (
        Column("call", lambda each: call_text(each.left)),
        Column("ranks", lambda each: each.left.ranks, COUNT_FORMAT, parameter=True),
        Column("sync", lambda each: each.left.get("sync"), parameter=True),
        Column(other, lambda each: alternative_text(each.comparison)),
        Column("factor", lambda each: each.ratio, RATIO_FORMAT, interval=INTERVAL_HEADING),
        Column("p", probability_text, COUNT_FORMAT),
    )
    has_several_modes = len({each.left["sync"] for each in verdicts.judged if "sync" in each.left}) > 1
    return [column for column in columns if has_several_modes or column.heading != "sync"]


def guidelines_table(verdicts: GuidelineVerdicts) -> Table:
    """One row for each guideline of the literature that was judged."""

    def count(rule: Guideline, *states: State) -> int:
        return sum(entry.state in states for entry in verdicts.judged if entry.rule is rule)

    def largest(rule: Guideline) -> float:
        return max(entry.ratio.value for entry in verdicts.judged if entry.rule is rule)

    columns: tuple[Column[Guideline], ...] = (
        Column("guideline", rule_text),
        Column("comparisons", lambda rule: sum(each.rule is rule for each in verdicts.judged), COUNT_FORMAT),
        Column("violated", lambda rule: count(rule, "violated"), COUNT_FORMAT),
        Column("undecided", lambda rule: count(rule, "undecided", "unknown"), COUNT_FORMAT),
        Column("largest ratio", largest, RATIO_FORMAT),
        Column("source", lambda rule: join_words(f"[{number}]" for number in rule.sources)),
    )
    return columns_table("guidelines", "Guidelines", columns, verdicts.rules)
