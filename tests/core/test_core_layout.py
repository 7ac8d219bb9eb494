# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Levels, layouts, and the parameters that place a case's ranks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from raising import raises_code

from hockney.core.case import Case, parse_canonical
from hockney.core.layout import LEVELS, Layout, sort_levels
from hockney.measurement.rounds import schedule
from hockney.system.bundled import bundled_catalog


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_layout_is_read_from_its_text(nodes, ranks):
    layout = Layout(nodes, ranks)
    assert Layout.parse(layout.text) == layout and layout.ranks == nodes * ranks


@pytest.mark.parametrize("text", ["", "2", "2x", "x4", "0x4", "2x0", "2x-1", "2 x 4", "2x4x1"])
def test_other_texts_are_no_layouts(text):
    with raises_code("not-a-layout"):
        Layout.parse(text)


def test_levels_are_ordered():
    assert sort_levels(["network", "cache", "network", "core"]) == ("core", "cache", "network")
    assert sort_levels(reversed(LEVELS)) == LEVELS


@pytest.mark.parametrize("place", LEVELS)
def test_a_place_is_part_of_the_case(place):
    case = bundled_catalog().case(f"pingpong place={place} ranks=2")
    assert case.place == place and case.is_placed and case.launched_ranks == 0
    assert parse_canonical(case.line) == case and f"place={place}" in case.line
    assert bundled_catalog().case(case.line) == case


def test_nodes_are_part_of_the_case():
    case = bundled_catalog().case("allreduce nodes=2 ranks=8")
    assert case.nodes == 2 and case.is_placed and parse_canonical(case.line) == case


def test_other_cases_are_launched_on_their_ranks():
    case = bundled_catalog().case("allreduce ranks=8")
    assert not case.is_placed and case.launched_ranks == 8 and "nodes" not in case.line


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("pingpong place=nearby", "unknown-place"),
        ("barrier place=node ranks=3", "pairs-need-even-ranks"),
        ("barrier nodes=3 ranks=8", "node-count-not-usable"),
        ("barrier nodes=0 ranks=8", "node-count-not-usable"),
        ("barrier nodes=two ranks=8", "node-count-not-usable"),
        ("barrier nodes=2 place=network ranks=8", "place-and-nodes"),
    ],
)
def test_unusable_places_are_refused(line, code):
    with raises_code(code):
        bundled_catalog().case(line)


def test_placed_cases_of_different_sizes_share_a_launch():
    cases = [Case.of("w", 2, place="node"), Case.of("w", 8, nodes=2), Case.of("w", 4, nodes=1)]
    items = schedule([*cases, Case.of("w", 2)], 1, 1)
    launches = {item.case: item.launch for item in items}
    assert len({launches[case] for case in cases}) == 1 and len(set(launches.values())) == 2
