# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The symbols of points in the pictures inside a page."""

from __future__ import annotations

import math

from hockney.draw.palette import SYMBOLS, Look
from hockney.draw.svg_elements import Point, element, number, path, slot

BAR = 1.0
"""The width of outlines and error bars."""
RADIUS = 2.5


def symbols(places: list[Point], look: Look) -> str:
    """One path for all points of a series: to each position, then around it."""
    shape = SHAPES[SYMBOLS[look.symbol][0]]
    colour = slot(look.slot)
    outline = "".join(f"M{number(x)} {number(y)}{shape}" for x, y in places)
    return element(
        "path", d=outline, fill="var(--card)" if look.hollow else colour, stroke=colour, stroke_width=BAR
    )


def _outline(corners: list[Point]) -> str:
    """The path from the centre to the first corner, then around the symbol."""
    return "m" + path([(RADIUS * x, RADIUS * y) for x, y in corners], close=True)[1:]


def _star() -> list[Point]:
    turns = [(k * math.pi / 5, 1.35 if k % 2 == 0 else 0.58) for k in range(10)]
    return [(r * math.sin(turn), -r * math.cos(turn)) for turn, r in turns]


_CROSS = [(-a * s, -b * t) for s, t, order in ((1, 1, 1), (-1, 1, -1), (-1, -1, 1), (1, -1, -1))
          for a, b in ((1.1, 0.4), (0.4, 0.4), (0.4, 1.1))[::order]]  # fmt: skip
_HALVES = (2 * RADIUS, -2 * RADIUS)
_DIAGONAL = math.sqrt(0.5)
# Around a point, for symbols of palette.SYMBOLS; areas are about the same.
SHAPES = {
    "circle": f"m-{RADIUS:g} 0" + "".join(f"a{RADIUS:g} {RADIUS:g} 0 1 0 {x:g} 0" for x in _HALVES) + "z",
    "square": _outline([(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
    "diamond": _outline([(0, -1.25), (1.25, 0), (0, 1.25), (-1.25, 0)]),
    "triangle-up": _outline([(0, -1.2), (1.15, 0.8), (-1.15, 0.8)]),
    "triangle-down": _outline([(0, 1.2), (1.15, -0.8), (-1.15, -0.8)]),
    "cross": _outline(_CROSS),
    "x": _outline([(_DIAGONAL * (x - y), _DIAGONAL * (x + y)) for x, y in _CROSS]),
    "star": _outline(_star()),
}
