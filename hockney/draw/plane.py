# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Common to all ways of drawing a plane: its grid on scales, contour lines, and the positions of their
labels."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from hockney.core.errors import one_line
from hockney.core.units import thin
from hockney.draw.figure import Axis, Plane
from hockney.draw.ticks import Scale, scale

if TYPE_CHECKING:
    import numpy as np

Place = tuple[float, float]
Box = tuple[float, float, float, float]
Spot = tuple[float, float, float]
# The camera's direction, in degrees: low x and y in front, so that what grows along x is seen rising.
ELEVATION, AZIMUTH = 26.0, -122.0
# The axes' lengths in space.
BOX = (1.2, 1.2, 0.85)
# A finer mesh does not look better, and makes a large file.
CELLS = 12
# The space for a label of a contour line, relative to the picture: a character's width, a line's height, the
# margin around it.
LABEL_WIDTH, LABEL_HEIGHT, LABEL_ROOM = 0.014, 0.056, 0.02
# Positions along a line to try for its label, best first.
ALONG = (0.5, 0.42, 0.58, 0.33, 0.67, 0.25, 0.75, 0.17, 0.83, 0.1, 0.9)


@dataclass(frozen=True)
class Contour:
    """The line z = `value` of a sheet in pieces. Positions are fractions of both axes, 0 to 1 from the low
    end; `label_at` is None if the label would overlap another one."""

    value: float
    label: str
    pieces: tuple[tuple[Place, ...], ...]
    label_at: Place | None


@dataclass(frozen=True)
class Relief:
    """`columns` and `rows` index those values of the plane's grid that the axes can show; `across` and
    `along` are their positions as fractions of the axes. `contours` has a tuple for each sheet."""

    plane: Plane
    x: Scale
    y: Scale
    z: Scale
    columns: tuple[int, ...]
    rows: tuple[int, ...]
    across: tuple[float, ...]
    along: tuple[float, ...]
    contours: tuple[tuple[Contour, ...], ...]

    def height(self, sheet: int, row: int, column: int) -> float | None:
        """z at a point of the plane's grid; None if there is nothing to draw."""
        return self.z.place(self.plane.sheets[sheet].z[row][column])


@functools.lru_cache(maxsize=1)
def relief(plane: Plane) -> Relief:
    """The plane laid out; the last one is cached, since a page draws each plane twice. Raises ValueError if a
    sheet's z does not have the grid's shape."""
    for sheet in plane.sheets:
        if len(sheet.z) != len(plane.grid_y) or any(len(row) != len(plane.grid_x) for row in sheet.z):
            raise ValueError(f"sheet '{sheet.name}' does not have the form of its plane's grid")
    x, y = _tight(plane.x, plane.grid_x), _tight(plane.y, plane.grid_y)
    z = scale(plane.z, (v for sheet in plane.sheets for row in sheet.z for v in row))
    columns, across = _placed(x, plane.grid_x)
    rows, along = _placed(y, plane.grid_y)
    shown = Relief(plane, x, y, z, columns, rows, across, along, ())
    return replace(shown, contours=_contours(shown) if len(columns) > 1 and len(rows) > 1 else _none(plane))


def _tight(axis: Axis, values: tuple[float, ...]) -> Scale:
    """A plane fills its axes from end to end; whole numbers of things have ticks of their own."""
    whole = axis.unit not in ("", "s", "B", "B/s", "%") and all(float(v).is_integer() for v in values)
    fitted = scale(axis, values, values if whole and len(values) <= 40 else ())
    places = [p for p in map(fitted.place, values) if p is not None]
    if len(set(places)) < 2:
        return fitted
    return replace(fitted, low=min(places), high=max(places))


def _placed(axis: Scale, values: tuple[float, ...]) -> tuple[tuple[int, ...], tuple[float, ...]]:
    places = {k: axis.place(v) for k, v in enumerate(values)}
    kept = {k: axis.fraction(p) for k, p in places.items() if p is not None}
    return tuple(kept), tuple(kept.values())


def _none(plane: Plane) -> tuple[tuple[Contour, ...], ...]:
    return tuple(() for _ in plane.sheets)


