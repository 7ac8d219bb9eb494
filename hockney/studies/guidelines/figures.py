# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A figure of the largest ratio of each guideline."""

from __future__ import annotations

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Tone
from hockney.models.guidelines import GuidelineVerdicts, JudgedComparison, State
from hockney.pages.series import estimates_by_state
from hockney.studies.guidelines.columns import alternative_text, call_text, rule_text

STATE_STYLES: tuple[tuple[str, tuple[State, ...], Tone], ...] = (
    ("violated", ("violated",), "warning"),
    ("holds", ("holds",), "neutral"),
    ("undecided", ("undecided", "unknown"), "neutral"),
)


def largest_ratios_figure(verdicts: GuidelineVerdicts) -> Figure | None:
    """A row for each guideline, and for each operation with user-level algorithms; None without any."""
    rows = sorted(_largest_by_guideline(verdicts).items(), key=lambda row: -row[1].ratio.value)
    if not rows:
        return None
    names = tuple(name for name, _ in rows)
    return Figure(
        "guidelines",
        "The largest violation of each guideline, or its margin",
        Axis("guideline", "guideline", "linear", names=names),
        Axis("time relative to the other way", ""),
        estimates_by_state(
            STATE_STYLES,
            ((entry.state, index, entry.ratio, _detail(entry)) for index, (_, entry) in enumerate(rows)),
        ),
        "For each guideline, the comparison with the largest ratio and its 95% interval; hollow: undecided.",
        marks=((verdicts.factor, f"{verdicts.factor:.4g}"),),
    )


def _largest_by_guideline(verdicts: GuidelineVerdicts) -> dict[str, JudgedComparison]:
    rows: dict[str, JudgedComparison] = {}
    for entry in verdicts.judged:
        name = rule_text(entry.rule)
        if entry.rule.kind == "algorithm":
            name = f"{entry.left.workload} <= other algorithms"
        worst = rows.get(name)
        if worst is None or _sort_key(entry) > _sort_key(worst):
            rows[name] = entry
    return rows


def _sort_key(entry: JudgedComparison) -> tuple[bool, float]:
    """Violations come before larger ratios that are not significant."""
    return entry.state == "violated", entry.ratio.value


def _detail(entry: JudgedComparison) -> str:
    ranks = plural(entry.left.ranks, "rank")
    return (
        f"{call_text(entry.left)} on {ranks}: {entry.ratio.value:.2f} times "
        f"{alternative_text(entry.comparison)}"
    )
