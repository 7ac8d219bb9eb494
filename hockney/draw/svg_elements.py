# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of the SVG pictures inside a page: short numbers, escaped text, and the approximate width of text.

Colours are variables of the page, so that its themes need no other picture. The font is the page's and its
metrics are unknown here: widths are those of a wide font, so that nothing overlaps in a narrow one.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup, escape

from hockney.core.errors import one_line
from hockney.draw.palette import DASHES

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
# Units of type; a unit is about a pixel where a figure has half the page's width.
SIZE = 9.5
# Fractions of the type size for DejaVu Sans, the widest font that a page is likely to get.
NARROW, WIDE = frozenset(" .,:;'|!ijlI()[]/ft"), frozenset("mwMW@%")
# Anything further out than this is outside every picture.
FAR = 9999.0


@functools.lru_cache(maxsize=1 << 14)
def _tenths(count: int) -> str:
    """A number of tenths in SVG's shortest form: 12, -.5, 3.1."""
    return f"{count / 10:g}".replace("0.", ".", 1) if abs(count) < 10 else f"{count / 10:g}"


def number(value: float) -> str:
    """A length: tenths of a unit are enough on a screen."""
    return _tenths(_rounded(value))


def _rounded(value: float) -> int:
    return round(10 * min(max(value, -FAR), FAR))


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
    return size * sum(map(_part, text))


def _part(character: str) -> float:
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
    while kept < len(line) and (used := used + size * _part(line[kept])) <= room:
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

    @property
    def corners(self) -> list[Point]:
        width, half = text_width(self.text, self.size), 0.6 * self.size
        first = -width * {"start": 0.0, "middle": 0.5, "end": 1.0}[self.anchor]
        cosine, sine = math.cos(math.radians(self.angle)), math.sin(math.radians(self.angle))
        return [
            (self.x + a * cosine - b * sine, self.y + a * sine + b * cosine)
            for a in (first, first + width)
            for b in (-half, half)
        ]


def labels(shown: Iterable[Label], colour: str) -> str:
    return element("g", "".join(map(str, shown)), fill=colour)
