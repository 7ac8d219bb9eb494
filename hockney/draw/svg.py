# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A figure's still picture inside a page: shown at first, without JavaScript, and in print.

Drawn here and not by matplotlib, which takes a hundred times as long; it is used for files for papers.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from markupsafe import Markup, escape

from hockney.core.errors import one_line
from hockney.draw.describe import axis_title
from hockney.draw.figure import Figure, Series
from hockney.draw.intervals import parted
from hockney.draw.layout import Entry, Picture, entries, lay_out
from hockney.draw.palette import DASHES, SYMBOLS, Look, looks
from hockney.draw.ticks import Scale, Ticks

# Units of type; a unit is about a pixel where a figure has half the page's width.
SIZE = 9.5
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
    picture, series_looks = lay_out(figure), looks(figure)

    legend = entries(figure.series)
    width, height = (SMALL_WIDTH, SMALL_HEIGHT) if small else (WIDTH, HEIGHT)

    def sign(k: int, x: float, y: float) -> str:
        return _sign(legend[k], series_looks, x, y)

    names, top = legend_elements([entry.name for entry in legend], sign, width)
    top += 6 + MARK_ROW * picture.mark_rows
    frame = (
        framed(picture.y, picture.x, top, width, ROW * (figure.x.rows + 0.2))
        if figure.x.names
        else framed(picture.x, picture.y, top, width, height)
    )
    drawn = list(zip(figure.series, series_looks, strict=True))
    inside = [_blocks(frame, series, look, picture) for series, look in drawn if series.kind == "bars"]
    inside += [_band(frame, series, look, picture) for series, look in drawn if series.kind == "line"]
    inside += [_line(frame, series, look, picture) for series, look in drawn if series.kind == "line"]
    inside += [_bars(frame, series, look, picture) for series, look in drawn if series.kind == "points"]
    points = [_points(frame, series, look, picture) for series, look in drawn if series.kind == "points"]
    points += [_arrows(frame, series, look, picture) for series, look in drawn if series.kind == "points"]
    parts = [
        names,
        axes_elements(frame),
        _marks(frame, picture),
        *_clipped(frame, identity, "".join(inside)),
        *points,
    ]
    return svg(parts, 0, 0, width, frame.end)


def _clipped(frame: Frame, identity: str, content: str) -> tuple[str, ...]:
    """Bars and bands may be longer than the axis is."""
    if not content:
        return ()
    box = element("rect", x=frame.left, y=frame.top, width=frame.width, height=frame.height)
    name = f"{identity}-axes"
    clip = element("clipPath", box, id=name)
    return clip, element("g", content, clip_path=f"url(#{name})", fill="none")


def _marks(frame: Frame, picture: Picture) -> str:
    result = []
    if picture.gap is not None:
        result.append(_dotted(frame, picture.gap, "var(--line)"))
    words = []
    for mark in picture.marks:
        x = frame.across(mark.at)
        result.append(_dotted(frame, mark.at, "var(--muted)"))
        after = frame.right + RIGHT - x
        free = {"left": after, "right": x, "center": 2 * min(x, after)}[mark.anchor]
        y = frame.top - 0.7 * MARK - MARK_ROW * mark.row
        words.append(Label(x, y, shortened(mark.label, free, MARK), ANCHORS[mark.anchor], size=MARK))
    return "".join(result) + (label_group(words) if words else "")


def _dotted(frame: Frame, at: float, colour: str) -> str:
    line = f"M{number(frame.across(at))} {number(frame.top)}V{number(frame.bottom)}"
    return straight(line, colour, stroke_dasharray="1.5 2.5")


