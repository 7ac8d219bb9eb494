# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Planes: contour lines are where z has their value, and every way of drawing them agrees."""

from __future__ import annotations

import io
import json
import math
import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tiers import slow

from hockney.draw import Axis, Plane, Sheet, interactive, save
from hockney.draw.describe import describe
from hockney.draw.files import rendered
from hockney.draw.palette import LIGHT
from hockney.draw.plane import LABEL_HEIGHT, flat, relief

X, Y, Z = Axis("work T", "s"), Axis("ranks", "ranks", "linear"), Axis("efficiency", "", "linear")
WORKS = tuple(10 ** (k / 10) for k in range(-20, 21))
RANKS = tuple(float(n) for n in range(2, 18))


def decay(cost: float) -> tuple[tuple[float, ...], ...]:
    """t / (t + n cost): its line at 1/2 is t = n cost."""
    return tuple(tuple(t / (t + n * cost) for t in WORKS) for n in RANKS)


PLANE = Plane(
    "plane",
    "Efficiency",
    X,
    Y,
    Z,
    WORKS,
    RANKS,
    (
        Sheet("short", decay(0.01), ((0.5, "50%"), (0.8, "80%"))),
        Sheet("long", decay(0.2), ((0.5, "50%"), (2.0, "never"))),
    ),
    "caption",
)


def test_a_contour_line_lies_where_z_has_its_value():
    shown = relief(PLANE)
    for contours, cost in zip(shown.contours, (0.01, 0.2), strict=True):
        (line,) = contours[0].pieces
        assert contours[0].label == "50%" and len(line) > 15
        for u, v in line:
            assert flat(shown.x, u) == pytest.approx(cost * flat(shown.y, v), rel=0.02)
    assert shown.contours[1][1].pieces == () and shown.contours[1][1].label_at is None


def test_the_plane_fills_its_axes_and_counts_have_ticks_of_their_own():
    shown = relief(PLANE)
    assert (shown.x.low, shown.x.high) == (WORKS[0], WORKS[-1])
    assert (shown.across[0], shown.across[-1], shown.along[0], shown.along[-1]) == (0, 1, 0, 1)
    assert all(v.is_integer() for v in shown.y.ticks(300, lambda t: 20).values)


def test_labels_stand_on_their_lines_and_not_on_one_another():
    shown = relief(PLANE)
    contours = [c for sheet in shown.contours for c in sheet if c.label_at]
    assert len(contours) == 3
    for contour in contours:
        assert min(math.dist(contour.label_at, place) for place in contour.pieces[0]) < 0.05
    many = Plane(
        "p",
        "P",
        X,
        Y,
        Z,
        WORKS,
        RANKS,
        (Sheet("s", decay(0.1), tuple((0.5 + k / 1e4, "same") for k in range(30))),),
    )
    places = [c.label_at for c in relief(many).contours[0] if c.label_at]
    assert 1 < len(places) < 30
    for k, (u, v) in enumerate(places):
        assert all(abs(v - b) >= LABEL_HEIGHT - 1e-9 or abs(u - a) > 0.1 for a, b in places[:k])


def test_what_the_axes_cannot_show_is_left_out():
    holes = Plane(
        "h", "H", Axis("T", "s"), Axis("L", "B", zero=True), Z,
        (0.0, 1.0, 2.0), (0.0, 8.0, 64.0),
        (Sheet("s", ((0.1, 0.2, math.nan), (0.1, 0.4, 0.6), (0.1, 0.6, math.inf)), ((0.5, "half"),)),),
    )  # fmt: skip
    shown = relief(holes)
    assert shown.columns == (1, 2), "0 s has no place on a log axis"
    assert shown.rows == (0, 1, 2) and shown.along[0] == 0, "0 B has one of its own"
    assert shown.height(0, 0, 2) is None
    live = json.loads(json.dumps(interactive(holes), allow_nan=False))
    assert live["surface"]["data"][0]["z"][0][1] is None
    assert live["words"]["z"][0][0] == ["0.2", "nothing"]
    assert rendered(holes, "svg")


