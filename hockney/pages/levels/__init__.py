# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How pages describe where ranks were: the level at which two ranks meet, or the number of nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from hockney.core.case import Case
from hockney.core.layout import LEVEL_PHRASES, parse_level
from hockney.core.wording import plural
from hockney.draw.figure import Figure
from hockney.draw.page import Table
from hockney.pages.evidence import Evidence, MeasuredCase

LevelItem = TypeVar("LevelItem", Figure, Table)
BETWEEN_NODES = LEVEL_PHRASES["network"]


def level_phrase(place: str) -> str:
    """Return a phrase such as "between nodes"; empty without a place."""
    return LEVEL_PHRASES[parse_level(place)] if place else ""


def evidence_level_phrase(evidence: Evidence) -> str:
    """Return the phrase for the level of this evidence; empty if it is not limited to a level."""
    return level_phrase(evidence.place)


def case_level_phrase(measured_case: MeasuredCase, evidence: Evidence) -> str:
    """Return the phrase for the level that a case names; also for ranks on different nodes of a real machine
    if it names none. A machine that exists only as a description has a single level."""
    if measured_case.case.place or not (
        measured_case.summary.place == "network" and not evidence.machine.traits.described
    ):
        return level_phrase(measured_case.case.place)
    return BETWEEN_NODES


def ranks_text(case: Case) -> str:
    """Return text such as "8 ranks", "8 ranks on 2 nodes" or "8 ranks, between nodes"."""
    ranks = ranks_on_nodes_text(case.ranks, case.nodes)
    return f"{ranks}, {level_phrase(case.place)}" if case.place else ranks


def ranks_on_nodes_text(ranks: int, nodes: int) -> str:
    """Return text such as "8 ranks" or "8 ranks on 2 nodes"."""
    return plural(ranks, "rank") + (f" on {plural(nodes, 'node')}" if nodes else "")


def with_level(item: LevelItem, evidence: Evidence) -> LevelItem:
    """Return a copy of the figure or table with the level of the evidence in its name and title."""
    if not evidence.place:
        return item
    return replace(
        item, name=f"{item.name}-{evidence.place}", title=f"{item.title}, {evidence_level_phrase(evidence)}"
    )


def with_level_prefix(text: str, level: str) -> str:
    """Return a sentence that starts with the level: "Between nodes, one message ..."."""
    return f"{level.capitalize()}, {text[:1].lower()}{text[1:]}" if level and text else text
