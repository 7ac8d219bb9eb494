# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Additional sizes to measure where a piecewise fit shows a change or misses a point.

A curve measured at powers of two locates a change within a factor of two at best, and a segment with fewer
than three sizes is not found at all: it appears as a point far from the curve. `sizes_between` proposes sizes
in the gap in which a change lies, and on both sides of a point far from the curve. Three rounds of proposing
and measuring reduce a gap of a factor of sixteen to one of 1.09.

If another curve with the same rank count jumps in a wide gap, as the ping-pong does at a change of protocol,
the gap soon gets a size in its middle. The largest change of the curve itself may be elsewhere, and its fit
may explain the jump as a steep line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hockney.core.case import Case
from hockney.models.fits.model import all_models
from hockney.models.fits.piecewise import Piecewise, fit_piecewise
from hockney.models.statistics import Observation, ratio, tabulate

NEAR = 1.1
"""A change between sizes no further apart than this is considered located."""
WIDE = 1.3
"""A wider gap gets three sizes at once, a narrower one a single size."""
FAR = 3.0
"""Sizes further apart leave the cost between them open if it jumps there."""
JUMP = 1.25
"""If the cost grows by less over a gap, it matters little where it does."""
MIN_EFFECT = 0.01
"""Minimum effect of a change, as the logarithm of the wrong line's time over the right one's: less is not
worth locating."""
MIN_MISS, MISS_DEVIATIONS = 0.1, 3.0
"""A point is missed if its logarithm deviates from the curve by this much, and by this many of its standard
errors."""
MIN_SIZES = 6
"""Two pieces of three points."""
SMALLEST = 64
"""Below this size latency dominates the cost, and a change its size."""
COARSE, FINE, COARSE_FROM = 64, 8, 1024
"""New sizes are multiples: of a cache line, so that alignment does not look like a protocol, or of a double,
which reductions need."""


@dataclass(frozen=True)
class Gap:
    """A gap between the measured size in `row` and the one before. `effect` is the error (a log of times)
    that measuring there may correct, `parts` the maximum number of sizes; `jump`: the line after the gap lies
    above the line before it at both sizes."""

    row: int
    effect: float
    parts: int
    jump: bool = False


@dataclass(frozen=True)
class Jump:
    """A jump of a curve between these two measured sizes; `where` is the rank count and the level of the
    ranks."""

    where: tuple[int, str, int]
    low: float
    high: float


def sizes_between(observations: Sequence[Observation], most: int) -> list[Case]:
    """Cases like the observed ones with up to `most` additional sizes: first in the gap of each curve with
    the largest effect and in wide gaps in which another curve jumps, then in each curve's next gap."""
    wanted: dict[Case, tuple[int, float]] = {}
    curves = [(curve, list(_gaps(curve))) for curve in _curves(observations)]
    jumps = {jump for curve, gaps in curves for jump in _jumps(curve, gaps)}
    for curve, own in curves:
        gaps = [*enumerate(sorted(own, key=lambda gap: -gap.effect))]
        gaps += [(0, gap) for gap in _with_jumps_of_others(curve, jumps)]
        for place, gap in gaps:
            for case in _cases_in(curve[gap.row - 1], curve[gap.row], gap.parts):
                wanted[case] = min((place, -gap.effect), wanted.get(case, (place, 0.0)))
    return sorted(wanted, key=lambda case: (*wanted[case], case.line))[:most]


def _curves(observations: Sequence[Observation]) -> Iterator[list[Observation]]:
    """For each subject of a piecewise model, observations with the same rank count that differ only in size,
    ascending."""
    for model in all_models():
        if not model.in_pieces:
            continue
        for group in model.subjects(observations).values():
            by_ranks = defaultdict(list)
            for seen in group:
                if seen.workload.size_unit == "B" and seen.size > 0:
                    by_ranks[seen.case.ranks].append(seen)
            for curve in by_ranks.values():
                if len({seen.size for seen in curve}) == len(curve) >= MIN_SIZES:
                    yield sorted(curve, key=lambda seen: seen.size)


def _gaps(curve: Sequence[Observation]) -> Iterator[Gap]:
    sizes = np.array([seen.size for seen in curve])
    table = tabulate(curve)
    fit = fit_piecewise(sizes, table)
    yield from _gaps_of_changes(sizes, fit)
    miss = np.abs(np.log(fit.times / fit.center.time(sizes)[0]))
    missed = (miss > MIN_MISS) & (miss > MISS_DEVIATIONS * np.sqrt(table.variance))
    for row in np.flatnonzero(missed):
        for end in (row, row + 1):  # of the gap below the missed size, and of the one above
            if 0 < end < len(sizes):
                yield Gap(int(end), float(miss[row]), 3)


def _gaps_of_changes(sizes: np.ndarray, fit: Piecewise) -> Iterator[Gap]:
    """All gaps in which a change may lie, with the error if the other side's line held next to it."""
    for change, (before, after) in zip(fit.changes(), pairwise(fit.lines), strict=True):
        edges = sizes[after.first - 1 : after.first + 1]
        times = [line.center[0] + line.center[1] * edges for line in (before, after)]
        if after.center[0] < 0:  # such a line does not hold below the time at which the one before ends
            times[1] = np.maximum(times[1], min(times[0][0], times[1][1]))
        effect = float(np.max(np.abs(np.log(times[0] / times[1]))))
        low, high = change.low or 0.0, change.high or np.inf
        rows = [row for row in range(1, len(sizes)) if low <= sizes[row - 1] and sizes[row] <= high]
        if effect > MIN_EFFECT:
            jump = len(rows) == 1 and bool(np.min(times[1] / times[0]) > JUMP)
            yield from (Gap(row, effect, 3 if len(rows) == 1 else 1, jump) for row in rows)


def _jumps(curve: Sequence[Observation], gaps: Iterable[Gap]) -> Iterator[Jump]:
    for gap in gaps:
        before, after = curve[gap.row - 1 : gap.row + 1]
        if gap.jump and before.size >= SMALLEST:
            yield Jump(_where(after.case), before.size, after.size)


def _where(case: Case) -> tuple[int, str, int]:
    return case.ranks, case.place, case.nodes


def _with_jumps_of_others(curve: Sequence[Observation], jumps: Collection[Jump]) -> Iterator[Gap]:
    """Wide gaps over which the cost rises and in which other curves jump."""
    for row in range(1, len(curve)):
        before, after = curve[row - 1], curve[row]
        rise = ratio(after, before).value
        if after.size <= FAR * before.size or rise <= JUMP:
            continue
        inside = any(
            jump.where == _where(after.case)
            and before.size <= jump.low
            and jump.high <= after.size
            and jump.high - jump.low < after.size - before.size
            for jump in jumps
        )
        if inside:
            yield Gap(row, float(np.log(rise)), 1)


def _cases_in(before: Observation, after: Observation, parts: int) -> Iterator[Case]:
    low, high = before.size, after.size
    if low < SMALLEST or high / low <= NEAR:
        return
    step = COARSE if low >= COARSE_FROM else FINE
    count = parts if high / low > WIDE else 1
    for k in range(1, count + 1):
        size = step * round(low * (high / low) ** (k / (count + 1)) / step)
        if low < size < high:
            yield before.case.with_parameter(before.workload.size, size)
