# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The course of the most important case over time: a description of its modes, visits in a figure."""

from __future__ import annotations

import re

import numpy as np
import pytest
from visited import LAUNCH_S, LINE, VISIT_S, evidence, two_modes

from hockney import studies
from hockney.draw import make_interactive
from hockney.pages import course

LARGER = "pingpong buffers=hot bytes=1024 ranks=2"


def test_modes_are_told_and_drawn(golden):
    random = np.random.default_rng(2)
    seen = evidence(
        {
            LARGER: [[1e-6] * 40 for _ in range(10)],
            LINE: [two_modes(random, 0.6) for _ in range(10)],
        }
    )
    section = course.section(seen)
    assert section is not None
    modes = next(m.summary.modes for m in seen.measured if m.case.line == LINE)
    (text,) = section.text
    golden("course.txt", text)
    fast, slow = (float(share) / 100 for share in re.findall(r"([\d.]+)%", text))
    assert slow == pytest.approx(modes.slow_share, abs=0.01) and fast + slow == pytest.approx(1, abs=0.02)
    (series,) = section.figures[0].series
    assert len(series.x) == 400 and series.x[0] == 0 and series.x == tuple(sorted(series.x))
    assert series.x[-1] == pytest.approx(9 * LAUNCH_S + 39 * VISIT_S)
    assert {round(y / 0.2e-6) for y in series.y} == {1, 2}
    assert make_interactive(section.figures[0])["data"]
    for study in ("survey", "cases"):
        page = studies.find_study(study).page(seen)
        assert [s for s in page.sections if s == section]


def test_visits_that_vary_are_drawn_without_modes():
    random = np.random.default_rng(3)
    for scatter, shown in ((0.01, False), (0.2, True)):
        times = [1e-6 * np.exp(scatter * random.standard_normal(40)) for _ in range(10)]
        section = course.section(evidence({LINE: times}))
        assert (section is not None) == shown


def test_many_visits_are_thinned_out():
    times = [1e-6 * np.tile([1.0, 2.0], 20) for _ in range(60)]
    section = course.section(evidence({LINE: times}))
    (series,) = section.figures[0].series
    assert len(series.x) == 800


def test_runs_without_visits_have_no_course():
    times = [1e-6 * np.tile([1.0, 2.0], 20) for _ in range(3)]
    assert course.section(evidence({LINE: times}, visits=False)) is None
