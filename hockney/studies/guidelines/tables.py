# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Violations, guidelines, and all comparisons, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.wording import together
from hockney.draw.page import Table
from hockney.models.guidelines import Guideline, Judged, Verdicts
from hockney.pages.format import ratio_interval
from hockney.studies.guidelines.wording import alternative, call, in_short, probability

NUMERIC = ("ranks", "factor", "95% interval", "p", "guidelines")
MOST_ROWS = 200
"""A page has a limited size; `hockney guidelines --json` has all."""


def violations(verdicts: Verdicts) -> Table:
    """Each violating call once, next to the fastest other way to its result, and how many guidelines it
    violates."""
    violated = verdicts.violated
    last = [str(sum(other.left == each.left for other in violated)) for each in verdicts.worst]
    caption = f"p: adjusted for {len(verdicts.judged)} comparisons (Benjamini and Hochberg)."
    return _table(
        "violations", "Violations", verdicts, verdicts.worst, ("faster", "guidelines"), last, caption
    )


def notable(verdicts: Verdicts) -> Table:
    """Every violation, and what is not decided; at most MOST_ROWS of them."""
    selected = [*verdicts.violated, *verdicts.of("undecided", "unknown")][:MOST_ROWS]
    headings, states = ("other way", "result"), [each.state for each in selected]
    return _table("comparisons", "Violated or undecided", verdicts, selected, headings, states)


def _table(
    name: str,
    title: str,
    verdicts: Verdicts,
    selected: Sequence[Judged],
    headings: tuple[str, str],
    last: Sequence[str],
    caption: str = "",
) -> Table:
    """A table of the `selected` comparisons, with the synchronisation only if the run has several. `headings`
    are those of the right side and of the `last` column."""
    other, ending = headings
    several = len({each.left["sync"] for each in verdicts.judged if "sync" in each.left}) > 1
    fixed = ("call", "ranks", *(["sync"] if several else []))
    columns = (*fixed, other, "factor", "95% interval", "p", ending)
    rows = tuple((*_cells(each, fixed), end) for each, end in zip(selected, last, strict=True))
    numeric = tuple(k for k, column in enumerate(columns) if column in NUMERIC)
    return Table(name, title, columns, rows, numeric, caption, parameters=tuple(range(1, len(fixed))))


def _cells(each: Judged, fixed: Sequence[str]) -> tuple[str, ...]:
    return (
        call(each.left),
        *(str(each.left.get(name, "")) for name in fixed[1:]),
        alternative(each.comparison),
        f"{each.ratio.value:.2f}",
        ratio_interval(each.ratio),
        probability(each),
    )


def guidelines(verdicts: Verdicts) -> Table:
    """One row for each guideline of the literature that could be judged."""
    rows = tuple(_guideline(rule, verdicts.judged) for rule in verdicts.rules)
    columns = ("guideline", "comparisons", "violated", "undecided", "largest ratio", "source")
    return Table("guidelines", "Guidelines", columns, rows, (1, 2, 3, 4))


def _guideline(rule: Guideline, judged: Iterable[Judged]) -> tuple[str, ...]:
    of: Sequence[Judged] = [each for each in judged if each.rule is rule]
    return (
        in_short(rule),
        str(len(of)),
        str(sum(each.state == "violated" for each in of)),
        str(sum(each.state in ("undecided", "unknown") for each in of)),
        f"{max(each.ratio.value for each in of):.2f}",
        together(f"[{number}]" for number in rule.sources),
    )
