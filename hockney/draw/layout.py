# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Layout of a figure on its scales, shared by all renderers."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from hockney.core.errors import one_line
from hockney.draw.figure import Figure, Series
from hockney.draw.ticks import ZERO_OCTAVES, Scale, is_drawable, make_scale

# Intervals may stretch the y axis by this factor beyond the values; the rest of a long one is cut off.
STRETCH = 2.5
# Pixels: the maximum width of a label's character (11.5 px type), and the widths of the narrowest figure
# (on a phone) and of what is left of it next to the names of rows.
CHARACTER, MIN_WIDTH, BESIDE_NAMES = 6.2, 265, 130
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
    """A bar of a series of kind `bars`: from `start` to `end` on the y axis, in the row at `x`. `k` is its
    index in the series."""

    x: float
    start: float
    end: float
    k: int

    @property
    def sides(self) -> tuple[float, float]:
        """Edges of the bar on the x axis."""
        return self.x - BAR_HEIGHT / 2, self.x + BAR_HEIGHT / 2


@dataclass(frozen=True)
class CutOff:
    """The position `at` one end of the y axis where an error bar is cut off, at the high or the low end."""

    x: float
    at: float
    high: bool


@dataclass(frozen=True)
class Mark:
    """A labelled vertical line at the position `at` on the horizontal axis. Labels that would overlap are in
    different rows, 0 lowest."""

    at: float
    label: str
    row: int
    anchor: Literal["left", "center", "right"]


@dataclass(frozen=True)
class Picture:
    """A figure laid out on its scales. `gap` is the position of a line that separates zero from the rest of a
    log axis."""

    x: Scale
    y: Scale
    marks: tuple[Mark, ...]
    gap: float | None

    @property
    def mark_rows(self) -> int:
        return max((mark.row + 1 for mark in self.marks), default=0)

    def bar(self, series: Series, k: int) -> Bar:
        """k-th error bar; None if the value itself is not drawn."""
        y = self.y.place(series.y[k])
        if y is None or not series.low:
            return Bar(0.0, 0.0)
        low, high = self._inside(series.low[k], y), self._inside(series.high[k], y)
        return Bar(max(high - y, 0.0), max(y - low, 0.0))

    def blocks(self, series: Series) -> list[BarSpan]:
        """Bars of a series of kind `bars` with a nonzero length."""
        spans = []
        for k, (x, start, length) in enumerate(zip(series.x, series.starts, series.y, strict=True)):
            position, start_position, end_position = (
                self.x.place(x),
                self.y.place(start),
                self.y.place(start + length),
            )
            if position is not None and start_position is not None and end_position is not None and length:
                spans.append(BarSpan(position, start_position, end_position, k))
        return spans

    def cut_offs(self, series: Series) -> list[CutOff]:
        """Positions where error bars extend beyond the axis."""
        cut_offs = []
        for k in range(len(series.x)):
            x, y, bar = self.x.place(series.x[k]), self.y.place(series.y[k]), self.bar(series, k)
            if x is None or y is None:
                continue
            if y + bar.above > self.y.high:
                cut_offs.append(CutOff(x, self.y.high, True))
            if y - bar.below < self.y.low:
                cut_offs.append(CutOff(x, self.y.low, False))
        return cut_offs

    def path(self, series: Series) -> list[tuple[float | None, int | None]]:
        """Points of the line as (position, index), sorted; (None, None) breaks the line.

        At 0 on a log axis, the model is drawn as a separate dash. A line to the smallest size would suggest
        values that are not on the axis.
        """
        points: list[tuple[float | None, int | None]] = []
        for k in sorted(range(len(series.x)), key=lambda k: series.x[k]):
            x = self.x.place(series.x[k])
            if x is None or self.y.place(series.y[k]) is None:
                continue
            if x == self.x.zero:
                points += [(position, k) for position in self._dash(x)] + [(None, None)]
            else:
                points.append((x, k))
        return points

    def bands(self, series: Series) -> list[list[tuple[float, float, float]]]:
        """Contiguous parts of the band as (position, low, high)."""
        bands: list[list[tuple[float, float, float]]] = [[]]
        for x, k in self.path(series) if series.low else []:
            if x is None or k is None:
                bands.append([])
            elif is_drawable(series.low[k]) and is_drawable(series.high[k]):
                bands[-1].append(
                    (x, self._inside(series.low[k], series.y[k]), self._inside(series.high[k], series.y[k]))
                )
        return [band for band in bands if len(band) > 1]

    def _inside(self, bound: float, fallback: float) -> float:
        """Clip the bound of an interval to the axis. On a log axis, 0 and negative values are beyond the
        edge."""
        if not is_drawable(bound):
            return fallback
        return max(bound, self.y.low / 10) if self.y.axis.scale == "log" else bound

    @staticmethod
    def _dash(zero: float) -> Iterator[float]:
        return (zero * 2**shift for shift in (-0.3 * ZERO_OCTAVES, 0.3 * ZERO_OCTAVES))


