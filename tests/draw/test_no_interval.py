# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Points without an interval: hollow, named in the legend, without a bracket."""

from __future__ import annotations

from dataclasses import replace

from hockney.draw import Axis, Figure, Series, make_interactive
from hockney.draw.intervals import SUFFIX, UNKNOWN, split_by_interval
from hockney.draw.svg import draw_still

MIXED = Series(
    "hot", (1.0, 8.0), (13.9e-6, 15e-6), (UNKNOWN, 14e-6), (UNKNOWN, 16e-6), detail=("one", "many")
)
FIGURE = Figure("latency", "Time of one message", Axis("size", "B"), Axis("time", "s"), (MIXED,))


def test_points_without_an_interval_are_hollow_and_have_no_bracket():
    known, unknown = make_interactive(FIGURE)["legend"]
    assert (known["hollow"], unknown["hollow"]) == (False, True)
    assert unknown["name"] == f"{known['name']}{SUFFIX}" and known["slot"] == unknown["slot"]
    with_bar, without = make_interactive(FIGURE)["data"]
    assert "error_y" in with_bar and "error_y" not in without
    assert "[" in with_bar["hovertext"][0] and "[" not in without["hovertext"][0]
    assert SUFFIX.strip(", ") in draw_still(FIGURE, "f")


def test_all_points_with_or_without_interval_are_one_series():
    without = replace(MIXED, low=(UNKNOWN,) * 2, high=(UNKNOWN,) * 2)
    assert [s.name for s in split_by_interval(replace(FIGURE, series=(without,))).series] == [f"hot{SUFFIX}"]
    for plain in (replace(MIXED, low=(1e-6, 1e-6), high=(2e-5, 2e-5)), replace(MIXED, low=(), high=())):
        assert split_by_interval(replace(FIGURE, series=(plain,))).series == (plain,)
    one_end = replace(MIXED, low=(1e-6, UNKNOWN))
    assert len(split_by_interval(replace(FIGURE, series=(one_end,))).series) == 1
