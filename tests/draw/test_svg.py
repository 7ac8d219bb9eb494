# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Still pictures of a page: well-formed, finite, all texts escaped, points at the positions of `lay_out`."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hockney.core.errors import one_line
from hockney.draw import Axis, Figure, Series
from hockney.draw.layout import lay_out
from hockney.draw.palette import SYMBOLS
from hockney.draw.svg import (
    HEIGHT,
    SHAPES,
    WIDTH,
    draw_still,
    format_length,
    make_frame,
    path_data,
    shorten_text,
    text_width,
)

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
values = st.floats() | st.sampled_from([0.0, 1e-9, 1e-6, 1.0, 1024.0, 1e30, -1.0])
texts = st.text(max_size=30) | st.sampled_from(["</svg><script>", "a'b\"&amp;<!--", "\x00\x1b\ud800\u202e"])
units = st.sampled_from(["s", "B", "B/s", "ranks", "<&>"])
axes = st.builds(Axis, texts, units, st.sampled_from(["log", "linear"]), st.booleans())


@st.composite
def series(draw) -> Series:
    count = draw(st.integers(0, 5))
    row = st.tuples(*[values] * count)
    low, high = (draw(row), draw(row)) if draw(st.booleans()) else ((), ())
    kind = draw(st.sampled_from(["points", "line"]))
    return Series(draw(texts), draw(row), draw(row), low, high, kind, draw(texts))


figures = st.builds(
    Figure,
    texts,
    texts,
    axes,
    axes,
    st.lists(series(), min_size=1, max_size=5).map(tuple),
    marks=st.lists(st.tuples(values, texts), max_size=3).map(tuple),
)


def drawn(figure: Figure) -> ElementTree.Element:
    """All of the page's pictures of a figure. The page uses no XML namespaces, as HTML needs none; XML
    does."""
    markup = str(draw_still(figure, "figure-f")).replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"')
    return ElementTree.fromstring(f"<all>{markup}</all>")


def is_sane(root: ElementTree.Element) -> None:
    elements = list(root.iter())
    assert {e.tag.removeprefix(SVG) for e in elements} <= {
        "all", "svg", "g", "path", "text", "rect", "clipPath"
    }  # fmt: skip
    for e in elements:
        for name in ("d", "x", "y", "width", "height", "viewBox", "transform", "stroke-dasharray"):
            text = e.get(name, "")
            words = re.sub(NUMBER, "", text)
            assert set(words) <= set("MmLlVvHhaz ,()rotatetranslate"), (name, text)
            assert all(abs(float(n)) < 1e5 for n in NUMBER.findall(text)), (name, text)
        for name in ("fill", "stroke"):
            colour = e.get(name, "none")
            assert colour == "none" or re.fullmatch(r"var\(--[a-z0-9]+\)", colour), "colours are the page's"
        assert (e.text or "").isprintable()


NAMELESS = Figure(
    "",
    "",
    Axis("", "s"),
    Axis("", "s"),
    tuple(
        Series(name, (), (), kind=kind)
        for name, kind in ((("", "points"),) * 2 + (("0", "points"), ("", "line")))
    ),
)
"""Series without a group are no group, even if they have no name either."""


@given(figures)
@example(NAMELESS)
def test_any_figure_gives_a_sane_picture(figure):
    root = drawn(figure)
    is_sane(root)
    said = [e.text or "" for e in root.iter(f"{SVG}text")]
    if len(figure.series) > 1:
        for one in figure.series:
            assert shorten_text(one.name, WIDTH - 24) in said


@given(figures)
def test_points_are_where_the_picture_places_them(figure):
    """Each frame's position is recomputed from the picture's grid lines: left and bottom of its axes."""
    shown = lay_out(figure)
    root = drawn(figure)
    left, top, bottom, right = _axes(root)
    wanted = {
        (left + (right - left) * shown.x.fraction(x), bottom - (bottom - top) * shown.y.fraction(y))
        for s in figure.series
        if s.kind == "points"
        for x, y in ((shown.x.place(a), shown.y.place(b)) for a, b in zip(s.x, s.y, strict=True))
        if x is not None and y is not None
    }
    found = {
        (float(x), float(y))
        for e in root.iter(f"{SVG}path")
        for shape in SHAPES.values()
        for x, y in re.findall(rf"M(\S+) (\S+?){re.escape(shape)}", e.get("d", ""))
    }
    found = {(x, y) for x, y in found if y >= top - 0.2}  # without the legend
    assert all(any(math.dist(p, q) < 0.25 for q in found) for p in wanted)
    assert all(any(math.dist(p, q) < 0.25 for q in wanted) for p in found)


