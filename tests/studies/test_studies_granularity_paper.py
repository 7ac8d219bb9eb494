# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The paper's model on the page: equations 3 and 6 implemented here again, compared with the figures."""

import re
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hockney.core.fit import Estimate
from hockney.models.applications.granularity import Algorithm, break_even
from hockney.studies.granularity import costs, figures, paper, results
from hockney.studies.granularity.columns import length_text

SUNS = costs.printed_costs()
FIGURES = {f.name: f for f in paper.section().figures}


def exchange(words: int, ranks: int) -> float:
    return 2 * (1500e-6 + 5e-6 * (ranks / 2) * words)


def equation_6(work: float, serial: float, words: int, ranks: int) -> float:
    return work / ((1 - serial) * work + ranks * (serial * work + exchange(words, ranks)))


@pytest.mark.parametrize("words", [1, 10000])
def test_figure_4_has_the_lines_of_equation_6(words):
    lines = FIGURES[f"levels-serial-paper-{words}"].series
    assert [line.name for line in lines] == [
        f"{ranks} ranks, {level}" for ranks in (2, 4, 8) for level in ("break-even", "80%", "90%")
    ]
    for line in lines:
        ranks = int(line.name[0])
        wanted = 1 / ranks if line.name.endswith("break-even") else float(line.name[-3:-1]) / 100
        assert min(line.y) == 0 and min(line.x) >= 0.001 and max(line.x) <= 100
        assert (max(line.y) == pytest.approx(0.2)) == (equation_6(99, 0.2, words, ranks) > wanted)
        for work, serial in zip(line.x, line.y, strict=True):
            assert equation_6(work, serial, words, ranks) == pytest.approx(wanted, rel=1e-9)


def test_figure_5_has_the_lines_of_equation_2():
    lines = FIGURES["levels-ranks-paper"].series
    levels = ("25%", "50%", "80%", "90%")
    sizes = {"1 word": 1, "1000 words": 1000, "10000 words": 10000}
    assert [line.name for line in lines] == [f"{size}, {level}" for size in sizes for level in levels]
    for line in lines:
        size, _, level = line.name.partition(", ")
        assert set(line.y) <= {2, 4, 6, 8, 10, 12, 14, 16} and len(line.y) >= 7
        for work, ranks in zip(line.x, line.y, strict=True):
            efficiency = work / (work + ranks * exchange(sizes[size], ranks))
            assert efficiency == pytest.approx(float(level[:-1]) / 100, rel=1e-9)


def test_curves_are_equations_2_and_6():
    curves = {s.name: s for s in FIGURES["paper-efficiency"].series}
    assert set(curves) == {
        *(f"{p} SUNs, {words}" for p in (2, 4, 8) for words in ("1 word", "10000 words")),
        "4 SUNs, 1 word, s = 1%",
    }
    for name, series in curves.items():
        ranks, words = int(name[0]), 10000 if "10000" in name else 1
        serial = 0.01 if "s = 1%" in name else 0.0
        for work, y in zip(series.x, series.y, strict=True):
            assert y == pytest.approx(equation_6(work, serial, words, ranks), rel=1e-12)


def test_one_percent_of_serial_work_drops_visibly():
    serial, without, with_it, most = (float(n) / 100 for n in re.findall(r"([\d.]+)%", paper.drop_sentence()))
    assert serial == 0.01
    assert without == pytest.approx(equation_6(10, 0, 1, 4), abs=6e-4)
    assert with_it == pytest.approx(equation_6(10, 0.01, 1, 4), abs=6e-4)
    assert most == pytest.approx(1 / 1.03, abs=6e-4)
    assert without - with_it > 0.028


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (4, "1 word"),
        (40, "10 words"),
        (40000, "10000 words"),
        (0, "0 B"),
        (8, "8 B"),
        (4096, "4 KiB"),
        (5, "5 B"),
    ],
)
def test_lengths_are_words_where_the_paper_counts_words(size, said):
    assert length_text(size) == said


def test_a_grid_reaches_from_below_break_even_to_coarse():
    works = figures.works_grid(SUNS)
    assert works[0] < exchange(1, 8) and len(works) == figures.GRID_POINTS
    assert equation_6(works[-1], 0, 10000, 8) >= 0.98