def _band(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    pieces = [
        path(
            [(frame.across(x), frame.down(high)) for x, _, high in piece]
            + [(frame.across(x), frame.down(low)) for x, low, _ in reversed(piece)],
            close=True,
        )
        for piece in picture.bands(series)
    ]
    return element("path", d="".join(pieces), fill=slot(look.slot), opacity="0.18") if pieces else ""


def _blocks(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    """Bars along the rows of an axis with names."""
    outlines = []
    for block in picture.blocks(series):
        (low, high), ends = map(frame.down, block.sides), (frame.across(block.start), frame.across(block.end))
        corners = [(ends[0], low), (ends[1], low), (ends[1], high), (ends[0], high)]
        outlines.append(path(corners, close=True))
    return element("path", d="".join(outlines), fill=slot(look.slot)) if outlines else ""


def _line(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    course = picture.path(series)
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


def _bars(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    result = []
    for k, (x, y) in enumerate(_places(frame, series, picture)):
        bar = picture.bar(series, k)
        value = picture.y.place(series.y[k])
        if x is None or y is None or value is None or not (bar.above or bar.below):
            continue
        if picture.x.axis.names:
            left, right = frame.across(value - bar.below), frame.across(value + bar.above)
            result.append(f"M{number(left)} {number(y)}H{number(right)}")
            result += [f"M{number(end)} {number(y - CAP)}v{2 * CAP:g}" for end in (left, right)]
            continue
        ends = frame.down(value + bar.above), frame.down(value - bar.below)
        result.append(f"M{number(x)} {number(ends[0])}V{number(ends[1])}")
        result += [f"M{number(x - CAP)} {number(end)}h{2 * CAP:g}" for end in ends]
    return element("path", d="".join(result), stroke=slot(look.slot), stroke_width=BAR) if result else ""


def _arrows(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    """Arrows where error bars are cut off, as one path; empty if there are none."""
    result = []
    for cut in picture.cut_offs(series):
        side, length = (-ARROW[0], ARROW[1]) if cut.high else (ARROW[0], -ARROW[1])
        if picture.x.axis.names:
            x, y = frame.across(cut.at), frame.down(cut.x)
            result.append(path([(x, y), (x - length, y + side), (x - length, y - side)], close=True))
        else:
            x, y = frame.across(cut.x), frame.down(cut.at)
            result.append(path([(x, y), (x + side, y + length), (x - side, y + length)], close=True))
    return element("path", d="".join(result), fill=slot(look.slot)) if result else ""


def _points(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    places = [(x, y) for x, y in _places(frame, series, picture) if x is not None and y is not None]
    return symbols(places, look) if places else ""


def _places(frame: Frame, series: Series, picture: Picture) -> list[tuple[float | None, float | None]]:
    """The position at which each point is drawn; (None, None) if it has no position on an axis."""
    placed = [(picture.x.place(x), picture.y.place(y)) for x, y in zip(series.x, series.y, strict=True)]
    if picture.x.axis.names:
        placed = [(y, x) for x, y in placed]
    return [(None, None) if x is None or y is None else (frame.across(x), frame.down(y)) for x, y in placed]


def _sign(entry: Entry, series_looks: Sequence[Look], x: float, y: float) -> str:
    line = "" if entry.line is None else _stroke(path([(x, y), (x + 18, y)]), series_looks[entry.line])
    return line + ("" if entry.points is None else symbols([(x + 9, y)], series_looks[entry.points]))


Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
# Fractions of the type size for DejaVu Sans, the widest font that a page is likely to get.
NARROW, WIDE = frozenset(" .,:;'|!ijlI()[]/ft"), frozenset("mwMW@%")
# Anything further out than this is outside every picture.
OFF_CANVAS = 9999.0


@functools.lru_cache(maxsize=1 << 14)
def _tenths(count: int) -> str:
    """A number of tenths in SVG's shortest form: 12, -.5, 3.1."""
    return f"{count / 10:g}".replace("0.", ".", 1) if abs(count) < 10 else f"{count / 10:g}"


def number(value: float) -> str:
    """A length: tenths of a unit are enough on a screen."""
    return _tenths(_rounded(value))


def _rounded(value: float) -> int:
    return round(10 * min(max(value, -OFF_CANVAS), OFF_CANVAS))


def path(points: Iterable[Point], close: bool = False) -> str:
    """Straight lines through `points`: the first absolute, each of the others relative to the last."""
    last: tuple[int, int] | None = None
    parts: list[str] = []
    for point in points:
        x, y = _rounded(point[0]), _rounded(point[1])
        if last is None:
            parts.append(f"M{_tenths(x)} {_tenths(y)}")
        elif (x, y) != last:
            step = f"{_tenths(x - last[0])} {_tenths(y - last[1])}"
            parts.append(("l" if len(parts) == 1 else "" if step[0] == "-" else " ") + step)
        last = (x, y)
    return "".join(parts).replace(" -", "-") + ("z" if close else "")


def element(name: str, content: str = "", **attributes: str | float) -> str:
    """An element with attributes as `stroke_width=1`, all escaped; `content` is markup."""
    written = "".join(
        f' {key.replace("_", "-")}="{number(value) if isinstance(value, int | float) else escape(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def svg(content: Iterable[str], left: float, top: float, width: float, height: float) -> Markup:
    """A picture with its content. Its size and its text alternative are set by the page."""
    box = " ".join(map(number, (left, top, width, height)))
    return Markup(
        element("svg", "".join(content), viewBox=box, aria_hidden="true", focusable="false", font_size=SIZE)
    )


def slot(number_of_series: int) -> str:
    """The page's colour of this slot of the palette."""
    return f"var(--c{number_of_series + 1})"


def dashes(dash: int, width: float) -> dict[str, str]:
    """The attribute that dashes a line of this width; empty for a solid one."""
    pattern = DASHES[dash][1]
    if isinstance(pattern, str):
        return {}
    return {"stroke_dasharray": " ".join(number(width * part) for part in pattern[1])}


@functools.lru_cache(maxsize=4096)
def text_width(text: str, size: float = SIZE) -> float:
    return size * sum(map(_width_share, text))


def _width_share(character: str) -> float:
    if character in NARROW:
        return 0.4
    if character in WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.63


def shortened(text: str, room: float, size: float = SIZE) -> str:
    """`text` as one line, cut to the available space."""
    line = one_line(text)
    if text_width(line, size) <= room:
        return line
    kept, used = 0, size
    while kept < len(line) and (used := used + size * _width_share(line[kept])) <= room:
        kept += 1
    return line[:kept].rstrip() + "…"


@dataclass(frozen=True)
class Label:
    """A line of text vertically centred at y; `angle` rotates it clockwise about its anchor."""

    x: float
    y: float
    text: str
    anchor: Anchor = "middle"
    angle: float = 0.0
    size: float = SIZE

    def __str__(self) -> str:
        turned = (
            {"transform": f"rotate({number(self.angle)} {number(self.x)} {number(self.y)})"}
            if self.angle
            else {}
        )
        anchor = {} if self.anchor == "start" else {"text_anchor": self.anchor}
        size = {} if self.size == SIZE else {"font_size": self.size}
        down = self.y + 0.35 * self.size
        return element("text", str(escape(self.text)), x=self.x, y=down, **anchor, **size, **turned)


def label_group(labels: Iterable[Label], colour: str = "var(--muted)") -> str:
    return element("g", "".join(map(str, labels)), fill=colour)


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
    polar = [(k * math.pi / 5, 1.35 if k % 2 == 0 else 0.58) for k in range(10)]
    return [(r * math.sin(angle), -r * math.cos(angle)) for angle, r in polar]


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

# Space around the axes, in units: a tick with its gap, a line of the title, and the right margin.
TICK, TITLE, RIGHT = 4.0, 1.7 * SIZE, 18.0
# A row of the legend, an entry's symbol with its gap, and the gap to the next entry.
LEGEND_ROW, SIGN, GAP = 1.55 * SIZE, 24.0, 14.0


@dataclass(frozen=True)
class Frame:
    """A rectangle in which two scales meet; y grows downwards, as in SVG."""

    x: Scale
    y: Scale
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def bottom(self) -> float:
        return self.top + self.height

    @property
    def end(self) -> float:
        """The lower end of the axis' labels."""
        return self.bottom + TICK + 1.7 * SIZE + TITLE

    def across(self, place: float) -> float:
        return self.left + self.width * _fraction(self.x, place)

    def down(self, place: float) -> float:
        return self.bottom - self.height * _fraction(self.y, place)


def _fraction(scale: Scale, place: float) -> float:
    """An interval may end at 0, which is below every log axis."""
    return -1.0 if scale.axis.scale == "log" and place <= 0 else scale.fraction(place)


def framed(x: Scale, y: Scale, top: float, width: float, height: float) -> Frame:
    """Axes of this height in a picture of this width."""
    left = TITLE + max(map(text_width, _up(y, height).labels), default=0.0) + TICK + 4
    return Frame(x, y, left, top, width - left - RIGHT, height)


def _up(scale: Scale, height: float) -> Ticks:
    return scale.ticks(height, lambda _: 2.2 * SIZE)


def axes_elements(frame: Frame) -> str:
    """Grid, axes, ticks and their labels."""
    across = frame.x.ticks(frame.width, lambda t: text_width(t) + 8)
    up = _up(frame.y, frame.height)
    columns = [frame.across(v) for v in across.values]
    rows = [frame.down(v) for v in up.values]
    left, bottom = number(frame.left), number(frame.bottom)
    grid = [f"M{number(x)} {number(frame.top)}V{bottom}" for x in columns]
    grid += [f"M{left} {number(y)}H{number(frame.right)}" for y in rows]
    lines = [f"M{left} {number(frame.top)}V{bottom}H{number(frame.right)}"]
    lines += [f"M{number(x)} {bottom}v{TICK:g}" for x in columns]
    lines += [f"M{left} {number(y)}h-{TICK:g}" for y in rows]
    words = [
        Label(x, frame.bottom + TICK + 0.9 * SIZE, t) for x, t in zip(columns, across.labels, strict=True)
    ]
    words += [Label(frame.left - TICK - 3, y, t, "end") for y, t in zip(rows, up.labels, strict=True)]
    words += [
        Label(
            frame.left + frame.width / 2,
            frame.end - 0.6 * TITLE,
            shortened(axis_title(frame.x.axis), frame.width),
        ),
        Label(
            0.6 * SIZE,
            frame.top + frame.height / 2,
            shortened(axis_title(frame.y.axis), frame.height),
            angle=-90.0,
        ),
    ]
    return (
        straight("".join(grid), "var(--grid)") + straight("".join(lines), "var(--line)") + label_group(words)
    )


def straight(path: str, colour: str, **more: str) -> str:
    """Lines of one pixel at every size of the picture."""
    return element("path", d=path, fill="none", stroke=colour, vector_effect="non-scaling-stroke", **more)


def legend_elements(
    names: Sequence[str], sign: Callable[[int, float, float], str], width: float
) -> tuple[str, float]:
    """The legend's markup and height: at the top, one entry after the other, in as many rows as they need.
    `sign` draws an entry's symbol at the left end of its place, vertically centred. Empty if there is only
    one series."""
    if len(names) < 2:
        return "", 0.0
    names = [shortened(name, width - SIGN) for name in names]
    places, x, y = [], 0.0, 0.5 * LEGEND_ROW
    for taken in (SIGN + text_width(name) for name in names):
        if x and x + taken > width:
            x, y = 0.0, y + LEGEND_ROW
        places.append((x, y))
        x += taken + GAP
    signs = "".join(sign(k, *place) for k, place in enumerate(places))
    words = [Label(x + SIGN, y, name, "start") for (x, y), name in zip(places, names, strict=True)]
    return signs + label_group(words, "var(--ink)"), y + 0.5 * LEGEND_ROW
