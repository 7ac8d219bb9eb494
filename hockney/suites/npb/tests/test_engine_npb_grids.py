# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""How CG and MG of the NAS Parallel Benchmarks are divided among many simulated ranks: the grids of ranks are
those of their analysis, and every one of them verifies."""

from __future__ import annotations

import pytest
from engine_lines import failures, records
from simulated_switch import lines_on_switch

pytestmark = [pytest.mark.simgrid, pytest.mark.slow]


def lines_of(words, ranks):
    """Of these cases on a switch, where a message of x bytes takes 10 us + x / (100 MB/s)."""
    return lines_on_switch("hockney-npb", words, ranks)


def answered(words, ranks):
    lines = lines_of(words, ranks)
    assert [line.message for line in failures(lines)] == []
    found = records(lines)
    assert len(found) == len(words)
    assert all(record.verified.bytes > 0 for record in found)
    return found


@pytest.mark.parametrize(
    ("ranks", "matrix", "blocks"),
    [
        (2, "2 x 1", "1 x 1 x 2"),
        (12, "4 x 3", "1 x 3 x 4"),
        (11, "11 x 1", "1 x 1 x 11"),
        (16, "4 x 4", "1 x 4 x 4"),
    ],
)
def test_grids_of_ranks_exchange_least_and_verify(ranks, matrix, blocks):
    cg, mg = answered(["cg class=S", "mg class=S"], ranks)
    assert cg.labels["decomposition"] == f"{matrix} blocks of the matrix"
    assert mg.labels["decomposition"] == f"{blocks} blocks"
    for record in (cg, mg):
        assert record.verified.errors == 0, (record.case, record.verified.first)
        assert max(record.metrics["deviation"].values) < 1e-11, record.case


@pytest.mark.parametrize(("ranks", "blocks"), [(31, "1 x 1 x 31"), (36, "1 x 4 x 9")])
def test_mg_verifies_where_blocks_are_thin_and_uneven(ranks, blocks):
    """31 ranks have one or two of 32 planes, so that no coarser level could be divided among them."""
    (mg,) = answered(["mg class=S"], ranks)
    assert mg.labels["decomposition"] == f"{blocks} blocks"
    assert mg.verified.errors == 0, mg.verified.first


def test_mg_refuses_ranks_that_have_no_grid():
    """A grid of 37 ranks has 37 rows or planes, and class S has 32."""
    (refusal,) = failures(lines_of(["mg class=S arithmetic=none"], 37))
    assert refusal.reason == "refused"
    assert "36" in refusal.message


def test_mg_of_the_paper_ends_at_rounding_errors_and_finds_an_inverted_bit():
    right, wrong = answered(["mg class=paper", "mg class=paper fault=bit"], 3)
    assert right.verified.errors == 0, right.verified.first
    assert wrong.verified.errors > 0
    assert max(right.metrics["deviation"].values) < 0.25 < 1e3 < min(wrong.metrics["deviation"].values)
