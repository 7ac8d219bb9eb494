# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Violations, guidelines, and all comparisons, as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hockney.core.wording import together
from hockney.draw.page import Table
from hockney.models.guidelines import Judged, Rule, Verdicts
from hockney.studies.guidelines.wording import alternative, call, in_short, probability, ratio_interval

MOST_ROWS = 200
"""A page has a limited size; `hockney guidelines --json` has all."""


def violations(verdicts: Verdicts) -> Table:
    """Each violating call once, next to the fastest other way to its result."""
    columns = ("call", "ranks", "faster", "factor", "95% interval", "p", "guidelines violated")
    violated = verdicts.violated
    rows = tuple(
        (*_cells(each), str(sum(other.left == each.left for other in violated))) for each in verdicts.worst
    )
    caption = f"p: adjusted for {len(verdicts.judged)} comparisons (Benjamini and Hochberg)."
    return Table("violations", "Violations", columns, rows, (1, 3, 4, 5, 6), caption, parameters=(1,))


def notable(verdicts: Verdicts) -> Table:
    """Every violation, and what is not decided; at most MOST_ROWS of them."""
    selected = [*verdicts.violated, *verdicts.of("undecided", "unknown")]
    columns = ("call", "ranks", "other way", "factor", "95% interval", "p", "result")
    rows = tuple((*_cells(each), each.state) for each in selected[:MOST_ROWS])
    return Table("comparisons", "Violated or undecided", columns, rows, (1, 3, 4, 5))


def _cells(each: Judged) -> tuple[str, ...]:
    return (
        call(each.left),
        str(each.left.ranks),
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


def _guideline(rule: Rule, judged: Iterable[Judged]) -> tuple[str, ...]:
    of: Sequence[Judged] = [each for each in judged if each.rule is rule]
    return (
        in_short(rule),
        str(len(of)),
        str(sum(each.state == "violated" for each in of)),
        str(sum(each.state in ("undecided", "unknown") for each in of)),
        f"{max(each.ratio.value for each in of):.2f}",
        together(f"[{number}]" for number in rule.sources),
    )
