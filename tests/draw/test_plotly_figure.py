# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as Plotly objects: they are complete without a page around them."""

from __future__ import annotations

from dataclasses import replace

from hockney.draw import Axis, Figure, Series
from hockney.draw.figure import with_unique_names
from hockney.draw.plotly_figure import plotly_figure

SIZE, TIME = Axis("message size", "B", zero=True), Axis("one-way time", "s")
POINTS = Series("hot", (0.0, 8.0), (420e-9, 435e-9), (415e-9, 430e-9), (430e-9, 441e-9), group="hot")
LINE = Series("model", (0.0, 1.0, 8.0), (420e-9, 421e-9, 433e-9), (410e-9,) * 3, (440e-9,) * 3, kind="line")
FIGURE = Figure("latency", "Time of one message", SIZE, TIME, (POINTS, LINE), marks=((4.0, "change"),))


def test_each_series_is_once_in_the_legend_and_switched_with_its_band():
    drawn = plotly_figure(FIGURE)
    shown = [trace for trace in drawn.data if trace.showlegend]
    assert [trace.name for trace in shown] == ["hot", "model"]
    bands = [trace for trace in drawn.data if trace.fill == "toself"]
    assert bands and {trace.legendgroup for trace in bands} == {shown[1].legendgroup}
    assert drawn.layout.title.text == FIGURE.title and drawn.layout.xaxis.type == "log"


def test_one_series_needs_no_legend():
    assert plotly_figure(replace(FIGURE, series=(POINTS,))).layout.showlegend is False


def test_names_hold_no_markup_that_plotly_obeys():
    hostile = "<a href='x'>b</a>"
    drawn = plotly_figure(
        replace(FIGURE, title=hostile, caption=hostile, series=(replace(POINTS, name=hostile), LINE))
    )
    assert "<a" not in drawn.to_json().encode().decode("unicode_escape")


def test_figures_of_one_name_are_told_apart():
    figures = [FIGURE, replace(FIGURE, name="Latency"), replace(FIGURE, name="a/b"), FIGURE]
    assert list(with_unique_names(figures)) == ["latency", "Latency-2", "a-b", "latency-3"]
