# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Violations, guidelines, and all comparisons, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.case import USUAL_VALUES, Case
from hockney.core.fit import ExactValue
from hockney.core.wording import join_words
from hockney.draw.page import Table
from hockney.models.guidelines import Guideline, GuidelineComparison, Judged, MeasuredTerm, State, Verdicts
from hockney.pages.columns import COUNT_FORMAT, INTERVAL_HEADING, RATIO_FORMAT, Column, columns_table
from hockney.pages.format import quantity

SEPARATE_PARAMETERS = ("bytes", "sync")
"""Parameters that are shown apart from the others; the second one is the same on both sides."""


def call_text(case: Case) -> str:
    """ "bcast 64 KiB", with its parameters if they are not the usual ones."""
    unusual = ((k, v) for k, v in case.parameters if v != USUAL_VALUES.get(k))
    words = [f"{k}={v}" for k, v in unusual if k not in SEPARATE_PARAMETERS]
    return " ".join([case.workload, quantity(case.bytes, "B"), *words])


def alternative_text(comparison: GuidelineComparison) -> str:
    """ "scatter 32 KiB + allgather 32 KiB", "4 x bcast 16 KiB", "bcast algorithm=chain"."""
    if comparison.rule.kind == "algorithm":
        case = comparison.parts[0].case
        return f"{case.workload} algorithm={case['algorithm']}"
    return " + ".join(map(_part, comparison.parts))


def _part(part: MeasuredTerm) -> str:
    if part.copies:
        return "local copies"
    return call_text(part.case) if part.count == 1 else f"{part.count} x {call_text(part.case)}"


def rule_text(rule: Guideline) -> str:
    """ "gather <= reduce", without sizes."""
    if rule.kind != "emulation":
        return {"algorithm": "user-level algorithms", "monotony": "monotony", "split": "split"}[rule.kind]
    return f"{rule.operation} <= {' + '.join(t.workload for t in rule.terms if not t.copies)}"


def probability_text(each: Judged) -> str:
    """Adjusted; empty for exact times, and if unknown."""
    if each.p is None or isinstance(each.ratio, ExactValue):
        return ""
    return "<0.001" if each.p < 0.001 else f"{each.p:.3f}"


MAX_ROWS = 200
"""A page has a limited size; `hockney guidelines --json` has all."""


def violations(verdicts: Verdicts) -> Table:
    """Each violating call once, next to the fastest other way to its result, and how many guidelines it
    violates."""
    violated = verdicts.violated
    count: Column[Judged] = Column(
        "guidelines", lambda each: sum(other.left == each.left for other in violated), COUNT_FORMAT
    )
    columns = (*_comparison(verdicts, "faster"), count)
    caption = f"p: adjusted for {len(verdicts.judged)} comparisons (Benjamini and Hochberg)."
    return columns_table("violations", "Violations", columns, verdicts.worst, caption)


def notable(verdicts: Verdicts) -> Table:
    """Every violation, and what is not decided; at most MAX_ROWS of them."""
    result: Column[Judged] = Column("result", lambda each: each.state)
    rows = [*verdicts.violated, *verdicts.of("undecided", "unknown")][:MAX_ROWS]
    columns = (*_comparison(verdicts, "other way"), result)
    return columns_table("comparisons", "Violated or undecided", columns, rows)


def _comparison(verdicts: Verdicts, other: str) -> Sequence[Column[Judged]]:
    """The columns of a comparison, with the synchronisation only if the run has several; `other` is the
    heading of the right side."""
    columns: tuple[Column[Judged], ...] = (
        Column("call", lambda each: call_text(each.left)),
        Column("ranks", lambda each: each.left.ranks, COUNT_FORMAT, parameter=True),
        Column("sync", lambda each: each.left.get("sync"), parameter=True),
        Column(other, lambda each: alternative_text(each.comparison)),
        Column("factor", lambda each: each.ratio, RATIO_FORMAT, interval=INTERVAL_HEADING),
        Column("p", probability_text, COUNT_FORMAT),
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
        Column("guideline", rule_text),
        Column("comparisons", lambda rule: sum(each.rule is rule for each in verdicts.judged), COUNT_FORMAT),
        Column("violated", lambda rule: count(rule, "violated"), COUNT_FORMAT),
        Column("undecided", lambda rule: count(rule, "undecided", "unknown"), COUNT_FORMAT),
        Column("largest ratio", largest, RATIO_FORMAT),
        Column("source", lambda rule: join_words(f"[{number}]" for number in rule.sources)),
    )
    return columns_table("guidelines", "Guidelines", columns, verdicts.rules)
