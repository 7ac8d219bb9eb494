# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How pages name where ranks were: the level at which two of them meet, and the nodes of more of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from hockney.core.case import Case
from hockney.core.layout import LEVEL_PHRASES, parse_level
from hockney.core.wording import plural
from hockney.draw.figure import Figure
from hockney.draw.page import Table
from hockney.pages.evidence import Evidence, Measured

Shown = TypeVar("Shown", Figure, Table)
BETWEEN = LEVEL_PHRASES["network"]


def place_words(place: str) -> str:
    """ "between nodes"; empty without a level."""
    return LEVEL_PHRASES[parse_level(place)] if place else ""


def where(evidence: Evidence) -> str:
    """The words of the level of which this evidence is; empty if it is of no level in particular."""
    return place_words(evidence.place)


def where_measured(m: Measured, evidence: Evidence) -> str:
    """The words of the level that a case names, and of ranks on different nodes even if it names none. A
    machine that exists only as a description has one level."""
    if m.case.place or not (m.summary.place == "network" and not evidence.machine.traits.described):
        return place_words(m.case.place)
    return BETWEEN


def ranks_on(case: Case) -> str:
    """ "8 ranks", "8 ranks on 2 nodes", "8 ranks, between nodes"."""
    ranks = spread_ranks(case.ranks, case.nodes)
    return f"{ranks}, {place_words(case.place)}" if case.place else ranks


def spread_ranks(ranks: int, nodes: int) -> str:
    """ "8 ranks", "8 ranks on 2 nodes"."""
    return plural(ranks, "rank") + (f" on {plural(nodes, 'node')}" if nodes else "")


def placed(item: Shown, evidence: Evidence) -> Shown:
    """A figure or table of one level, with the level in its name and title."""
    if not evidence.place:
        return item
    return replace(item, name=f"{item.name}-{evidence.place}", title=f"{item.title}, {where(evidence)}")


def prefixed(text: str, words: str) -> str:
    """A sentence about one level: "Between nodes, one message ..."."""
    return f"{words.capitalize()}, {text[:1].lower()}{text[1:]}" if words and text else text
