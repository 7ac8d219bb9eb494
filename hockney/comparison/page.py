# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the answer, the biggest changes and what differs first; then each operation over its size, and
the times of single cases."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.comparison import effect_wording, figures, tables
from hockney.comparison.result import ComparedSides
from hockney.comparison.side import Side
from hockney.comparison.wording import answer, side, without_comparison
from hockney.core.units import format_percent
from hockney.core.wording import listing, plural
from hockney.draw.figure import Figure
from hockney.draw.page import Page, Section
from hockney.models.comparison import LEVEL, CaseVerdict, OperationVerdict

MOST_ROWS = 400
MOST_DISTRIBUTIONS = 12
MOST_OPERATIONS = 12
"""Of more, those that are the same are in a section of their own, which is closed."""


def page(compared: ComparedSides) -> Page:
    headline = answer(compared)
    return Page(
        title="B compared with A",
        subtitle=f"{side(compared.a)}; {side(compared.b)}",
        headline=headline[:4],
        warnings=compared.caveats,
        sections=tuple(section for section in _sections(compared, headline[4:]) if section is not None),
        environment=(*_environment(compared.a), *_environment(compared.b)),
        method=method(compared),
        lead=figures.biggest(compared),
    )


def _sections(compared: ComparedSides, rest: Sequence[str]) -> list[Section | None]:
    changes = compared.of("slower", "faster")
    undecided = compared.of("undecided", "unknown")
    first, same = _split(compared)
    return [
        _effect(compared),
        _environments(compared),
        Section("Operations", tuple(rest), tables=(tables.operations(compared, first),)),
        _cases(compared, changes, "changes", "Biggest changes"),
        _one_sided(compared),
        _over_size(compared, first),
        _cases(compared, undecided, "undecided", "Undecided cases"),
        _same(compared, same),
        _distributions(compared, changes or compared.judged.biggest_first),
        _cases(compared, list(compared.cases), "cases", "All cases", closed=True),
    ]


def _effect(compared: ComparedSides) -> Section | None:
    texts = effect_wording.sentences(compared)
    return Section("Is there any effect?", texts) if texts else None


def _environments(compared: ComparedSides) -> Section:
    if not compared.differences:
        return Section("What differs", ("The environments of A and B do not differ, as far as recorded.",))
    return Section("What differs", tables=(tables.environment(compared),))


def _cases(
    compared: ComparedSides, chosen: Sequence[CaseVerdict], name: str, title: str, *, closed: bool = False
) -> Section | None:
    if not chosen:
        return None
    shown = chosen[:MOST_ROWS]
    text = () if len(shown) == len(chosen) else (f"The first {len(shown)} of {len(chosen)} cases.",)
    return Section(title, text, tables=(tables.cases(compared, shown, name, title),), closed=closed)


def _one_sided(compared: ComparedSides) -> Section | None:
    texts = without_comparison(compared)
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
    if len(ordered) <= MOST_OPERATIONS or len(same) == len(ordered):
        return ordered, []
    return [each for each in ordered if each.state != "same"], same


def _same(compared: ComparedSides, same: Sequence[OperationVerdict]) -> Section | None:
    if not same:
        return None
    table = tables.operations(compared, same)
    drawn = _figures(compared, same)
    return Section("Operations that are the same", (), drawn, (table,), closed=True, multiples=True)


def _distributions(compared: ComparedSides, cases: Sequence[CaseVerdict]) -> Section | None:
    chosen = [each for each in cases[:MOST_DISTRIBUTIONS] if all(seen.records for seen in each.observed)]
    if not chosen or compared.a.exact or compared.b.exact:
        return None
    drawn = tuple(figures.distribution(compared, each) for each in chosen)
    text = "Which share of the repetitions took at most how long, in the cases with the biggest changes."
    return Section("Distributions", (text,), drawn, closed=True, multiples=True)


def _environment(of: Side) -> list[tuple[str, str]]:
    rows = [
        ("runs", listing([run.name for run in of.runs], 10)),
        ("measured", side(of).partition(": ")[2]),
    ]
    return [(f"{of.name}, {name}", text) for name, text in rows]


def method(compared: ComparedSides) -> tuple[str, ...]:
    limit = format_percent(compared.tolerance)
    cost = "" if compared.cost == "typical" else " in its fastest mode"
    return (
        *_ratios(cost, paired=compared.paired),
        f"Slower and faster: the ratio is beyond the tolerance of {limit}. The same: it is within the "
        "tolerance. Otherwise it is undecided.",
        f"{plural(compared.judged.tests, 'ratio')} were tested together, those of cases and the means of "
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
