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
"""Of more, those that are the same are in a section of their own, which is closed."""


def comparison_page(compared: ComparedSides) -> Page:
    headline = compared.answer
    return Page(
        title="B compared with A",
        subtitle=f"{side(compared.a)}; {side(compared.b)}",
        headline=headline[:4],
        warnings=compared.caveats,
        sections=tuple(section for section in _sections(compared, headline[4:]) if section is not None),
        environment=(*_environment(compared.a), *_environment(compared.b)),
        method=method_of_comparison(compared),
        lead=figures.biggest(compared),
    )


def _sections(compared: ComparedSides, rest: Sequence[str]) -> list[Section | None]:
    changes = compared.of("slower", "faster")
    undecided = compared.of("undecided", "unknown")
    first, same = _split(compared)
    return [
        _effect(compared),
        _environments(compared),
        Section("Operations", tuple(rest), tables=(operations_table(compared, first),)),
        _cases(compared, changes, "changes", "Biggest changes"),
        _one_sided(compared),
        _over_size(compared, first),
        _cases(compared, undecided, "undecided", "Undecided cases"),
        _same(compared, same),
        _distributions(compared, changes or compared.judged.biggest_first),
        _cases(compared, list(compared.cases), "cases", "All cases", closed=True),
    ]


def _effect(compared: ComparedSides) -> Section | None:
    texts = compared.effect_sentences
    return Section("Is there any effect?", texts) if texts else None


def _environments(compared: ComparedSides) -> Section:
    if not compared.differences:
        return Section("What differs", ("The environments of A and B do not differ, as far as recorded.",))
    return Section("What differs", tables=(compared.differences_table,))


def _cases(
    compared: ComparedSides, chosen: Sequence[CaseVerdict], name: str, title: str, *, closed: bool = False
) -> Section | None:
    if not chosen:
        return None
    shown = chosen[:MAX_ROWS]
    text = () if len(shown) == len(chosen) else (f"The first {len(shown)} of {len(chosen)} cases.",)
    return Section(title, text, tables=(compared.cases_table(shown, name, title),), closed=closed)


def _one_sided(compared: ComparedSides) -> Section | None:
    texts = compared.lacking
    return Section("Measured on one side only", texts) if texts else None


def _over_size(compared: ComparedSides, chosen: Sequence[OperationVerdict]) -> Section | None:
    drawn = _figures(compared, chosen)
    text = (
        "B / A with 95% intervals as bands; those with the biggest changes first. The gray band is the "
        "tolerance.",
    )
    return Section("Ratio over size", text, drawn, multiples=True) if drawn else None


def _figures(compared: ComparedSides, chosen: Sequence[OperationVerdict]) -> tuple[Figure, ...]:
    return tuple(figure for each in chosen if (figure := figures.over_size(compared, each)) is not None)


def _split(compared: ComparedSides) -> tuple[list[OperationVerdict], list[OperationVerdict]]:
    """The operations that come first, and those that are the same, if there are many."""
    ordered = compared.changed_first
    same = [each for each in ordered if each.state == "same"]
    if len(ordered) <= MAX_OPERATIONS or len(same) == len(ordered):
        return ordered, []
    return [each for each in ordered if each.state != "same"], same


def _same(compared: ComparedSides, same: Sequence[OperationVerdict]) -> Section | None:
    if not same:
        return None
    table = operations_table(compared, same)
    drawn = _figures(compared, same)
    return Section("Operations that are the same", (), drawn, (table,), closed=True, multiples=True)


def _distributions(compared: ComparedSides, cases: Sequence[CaseVerdict]) -> Section | None:
    chosen = [each for each in cases[:MAX_DISTRIBUTIONS] if all(seen.records for seen in each.observed)]
    if not chosen or compared.a.exact or compared.b.exact:
        return None
    drawn = tuple(figures.distribution(compared, each) for each in chosen)
    text = "Which share of the repetitions took at most how long, in the cases with the biggest changes."
    return Section("Distributions", (text,), drawn, closed=True, multiples=True)


def _environment(of: Side) -> list[tuple[str, str]]:
    rows = [
        ("runs", list_names([run.name for run in of.runs], 10)),
        ("measured", side(of).partition(": ")[2]),
    ]
    return [(f"{of.name}, {name}", text) for name, text in rows]


def method_of_comparison(compared: ComparedSides) -> tuple[str, ...]:
    limit = format_percent(compared.tolerance)
    cost = "" if compared.cost == "typical" else " in its fastest mode"
    return (
        *_ratios(cost, paired=compared.paired),
        f"Slower and faster: the ratio is beyond the tolerance of {limit}. The same: it is within the "
        "tolerance. Otherwise it is undecided.",
        f"{plural(compared.judged.tests, 'ratio')} "
        f"{verb_form(compared.judged.tests, 'was', 'were')} tested together, those of cases and the means of "
        f"operations (Benjamini and Hochberg): on average at most {LEVEL:.0%} of those reported as slower "
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
