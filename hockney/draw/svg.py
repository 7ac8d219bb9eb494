# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A figure's still picture inside a page: shown at first, without JavaScript, and in print.

Drawn here and not by matplotlib, which takes a hundred times as long; it is used for files for papers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from markupsafe import Markup

from hockney.draw.figure import Figure, Series
from hockney.draw.intervals import parted
from hockney.draw.layout import Picture, picture
from hockney.draw.legend import Entry, entries
from hockney.draw.palette import Look, looks
from hockney.draw.svg_axes import RIGHT, Frame, axes, framed, legend, said, straight
from hockney.draw.svg_elements import (
    SIZE,
    Anchor,
    Label,
    dashes,
    element,
    number,
    path,
    shortened,
    slot,
    svg,
)
from hockney.draw.svg_symbols import BAR, symbols

# A picture's width, and the height of its axes, in units; and those of one of three side by side.
WIDTH, HEIGHT = 420.0, 215.0
SMALL_WIDTH, SMALL_HEIGHT = 240.0, 135.0
# The height of a row, if names run down the side.
ROW = 12.5
LINE, CAP = 1.5, 2.0
# Half the width of an arrow head, and its length.
ARROW = 2.6, 4.5
MARK, MARK_ROW = 0.9 * SIZE, 11.0
ANCHORS: dict[str, Anchor] = {"left": "start", "center": "middle", "right": "end"}


def still(figure: Figure, identity: str, small: bool = False) -> Markup:
    """SVG for embedding in HTML, which defines the colours as variables. All text in it is escaped;
    `identity` is unique on the page, for the one id that a picture needs. A `small` one is for three side by
    side: its type is as large there as that of the others."""
    figure = parted(figure)
    shown, seen = picture(figure), looks(figure)

    listed = entries(figure.series)
    width, height = (SMALL_WIDTH, SMALL_HEIGHT) if small else (WIDTH, HEIGHT)

    def sign(k: int, x: float, y: float) -> str:
        return _sign(listed[k], seen, x, y)

    names, top = legend([entry.name for entry in listed], sign, width)
    top += 6 + MARK_ROW * shown.mark_rows
    frame = (
        framed(shown.y, shown.x, top, width, ROW * (figure.x.rows + 0.2))
        if figure.x.names
        else framed(shown.x, shown.y, top, width, height)
    )
    drawn = list(zip(figure.series, seen, strict=True))
    inside = [_blocks(frame, series, look, shown) for series, look in drawn if series.kind == "bars"]
    inside += [_band(frame, series, look, shown) for series, look in drawn if series.kind == "line"]
    inside += [_line(frame, series, look, shown) for series, look in drawn if series.kind == "line"]
    inside += [_bars(frame, series, look, shown) for series, look in drawn if series.kind == "points"]
    points = [_points(frame, series, look, shown) for series, look in drawn if series.kind == "points"]
    points += [_arrows(frame, series, look, shown) for series, look in drawn if series.kind == "points"]
    parts = [names, axes(frame), _marks(frame, shown), *_clipped(frame, identity, "".join(inside)), *points]
    return svg(parts, 0, 0, width, frame.end)


def _clipped(frame: Frame, identity: str, content: str) -> tuple[str, ...]:
    """Bars and bands may be longer than the axis is."""
    if not content:
        return ()
    box = element("rect", x=frame.left, y=frame.top, width=frame.width, height=frame.height)
    name = f"{identity}-axes"
    clip = element("clipPath", box, id=name)
    return clip, element("g", content, clip_path=f"url(#{name})", fill="none")


def _marks(frame: Frame, shown: Picture) -> str:
    result = []
    if shown.gap is not None:
        result.append(_dotted(frame, shown.gap, "var(--line)"))
    words = []
    for mark in shown.marks:
        x = frame.across(mark.at)
        result.append(_dotted(frame, mark.at, "var(--muted)"))
        after = frame.right + RIGHT - x
        free = {"left": after, "right": x, "center": 2 * min(x, after)}[mark.anchor]
        y = frame.top - 0.7 * MARK - MARK_ROW * mark.row
        words.append(Label(x, y, shortened(mark.label, free, MARK), ANCHORS[mark.anchor], size=MARK))
    return "".join(result) + (said(words) if words else "")


def _dotted(frame: Frame, at: float, colour: str) -> str:
    line = f"M{number(frame.across(at))} {number(frame.top)}V{number(frame.bottom)}"
    return straight(line, colour, stroke_dasharray="1.5 2.5")