def _contours(shown: Relief) -> tuple[tuple[Contour, ...], ...]:
    """Labels of the last sheet give way to those of the first."""
    taken: list[Box] = []
    return tuple(
        tuple(_contour(lines, level, taken) for lines, level in _lines(shown, k))
        for k in range(len(shown.plane.sheets))
    )


def _lines(shown: Relief, sheet: int) -> Iterator[tuple[list[np.ndarray], tuple[float, str]]]:
    """For each level the pieces of its line, straight between the values of the grid as drawn."""
    # Imported here, since importing numpy takes longer than most verbs; it comes with matplotlib.
    import numpy as np
    from contourpy import contour_generator

    heights = [
        [_fraction(shown.z, shown.height(sheet, row, column)) for column in shown.columns]
        for row in shown.rows
    ]
    lines = contour_generator(shown.across, shown.along, np.ma.masked_invalid(np.array(heights)))
    for level in shown.plane.sheets[sheet].levels:
        place = shown.z.place(level[0])
        drawn = [] if place is None else cast("list[np.ndarray]", lines.lines(shown.z.fraction(place)))
        yield drawn, level


def _fraction(axis: Scale, place: float | None) -> float:
    return float("nan") if place is None else axis.fraction(place)


def _contour(lines: list[np.ndarray], level: tuple[float, str], taken: list[Box]) -> Contour:
    pieces = tuple(tuple((float(u), float(v)) for u, v in line) for line in lines if len(line) > 1)
    label = one_line(level[1])
    return Contour(level[0], label, pieces, _label_place(pieces, label, taken) if label else None)


def _label_place(pieces: Iterable[tuple[Place, ...]], label: str, taken: list[Box]) -> Place | None:
    longest = max(pieces, key=_length, default=())
    width, height = LABEL_WIDTH * len(label) / 2 + LABEL_ROOM, LABEL_HEIGHT / 2
    for part in ALONG if longest else ():
        u, v = _walked(longest, part)
        box = (u - width, v - height, u + width, v + height)
        inside = box[0] >= 0 and box[1] >= 0 and box[2] <= 1 and box[3] <= 1
        if inside and not any(_meet(box, other) for other in taken):
            taken.append(box)
            return u, v
    return None


def _steps(line: tuple[Place, ...]) -> list[float]:
    return [((c - a) ** 2 + (d - b) ** 2) ** 0.5 for (a, b), (c, d) in pairwise(line)]


def _length(line: tuple[Place, ...]) -> float:
    return sum(_steps(line))


def _walked(line: tuple[Place, ...], part: float) -> Place:
    """The point on the line after this fraction of its length."""
    left = part * _length(line)
    for (a, b), (c, d), step in zip(line, line[1:], _steps(line), strict=False):
        if step >= left > 0 or (step > 0 and left <= 0):
            return a + (c - a) * left / step, b + (d - b) * left / step
        left -= step
    return line[-1]


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def cells(shown: Relief) -> Iterator[tuple[int, tuple[Spot, ...]]]:
    """A mesh on the surfaces: each cell's sheet and its four corners as fractions of the axes."""
    columns, rows = (thin(range(len(lines)), CELLS + 1) for lines in (shown.columns, shown.rows))
    for k in range(len(shown.plane.sheets)):
        lines = [[_corner(shown, k, j, i) for i in columns] for j in rows]
        for near, far in pairwise(lines):
            for (a, b), (d, c) in zip(pairwise(near), pairwise(far), strict=True):
                if a is not None and b is not None and c is not None and d is not None:
                    yield k, (a, b, c, d)


def _corner(shown: Relief, sheet: int, j: int, i: int) -> Spot | None:
    height = shown.height(sheet, shown.rows[j], shown.columns[i])
    return None if height is None else (shown.across[i], shown.along[j], shown.z.fraction(height))


def flat(axis: Scale, fraction: float) -> float:
    """The axis' value at this fraction of it."""
    if axis.axis.scale == "log":
        return axis.low * (axis.high / axis.low) ** fraction
    return axis.low + fraction * (axis.high - axis.low)
