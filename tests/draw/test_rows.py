# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Figures with names down their side: the first on top, intervals across, the same in all ways of drawing."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import pytest

from hockney.draw import Axis, Figure, Series, make_interactive
from hockney.draw.describe import describe
from hockney.draw.files import render
from hockney.draw.layout import lay_out
from hockney.draw.svg import draw_still
from hockney.report import data

NAMES = ("quick", "middle", "slow & <late>")
FIGURE = Figure(
    "rows",
    "Rows",
    Axis("barrier", "barrier", "linear", names=NAMES),
    Axis("time", "s"),
    (
        Series("others", (0.0, 2.0), (1e-6, 4e-6), (0.9e-6, math.nan), (1.2e-6, math.nan)),
        Series("mpi", (1.0,), (2e-6,), (1.5e-6,), (2.5e-6,)),
    ),
    marks=((2e-6, "mpi"),),
)


def test_the_first_name_is_on_top_and_values_run_across():
    live = json.loads(json.dumps(make_interactive(FIGURE), allow_nan=False))
    up = live["layout"]["yaxis"]
    rows = dict(zip(up["tickvals"], up["ticktext"], strict=True))
    assert [rows[place] for place in sorted(rows, reverse=True)][:2] == ["quick", "middle"]
    assert live["layout"]["xaxis"]["type"] == "log" and up["type"] == "linear"
    (first,) = [trace for trace in live["data"] if trace["name"] == "mpi"]
    assert first["x"] == [2e-6] and rows[first["y"][0]] == "middle"
    assert first["error_x"]["array"] == [pytest.approx(0.5e-6)] and "error_y" not in first
    assert live["layout"]["shapes"][0]["x0"] == 2e-6
    assert live["layout"]["annotations"][0]["x"] == pytest.approx(math.log10(2e-6))


def test_the_still_picture_has_a_row_for_each_name_and_bars_across():
    text = draw_still(FIGURE, "rows")
    assert [text.index(word) for word in (">quick<", ">middle<", ">slow &amp; &lt;late&gt;<")]
    assert re.search(r'd="M[\d.]+ [\d.]+H[\d.]+', text), "an interval is a line across"
    heights = [float(m) for m in re.findall(r'y="([\d.]+)" text-anchor="end">(?:quick|middle|slow)', text)]
    assert heights == sorted(heights) and len(heights) == 3


def test_points_beside_each_other_have_the_same_name_and_a_higher_row():
    near = Series("near", (0.7, 1.0, 1.3), (1e-6, 2e-6, 3e-6))
    high = replace(FIGURE, x=replace(FIGURE.x, row=2.0), series=(near,))
    _, rows = data.figure_table(high)
    assert {row[1] for row in rows} == {"middle"} and data.figure_csv(high).count("middle") == 3

    def height(figure: Figure) -> float:
        return float(re.search(r'viewBox="\S+ \S+ \S+ ([\d.]+)"', draw_still(figure, "rows"))[1])

    low = replace(high, x=FIGURE.x)
    assert height(high) - height(low) == pytest.approx(len(NAMES) * 12.5, abs=0.2)


def test_words_and_files_have_the_names():
    assert "at quick" in describe(FIGURE)
    _, rows = data.figure_table(FIGURE)
    assert {row[1] for row in rows} == set(NAMES)
    assert "quick" in data.figure_csv(FIGURE)
    assert b"quick" in render(FIGURE, "svg") and b"middle" in render(FIGURE, "svg")


def test_figures_side_by_side_have_the_same_axes():
    def drawn(*y: float):
        x = Axis("bytes", "B", zero=True, include=(0.0, 1.0, 1024.0))
        return lay_out(
            Figure("f", "F", x, Axis("time", "s", include=(1e-7, 1.0)), (Series("s", (8.0,) * len(y), y),))
        )

    one, other = drawn(1e-6), drawn(2e-3, 3e-3)
    assert (one.x.low, one.x.high, one.x.zero) == (other.x.low, other.x.high, other.x.zero)
    assert (one.y.low, one.y.high) == (other.y.low, other.y.high)
    assert one.y.low < 1e-7 < 1.0 < one.y.high
