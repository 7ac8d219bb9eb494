# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as data, independent of rendering. The same figure is drawn interactively and as a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["points", "line", "bars"]
Tone = Literal["", "warning", "neutral"]


@dataclass(frozen=True)
class Axis:
    """An axis. `unit` is "s", "B", "B/s" or a plain word. Values are in that unit and are formatted for
    display.

    A log axis with `zero` shows x = 0 at a separate position left of the smallest positive value. `include`
    lists values that the axis always shows, so that adjacent figures have the same axis. On a linear axis
    with `names`, the values are indices of the names, or close to them. Such an x axis is drawn down the left
    side, with the first name on top and `row` points per name. A `whole` linear axis has ticks only at
    integers.
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
        """Height of all names, in rows for one point."""
        return self.row * len(self.names)


@dataclass(frozen=True)
class Series:
    """A line or a cloud of points. `low` and `high` (both or neither) are drawn as error bars of points or as
    a band around a line; an unknown bound is nan. Series with the same `group` have the same colour. `detail`
    contains one text per point, shown when hovering. `hollow` points are outlines. A `tone` determines the
    colour instead of the group.

    `bars` need an x axis with names. Each bar has the length `y` and begins at its `base` (default 0), so
    that several series can be stacked. Bars that are `cells` of a map represent the value at their centre,
    which `detail` describes. A `slot` is the index of the colour in the palette, for series with the same
    colour in all figures.
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
        """Values that the points or bars represent."""
        if not self.cells:
            return self.y
        return tuple(start + length / 2 for start, length in zip(self.starts, self.y, strict=True))

    @property
    def starts(self) -> tuple[float, ...]:
        """Value at which each bar begins."""
        return self.base or (0.0,) * len(self.y)


@dataclass(frozen=True)
class Figure:
    """A figure. `name` is a file name without suffix, `caption` describes the figure in a sentence,
    `warnings` are caveats about its numbers, and `marks` are labelled vertical lines."""

    name: str
    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    caption: str = ""
    warnings: tuple[str, ...] = ()
    marks: tuple[tuple[float, str], ...] = field(default=())


def file_name(name: str) -> str:
    """Convert `name` to a file name that is valid on any system and contains no path."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")[:100] or "figure"


def with_unique_names(figures: Iterable[Figure]) -> dict[str, Figure]:
    """Map file names, unique without regard to case, to figures. The second figure of a name gets the suffix
    -2."""
    by_name: dict[str, Figure] = {}
    used_names: set[str] = set()
    for figure in figures:
        stem = name = file_name(figure.name)
        number = 1
        while name.lower() in used_names:
            number += 1
            name = f"{stem}-{number}"
        used_names.add(name.lower())
        by_name[name] = figure
    return by_name
