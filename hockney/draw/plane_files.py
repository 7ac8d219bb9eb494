# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A plane in a file: its surfaces at the left, their contour lines from above at the right."""

from __future__ import annotations

from typing import Any, Literal

from hockney.draw.describe import axis_title
from hockney.draw.figure import Plane
from hockney.draw.mpl_axes import SIZE, dress, legend
from hockney.draw.palette import DASHES, LIGHT
from hockney.draw.plane import AZIMUTH, BOX, ELEVATION, Relief, cells, flat, relief
from hockney.draw.ticks import Scale

Part = Literal["all", "surface", "contours"]
# Inches of one half. Both together fill a page's width.
WIDTH, HEIGHT = 4.7, 3.9


def draw(canvas: Any, plane: Plane, part: Part) -> None:
    """Both halves or one on an empty canvas, which gets its size."""
    shown = relief(plane)
    halves = ("surface", "contours") if part == "all" else (part,)
    canvas.set_size_inches(WIDTH * len(halves), HEIGHT)
    widths = {"surface": 1.0, "contours": 0.96}
    grid = canvas.add_gridspec(1, len(halves), width_ratios=[widths[half] for half in halves])
    for half, place in zip(halves, grid, strict=True):
        if half == "surface":
            _surfaces(canvas.add_subplot(place, projection="3d", computed_zorder=False), shown)
        else:
            _contours(canvas.add_subplot(place), shown)
    if len(plane.sheets) > 1:
        from matplotlib.lines import Line2D

        signs = [
            Line2D([], [], color=_colour(k), linewidth=2.2, linestyle=DASHES[k % len(DASHES)][1])
            for k in range(len(plane.sheets))
        ]
        legend(canvas, signs, [sheet.name for sheet in plane.sheets], 72 * len(halves))


def _colour(sheet: int) -> str:
    return LIGHT.series[sheet % len(LIGHT.series)]


def _contours(axes: Any, shown: Relief) -> None:
    dress(axes, shown.x, shown.y, 250.0)
    for k, contours in enumerate(shown.contours):
        for contour in contours:
            for piece in contour.pieces:
                axes.plot(
                    [flat(shown.x, u) for u, _ in piece],
                    [flat(shown.y, v) for _, v in piece],
                    color=_colour(k),
                    linewidth=1.3,
                    linestyle=DASHES[k % len(DASHES)][1],
                )
            if contour.label_at:
                u, v = contour.label_at
                axes.text(
                    flat(shown.x, u),
                    flat(shown.y, v),
                    contour.label,
                    color=_colour(k),
                    fontsize=SIZE - 1.2,
                    ha="center",
                    va="center",
                    bbox={"facecolor": "white", "edgecolor": "none", "boxstyle": "square,pad=0.12"},
                    zorder=5,
                )


def _surfaces(axes: Any, shown: Relief) -> None:
    """All cells of all sheets in one collection: they hide one another by their distance from the camera."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    mesh = list(cells(shown))
    if mesh:
        colours = [_colour(sheet) for sheet, _ in mesh]
        corners = [corners for _, corners in mesh]
        axes.add_collection3d(
            Poly3DCollection(corners, facecolors=colours, edgecolors="#ffffff", linewidths=0.35)
        )
    axes.view_init(ELEVATION, AZIMUTH)
    axes.set_box_aspect(BOX, zoom=0.93)
    for letter, scale in (("x", shown.x), ("y", shown.y), ("z", shown.z)):
        _axis(axes, letter, scale)


def _axis(axes: Any, letter: str, scale: Scale) -> None:
    """matplotlib has no log axes in 3-D: all positions are fractions of the axis, with explicit labels."""
    axis = getattr(axes, f"{letter}axis")
    getattr(axes, f"set_{letter}lim")(0, 1)
    ticks = scale.ticks(150.0, lambda t: 0.5 * SIZE * len(t) + 9)
    axis.set_ticks([scale.fraction(v) for v in ticks.values], labels=ticks.labels)
    axis.set_label_text(axis_title(scale.axis), color=LIGHT.muted)
    axis.set_pane_color((1, 1, 1, 0))
    axis.line.set_color(LIGHT.line)
    axis._axinfo["grid"] |= {"color": LIGHT.grid, "linewidth": 0.7}
    axes.tick_params(axis=letter, color=LIGHT.line, labelcolor=LIGHT.muted, labelsize=SIZE - 1.2, pad=1)
