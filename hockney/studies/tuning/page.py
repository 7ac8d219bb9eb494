# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: where another algorithm is faster than MPI's own choice, where that is kept and why, and the
ratios of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hockney.core.settings import Settings
from hockney.core.units import format_percent
from hockney.core.wording import plural
from hockney.draw.page import Page, Section, Table
from hockney.models.tuning.rules import State
from hockney.models.tuning.texts import bracketed
from hockney.pages import quality
from hockney.pages.cells import COUNT, SIZE, Format, words
from hockney.pages.columns import Column, chosen, columns_table
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.pages.method import memory
from hockney.pages.study_page import study_page
from hockney.studies.needed_budget import remedy
from hockney.studies.tuning import figures
from hockney.studies.tuning.results import HOCKNEY, OPEN_MPI, ComparedChoice, Tuning, tuning

RATIO = "time relative to MPI's choice [95%]"
RESULTS: Mapping[State, str] = {
    "faster": "faster",
    "undecided": "undecided",
    "unknown": "no interval",
    "not faster": "not faster",
}
COLUMNS: tuple[Column[ComparedChoice], ...] = (
    Column("operation", lambda each: each.point.operation),
    Column("ranks", lambda each: each.point.ranks, COUNT),
    Column("bytes", lambda each: each.point.size, SIZE),
    Column("algorithm", lambda each: each.name(each.closest.algorithm)),
    Column("closest algorithm", lambda each: f"{each.name(each.closest.algorithm)} ({each.whose})"),
    Column(RATIO, lambda each: each.closest.ratio, Format(bracketed)),
    Column("result", lambda each: each.state, words(RESULTS)),
)


def page(evidence: Evidence) -> Page:
    found = evidence.cached(tuning)
    used = rules_table(found)
    sections = [
        Section("Faster algorithms", tables=(used,)) if used.rows else None,
        _kept(found),
        *(_details(found, whose) for whose in (HOCKNEY, OPEN_MPI)),
        quality.spread(evidence),
        quality.verification(evidence),
    ]
    return study_page(
        evidence,
        title="Collective algorithms",
        headline=headline(found, evidence.settings),
        sections=sections,
        method=(
            *memory(evidence),
            f"An algorithm is faster than MPI's own choice if the 95% interval of the ratio of their times "
            f"lies below {1 - found.effect:g}, and not faster if it lies above. Otherwise it is undecided.",
        ),
        lead=figures.kept_and_changed(found),
    )


def headline(found: Tuning, settings: Settings) -> tuple[str, ...]:
    """How often another algorithm is faster and by how much at best, how often that is undecided, and the
    budget that would decide it."""
    if not found.deciding:
        return ("Nothing was measured.",)
    faster, undecided, unknown = (found.count(state) for state in ("faster", "undecided", "unknown"))
    where = f"{plural(len(found.deciding), 'combination')} of operation, ranks and size"
    text = f"Another algorithm than MPI's own choice is faster at {faster} of {where}"
    if not faster:
        text = f"No algorithm is faster than MPI's own choice at any of {where}"
    if undecided:
        text += f"; {undecided} {'is' if undecided == 1 else 'are'} undecided"
    if unknown:
        text += f"; {unknown} {'has' if unknown == 1 else 'have'} no interval"
    texts = [f"{text}." if found.conclusive else f"Inconclusive: {text[0].lower()}{text[1:]}."]
    most = min(found.named(), key=lambda each: each[2].best.high or 0.0, default=None)
    if most is not None:
        whose, name, rule = most
        size = rule.sizes[rule.ratios.index(rule.best)]
        texts.append(
            f"The largest gain: {sized(rule.operation, size)} on "
            f"{plural(rule.ranks, 'rank')} by {whose}'s {name} takes {bracketed(rule.best)} of the time."
        )
    if undecided:
        texts.append(
            "Undecided: the interval of a ratio does not show whether an algorithm is faster by "
            f"{format_percent(found.effect)}, so MPI's own choice is kept."
        )
    if undecided or unknown:
        texts.append(remedy(found.times, found.launches, settings))
    return tuple(texts)


def _kept(found: Tuning) -> Section | None:
    """The combinations without a faster algorithm, each with the algorithm that comes closest; open if that
    is the whole answer."""
    rows = [each for each in found.comparisons if each.state != "faster"]
    if not rows:
        return None
    columns = chosen(COLUMNS, "operation", "ranks", "bytes", "closest algorithm", RATIO, "result")
    table = replace(columns_table("kept", "", columns, rows), parameters=(1,))
    return Section(
        "Where MPI's own choice is kept",
        (
            "Undecided: the interval does not show whether this algorithm gains as much as required. "
            "Not faster: no algorithm gains as much.",
        ),
        tables=(table,),
        closed=any(found.named()),
    )


def rules_table(found: Tuning) -> Table:
    rows = tuple(
        (
            rule.operation,
            str(rule.ranks),
            _sizes(rule.sizes),
            f"{name} ({whose})",
            bracketed(rule.best),
            bracketed(rule.worst),
        )
        for whose, name, rule in found.named()
    )
    columns = ("operation", "ranks", "sizes", "algorithm", "ratio at best", "at worst")
    return Table("rules", "", columns, rows, numeric=(1, 4, 5), parameters=(1,))


def sized(operation: str, size: int) -> str:
    """ "bcast of 8 B", or "barrier", which has no size."""
    return f"{operation} of {quantity(size, 'B')}" if size else operation


def _sizes(sizes: Sequence[int]) -> str:
    ends = dict.fromkeys((sizes[0], sizes[-1]))
    return " to ".join(str(quantity(size, "B")) for size in ends)


def _details(found: Tuning, whose: str) -> Section | None:
    """The ratios of all algorithms of hockney or of Open MPI; None if there are none."""
    rows = [
        replace(each, closest=candidate, state=candidate.state(found.effect))
        for each in found.comparisons
        if each.whose == whose
        for candidate in sorted(each.point.candidates, key=lambda candidate: candidate.ratio.value)
    ]
    if not rows:
        return None
    columns = chosen(COLUMNS, "operation", "ranks", "bytes", "algorithm", RATIO, "result")
    table = columns_table(f"ratios-{whose.replace(' ', '')}", "", columns, rows)
    return Section(f"{whose}'s algorithms", tables=(table,), closed=True)
