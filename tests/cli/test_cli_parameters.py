# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Intervals of fitted parameters, in the JSON document, in the terminal and on the page."""

from __future__ import annotations

import json

import pytest

from hockney import api


@pytest.mark.parametrize(("sizes", "known"), [("8,64KiB", False), ("8,1KiB,64KiB", True)])
def test_a_fit_with_as_many_parameters_as_cases_shows_no_interval(hockney, sizes, known):
    assert hockney("run", f"bcast bytes={sizes}", "--ranks", "2", "--out", "run").code in (0, 4)
    (fit,) = json.loads(hockney("models", "run", "--json").out)["fits"]
    ends = [end for p in fit["parameters"] for end in (p["estimate"]["low"], p["estimate"]["high"])]
    assert [end is not None for end in ends] == [known] * 4
    lines = hockney("models", "run").out.splitlines()
    shown = [line for line in lines if " a " in line or " c " in line]
    assert [" to " in line for line in shown] == [known] * 2
    page = api.load("run").page
    (table,) = (table for s in page.sections for table in s.tables if table.name == "parameters")
    assert [bool(row[table.columns.index("95% interval")].values) for row in table.rows] == [known] * 2
