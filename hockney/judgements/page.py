# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The pages. That of a comparison has the answer, the biggest changes and what differs first; then each
operation over its size, and the times of single cases. Those of an archive show how times changed, and
whether a run is as usual."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.units import date_text, format_percent
from hockney.core.wording import list_names, plural, verb_form
from hockney.draw.figure import Figure
from hockney.draw.page import Page, Section
from hockney.judgements import figures
from hockney.judgements.comparison import ComparedSides, operations_table, side
from hockney.judgements.history import (
    CheckedRun,
    ShownHistory,
    changes_table,
    environment_table,
    runs_table,
    shown_sentence,
    trends_table,
)
from hockney.judgements.sides import Side
from hockney.models.comparison import LEVEL, CaseVerdict, OperationVerdict
from hockney.models.history import FEWEST_RUNS

MAX_ROWS = 400
MAX_DISTRIBUTIONS = 12
MAX_OPERATIONS = 12
"""With more operations, those whose verdict is "the same" are in a closed section of their own."""


def comparison_page(comparison: ComparedSides) -> Page:
    headline = comparison.answer
    return Page(
        title="B compared with A",
        subtitle=f"{side(comparison.a)}; {side(comparison.b)}",
        headline=headline[:4],
        warnings=comparison.caveats,
        sections=tuple(section for section in _sections(comparison, headline[4:]) if section is not None),
        environment=(*_environment(comparison.a), *_environment(comparison.b)),
        method=method_of_comparison(comparison),
        lead=figures.biggest(comparison),
    )


def _sections(comparison: ComparedSides, rest: Sequence[str]) -> list[Section | None]:
    changes = comparison.of("slower", "faster")
    undecided = comparison.of("undecided", "unknown")
    first, same = _split(comparison)
    return [
        _effect(comparison),
        _environments(comparison),
        Section("Operations", tuple(rest), tables=(operations_table(comparison, first),)),
        _cases(comparison, changes, "changes", "Biggest changes"),
        _one_sided(comparison),
        _ratios_over_size(comparison, first),
        _cases(comparison, undecided, "undecided", "Undecided cases"),
        _same(comparison, same),
        _distributions(comparison, changes or comparison.judged.biggest_first),
        _cases(comparison, list(comparison.cases), "cases", "All cases", closed=True),
    ]


def _effect(comparison: ComparedSides) -> Section | None:
    texts = comparison.effect_sentences
    return Section("Is there any effect?", texts) if texts else None


def _environments(comparison: ComparedSides) -> Section:
    if not comparison.differences:
        return Section("What differs", ("The environments of A and B do not differ, as far as recorded.",))
    return Section("What differs", tables=(comparison.differences_table,))


def _cases(
    comparison: ComparedSides, cases: Sequence[CaseVerdict], name: str, title: str, *, closed: bool = False
) -> Section | None:
    if not cases:
        return None
    first = cases[:MAX_ROWS]
    text = () if len(first) == len(cases) else (f"The first {len(first)} of {len(cases)} cases.",)
    return Section(title, text, tables=(comparison.cases_table(first, name, title),), closed=closed)


def _one_sided(comparison: ComparedSides) -> Section | None:
    texts = comparison.lacking
    return Section("Measured on one side only", texts) if texts else None


def _ratios_over_size(comparison: ComparedSides, operations: Sequence[OperationVerdict]) -> Section | None:
    ratio_figures = _figures(comparison, operations)
    text = (
        "B / A with 95% intervals as bands; those with the biggest changes first. The gray band is the "
        "tolerance.",
    )
    return Section("Ratio over size", text, ratio_figures, multiples=True) if ratio_figures else None


def _figures(comparison: ComparedSides, operations: Sequence[OperationVerdict]) -> tuple[Figure, ...]:
    return tuple(
        figure for each in operations if (figure := figures.ratios_over_size(comparison, each)) is not None
    )


def _split(comparison: ComparedSides) -> tuple[list[OperationVerdict], list[OperationVerdict]]:
    """The operations that come first, and those that are the same, if there are many."""
    ordered = comparison.changed_first
    same = [each for each in ordered if each.state == "same"]
    if len(ordered) <= MAX_OPERATIONS or len(same) == len(ordered):
        return ordered, []
    return [each for each in ordered if each.state != "same"], same


def _same(comparison: ComparedSides, operations: Sequence[OperationVerdict]) -> Section | None:
    if not operations:
        return None
    table = operations_table(comparison, operations)
    ratio_figures = _figures(comparison, operations)
    return Section("Operations that are the same", (), ratio_figures, (table,), closed=True, multiples=True)