@functools.lru_cache(maxsize=1)
def lay_out(figure: Figure) -> Picture:
    """Lay out a figure. The last layout is cached, as a page draws each figure twice."""
    x = make_scale(
        figure.x, (value for series in figure.series for value in series.x), _integer_values(figure)
    )
    y = make_scale(figure.y, _value_range(figure))
    gap = x.zero * 2 ** (ZERO_OCTAVES / 2) if x.zero is not None else None
    return Picture(x, y, _marks(figure, y if figure.x.names else x), gap)


def _integer_values(figure: Figure) -> list[float]:
    """Values of an axis of counts: integers with a unit that is a plain word."""
    values = [float(value) for series in figure.series if series.kind == "points" for value in series.x]
    is_count = figure.x.unit not in ("s", "B", "B/s") and all(value.is_integer() for value in values)
    return values if is_count and len(set(values)) <= 40 else []


def _value_range(figure: Figure) -> list[float]:
    drawn_values = [
        value
        for series in figure.series
        for value in (_bar_bounds(series) if series.kind == "bars" else series.y)
    ]
    values = [
        value for value in drawn_values if is_drawable(value) and (value > 0 or figure.y.scale == "linear")
    ]
    if not values:
        return []
    smallest, largest = min(values), max(values)
    if figure.y.scale == "log":
        bottom, top = smallest / STRETCH, largest * STRETCH
    else:
        bottom, top = smallest - 0.5 * (largest - smallest), largest + 0.5 * (largest - smallest)
    bottom, top = min((bottom, *figure.y.include)), max((top, *figure.y.include))
    bounds = [
        value
        for series in figure.series
        if series.kind == "points"
        for value in (*series.low, *series.high)
        if bottom <= value <= top
    ]
    return values + bounds


def _bar_bounds(series: Series) -> list[float]:
    """Values at which bars begin, followed by values at which they end."""
    return [*series.starts, *(start + length for start, length in zip(series.starts, series.y, strict=True))]


def _marks(figure: Figure, x: Scale) -> tuple[Mark, ...]:
    """Place the marks. Rows are computed for the narrowest figure, so that labels do not overlap at any
    width."""
    longest = max(map(len, figure.x.names), default=0)
    character = CHARACTER / max(BESIDE_NAMES, MIN_WIDTH - CHARACTER * longest)
    row_ends: list[float] = []
    marks = []
    for value, text in sorted(figure.marks):
        position = x.place(value)
        if position is None or not x.low <= position <= x.high:
            continue
        label, where = one_line(text), x.fraction(position)
        width = len(label) * character
        anchor: Literal["left", "center", "right"] = (
            "left" if where < 0.35 else "right" if where > 0.65 else "center"
        )
        start = where - {"left": 0.0, "center": width / 2, "right": width}[anchor]
        row = next(
            (row_index for row_index, row_end in enumerate(row_ends) if row_end + character < start),
            len(row_ends),
        )
        if not label or row == MAX_ROWS:  # the line is drawn, but its label would push the figure down
            marks.append(Mark(position, "", 0, anchor))
            continue
        row_ends[row : row + 1] = [start + width]
        marks.append(Mark(position, label, row, anchor))
    return tuple(marks)


MAX_ENTRIES = 8
"""The maximum number of legend entries. With more series, the points and the line of a group share an
entry."""


@dataclass(frozen=True)
class Entry:
    """A legend entry. `series` contains the indices of its series in order. The entry shows the symbol of
    `points`, which may be bars, the line of `line`, or both."""

    name: str
    series: tuple[int, ...]
    points: int | None
    line: int | None


def entries(series: tuple[Series, ...]) -> list[Entry]:
    """Legend entries in the order of the series. A group shares an entry if some of its points have the
    group's name, so that the name describes the whole group."""
    named_groups = {
        candidate.group
        for candidate in series
        if candidate.group and candidate.kind == "points" and candidate.name == candidate.group
    }
    fully_named_groups = named_groups & {
        candidate.group
        for candidate in series
        if candidate.kind == "line" and candidate.name == candidate.group
    }
    series_indices: dict[str, list[int]] = {}
    for k, member in enumerate(series):
        is_shared = member.group in (named_groups if len(series) > MAX_ENTRIES else fully_named_groups)
        series_indices.setdefault(f"group {member.group}" if is_shared else f"series {k}", []).append(k)
    return [_entry(series, tuple(indices)) for indices in series_indices.values()]


def _entry(series: tuple[Series, ...], indices: tuple[int, ...]) -> Entry:
    points = next((k for k in indices if series[k].kind != "line"), None)
    line = next((k for k in indices if series[k].kind == "line"), None)
    name = series[indices[0]].name if len(indices) == 1 else series[indices[0]].group
    return Entry(name, indices, points, line)
