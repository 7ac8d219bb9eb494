# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The largest ratio of each guideline, in one figure."""

from __future__ import annotations

from hockney.core.wording import plural
from hockney.draw.figure import Axis, Figure, Tone
from hockney.models.guidelines import Judged, State, Verdicts
from hockney.pages.series import estimates_by_state
from hockney.studies.guidelines.columns import alternative_text, call_text, rule_text

STATES: tuple[tuple[str, tuple[State, ...], Tone], ...] = (
    ("violated", ("violated",), "warning"),
    ("holds", ("holds",), "neutral"),
    ("undecided", ("undecided", "unknown"), "neutral"),
)


def largest(verdicts: Verdicts) -> Figure | None:
    """A row for each guideline, and for each operation with user-level algorithms; None without any."""
    rows = sorted(_rows(verdicts).items(), key=lambda row: -row[1].ratio.value)
    if not rows:
        return None
    names = tuple(name for name, _ in rows)
    return Figure(
        "guidelines",
        "The largest violation of each guideline, or its margin",
        Axis("guideline", "guideline", "linear", names=names),
        Axis("time relative to the other way", ""),
        estimates_by_state(
            STATES, ((each.state, k, each.ratio, _detail(each)) for k, (_, each) in enumerate(rows))
        ),
        "For each guideline, the comparison with the largest ratio and its 95% interval; hollow: undecided.",
        marks=((verdicts.factor, f"{verdicts.factor:.4g}"),),
    )


def _rows(verdicts: Verdicts) -> dict[str, Judged]:
    rows: dict[str, Judged] = {}
    for each in verdicts.judged:
        name = rule_text(each.rule)
        if each.rule.kind == "algorithm":
            name = f"{each.left.workload} <= other algorithms"
        worst = rows.get(name)
        if worst is None or _rank(each) > _rank(worst):
            rows[name] = each
    return rows


def _rank(each: Judged) -> tuple[bool, float]:
    """Violations come before larger ratios that are not significant."""
    return each.state == "violated", each.ratio.value


def _detail(each: Judged) -> str:
    ranks = plural(each.left.ranks, "rank")
    return (
        f"{call_text(each.left)} on {ranks}: {each.ratio.value:.2f} times {alternative_text(each.comparison)}"
    )
