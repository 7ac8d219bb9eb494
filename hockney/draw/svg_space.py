# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A plane's surfaces as SVG: projected here, painted from far to near."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from hockney.draw.describe import axis_title
from hockney.draw.palette import LIGHT
from hockney.draw.plane import AZIMUTH, BOX, ELEVATION, Relief, Spot, cells
from hockney.draw.svg_axes import TICK, said, straight
from hockney.draw.svg_elements import (
    SIZE,
    Anchor,
    Label,
    Point,
    element,
    number,
    path,
    shortened,
    svg,
    text_width,
)
from hockney.draw.ticks import Scale

# Units per unit of BOX, and the camera's distance in these: parallel lines remain nearly parallel.
SIDE, DISTANCE = 150.0, 10.7
_SIN_E, _COS_E = math.sin(math.radians(ELEVATION)), math.cos(math.radians(ELEVATION))
_SIN_A, _COS_A = math.sin(math.radians(AZIMUTH)), math.cos(math.radians(AZIMUTH))


def surfaces(shown: Relief, legend: str, legend_height: float, width: float, height: float) -> Markup:
    """The picture, with a minimum size: a narrower one would be shown larger than its neighbor."""
    edges = [_Edge(shown.x, *FLOOR_X), _Edge(shown.y, *FLOOR_Y), _Edge(shown.z, *UPRIGHT)]
    words = [label for edge in edges for label in edge.words()]
    corners = [seen((u, v, w)) for u in (0, 1) for v in (0, 1) for w in (0, 1)]
    taken = corners + [corner for label in words for corner in label.corners]
    left, right = min(x for x, _ in taken), max(x for x, _ in taken)
    top, bottom = min(y for _, y in taken) - legend_height - 8, max(y for _, y in taken) + 2
    top = min(top, bottom - height)
    spare = max(width - (right - left), 0.0)
    left, right = left - spare / 2, right + spare / 2
    moved = element("g", legend, transform=f"translate({number(left)} {number(top)})") if legend else ""
    parts = [
        moved,
        straight("".join(line for edge in edges for line in edge.grid()), "var(--grid)"),
        straight("".join(line for edge in edges for line in edge.lines()), "var(--line)"),
        *_cells(shown),
        said(words),
    ]
    return svg(parts, left, top, right - left, bottom - top)


def _cells(shown: Relief) -> Iterable[str]:
    """Common attributes are in the page's style sheet, since there are hundreds of cells."""
    mesh = list(cells(shown))
    # Four cells share a corner.
    places = {corner: seen(corner) for _, corners in mesh for corner in corners}
    for sheet, corners in sorted(mesh, key=lambda cell: sum(map(nearness, cell[1]))):
        outline = path((places[corner] for corner in corners), close=True)
        yield f'<path class="m{sheet % len(LIGHT.series) + 1}" d="{outline}"/>'


def seen(spot: Spot) -> Point:
    """The projection of a point of the unit cube, whose centre is at 0."""
    a, b, c = _moved(spot)
    size = SIDE * DISTANCE / (DISTANCE - nearness(spot))
    right = -_SIN_A * a + _COS_A * b
    up = _COS_E * c - _SIN_E * (_COS_A * a + _SIN_A * b)
    return size * right, -size * up


def nearness(spot: Spot) -> float:
    """How far a point is in front of the cube's centre."""
    a, b, c = _moved(spot)
    return _COS_E * (_COS_A * a + _SIN_A * b) + _SIN_E * c


def _moved(spot: Spot) -> Spot:
    u, v, w = spot
    return BOX[0] * (u - 0.5), BOX[1] * (v - 0.5), BOX[2] * (w - 0.5)


Course = Callable[[float], tuple[Spot, ...]]
# The positions of an axis' fraction, and the ends of its grid line. These edges are never hidden: the near
# ones of the floor, and the upright one at the left.
FLOOR_X: tuple[Callable[[float], Spot], Course] = (
    lambda f: (f, 0, 0),
    lambda f: ((f, 0, 0), (f, 1, 0), (f, 1, 1)),
)
FLOOR_Y: tuple[Callable[[float], Spot], Course] = (
    lambda f: (0, f, 0),
    lambda f: ((0, f, 0), (1, f, 0), (1, f, 1)),
)
UPRIGHT: tuple[Callable[[float], Spot], Course] = (
    lambda f: (0, 1, f),
    lambda f: ((0, 1, f), (1, 1, f), (1, 0, f)),
)


@dataclass(frozen=True)
class _Edge:
    """An axis in space, with ticks and labels on its outer side."""

    scale: Scale
    at: Callable[[float], Spot]
    course: Course

    @functools.cached_property
    def length(self) -> float:
        return math.dist(seen(self.at(0)), seen(self.at(1)))

    @functools.cached_property
    def along(self) -> Point:
        (x0, y0), (x1, y1) = seen(self.at(0)), seen(self.at(1))
        return (x1 - x0) / self.length, (y1 - y0) / self.length

    @functools.cached_property
    def outward(self) -> Point:
        dx, dy = self.along
        x, y = seen(self.at(0.5))
        # The cube's centre is at (0, 0).
        return (-dy, dx) if -dy * x + dx * y > 0 else (dy, -dx)

    @functools.cached_property
    def ticks(self) -> list[tuple[float, str]]:
        """As (fraction, label): two labels may stand next to each other or one above the other."""
        dx, dy = (max(abs(part), 1e-3) for part in self.along)
        ticks = self.scale.ticks(self.length, lambda text: min((text_width(text) + 2) / dx, 1.7 * SIZE / dy))
        return [(self.scale.fraction(v), t) for v, t in zip(ticks.values, ticks.labels, strict=True)]

    def grid(self) -> list[str]:
        """Including the outline of the walls."""
        return [path(map(seen, self.course(f))) for f in (*(f for f, _ in self.ticks), 1.0)]

    def lines(self) -> list[str]:
        ticks = [path([seen(self.at(f)), self._outside(f, TICK)]) for f, _ in self.ticks]
        return [path([seen(self.at(0)), seen(self.at(1))]), *ticks]

    def words(self) -> list[Label]:
        x, y = self.outward
        anchor: Anchor = "start" if x > 0.1 else "end" if x < -0.1 else "middle"
        places = [(self._outside(f, TICK + 4), t) for f, t in self.ticks]
        # Below a slanted edge, so that the labels of two edges do not overlap in their corner.
        ticks = [Label(at[0], at[1] + 0.5 * SIZE * y, t, anchor) for at, t in places]
        far = max((text_width(t) * abs(x) for _, t in self.ticks), default=0.0) + SIZE * abs(y)
        title = shortened(axis_title(self.scale.axis), 1.2 * self.length)
        middle = self._outside(0.5, TICK + 4 + far + SIZE)
        return [*ticks, Label(*middle, title, angle=self._angle)]

    @property
    def _angle(self) -> float:
        """The angle of the edge, never upside down."""
        dx, dy = self.along
        angle = math.degrees(math.atan2(dy, dx))
        return angle if -95 < angle < 85 else angle - math.copysign(180, angle)

    def _outside(self, fraction: float, distance: float) -> Point:
        x, y = seen(self.at(fraction))
        return x + distance * self.outward[0], y + distance * self.outward[1]
