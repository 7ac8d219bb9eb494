# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Plotly figures for notebooks, with title and legend inside, which the page places outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hockney.draw.figure import Figure
from hockney.draw.figure_interactive import escape_markup, make_interactive
from hockney.draw.palette import LIGHT

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

HEADER_PX = 60
HEIGHT_PX = 480


def plotly_figure(figure: Figure) -> PlotlyFigure:
    from plotly import graph_objects  # takes longer than the figure

    interactive_figure = make_interactive(figure)
    layout = interactive_figure["layout"]
    title = {
        "text": escape_markup(figure.title),
        "subtitle": {"text": escape_markup(figure.caption)},
        "font": {"size": 15},
        "yref": "container",
        "y": 1,
        "yanchor": "top",
        "pad": {"t": 10},
    }
    standing = {
        "title": title,
        "height": HEIGHT_PX,
        "showlegend": len(interactive_figure["legend"]) > 1,
        "margin": layout["margin"] | {"t": HEADER_PX + layout["margin"]["t"]},
        "paper_bgcolor": LIGHT.card,
        "plot_bgcolor": LIGHT.card,
    }
    return graph_objects.Figure(data=_with_legend(interactive_figure), layout=layout | standing)


def _with_legend(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """Convert the page's legend to Plotly's. Each entry is represented by its last trace that is not text,
    and toggles all its traces."""
    by_trace: dict[int, dict[str, Any]] = {}
    for number, entry in enumerate(figure["legend"]):
        representative = max(trace for trace in entry["traces"] if figure["data"][trace]["mode"] != "text")
        for trace in entry["traces"]:
            group = {"name": escape_markup(entry["name"]), "legendgroup": str(number)}
            by_trace[trace] = group | {"showlegend": trace == representative}
    return [trace | by_trace.get(k, {"showlegend": False}) for k, trace in enumerate(figure["data"])]
