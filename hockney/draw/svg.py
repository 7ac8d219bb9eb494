# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Static pictures of figures inside a page: shown initially, without JavaScript, and in print.

They are drawn without matplotlib, which takes a hundred times as long and is used only for files.
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
from hockney.draw.intervals import split_by_interval
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


def draw_still(figure: Figure, identity: str, small: bool = False) -> Markup:
    """Draw a figure as SVG for embedding in HTML, which defines the colours as variables. All text is
    escaped. `identity` is unique on the page and serves as the picture's id. Three `small` pictures fit side
    by side, with the same text size as larger ones."""
    figure = split_by_interval(figure)
    picture, series_looks = lay_out(figure), looks(figure)

    legend = entries(figure.series)
    width, height = (SMALL_WIDTH, SMALL_HEIGHT) if small else (WIDTH, HEIGHT)

    def sign(k: int, x: float, y: float) -> str:
        return _entry_symbol(legend[k], series_looks, x, y)

    names, top = legend_elements([entry.name for entry in legend], sign, width)
    top += 6 + MARK_ROW * picture.mark_rows
    frame = (
        make_frame(picture.y, picture.x, top, width, ROW * (figure.x.rows + 0.2))
        if figure.x.names
        else make_frame(picture.x, picture.y, top, width, height)
    )
    styled_series = list(zip(figure.series, series_looks, strict=True))
    clipped_elements = [
        _blocks(frame, series, look, picture) for series, look in styled_series if series.kind == "bars"
    ]
    clipped_elements += [
        _band(frame, series, look, picture) for series, look in styled_series if series.kind == "line"
    ]
    clipped_elements += [
        _line(frame, series, look, picture) for series, look in styled_series if series.kind == "line"
    ]
    clipped_elements += [
        _bars(frame, series, look, picture) for series, look in styled_series if series.kind == "points"
    ]
    points = [
        _points(frame, series, look, picture) for series, look in styled_series if series.kind == "points"
    ]
    points += [
        _arrows(frame, series, look, picture) for series, look in styled_series if series.kind == "points"
    ]
    parts = [
        names,
        axes_elements(frame),
        _marks(frame, picture),
        *_clipped(frame, identity, "".join(clipped_elements)),
        *points,
    ]
    return svg_element(parts, 0, 0, width, frame.end)


def _clipped(frame: Frame, identity: str, content: str) -> tuple[str, ...]:
    """Clip content to the frame, as bars and bands may extend beyond the axis."""
    if not content:
        return ()
    box = make_element("rect", x=frame.left, y=frame.top, width=frame.width, height=frame.height)
    name = f"{identity}-axes"
    clip = make_element("clipPath", box, id=name)
    return clip, make_element("g", content, clip_path=f"url(#{name})", fill="none")


def _marks(frame: Frame, picture: Picture) -> str:
    elements = []
    if picture.gap is not None:
        elements.append(_dotted(frame, picture.gap, "var(--line)"))
    labels = []
    for mark in picture.marks:
        x = frame.across(mark.at)
        elements.append(_dotted(frame, mark.at, "var(--muted)"))
        room_right = frame.right + RIGHT - x
        free = {"left": room_right, "right": x, "center": 2 * min(x, room_right)}[mark.anchor]
        y = frame.top - 0.7 * MARK - MARK_ROW * mark.row
        labels.append(Label(x, y, shorten_text(mark.label, free, MARK), ANCHORS[mark.anchor], size=MARK))
    return "".join(elements) + (label_group(labels) if labels else "")


def _dotted(frame: Frame, at: float, colour: str) -> str:
    line = f"M{format_length(frame.across(at))} {format_length(frame.top)}V{format_length(frame.bottom)}"
    return straight_lines(line, colour, stroke_dasharray="1.5 2.5")


