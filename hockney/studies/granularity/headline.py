# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in words: which efficiency at which grain, where ranks break even, and what was foreseen."""

from __future__ import annotations

from collections.abc import Sequence

from hockney.models.applications.point_to_point_costs import PointToPointCosts
from hockney.pages.format import quantity
from hockney.studies.granularity import agreement
from hockney.studies.granularity.cells import Cell, lengths, line, rank_counts
from hockney.studies.granularity.grain import WANTED, predicted, reached
from hockney.studies.granularity.text import length, told
from hockney.studies.granularity.validation import Checked


def sentences(
    found: tuple[Cell, ...],
    checked: Sequence[Checked],
    messages: PointToPointCosts | None,
    crowded: Sequence[int],
    seen: str,
) -> tuple[str, ...]:
    """`crowded` are the numbers of ranks that have no core each; `seen` says how numbers came about, measured
    or simulated."""
    counts = rank_counts(found)
    if not found:
        return ()
    if not counts:
        return (
            "Only one rank was measured: it needs no exchange, and its efficiency is 1 by definition. Give "
            "--ranks 2.",
        )
    alone = [p for p in counts if p not in crowded] or list(counts)
    said = []
    for p in dict.fromkeys((alone[0], alone[-1])):
        for size in _ends(found, p):
            if p == alone[0] and reached(line(found, p, size), 1 / p).at is None:  # the grid's ends tell more
                said.append(_grain(found, p, size))
            said.append(_even(found, messages, p, size, seen))
    said += [agreement.sentence(checked, p) for p in counts if checked]
    return tuple(sentence for sentence in said if sentence)


def _ends(found: tuple[Cell, ...], ranks: int) -> tuple[int, ...]:
    """The shortest and the longest message."""
    sizes = lengths(tuple(c for c in found if c.ranks == ranks and c.even and not c.serial))
    return tuple(dict.fromkeys((sizes[0], sizes[-1]))) if sizes else ()


def _grain(found: tuple[Cell, ...], ranks: int, size: int) -> str:
    """The finest and the coarsest grain that was measured."""
    mine = line(found, ranks, size)
    if not mine:
        return ""
    first, last = mine[0], mine[-1]
    said = (
        f"{ranks} ranks that exchange messages of {length(size)} are {told(first.efficiency)} efficient with "
        f"{quantity(first.work_s, 's')} of work between two exchanges"
    )
    if last is first:
        return f"{said}."
    return f"{said}, and {told(last.efficiency)} with {quantity(last.work_s, 's')}."


def _even(
    found: tuple[Cell, ...], messages: PointToPointCosts | None, ranks: int, size: int, seen: str
) -> str:
    """Break-even, and the work for a good efficiency."""
    mine = line(found, ranks, size)
    if not mine:
        return ""
    even, good = reached(mine, 1 / ranks), reached(mine, WANTED)
    said = (
        f"With messages of {length(size)}, {ranks} ranks break even with one at a work {even.words} "
        f"and are {WANTED:.0%} efficient at one {good.words}, {seen}"
    )
    if messages is None:
        return f"{said}."
    return (
        f"{said}; predicted: {predicted(messages, size, ranks, 1 / ranks)} and "
        f"{predicted(messages, size, ranks, WANTED)}."
    )
