# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Legends of figures with few and with many series."""

from __future__ import annotations

from hockney.draw import save
from hockney.draw.figure import Axis, Figure, Series
from hockney.draw.figure_interactive import make_interactive
from hockney.draw.layout import MAX_ENTRIES, entries
from hockney.draw.svg import LEGEND_ROW, WIDTH, draw_still, legend_elements


def pairs(groups: int) -> tuple[Series, ...]:
    """Points and a line for each group, then a line that belongs to none."""
    drawn = []
    for k in range(groups):
        drawn.append(Series(f"size {k}", (1.0, 2.0), (1.0, 2.0), group=f"size {k}"))
        drawn.append(Series(f"size {k}, predicted", (1.0, 2.0), (1.0, 2.0), kind="line", group=f"size {k}"))
    return (*drawn, Series("limit", (1.0, 2.0), (1.0, 1.0), kind="line"))


def figure(groups: int) -> Figure:
    return Figure("f", "F", Axis("x", "s"), Axis("y", "s"), pairs(groups))


def test_few_series_have_an_entry_each():
    few = pairs(2)
    assert [entry.name for entry in entries(few)] == [series.name for series in few]
    assert all(len(entry.series) == 1 for entry in entries(few))


def test_points_and_their_line_share_an_entry_among_many():
    many = pairs(MAX_ENTRIES)
    listed = entries(many)
    assert [entry.name for entry in listed] == [*(f"size {k}" for k in range(MAX_ENTRIES)), "limit"]
    assert [k for entry in listed for k in entry.series] == list(range(len(many))), "none is lost"
    assert (listed[0].points, listed[0].line) == (0, 1)
    assert (listed[-1].points, listed[-1].line) == (None, len(many) - 1)


def test_a_group_whose_points_have_other_names_is_not_merged():
    many = tuple(Series(f"{k}", (1.0,), (1.0,), group="all") for k in range(MAX_ENTRIES + 1))
    assert len(entries(many)) == MAX_ENTRIES + 1


def test_an_entry_switches_all_its_traces():
    legend = make_interactive(figure(MAX_ENTRIES))["legend"]
    assert len(legend) == MAX_ENTRIES + 1 and {entry["kind"] for entry in legend} == {
        "both",
        "line",
    }
    assert legend[0]["traces"] == [0, 1] and legend[-1]["traces"] == [2 * MAX_ENTRIES]


def test_a_still_names_each_entry_once():
    drawn = draw_still(figure(MAX_ENTRIES), "f")
    assert "predicted" not in drawn and drawn.count("size 3") == 1


def test_one_long_name_does_not_give_each_entry_a_row():
    names = ["ping-pong", "cold", "a name that is longer than half of the picture's width", "both"]
    placed = []
    _, height = legend_elements(names, lambda k, x, y: placed.append((x, y)) or "", WIDTH)
    assert height == 2 * LEGEND_ROW
    assert [y // LEGEND_ROW for _, y in placed] == [0, 0, 1, 1]


def test_a_file_has_the_same_entries(tmp_path):
    save(figure(MAX_ENTRIES), tmp_path, ("svg",))
    text = (tmp_path / "f.svg").read_text()
    assert text.count(">size 1<") == 1 and "predicted" not in text
