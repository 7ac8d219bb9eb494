# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a case met: as it asks, or as its launches were."""

from __future__ import annotations

from typing import Protocol

from hockney.core.case import Case
from hockney.core.layout import NETWORK, NODE, PAIR


class Seen(Protocol):
    """A record, or a summary of some: the level at which pairs of ranks met, "" if not at one, and the number
    of their nodes, 0 if unknown."""

    @property
    def place(self) -> str: ...
    @property
    def nodes(self) -> int: ...


def place_of(case: Case, seen: Seen) -> str:
    """The level, "" if it is not known. Two ranks of a collective are a pair too."""
    if case.place or case.ranks != PAIR:
        return case.place or seen.place
    nodes = case.nodes or seen.nodes
    return NETWORK if nodes > 1 else seen.place or (NODE if nodes else "")
