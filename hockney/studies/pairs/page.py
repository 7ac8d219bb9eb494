# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: what pairs reach at once, how much their messages slow each other, and the model of sharing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hockney.draw.figure import Figure
from hockney.draw.page import Page
from hockney.models.significance import NOTABLE
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.study_page import section, study_page
from hockney.studies.pairs import columns, figures
from hockney.studies.pairs.headline import headline
from hockney.studies.pairs.results import PairsResults, Way

Draw = Callable[[PairsResults, Way], "Figure | None"]

METHOD = (
    "All pairs are active at once, rank i of the lower half with rank i + p/2. In a stream, each pair has a "
    "window of messages on their way; the bandwidth is that of all pairs.",
    "The time of a message relative to that of the fewest pairs is the ratio of both in each launch, with a "
    f"verdict from {NOTABLE:.2f} times on. Pairs are saturated from so many on if no larger number carries "
    "notably more; if that is not decided for the most pairs, it is undecided. For verdicts, intervals are "
    "widened for the number of comparisons (Bonferroni).",
    "The model is the max-rate model of W. Gropp, L. N. Olson and P. Samfass (EuroMPI 2016), with the "
    "measured time of one pair and a gap for each message.",
)


def page(evidence: Evidence) -> Page:
    run = PairsResults.of(evidence)
    ways, pairs = run.streams, [way for way in run.ways if not way.streams]
    drawn = _drawn(run, figures.bandwidths, ways)
    lead = drawn[0] if drawn else None
    sections = [
        section("Bandwidth of all pairs", figures=drawn[1:], multiples=True),
        section(
            "How much messages slow each other",
            figures=_drawn(run, figures.slowdowns, [*pairs, *ways]),
            multiples=True,
        ),
        section("Messages a second", figures=_drawn(run, figures.rates, ways), multiples=True),
        section("Model of sharing", tables=[columns.models(run)]),
        section("All numbers", tables=[columns.bandwidths(run, way) for way in run.ways], closed=True),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Many pairs at once",
        headline=headline(run),
        sections=sections,
        method=METHOD,
        lead=lead,
    )


def _drawn(run: PairsResults, draw: Draw, ways: Sequence[Way]) -> list[Figure]:
    return [figure for way in ways if (figure := draw(run, way)) is not None]
