# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of a figure to a Plotly figure as plain JSON data (no NaN, no infinity, no active markup).

In addition to Plotly's `data`, `layout` and `config`, the result contains `legend` (the entries of the page's
legend with the traces that each entry toggles) and `ticks` (levels from coarse to fine, from which the page
chooses after a zoom). Colours are from the light theme; the page maps them to the dark one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hockney.core.errors import one_line
from hockney.draw.describe import axis_title, point_text
from hockney.draw.figure import Figure, Series
from hockney.draw.intervals import split_by_interval
from hockney.draw.layout import CutOff, Entry, Picture, entries, lay_out
from hockney.draw.palette import DASHES, LIGHT, SYMBOLS, Look, looks
from hockney.draw.ticks import Scale

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
# Pixels of an ordinary figure's axes; the page uses the actual size once it is drawn.
X_LENGTH, Y_LENGTH = 600, 330
MARK_ROW_PX = 15


# The page has its own keyboard control, legend and buttons; Plotly's bar would duplicate them.
CONFIG = {
    "displayModeBar": False,
    "scrollZoom": True,
    "doubleClick": "reset",
    "responsive": False,
    "displaylogo": False,
    "showTips": False,
}


def make_interactive(figure: Figure) -> dict[str, Any]:
    figure = split_by_interval(figure)
    picture = lay_out(figure)
    data: list[dict[str, Any]] = []
    trace_indices: list[list[int]] = []
    series_looks = looks(figure)
    for series, look in zip(figure.series, series_looks, strict=True):
        traces = TRACES[series.kind](figure, series, look, picture)
        trace_indices.append(list(range(len(data), len(data) + len(traces))))
        data += traces
    x_scale, y_scale = (picture.y, picture.x) if figure.x.names else (picture.x, picture.y)
    return {
        "data": [_swap_axes(trace) for trace in data] if figure.x.names else data,
        "layout": _layout(picture, x_scale, y_scale),
        "config": dict(CONFIG),
        "legend": [_legend_entry(entry, series_looks, trace_indices) for entry in entries(figure.series)],
        "ticks": {"x": tick_levels(x_scale), "y": tick_levels(y_scale)},
    }


def _legend_entry(
    entry: Entry, series_looks: Sequence[Look], trace_indices: Sequence[list[int]]
) -> dict[str, Any]:
    """Make a legend entry with the `dash` of its line and the `symbol` of its points; `kind` is "both" if it
    has both. `trace_indices` are the traces of each series."""
    series_indices = [k for k in (entry.points, entry.line) if k is not None]
    look = series_looks[series_indices[0]]
    kind = "both" if len(series_indices) > 1 else "line" if entry.points is None else "points"
    return {
        "name": one_line(entry.name),
        "kind": kind,
        "slot": look.slot,
        "hollow": look.hollow,
        "symbol": SYMBOLS[look.symbol][0],
        "dash": DASHES[series_looks[series_indices[-1]].dash][0],
        "traces": [trace for k in entry.series for trace in trace_indices[k]],
    }


def _swap_axes(trace: dict[str, Any]) -> dict[str, Any]:
    """Swap the axes of a trace: names down the left side, values across."""
    swapped = trace | {"x": trace["y"], "y": trace["x"]}
    if "error_y" in swapped:
        swapped["error_x"] = swapped.pop("error_y")
    return swapped


def _points(figure: Figure, series: Series, look: Look, picture: Picture) -> list[dict[str, Any]]:
    colour = LIGHT.series[look.slot]
    bars = [picture.bar(series, k) for k in range(len(series.x))]
    trace = _trace(figure, series, picture) | {
        "mode": "markers",
        "marker": {
            "symbol": SYMBOLS[look.symbol][0] + ("-open" if look.hollow else ""),
            "size": 7,
            "color": colour,
            "line": {"width": 1.6 if look.hollow else 0, "color": colour},
        },
    }
    if series.low:
        trace["error_y"] = {
            "type": "data",
            "symmetric": False,
            "color": colour,
            "thickness": 1.2,
            "width": 3,
            "array": [bar.above for bar in bars],
            "arrayminus": [bar.below for bar in bars],
        }
    cut_offs = picture.cut_offs(series)
    return [trace, _arrows(series, look, cut_offs, bool(figure.x.names))] if cut_offs else [trace]