def _distributions(comparison: ComparedSides, cases: Sequence[CaseVerdict]) -> Section | None:
    verdicts = [
        each
        for each in cases[:MAX_DISTRIBUTIONS]
        if all(observation.records for observation in each.observed)
    ]
    if not verdicts or comparison.a.exact or comparison.b.exact:
        return None
    drawn = tuple(figures.distribution(comparison, each) for each in verdicts)
    text = "Which share of the repetitions took at most how long, in the cases with the biggest changes."
    return Section("Distributions", (text,), drawn, closed=True, multiples=True)


def _environment(measured: Side) -> list[tuple[str, str]]:
    rows = [
        ("runs", list_names([run.name for run in measured.runs], 10)),
        ("measured", side(measured).partition(": ")[2]),
    ]
    return [(f"{measured.name}, {name}", text) for name, text in rows]


def method_of_comparison(comparison: ComparedSides) -> tuple[str, ...]:
    limit = format_percent(comparison.tolerance)
    cost = "" if comparison.cost == "typical" else " in its fastest mode"
    return (
        *_ratios(cost, paired=comparison.paired),
        f"Slower and faster: the ratio is beyond the tolerance of {limit}. The same: it is within the "
        "tolerance. Otherwise it is undecided.",
        f"{plural(comparison.judged.tests, 'ratio')} "
        f"{verb_form(comparison.judged.tests, 'was', 'were')} tested together, those of cases and the means "
        f"of operations (Benjamini and Hochberg): on average at most {LEVEL:.0%} of those reported as slower "
        f"or faster are false, and at most {LEVEL:.0%} of those reported as the same. Intervals are those of "
        "single ratios.",
    )


def _ratios(cost: str, *, paired: bool) -> tuple[str, ...]:
    if paired:
        return (
            f"A ratio is the typical ratio B / A of the times of a case{cost} in pairs of launches that ran "
            "next to each other; pairs, not repetitions, are independent.",
            "The 95% interval of a ratio is Student's, of the logarithms of the pairs' ratios. Slow changes "
            "of the machine affect both launches of a pair and cancel.",
            "What makes a launch slow makes all its cases slow. So relative ratios, to the mean of "
            "operations that did not change relative to each other, are more precise, and count too.",
        )
    return (
        f"A ratio is the typical time of a case{cost} in B divided by that in A. The launches of all runs of "
        "a side count together; launches, not repetitions, are independent.",
        "The 95% interval of a ratio is Welch's, from the variances between the launches of both sides, and "
        "at least as wide as changes of the machine over time imply.",
    )


MAX_FIGURES = 40


def shown_page(history: ShownHistory) -> Page:
    ordered = sorted(history.trends, key=lambda each: not each[1].changes)
    drawn = [
        figures.over_time(trend, history.facts.get(machine, ()), history.labels)
        for machine, trend in ordered[:MAX_FIGURES]
    ]
    several = any(trend.changes for _, trend in history.trends)
    sections = [Section("Series", tables=(trends_table(history),))]
    if several:
        sections.append(Section("Changes", tables=(changes_table(history),)))
    if any(history.facts.values()):
        sections.append(Section("Environment", tables=(environment_table(history),)))
    if len(drawn) > 1:
        sections.append(Section("Over time", figures=tuple(drawn[1:]), multiples=len(drawn) > 2))
    if len(history.trends) == 1:
        sections.append(Section("Runs", tables=(runs_table(ordered[0][1], history.labels),), closed=True))
    return Page(
        title=f"History of {history.asked or 'all operations'}",
        subtitle=", ".join(machine for machine, _ in history.machines),
        headline=(shown_sentence(history),),
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
    headline = checked.answer
    sections = []
    if checked.changes:
        sections.append(Section("What changed since the run before", tables=(checked.differences_table,)))
    sections.append(Section("Operations", headline[4:], tables=(checked.operations_table,)))
    if lacks := checked.lacking:
        sections.append(Section("Without a result", tuple(lacks)))
    changed = checked.changed
    if changed:
        table = checked.cases_table(changed[:MAX_ROWS], "changes", "Cases that are not as usual")
        sections.append(Section("Changes", tables=(table,)))
    table = checked.cases_table(checked.cases[:MAX_ROWS], "cases", "All cases")
    sections.append(Section("All cases", tables=(table,), closed=True))
    return Page(
        title="The run against its history",
        subtitle=f"{checked.name}, {checked.machine}, {date_text(checked.at_s)} UTC",
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