numbers = st.floats(1e-9, 1e3)
widths = st.floats(1.0, 3.0)


@given(numbers, numbers, st.integers(1, 64), widths, widths, widths, widths)
def test_a_ratio_of_medians_lies_in_its_interval_which_holds_both(a, b, ranks, a0, a1, b0, b1):
    above, below = Estimate(a, a / a0, a * a1), Estimate(b, b / b0, b * b1)
    found = results.efficiency_estimate(above, below, ranks)
    assert found.value == pytest.approx(a / (ranks * b))
    assert found.low <= found.value * (1 + 1e-9) and found.value <= found.high * (1 + 1e-9)
    assert found.high / found.value >= max(a1, b0) * (1 - 1e-9), "no narrower than the wider of both"
    assert found.high / found.value <= a1 * b0 * (1 + 1e-9), "and no wider than both together"
    assert results.efficiency_estimate(Estimate(a, None, a), below, ranks) == Estimate(
        found.value, None, None
    )


def test_what_is_reached_between_two_works_follows_equation_2():
    even = break_even(Algorithm(1.0, 400), SUNS, 4)
    values = [(t, equation_6(t, 0, 100, 4)) for t in (0.001, 0.1, 1.0)]
    assert results._crossing(values, 0.25) == pytest.approx(even, rel=1e-6)
    assert results._crossing([(1.0, 0.9), (2.0, 0.95)], 0.5) is None
    assert results._crossing([(1.0, 0.4), (2.0, None)], 0.5) is None


def curve(*ends: tuple[float, float, float]) -> list[SimpleNamespace]:
    """Cells with works of 1, 10, 100, ... us and these efficiencies (value, low, high)."""
    return [SimpleNamespace(work_s=1e-6 * 10**k, efficiency=Estimate(*each)) for k, each in enumerate(ends)]


def test_a_wide_interval_at_the_end_of_the_grid_makes_a_range_of_what_is_reached():
    """0.9 lies in the last interval: neither "above 100 us" nor anything below it is established."""
    low, wide = (0.5, 0.49, 0.51), (0.88, 0.8, 0.97)
    found = results.measured_work(curve(low, (0.87, 0.85, 0.89), wide), 0.9)
    assert found.work is None and found.open_bounds == "above"
    assert 1e-5 < found.above < found.below == pytest.approx(1e-4)
    assert found.statement_suffix == f"from a work {found}" and "more than" in str(found)
    narrow = results.measured_work(curve(low, (0.87, 0.85, 0.89), (0.88, 0.87, 0.89)), 0.9)
    assert (narrow.above, narrow.below) == (pytest.approx(1e-4), None)


def test_a_wide_interval_at_the_least_work_makes_a_range_too():
    found = results.measured_work(curve((0.91, 0.8, 0.99), (0.95, 0.94, 0.96)), 0.9)
    assert found.work is None and 1e-6 < found.below < 1e-5, "where the lower ends reach it"
    unknown = results.measured_work(curve((0.91, 0.8, 0.99), (0.93, 0.85, 0.99)), 0.9)
    assert (unknown.above, unknown.below, unknown.open_bounds) == (
        pytest.approx(1e-6),
        pytest.approx(1e-5),
        "both",
    )
    known = results.measured_work(curve((0.91, 0.9, 0.92), (0.95, 0.94, 0.96)), 0.9)
    assert (known.above, known.below) == (None, pytest.approx(1e-6))


def test_the_ends_of_neighboring_works_limit_each_other():
    """Efficiency does not fall with the work: a wide cell does not move the crossing to where a neighbor
    excludes it."""
    found = results.measured_work(
        curve((0.5, 0.49, 0.51), (0.6, 0.3, 0.95), (0.7, 0.69, 0.71), (0.99, 0.98, 1.0)), 0.9
    )
    assert 1e-4 < found.work.low < found.work.value < found.work.high < 1e-3


def test_without_intervals_the_values_decide():
    bare = [(0.5, None, None), (0.8, None, None)]
    assert results.measured_work(curve(*bare), 0.9).above == pytest.approx(1e-5)
    assert results.measured_work(curve(*bare), 0.4).below == pytest.approx(1e-6)