def _arrows(series: Series, look: Look, cut_offs: Sequence[CutOff], swapped: bool) -> dict[str, Any]:
    """Trace of arrows at the ends of the axis where error bars are cut off. If the axes are swapped, they are
    on the left and right."""
    high, low = ("triangle-right", "triangle-left") if swapped else ("triangle-up", "triangle-down")
    return {
        "type": "scatter",
        "mode": "markers",
        "name": one_line(series.name),
        "hoverinfo": "skip",
        "cliponaxis": False,
        "x": [cut_off.x for cut_off in cut_offs],
        "y": [cut_off.at for cut_off in cut_offs],
        "marker": {
            "symbol": [high if cut_off.high else low for cut_off in cut_offs],
            "size": 8,
            "color": LIGHT.series[look.slot],
        },
    }


def _line(figure: Figure, series: Series, look: Look, picture: Picture) -> list[dict[str, Any]]:
    colour = LIGHT.series[look.slot]
    path = picture.path(series)
    text = [None if k is None else _hover_text(figure, series, k) for _, k in path]
    line: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines",
        "name": one_line(series.name),
        "hoverinfo": "text",
        "hovertext": text,
        "x": [x for x, _ in path],
        "y": [None if k is None else picture.y.place(series.y[k]) for _, k in path],
        "line": {"color": colour, "width": 1.8, "dash": DASHES[look.dash][0]},
        "connectgaps": False,
    }
    bands = []
    for band in picture.bands(series):
        x = [x for x, _, _ in band]
        outline = [high for _, _, high in band] + [low for _, low, _ in reversed(band)]
        bands.append(
            {
                "type": "scatter",
                "mode": "lines",
                "x": x + x[::-1],
                "y": outline,
                "fill": "toself",
                "hoverinfo": "skip",
                "fillcolor": colour,
                "opacity": 0.18,
                "line": {"width": 0, "color": colour},
                "name": one_line(series.name),
            }
        )
    return [*bands, line]


def _blocks(figure: Figure, series: Series, look: Look, picture: Picture) -> list[dict[str, Any]]:
    """Traces of bars: outlines separated by null, and a transparent point in each bar for hovering."""
    colour = LIGHT.series[look.slot]
    blocks = picture.blocks(series)
    x: list[float | None] = []
    y: list[float | None] = []
    for block in blocks:
        low, high = block.sides
        x += [low, high, high, low, low, None]
        y += [block.start, block.start, block.end, block.end, block.start, None]
    common = {"type": "scatter", "name": one_line(series.name)}
    outline = common | {
        "mode": "lines",
        "x": x,
        "y": y,
        "fill": "toself",
        "fillcolor": colour,
        "hoverinfo": "skip",
        "line": {"width": 0, "color": colour},
    }
    hover_points = common | {
        "mode": "markers",
        "x": [block.x for block in blocks],
        "y": [(block.start + block.end) / 2 for block in blocks],
        "hoverinfo": "text",
        "hovertext": [_hover_text(figure, series, block.k) for block in blocks],
        "marker": {"symbol": "square", "size": 7, "color": colour, "opacity": 0},
    }
    return [hover_points, outline]


def _trace(figure: Figure, series: Series, picture: Picture) -> dict[str, Any]:
    indices = range(len(series.x))
    return {
        "type": "scatter",
        "name": one_line(series.name),
        "hoverinfo": "text",
        "x": [picture.x.place(series.x[k]) for k in indices],
        "y": [picture.y.place(series.y[k]) for k in indices],
        "hovertext": [_hover_text(figure, series, k) for k in indices],
    }


TRACES = {"points": _points, "line": _line, "bars": _blocks}


def _hover_text(figure: Figure, series: Series, k: int) -> str:
    """Hover text of a point: the point and the values of other series of its group at the same x.

    A point and its model overlap and cannot be selected separately. Plotly interprets some HTML in hover
    texts (bold, links), so external text is escaped.
    """
    points = [(series, k)]
    if series.group:
        group_series = (
            candidate
            for candidate in figure.series
            if candidate.group == series.group and candidate is not series
        )
        points += [
            (candidate, candidate.x.index(series.x[k]))
            for candidate in group_series
            if series.x[k] in candidate.x
        ]
        points.sort(key=lambda pair: pair[0].kind != "points")
    return "<br>".join(
        f"<b>{escape_markup(candidate.name)}</b><br>{escape_markup(point_text(figure, candidate, j))}"
        for candidate, j in points
    )


