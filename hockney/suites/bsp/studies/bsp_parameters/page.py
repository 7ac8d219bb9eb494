# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: g, L, sigma and l over the number of ranks, combined words and words sent immediately, and
local rates."""

from __future__ import annotations

from hockney.draw.page import Page, Section
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.study_page import section, study_page
from hockney.suites.bsp.studies.bsp_parameters import columns, figures
from hockney.suites.bsp.studies.bsp_parameters.headline import headline
from hockney.suites.bsp.studies.bsp_parameters.results import PAPER_KEYS, ParameterResults

METHOD = (
    "An h-relation is one superstep in which each rank puts, or sends, h words of 4 bytes to random other "
    "ranks and receives as many. g and L are the slope and the constant of a line through its times over h, "
    "fitted by relative errors; sigma and l are those of random permutations of blocks.",
    "Local work is measured on all ranks at once, so that they share caches and memory as in a program.",
)


def page(evidence: Evidence) -> Page:
    run = ParameterResults.of(evidence)
    sections = [
        Section("Parameters", tables=(columns.parameter_table(run), columns.paper_table(run))),
        section(
            "Parameters over the number of ranks",
            figures=[figures.parameter_figure(run, symbol) for symbol in PAPER_KEYS],
            multiples=True,
        ),
        _method_section(run),
        section("Block permutations", figures=[figures.permutation_figure(run)]),
        section("Local work", tables=[columns.rate_table(run)], closed=True),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Parameters of bulk synchronous models",
        headline=headline(run) if evidence.measured else ("Nothing was measured.",),
        sections=sections,
        method=METHOD,
        lead=figures.relation_figure(run),
    )


def _method_section(run: ParameterResults) -> Section | None:
    table = columns.method_table(run)
    if table is None:
        return None
    method_figures = [
        make_figure(run, ranks)
        for ranks in run.ranks
        for make_figure in (figures.method_figure, figures.breakdown_figure)
    ]
    return section("Words combined, and sent at once", figures=method_figures, tables=[table], multiples=True)
