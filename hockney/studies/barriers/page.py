# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the fastest barrier, costs next to predictions, ways of entering, and the paper's table."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.wording import list_names
from hockney.draw.page import Page, Section
from hockney.pages import quality
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.pages.levels import level_phrase, with_level_prefix
from hockney.pages.study_page import section, study_page
from hockney.studies.barriers import columns, figures, headline, paper
from hockney.studies.barriers.results import (
    MAX_PREDICTION_FACTOR,
    MESSAGES,
    BarrierResult,
    BarrierResults,
    EmptyMessages,
    choose_prediction,
)

METHOD = (
    "Back to back: many calls follow one MPI_Barrier; the maximum time over the ranks is divided by the "
    "number of calls, as in R. Krishnamurthy's measurements (1998). Alone: all ranks enter one barrier "
    "at the same time of a synchronised clock; the time ends with the last exit.",
    "In the LogGP predictions each rank has its own clock: a message costs o_s and o_r, takes T from call "
    "to return, and two ranks that send to each other at the same time take E. Here o_s and o_r refer to "
    "empty messages, and their sum is at most T; in a survey they refer to its shortest train of messages "
    "(8 B) and may exceed a message's time if both ends work at once. The predictions by messages follow "
    "the paper: the number of messages times the base line. All of these costs are measured between two "
    "ranks, none of them in a barrier.",
)


def page(evidence: Evidence) -> Page:
    results = BarrierResults.of(evidence).results
    first_layout = figures.default_layout(evidence, results)
    sections = [
        _costs_section(evidence, results, first_layout),
        _predictions_section(evidence, results),
        _arrivals_section(results),
        _numbers_section(results),
        paper.section(),
        quality.noise_section(evidence),  # nothing varies there
    ]
    return study_page(
        evidence,
        title="Barriers",
        headline=headline.sentences(evidence, results),
        sections=sections,
        method=METHOD,
        lead=figures.costs_figure(evidence, *first_layout),
    )


def _costs_section(
    evidence: Evidence, results: Sequence[BarrierResult], first_layout: tuple[int, int]
) -> Section | None:
    """The section on layouts that are not on the first screen, and on barriers without a result."""
    other_layouts = [layout for layout in headline.measured_layouts(results) if layout != first_layout]
    drawn = tuple(
        figure for layout in other_layouts if (figure := figures.costs_figure(evidence, *layout)) is not None
    )
    iterations = BarrierResults.of(evidence).requested_iterations
    text = (
        (f"One repetition consists of {iterations} back-to-back calls.",)
        if iterations > 1 and results
        else ()
    )
    failed = columns.failures_table(evidence)
    if not drawn and not failed.rows and not text:
        return None
    return Section("Cost of each barrier", text, drawn, (failed,) if failed.rows else ())


def _numbers_section(results: Sequence[BarrierResult]) -> Section | None:
    """All times next to their predictions, by family."""
    families = ((name, title, figures.family_members(name, results)) for name, title in figures.FAMILIES)
    tables = [columns.costs_table(members, name, title) for name, title, members in families if members]
    return section(
        "All barriers in numbers",
        figures=figures.costs_over_ranks(results, choose_prediction(results)[0]),
        tables=[*tables, columns.traffic_table(results), columns.arrivals_table(results)],
        closed=True,
    )


def _predictions_section(evidence: Evidence, results: Sequence[BarrierResult]) -> Section | None:
    messages = BarrierResults.of(evidence).messages
    if messages is None:
        return None
    figure = figures.predictions_figure(results)
    oversubscribed = sorted({each.ranks for each in results if each.ranks > evidence.cores})
    text = [_message_sentence(level) for level in messages.levels]
    comparable = [each for each in results if each.structure_s is not None and each.loop is not None]
    if comparable:
        form, typical_factor = choose_prediction(comparable)
        description = (
            "one message at a time, as on a shared medium" if form == MESSAGES else "messages in parallel"
        )
        if typical_factor > MAX_PREDICTION_FACTOR:
            description = "neither prediction. LogGP"
        error = headline.typical_error(comparable, form)
        text.append(f"The measurements fit {description}: typically off by {error:.0%}.")
    for level in messages.levels:
        if level.overheads is not None and level.overheads.caveats:
            reasons = "; ".join(caveat.text for caveat in level.overheads.caveats)
            text.append(f"LogGP's parameters do not describe these messages: {reasons}.")
    if oversubscribed:
        text.append(
            f"There is no prediction for {list_names([str(ranks) for ranks in oversubscribed])} ranks, "
            "because there are "
            "fewer cores: the times depend on the scheduler."
        )
    return Section(
        "Predicted from messages",
        text=tuple(text),
        figures=(figure,) if figure is not None else (),
        tables=tuple(columns.messages_table(level) for level in messages.levels),
    )


def _message_sentence(level: EmptyMessages) -> str:
    text = (
        f"One message takes {quantity(level.base.value, 's')} (the base line), two messages that cross take "
        f"{quantity(level.exchange.value, 's')}."
    )
    return with_level_prefix(text, level_phrase(level.place))


def _arrivals_section(results: Sequence[BarrierResult]) -> Section | None:
    text = (
        "In programs, ranks do not arrive at the same time. 'After the last': ranks enter one after another, "
        "and the time runs from the last entry to the last exit, on a synchronised clock. 'Exits apart' is "
        "the time from the first exit to the last, with ranks entering as MPI_Barrier releases them."
    )
    return section("How ranks enter", [text], figures=[figures.entry_costs_figure(results)])
