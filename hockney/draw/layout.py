# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Common to both ways of drawing: a figure laid out on its scales, before any library draws it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hockney.core.errors import one_line
from hockney.draw.figure import Figure, Series
from hockney.draw.ticks import ZERO_OCTAVES, Scale, drawable, scale

# Intervals may stretch the y axis by this factor beyond the values; the rest of a long one is cut off.
STRETCH = 2.5
# Pixels: the maximum width of a label's character (11.5 px type), and the widths of the narrowest figure
# (on a phone) and of what is left of it next to the names of rows.
CHARACTER, NARROWEST, BESIDE_NAMES = 6.2, 265, 130
# Maximum number of rows of labels of marks.
MAX_ROWS = 3


@dataclass(frozen=True)
class Bar:
    """Lengths of an error bar above and below its value."""

    above: float
    below: float


BAR_HEIGHT = 0.72
"""The height of a bar of `Kind`, as a part of its row."""


@dataclass(frozen=True)
class BarSpan:
    """A bar of the kind `bars`: from `start` to `end` on the y axis, in the row at `x`. `k` is its index in
    the series."""

    x: float
    start: float
    end: float
    k: int

    @property
    def sides(self) -> tuple[float, float]:
        """The edges of the bar on the x axis."""
        return self.x - BAR_HEIGHT / 2, self.x + BAR_HEIGHT / 2


@dataclass(frozen=True)
class CutOff:
    """The place `at` one end of the y axis where an error bar is cut off: at the high end or the low one."""

    x: float
    at: float
    high: bool


@dataclass(frozen=True)
class Mark:
    """A labelled vertical line at `at`, a position on the horizontal axis; labels that would overlap are in
    different rows, 0 lowest."""

    at: float
    label: str
    row: int
    anchor: Literal["left", "center", "right"]


@dataclass(frozen=True)
class Picture:
    """`gap` is where a line separates the position of zero from the rest of a log axis."""

    x: Scale
    y: Scale
    marks: tuple[Mark, ...]
    gap: float | None

    @property
    def mark_rows(self) -> int:
        return max((mark.row + 1 for mark in self.marks), default=0)

    def bar(self, series: Series, k: int) -> Bar:
        """The k-th error bar; None if the value itself is not drawn."""
        y = self.y.place(series.y[k])
        if y is None or not series.low:
            return Bar(0.0, 0.0)
        low, high = self._inside(series.low[k], y), self._inside(series.high[k], y)
        return Bar(max(high - y, 0.0), max(y - low, 0.0))

    def blocks(self, series: Series) -> list[BarSpan]:
        """The bars of the kind `bars` that have a length."""
        spans = []
        for k, (x, start, length) in enumerate(zip(series.x, series.starts, series.y, strict=True)):
            at, first, last = self.x.place(x), self.y.place(start), self.y.place(start + length)
            if at is not None and first is not None and last is not None and length:
                spans.append(BarSpan(at, first, last, k))
        return spans

    def cut_offs(self, series: Series) -> list[CutOff]:
        """The places where error bars extend beyond the axis."""
        result = []
        for k in range(len(series.x)):
            x, y, bar = self.x.place(series.x[k]), self.y.place(series.y[k]), self.bar(series, k)
            if x is None or y is None:
                continue
            if y + bar.above > self.y.high:
                result.append(CutOff(x, self.y.high, True))
            if y - bar.below < self.y.low:
                result.append(CutOff(x, self.y.low, False))
        return result

    def path(self, series: Series) -> list[tuple[float | None, int | None]]:
        """The line's points as (position, index), sorted; (None, None) breaks it.

        At 0 on a log axis the model is a separate dash: a line from there to the smallest size would suggest
        values that the axis does not have.
        """
        result: list[tuple[float | None, int | None]] = []
        for k in sorted(range(len(series.x)), key=lambda k: series.x[k]):
            x = self.x.place(series.x[k])
            if x is None or self.y.place(series.y[k]) is None:
                continue
            if x == self.x.zero:
                result += [(at, k) for at in self._dash(x)] + [(None, None)]
            else:
                result.append((x, k))
        return result

    def bands(self, series: Series) -> list[list[tuple[float, float, float]]]:
        """Pieces of the band as (position, low, high)."""
        pieces: list[list[tuple[float, float, float]]] = [[]]
        for x, k in self.path(series) if series.low else []:
            if x is None or k is None:
                pieces.append([])
            elif drawable(series.low[k]) and drawable(series.high[k]):
                pieces[-1].append(
                    (x, self._inside(series.low[k], series.y[k]), self._inside(series.high[k], series.y[k]))
                )
        return [piece for piece in pieces if len(piece) > 1]

    def _inside(self, end: float, fallback: float) -> float:
        """An interval's end clipped to the axis: on a log axis, 0 or less lies beyond the edge."""
        if not drawable(end):
            return fallback
        return max(end, self.y.low / 10) if self.y.axis.scale == "log" else end

    @staticmethod
    def _dash(zero: float) -> Iterator[float]:
        return (zero * 2**shift for shift in (-0.3 * ZERO_OCTAVES, 0.3 * ZERO_OCTAVES))


