# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A plane's still pictures inside a page: its surfaces, and their contour lines."""

from __future__ import annotations

from markupsafe import Markup

from hockney.draw.figure import Plane
from hockney.draw.palette import DASHES, LIGHT
from hockney.draw.plane import Place, Relief, relief
from hockney.draw.svg_axes import Frame, axes, framed, legend
from hockney.draw.svg_elements import SIZE, Label, Point, dashes, element, path, shortened, slot, svg
from hockney.draw.svg_space import surfaces

# Units of one picture's width, and of the height of the contour lines' axes.
WIDTH, HEIGHT = 340.0, 225.0
LINE = 1.4
SMALL = 0.9 * SIZE


def plane_stills(plane: Plane) -> Markup:
    shown = relief(plane)
    names, height = legend([sheet.name for sheet in plane.sheets], _sign, WIDTH)
    frame = framed(shown.x, shown.y, height + 10, WIDTH, HEIGHT)
    return surfaces(shown, names, height, WIDTH, frame.end) + _contours(shown, frame, names)


def _sign(sheet: int, x: float, y: float) -> str:
    return _stroke(path([(x, y), (x + 18, y)]), sheet, 2.0)


def _stroke(line: str, sheet: int, width: float) -> str:
    pattern = dashes(sheet % len(DASHES), width)
    return element("path", d=line, fill="none", stroke=_colour(sheet), stroke_width=width, **pattern)


def _colour(sheet: int) -> str:
    return slot(sheet % len(LIGHT.series))


def _contours(shown: Relief, frame: Frame, names: str) -> Markup:
    lines, words = [], []
    for k, contours in enumerate(shown.contours):
        pieces = [piece for contour in contours for piece in contour.pieces]
        line = "".join(path(_above(frame, place) for place in piece) for piece in pieces)
        lines += [_stroke(line, k, LINE)] if line else []
        labels = [_label(frame, c.label, c.label_at) for c in contours if c.label_at is not None]
        words += [_over_lines(labels, k)] if labels else []
    return svg([names, axes(frame), *lines, *words], 0, 0, WIDTH, frame.end)


def _label(frame: Frame, text: str, at: Place) -> Label:
    room = 2 * frame.width * min(at[0], 1 - at[0])
    return Label(*_above(frame, at), shortened(text, room, SMALL), size=SMALL)


def _above(frame: Frame, place: Place) -> Point:
    u, v = place
    return frame.left + u * frame.width, frame.bottom - v * frame.height


def _over_lines(labels: list[Label], sheet: int) -> str:
    """Labels whose background covers the lines below them."""
    return element(
        "g",
        "".join(map(str, labels)),
        fill=_colour(sheet),
        stroke="var(--card)",
        stroke_width=4,
        stroke_linejoin="round",
        paint_order="stroke",
    )
