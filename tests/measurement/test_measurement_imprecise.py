# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""Launches beyond the plan measure the cases whose intervals are wider than asked for, and no others."""

from __future__ import annotations

from hockney import measurement
from hockney.core.settings import Settings
from hockney.launch.fake import FakeLauncher
from hockney.measurement.rounds import imprecise_cases
from hockney.models.statistics import observe, precision_of


def test_cases_are_open_while_they_are_less_precise_than_asked_for(tmp_path):
    bench = measurement.fake_bench(FakeLauncher())
    cases = [bench.catalog.case(f"pingpong bytes={size}") for size in (0, 8, 64, 512, 4096)]
    folder = measurement.begin(
        tmp_path / "r", cases, Settings("cases", budget_s=20.0, launches=4, seed=1), bench
    )
    measurement.measure(folder, bench, lambda event: None)
    seen = observe(folder.read().run, bench.catalog)
    widths = {each.case: precision_of(each) for each in seen}
    middle = sorted(widths.values())[2]
    wider = {case for case, width in widths.items() if width > middle}
    assert set(imprecise_cases(cases, seen, Settings("cases", precision=middle))) == wider and len(wider) == 2
    assert set(imprecise_cases(cases[:1], seen, Settings("cases", precision=1e-9))) == set(cases[:1])
