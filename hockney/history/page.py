# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The pages: how times changed, and whether a run is as usual."""

from __future__ import annotations

from hockney.core.units import format_percent
from hockney.draw.page import Page, Section
from hockney.history import tables
from hockney.history.figures import over_time
from hockney.history.result import CheckedRun, ShownHistory
from hockney.history.wording import answer, moment, shown, without_result
from hockney.models.history import FEWEST_RUNS

MOST_FIGURES = 40
MOST_ROWS = 400


def shown_page(history: ShownHistory) -> Page:
    ordered = sorted(history.trends, key=lambda each: not each[1].changes)
    drawn = [
        over_time(trend, history.facts.get(machine, ()), history.labels)
        for machine, trend in ordered[:MOST_FIGURES]
    ]
    several = any(trend.changes for _, trend in history.trends)
    sections = [Section("Series", tables=(tables.trends(history),))]
    if several:
        sections.append(Section("Changes", tables=(tables.changes(history),)))
    if any(history.facts.values()):
        sections.append(Section("Environment", tables=(tables.environment(history),)))
    if len(drawn) > 1:
        sections.append(Section("Over time", figures=tuple(drawn[1:]), multiples=len(drawn) > 2))
    if len(history.trends) == 1:
        sections.append(Section("Runs", tables=(tables.runs(ordered[0][1], history.labels),), closed=True))
    return Page(
        title=f"History of {history.asked or 'all operations'}",
        subtitle=", ".join(machine for machine, _ in history.machines),
        headline=(shown(history),),
        warnings=(),
        sections=tuple(sections),
        environment=(("runs", str(history.runs)),),
        method=METHOD_OF_CHANGES,
        lead=drawn[0] if drawn else None,
    )


METHOD_OF_CHANGES = (
    "A point is the typical time of a case in a run, over its launches, or for an operation the mean over "
    "its cases, each relative to its typical time.",
    "Changes are found by circular binary segmentation of the ranks; the runs are the units. If nothing "
    "changed in any series, there is one with a probability of 5% at most, unless slow changes connect "
    "successive runs.",
    "The size of a change is the ratio of the levels after and before, with Welch's 95% interval.",
)


def checked_page(checked: CheckedRun) -> Page:
    headline = answer(checked)
    sections = []
    if checked.changes:
        sections.append(Section("What changed since the run before", tables=(tables.facts(checked),)))
    sections.append(Section("Operations", headline[4:], tables=(tables.operations(checked),)))
    if lacks := without_result(checked):
        sections.append(Section("Without a result", tuple(lacks)))
    changed = [each for of in checked.operations for each in of.of("slower", "faster")]
    if changed:
        table = tables.cases(changed[:MOST_ROWS], "changes", "Cases that are not as usual")
        sections.append(Section("Changes", tables=(table,)))
    table = tables.cases(checked.cases[:MOST_ROWS], "cases", "All cases")
    sections.append(Section("All cases", tables=(table,), closed=True))
    return Page(
        title="The run against its history",
        subtitle=f"{checked.name}, {checked.machine}, {moment(checked.at_s)} UTC",
        headline=headline[:4],
        warnings=checked.caveats,
        sections=tuple(sections),
        environment=(("earlier runs", str(checked.earlier)),),
        method=method_of_check(checked.tolerance),
    )


def method_of_check(tolerance: float) -> tuple[str, ...]:
    return (
        "The usual time is the robust mean of the earlier runs since the last change; a new run is expected "
        f"within Student's prediction interval, from at least {FEWEST_RUNS} runs.",
        f"Slower: outside of this interval by more than {format_percent(tolerance)}. The probabilities of "
        "all cases and operations are adjusted together (Benjamini and Hochberg, 5%).",
    )
