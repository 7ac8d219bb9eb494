# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""What the figures of a profile's page show."""

from __future__ import annotations

from pathlib import Path

import pytest
from surveyed import fake_survey
from written import Written, allreduces, folder_of, form, message, program

from hockney.draw.figure import Figure
from hockney.draw.layout import lay_out
from hockney.draw.palette import looks
from hockney.profiles import columns
from hockney.profiles.compare import ratio_text
from hockney.profiles.explanation import PART_NAMES
from hockney.profiles.page import (
    COLOURS,
    MAX_CELLS,
    MIN_BAR_SHARE,
    call_site_parts,
    message_sizes,
    page,
    rank_matrix,
    rank_times,
)
from hockney.profiles.profile import read_profile
from hockney.profiles.results import ProfileResults, make_results
from hockney.report import data


def results(tmp_path: Path, ranks: list[Written], survey: bool = False) -> ProfileResults:
    return make_results(read_profile(folder_of(tmp_path / "p", [ranks])), fake_survey() if survey else None)


def sending(size: int, *to: tuple[int, int]) -> list[Written]:
    """Each rank sends to ranks that are so much further, so many bytes."""
    ranks = program(size, end=2.0)
    allreduces(ranks, late=1, steps=10)
    for each in ranks:
        for further, bytes in to:
            other = (each.rank + further) % size
            each.add("peers", rank=other, distance=form.NODE, sent=1, sent_bytes=bytes)
    return ranks


def colours(figure: Figure | None) -> dict[str, int]:
    assert figure is not None
    return {series.name: look.slot for series, look in zip(figure.series, looks(figure), strict=True)}


@pytest.mark.parametrize("survey", [True, False])
def test_a_part_has_one_colour_in_all_figures(tmp_path: Path, survey: bool):
    ranks = program(2, end=2.0)
    allreduces(ranks, late=0, steps=40)
    message(ranks[0], ranks[1], 0, 1.9, 1.5)
    found = results(tmp_path, ranks, survey)
    of_parts = {PART_NAMES[key]: slot for key, slot in COLOURS.items()}
    bars, times = colours(call_site_parts(found)), colours(rank_times(found))
    assert {"late sender", "wait at a collective"} <= bars.keys()
    assert bars == {name: of_parts[name] for name in bars}
    for name, slot in of_parts.items():
        assert times.get(f"MPI: {name}", slot) == slot
    assert len(set(times.values())) == len(times)


def test_parts_that_cannot_be_seen_are_not_in_the_legend(tmp_path: Path):
    ranks = program(2, end=20.0)
    allreduces(ranks, late=0, steps=400)
    message(ranks[0], ranks[1], 0, 19.501, 19.5)
    found = results(tmp_path, ranks)
    assert found.total.late_sender > 0
    assert "late sender" not in colours(call_site_parts(found))


def test_short_call_sites_have_no_bar(tmp_path: Path):
    ranks = program(2, end=2.0)
    allreduces(ranks, late=0, steps=40)
    for k in range(30, 40):
        ranks[0].site(k, f"small.py:{k} f")
        ranks[0].called("Bcast", k, 1e-5)
    found = results(tmp_path, ranks)
    figure = call_site_parts(found)
    assert figure is not None
    shown = [row for row in found.explanation.rows if row.seconds >= MIN_BAR_SHARE * found.total.total]
    assert len(figure.x.names) == len(shown) < len(found.explanation.rows)


def test_the_map_of_ranks_has_a_cell_for_each_pair(tmp_path: Path):
    figure = rank_matrix(results(tmp_path, sending(4, (1, 2048), (2, 3_000_000))))
    assert figure is not None
    picture = lay_out(figure)
    assert all(value == round(value) for level in picture.y.levels for value in level.values)
    cells = {
        (row, middle): detail
        for series in figure.series
        for row, middle, detail in zip(series.x, series.values, series.detail, strict=True)
    }
    expected = {(rank, (rank + further) % 4) for rank in range(4) for further in (1, 2)}
    assert {(round(row), round(to, 6)) for row, to in cells} == expected
    assert len({series.name for series in figure.series}) == 2
    assert len(data.figure_table(figure)[1]) == 8
    for series in figure.series:
        for block in picture.blocks(series):
            assert 0.8 < block.end - block.start < 1


def test_many_ranks_share_cells(tmp_path: Path):
    size = 2 * MAX_CELLS + 1
    figure = rank_matrix(results(tmp_path, sending(size, (1, 2048))))
    assert figure is not None
    assert len(figure.x.names) == 22
    picture = lay_out(figure)
    ends = [end for series in figure.series for b in picture.blocks(series) for end in (b.start, b.end)]
    assert picture.y.low < min(ends) and max(ends) <= picture.y.high


def test_sizes_are_where_their_class_begins_and_calls_begin_at_one(tmp_path: Path):
    ranks = program(2, end=2.0)
    allreduces(ranks, late=0, steps=40, bytes=32)
    figure = message_sizes(results(tmp_path, ranks))
    assert figure is not None
    (series,) = figure.series
    assert series.x == (32.0,)
    assert lay_out(figure).y.low <= 1


def test_calls_without_bytes_have_no_axis_of_bytes(tmp_path: Path):
    ranks = program(4, end=2.0)
    for each in ranks:
        each.site(5, "solver.py:7 solve")
        each.called("Barrier", 5, 40 * 20e-6, 40)
    figures = page(results(tmp_path, ranks, survey=True)).figures
    (figure,) = [each for each in figures if each.name.startswith("profile-price-Barrier")]
    assert figure.x.unit != "B" and figure.x.names == ("solver.py:7",)
    price, measured = figure.series
    assert measured.y == pytest.approx((20e-6,), rel=0.1) and price.y[0] > 0


def test_tables_beside_the_headline_have_short_names():
    assert columns.end_of_place("a.c:7") == "a.c:7"
    long = columns.end_of_place("a" * 90 + "solver.cpp:1234")
    assert len(long) == columns.MAX_PLACE_LENGTH and long.endswith("solver.cpp:1234")


def test_ratios_have_no_more_digits_than_they_need():
    assert [ratio_text(ratio) for ratio in (0.951, 1.0, 9.999, 18.856, 99.96, 188.56, 12345.6)] == [
        "0.95", "1.00", "10.0", "18.9", "100", "189", "12346",
    ]  # fmt: skip
