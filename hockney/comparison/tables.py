# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Differences of the environments, operations and cases as tables."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.comparison.result import ComparedSides
from hockney.comparison.wording import labels, more, ratio_ends, times, verdict
from hockney.draw.page import Table
from hockney.models.comparison import CaseVerdict, OperationVerdict

RATIO = "B / A"
RELATIVE = "relative"
MEANING = "Relative: to the mean of the operations that did not change (95% interval)."


def environment(compared: ComparedSides) -> Table:
    rows = tuple((each.name, each.a, each.b) for each in compared.differences)
    return Table("differences", "What differs between A and B", ("what", "A", "B"), rows)


def operations(compared: ComparedSides, chosen: Sequence[OperationVerdict] | None = None) -> Table:
    """One row for each operation, those that changed first, with the number of its cases by verdict. `chosen`
    are only some of them."""
    shown = compared.changed_first if chosen is None else chosen
    level, relative = compared.several_levels, any(each.relative for each in shown)
    rows = tuple(
        (
            each.workload,
            *([each.level] if level else []),
            str(len(each.cases)),
            *(str(len(each.of(state))) for state in ("slower", "faster", "same")),
            str(len(each.of("undecided", "unknown"))),
            f"{each.ratio.value:.3f}",
            ratio_ends(each.ratio),
            *([_relative(each)] if relative else []),
            verdict(each.state),
        )
        for each in shown
    )
    columns = (
        "operation", *(["level"] if level else []), "cases", "slower", "faster", "the same", "undecided",
        f"mean {RATIO}", "95% interval", *([RELATIVE] if relative else []), "verdict",
    )  # fmt: skip
    numbers = tuple(range(2 if level else 1, len(columns) - 1))
    return Table("operations", "Operations", columns, rows, numbers, MEANING if relative else "")


def cases(compared: ComparedSides, chosen: Sequence[CaseVerdict], name: str, title: str) -> Table:
    """Cases with both times, their ratio and verdict; and with the launches that would decide them, if some
    of them are undecided."""
    named, open_ = labels(compared), any(more(each) for each in chosen)
    relative = any(each.relative for each in chosen)
    rows = tuple(
        (
            named(each.case),
            *times(each),
            f"{each.ratio.value:.3f}",
            ratio_ends(each.ratio),
            *([_relative(each)] if relative else []),
            f"{each.launches[0]}, {each.launches[1]}",
            verdict(each.state),
            *([more(each)] if open_ else []),
        )
        for each in chosen
    )
    columns = (
        "case",
        "A",
        "B",
        RATIO,
        "95% interval",
        *([RELATIVE] if relative else []),
        "launches",
        "verdict",
        *(["more launches"] if open_ else []),
    )
    captions = ["More launches: of A and of B, that would decide the case, approximately."] if open_ else []
    captions += [MEANING] if relative else []
    if compared.paired:
        captions.append(
            "B / A is that of pairs of launches, excluding pairs during which the machine changed"
            f"{_most_excluded(chosen)}."
        )
    caption = " ".join(captions)
    numbers = tuple(place for place in range(1, len(columns)) if columns[place] != "verdict")
    return Table(name, title, columns, rows, numbers, caption)


def _relative(each: CaseVerdict | OperationVerdict) -> str:
    """ "1.052 (1.044 to 1.061)"."""
    if each.relative is None:
        return ""
    ends = ratio_ends(each.relative)
    return f"{each.relative.value:.3f}" + (f" ({ends})" if ends else "")


def _most_excluded(chosen: Sequence[CaseVerdict]) -> str:
    """ " (up to 3 of 40: B far slower in 2, far faster in 1)"."""
    most = max(chosen, key=lambda each: sum(each.excluded), default=None)
    if most is None or not any(most.excluded):
        return ""
    slower, faster = most.excluded
    return (
        f" (up to {slower + faster} of {most.launches[0]}: B far slower in {slower}, far faster in {faster})"
    )
