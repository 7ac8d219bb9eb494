# SPDX-FileCopyrightText: The hockney authors
# SPDX-License-Identifier: Apache-2.0
"""The section that compares launches with and without a setting."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from visited import evidence

import hockney
from hockney.draw.page import Section
from hockney.pages.caveats import caveats
from hockney.pages.evidence import Evidence
from hockney.pages.settings_compared import compared_settings

LINE = "pingpong bytes=8,128KiB"


def section_of(path: Path, line: str, settings: dict[str, dict[str, str]]) -> Section | None:
    run = hockney.run(line, machine="fake", seed=1, launches=4, launch_settings=settings, out=path)
    found = [section for section in run.page.sections if section.title == "Launch settings"]
    return found[0] if found else None


def rows(section: Section) -> dict[tuple[str, str], float]:
    """The ratio by size and setting; each is inside its interval."""
    (table,) = section.tables
    found = {}
    for case, setting, _, _, ratio, ends in table.rows:
        low, _, high = str(ends).partition(" to ")
        assert float(low) <= float(ratio) <= float(high)
        found[next(w for w in case.split() if w.startswith("bytes=")), setting] = float(ratio)
    return found


def test_a_setting_is_compared_with_ordinary_launches(tmp_path):
    section = section_of(
        tmp_path / "r", f"{LINE} setting=default,short", {"short": {"FAKE_EAGER_LIMIT": "1024"}}
    )
    assert section is not None and set(rows(section)) == {("bytes=8", "short"), ("bytes=131072", "short")}


def test_a_setting_without_variables_counts_together_with_ordinary_launches(tmp_path):
    settings = {"short": {"FAKE_EAGER_LIMIT": "1024"}, "plain": {}}
    section = section_of(tmp_path / "r", f"{LINE} setting=default,plain,short", settings)
    assert section is not None
    assert {setting for _, setting in rows(section)} == {"short"}
    section = section_of(tmp_path / "s", f"{LINE} setting=plain,short", settings)
    assert section is not None
    assert {setting for _, setting in rows(section)} == {"short"}


CASE = "pingpong buffers=hot bytes=8 ranks=2"
MODES = {"": (1, 1, 1), "a": (0, 0, 0), "b": (1, 0, 0), "c": (0, 1, 1)}
"""In which launches the machine is slow, by setting."""


def with_settings(slow: float) -> Evidence:
    """Launches in the slow mode take `slow` times as long; the settings change nothing."""
    random = np.random.default_rng(1)
    times = {
        (f"{CASE} setting={name}" if name else CASE): [
            1e-6 * slow**mode * np.exp(0.01 * random.standard_normal(40)) for mode in modes
        ]
        for name, modes in MODES.items()
    }
    seen = evidence(times)
    declared = tuple(f"{name} X={name}" for name in MODES if name)
    return replace(seen, settings=replace(seen.settings, launch_settings=declared))


def test_ratios_that_the_changes_between_launches_leave_undecided_have_a_warning():
    caveat = {c.caveat.code: c.caveat for c in caveats(with_settings(3.0))}["undecided-settings"]
    assert re.findall(r"(\d+) of (\d+) ratio", caveat.text) == [("3", "3")]
    assert "8 B" in caveat.text
    assert {*re.findall(r"--[a-z]+", caveat.todo)} == {"--launches", "--budget", "--check"}
    (compared,) = compared_settings(with_settings(3.0))
    assert compared.max_change == pytest.approx(3.0, rel=0.1) and compared.undecided_count == 3


def test_in_a_quiet_run_no_ratio_has_a_warning():
    seen = with_settings(1.0)
    assert "undecided-settings" not in {c.caveat.code for c in caveats(seen)}
    (compared,) = compared_settings(seen)
    assert compared.undecided_count == 0 and set(compared.ratios) == {"a", "b", "c"}
    assert "undecided-settings" not in {c.caveat.code for c in caveats(evidence({CASE: [[1e-6, 3e-6]] * 3}))}


def test_without_settings_there_is_nothing_to_compare(tmp_path):
    assert section_of(tmp_path / "r", LINE, {}) is None
    alone = {"short": {"FAKE_EAGER_LIMIT": "1024"}}
    assert section_of(tmp_path / "s", f"{LINE} setting=short", alone) is None
