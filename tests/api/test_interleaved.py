# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""hockney.compare_interleaved on the fake machine."""

from __future__ import annotations

from pathlib import Path

import pytest

import hockney

CASES = ("bcast bytes=64,1KiB ranks=2,4", "barrier")
FAST, SLOW = "--machine fake:seed=1", "--machine 'fake:seed=2;slow=bcast bytes=1024:1.3'"


@pytest.fixture(scope="module")
def measured(tmp_path_factory) -> tuple[Path, hockney.Comparison]:
    place = tmp_path_factory.mktemp("turns") / "both"
    return place, hockney.compare_interleaved(FAST, SLOW, CASES, budget=20, seed=5, out=place)


def launches(run: hockney.Run) -> dict[int, float]:
    return {launch.index: launch.started_s for launch in run.reading.run.launches}


def test_launches_alternate_and_each_side_is_first_equally_often(measured):
    place, _ = measured
    a, b = (hockney.open(place / side) for side in "ab")
    assert a.settings.interleaved == b.settings.interleaved != ""
    assert a.plan.items == b.plan.items
    began_a, began_b = launches(a), launches(b)
    assert began_a.keys() == began_b.keys() and len(began_a) >= 20
    order = sorted([*((s, k, "a") for k, s in began_a.items()), *((s, k, "b") for k, s in began_b.items())])
    pairs = [order[k : k + 2] for k in range(0, len(order), 2)]
    assert [one[1] for one, _ in pairs] == [other[1] for _, other in pairs] == sorted(began_a)
    groups = a.plan.groups
    first = [one[2] for one, _ in pairs]
    for block in range(0, len(first) - 2 * groups + 1, 2 * groups):
        for group in range(groups):
            assert {first[block + group], first[block + groups + group]} == {"a", "b"}


def test_a_variable_of_one_side(tmp_path):
    sides = ({}, {"variables": {"FAKE_EAGER_LIMIT": "65536"}})
    words = "pingpong bytes=1KiB,8KiB"
    compared = hockney.compare_interleaved(
        *sides, words, launches=16, budget=20, seed=1, machine="fake", out=tmp_path / "o", tolerance="2%"
    )
    assert {case.size: case.state for case in compared.cases} == {1024: "same", 8192: "faster"}
    assert compared.effect is not None and compared.effect.state == "found"
    assert hockney.compare(tmp_path / "o" / "a", tmp_path / "o" / "b").document == compared.document


@pytest.mark.parametrize(
    ("sides", "code"),
    [
        (({"ranks": 4}, {}), "option-not-of-a-side"),
        (({"mpii": "x"}, {}), "unknown-side-option"),
        (({"variables": {"A": "1"}}, {"variables": ["A=1"]}), "sides-identical"),
        (({"label": "a"}, {"label": "b"}), "sides-identical"),
    ],
)
def test_sides_that_cannot_be_compared(sides, code):
    with pytest.raises(hockney.UsageError) as refused:
        hockney.compare_interleaved(*sides, "barrier", machine="fake")
    assert refused.value.code == code


def test_only_both_are_resumed(measured):
    place, compared = measured
    for path, code in ((place, "pair-resumed-as-run"), (place / "a", "interleaved-side")):
        with pytest.raises(hockney.UsageError) as refused:
            hockney.resume(path)
        assert refused.value.code == code
    with pytest.raises(hockney.UsageError) as refused:
        hockney.resume_interleaved(place / "a")
    assert refused.value.code == "not-interleaved"
    assert hockney.resume_interleaved(place).document == compared.document


def test_both_sides_together_are_no_side(measured):
    """Their launches are not those of one machine."""
    place, _ = measured
    for a, b in ((place, place / "b"), (place / "a", [place])):
        with pytest.raises(hockney.UsageError) as refused:
            hockney.compare(a, b)
        assert refused.value.code == "pair-as-a-side"


def test_the_folder_may_be_a_link_to_an_empty_one(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to("far")
    hockney.compare_interleaved(FAST, SLOW, "barrier", budget=2, launches=3, seed=5, out=tmp_path / "near")
    assert {each.name for each in (tmp_path / "far").iterdir()} == {"a", "b"}
    assert {each.name for each in tmp_path.iterdir()} == {"far", "near"}
