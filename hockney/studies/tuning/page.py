# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: the combinations with faster algorithms, those that keep MPI's own choice and why, and all
ratios."""

from __future__ import annotations

from dataclasses import replace

from hockney.draw.page import Page, Section
from hockney.pages import quality
from hockney.pages.columns import columns_table, select_columns
from hockney.pages.evidence import Evidence
from hockney.pages.method import memory_sentences
from hockney.pages.study_page import section, study_page
from hockney.studies.tuning import figures
from hockney.studies.tuning.columns import CHOICE_COLUMNS, RATIO_HEADING, rules_table
from hockney.studies.tuning.headline import headline
from hockney.studies.tuning.results import HOCKNEY, OPEN_MPI, Tuning, tuning


def page(evidence: Evidence) -> Page:
    result = evidence.cached(tuning)
    sections = [
        section("Faster algorithms", tables=[rules_table(result)]),
        _kept_section(result),
        *(_ratios_section(result, whose) for whose in (HOCKNEY, OPEN_MPI)),
        quality.spread_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Collective algorithms",
        headline=headline(result, evidence.settings),
        sections=sections,
        method=(
            *memory_sentences(evidence),
            f"An algorithm is faster than MPI's own choice if the 95% interval of the ratio of their times "
            f"lies below {1 - result.effect:g}, and not faster if it lies above. Otherwise it is undecided.",
        ),
        lead=figures.choices_figure(result),
    )


def _kept_section(tuning: Tuning) -> Section | None:
    """The combinations without a faster algorithm, each with the closest algorithm. The section is open if
    there are no others."""
    rows = [choice for choice in tuning.comparisons if choice.state != "faster"]
    columns = select_columns(
        CHOICE_COLUMNS, "operation", "ranks", "bytes", "closest algorithm", RATIO_HEADING, "result"
    )
    table = replace(columns_table("kept", "", columns, rows), parameters=(1,))
    text = (
        "Undecided: the interval does not show whether this algorithm gains as much as required. "
        "Not faster: no algorithm gains as much."
    )
    return section("Where MPI's own choice is kept", [text], tables=[table], closed=any(tuning.named_rules()))


def _ratios_section(tuning: Tuning, owner: str) -> Section | None:
    """The ratios of all algorithms of hockney or of Open MPI; None if there are none."""
    rows = [
        replace(choice, closest=candidate, state=candidate.state(tuning.effect))
        for choice in tuning.comparisons
        if choice.owner == owner
        for candidate in sorted(choice.point.candidates, key=lambda candidate: candidate.ratio.value)
    ]
    columns = select_columns(
        CHOICE_COLUMNS, "operation", "ranks", "bytes", "algorithm", RATIO_HEADING, "result"
    )
    table = columns_table(f"ratios-{owner.replace(' ', '')}", "", columns, rows)
    return section(f"{owner}'s algorithms", tables=[table], closed=True)
