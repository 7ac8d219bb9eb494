# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Each reproduction without and with made-up times: what it asks, and that its page is complete."""

from __future__ import annotations

import pytest
from paper_answers import CATALOG, answers, platform

from hockney import reproductions
from hockney.machines import simulated
from hockney.report.render import render
from hockney.reproductions import pages


@pytest.mark.parametrize("name", reproductions.all_reproductions())
def test_parts_have_names_and_machines_of_their_own_size(name):
    parts = reproductions.reproduction(name, CATALOG).parts(CATALOG)
    assert len({part.name for part in parts}) == len(parts)
    for part in parts:
        simulated.check_ranks(platform(part.machine), max(case.ranks for case in part.cases))


@pytest.mark.parametrize("name", reproductions.all_reproductions())
def test_nothing_measured_is_said_and_not_hidden_and_the_papers_figures_have_their_numbers(name):
    study = reproductions.reproduction(name, CATALOG)
    given = answers(study, lambda part, case: None)
    compared = study.compare(given)
    assert all(row.simulated is None for row in compared)
    checks = study.checks(given, compared)
    assert not any(check.holds for check in checks)
    assert len({check.code for check in checks}) == len(checks)
    page = study.page(given, compared, checks)
    assert render(page)
    drawn = [figure.name for figure in page.figures]
    for number, prefix in study.FIGURES.items():
        assert any(each.startswith(prefix) for each in drawn), number


def test_an_error_of_nothing_has_no_sign():
    assert [pages.format_error(error) for error in (-1e-9, 1e-9, -0.01, 0.25)] == [
        "0.0%",
        "0.0%",
        "-1.0%",
        "+25.0%",
    ]
