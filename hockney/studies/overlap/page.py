# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: whether nonblocking communication pays, what it hides, its cost, and all numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hockney.draw.figure import Figure
from hockney.draw.page import Page, Section
from hockney.models.significance import NOTABLE
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.study_page import section, study_page
from hockney.studies.overlap import columns, figures
from hockney.studies.overlap.headline import headline
from hockney.studies.overlap.results import OverlapResults

Draw = Callable[[OverlapResults, str, int], "Figure | None"]

METHOD = (
    "Each case has the time of the communication by itself (pure: the call, and MPI_Wait at once), of the "
    "computation by itself (cpu), and of both at once (total: the call, computation with evenly spaced calls "
    "of MPI_Test, MPI_Wait).",
    "Nonblocking communication pays if total / (pure + cpu) is at most "
    f"{1 / NOTABLE:.2f} and its interval, over the ratios of the launches, excludes 1; for this, intervals "
    "are widened for the number of cases (Bonferroni). It makes no difference if the interval excludes any "
    "difference of 5%; otherwise it is undecided. With the progress thread, pure is that without it.",
    "Of several numbers of tests, the best was chosen from the same measurements, so its gain is slightly "
    "overestimated if several are alike.",
)


def page(evidence: Evidence) -> Page:
    run = OverlapResults.of(evidence)
    lead = next((drawn for drawn in _draw_all(run, figures.hidden_figure, run.default_ranks)), None)
    sections = [
        _best_tests_section(run),
        _multiples_section(run, "What computing hides", figures.hidden_figure, lead=lead),
        _multiples_section(run, "How much computing slows down", figures.slowdown_figure),
        _multiples_section(run, "Time compared with one after the other", figures.ratio_figure),
        section(
            "IMB's overlap and COMB's availability", tables=[columns.definitions_table(run)], closed=True
        ),
        _multiples_section(run, "Where the time goes", figures.parts_figure, closed=True),
        section(
            "All times",
            figures=_draw_all(run, figures.times_figure),
            tables=[columns.times_table(run)],
            closed=True,
        ),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Overlap of communication and computation",
        headline=headline(run),
        sections=sections,
        method=METHOD,
        lead=lead,
    )


def _best_tests_section(run: OverlapResults) -> Section | None:
    """A table for each operation; the first one explains the columns."""
    combinations = ((ranks, operation) for ranks in run.rank_counts for operation in run.operations)
    tables = [
        t
        for ranks, operation in combinations
        if (t := columns.best_tests_table(run, ranks, operation)) is not None
    ]
    other_tables = (replace(table, caption="") for table in tables[1:])
    return section("Best number of tests", tables=[*tables[:1], *other_tables])


def _draw_all(run: OverlapResults, draw: Draw, *ranks: int) -> list[Figure]:
    drawings = (
        draw(run, operation, rank_count)
        for rank_count in ranks or run.rank_counts
        for operation in run.operations
    )
    return [figure for figure in drawings if figure is not None]


def _multiples_section(
    run: OverlapResults, title: str, draw: Draw, *, lead: Figure | None = None, closed: bool = False
) -> Section | None:
    multiples = (figure for figure in _draw_all(run, draw) if lead is None or figure.name != lead.name)
    return section(title, figures=multiples, multiples=True, closed=closed)
