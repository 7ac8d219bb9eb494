# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the answer and one figure first, then the violations; everything else is closed."""

from __future__ import annotations

from hockney.core.wording import plural
from hockney.draw.page import Page, Section
from hockney.models.guidelines import SIGNIFICANCE_LEVEL, SOURCES, GuidelineVerdicts
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.study_page import section, study_page
from hockney.studies.guidelines import columns, figures
from hockney.studies.guidelines.headline import headline
from hockney.studies.guidelines.results import judge_run

METHOD = (
    "Guidelines of Träff, Gropp and Thakur (2010) and of Hunold and Carpen-Amarie (2018): an operation "
    "should not take longer than another way to the same result. Parts of an emulation are measured as "
    "single calls, which begin together; their sum is no less than the emulation takes, and copies in a "
    "rank's memory count as MPI_Reduce_local.",
    "Ratios are computed within launches if all calls were measured in the same ones. A guideline is "
    "violated if the 95% interval of the ratio lies above the limit, and if p is at most "
    f"{SIGNIFICANCE_LEVEL:g} after adjustment for the number of comparisons, so that on average no more "
    "than 5% of the violations are false.",
)
CITATIONS = tuple(f"[{number}] {source}." for number, source in SOURCES.items())


def page(evidence: Evidence) -> Page:
    verdicts = evidence.cached(judge_run)
    sections = [
        _violations_section(verdicts),
        Section("Guidelines", CITATIONS, tables=(columns.guidelines_table(verdicts),), closed=True),
        _comparisons_section(verdicts),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Performance guidelines",
        headline=headline(verdicts) if evidence.measured else ("Nothing was measured.",),
        sections=sections,
        method=METHOD,
        lead=figures.largest_ratios_figure(verdicts),
    )


def _comparisons_section(verdicts: GuidelineVerdicts) -> Section | None:
    table = columns.notable_table(verdicts)
    text = (
        f"{len(table.rows)} of {plural(len(verdicts.judged), 'comparison')}; "
        "'hockney guidelines --json' prints all of them."
    )
    return section(table.title, [text], tables=[table], closed=True)


def _violations_section(verdicts: GuidelineVerdicts) -> Section | None:
    text = (
        "Each call once, with the other way that is faster by the largest factor. "
        "A call may violate several guidelines."
    )
    return section("Violations", [text], tables=[columns.violations_table(verdicts)])
