# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""A figure as a Plotly object, for notebooks: with title and legend, which the page places outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hockney.draw.figure import Figure
from hockney.draw.figure_interactive import inert, interactive
from hockney.draw.palette import LIGHT

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

HEADER_PX = 60
HEIGHT_PX = 480


def plotly_figure(figure: Figure) -> PlotlyFigure:
    from plotly import graph_objects  # takes longer than the figure

    drawn = interactive(figure)
    layout = drawn["layout"]
    title = {
        "text": inert(figure.title),
        "subtitle": {"text": inert(figure.caption)},
        "font": {"size": 15},
        "yref": "container",
        "y": 1,
        "yanchor": "top",
        "pad": {"t": 10},
    }
    standing = {
        "title": title,
        "height": HEIGHT_PX,
        "showlegend": len(drawn["legend"]) > 1,
        "margin": layout["margin"] | {"t": HEADER_PX + layout["margin"]["t"]},
        "paper_bgcolor": LIGHT.card,
        "plot_bgcolor": LIGHT.card,
    }
    return graph_objects.Figure(data=_with_legend(drawn), layout=layout | standing)


def _with_legend(figure: dict[str, Any]) -> list[dict[str, Any]]:
    """Each entry of the page's legend becomes one of Plotly's: it is represented by its last trace that is
    not text, and all its traces are switched together."""
    by_trace: dict[int, dict[str, Any]] = {}
    for number, entry in enumerate(figure["legend"]):
        last = max(trace for trace in entry["traces"] if figure["data"][trace]["mode"] != "text")
        for trace in entry["traces"]:
            group = {"name": inert(entry["name"]), "legendgroup": str(number)}
            by_trace[trace] = group | {"showlegend": trace == last}
    return [trace | by_trace.get(k, {"showlegend": False}) for k, trace in enumerate(figure["data"])]
