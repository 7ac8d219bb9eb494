# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page: grain, break-even, validation, the paper's figures, and the model to play with."""

from __future__ import annotations

from hockney.draw.page import Page, Section
from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages import environment, method, quality
from hockney.pages.evidence import Evidence
from hockney.studies.granularity import (
    agreement,
    caveats,
    cells,
    costs,
    exchanges,
    explore,
    figures,
    grain,
    headline,
    paper,
    planes,
    uneven,
    validation,
)
from hockney.studies.granularity.plan import ITERATIONS

METHOD = (
    "Efficiency is the measured time of the whole work on one rank over np times the measured time of one "
    "work and exchange on np ranks: equations 1, 2 and 6 with the measured serial time, not the preset one. "
    "The intervals of both medians are combined on a log scale.",
    f"One repetition is {ITERATIONS} times work and exchange in a row, as in the paper; the page draws the "
    "single ones too.",
    "Rank 0 computes the serial part before its share of the rest, the others wait for it in the exchange. "
    "Work is processor time of the thread.",
)


def page(evidence: Evidence) -> Page:
    found = cells.cells(evidence)
    known = costs.known(evidence)
    messages = known.messages
    cores = costs.cores(evidence)
    checked = validation.check(evidence, found, messages, cores) if messages else ()
    seen = "simulated" if evidence.machine.kind == "simulated" else "measured"
    said = headline.sentences(found, checked, messages, caveats.crowded_counts(found, cores), seen)
    sections = [
        _grain(found, messages),
        explore.section(messages, cores, evidence.machine.host if messages else ""),
        _runs(found, messages),
        _serial(found, messages),
        agreement.section(checked, messages, evidence) if messages and checked else None,
        uneven.section(checked),
        exchanges.section(evidence, messages),
        costs.section(known) if evidence.run.records else None,
        _planes(messages),
        paper.section(),
        quality.parameters(evidence),
        quality.spread(evidence),
        quality.verification(evidence),
    ]
    return Page(
        title="Granularity",
        subtitle=environment.subtitle(evidence),
        headline=said or (_nothing(evidence),),
        warnings=caveats.caveats(evidence, found, messages, cores),
        sections=tuple(s for s in sections if s is not None),
        environment=environment.facts(evidence),
        method=(*METHOD, *method.sentences(evidence)),
    )


def _nothing(evidence: Evidence) -> str:
    if not evidence.run.records:
        return "Nothing was measured."
    return (
        "No efficiency is known yet: it takes a work on one rank and the same work shared. 'hockney resume' "
        "measures what is missing."
    )


def _grain(found: tuple[cells.Cell, ...], messages: PointToPointCosts | None) -> Section | None:
    """The paper's figures 2 and 3, and the work that is needed."""
    drawn = list(figures.by_length(found, messages))
    if not drawn:
        return None
    if messages is not None and (one := figures.collapsed(found, messages)) is not None:
        drawn.append(one)
    return Section("Efficiency and grain", figures=tuple(drawn), tables=(grain.table(found, messages),))


def _runs(found: tuple[cells.Cell, ...], messages: PointToPointCosts | None) -> Section | None:
    """The paper's figure 1."""
    drawn = [*figures.runs(found, messages)]
    if (course := figures.period(found)) is not None:
        drawn.append(course)
    return Section("Single runs", figures=tuple(drawn)) if drawn else None


def _serial(found: tuple[cells.Cell, ...], messages: PointToPointCosts | None) -> Section | None:
    drawn = tuple(figures.by_serial(found, messages))
    return Section("Work that cannot be shared", figures=drawn) if drawn else None


def _planes(messages: PointToPointCosts | None) -> Section | None:
    """The paper's figures 4 and 5 with this machine's messages."""
    if messages is None:
        return None
    works = planes.grid_of(messages)
    return Section(
        "The model's planes",
        text=("By the model alone, with the messages of the machine that was measured.",),
        figures=(*planes.of_serial(messages, "here", works), planes.of_ranks(messages, "here", works)),
    )