def _band(frame: Frame, series: Series, look: Look, shown: Picture) -> str:
    pieces = [
        path(
            [(frame.across(x), frame.down(high)) for x, _, high in piece]
            + [(frame.across(x), frame.down(low)) for x, low, _ in reversed(piece)],
            close=True,
        )
        for piece in shown.bands(series)
    ]
    return element("path", d="".join(pieces), fill=slot(look.slot), opacity="0.18") if pieces else ""


def _blocks(frame: Frame, series: Series, look: Look, shown: Picture) -> str:
    """Bars along the rows of an axis with names."""
    outlines = []
    for block in shown.blocks(series):
        (low, high), ends = map(frame.down, block.sides), (frame.across(block.start), frame.across(block.end))
        corners = [(ends[0], low), (ends[1], low), (ends[1], high), (ends[0], high)]
        outlines.append(path(corners, close=True))
    return element("path", d="".join(outlines), fill=slot(look.slot)) if outlines else ""


def _line(frame: Frame, series: Series, look: Look, shown: Picture) -> str:
    course = shown.path(series)
    pieces = [
        path(
            [(frame.across(x), frame.down(series.y[k])) for x, k in piece if x is not None and k is not None]
        )
        for drawn, piece in groupby(course, key=lambda place: place[1] is not None)
        if drawn
    ]
    return _stroke("".join(pieces), look) if pieces else ""


def _stroke(line: str, look: Look) -> str:
    return element(
        "path",
        d=line,
        fill="none",
        stroke=slot(look.slot),
        stroke_width=LINE,
        stroke_linejoin="round",
        **dashes(look.dash, LINE),
    )


def _bars(frame: Frame, series: Series, look: Look, shown: Picture) -> str:
    result = []
    for k, (x, y) in enumerate(_places(frame, series, shown)):
        bar = shown.bar(series, k)
        value = shown.y.place(series.y[k])
        if x is None or y is None or value is None or not (bar.above or bar.below):
            continue
        if shown.x.axis.names:
            left, right = frame.across(value - bar.below), frame.across(value + bar.above)
            result.append(f"M{number(left)} {number(y)}H{number(right)}")
            result += [f"M{number(end)} {number(y - CAP)}v{2 * CAP:g}" for end in (left, right)]
            continue
        ends = frame.down(value + bar.above), frame.down(value - bar.below)
        result.append(f"M{number(x)} {number(ends[0])}V{number(ends[1])}")
        result += [f"M{number(x - CAP)} {number(end)}h{2 * CAP:g}" for end in ends]
    return element("path", d="".join(result), stroke=slot(look.slot), stroke_width=BAR) if result else ""


def _arrows(frame: Frame, series: Series, look: Look, shown: Picture) -> str:
    """Arrows where error bars are cut off, as one path; empty if there are none."""
    result = []
    for cut in shown.cut_offs(series):
        side, length = (-ARROW[0], ARROW[1]) if cut.high else (ARROW[0], -ARROW[1])
        if shown.x.axis.names:
            x, y = frame.across(cut.at), frame.down(cut.x)
            result.append(path([(x, y), (x - length, y + side), (x - length, y - side)], close=True))
        else:
            x, y = frame.across(cut.x), frame.down(cut.at)
            result.append(path([(x, y), (x + side, y + length), (x - side, y + length)], close=True))
    return element("path", d="".join(result), fill=slot(look.slot)) if result else ""


def _points(frame: Frame, series: Series, look: Look, shown: Picture) -> str:
    places = [(x, y) for x, y in _places(frame, series, shown) if x is not None and y is not None]
    return symbols(places, look) if places else ""


def _places(frame: Frame, series: Series, shown: Picture) -> list[tuple[float | None, float | None]]:
    """The position at which each point is drawn; (None, None) if it has no position on an axis."""
    placed = [(shown.x.place(x), shown.y.place(y)) for x, y in zip(series.x, series.y, strict=True)]
    if shown.x.axis.names:
        placed = [(y, x) for x, y in placed]
    return [(None, None) if x is None or y is None else (frame.across(x), frame.down(y)) for x, y in placed]


def _sign(entry: Entry, seen: Sequence[Look], x: float, y: float) -> str:
    line = "" if entry.line is None else _stroke(path([(x, y), (x + 18, y)]), seen[entry.line])
    return line + ("" if entry.points is None else symbols([(x + 9, y)], seen[entry.points]))
