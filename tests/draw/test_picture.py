# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from hockney.draw import make_interactive
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.files import render
from hockney.draw.layout import CHARACTER, MIN_WIDTH, Bar, lay_out
from hockney.draw.svg import draw_still

SIZE, TIME = Axis("size", "B", zero=True), Axis("time", "s")


def test_the_model_at_zero_is_a_dash_of_its_own():
    line = Series(
        "m", (4.0, 0.0, 1.0), (3e-6, 1e-6, 2e-6), (2e-6, 0.5e-6, 1e-6), (4e-6, 2e-6, 3e-6), kind="line"
    )
    shown = lay_out(Figure("f", "F", SIZE, TIME, (line,)))
    path = shown.path(line)
    assert [k for _, k in path] == [1, 1, None, 2, 0]
    assert path[0][0] < shown.x.zero < path[1][0] < shown.gap < path[3][0] == 1.0
    dash, rest = shown.bands(line)
    assert [(low, high) for _, low, high in dash] == [(0.5e-6, 2e-6)] * 2
    assert [(x, low, high) for x, low, high in rest] == [(1.0, 1e-6, 3e-6), (4.0, 2e-6, 4e-6)]


def test_error_bars_are_lengths_and_an_impossible_low_end_stays_drawable():
    points = Series(
        "p", (1.0, 2.0, 4.0), (2e-6, 3e-6, math.nan), (1.5e-6, -1e-6, 1e-6), (2.5e-6, math.inf, 2e-6)
    )
    shown = lay_out(Figure("f", "F", SIZE, TIME, (points,)))
    first = shown.bar(points, 0)
    assert math.isclose(first.above, 0.5e-6) and math.isclose(first.below, 0.5e-6)
    second = shown.bar(points, 1)
    assert second.above == 0
    assert 0 < 3e-6 - second.below < shown.y.low, (
        "it leaves the picture at the bottom, and a log axis can hold it"
    )
    assert shown.bar(points, 2) == Bar(0.0, 0.0)


def test_the_view_shows_intervals_but_not_at_the_cost_of_the_values():
    x, y = (1.0, 2.0), (1e-6, 2e-6)
    near = lay_out(Figure("f", "F", SIZE, TIME, (Series("p", x, y, (0.9e-6, 1.8e-6), (1.1e-6, 3e-6)),)))
    assert near.y.high > 3e-6
    far = lay_out(Figure("f", "F", SIZE, TIME, (Series("p", x, y, (0.9e-6, 1.8e-6), (1.1e-6, 3.0)),)))
    assert far.y.high < 1e-5


def cut_off(names: tuple[str, ...] = ()) -> Figure:
    """The first bar is inside, the second is too long upwards, the third in both directions."""
    x = Axis("barrier", "", "linear", names=names) if names else SIZE
    points = Series("p", (0.0, 1.0, 2.0), (1e-6,) * 3, (0.9e-6, 0.9e-6, 0.0), (1.1e-6, 1.0, 1.0))
    return Figure("f", "F", x, TIME, (points,))


def test_bars_that_are_longer_than_the_axis_are_marked():
    figure = cut_off()
    shown = lay_out(figure)
    high, low = shown.y.high, shown.y.low
    assert [(cut.x, cut.at, cut.high) for cut in shown.cut_offs(figure.series[0])] == [
        (1.0, high, True),
        (2.0, high, True),
        (2.0, low, False),
    ]


@pytest.mark.parametrize(
    ("names", "symbols"),
    [
        ((), ["triangle-up", "triangle-up", "triangle-down"]),
        (("a", "b", "c"), ["triangle-right", "triangle-right", "triangle-left"]),
    ],
)
def test_a_cut_off_bar_has_an_arrow_in_every_way_of_drawing(names, symbols):
    figure = cut_off(names)
    whole = replace(figure, series=(replace(figure.series[0], low=(), high=()),))
    drawn = make_interactive(figure)
    _, arrows = drawn["data"]
    assert arrows["marker"]["symbol"] == symbols and arrows["hoverinfo"] == "skip"
    values = arrows["x" if names else "y"]
    ends = drawn["layout"]["xaxis" if names else "yaxis"]["range"]
    assert [math.log10(v) for v in values] == pytest.approx([ends[1], ends[1], ends[0]])
    assert drawn["legend"][0]["traces"] == [0, 1], "the legend switches them together"
    assert len(make_interactive(whole)["data"]) == 1
    triangle = re.compile(r'd="(?:M[\d. ]+l[-\d. ]+z){3}" fill')
    assert triangle.search(draw_still(figure, "f")) and not triangle.search(draw_still(whole, "f"))
    assert render(figure, "svg") != render(whole, "svg")


def test_labels_of_near_marks_stand_in_different_rows():
    points = Series("p", (1.0, 2.0**20), (1e-6, 1e-3))
    near = tuple((4096.0 * 2**k, f"change at {4 * 2**k} KiB") for k in range(3))
    shown = lay_out(Figure("f", "F", SIZE, TIME, (points,), marks=near))
    assert sorted(m.row for m in shown.marks) == [0, 1, 2]
    apart = lay_out(Figure("f", "F", SIZE, TIME, (points,), marks=((2.0, "a"), (2.0**15, "b"))))
    assert [m.row for m in apart.marks] == [0, 0]
    assert len("a") * CHARACTER < 0.5 * MIN_WIDTH


def test_names_of_rows_leave_less_room_for_labels_of_marks():
    marks, ratios = ((0.95, "0.952"), (1.05, "1.05")), Axis("B / A", "", "log", include=(0.8, 1.25))

    def rows(name: str) -> int:
        axis = Axis("case", "case", "linear", names=(name, "b"))
        shown = lay_out(Figure("f", "F", axis, ratios, (Series("p", (0.0, 1.0), (1.0, 1.2)),), marks=marks))
        return len({mark.row for mark in shown.marks})

    assert rows("a") == 1 and rows("reduce_scatter_block, 64 KiB, 4 ranks") == 2


def test_marks_outside_the_view_are_left_out():
    points = Series("p", (8.0, 64.0), (1e-6, 1e-3))
    shown = lay_out(
        Figure("f", "F", SIZE, TIME, (points,), marks=((1.0, "a"), (16.0, "b"), (-1.0, "c"), (2.0**30, "d")))
    )
    assert [m.label for m in shown.marks] == ["b"]


def test_a_figure_without_a_value_is_still_a_figure():
    shown = lay_out(
        Figure("f", "F", SIZE, TIME, (Series("p", (), ()), Series("q", (math.nan,), (0.0,), kind="line")))
    )
    assert 0 < shown.x.low < shown.x.high and 0 < shown.y.low < shown.y.high
