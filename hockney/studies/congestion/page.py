# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: which load makes which operation slower, the distributions, and all numbers."""

from __future__ import annotations

from hockney.draw.page import Page
from hockney.models.significance import NOTABLE
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.study_page import section, study_page
from hockney.studies.congestion import columns, figures
from hockney.studies.congestion.headline import headline
from hockney.studies.congestion.results import CongestionResults

METHOD = (
    "In each launch, some ranks, the victims, repeat an operation; the others, the congestors, either wait "
    "or load the network. Sample blocks of all states alternate in random order, so that both states of a "
    "ratio have the same victims. A time is the maximum over the victims of one operation.",
    "A quantile is that of the repetitions of a launch. It is reported if every launch has so many "
    "repetitions that, if they were independent, one of them exceeds it with 97.5%: 368 for p99, 3688 for "
    "p99.9.",
    "Intervals are Student's, over the ratios of the launches, and widened for the number of ratios "
    f"(Bonferroni). A load has an effect if the ratio is at least {NOTABLE:.2f} and its interval excludes 1. "
    f"It has none if the interval excludes any difference of {NOTABLE - 1:.0%}; otherwise it is undecided.",
    "Victims, congestors and their shares follow GPCNeT (Chunduri et al., SC 2019), which runs all its "
    "congestors at once, reports no intervals, and measures all quiet states first.",
)


def page(evidence: Evidence) -> Page:
    run = CongestionResults.of(evidence)
    sections = [
        section("Ratios", tables=[columns.ratios_table(run)]),
        section("Distributions", figures=figures.distribution_figures(run)),
        section("Load", tables=[columns.load_table(run)], closed=True),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Congestion",
        headline=headline(run),
        sections=sections,
        method=METHOD,
        lead=figures.ratios_figure(run),
    )