def test_a_sheet_of_another_form_is_refused():
    with pytest.raises(ValueError, match="'bad'"):
        relief(Plane("p", "P", X, Y, Z, WORKS, RANKS, (Sheet("bad", ((1.0,),)),)))


def test_both_views_say_the_same_in_one_sheet_s_colour():
    live = interactive(PLANE)
    assert [entry["name"] for entry in live["legend"]] == ["short", "long"]
    for k, entry in enumerate(live["legend"]):
        line, label = (live["data"][trace] for trace in entry["traces"])
        surface = live["surface"]["data"][k]
        assert {line["line"]["color"], label["textfont"]["color"], surface["colorscale"][0][1]} == {
            LIGHT.series[k]
        }
        assert surface["z"][3][5] == pytest.approx(PLANE.sheets[k].z[3][5], rel=1e-4)
        assert None in line["x"] and line["connectgaps"] is False
    assert live["words"]["x"][20] == "1.00 s" and live["words"]["y"][0] == "2 ranks"
    assert live["words"]["z"][0][0][20] == "0.98"
    assert live["layout"]["xaxis"]["range"] == [-2, 2]
    assert live["surface"]["layout"]["scene"]["xaxis"]["type"] == "log"


def test_files_have_both_views_and_halves_have_one(tmp_path):
    svg, png = save(PLANE, tmp_path, ("svg", "png"))
    texts = {
        "".join(e.itertext()).strip() for e in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")
    }
    assert {"short", "long", "work T", "ranks", "efficiency", "50%", "80%", "1 s"} <= texts
    image = Image.open(png).convert("RGB")
    for half in (
        image.crop((0, 60, image.width // 2, image.height)),
        image.crop((image.width // 2, 60, image.width, image.height)),
    ):
        frequent = {colour for count, colour in half.getcolors(half.width * half.height) if count > 40}
        for colour in LIGHT.series[:2]:
            assert tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5)) in frequent
    assert b"efficiency" in rendered(PLANE, "svg", "surface") and b"50%" not in rendered(
        PLANE, "svg", "surface"
    )
    assert b"efficiency" not in rendered(PLANE, "svg", "contours") and b"50%" in rendered(
        PLANE, "svg", "contours"
    )


@pytest.mark.parametrize("ending", ["svg", *slow("png", "pdf")])
def test_the_same_plane_gives_the_same_bytes(ending):
    assert rendered(PLANE, ending) == rendered(PLANE, ending)


def test_a_description_for_those_who_do_not_see_it(golden):
    golden("plane_described.txt", describe(PLANE))


def test_hostile_names_obey_nothing():
    hostile = "<script>alert(1)</script> $\\frac{1}{0}$ & ]]> \x00\x1b[31m \u2028 \ud800 \u202e"
    plane = Plane(
        hostile, hostile, Axis(hostile, hostile), Axis(hostile, hostile), Axis(hostile, hostile),
        WORKS, RANKS, (Sheet(hostile, decay(0.1), ((0.5, hostile),)),),
    )  # fmt: skip
    tree = ElementTree.parse(io.BytesIO(rendered(plane, "svg")))
    assert not [e for e in tree.iter() if "script" in e.tag]
    live = interactive(plane)
    # Plotly interprets some HTML in these; other texts are never markup.
    for text in [*live["data"][2]["text"], *live["words"]["x"], *live["words"]["sheets"]]:
        assert "<" not in text and text.isprintable()


numbers = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 4),
    st.integers(0, 4),
    st.data(),
    st.sampled_from(["log", "linear"]),
    st.sampled_from(["s", "B", "ranks", ""]),
)
def test_whatever_the_numbers_the_plane_is_strict_json(wide, deep, data, form, unit):
    def some(count: int) -> tuple[float, ...]:
        return tuple(data.draw(st.lists(numbers, min_size=count, max_size=count)))

    x, y = tuple(sorted(some(wide))), tuple(sorted(some(deep)))
    sheet = Sheet("s", tuple(some(wide) for _ in y), ((data.draw(numbers), "level"),))
    axis = Axis("a", unit, form, True)
    live = interactive(Plane("p", "P", axis, axis, Axis("z", unit, form), x, y, (sheet,)))
    assert json.loads(json.dumps(live, allow_nan=False)) == live