def _band(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    polygons = [
        path_data(
            [(frame.across(x), frame.down(high)) for x, _, high in band]
            + [(frame.across(x), frame.down(low)) for x, low, _ in reversed(band)],
            close=True,
        )
        for band in picture.bands(series)
    ]
    return (
        make_element("path", d="".join(polygons), fill=slot_colour(look.slot), opacity="0.18")
        if polygons
        else ""
    )


def _blocks(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    """Bars along the rows of an axis with names."""
    outlines = []
    for block in picture.blocks(series):
        (low, high), extents = (
            map(frame.down, block.sides),
            (frame.across(block.start), frame.across(block.end)),
        )
        corners = [(extents[0], low), (extents[1], low), (extents[1], high), (extents[0], high)]
        outlines.append(path_data(corners, close=True))
    return make_element("path", d="".join(outlines), fill=slot_colour(look.slot)) if outlines else ""


def _line(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    points = picture.path(series)
    segments = [
        path_data(
            [(frame.across(x), frame.down(series.y[k])) for x, k in run if x is not None and k is not None]
        )
        for is_drawn, run in groupby(points, key=lambda place: place[1] is not None)
        if is_drawn
    ]
    return _stroke("".join(segments), look) if segments else ""


def _stroke(line: str, look: Look) -> str:
    return make_element(
        "path",
        d=line,
        fill="none",
        stroke=slot_colour(look.slot),
        stroke_width=LINE,
        stroke_linejoin="round",
        **dash_attribute(look.dash, LINE),
    )


def _bars(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    paths = []
    for k, (x, y) in enumerate(_point_positions(frame, series, picture)):
        bar = picture.bar(series, k)
        value = picture.y.place(series.y[k])
        if x is None or y is None or value is None or not (bar.above or bar.below):
            continue
        if picture.x.axis.names:
            left, right = frame.across(value - bar.below), frame.across(value + bar.above)
            paths.append(f"M{format_length(left)} {format_length(y)}H{format_length(right)}")
            paths += [
                f"M{format_length(bar_end)} {format_length(y - CAP)}v{2 * CAP:g}" for bar_end in (left, right)
            ]
            continue
        bar_ends = frame.down(value + bar.above), frame.down(value - bar.below)
        paths.append(f"M{format_length(x)} {format_length(bar_ends[0])}V{format_length(bar_ends[1])}")
        paths += [f"M{format_length(x - CAP)} {format_length(bar_end)}h{2 * CAP:g}" for bar_end in bar_ends]
    return (
        make_element("path", d="".join(paths), stroke=slot_colour(look.slot), stroke_width=BAR)
        if paths
        else ""
    )


def _arrows(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    """Arrows where error bars are cut off, as one path; "" if there are none."""
    arrows = []
    for cut_off in picture.cut_offs(series):
        side, length = (-ARROW[0], ARROW[1]) if cut_off.high else (ARROW[0], -ARROW[1])
        if picture.x.axis.names:
            x, y = frame.across(cut_off.at), frame.down(cut_off.x)
            arrows.append(path_data([(x, y), (x - length, y + side), (x - length, y - side)], close=True))
        else:
            x, y = frame.across(cut_off.x), frame.down(cut_off.at)
            arrows.append(path_data([(x, y), (x + side, y + length), (x - side, y + length)], close=True))
    return make_element("path", d="".join(arrows), fill=slot_colour(look.slot)) if arrows else ""


def _points(frame: Frame, series: Series, look: Look, picture: Picture) -> str:
    positions = [
        (x, y) for x, y in _point_positions(frame, series, picture) if x is not None and y is not None
    ]
    return symbols(positions, look) if positions else ""


def _point_positions(
    frame: Frame, series: Series, picture: Picture
) -> list[tuple[float | None, float | None]]:
    """Position of each point; (None, None) if it has no position on an axis."""
    positions = [(picture.x.place(x), picture.y.place(y)) for x, y in zip(series.x, series.y, strict=True)]
    if picture.x.axis.names:
        positions = [(y, x) for x, y in positions]
    return [
        (None, None) if x is None or y is None else (frame.across(x), frame.down(y)) for x, y in positions
    ]


def _entry_symbol(entry: Entry, series_looks: Sequence[Look], x: float, y: float) -> str:
    line = "" if entry.line is None else _stroke(path_data([(x, y), (x + 18, y)]), series_looks[entry.line])
    return line + ("" if entry.points is None else symbols([(x + 9, y)], series_looks[entry.points]))


Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
# Fractions of the type size for DejaVu Sans, the widest font that a page is likely to get.
NARROW, WIDE = frozenset(" .,:;'|!ijlI()[]/ft"), frozenset("mwMW@%")
# Anything further out than this is outside every picture.
OFF_CANVAS = 9999.0


@functools.lru_cache(maxsize=1 << 14)
def _tenths(count: int) -> str:
    """Format a number of tenths in SVG's shortest form: 12, -.5, 3.1."""
    return f"{count / 10:g}".replace("0.", ".", 1) if abs(count) < 10 else f"{count / 10:g}"


def format_length(value: float) -> str:
    """Format a length. Tenths of a unit suffice on a screen."""
    return _tenths(_rounded(value))


def _rounded(value: float) -> int:
    return round(10 * min(max(value, -OFF_CANVAS), OFF_CANVAS))


def path_data(points: Iterable[Point], close: bool = False) -> str:
    """Path data of straight lines through `points`: the first is absolute, the others are relative to the
    previous one."""
    previous: tuple[int, int] | None = None
    parts: list[str] = []
    for point in points:
        x, y = _rounded(point[0]), _rounded(point[1])
        if previous is None:
            parts.append(f"M{_tenths(x)} {_tenths(y)}")
        elif (x, y) != previous:
            step = f"{_tenths(x - previous[0])} {_tenths(y - previous[1])}"
            parts.append(("l" if len(parts) == 1 else "" if step[0] == "-" else " ") + step)
        previous = (x, y)
    return "".join(parts).replace(" -", "-") + ("z" if close else "")


def make_element(name: str, content: str = "", **attributes: str | float) -> str:
    """Make an element. Attributes are written as `stroke_width=1` and are escaped; `content` is markup."""
    written = ""
    for key, value in attributes.items():
        text = format_length(value) if isinstance(value, int | float) else escape(value)
        written += f' {key.replace("_", "-")}="{text}"'
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


def svg_element(content: Iterable[str], left: float, top: float, width: float, height: float) -> Markup:
    """Make the svg element of a picture. The page sets its size and text alternative."""
    box = " ".join(map(format_length, (left, top, width, height)))
    return Markup(
        make_element(
            "svg", "".join(content), viewBox=box, aria_hidden="true", focusable="false", font_size=SIZE
        )
    )


def slot_colour(number_of_series: int) -> str:
    """Colour of a palette slot on the page."""
    return f"var(--c{number_of_series + 1})"


def dash_attribute(dash: int, width: float) -> dict[str, str]:
    """Attribute that dashes a line of this width; "" for a solid line."""
    pattern = DASHES[dash][1]
    if isinstance(pattern, str):
        return {}
    return {"stroke_dasharray": " ".join(format_length(width * length) for length in pattern[1])}


@functools.lru_cache(maxsize=4096)
def text_width(text: str, size: float = SIZE) -> float:
    return size * sum(map(_width_share, text))


def _width_share(character: str) -> float:
    if character in NARROW:
        return 0.4
    if character in WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.63


def shorten_text(text: str, room: float, size: float = SIZE) -> str:
    """Shorten `text` to one line within the available width."""
    line = one_line(text)
    if text_width(line, size) <= room:
        return line
    kept_count, used_width = 0, size
    while (
        kept_count < len(line) and (used_width := used_width + size * _width_share(line[kept_count])) <= room
    ):
        kept_count += 1
    return line[:kept_count].rstrip() + "…"


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
        rotation = (
            {
                "transform": f"rotate({format_length(self.angle)} {format_length(self.x)} "
                f"{format_length(self.y)})"
            }
            if self.angle
            else {}
        )
        anchor = {} if self.anchor == "start" else {"text_anchor": self.anchor}
        size = {} if self.size == SIZE else {"font_size": self.size}
        baseline = self.y + 0.35 * self.size
        return make_element(
            "text", str(escape(self.text)), x=self.x, y=baseline, **anchor, **size, **rotation
        )


def label_group(labels: Iterable[Label], colour: str = "var(--muted)") -> str:
    return make_element("g", "".join(map(str, labels)), fill=colour)


BAR = 1.0
"""The width of outlines and error bars."""
RADIUS = 2.5


def symbols(positions: list[Point], look: Look) -> str:
    """Path with the symbols of all points of a series."""
    shape = SHAPES[SYMBOLS[look.symbol][0]]
    colour = slot_colour(look.slot)
    outline = "".join(f"M{format_length(x)} {format_length(y)}{shape}" for x, y in positions)
    return make_element(
        "path", d=outline, fill="var(--card)" if look.hollow else colour, stroke=colour, stroke_width=BAR
    )


def _outline(corners: list[Point]) -> str:
    """Path from the centre to the first corner, then around the symbol."""
    return "m" + path_data([(RADIUS * x, RADIUS * y) for x, y in corners], close=True)[1:]


def _star() -> list[Point]:
    polar = [(k * math.pi / 5, 1.35 if k % 2 == 0 else 0.58) for k in range(10)]
    return [(radius * math.sin(angle), -radius * math.cos(angle)) for angle, radius in polar]


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
    """A rectangle with two scales; y grows downwards, as in SVG."""

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
        """Lower edge of the axis labels."""
        return self.bottom + TICK + 1.7 * SIZE + TITLE

    def across(self, place: float) -> float:
        return self.left + self.width * _fraction(self.x, place)

    def down(self, place: float) -> float:
        return self.bottom - self.height * _fraction(self.y, place)


def _fraction(scale: Scale, place: float) -> float:
    """Position on the scale as a fraction. The bound of an interval may be 0, which is below every log
    axis."""
    return -1.0 if scale.axis.scale == "log" and place <= 0 else scale.fraction(place)


def make_frame(x: Scale, y: Scale, top: float, width: float, height: float) -> Frame:
    """Make a frame for axes of this height in a picture of this width."""
    left = TITLE + max(map(text_width, _vertical_scale(y, height).labels), default=0.0) + TICK + 4
    return Frame(x, y, left, top, width - left - RIGHT, height)


def _vertical_scale(scale: Scale, height: float) -> Ticks:
    return scale.ticks(height, lambda _: 2.2 * SIZE)


def axes_elements(frame: Frame) -> str:
    """Grid, axes, ticks and their labels."""
    x_ticks = frame.x.ticks(frame.width, lambda text: text_width(text) + 8)
    y_ticks = _vertical_scale(frame.y, frame.height)
    columns = [frame.across(value) for value in x_ticks.values]
    rows = [frame.down(value) for value in y_ticks.values]
    left, bottom = format_length(frame.left), format_length(frame.bottom)
    grid = [f"M{format_length(x)} {format_length(frame.top)}V{bottom}" for x in columns]
    grid += [f"M{left} {format_length(y)}H{format_length(frame.right)}" for y in rows]
    lines = [f"M{left} {format_length(frame.top)}V{bottom}H{format_length(frame.right)}"]
    lines += [f"M{format_length(x)} {bottom}v{TICK:g}" for x in columns]
    lines += [f"M{left} {format_length(y)}h-{TICK:g}" for y in rows]
    labels = [
        Label(x, frame.bottom + TICK + 0.9 * SIZE, text)
        for x, text in zip(columns, x_ticks.labels, strict=True)
    ]
    labels += [
        Label(frame.left - TICK - 3, y, text, "end") for y, text in zip(rows, y_ticks.labels, strict=True)
    ]
    labels += [
        Label(
            frame.left + frame.width / 2,
            frame.end - 0.6 * TITLE,
            shorten_text(axis_title(frame.x.axis), frame.width),
        ),
        Label(
            0.6 * SIZE,
            frame.top + frame.height / 2,
            shorten_text(axis_title(frame.y.axis), frame.height),
            angle=-90.0,
        ),
    ]
    return (
        straight_lines("".join(grid), "var(--grid)")
        + straight_lines("".join(lines), "var(--line)")
        + label_group(labels)
    )


def straight_lines(path: str, colour: str, **more: str) -> str:
    """Lines with a width of one pixel at every size of the picture."""
    return make_element(
        "path", d=path, fill="none", stroke=colour, vector_effect="non-scaling-stroke", **more
    )


def legend_elements(
    names: Sequence[str], sign: Callable[[int, float, float], str], width: float
) -> tuple[str, float]:
    """Markup and height of the legend, which is at the top and has the necessary number of rows. `sign` draws
    an entry's symbol at the left of its position, vertically centred. The legend is empty if there is only
    one series."""
    if len(names) < 2:
        return "", 0.0
    names = [shorten_text(name, width - SIGN) for name in names]
    positions, x, y = [], 0.0, 0.5 * LEGEND_ROW
    for entry_width in (SIGN + text_width(name) for name in names):
        if x and x + entry_width > width:
            x, y = 0.0, y + LEGEND_ROW
        positions.append((x, y))
        x += entry_width + GAP
    symbols_markup = "".join(sign(k, *position) for k, position in enumerate(positions))
    labels = [Label(x + SIGN, y, name, "start") for (x, y), name in zip(positions, names, strict=True)]
    return symbols_markup + label_group(labels, "var(--ink)"), y + 0.5 * LEGEND_ROW
