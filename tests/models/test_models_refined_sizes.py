# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Added sizes: around changes of a cost, nowhere else, until the change is located."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models_data import CATALOG, exact, simulate

from hockney.core.case import Case
from hockney.models import observe
from hockney.models.refined_sizes import NEAR, sizes_between

SIZES = [0, *(1 << k for k in range(23))]
CASES = [CATALOG.case(f"pingpong bytes={size}") for size in SIZES]


def jump_at(first: int):
    def time(case: Case) -> float:
        return (4e-7 + 2e-10 * case.bytes) * (1.0 if case.bytes < first else 1.3)

    return time


def refined(time, cases=CASES, rounds=3, noise=None, most=100) -> list[Case]:
    """The cases measured after this many rounds."""
    rng = np.random.default_rng(1)
    cases = list(cases)
    for _ in range(rounds):
        run = simulate(time, cases, noise, rng) if noise else exact(time, cases)
        cases += sizes_between(observe(run, CATALOG), most)
    return cases


def sizes(cases) -> list[int]:
    return sorted(case.bytes for case in cases)


def gap_around(first: int, measured: list[int]) -> float:
    below = max(size for size in measured if size < first)
    return min(size for size in measured if size >= first) / below


@settings(max_examples=10)
@given(first=st.integers(200, 1 << 20))
def test_a_jump_is_located_within_ten_percent(first: int) -> None:
    measured = sizes(refined(jump_at(first)))
    assert set(SIZES) <= set(measured), "those planned stay"
    assert gap_around(first, measured) <= NEAR + 0.02  # sizes are whole cache lines
    assert len(measured) <= len(SIZES) + 6


def test_a_bend_is_located_as_well() -> None:
    def bend(case: Case) -> float:
        return 1e-6 + 4e-10 * min(case.bytes, 20_000) + 1e-10 * max(0, case.bytes - 20_000)

    assert gap_around(20_000, sizes(refined(bend))) <= NEAR + 0.02


def test_a_line_needs_no_more_sizes() -> None:
    assert refined(lambda case: 4e-7 + 2e-10 * case.bytes) == CASES


def test_a_located_change_needs_no_more() -> None:
    cases = refined(jump_at(5000), rounds=4)
    assert refined(jump_at(5000), cases, rounds=1) == cases


def test_new_sizes_are_whole_lines_and_doubles_and_like_their_neighbors() -> None:
    for case in refined(jump_at(300)) + refined(jump_at(50_000)):
        assert case.bytes in SIZES or case.bytes % (64 if case.bytes >= 1024 else 8) == 0
        assert case == CATALOG.case(case.line), "a case like any other"


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_collective_is_refined_at_each_rank_count(ranks: int) -> None:
    """It only changes its algorithm on `ranks` ranks."""
    cases = [CATALOG.case(f"allreduce bytes={size} ranks={p}") for size in SIZES[4:] for p in (2, 4)]

    def time(case: Case) -> float:
        return jump_at(10_000)(case) if case.ranks == ranks else 1e-6 + 1e-10 * case.bytes

    added = refined(time, cases)[len(cases) :]
    assert added and {case.ranks for case in added} == {ranks}
    assert {case.workload for case in added} == {"allreduce"}


def test_of_few_the_largest_changes_come_first() -> None:
    others = [replace(case, workload="stream", parameters=(("bytes", case.bytes),)) for case in CASES[1:]]

    def time(case: Case) -> float:
        smaller = case.workload == "stream" and case.bytes >= 50_000
        return jump_at(5000)(case) if case.workload == "pingpong" else 1e-6 * (1 + 0.2 * smaller)

    observations = observe(exact(time, [*others, *CASES]), CATALOG)
    assert [case.workload for case in sizes_between(observations, 3)] == ["pingpong"] * 3
    assert {case.workload for case in sizes_between(observations, 9)} == {"pingpong", "stream"}


def test_a_piece_of_too_few_sizes_is_found_by_the_point_that_is_missed() -> None:
    """From 2 MiB on, messages are slower; only two sizes are that large."""

    def time(case: Case) -> float:
        return 4e-7 + 1e-10 * case.bytes if case.bytes < 2 << 20 else 3e-10 * case.bytes

    measured = sizes(refined(time))
    assert gap_around(2 << 20, measured) <= NEAR + 0.02
    assert sum(size >= 2 << 20 for size in measured) >= 5


@pytest.mark.parametrize(("per_byte", "added"), [(1e-9, [360]), (1e-12, [])])
def test_where_others_jump_a_wide_gap_over_which_the_cost_rises_gets_a_size(per_byte, added) -> None:
    """Even if its own curve is a straight line; once."""
    wide = [CATALOG.case(f"allreduce bytes={size}") for size in (16, 128, 1024, 4096, 16384, 131072)]

    def time(case: Case) -> float:
        if case.workload == "allreduce":
            return 1e-7 + per_byte * case.bytes
        return 1e-7 if case.bytes < 300 else 3e-7

    cases = refined(time, [*CASES, *wide])
    assert [case.bytes for case in cases[len(CASES) + len(wide) :] if case.workload == "allreduce"] == added


def test_a_bend_of_another_curve_is_no_jump() -> None:
    wide = [CATALOG.case(f"allreduce bytes={size}") for size in (16, 128, 1024, 4096, 16384, 131072)]

    def time(case: Case) -> float:
        if case.workload == "allreduce":
            return 1e-7 + 1e-9 * case.bytes
        return 1e-7 + 6e-11 * max(0, case.bytes - 1500)

    cases = refined(time, [*CASES, *wide])
    assert {case.workload for case in cases[len(CASES) + len(wide) :]} == {"pingpong"}


def test_trains_are_left_as_they_are() -> None:
    cases = [CATALOG.case(f"prtt bytes={size} messages=1") for size in SIZES]
    assert refined(jump_at(5000), cases, rounds=1) == cases
