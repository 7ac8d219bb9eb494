# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures as Plotly objects: they are complete without a page around them."""

from __future__ import annotations

from dataclasses import replace

from hockney.draw import Axis, Figure, Plane, Series, Sheet
from hockney.draw.names import named
from hockney.draw.plotly_figure import plotly_figure

SIZE, TIME = Axis("message size", "B", zero=True), Axis("one-way time", "s")
POINTS = Series("hot", (0.0, 8.0), (420e-9, 435e-9), (415e-9, 430e-9), (430e-9, 441e-9), group="hot")
LINE = Series("model", (0.0, 1.0, 8.0), (420e-9, 421e-9, 433e-9), (410e-9,) * 3, (440e-9,) * 3, kind="line")
FIGURE = Figure("latency", "Time of one message", SIZE, TIME, (POINTS, LINE), marks=((4.0, "change"),))
PLANE = Plane(
    "plane",
    "Efficiency",
    Axis("work", "s"),
    Axis("message size", "B"),
    Axis("efficiency", "", "linear"),
    (1e-6, 1e-5, 1e-4),
    (1.0, 10.0),
    (Sheet("first", ((0.1, 0.5, 0.9), (0.05, 0.4, 0.8)), ((0.5, "50%"),)),),
)


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


def test_a_plane_has_contours_and_a_surface_that_tell_their_values():
    flat, space = plotly_figure(PLANE), plotly_figure(PLANE, surface=True)
    assert {trace.type for trace in flat.data} == {"scatter"}
    [surface] = space.data
    assert surface.type == "surface" and space.layout.scene.xaxis.type == "log"
    assert [trace.mode for trace in flat.data if trace.showlegend] == ["lines"]
    ground = flat.data[0]
    assert len(ground.text) == len(ground.x) == len(ground.y)
    rows = list(surface.hovertext.flat)
    assert list(ground.text) == rows and "first: " in rows[0]


def test_figures_of_one_name_are_told_apart():
    figures = [FIGURE, replace(FIGURE, name="Latency"), replace(FIGURE, name="a/b"), FIGURE]
    assert list(named(figures)) == ["latency", "Latency-2", "a-b", "latency-3"]
