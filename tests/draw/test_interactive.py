# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import json
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from hockney.draw import Axis, Figure, Series, make_interactive
from hockney.draw.describe import axis_title, describe, point_text
from hockney.draw.palette import LIGHT

SIZE, TIME = Axis("message size", "B", zero=True), Axis("one-way time", "s")
POINTS = Series(
    "hot",
    (0.0, 8.0),
    (420e-9, 435e-9),
    (415e-9, 430e-9),
    (430e-9, 441e-9),
    group="hot",
    detail=("3 launches", "3 launches"),
)
LINE = Series(
    "model", (0.0, 1.0, 8.0), (420e-9, 421e-9, 433e-9), (410e-9,) * 3, (440e-9,) * 3, kind="line", group="hot"
)
FIGURE = Figure("latency", "Time of one message", SIZE, TIME, (POINTS, LINE), marks=((4.0, "change at 4 B"),))


def test_hover_texts_have_value_interval_and_place(golden):
    (trace,) = [t for t in make_interactive(FIGURE)["data"] if t["mode"] == "markers"]
    (line,) = [t for t in make_interactive(FIGURE)["data"] if "hovertext" in t and t["mode"] == "lines"]
    golden("hover.json", {"points": trace["hovertext"], "line": line["hovertext"]})
    assert point_text(FIGURE, POINTS, 1) in trace["hovertext"][1]
    assert line["hovertext"][-1] == trace["hovertext"][1], "the model stands on its point: one text for both"
    assert point_text(FIGURE, LINE, 1) in line["hovertext"][-2] and "hot" not in line["hovertext"][-2]
    assert trace["hoverinfo"] == "text"


def test_points_have_error_bars_and_lines_a_band_in_the_group_s_colour():
    drawn = make_interactive(FIGURE)
    points, *bands, line = drawn["data"]
    assert math.isclose(points["error_y"]["array"][1], 6e-9) and math.isclose(
        points["error_y"]["arrayminus"][1], 5e-9
    )
    assert [b["fill"] for b in bands] == ["toself", "toself"]
    assert {points["marker"]["color"], line["line"]["color"], *(b["fillcolor"] for b in bands)} == {
        LIGHT.series[0]
    }
    assert None in line["x"] and line["connectgaps"] is False


def test_the_legend_switches_a_line_with_its_band():
    drawn = make_interactive(FIGURE)
    assert [entry["name"] for entry in drawn["legend"]] == ["hot", "model"]
    assert [entry["traces"] for entry in drawn["legend"]] == [[0], [1, 2, 3]]
    assert drawn["layout"]["showlegend"] is False


def test_axes_are_logarithmic_ranges_are_exponents_and_zoom_stays_inside():
    axis = make_interactive(FIGURE)["layout"]["xaxis"]
    assert axis["type"] == "log"
    assert axis["range"][0] < math.log10(1 / 4) and math.log10(8) < axis["range"][1] < 2
    assert (axis["minallowed"], axis["maxallowed"]) == tuple(axis["range"])
    assert axis["ticktext"][:2] == ["0", "1 B"]


def test_marks_are_lines_with_a_label_at_the_same_place():
    layout = make_interactive(FIGURE)["layout"]
    assert 4.0 in [shape["x0"] for shape in layout["shapes"]]
    (label,) = layout["annotations"]
    assert label["text"] == "change at 4 B"
    assert math.isclose(10 ** label["x"], 4.0)


def test_markup_in_names_is_shown_and_not_obeyed():
    hostile = Figure(
        "f",
        "F",
        Axis("<b>x</b>", "B"),
        Axis("y & <a href='javascript:alert(1)'>z</a>", "s"),
        (
            Series(
                "<a href='https://example.org'>\x1b[31m</a>", (1.0,), (1.0,), detail=("<img src=x>\u2028",)
            ),
        ),
        marks=((1.0, "<i>here</i>"),),
    )
    drawn = make_interactive(hostile)
    texts = [
        *drawn["data"][0]["hovertext"],
        drawn["layout"]["xaxis"]["title"]["text"],
        drawn["layout"]["yaxis"]["title"]["text"],
        drawn["layout"]["annotations"][0]["text"],
    ]
    for text in texts:
        bare = text.replace("<b>&lt;a href", "&lt;a href").replace("</b><br>", "")
        assert "<" not in bare and ">" not in bare
        assert text.isprintable()


def test_a_description_for_those_who_do_not_see_it(golden):
    empty = Figure("f", "F", SIZE, TIME, (Series("p", (), ()),))
    golden("figures_described.txt", f"{describe(FIGURE)}\n{describe(empty)}")
    assert axis_title(Axis("time", "s")) == "time"
    assert axis_title(Axis("length", "hops")) == "length (hops)"
    assert axis_title(Axis("ranks", "ranks")) == "ranks"


numbers = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=70, deadline=None)
@given(
    st.lists(st.tuples(numbers, numbers, numbers, numbers), max_size=8),
    st.sampled_from(["points", "line"]),
    st.sampled_from(["log", "linear"]),
    st.sampled_from(["s", "B", "B/s", "ranks"]),
    st.text(max_size=8),
)
def test_whatever_the_numbers_the_figure_is_strict_json(rows, kind, form, unit, name):
    x, y, low, high = (tuple(column) for column in zip(*rows, strict=True)) if rows else ((), (), (), ())
    drawn = make_interactive(
        Figure(
            "f",
            name,
            Axis("x", unit, form, True),
            Axis("y", "s", form),
            (Series(name, x, y, low, high, kind),),
        )
    )
    assert json.loads(json.dumps(drawn, allow_nan=False)) == drawn