@functools.lru_cache(maxsize=1)
def lay_out(figure: Figure) -> Picture:
    """The last one is cached: a page draws each figure twice."""
    x = scale(figure.x, (v for s in figure.series for v in s.x), _counts(figure))
    y = scale(figure.y, _heights(figure))
    gap = x.zero * 2 ** (ZERO_OCTAVES / 2) if x.zero is not None else None
    return Picture(x, y, _marks(figure, y if figure.x.names else x), gap)


def _counts(figure: Figure) -> list[float]:
    """The values of an axis that counts things: integers with a unit that is a plain word."""
    places = [float(v) for s in figure.series if s.kind == "points" for v in s.x]
    is_count = figure.x.unit not in ("s", "B", "B/s") and all(v.is_integer() for v in places)
    return places if is_count and len(set(places)) <= 40 else []


def _heights(figure: Figure) -> list[float]:
    drawn_values = [v for s in figure.series for v in (_ends(s) if s.kind == "bars" else s.y)]
    values = [v for v in drawn_values if drawable(v) and (v > 0 or figure.y.scale == "linear")]
    if not values:
        return []
    smallest, largest = min(values), max(values)
    if figure.y.scale == "log":
        bottom, top = smallest / STRETCH, largest * STRETCH
    else:
        bottom, top = smallest - 0.5 * (largest - smallest), largest + 0.5 * (largest - smallest)
    bottom, top = min((bottom, *figure.y.include)), max((top, *figure.y.include))
    ends = [v for s in figure.series if s.kind == "points" for v in (*s.low, *s.high) if bottom <= v <= top]
    return values + ends


def _ends(series: Series) -> list[float]:
    """The values at which bars begin, then those at which they end."""
    return [*series.starts, *(a + b for a, b in zip(series.starts, series.y, strict=True))]


def _marks(figure: Figure, x: Scale) -> tuple[Mark, ...]:
    """Rows are computed for the narrowest figure, so that labels do not overlap at any width."""
    longest = max(map(len, figure.x.names), default=0)
    character = CHARACTER / max(BESIDE_NAMES, NARROWEST - CHARACTER * longest)
    ends: list[float] = []
    result = []
    for at, text in sorted(figure.marks):
        placed = x.place(at)
        if placed is None or not x.low <= placed <= x.high:
            continue
        label, where = one_line(text), x.fraction(placed)
        width = len(label) * character
        anchor: Literal["left", "center", "right"] = (
            "left" if where < 0.35 else "right" if where > 0.65 else "center"
        )
        start = where - {"left": 0.0, "center": width / 2, "right": width}[anchor]
        row = next((r for r, end in enumerate(ends) if end + character < start), len(ends))
        if not label or row == MAX_ROWS:  # the line is drawn, but its label would push the figure down
            result.append(Mark(placed, "", 0, anchor))
            continue
        ends[row : row + 1] = [start + width]
        result.append(Mark(placed, label, row, anchor))
    return tuple(result)


MAX_ENTRIES = 8
"""The maximum number of legend entries. With more series, the points and the line of a group share an
entry."""


@dataclass(frozen=True)
class Entry:
    """The indices of its series, in order. The entry is drawn as the symbol of `points`, which may be bars,
    the line of `line`, or both."""

    name: str
    series: tuple[int, ...]
    points: int | None
    line: int | None


def entries(series: tuple[Series, ...]) -> list[Entry]:
    """Legend entries in the order of the series. A group shares an entry only if some of its points have the
    group's name, so that the name describes all of it; always if its line has that name too."""
    named = {s.group for s in series if s.group and s.kind == "points" and s.name == s.group}
    twins = named & {s.group for s in series if s.kind == "line" and s.name == s.group}
    together: dict[str, list[int]] = {}
    for k, each in enumerate(series):
        shared = each.group in (named if len(series) > MAX_ENTRIES else twins)
        together.setdefault(f"group {each.group}" if shared else f"series {k}", []).append(k)
    return [_entry(series, tuple(indices)) for indices in together.values()]


def _entry(series: tuple[Series, ...], indices: tuple[int, ...]) -> Entry:
    points = next((k for k in indices if series[k].kind != "line"), None)
    line = next((k for k in indices if series[k].kind == "line"), None)
    name = series[indices[0]].name if len(indices) == 1 else series[indices[0]].group
    return Entry(name, indices, points, line)
