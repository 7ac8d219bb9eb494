# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of judgements. The page of a comparison starts with the answer, the biggest changes and the
differences; then follow each operation over its size and the times of single cases. The pages of an archive
show how times changed, and whether a run is as usual."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.units import format_date, format_percent
from hockney.core.wording import list_names, plural, verb_form
from hockney.draw.figure import Figure
from hockney.draw.page import Page, Section
from hockney.judgements import figures
from hockney.judgements.comparison import ComparedSides, operations_table, side_line
from hockney.judgements.history import (
    CheckedRun,
    SelectedHistory,
    changes_table,
    environment_table,
    history_sentence,
    runs_table,
    trends_table,
)
from hockney.judgements.sides import Side
from hockney.models.comparison import SIGNIFICANCE_LEVEL, CaseVerdict, OperationVerdict
from hockney.models.history import MIN_RUNS

MAX_ROWS = 400
MAX_DISTRIBUTIONS = 12
MAX_OPERATIONS = 12
"""With more operations, unchanged ones are in a separate closed section."""


def comparison_page(comparison: ComparedSides) -> Page:
    headline = comparison.answer_sentences
    return Page(
        title="B compared with A",
        subtitle=f"{side_line(comparison.a)}; {side_line(comparison.b)}",
        headline=headline[:4],
        warnings=comparison.caveats,
        sections=tuple(section for section in _sections(comparison, headline[4:]) if section is not None),
        environment=(*_side_environment(comparison.a), *_side_environment(comparison.b)),
        method=method_of_comparison(comparison),
        lead=figures.biggest_changes_figure(comparison),
    )


def _sections(comparison: ComparedSides, remaining_sentences: Sequence[str]) -> list[Section | None]:
    changed_cases = comparison.cases_with_states("slower", "faster")
    undecided_cases = comparison.cases_with_states("undecided", "unknown")
    main_operations, unchanged_operations = _split_operations(comparison)
    return [
        _effect_section(comparison),
        _differences_section(comparison),
        Section(
            "Operations", tuple(remaining_sentences), tables=(operations_table(comparison, main_operations),)
        ),
        _cases_section(comparison, changed_cases, "changes", "Biggest changes"),
        _notes_section(comparison),
        _ratios_section(comparison, main_operations),
        _cases_section(comparison, undecided_cases, "undecided", "Undecided cases"),
        _unchanged_section(comparison, unchanged_operations),
        _distributions_section(comparison, changed_cases or comparison.judged_cases.biggest_first),
        _cases_section(comparison, list(comparison.cases), "cases", "All cases", closed=True),
    ]


def _effect_section(comparison: ComparedSides) -> Section | None:
    texts = comparison.effect_sentences
    return Section("Is there any effect?", texts) if texts else None


def _differences_section(comparison: ComparedSides) -> Section:
    if not comparison.differences:
        return Section("What differs", ("The environments of A and B do not differ, as far as recorded.",))
    return Section("What differs", tables=(comparison.differences_table,))


def _cases_section(
    comparison: ComparedSides, cases: Sequence[CaseVerdict], name: str, title: str, *, closed: bool = False
) -> Section | None:
    if not cases:
        return None
    shown_cases = cases[:MAX_ROWS]
    text = () if len(shown_cases) == len(cases) else (f"The first {len(shown_cases)} of {len(cases)} cases.",)
    return Section(title, text, tables=(comparison.cases_table(shown_cases, name, title),), closed=closed)


def _notes_section(comparison: ComparedSides) -> Section | None:
    texts = comparison.missing_result_sentences
    return Section("Notes", texts) if texts else None


def _ratios_section(comparison: ComparedSides, operations: Sequence[OperationVerdict]) -> Section | None:
    ratio_figures = _ratio_figures(comparison, operations)
    text = (
        "B / A with 95% intervals as bands; those with the biggest changes first. The gray band is the "
        "tolerance.",
    )
    return Section("Ratio over size", text, ratio_figures, multiples=True) if ratio_figures else None


def _ratio_figures(comparison: ComparedSides, operations: Sequence[OperationVerdict]) -> tuple[Figure, ...]:
    if comparison.judged_cases.parts is not None:
        return ()
    return tuple(
        figure
        for operation in operations
        if (figure := figures.ratios_figure(comparison, operation)) is not None
    )


def _split_operations(comparison: ComparedSides) -> tuple[list[OperationVerdict], list[OperationVerdict]]:
    """Return the operations that come first, and the unchanged ones if there are many."""
    operations = comparison.operations_by_change
    unchanged = [operation for operation in operations if operation.state == "same"]
    if len(operations) <= MAX_OPERATIONS or len(unchanged) == len(operations):
        return operations, []
    return [operation for operation in operations if operation.state != "same"], unchanged


def _unchanged_section(comparison: ComparedSides, operations: Sequence[OperationVerdict]) -> Section | None:
    if not operations:
        return None
    table = operations_table(comparison, operations)
    ratio_figures = _ratio_figures(comparison, operations)
    return Section("Operations that are the same", (), ratio_figures, (table,), closed=True, multiples=True)


def _distributions_section(comparison: ComparedSides, cases: Sequence[CaseVerdict]) -> Section | None:
    verdicts = [
        verdict
        for verdict in cases[:MAX_DISTRIBUTIONS]
        if all(observation.records for observation in verdict.observed)
    ]
    if not verdicts or comparison.a.is_exact or comparison.b.is_exact:
        return None
    distribution_figures = tuple(figures.distribution_figure(comparison, verdict) for verdict in verdicts)
    text = "Which share of the repetitions took at most how long, in the cases with the biggest changes."
    return Section("Distributions", (text,), distribution_figures, closed=True, multiples=True)