def _axes(root: ElementTree.Element) -> tuple[float, float, float, float]:
    (line,) = (
        e for e in root.iter(f"{SVG}path") if e.get("stroke") == "var(--line)" and "H" in e.get("d", "")
    )
    found = re.match(r"M(\S+) (\S+)V([\d.]+)H([\d.]+)", line.get("d", ""))
    assert found
    left, top, bottom, right = map(float, found.groups())
    return left, top, bottom, right


LINE = Figure(
    "f",
    "F",
    Axis("size", "B", zero=True),
    Axis("time", "s"),
    (
        Series("measured", (0.0, 8.0, 64.0), (1e-6, 2e-6, 4e-6), (0.9e-6, 1e-9, 3e-6), (2e-6, 3e-6, 5e-6)),
        Series("model", (0.0, 8.0, 64.0), (1e-6, 2e-6, 4e-6), (1e-9,) * 3, (9.0,) * 3, "line"),
    ),
    marks=((16.0, "change <here>"),),
)


def test_a_line_breaks_beside_zero_and_runs_through_its_points():
    root = drawn(LINE)
    (line,) = (
        e for e in root.iter(f"{SVG}path") if e.get("stroke") == "var(--c2)" and e.get("d", "").count("M") > 1
    )
    dash, course = line.get("d", "M")[1:].split("M")
    places = list(accumulate(_pairs(course), lambda a, b: (a[0] + b[0], a[1] + b[1])))
    shown = lay_out(LINE)
    left, top, bottom, right = _axes(root)
    frame = make_frame(shown.x, shown.y, top, WIDTH, HEIGHT)
    assert (frame.left, frame.bottom, frame.right) == pytest.approx((left, bottom, right), abs=0.06)
    wanted = [(frame.across(x), frame.down(y)) for x, y in ((8.0, 2e-6), (64.0, 4e-6))]
    assert [math.dist(a, b) < 0.2 for a, b in zip(places, wanted, strict=True)] == [True, True]
    assert len(_pairs(dash)) == 2


def _pairs(text: str) -> list[tuple[float, float]]:
    numbers = list(map(float, NUMBER.findall(text)))
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def test_what_is_longer_than_the_axis_is_cut_off():
    root = drawn(LINE)
    (clip,) = root.iter(f"{SVG}clipPath")
    (group,) = (e for e in root.iter(f"{SVG}g") if e.get("clip-path"))
    assert clip.get("id") == "figure-f-axes" and group.get("clip-path") == "url(#figure-f-axes)"
    assert len(group) == 3, "band, line and bars"


def test_no_interval_takes_no_clip():
    bare = replace(LINE, series=(replace(LINE.series[0], low=(), high=()),), marks=())
    assert "clip" not in draw_still(bare, "f")


def test_words_are_escaped_and_cut_to_their_room():
    text = draw_still(replace(LINE, x=Axis("<b>" * 400, "B"), marks=((16.0, "&" * 400),)), "f")
    assert "<b>" not in text and "…" in text
    assert all(len(e.text or "") < 120 for e in drawn(LINE).iter(f"{SVG}text"))
    assert "change &lt;here&gt;" in draw_still(LINE, "f")


@given(st.text(), st.floats(0, 300))
def test_shortened_text_fits(text, room):
    short = shorten_text(text, room)
    assert text_width(short) <= max(room, text_width("…"))
    assert short == one_line(text) or short.endswith("…")


@given(st.lists(st.tuples(st.floats(-500, 500), st.floats(-500, 500)), min_size=1, max_size=20))
def test_a_path_does_not_drift(points):
    ends = list(accumulate(_pairs(path_data(points)), lambda a, b: (a[0] + b[0], a[1] + b[1])))
    assert math.dist(ends[-1], points[-1]) < 0.1


def test_numbers_are_short():
    assert [format_length(v) for v in (12.0, 0.5, -0.51, 3.14, -0.01, 100.0)] == [
        "12",
        ".5",
        "-.5",
        "3.1",
        "0",
        "100",
    ]


def test_every_symbol_has_a_shape_around_its_point():
    assert set(SHAPES) == {name for name, _ in SYMBOLS}
