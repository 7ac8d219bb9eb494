# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Stacked bars in rows: each begins where the one before ends, the same in all ways of drawing."""

from __future__ import annotations

import json
import re

import pytest

from hockney.draw import Axis, Figure, Series, make_interactive
from hockney.draw.files import render
from hockney.draw.layout import BAR_HEIGHT, lay_out
from hockney.draw.palette import SYMBOLS
from hockney.draw.plotly_figure import plotly_figure
from hockney.draw.svg import draw_still
from hockney.report import data

ROWS = (0.0, 1.0)
FIGURE = Figure(
    "bars",
    "Bars",
    Axis("benchmark", "", "linear", names=("cg, 1", "cg, 2")),
    Axis("share of the time", "%", "linear", include=(0.0, 1.0)),
    (
        Series("computing", ROWS, (1.0, 0.7), kind="bars", detail=("1 ms", "7 ms")),
        Series("waiting", ROWS, (0.0, 0.3), kind="bars", base=(1.0, 0.7), detail=("0 ns", "3 ms")),
    ),
)


def test_each_bar_begins_at_its_base_and_bars_without_a_length_are_left_out():
    shown = lay_out(FIGURE)
    first, second = (shown.blocks(series) for series in FIGURE.series)
    assert [(block.start, block.end) for block in first] == [(0.0, 1.0), (0.0, 0.7)]
    assert [(block.x, block.start, block.end, block.k) for block in second] == [(-1.0, 0.7, 1.0, 1)]
    assert second[0].sides == (-1 - BAR_HEIGHT / 2, -1 + BAR_HEIGHT / 2)


def test_the_axis_contains_the_whole_stack():
    long = Figure(
        "long",
        "Long",
        FIGURE.x,
        Axis("time", "", "linear"),
        (
            Series("a", ROWS, (5.0, 6.0), kind="bars"),
            Series("b", ROWS, (1.0, 3.0), kind="bars", base=(5.0, 6.0)),
        ),
    )
    scale = lay_out(long).y
    assert scale.low <= 0 and scale.high >= 9


def test_the_interactive_figure_has_outlines_and_a_text_for_each_bar():
    live = json.loads(json.dumps(make_interactive(FIGURE), allow_nan=False))
    outline = [trace for trace in live["data"] if trace.get("fill") == "toself"]
    assert [trace["name"] for trace in outline] == ["computing", "waiting"]
    assert outline[1]["x"][:5] == [0.7, 0.7, 1.0, 1.0, 0.7] and outline[1]["x"][5:] == [None]
    middle = next(t for t in live["data"] if t["name"] == "waiting" and t["mode"] == "markers")
    assert middle["x"] == [pytest.approx(0.85)] and middle["y"] == [-1.0]
    assert "30%" in middle["hovertext"][0] and "3 ms" in middle["hovertext"][0]
    assert [entry["symbol"] for entry in live["legend"]] == ["square", "square"]
    assert [len(entry["traces"]) for entry in live["legend"]] == [2, 2]
    assert {entry["kind"] for entry in live["legend"]} == {"points"} and SYMBOLS[1][0] == "square"


def test_the_still_picture_has_a_rectangle_for_each_bar():
    text = draw_still(FIGURE, "bars")
    paths = re.findall(r'<path[^>]*d="([^"]*)"[^>]*fill="var\(--c[12]\)"', text)
    outlines = [path for path in paths if path.count("Z") + path.count("z") >= 1 and path.startswith("M")]
    assert sum(path.lower().count("z") for path in outlines) >= 3


def test_files_tables_and_notebooks_have_them():
    assert b"computing" in render(FIGURE, "svg") and render(FIGURE, "png")
    columns, rows = data.figure_table(FIGURE)
    assert columns[0] == "series" and ("waiting", "cg, 2", "30%", "3 ms") in rows
    figure = plotly_figure(FIGURE)
    visible = [trace for trace in figure.data if trace.showlegend]
    assert [trace.fill for trace in visible] == ["toself", "toself"], "and not transparent points"


def test_a_cell_of_a_map_stands_for_its_middle():
    cells = Series("from 1 kB", (0.0, 1.0), (0.9, 0.9), kind="bars", base=(2.55, -0.45), cells=True)
    across = Axis("to rank", "", "linear", include=(-0.5, 3.5), whole=True)
    figure = Figure("map", "Map", FIGURE.x, across, (cells,))
    assert [float(row[2]) for row in data.figure_table(figure)[1]] == pytest.approx([3, 0])
    levels = lay_out(figure).y.levels
    assert levels and all(value == round(value) for level in levels for value in level.values)
