# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the collectives that are slower than what a user can write, and by how much; then the paper's
tables and figures, the time of a message, and the eager limit."""

from __future__ import annotations

from hockney.draw.page import Page, Section
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.levels import with_level
from hockney.pages.method import memory_sentences
from hockney.pages.series import message_fit
from hockney.pages.study_page import section, study_page
from hockney.studies.collectives import columns, figures, headline
from hockney.studies.collectives.results import AUTHORS, CollectiveResults, EagerEffect, is_t3e

METHOD = (
    "User-level algorithms consist of MPI point-to-point messages only. They are measured in the same "
    "launches as MPI's own, and the interval of a ratio is that over the launches. MPI counts as "
    "slower or faster if the ratio differs from 1 by 5% and its interval excludes 1, and as alike if the "
    "interval excludes any difference of 5%; otherwise it is undecided. For this, intervals are widened for "
    "the number of comparisons (Bonferroni), of which some would exclude 1 by chance.",
    "Sizes are those of the buffer as the paper defines it; a rank's block has whole doubles, and is empty "
    "if the buffer has fewer doubles than there are ranks.",
)


def page(evidence: Evidence) -> Page:
    run = CollectiveResults.of(evidence)
    sections = [
        _fastest_section(run),
        _times_section(run),
        _send_time_section(evidence),
        _eager_section(evidence),
        _papers_section(run),
        _bandwidth_section(run),
        _numbers_section(run),
        quality.noise_section(evidence),
        quality.verification_section(evidence),
    ]
    return study_page(
        evidence,
        title="Collectives",
        headline=headline.sentences(evidence),
        sections=sections,
        method=(*METHOD, *memory_sentences(evidence)),
        lead=figures.ratios_figure(run, run.default_ranks),
    )


def _fastest_section(run: CollectiveResults) -> Section | None:
    ordered_ranks = (run.default_ranks, *_other_rank_counts(run))
    return section(
        "Which algorithm is fastest where",
        tables=[columns.fastest_table(run, ranks) for ranks in ordered_ranks],
    )


def _other_rank_counts(run: CollectiveResults) -> list[int]:
    """The numbers of ranks that are not on the first screen."""
    return [ranks for ranks in run.ranks if ranks != run.default_ranks]


def _times_section(run: CollectiveResults) -> Section | None:
    text = (
        "MPI's own algorithm and, at each size, the best user-level one. Lines: predicted for that algorithm "
        "from the costs of messages between two ranks. Half of figures 1 to 12 of the paper on the Cray T3E "
        f"by {AUTHORS} correspond to these; the other half, which show bandwidth, correspond to those below."
    )
    return section("Time against size", [text], figures=figures.time_figures(run), multiples=True)


def _papers_section(run: CollectiveResults) -> Section | None:
    closed = not is_t3e(run.evidence.machine)
    return section("Tables of the paper's sizes", tables=columns.paper_tables(run), closed=closed)


def _bandwidth_section(run: CollectiveResults) -> Section | None:
    drawn = tuple(figure for figure in figures.bandwidth_figures(run) if figure.series)
    if not drawn:
        return None
    return Section(
        "Aggregated bandwidth against size",
        figures=drawn,
        tables=(columns.definitions_table(run),),
        closed=True,
        multiples=True,
    )


def _numbers_section(run: CollectiveResults) -> Section | None:
    ratio_figures = [figures.ratios_figure(run, ranks) for ranks in _other_rank_counts(run)]
    tables_of_numbers = (columns.comparison_table(run), columns.all_times_table(run))
    return section("All ratios and times", figures=ratio_figures, tables=tables_of_numbers, closed=True)


def _eager_section(evidence: Evidence) -> Section | None:
    effect = EagerEffect.of(evidence)
    if not effect.limits:
        return None
    return Section(
        "The eager limit",
        text=(
            "Up to the eager limit, a message is sent before its receiver is ready and copied there; longer "
            "ones wait for the receiver. Each limit was set by the MPI's own variables, listed with the "
            "environment; on the T3E, 4096 B was best.",
        ),
        figures=(figures.eager_limits_figure(effect),),
        tables=(columns.eager_limits_table(effect),),
    )


NEGATIVE_LATENCY_NOTE = (
    "Where bytes cost more than in shorter messages, as beyond a cache, no constant is found: the line is "
    "given by the time of its shortest message and the bandwidth of further bytes."
)


def _send_time_section(evidence: Evidence) -> Section | None:
    """The section, with a figure and a table for each level at which messages were measured."""
    fits = [
        (level, fit)
        for level in evidence.levels
        if len(figures.hot_ping_pong_results(level)) > 1 and (fit := message_fit(level)) is not None
    ]
    if not fits:
        return None
    tables = tuple(with_level(columns.send_time_table(fit), level) for level, fit in fits if fit.segments)
    has_negative_latency = any(piece.latency.value < 0 for _, fit in fits for piece in fit.segments)
    return Section(
        "Time of a message",
        text=(
            f"t = a + x/b us for a message of x bytes, as printed by {AUTHORS} for the Cray T3E: b is the "
            "bandwidth of further bytes in MB/s. The change is where one line ends and the next "
            "begins; on the T3E it was the eager limit.",
            *((NEGATIVE_LATENCY_NOTE,) if has_negative_latency else ()),
        ),
        figures=tuple(with_level(figures.send_time_figure(level, fit), level) for level, fit in fits),
        tables=tables,
        closed=not is_t3e(evidence.machine),
    )
