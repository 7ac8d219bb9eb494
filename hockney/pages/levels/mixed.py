# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The caveat of cases whose ranks met at different levels in different launches."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.core.layout import sort_levels
from hockney.core.wording import join_words, plural
from hockney.draw.page import Caveat
from hockney.pages.evidence import Evidence
from hockney.pages.levels import place_words
from hockney.pages.run_caveat import RunCaveat, run_caveat


def levels_mixed(evidence: Evidence) -> RunCaveat | None:
    """The caveat about cases whose ranks met at different levels or on different numbers of nodes: those that
    name neither, whose ranks the launcher places. If a case names nodes, the engine takes the same ranks of a
    node in every launch: two ranks then meet at several levels only if the launcher places all of them
    differently."""
    mixed, places, counts = set(), set(), set()
    for case, records in evidence.run.by_case().items():
        met = {record.place for record in records if record.place}
        on = {record.nodes for record in records if record.nodes}
        if len(met) > 1 or len(on) > 1:
            mixed.add(case)
            places |= met
            counts |= on if len(on) > 1 and len(met) < 2 else set()
    if not mixed:
        return None
    words = [place_words(level) for level in sort_levels(places)] if len(places) > 1 else []
    return run_caveat(_mixed_levels(len(mixed), words, sorted(counts)), mixed)


def _mixed_levels(cases: int, places: Sequence[str], nodes: Sequence[int]) -> Caveat:
    """`places` are the levels of pairs, in words, `nodes` the numbers of nodes of other cases."""
    where = [*places, *([f"on {join_words(nodes)} nodes"] if nodes else [])]
    return Caveat(
        "mixed-levels",
        f"{plural(cases, 'case')} ran at different levels in different launches "
        f"({join_words(where)}): the typical times are a mixture",
        "",
        "name the level or the nodes in the case, with place= or nodes=",
    )
