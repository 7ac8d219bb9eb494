# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0

from __future__ import annotations

import io
import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from PIL import Image
from tiers import slow

from hockney.core.errors import UsageError
from hockney.draw import Axis, Figure, Series, save
from hockney.draw.files import file_name, render
from hockney.draw.palette import LIGHT

SERIES = (
    Series(
        "hot",
        (0.0, 8.0, 64.0),
        (4e-7, 5e-7, 9e-7),
        (3.9e-7, 4.9e-7, 8e-7),
        (4.1e-7, 5.2e-7, 9.5e-7),
        group="h",
    ),
    Series("model", (0.0, 1.0, 64.0), (4e-7, 4e-7, 9e-7), (3e-7,) * 3, (9e-7,) * 3, kind="line", group="h"),
    Series("cold", (1.0, 8.0), (6e-7, 7e-7)),
)
FIGURE = Figure(
    "latency",
    "Latency",
    Axis("message size", "B", zero=True),
    Axis("one-way time", "s"),
    SERIES,
    marks=((16.0, "change at 16 B"),),
)


def test_an_svg_has_real_text_and_the_figure_s_words(tmp_path):
    (path,) = save(FIGURE, tmp_path / "new", ("svg",))
    assert path == tmp_path / "new" / "latency.svg"
    texts = {
        "".join(e.itertext()).strip()
        for e in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    }
    assert {
        "hot",
        "model",
        "cold",
        "message size",
        "one-way time",
        "change at 16 B",
        "0",
        "64 B",
        "500 ns",
    } <= texts


def test_a_png_is_large_enough_for_print_and_shows_the_series_colours(tmp_path):
    (path,) = save(FIGURE, tmp_path, ("png",))
    image = Image.open(path).convert("RGB")
    assert image.width >= 1200
    frequent = {colour for count, colour in image.getcolors(image.width * image.height) if count > 40}
    for colour in LIGHT.series[:2]:
        assert tuple(int(colour[k : k + 2], 16) for k in (1, 3, 5)) in frequent


@pytest.mark.parametrize("ending", ["svg", *slow("png", "pdf")])
def test_the_same_figure_gives_the_same_bytes(ending):
    one, other = render(FIGURE, ending), render(FIGURE, ending)
    assert one == other
    assert b"/CreationDate" not in one and b"<dc:date>" not in one
    assert one.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[ending])


def test_an_unknown_format_is_told(tmp_path):
    with pytest.raises(UsageError) as caught:
        save(FIGURE, tmp_path, ("pngg",))
    assert caught.value.code == "unknown-picture-format"


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/abs", "a/b", "..", "", "\x00", "con\ntrol", "x" * 500]
)
def test_a_figure_s_file_stays_in_its_folder(name, tmp_path):
    safe = file_name(name)
    assert (tmp_path / f"{safe}.svg").resolve().parent == tmp_path.resolve()
    assert safe.isprintable() and 0 < len(safe) <= 100


def test_hostile_names_give_an_svg_that_parses_and_obeys_nothing():
    hostile = "<script>alert(1)</script> $\\frac{1}{0}$ & ]]> \x00\x1b[31m \u2028 \ud800 \u202e 漢字"
    figure = Figure(
        "f",
        hostile,
        Axis(hostile, "B"),
        Axis(hostile, hostile),
        (Series(hostile, (1.0,), (1.0,)), SERIES[0]),
        marks=((8.0, hostile),),
    )
    tree = ElementTree.parse(io.BytesIO(render(figure, "svg")))
    assert not [e for e in tree.iter() if "script" in e.tag]
    assert any("$\\frac{1}{0}$" in "".join(e.itertext()) for e in tree.iter())


def test_a_figure_without_values_can_be_saved(tmp_path):
    empty = Figure("empty", "Nothing", Axis("x", "B"), Axis("y", "s"), (Series("none", (), ()),))
    assert all(p.stat().st_size > 500 for p in save(empty, tmp_path))


@pytest.mark.slow
def test_a_home_that_cannot_be_written_to_is_not_talked_about(tmp_path):
    program = """
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.files import render
axis = Axis("x", "B")
render(Figure("f", "F", axis, axis, (Series("a", (1.0, 2.0), (1.0, 2.0)),)), "svg")
"""
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "none"),
        "XDG_CONFIG_HOME": "/proc/self/none",
    }
    environ["XDG_CACHE_HOME"] = "/proc/self/none"
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
