# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: where another algorithm is faster than MPI's own choice, and the ratios of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.core.wording import plural
from hockney.draw.page import Page, Section, Table
from hockney.models.tuning import openmpi
from hockney.models.tuning.rules import EFFECT, Point
from hockney.models.tuning.texts import bracketed
from hockney.pages import environment, method, quality
from hockney.pages.caveats import everywhere
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.studies.tuning.results import Tuning, tuning


def page(evidence: Evidence) -> Page:
    found = evidence.cached(tuning)
    sections = [
        Section("Faster algorithms", tables=(rules_table(found),)),
        *_details("hockney", found.points, lambda _, name: name),
        *_details("Open MPI", found.internal_points, openmpi.algorithm_of),
        quality.spread(evidence),
        quality.verification(evidence),
    ]
    return Page(
        title="Collective algorithms",
        subtitle=environment.subtitle(evidence),
        headline=headline(found),
        warnings=everywhere(evidence),
        sections=tuple(section for section in sections if section is not None),
        environment=environment.facts(evidence),
        method=(
            *method.sentences(evidence),
            f"An algorithm is faster than MPI's own choice if the 95% interval of the ratio of their times "
            f"lies below {1 - EFFECT:g}.",
        ),
    )


def headline(found: Tuning) -> tuple[str, ...]:
    """How often another algorithm is faster, and by how much at best."""
    compared = {(p.operation, p.ranks, p.size) for p in (*found.points, *found.internal_points)}
    if not compared:
        return ("Nothing was measured.",)
    better = {(r.operation, r.ranks, size) for _, _, r in found.named() for size in r.sizes}
    texts = [
        f"Another algorithm than MPI's own choice is faster at {len(better)} of "
        f"{plural(len(compared), 'combination')} of operation, ranks and size."
    ]
    most = min(found.named(), key=lambda each: each[2].best.high or 0.0, default=None)
    if most is not None:
        whose, name, rule = most
        size = rule.sizes[rule.ratios.index(rule.best)]
        texts.append(
            f"The largest certain gain: {rule.operation} of {quantity(size, 'B')} on "
            f"{plural(rule.ranks, 'rank')} by {whose}'s {name} takes {bracketed(rule.best)} of the time."
        )
    return tuple(texts)


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


def _sizes(sizes: Sequence[int]) -> str:
    ends = dict.fromkeys((sizes[0], sizes[-1]))
    return " to ".join(str(quantity(size, "B")) for size in ends)


def _details(whose: str, points: Sequence[Point], name_of: Callable[[str, str], str]) -> list[Section]:
    """A section with the ratios of all algorithms; none if there are none."""
    rows = tuple(
        (
            point.operation,
            str(point.ranks),
            quantity(point.size, "B"),
            name_of(point.operation, each.algorithm),
            bracketed(each.ratio),
        )
        for point in points
        for each in sorted(point.candidates, key=lambda each: each.ratio.value)
    )
    if not rows:
        return []
    columns = ("operation", "ranks", "bytes", "algorithm", "time relative to MPI's choice [95%]")
    table = Table(f"ratios-{whose.replace(' ', '')}", "", columns, rows, numeric=(1, 2, 4))
    return [Section(f"{whose}'s algorithms", tables=(table,), closed=True)]
