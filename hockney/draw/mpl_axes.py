# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Axes and legend of a figure in a file, without its curves."""

from __future__ import annotations

import math
from typing import Any, TypeVar

from hockney.core.errors import one_line
from hockney.draw.describe import axis_title
from hockney.draw.palette import LIGHT
from hockney.draw.ticks import Scale

T = TypeVar("T")

# Type size in points, and height of a row of the legend in inches.
SIZE, ROW = 9.0, 0.2


def dress(axes: Any, x: Scale, y: Scale, points: float) -> None:
    """Scales, ticks, grid and titles of axes that are this many points wide."""
    from matplotlib.ticker import NullLocator

    for set_scale, set_limits, axis, scale, room in (
        (axes.set_xscale, axes.set_xlim, axes.xaxis, x, (points, lambda t: 0.55 * SIZE * len(t) + 12)),
        (axes.set_yscale, axes.set_ylim, axes.yaxis, y, (210.0, lambda t: 2.2 * SIZE)),
    ):
        set_scale(scale.axis.scale)
        set_limits(scale.low, scale.high)
        ticks = scale.ticks(*room)
        axis.set_ticks(ticks.values, labels=ticks.labels)
        axis.set_minor_locator(NullLocator())
        axis.set_label_text(axis_title(scale.axis), color=LIGHT.muted)
    axes.grid(True, color=LIGHT.grid, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(color=LIGHT.line, labelcolor=LIGHT.muted, length=3)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(LIGHT.line)


def legend(canvas: Any, handles: list[Any], names: list[str], characters: int = 95) -> None:
    """Add a legend at the top, in rows of about `characters` characters of the names, each with its symbol
    and a gap."""
    names = [_shortened(one_line(name)) for name in names]
    columns = max(1, min(len(names), math.floor(characters / (max(map(len, names)) + 9))))
    columns = math.ceil(len(names) / math.ceil(len(names) / columns))
    canvas.legend(
        _by_row(handles, columns),
        _by_row(names, columns),
        loc="outside upper left",
        ncols=columns,
        frameon=False,
        labelcolor=LIGHT.ink,
        handlelength=1.8,
        columnspacing=1.6,
        borderpad=0.2,
        borderaxespad=0.1,
    )
    canvas.set_figheight(canvas.get_figheight() + ROW * (math.ceil(len(names) / columns) - 1))


def _shortened(name: str, most: int = 60) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _by_row(items: list[T], columns: int) -> list[T]:
    """matplotlib fills a legend column by column; this order makes it read row by row."""
    return [item for first in range(columns) for item in items[first::columns]]
