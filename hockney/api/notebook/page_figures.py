# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a page as Plotly figures, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hockney.core.errors import unknown
from hockney.draw.figure import Figure
from hockney.draw.names import named

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

    from hockney.draw.page import Page

Figures = Mapping[str, Figure]


def figures_of(page: Page) -> Figures:
    """Under names that are unique, in the order of the page."""
    return named(page.figures)


def drawn(figures: Figures, name: str) -> PlotlyFigure:
    """Raises UsageError for an unknown name."""
    if name not in figures:
        raise unknown("figure", name, figures)
    from hockney.draw.plotly_figure import plotly_figure

    return plotly_figure(figures[name])