def _side_environment(measured_side: Side) -> list[tuple[str, str]]:
    rows = [
        ("runs", list_names([run.name for run in measured_side.runs], 10)),
        ("measured", side_line(measured_side).partition(": ")[2]),
    ]
    return [(f"{measured_side.name}, {name}", text) for name, text in rows]


def method_of_comparison(comparison: ComparedSides) -> tuple[str, ...]:
    limit = format_percent(comparison.tolerance)
    cost = "" if comparison.cost == "typical" else " in its fastest mode"
    if comparison.judged_cases.parts is not None:
        return (
            "The log time of a pair of nodes is the sum of a time that all pairs share (the machine as a "
            "whole), and of effects of its switches, nodes and link, which medians separate in each launch.",
            "Each part is compared with itself. The variances of an effect in A and in B add up, after "
            "those of all parts of a kind moderated each other (Smyth 2004).",
            f"Slower and faster: the change is beyond the tolerance of {limit}. The same: it is within the "
            "tolerance. Otherwise it is undecided. Links and delays are listed only if they changed.",
            "The p-values of each kind of parts are adjusted (Benjamini and Hochberg; for links Holm).",
        )
    return (
        *_ratio_sentences(cost, paired=comparison.is_paired),
        f"Slower and faster: the ratio is beyond the tolerance of {limit}. The same: it is within the "
        "tolerance. Otherwise it is undecided.",
        f"{plural(comparison.judged_cases.tests, 'ratio')} "
        f"{verb_form(comparison.judged_cases.tests, 'was', 'were')} tested together, those of cases and "
        f"the means of operations (Benjamini and Hochberg): on average at most {SIGNIFICANCE_LEVEL:.0%} "
        f"of those reported as slower or faster are false, and at most {SIGNIFICANCE_LEVEL:.0%} of those "
        "reported as the same. Intervals are those of single ratios.",
    )


def _ratio_sentences(cost: str, *, paired: bool) -> tuple[str, ...]:
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


def history_page(history: SelectedHistory) -> Page:
    trends = sorted(history.trends, key=lambda item: not item[1].changes)
    trend_figures = [
        figures.trend_figure(trend, history.facts.get(machine, ()), history.labels)
        for machine, trend in trends[:MAX_FIGURES]
    ]
    has_changes = any(trend.changes for _, trend in history.trends)
    sections = [Section("Series", tables=(trends_table(history),))]
    if has_changes:
        sections.append(Section("Changes", tables=(changes_table(history),)))
    if any(history.facts.values()):
        sections.append(Section("Environment", tables=(environment_table(history),)))
    if len(trend_figures) > 1:
        sections.append(
            Section("Over time", figures=tuple(trend_figures[1:]), multiples=len(trend_figures) > 2)
        )
    if len(history.trends) == 1:
        sections.append(Section("Runs", tables=(runs_table(trends[0][1], history.labels),), closed=True))
    return Page(
        title=f"History of {history.query or 'all operations'}",
        subtitle=", ".join(machine for machine, _ in history.machines),
        headline=(history_sentence(history),),
        warnings=(),
        sections=tuple(sections),
        environment=(("runs", str(history.runs)),),
        method=METHOD_OF_CHANGES,
        lead=trend_figures[0] if trend_figures else None,
    )


METHOD_OF_CHANGES = (
    "A point is the typical time of a case in a run, over its launches, or for an operation the mean over "
    "its cases, each relative to its typical time.",
    "Changes are found by circular binary segmentation of the ranks; the runs are the units. If nothing "
    "changed in any series, there is one with a probability of 5% at most, unless slow changes connect "
    "successive runs.",
    "The size of a change is the ratio of the levels after and before, with Welch's 95% interval.",
)


def check_page(run_check: CheckedRun) -> Page:
    headline = run_check.answer_sentences
    sections = []
    if run_check.environment_changes:
        sections.append(Section("What changed since the run before", tables=(run_check.differences_table,)))
    sections.append(Section("Operations", headline[4:], tables=(run_check.operations_table,)))
    if missing_sentences := run_check.missing_result_sentences:
        sections.append(Section("Without a result", tuple(missing_sentences)))
    changed = run_check.changed_cases
    if changed:
        table = run_check.cases_table(changed[:MAX_ROWS], "changes", "Cases that are not as usual")
        sections.append(Section("Changes", tables=(table,)))
    table = run_check.cases_table(run_check.cases[:MAX_ROWS], "cases", "All cases")
    sections.append(Section("All cases", tables=(table,), closed=True))
    return Page(
        title="The run against its history",
        subtitle=f"{run_check.name}, {run_check.machine}, {format_date(run_check.at_s)} UTC",
        headline=headline[:4],
        warnings=run_check.caveats,
        sections=tuple(sections),
        environment=(("earlier runs", str(run_check.earlier_count)),),
        method=method_of_check(run_check.tolerance),
    )


def method_of_check(tolerance: float) -> tuple[str, ...]:
    return (
        "The usual time is the robust mean of the earlier runs since the last change; a new run is expected "
        f"within Student's prediction interval, from at least {MIN_RUNS} runs.",
        f"Slower: outside of this interval by more than {format_percent(tolerance)}. The probabilities of "
        "all cases and operations are adjusted together (Benjamini and Hochberg, 5%).",
    )
