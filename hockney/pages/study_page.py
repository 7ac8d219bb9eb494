# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A study's page: what it found, with what every page about a run has besides."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hockney.draw.figure import Figure
from hockney.draw.page import Caveat, Page, Section, Table, Widget
from hockney.pages import environment
from hockney.pages.caveats import caveats, premises
from hockney.pages.evidence import Evidence
from hockney.pages.method import sentences


def study_page(
    evidence: Evidence,
    *,
    title: str,
    headline: tuple[str, ...],
    sections: Iterable[Section | None],
    lead: Figure | Widget | None,
    method: tuple[str, ...] = (),
    warnings: tuple[Caveat, ...] | None = None,
    results: Table | None = None,
) -> Page:
    """Sections that are None are left out. `method` is the study's own, before that of all runs. `warnings`
    are the caveats at the top of the page: all of the run's unless given."""
    return Page(
        title=title,
        subtitle=environment.subtitle(evidence),
        headline=(*premises(evidence), *headline),
        warnings=tuple(c.caveat for c in caveats(evidence)) if warnings is None else warnings,
        sections=tuple(section for section in sections if section is not None),
        environment=environment.facts(evidence),
        method=(*method, *sentences(evidence)),
        lead=lead,
        results=results,
    )


def section(
    title: str,
    text: Iterable[str] = (),
    *,
    figures: Iterable[Figure | None] = (),
    tables: Iterable[Table | None] = (),
    closed: bool = False,
    multiples: bool = False,
) -> Section | None:
    """A section of the figures that are not None and of the tables with rows; None if there are none."""
    drawn = tuple(figure for figure in figures if figure is not None)
    filled = tuple(table for table in tables if table is not None and table.rows)
    if not drawn and not filled:
        return None
    return Section(title, tuple(text), drawn, filled, closed=closed, multiples=multiples)


def first_figure(sections: Sequence[Section]) -> tuple[Figure | None, tuple[Section, ...]]:
    """The first figure of the first section, and the sections without it; None if that section has none, or
    several that belong together."""
    if not sections or not sections[0].figures or sections[0].multiples:
        return None, tuple(sections)
    first, *rest = sections
    figure, *others = first.figures
    return figure, (replace(first, figures=tuple(others)), *rest)
