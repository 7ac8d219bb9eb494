# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer: where another algorithm is faster than MPI's own choice, where that is kept and why, and the
ratios of all."""

from __future__ import annotations

from dataclasses import replace

from hockney.draw.page import Page, Section
from hockney.pages import quality
from hockney.pages.columns import columns_table, select_columns
from hockney.pages.evidence import Evidence
from hockney.pages.method import memory_sentences
from hockney.pages.study_page import section, study_page
from hockney.studies.tuning import figures
from hockney.studies.tuning.columns import COLUMNS, RATIO, rules_table
from hockney.studies.tuning.headline import headline
from hockney.studies.tuning.results import HOCKNEY, OPEN_MPI, Tuning, tuning


def page(evidence: Evidence) -> Page:
    result = evidence.cached(tuning)
    sections = [
        section("Faster algorithms", tables=[rules_table(result)]),
        _kept(result),
        *(_details(result, whose) for whose in (HOCKNEY, OPEN_MPI)),
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
        lead=figures.kept_and_changed(result),
    )


def _kept(tuning: Tuning) -> Section | None:
    """The combinations without a faster algorithm, each with the algorithm that comes closest; open if that
    is the whole answer."""
    rows = [each for each in tuning.comparisons if each.state != "faster"]
    columns = select_columns(COLUMNS, "operation", "ranks", "bytes", "closest algorithm", RATIO, "result")
    table = replace(columns_table("kept", "", columns, rows), parameters=(1,))
    text = (
        "Undecided: the interval does not show whether this algorithm gains as much as required. "
        "Not faster: no algorithm gains as much."
    )
    return section("Where MPI's own choice is kept", [text], tables=[table], closed=any(tuning.named()))


def _details(tuning: Tuning, whose: str) -> Section | None:
    """The ratios of all algorithms of hockney or of Open MPI; None if there are none."""
    rows = [
        replace(each, closest=candidate, state=candidate.state(tuning.effect))
        for each in tuning.comparisons
        if each.whose == whose
        for candidate in sorted(each.point.candidates, key=lambda candidate: candidate.ratio.value)
    ]
    columns = select_columns(COLUMNS, "operation", "ranks", "bytes", "algorithm", RATIO, "result")
    table = columns_table(f"ratios-{whose.replace(' ', '')}", "", columns, rows)
    return section(f"{whose}'s algorithms", tables=[table], closed=True)
