# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The undisturbed cost is shown next to the typical one if they differ, and only then."""

from __future__ import annotations

import numpy as np
import pytest
from visited import LINE, evidence, two_modes

from hockney import studies
from hockney.api import tables
from hockney.draw.page import Page
from hockney.pages import key_results
from hockney.pages.format import interval, quantity
from hockney.pages.labels import case_labels
from hockney.pages.undisturbed import COLUMN_NAME, differing_undisturbed

BARRIER = "barrier algorithm=mpi iterations=1 ranks=2 sync=barrier"


@pytest.fixture(scope="module")
def disturbed():
    random = np.random.default_rng(1)
    steady = [1e-6 * (1 + 0.01 * random.standard_normal(40)) for _ in range(10)]
    return evidence({LINE: [two_modes(random, 0.6) for _ in range(10)], BARRIER: steady})


def columns(page: Page) -> dict[str, dict[str, str]]:
    """By table, the column of undisturbed costs by the row's first cell."""
    return {
        table.name: {row[0]: row[table.columns.index(COLUMN_NAME)] for row in table.rows}
        for section in page.sections
        for table in section.tables
        if COLUMN_NAME in table.columns
    }


def test_tables_have_the_undisturbed_cost_where_it_differs(disturbed):
    ping_pong, barrier = (m.summary for m in sorted(disturbed.measured, key=lambda m: m.size, reverse=True))
    found = differing_undisturbed(ping_pong)
    assert (
        found
        and found.cost.value == pytest.approx(0.2e-6, rel=0.03)
        and differing_undisturbed(barrier) is None
    )
    seen = columns(studies.find_study("survey").page(disturbed))
    assert set(seen) == {COLUMN_NAME, "spread"}, "no collective differs, so their table has no such column"
    cells = seen["spread"]
    line, steady = map(case_labels(disturbed), (LINE, BARRIER))
    assert "200" in cells[line] and f"{found.disturbed:.0%}" in cells[line] and cells[steady] == ""
    tables = columns(studies.find_study("cases").page(disturbed))
    assert tables["spread"] == cells and "cases" in tables


def test_cases_on_a_terminal_have_the_same_columns(disturbed):
    page = studies.find_study("cases").page(disturbed)
    cases = [t for section in page.sections for t in section.tables if t.name == "cases"]
    assert len(cases) == 2 and len({t.columns for t in cases}) == 1
    assert {len(row) for t in cases for row in t.rows} == {len(cases[0].columns)}


def test_without_a_difference_there_is_no_column():
    steady = evidence({LINE: [[1e-6] * 40 for _ in range(10)]})
    for study in ("survey", "cases"):
        assert columns(studies.find_study(study).page(steady)) == {}


def test_key_results_have_both_costs_with_their_intervals(disturbed):
    found = key_results.table(disturbed)
    assert found.columns == ("result", "typical", "95% interval", "undisturbed", "95% interval")
    fastest = differing_undisturbed(next(m.summary for m in disturbed.measured if m.case.line == LINE))
    assert found.rows[0][3:] == (quantity(fastest.cost.value, "s"), interval(fastest.cost, "s"))
    steady = evidence({LINE: [[1e-6] * 40 for _ in range(10)]})
    assert key_results.table(steady).columns == ("result", "typical", "95% interval")


def test_exported_summaries_have_the_undisturbed_cost_and_visits(disturbed):
    rows = tables.summaries(disturbed.fits).columns
    at = rows["case"].index(LINE)
    assert rows["undisturbed_s"][at] == pytest.approx(0.2e-6, rel=0.03) and rows["visits"][at] == 400
    assert rows["undisturbed_low_s"][at] <= rows["undisturbed_s"][at] <= rows["undisturbed_high_s"][at]
    assert 0.3 < rows["disturbed"][at] < 0.9
    few = tables.summaries(evidence({LINE: [[1e-6]]}).fits).columns
    assert few["undisturbed_s"] == few["disturbed"] == [None]
