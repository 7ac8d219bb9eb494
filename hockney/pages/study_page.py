# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a study: its own results, and what every page about a run contains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hockney.draw.figure import Figure
from hockney.draw.page import Caveat, Page, Section, Table, Widget
from hockney.pages import environment
from hockney.pages.caveats import caveats, headline_premises
from hockney.pages.evidence import Evidence
from hockney.pages.method import method_sentences


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
    """Build the page of a study. Sections that are None are omitted. `method` is specific to the study and
    precedes the description common to all runs. `warnings` are the caveats at the top of the page, by default
    all caveats of the run."""
    return Page(
        title=title,
        subtitle=environment.subtitle(evidence),
        headline=(*headline_premises(evidence), *headline),
        warnings=tuple(run_caveat.caveat for run_caveat in caveats(evidence))
        if warnings is None
        else warnings,
        sections=tuple(section for section in sections if section is not None),
        environment=environment.facts(evidence),
        method=(*method, *method_sentences(evidence)),
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
    """Return a section of the figures that are not None and the tables with rows, or None if there are
    none."""
    present_figures = tuple(figure for figure in figures if figure is not None)
    present_tables = tuple(table for table in tables if table is not None and table.rows)
    if not present_figures and not present_tables:
        return None
    return Section(title, tuple(text), present_figures, present_tables, closed=closed, multiples=multiples)


def first_figure(sections: Sequence[Section]) -> tuple[Figure | None, tuple[Section, ...]]:
    """Return the first figure of the first section, and the sections without it. The figure is None if that
    section has none, or if its figures belong together."""
    if not sections or not sections[0].figures or sections[0].multiples:
        return None, tuple(sections)
    first_section, *remaining_sections = sections
    figure, *remaining_figures = first_section.figures
    return figure, (replace(first_section, figures=tuple(remaining_figures)), *remaining_sections)
