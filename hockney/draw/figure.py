# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as data, independent of how they are drawn. The same figure becomes an interactive one and a
file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["points", "line", "bars"]
Tone = Literal["", "warning", "neutral"]


@dataclass(frozen=True)
class Axis:
    """`unit` is "s", "B", "B/s" or a plain word; values are in that unit and are formatted for display.

    A log axis with `zero` shows x = 0 at a separate position left of the smallest positive value. `include`
    are values that the axis always shows, so that figures side by side have the same axis. On a linear axis
    with `names` the values are indices of the names, or close to them. As x axis it runs down the figure's
    left side, the first name on top, each with the height of `row` points. A `whole` linear axis has ticks at
    integers only.
    """

    label: str
    unit: str
    scale: Literal["log", "linear"] = "log"
    zero: bool = False
    include: tuple[float, ...] = ()
    names: tuple[str, ...] = ()
    row: float = 1.0
    whole: bool = False

    @property
    def rows(self) -> float:
        """The height of all names, in rows for one point."""
        return self.row * len(self.names)


@dataclass(frozen=True)
class Series:
    """One line or cloud of points. `low` and `high` (both or neither) are drawn as error bars for points and
    as a band for a line; an unknown end is nan. `group` gives related series the same colour. `detail` is one
    text per point, shown when hovering. `hollow` points are outlines. A `tone` determines the colour
    instead of the group.

    `bars` need an x axis with names: each is `y` long and begins at its `base` (0 if there are none), so that
    several series can be stacked in a row. If they are `cells` of a map, each stands for the value in its
    middle, and `detail` says what is there. A `slot` is the place of the series' colour in the palette, for
    something that has the same colour in all figures.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    kind: Kind = "points"
    group: str = ""
    detail: tuple[str, ...] = ()
    hollow: bool = False
    tone: Tone = ""
    base: tuple[float, ...] = ()
    cells: bool = False
    slot: int | None = None

    @property
    def values(self) -> tuple[float, ...]:
        """What the points or bars stand for."""
        if not self.cells:
            return self.y
        return tuple(start + length / 2 for start, length in zip(self.starts, self.y, strict=True))

    @property
    def starts(self) -> tuple[float, ...]:
        """The value at which each bar begins."""
        return self.base or (0.0,) * len(self.y)


@dataclass(frozen=True)
class Figure:
    """`name` is a file name without suffix; `caption` describes the figure in a sentence; `warnings` are the
    caveats about the numbers drawn; `marks` are labelled vertical lines."""

    name: str
    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    caption: str = ""
    warnings: tuple[str, ...] = ()
    marks: tuple[tuple[float, str], ...] = field(default=())


def file_name(name: str) -> str:
    """`name` as a file name that is valid on any system and stays inside its folder."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:100] or "figure"


def named(figures: Iterable[Figure]) -> dict[str, Figure]:
    """The figures under file names that differ in more than capitals: the second figure of a name gets -2."""
    by_name: dict[str, Figure] = {}
    taken: set[str] = set()
    for figure in figures:
        stem = name = file_name(figure.name)
        k = 1
        while name.lower() in taken:
            k += 1
            name = f"{stem}-{k}"
        taken.add(name.lower())
        by_name[name] = figure
    return by_name