def escape_markup(text: str) -> str:
    return one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _layout(picture: Picture, x_scale: Scale, y_scale: Scale) -> dict[str, Any]:
    return layout(x_scale, y_scale, 10 + MARK_ROW_PX * picture.mark_rows) | {
        "shapes": _shapes(picture),
        "annotations": _annotations(picture, x_scale),
    }


def layout(x: Scale, y: Scale, top_px: float) -> dict[str, Any]:
    """Plotly layout with two axes and `top_px` free pixels above them."""
    return {
        "autosize": True,
        "showlegend": False,
        "hovermode": "closest",
        "hoverdistance": 24,
        "dragmode": "zoom",
        "uirevision": "keep",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": 12.5, "color": LIGHT.ink},
        "margin": {"l": 8, "r": 14, "t": top_px, "b": 8, "pad": 0},
        "hoverlabel": {
            "align": "left",
            "bgcolor": LIGHT.card,
            "bordercolor": LIGHT.line,
            "font": {"family": FONT, "size": 13, "color": LIGHT.ink},
        },
        "xaxis": axis_layout(x, X_LENGTH, lambda t: 7.0 * len(t) + 14),
        "yaxis": axis_layout(y, Y_LENGTH, lambda t: 26.0),
    }


def axis_layout(scale: Scale, length: float, room: Callable[[str], float]) -> dict[str, Any]:
    ticks = scale.ticks(length, room)
    bounds = [scale.low, scale.high]
    if scale.axis.scale == "log":
        bounds = [math.log10(bound) for bound in bounds]
    return {
        "type": scale.axis.scale,
        "range": bounds,
        "autorange": False,
        "minallowed": bounds[0],
        "maxallowed": bounds[1],
        "tickmode": "array",
        "tickvals": list(ticks.values),
        "ticktext": list(ticks.labels),
        "automargin": True,
        "title": {
            "text": escape_markup(axis_title(scale.axis)),
            "standoff": 10,
            "font": {"color": LIGHT.muted, "size": 12.5},
        },
        "tickfont": {"color": LIGHT.muted, "size": 12},
        "tickangle": 0,
        "showgrid": True,
        "gridcolor": LIGHT.grid,
        "gridwidth": 1,
        "zeroline": False,
        "showline": True,
        "linecolor": LIGHT.line,
        "linewidth": 1,
        "ticks": "outside",
        "tickcolor": LIGHT.line,
        "ticklen": 4,
    }


def _shapes(picture: Picture) -> list[dict[str, Any]]:
    lines = [(mark.at, LIGHT.muted, "dot", 1.2) for mark in picture.marks]
    if picture.gap is not None:
        lines.append((picture.gap, LIGHT.line, "dot", 1.0))
    return [
        {
            "type": "line",
            "xref": "x",
            "yref": "paper",
            "x0": at,
            "x1": at,
            "y0": 0,
            "y1": 1,
            "layer": "below",
            "line": {"color": colour, "dash": dash, "width": width},
        }
        for at, colour, dash, width in lines
    ]


def _annotations(picture: Picture, x_scale: Scale) -> list[dict[str, Any]]:
    """Annotations on a log axis are positioned at the logarithm of the value (shapes are not)."""
    return [
        {
            "xref": "x",
            "yref": "paper",
            "x": math.log10(mark.at) if x_scale.axis.scale == "log" else mark.at,
            "y": 1,
            "yshift": MARK_ROW_PX * mark.row,
            "xanchor": mark.anchor,
            "yanchor": "bottom",
            "showarrow": False,
            "text": escape_markup(mark.label),
            "font": {"size": 11.5, "color": LIGHT.muted},
            "borderpad": 1,
        }
        for mark in picture.marks
    ]


def tick_levels(scale: Scale) -> list[dict[str, list[Any]]]:
    return [{"values": list(level.values), "labels": list(level.labels)} for level in scale.levels]
