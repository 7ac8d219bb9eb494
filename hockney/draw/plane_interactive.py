# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A plane as two Plotly figures, in plain data for JSON: contour lines, and surfaces.

The contour lines are `data`, `layout`, `config`, `legend` and `ticks` as for any figure. In addition there
are `surface` (the `data` and `layout` of the other view, a trace for each sheet) and `words`, from which the
page composes the hover text at a point: a line for `x` and `y`, then one for each sheet's `z`.
"""

from __future__ import annotations

import math
from typing import Any

from hockney.core.errors import one_line
from hockney.core.units import format_value
from hockney.draw.describe import axis_title
from hockney.draw.figure import Axis, Plane
from hockney.draw.figure_interactive import CONFIG, FONT, axis, inert, layout, levels
from hockney.draw.palette import DASHES, LIGHT
from hockney.draw.plane import Relief, flat, relief
from hockney.draw.ticks import Scale

CLEAR = "rgba(0,0,0,0)"
# Approximate length of an axis in space, in pixels.
IN_SPACE = 290
# Steps of the mesh that is drawn on a surface.
MESH = 20


def interactive_plane(plane: Plane) -> dict[str, Any]:
    shown = relief(plane)
    count = len(plane.sheets)
    # Labels above all lines, otherwise other lines would cross their halo.
    data = [
        _ground(shown),
        *(_lines(shown, k) for k in range(count)),
        *(_labels(shown, k) for k in range(count)),
    ]
    legend = []
    for k, sheet in enumerate(plane.sheets):
        legend.append(
            {
                "name": one_line(sheet.name),
                "kind": "line",
                "slot": k % len(LIGHT.series),
                "hollow": False,
                "symbol": "circle",
                "dash": DASHES[k % len(DASHES)][0],
                "traces": [1 + k, 1 + count + k],
            }
        )
    return {
        "data": data,
        "layout": layout(shown.x, shown.y, 10) | {"hoverdistance": -1},  # to the nearest, at any distance
        "config": dict(CONFIG),
        "legend": legend,
        "ticks": {"x": levels(shown.x), "y": levels(shown.y)},
        "surface": {"data": [_surface(shown, k) for k in range(count)], "layout": _space(shown)},
        "words": _words(shown),
    }


def _colour(sheet: int) -> str:
    return LIGHT.series[sheet % len(LIGHT.series)]


def _short(value: float) -> float:
    """As many digits as a screen can show."""
    return float(f"{value:.5g}")


def _places(axis_: Scale, fractions: tuple[float, ...]) -> list[float]:
    return [_short(flat(axis_, f)) for f in fractions]


def _ground(shown: Relief) -> dict[str, Any]:
    """Invisible points that receive the pointer everywhere: those of the grid, row by row."""
    x, y = _places(shown.x, shown.across), _places(shown.y, shown.along)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x * len(y),
        "y": [place for place in y for _ in x],
        "line": {"color": CLEAR, "width": 0},
        "hoverinfo": "text",
    }


def _lines(shown: Relief, sheet: int) -> dict[str, Any]:
    path: list[tuple[float | None, float | None]] = []
    for contour in shown.contours[sheet]:
        for piece in contour.pieces:
            path += [(_short(flat(shown.x, u)), _short(flat(shown.y, v))) for u, v in piece] + [(None, None)]
    return _over(shown, sheet) | {
        "mode": "lines",
        "x": [x for x, _ in path],
        "y": [y for _, y in path],
        "line": {"color": _colour(sheet), "width": 1.8, "dash": DASHES[sheet % len(DASHES)][0]},
        "connectgaps": False,
    }


def _labels(shown: Relief, sheet: int) -> dict[str, Any]:
    labelled = [(c.label, c.label_at) for c in shown.contours[sheet] if c.label_at]
    return _over(shown, sheet) | {
        "mode": "text",
        "x": _places(shown.x, tuple(u for _, (u, _) in labelled)),
        "y": _places(shown.y, tuple(v for _, (_, v) in labelled)),
        "text": [inert(label) for label, _ in labelled],
        "textfont": {"family": FONT, "size": 11.5, "color": _colour(sheet)},
    }


def _over(shown: Relief, sheet: int) -> dict[str, Any]:
    return {"type": "scatter", "name": one_line(shown.plane.sheets[sheet].name), "hoverinfo": "skip"}


def _surface(shown: Relief, sheet: int) -> dict[str, Any]:
    heights = [[shown.height(sheet, row, column) for column in shown.columns] for row in shown.rows]
    colour = _colour(sheet)
    return {
        "type": "surface",
        "name": one_line(shown.plane.sheets[sheet].name),
        "x": _places(shown.x, shown.across),
        "y": _places(shown.y, shown.along),
        "z": [[None if z is None else _short(z) for z in row] for row in heights],
        "colorscale": [[0, colour], [1, colour]],
        "showscale": False,
        "hoverinfo": "text",
        "contours": {
            "x": _mesh(shown.x, len(shown.columns)),
            "y": _mesh(shown.y, len(shown.rows)),
            "z": {"highlight": False},
        },
        "lighting": {"ambient": 0.72, "diffuse": 0.6, "specular": 0.06, "roughness": 0.9, "fresnel": 0.05},
        "lightposition": {"x": -2000, "y": -3000, "z": 6000},
    }


def _mesh(scale: Scale, count: int) -> dict[str, Any]:
    """Lines on the surface, evenly spaced along the drawn axis; without them its shape is not visible."""
    low, high = scale.low, scale.high
    if scale.axis.scale == "log":
        low, high = math.log10(low), math.log10(high)
    steps = max(1, min(count - 1, MESH))
    return {
        "show": True,
        "start": low,
        "end": high,
        "size": (high - low) / steps,
        "color": LIGHT.card,
        "width": 1,
        "highlight": False,
    }


def _space(shown: Relief) -> dict[str, Any]:
    flat_layout = layout(shown.x, shown.y, 0)
    kept = ("autosize", "showlegend", "uirevision", "paper_bgcolor", "font", "hoverlabel")
    return {key: flat_layout[key] for key in kept} | {
        "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
        "scene": {
            "aspectmode": "manual",
            "aspectratio": {"x": 1.5, "y": 1.2, "z": 0.85},
            "dragmode": "turntable",
            "camera": {"eye": {"x": -1.2, "y": -1.95, "z": 1.1}, "center": {"x": 0, "y": 0, "z": -0.24}},
            "bgcolor": CLEAR,
            "xaxis": _in_space(shown.x),
            "yaxis": _in_space(shown.y),
            "zaxis": _in_space(shown.z),
        },
    }


def _in_space(scale: Scale) -> dict[str, Any]:
    found = axis(scale, IN_SPACE, lambda t: 6.5 * len(t) + 14)
    wanted = ("type", "range", "autorange", "tickmode", "tickvals", "ticktext", "gridcolor", "linecolor")
    kept = {key: found[key] for key in (*wanted, "tickcolor", "zeroline", "showline")}
    return kept | {
        "title": {"text": inert(axis_title(scale.axis)), "font": {"color": LIGHT.muted, "size": 12}},
        "tickfont": {"color": LIGHT.muted, "size": 11},
        "showbackground": False,
        "showspikes": False,
        "ticks": "outside",
    }


def _words(shown: Relief) -> dict[str, Any]:
    plane = shown.plane
    return {
        "x": [_value(plane.x, plane.grid_x[column]) for column in shown.columns],
        "y": [_value(plane.y, plane.grid_y[row]) for row in shown.rows],
        "z": [
            [
                [
                    inert(format_value(z, plane.z.unit)) if math.isfinite(z) else "nothing"
                    for z in (sheet.z[row][column] for column in shown.columns)
                ]
                for row in shown.rows
            ]
            for sheet in plane.sheets
        ],
        "sheets": [inert(sheet.name) for sheet in plane.sheets],
    }


def _value(axis_: Axis, value: float) -> str:
    """Values without a unit get the axis' label."""
    words = format_value(value, axis_.unit)
    return inert(words if axis_.unit else f"{axis_.label} {words}")
