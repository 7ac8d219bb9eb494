# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Axes and legend of the pictures inside a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hockney.draw.describe import axis_title
from hockney.draw.svg_elements import SIZE, Label, element, labels, number, shortened, text_width
from hockney.draw.ticks import Scale, Ticks

# Space around the axes, in units: a tick with its gap, a line of the title, and the right margin.
TICK, TITLE, RIGHT = 4.0, 1.7 * SIZE, 18.0
# A row of the legend, an entry's symbol with its gap, and the gap to the next entry.
ROW, SIGN, GAP = 1.55 * SIZE, 24.0, 14.0


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


def axes(frame: Frame) -> str:
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
    return straight("".join(grid), "var(--grid)") + straight("".join(lines), "var(--line)") + said(words)


def straight(path: str, colour: str, **more: str) -> str:
    """Lines of one pixel at every size of the picture."""
    return element("path", d=path, fill="none", stroke=colour, vector_effect="non-scaling-stroke", **more)


def said(words: Sequence[Label]) -> str:
    return labels(words, "var(--muted)")


def legend(names: Sequence[str], sign: Callable[[int, float, float], str], width: float) -> tuple[str, float]:
    """The legend's markup and height: at the top, one entry after the other, in as many rows as they need.
    `sign` draws an entry's symbol at the left end of its place, vertically centred. Empty if there is only
    one series."""
    if len(names) < 2:
        return "", 0.0
    names = [shortened(name, width - SIGN) for name in names]
    places, x, y = [], 0.0, 0.5 * ROW
    for taken in (SIGN + text_width(name) for name in names):
        if x and x + taken > width:
            x, y = 0.0, y + ROW
        places.append((x, y))
        x += taken + GAP
    signs = "".join(sign(k, *place) for k, place in enumerate(places))
    words = [Label(x + SIGN, y, name, "start") for (x, y), name in zip(places, names, strict=True)]
    return signs + labels(words, "var(--ink)"), y + 0.5 * ROW
