# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: the fastest barrier, costs next to predictions, ways of entering, and the paper's table."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.wording import listing
from hockney.draw.page import Page, Section
from hockney.pages import environment, method, quality
from hockney.pages.caveats import caveats
from hockney.pages.evidence import Evidence
from hockney.pages.format import quantity
from hockney.studies.barriers import figures, headline, paper, tables
from hockney.studies.barriers.best import FITS, MESSAGES, believed
from hockney.studies.barriers.results import BarrierResult, BarrierResults

METHOD = (
    "Back to back: many calls after one MPI_Barrier; the longest time over the ranks divided by the "
    "number of calls, as R. Krishnamurthy timed them (1998). Alone: all ranks enter one barrier at the "
    "same moment of a synchronised clock; the time ends with the last exit.",
    "Predictions by LogGP give each rank its own clock: a message costs o_s and o_r, takes T from call "
    "to return, and two ranks that send to each other at the same time take E. Predictions by messages "
    "are the paper's: the number of messages times the base line. All of these are measured between "
    "two ranks, none on a barrier.",
)


def page(evidence: Evidence) -> Page:
    every = BarrierResults.of(evidence).results
    sections = [
        _costs(evidence, every),
        _predicted(evidence, every),
        _arrivals(every),
        paper.section(),
        None if evidence.machine.traits.noiseless else quality.spread(evidence),  # nothing varies there
    ]
    return Page(
        title="Barriers",
        subtitle=environment.subtitle(evidence),
        headline=headline.sentences(evidence, every),
        warnings=tuple(c.caveat for c in caveats(evidence)),
        sections=tuple(s for s in sections if s is not None),
        environment=environment.facts(evidence),
        method=(*METHOD, *method.sentences(evidence)),
    )


def _costs(evidence: Evidence, every: Sequence[BarrierResult]) -> Section | None:
    failed = tables.failed(evidence)
    if not every and failed is None:
        return None
    many = BarrierResults.of(evidence).iterations
    text = (f"One repetition is {many} calls back to back.",) if many > 1 else ()
    families = ((name, title, figures.members(name, every)) for name, title in figures.FAMILIES)
    shown = [tables.costs(members, name, title) for name, title, members in families if members]
    return Section(
        "Cost of each barrier",
        text=text,
        figures=tuple(figures.against_ranks(every, believed(every)[0])),
        tables=(*shown, *((failed,) if failed is not None else ())),
    )


def _predicted(evidence: Evidence, every: Sequence[BarrierResult]) -> Section | None:
    costs = BarrierResults.of(evidence).costs
    if costs is None:
        return None
    figure = figures.predictions(every)
    crowded = sorted({each.ranks for each in every if each.ranks > BarrierResults.of(evidence).cores})
    text = [
        f"One message takes {quantity(costs.base_s, 's')} (the base line), two that cross "
        f"{quantity(costs.exchange_s, 's')}."
    ]
    telling = [each for each in every if each.structure_s is not None and each.loop is not None]
    if telling:
        form, off = believed(telling)
        words = "one message at a time, as on one medium" if form == MESSAGES else "messages in parallel"
        if off > FITS:
            words = "neither prediction. LogGP"
        text.append(f"The measurements fit {words}: typically off by {off - 1:.0%}.")
    if crowded:
        text.append(
            f"There is no prediction for {listing([str(p) for p in crowded])} ranks, because there are "
            "fewer cores: the scheduler decides."
        )
    counted = tables.predictions(every)
    return Section(
        "Predicted from messages",
        text=tuple(text),
        figures=(figure,) if figure is not None else (),
        tables=(tables.messages(costs), *((counted,) if counted.rows else ())),
    )


def _arrivals(every: Sequence[BarrierResult]) -> Section | None:
    table, figure = tables.arrivals(every), figures.entered(every)
    if not table.rows and figure is None:
        return None
    return Section(
        "How ranks enter",
        text=(
            "In programs, ranks do not arrive at the same time. After the last: ranks enter one after "
            "another, and the time runs from the last entry to the last exit, on a synchronised clock. "
            "Exits apart: from the first exit to the last, with ranks entering as MPI_Barrier releases "
            "them.",
        ),
        figures=(figure,) if figure is not None else (),
        tables=(table,) if table.rows else (),
    )
