# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Where the ranks of a case met: as it asks, or as its launches were."""

from __future__ import annotations

from typing import Protocol

from hockney.core.case import Case
from hockney.core.layout import NETWORK, NODE, PAIR_RANKS


class MeasuredPlacement(Protocol):
    """A record, or a summary of some: the level at which pairs of ranks met, "" if not at one, and the number
    of their nodes, 0 if unknown."""

    @property
    def place(self) -> str: ...
    @property
    def nodes(self) -> int: ...


def meeting_level(case: Case, measured: MeasuredPlacement) -> str:
    """The level, "" if it is not known. Two ranks of a collective are a pair too."""
    if case.place or case.ranks != PAIR_RANKS:
        return case.place or measured.place
    nodes = case.nodes or measured.nodes
    return NETWORK if nodes > 1 else measured.place or (NODE if nodes else "")
