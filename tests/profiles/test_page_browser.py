# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a profile in headless Chromium: all figures are drawn, and the console is empty."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from surveyed import fake_survey
from written import allreduces, folder_of, form, message, program

from hockney.profiles.page import page
from hockney.profiles.profile import read_profile
from hockney.profiles.results import make_results
from hockney.report.render import render

sys.path.append(str(Path(__file__).parents[1] / "report"))
import chromium


@pytest.mark.slow
@pytest.mark.browser
def test_all_figures_are_drawn(tmp_path: Path):
    ranks = program(8, end=2.0)
    allreduces(ranks, late=3, steps=40)
    for each in ranks:
        other = ranks[(each.rank + 1) % 8]
        each.add("peers", rank=other.rank, distance=form.NODE, sent=20, sent_bytes=20 * 4096)
        for k in range(20):
            message(
                each, other, k, 1.5 + k * 0.01, 1.5 + k * 0.01, channel=9 + each.rank, bytes=64 << (k % 8)
            )
    results = make_results(read_profile(folder_of(tmp_path / "p", [ranks])), fake_survey())
    drawn = page(results)
    path = tmp_path / "report.html"
    path.write_text(render(drawn))
    with chromium.started(tmp_path / "browser", chromium.SWITCHES) as browser:
        browser.shape(1280, 900)
        browser.open(path)
        assert browser.console() == []
        assert browser.requests() == []
        figures = browser.run("return document.querySelectorAll('.js-plotly-plot, .plotly-graph-div').length")
    assert figures == len(drawn.figures) >= 6
