# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Granularity with too little evidence: no answer instead of a wrong one."""

import re
from dataclasses import replace

import pytest
from granular import SMALL, STUDY, evidence, run

from hockney.core.fit import Estimate, ExactValue
from hockney.core.settings import Settings
from hockney.launch.fake_world import World
from hockney.studies.granularity import results
from hockney.studies.granularity.caveats import caveats
from hockney.studies.granularity.headline import _inconclusive_sentence, headline, is_conclusive
from hockney.studies.granularity.results import find_thin
from hockney.studies.needed_budget import MAX_MULTIPLE, suggested_budget

TWO = replace(SMALL, ranks=(2,))


@pytest.fixture(scope="module")
def enough(tmp_path_factory):
    return evidence(run(tmp_path_factory.mktemp("thin") / "r", TWO))


@pytest.fixture(scope="module")
def curve(enough):
    return results.curve_cells(results.cells(enough), 2, 40000)


def with_efficiencies(curve, *ends: tuple[float, float | None, float | None]):
    """The curve with these efficiencies: value, low, high."""
    made = []
    for cell, values in zip(curve, ends, strict=True):
        copy = replace(cell)
        vars(copy)["efficiency"] = Estimate(*values)
        made.append(copy)
    return made


def test_what_the_fake_machine_gives_is_enough(curve):
    assert len(curve) == 3 and find_thin(curve) is None and find_thin([]) is None


@pytest.mark.parametrize(
    ("efficiencies", "width"),
    [
        (((0.3, 0.2, 0.4), (0.6, 0.5, 0.7), (0.9, 0.8, 1.0)), 0),  # apart
        (((0.98, 0.97, 0.99), (0.99, 0.98, 1.0), (0.98, 0.97, 1.01)), 0),  # alike, and known well
        (((0.8, None, None), (0.6, 0.5, 0.7), (0.9, 0.8, 1.0)), None),
        (((0.3, 0.2, 0.4), (0.6, 0.5, 0.7), (0.35, None, None)), None),
        (((0.3, 0.2, 0.4), (0.6, None, None), (0.9, 0.8, 1.0)), 0),  # one between the ends
        (((0.8, 0.5, 1.2), (0.5, 0.4, 0.6), (0.36, 0.2, 0.6)), 0.7),  # more work is less efficient, perhaps
        (((0.5, 0.2, 0.9), (0.7, 0.3, 1.1), (3.0, 2.6, 3.4)), 0.8),  # apart, but known too badly
    ],
)
def test_a_curve_is_enough_if_its_order_is_known(curve, efficiencies, width):
    found = find_thin(with_efficiencies(curve, *efficiencies))
    assert (found is None) == (width == 0)
    if found is not None:
        assert found.typical_width == (None if width is None else pytest.approx(width))
        assert (found.ranks, found.bytes, found.launches) == (2, 40000, 3)


def test_an_exact_curve_is_enough(curve):
    assert find_thin([_with(cell, ExactValue.of(0.9)) for cell in curve]) is None


def _with(cell, efficiency):
    copy = replace(cell)
    vars(copy)["efficiency"] = efficiency
    return copy


def test_too_few_launches_give_no_answer_but_a_budget(tmp_path, golden):
    """One launch on a noisy machine."""
    made = evidence(run(tmp_path / "r", TWO, World(noise=0.5), launches=1, budget_s=5.0))
    shown = STUDY.page(made)
    assert len(shown.headline) == 1 and not is_conclusive(made)
    assert dict(re.findall(r"(--\w+) (\w+)", shown.headline[0])) == {"--launches": "20", "--budget": "2m"}
    assert not re.search(r"\d%", shown.headline[0].replace("95%", "")), "no efficiency"
    golden("granularity/inconclusive.txt", shown.headline[0])


def test_what_is_known_about_other_messages_is_still_answered(enough):
    """Only the longest message lacks its intervals."""
    cells = tuple(
        _with(cell, Estimate(cell.efficiency.value, None, None)) if cell.bytes == 40000 else cell
        for cell in results.cells(enough)
    )
    shown = headline(cells, (), None, (), "measured", enough.settings)
    assert is_conclusive(enough)
    whole = headline(results.cells(enough), (), None, (), "measured", enough.settings)
    lacking = [find_thin(results.curve_cells(cells, 2, 40000))]
    assert shown == (_inconclusive_sentence(lacking, False, enough.settings), whole[0])


def test_efficiencies_that_are_known_are_given(enough):
    """One of three on each curve has no interval."""
    worst = min(cell.work_s for cell in results.cells(enough))
    cells = tuple(
        _with(cell, Estimate(cell.efficiency.value, None, None)) if cell.work_s == worst else cell
        for cell in results.cells(enough)
    )
    first, *known = headline(cells, (), None, (), "measured", enough.settings)
    curve = results.curve_cells(cells, 2, 40000)
    missing = find_thin(curve)
    assert (missing.cell_count, missing.missing_intervals) == (3, 1)
    assert missing.known_efficiencies == tuple((cell.work_s, cell.efficiency) for cell in curve[1:])
    assert re.findall(r"\d+", first.partition("%")[0]) == ["2", "6", "95"]
    assert len(known) == 2 and all(f"{cell.efficiency.value:.1%}" in known[-1] for cell in curve[1:])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings("granularity", budget_s=20, launches=5, extend=True), {"--budget": "60s"}),
        (Settings("granularity", budget_s=20, launches=2), {"--budget": "60s", "--launches": "6"}),
        (Settings("granularity", budget_s=20, launches=4, every_s=60.0), {"--repeat": "12"}),
    ],
)
def test_the_remedy_follows_what_was_asked(settings, words):
    lacking = [results.ThinCurve(2, 4, None, 2)]
    said = _inconclusive_sentence(lacking, True, settings)
    assert dict(re.findall(r"(--\w+) (\w+)", said)) == words


def test_a_wider_interval_needs_a_larger_budget():
    narrow, wide, hopeless = (results.ThinCurve(2, 4, w, 10) for w in (0.3, 0.9, 50.0))
    assert (narrow.budget_multiple, wide.budget_multiple, hopeless.budget_multiple) == (
        2,
        pytest.approx(9),
        MAX_MULTIPLE,
    )
    budgets = [suggested_budget(s) for s in (0.5, 31, 60, 61, 4000)]
    assert budgets == ["5s", "60s", "60s", "2m", "120m"]


def test_efficiencies_above_one_are_a_caveat_if_no_interval_explains_them(enough):
    cells = results.cells(enough)

    def codes(*values: tuple[float, float | None, float | None]) -> list[str]:
        changed = [_with(cell, Estimate(*value)) for cell, value in zip(cells, values, strict=False)]
        found = caveats(enough, (*changed, *cells[len(changed) :]), None, 4)
        return [c.code for c in found if c.code == "efficiency-above-one"]

    assert codes() == codes((1.3, 0.9, 1.8)) == codes((1.01, 1.005, 1.02)) == []
    assert codes((1.3, 1.1, 1.5)) == codes((1.3, None, None)) == ["efficiency-above-one"]
    assert codes((1.3, None, None), (1.2, 1.1, 1.5)) == ["efficiency-above-one"], "one for all"
