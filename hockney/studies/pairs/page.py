# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the combined performance of pairs, how much their messages slow each other, and the model of
sharing."""

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
from hockney.studies.pairs.results import PairsResults, Pattern

Draw = Callable[[PairsResults, Pattern], "Figure | None"]

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
    streams, ping_pongs = run.streams, [pattern for pattern in run.patterns if not pattern.is_stream]
    drawn = _draw_all(run, figures.bandwidth_figure, streams)
    lead = drawn[0] if drawn else None
    sections = [
        section("Bandwidth of all pairs", figures=drawn[1:], multiples=True),
        section(
            "How much messages slow each other",
            figures=_draw_all(run, figures.slowdown_figure, [*ping_pongs, *streams]),
            multiples=True,
        ),
        section("Messages a second", figures=_draw_all(run, figures.rate_figure, streams), multiples=True),
        section("Model of sharing", tables=[columns.models_table(run)]),
        section(
            "All numbers",
            tables=[columns.bandwidth_table(run, pattern) for pattern in run.patterns],
            closed=True,
        ),
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


def _draw_all(run: PairsResults, draw: Draw, patterns: Sequence[Pattern]) -> list[Figure]:
    return [figure for pattern in patterns if (figure := draw(run, pattern)) is not None]
