# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the measured efficiencies suffice for an answer, and the budget with which they would."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from hockney.core.fit import Estimate
from hockney.core.settings import Settings
from hockney.core.wording import join_words, list_names, plural
from hockney.pages.format import quantity
from hockney.studies.granularity.results import Cell
from hockney.studies.granularity.text import plain, points, with_interval
from hockney.studies.needed_budget import FEWEST_TIMES, LAUNCHES, MOST_TIMES, remedy

WIDE = 0.1
"""The efficiencies with the least and with the most work may overlap if both are known this well: then more
work does not matter."""
TOO_WIDE = 0.3
"""A curve whose intervals typically are this wide shows nothing."""


@dataclass(frozen=True)
class Thin:
    """A curve over T that does not suffice. `width` is the typical width of its intervals (efficiency); None
    if ends of the curve have none. `launches` are the fewest of its `cells`, of which `without` have no
    interval; `known` are the well known efficiencies of a curve without `width`, as (T in s, efficiency)."""

    ranks: int
    bytes: int
    width: float | None
    launches: int
    cells: int = 0
    without: int = 0
    known: tuple[tuple[float, Estimate], ...] = ()

    @property
    def times(self) -> float:
        """The multiple of the measuring time that would suffice: the width decreases with its root."""
        more = LAUNCHES / max(1, self.launches)
        if self.width is not None:
            more = max(more, (self.width / TOO_WIDE) ** 2)
        return min(MOST_TIMES, max(FEWEST_TIMES, more))


def thin(curve: Sequence[Cell]) -> Thin | None:
    """What is missing for statements about `curve`, which ascends in T; None if nothing is."""
    if not curve:
        return None
    first, last = curve[0].efficiency, curve[-1].efficiency
    launches = min(len(cell.times_s) for cell in curve)
    ranks, size = curve[0].ranks, curve[0].bytes
    widths = [width(cell.efficiency) for cell in curve]
    if math.isinf(widths[0]) or math.isinf(widths[-1]) or math.isinf(median(widths)):
        without = sum(math.isinf(each) for each in widths)
        known = tuple(
            (cell.work_s, cell.efficiency)
            for cell, each in zip(curve, widths, strict=True)
            if each <= TOO_WIDE
        )
        return Thin(ranks, size, None, launches, len(curve), without, known)
    overlap = first is not last and (first.high or 0.0) >= (last.low or 0.0)
    ends = max(widths[0], widths[-1])
    if median(widths) > TOO_WIDE or (overlap and ends > WIDE):
        return Thin(ranks, size, max(median(widths), ends), launches)
    return None


def width(efficiency: Estimate) -> float:
    """The width of the interval; infinite without one."""
    if efficiency.low is None or efficiency.high is None:
        return math.inf
    return efficiency.high - efficiency.low


def sentence(lacking: Sequence[Thin], all_of_them: bool, settings: Settings) -> str:
    """A sentence that there is no answer, why, and what to do. `all_of_them`: no other curve has an answer
    either."""
    sizes = list_names(sorted({plain(each.bytes) for each in lacking}))
    where = "" if all_of_them else f" for messages of {sizes}"
    times, launches = max(each.times for each in lacking), min(each.launches for each in lacking)
    return f"Inconclusive{where}: {_why(lacking)}. {remedy(times, launches, settings)}"


def known_sentence(lacking: Thin) -> str:
    """The efficiencies of its curve that are known; "" if there are none."""
    if not lacking.known:
        return ""
    ends = dict((lacking.known[0], lacking.known[-1]))
    each = [f"{with_interval(known)} efficient with {quantity(work, 's')}" for work, known in ends.items()]
    return f"{lacking.ranks} ranks that exchange {plain(lacking.bytes)} are {join_words(each)} of work."


def _why(lacking: Sequence[Thin]) -> str:
    widths = [each.width for each in lacking if each.width is not None]
    if len(widths) < len(lacking):
        unknown = [each for each in lacking if each.width is None]
        without, cells = sum(each.without for each in unknown), sum(each.cells for each in unknown)
        alone = min(each.launches for each in unknown) == 1
        reason = "a case has only one launch" if alone else "the times of their launches differ too much"
        count = f"{without} of {plural(cells, 'efficiency', 'efficiencies')}"
        return f"{count} {'has' if without == 1 else 'have'} no 95% interval, because {reason}"
    return (
        f"95% intervals of efficiencies are up to {points(max(widths))} points wide, so it is unknown which "
        "are higher"
    )
